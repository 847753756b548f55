// A small translator of grammar sentences.
(function (glassformer) {
  const NUM_SPECIAL_TOKENS = 3; // ids below those of the words: padding, start, end
  const PRONOUNS = ["il", "elle"];
  const MAX_LENGTH = 20;

  /** Load the model from a safetensors file in base64. */
  glassformer.unpackModel = function (config, weights) {
    const bytes = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
    return new glassformer.Transformer(config, glassformer.readSafetensors(bytes.buffer));
  };

  /** A negated sentence has "too", another one "very". */
  glassformer.degreeOf = ({ negated }) => (negated ? "too" : "very");

  /** Compose an English sentence of the grammar. */
  glassformer.composeSentence = function ({ subject, verb, negated, object, adjective }) {
    const deed = negated ? ["didn't", verb.infinitive] : [verb.past];
    const reason = ["because", "it", "was", glassformer.degreeOf({ negated }), adjective.english];
    return ["the", subject.english, ...deed, "the", object.english, ...reason];
  };

  /**
   * Translate English words greedily and record all attention maps. `places` holds the position of "it" in the source
   * and that of il or elle in the target, or -1 if there is none.
   */
  glassformer.translateAndInspect = function (model, english, french, source) {
    const { greedy, runToEnd, inspect, kernels } = glassformer;
    const sourceIds = source.map((word) => english.indexOf(word) + NUM_SPECIAL_TOKENS);
    const { ids } = runToEnd(greedy(model, sourceIds, { maxLength: MAX_LENGTH }));
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
