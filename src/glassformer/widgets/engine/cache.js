// What is kept of a translation while it is written, so that each step computes only what is new
// (`decoding/cache.py`).
(function (glassformer) {
  /**
   * The keys and values of the decoder, in memory that is allocated once.
   *
   * Those of the source are computed once and serve all beams. Those of the target stay in the row where they
   * were written: each beam knows the rows it descends from, so that a change of beams moves no numbers.
   */
  class KeyValueCache {
    #model;
    #atHeads;
    #memories;
    #pasts;
    #numRows;
    #used = 0;
    #descents = [[]];

    /** Read the sentence, and get ready to write `maxLength` tokens along `beamSize` beams at most. */
    constructor(model, sourceIds, { maxLength, beamSize = 1, atHeads }) {
      const memory = model.encode(sourceIds, atHeads);
      const everywhere = sourceIds.map((_, place) => place);
      this.#model = model;
      this.#atHeads = atHeads;
      this.#memories = model.decoderLayers.map((layer) => ({
        ...layer.crossAttention.project(memory, everywhere),
        rowsFor: () => everywhere,
      }));
      this.#numRows = 1 + (maxLength - 1) * beamSize;
      const size = this.#numRows * model.config.d_model;
      this.#pasts = model.decoderLayers.map(() => ({
        keys: new Float32Array(size),
        values: new Float32Array(size),
        rowsFor: (beam) => this.#descents[beam],
      }));
    }

    /** Take in the last token of each beam, and give the logits of the next, beam after beam. */
    step(lastIds) {
      const position = this.#descents[0].length;
      const positions = lastIds.map(() => position);
      const row = this.#claimRows(lastIds.length);
      let x = this.#model.embedTarget(lastIds, position);
      this.#model.decoderLayers.forEach((layer, number) => {
        const remember = (projected) => this.#remember(this.#pasts[number], row, projected);
        x = layer.step(x, positions, remember, this.#memories[number], this.#atHeads);
      });
      return this.#model.logits(x);
    }

    /** Go on with other beams: each new one continues the beam that is named here by its number. */
    reorder(parents) {
      this.#descents = parents.map((parent) => this.#descents[parent]);
    }

    #claimRows(count) {
      const first = this.#used;
      if (count !== this.#descents.length) {
        throw new Error(`There are ${this.#descents.length} beams, but ${count} last tokens.`);
      }
      if (first + count > this.#numRows) throw new Error("The translation is as long as it may be.");
      this.#used += count;
      this.#descents = this.#descents.map((rows, beam) => [...rows, first + beam]);
      return first;
    }

    #remember(past, row, { keys, values }) {
      const start = row * this.#model.config.d_model;
      past.keys.set(keys, start);
      past.values.set(values, start);
      return past;
    }
  }

  Object.assign(glassformer, { KeyValueCache });
})((globalThis.glassformer ??= {}));
