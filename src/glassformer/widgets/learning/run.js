// A training run that advances in short pieces, and what can be seen of it from outside.
(function (glassformer) {
  const SCHEDULE = { peak: 0.01, warmupSteps: 100, totalSteps: 500 };
  const BATCH_SIZE = 16;
  const NUM_HEADS = 4;
  const LOOK_EVERY = 25; // steps
  const NUM_TESTED = 50; // held-out sentences
  const MAX_LENGTH = 24; // tokens of a translation

  const TRAINING_PARTS = ["warmUp", "manyHeads"]; // removed here, and not in the model

  class TrainingRun {
    #random;
    #optimizer;
    #tape = new glassformer.Tape();
    #schedule;
    #tested;

    /** Prepare a run without some parts; `width` is d_model. Equal seeds give equal weights and batches. */
    constructor({ seed, numLayers, width = 32, without = [] }) {
      const { seededRandom, TrainableTransformer, Adam } = glassformer;
      const { english, french, NUM_SPECIAL_TOKENS, sampleSentence } = glassformer.sentences;
      const config = {
        source_vocabulary_size: english.length + NUM_SPECIAL_TOKENS,
        target_vocabulary_size: french.length + NUM_SPECIAL_TOKENS,
        d_model: width,
        num_heads: without.includes("manyHeads") ? 1 : NUM_HEADS,
        d_ff: 2 * width,
        num_encoder_layers: numLayers,
        num_decoder_layers: numLayers,
        without: without.filter((part) => !TRAINING_PARTS.includes(part)),
      };
      this.#random = seededRandom(seed);
      this.#schedule = { ...SCHEDULE, warmupSteps: without.includes("warmUp") ? 0 : SCHEDULE.warmupSteps };
      const forTest = seededRandom(0);
      this.#tested = Array.from({ length: NUM_TESTED }, () => sampleSentence(forTest, { heldOut: true }));
      this.model = new TrainableTransformer(config, this.#random);
      this.#optimizer = new Adam(this.model.parameters.list);
      this.step = 0;
    }

    /** Train to the end. Yields reports, `{ step, loss, tokens }` or `{ step, look }`, and null in between. */
    *train() {
      yield { step: 0, look: yield* this.look() };
      while (this.step < this.#schedule.totalSteps) {
        yield yield* this.takeStep(this.sampleBatch());
        if (this.step % LOOK_EVERY === 0) yield { step: this.step, look: yield* this.look() };
      }
    }

    sampleBatch() {
      const { sampleSentence, toIds } = glassformer.sentences;
      return Array.from({ length: BATCH_SIZE }, () => toIds(sampleSentence(this.#random, { heldOut: false })));
    }

    /** Update the parameters once. Returns the loss before the update, and the number of tokens that were read. */
    *takeStep(batch) {
      const { loss, tokens } = yield* computeGradients(this.model, this.#tape, batch);
      this.step += 1;
      this.#optimizer.step(glassformer.learningRateAt(this.step, this.#schedule));
      return { step: this.step, loss, tokens };
    }

    // ---- Looking at it ----

    /** The share of held-out sentences translated without any mistake, and the example in detail. */
    *look() {
      const { sentences } = glassformer;
      const example = sentences.EXAMPLE.split(" ");
      const translations = yield* this.translate([example, ...this.#tested]);
      const reference = (words) => sentences.translate(words).map(({ word }) => word);
      const isExact = (words, place) => reference(words).join(" ") === translations[place + 1].join(" ");
      const exactMatch = this.#tested.filter(isExact).length / this.#tested.length;
      return { exactMatch, translation: translations[0], map: this.attentionMap(example) };
    }

    /** Translate sentences greedily; each token is computed from all tokens before it, without a cache. */
    *translate(sentences) {
      const { pack, sentences: { START_ID, END_ID, toIds, toFrench } } = glassformer;
      const source = pack(sentences.map((words) => toIds(words).source));
      const written = sentences.map(() => [START_ID]);
      let open = sentences.map((_, number) => number);
      const tape = new glassformer.Tape(); // the other one may be in use
      const memory = this.model.encode(tape, source);
      const encoded = tape.position;
      for (let length = 1; length <= MAX_LENGTH && open.length; length++) {
        tape.rewind(encoded);
        const target = pack(open.map((number) => written[number]));
        const sources = { sentences: open.map((number) => source.sentences[number]) };
        const { logits } = this.model.decode(tape, target, memory, sources);
        open.forEach((number, place) => written[number].push(mostProbable(logits, (place + 1) * length - 1)));
        open = open.filter((number) => written[number].at(-1) !== END_ID);
        yield null;
      }
      return written.map((ids) => toFrench(ids.slice(1).filter((id) => id !== END_ID)));
    }

    /** The cross-attention of the last layer, averaged over heads: a row for each token of the reference. */
    attentionMap(words) {
      const { source, target } = glassformer.sentences.toIds(words);
      const keys = glassformer.pack([source]);
      const queries = glassformer.pack([[glassformer.sentences.START_ID, ...target]]);
      const tape = new glassformer.Tape();
      const memory = this.model.encode(tape, keys);
      const { crossWeights } = this.model.decode(tape, queries, memory, keys);
      const { num_heads: numHeads } = this.model.config;
      const [weights, rows, columns] = [crossWeights.at(-1), queries.ids.length, source.length];
      const average = (row, column) => {
        let sum = 0;
        for (let head = 0; head < numHeads; head++) sum += weights[(head * rows + row) * columns + column];
        return sum / numHeads;
      };
      return Array.from({ length: rows }, (_, row) => source.map((_, column) => average(row, column)));
    }
  }

  /** Compute the loss of a batch by teacher forcing, and add its gradients. Yields null between pieces of work. */
  function* computeGradients(model, tape, batch) {
    const { pack, operations, sentences: { START_ID, END_ID } } = glassformer;
    const source = pack(batch.map(({ source }) => source));
    const target = pack(batch.map(({ target }) => [START_ID, ...target]));
    const labels = batch.flatMap(({ target }) => [...target, END_ID]);
    tape.rewind();
    const memory = model.encode(tape, source);
    yield null;
    const { logits } = model.decode(tape, target, memory, source);
    const loss = operations.crossEntropy(logits, labels);
    yield null;
    tape.backward();
    yield null;
    return { loss, tokens: source.ids.length + target.ids.length };
  }

  function mostProbable({ value, columns }, row) {
    let best = 0;
    for (let id = 1; id < columns; id++) if (value[row * columns + id] > value[row * columns + best]) best = id;
    return best;
  }

  Object.assign(glassformer, { TrainingRun, computeGradients });
})((globalThis.glassformer ??= {}));
