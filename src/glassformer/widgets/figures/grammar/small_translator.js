// A small translator of sentences of the grammar, and what it makes of one.
(function (glassformer) {
  const NUM_SPECIAL_TOKENS = 3; // ids before those of the words: padding, start, end
  const PRONOUNS = ["il", "elle"];
  const LONGEST = 20;

  /** The model whose weights stand in the page: a file of safetensors, in base64. */
  glassformer.unpackModel = function (config, weights) {
    const bytes = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
    return new glassformer.Transformer(config, glassformer.readSafetensors(bytes.buffer));
  };

  /** What is not done has "too", what is done "very". */
  glassformer.degreeOf = ({ negated }) => (negated ? "too" : "very");

  /** The English words of a choice of words, as the grammar sets them. */
  glassformer.composeSentence = function ({ subject, verb, negated, object, adjective }) {
    const deed = negated ? ["didn't", verb.infinitive] : [verb.past];
    const reason = ["because", "it", "was", glassformer.degreeOf({ negated }), adjective.english];
    return ["the", subject.english, ...deed, "the", object.english, ...reason];
  };

  /**
   * Translate English words, the likeliest word each time, and look at all heads meanwhile. `places` says
   * where "it" stands in the source, and where il or elle stands in the target, -1 if it is not written.
   */
  glassformer.translateAndInspect = function (model, english, french, source) {
    const { greedy, runToEnd, inspect, kernels } = glassformer;
    const sourceIds = source.map((word) => english.indexOf(word) + NUM_SPECIAL_TOKENS);
    const { ids } = runToEnd(greedy(model, sourceIds, { maxLength: LONGEST }));
    const { maps, logits } = inspect(model, sourceIds, ids);
    const target = ids.map((id) => french[id - NUM_SPECIAL_TOKENS] ?? "<end>");
    const places = {
      source: source.indexOf("it"),
      target: target.findIndex((word) => PRONOUNS.includes(word)),
    };
    const logProbabilities = places.target < 0 ? null : kernels.logSoftmax(logits[places.target]);
    const probabilities = PRONOUNS.map((word) =>
      logProbabilities ? Math.exp(logProbabilities[french.indexOf(word) + NUM_SPECIAL_TOKENS]) : 0,
    );
    return { source, target, given: ["<start>", ...target.slice(0, -1)], ids, places, probabilities, maps };
  };

  Object.assign(glassformer, { PRONOUNS });
})((globalThis.glassformer ??= {}));
