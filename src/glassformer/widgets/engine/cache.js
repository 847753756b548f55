// Incremental decoding: each step computes the new tokens only (`decoding/cache.py`).
(function (glassformer) {
  /**
   * Decoding of one source sentence with cached keys and values, in preallocated memory.
   *
   * Keys and values of the source are computed once and shared by all beams. Those of the target stay in the row
   * where they were written: each beam lists the rows of its ancestors, so that reordering beams copies nothing.
   */
  class CachedDecoding {
    #model;
    #hook;
    #crossCaches;
    #selfCaches;
    #numRows;
    #numUsed = 0;
    #ancestors = [[]];

    /** Encode the source and allocate room for `maxLength` tokens in at most `beamSize` beams. */
    constructor(model, sourceIds, { maxLength, beamSize = 1, hook }) {
      const memory = model.encode(sourceIds, hook);
      const allRows = [...sourceIds.keys()];
      this.#model = model;
      this.#hook = hook;
      this.#crossCaches = model.decoderLayers.map(({ crossAttention }) => ({
        ...crossAttention.projectKeysAndValues(memory, allRows),
        rowsFor: () => allRows,
      }));
      this.#numRows = 1 + (maxLength - 1) * beamSize;
      const size = this.#numRows * model.config.d_model;
      this.#selfCaches = model.decoderLayers.map(() => ({
        keys: new Float32Array(size),
        values: new Float32Array(size),
        rowsFor: (beam) => this.#ancestors[beam],
      }));
    }

    /** Append the last token of each beam; return the logits of the next token, beam after beam. */
    step(lastIds) {
      const position = this.#ancestors[0].length;
      const positions = lastIds.map(() => position);
      const row = this.#allocateRows(lastIds.length);
      let x = this.#model.embedTarget(lastIds, position);
      this.#model.decoderLayers.forEach((layer, number) => {
        const update = (projected) => this.#update(this.#selfCaches[number], row, projected);
        x = layer.forward(x, positions, update, this.#crossCaches[number], this.#hook);
      });
      return this.#model.logits(x);
    }

    /** Reorder beams: new beam i continues old beam parents[i]. */
    reorder(parents) {
      this.#ancestors = parents.map((parent) => this.#ancestors[parent]);
    }

    #allocateRows(count) {
      const first = this.#numUsed;
      if (count !== this.#ancestors.length) {
        throw new Error(`lastIds must hold one id for each of ${this.#ancestors.length} beams, got ${count}.`);
      }
      if (first + count > this.#numRows) throw new Error("The translation has reached its maximum length.");
      this.#numUsed += count;
      this.#ancestors = this.#ancestors.map((rows, beam) => [...rows, first + beam]);
      return first;
    }

    #update(cache, row, { keys, values }) {
      const start = row * this.#model.config.d_model;
      cache.keys.set(keys, start);
      cache.values.set(values, start);
      return cache;
    }
  }

  Object.assign(glassformer, { CachedDecoding });
})((globalThis.glassformer ??= {}));
