// Translate a sentence and record what the heads attend to, without blocking the page.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});
  const MAX_TOKENS = 128; // longer maps would be illegible

  /** Tokenize a sentence. Throws an Error if it is blank or too long. */
  page.tokenize = ({ translator }, sentence) => {
    const ids = translator.tokenize(sentence);
    if (!ids.length) throw new Error("Please type a sentence first: the field is empty.");
    if (ids.length > MAX_TOKENS) {
      throw new Error(
        `The sentence is too long for this page: it has ${ids.length} tokens; the maximum is ${MAX_TOKENS}.`,
      );
    }
    return ids;
  };

  /** Translate with the ablated heads and, if there are any, also without ablation. Null once outdated. */
  page.run = async (state, sentence, isCurrent) => {
    const sourceIds = page.tokenize(state, sentence);
    const hypotheses = await decode(state, sourceIds, state.ablated, isCurrent);
    const isAblated = page.isAnyAblated(state);
    const baseline = hypotheses && isAblated ? await decode(state, sourceIds, {}, isCurrent) : hypotheses;
    return baseline && page.inspectHypothesis(state, { sourceIds, hypotheses, baseline }, 0, isCurrent);
  };

  /** Add the maps of one hypothesis to a result. Null once outdated. */
  page.inspectHypothesis = async ({ translator, ablated }, result, selected, isCurrent) => {
    const { sourceIds, hypotheses } = result;
    const { ids } = hypotheses[selected];
    const steps = glassformer.inspectInSteps(translator.model, sourceIds, ids, { ablated });
    const recorded = await glassformer.runInSlices(steps, isCurrent);
    const pieces = (ids) => ids.map((id) => translator.tokenizer.piece(id));
    return recorded && { ...result, ...recorded, selected, source: pieces(sourceIds), target: pieces(ids) };
  };

  async function decode(state, sourceIds, ablated, isCurrent) {
    const { model, tokenizer } = state.translator;
    const decoded = await glassformer.runInSlices(makeSteps(state, model, sourceIds, ablated), isCurrent);
    return decoded && [decoded].flat().map((each) => ({ ...each, text: tokenizer.decode(each.ids) }));
  }

  function makeSteps({ strategy, temperature, seed }, model, sourceIds, ablated) {
    if (strategy === "greedy") return glassformer.greedy(model, sourceIds, { ablated });
    if (strategy === "beam") {
      return glassformer.beamSearch(model, sourceIds, { beamSize: 4, nBest: 4, ablated });
    }
    const random = glassformer.seededRandom(seed);
    return glassformer.sample(model, sourceIds, { temperature, random, ablated });
  }
})((globalThis.glassformer ??= {}));
