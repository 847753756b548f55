// From a sentence to its translations and what the heads looked at, a few tokens at a time.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});
  const MOST_TOKENS = 128; // that this page reads: longer maps could not be seen

  /** The ids of a sentence. Throws an Error in words if it is blank or too long. */
  page.readSentence = ({ translator }, sentence) => {
    const ids = translator.tokenize(sentence);
    if (!ids.length) throw new Error("There is nothing to translate: the field is empty.");
    if (ids.length > MOST_TOKENS) {
      throw new Error(
        `The sentence is too long for this page: it has ${ids.length} tokens, and ${MOST_TOKENS} can be shown. ` +
          "Write a shorter one.",
      );
    }
    return ids;
  };

  /** Translate with the heads that are on and, where some are off, with all. Null once nobody waits for it. */
  page.run = async (state, sentence, isAwaited) => {
    const sourceIds = page.readSentence(state, sentence);
    const found = await write(state, sourceIds, state.off, isAwaited);
    const whole = found && page.isAnyOff(state) ? await write(state, sourceIds, {}, isAwaited) : found;
    return whole && page.lookInto(state, { sourceIds, found, whole }, 0, isAwaited);
  };

  /** A result with the maps of one of its translations. Null once nobody waits for it. */
  page.lookInto = async ({ translator, off }, result, shown, isAwaited) => {
    const { sourceIds, found } = result;
    const { ids } = found[shown];
    const steps = glassformer.inspecting(translator.model, sourceIds, ids, { switchedOff: off });
    const kept = await glassformer.runInSlices(steps, isAwaited);
    const pieces = (ids) => ids.map((id) => translator.tokenizer.piece(id));
    return kept && { ...result, ...kept, shown, source: pieces(sourceIds), target: pieces(ids) };
  };

  async function write(state, sourceIds, switchedOff, isAwaited) {
    const { model, tokenizer } = state.translator;
    const found = await glassformer.runInSlices(stepsOf(state, model, sourceIds, switchedOff), isAwaited);
    return found && [found].flat().map((each) => ({ ...each, text: tokenizer.decode(each.ids) }));
  }

  function stepsOf({ way, temperature, seed }, model, sourceIds, switchedOff) {
    if (way === "greedy") return glassformer.greedy(model, sourceIds, { switchedOff });
    if (way === "beam")
      return glassformer.beamSearch(model, sourceIds, { beamSize: 4, nBest: 4, switchedOff });
    const random = glassformer.seededRandom(seed);
    return glassformer.sample(model, sourceIds, { temperature, random, switchedOff });
  }
})((globalThis.glassformer ??= {}));
