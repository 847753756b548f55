// Translator: a model with its tokenizer (`translator.py`).
(function (glassformer) {
  const MAX_SOURCE_TOKENS = 1024;
  const EMPTY = { ids: [], logProbability: 0, score: 0, ended: true };

  class Translator {
    constructor(model, tokenizer) {
      const { source_vocabulary_size: source, target_vocabulary_size: target, pad_id: padId } = model.config;
      const { vocabularySize } = tokenizer;
      if (source !== vocabularySize || target !== vocabularySize) {
        throw new Error(
          `Model and tokenizer must have the same vocabulary size, but the model has ${source} source ids and ` +
            `${target} target ids, and the tokenizer has ${vocabularySize}.`,
        );
      }
      if (padId !== glassformer.PAD_ID) throw new Error(`The model's pad_id must be 0, got ${padId}.`);
      this.model = model;
      this.tokenizer = tokenizer;
    }

    /** Maximum number of source tokens, including the end. */
    get maxSourceTokens() {
      return Math.min(MAX_SOURCE_TOKENS, this.model.numPositions);
    }

    /** Encode a sentence with its end; a blank one has no ids. Throws an Error if it is too long. */
    tokenize(sentence) {
      const ids = this.tokenizer.encode(sentence);
      const limit = this.maxSourceTokens;
      if (ids.length >= limit) {
        const words = sentence.trim().split(/\s+/).length;
        throw new Error(
          `The sentence is too long: its ${words} words are ${ids.length + 1} tokens including the end, and the ` +
            `model accepts at most ${limit}. Split it into shorter sentences.`,
        );
      }
      return ids.length ? [...ids, glassformer.END_ID] : [];
    }

    /**
     * Translate a sentence by beam search; a `beamSize` of 1 is greedy decoding. Options as for `beamSearch`, and
     * `maps: true` for the attention weights (see `inspect`). A blank sentence has an empty translation.
     *
     * Returns `{ source, target, text, logProbability, score, ended, maps, hypotheses }`: `source` and `target` are
     * `{ ids, pieces }`, and `hypotheses` are the `nBest` translations, best first.
     */
    translate(sentence, options = {}) {
      const search = (sourceIds) =>
        glassformer.runToEnd(glassformer.beamSearch(this.model, sourceIds, options));
      return this.#decode(this.tokenize(sentence), search, options);
    }

    /** Translate a sentence by sampling: options as for `sample`, and `maps`. Returns the same as `translate`. */
    sample(sentence, options = {}) {
      const draw = (sourceIds) => [glassformer.runToEnd(glassformer.sample(this.model, sourceIds, options))];
      return this.#decode(this.tokenize(sentence), draw, options);
    }

    #decode(sourceIds, generate, { maps = false, ablated }) {
      if (!sourceIds.length) return this.#describe(sourceIds, [EMPTY], {});
      const hypotheses = generate(sourceIds);
      const recorded = maps ? glassformer.inspect(this.model, sourceIds, hypotheses[0].ids, { ablated }).maps : {};
      return this.#describe(sourceIds, hypotheses, recorded);
    }

    #describe(sourceIds, hypotheses, maps) {
      const described = hypotheses.map(({ ids, logProbability, score, ended }) => ({
        target: this.#withPieces(ids),
        text: this.tokenizer.decode(ids),
        logProbability,
        score,
        ended,
      }));
      return { source: this.#withPieces(sourceIds), ...described[0], maps, hypotheses: described };
    }

    #withPieces(ids) {
      return { ids, pieces: ids.map((id) => this.tokenizer.piece(id)) };
    }
  }

  /** Load a translator from the texts of model.json and tokenizer.json and the bytes of model.safetensors. */
  function loadTranslator({ model, weights, tokenizer }) {
    const { readConfiguration, readSafetensors, Transformer, Tokenizer } = glassformer;
    const transformer = new Transformer(readConfiguration(model), readSafetensors(weights));
    return new Translator(transformer, new Tokenizer(tokenizer));
  }

  Object.assign(glassformer, { Translator, loadTranslator });
})((globalThis.glassformer ??= {}));
