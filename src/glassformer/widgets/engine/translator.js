// A model with its tokenizer: a sentence in, a sentence out (`translator.py`).
(function (glassformer) {
  const MOST_TOKENS = 1024;
  const NOTHING = { ids: [], logProbability: 0, score: 0, ended: true };

  class Translator {
    /** Take a model and what cuts sentences into the tokens it was trained on, in both languages. */
    constructor(model, tokenizer) {
      const { source_vocabulary_size: source, target_vocabulary_size: target, pad_id: padId } = model.config;
      const { vocabularySize } = tokenizer;
      if (source !== vocabularySize || target !== vocabularySize) {
        throw new Error(
          `Model and tokenizer must share their vocabulary, but the model has ${source} source ids and ` +
            `${target} target ids, the tokenizer ${vocabularySize}.`,
        );
      }
      if (padId !== glassformer.PAD_ID) throw new Error(`The model must fill up with id 0, got ${padId}.`);
      this.model = model;
      this.tokenizer = tokenizer;
    }

    /** How many tokens a sentence may have, its end among them. */
    get longestSource() {
      return Math.min(MOST_TOKENS, this.model.numPositions);
    }

    /** The ids of a sentence with the end; none if it is blank. Throws an Error if it is too long. */
    tokenize(sentence) {
      const ids = this.tokenizer.encode(sentence);
      const most = this.longestSource;
      if (ids.length >= most) {
        const words = sentence.trim().split(/\s+/).length;
        throw new Error(
          `The sentence is too long: its ${words} words are ${ids.length + 1} tokens with the end, and the ` +
            `model reads at most ${most}. Split it into shorter sentences.`,
        );
      }
      return ids.length ? [...ids, glassformer.END_ID] : [];
    }

    /**
     * Translate a sentence by beam search; a `beamSize` of 1 takes the likeliest token each time. Options as
     * for `beamSearch`, and `maps: true` for what the heads look at (see `inspect`). A blank sentence becomes
     * an empty one.
     *
     * Returns `{ source, target, text, logProbability, score, ended, maps, hypotheses }`: `source` and
     * `target` are `{ ids, pieces }`, `hypotheses` are all `nBest` translations, the best first.
     */
    translate(sentence, options = {}) {
      const search = (sourceIds) =>
        glassformer.finish(glassformer.beamSearch(this.model, sourceIds, options));
      return this.#report(this.tokenize(sentence), search, options);
    }

    /** Translate a sentence by chance: options as for `sample`, and `maps`. Returns what `translate` does. */
    sample(sentence, options = {}) {
      const draw = (sourceIds) => [glassformer.finish(glassformer.sample(this.model, sourceIds, options))];
      return this.#report(this.tokenize(sentence), draw, options);
    }

    #report(sourceIds, write, { maps = false, switchedOff }) {
      if (!sourceIds.length) return this.#describeAll(sourceIds, [NOTHING], {});
      const found = write(sourceIds);
      const kept = maps ? glassformer.inspect(this.model, sourceIds, found[0].ids, { switchedOff }).maps : {};
      return this.#describeAll(sourceIds, found, kept);
    }

    #describeAll(sourceIds, found, maps) {
      const hypotheses = found.map(({ ids, logProbability, score, ended }) => ({
        target: this.#show(ids),
        text: this.tokenizer.decode(ids),
        logProbability,
        score,
        ended,
      }));
      return { source: this.#show(sourceIds), ...hypotheses[0], maps, hypotheses };
    }

    #show(ids) {
      return { ids, pieces: ids.map((id) => this.tokenizer.piece(id)) };
    }
  }

  /** Make a translator of the texts of model.json and tokenizer.json, and the bytes of model.safetensors. */
  function loadTranslator({ model, weights, tokenizer }) {
    const { readConfiguration, readSafetensors, Transformer, Tokenizer } = glassformer;
    const transformer = new Transformer(readConfiguration(model), readSafetensors(weights));
    return new Translator(transformer, new Tokenizer(tokenizer));
  }

  Object.assign(glassformer, { Translator, loadTranslator });
})((globalThis.glassformer ??= {}));
