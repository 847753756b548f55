// The tape of a training step: each operation records how its gradient flows back, and `backward` plays the record
// from its end (reverse-mode differentiation).
//
// A matrix is `{ value, grad, rows, columns }`, stored row by row. The tokens of all sentences of a batch are the
// rows of one matrix, one sentence after the other, without padding.
(function (glassformer) {
  const CHUNK = 1 << 16; // numbers

  class Tape {
    #records = [];
    #chunks = [new Float64Array(CHUNK)];
    #chunk = 0;
    #used = 0;

    /** Return zeros, which are reused after `rewind`: requesting new memory in every step would be slow. */
    zeros(count) {
      while (this.#used + count > this.#chunks[this.#chunk].length) {
        this.#chunk += 1;
        this.#used = 0;
        if (this.#chunk === this.#chunks.length) this.#chunks.push(new Float64Array(Math.max(CHUNK, count)));
      }
      this.#used += count;
      return this.#chunks[this.#chunk].subarray(this.#used - count, this.#used).fill(0);
    }

    matrix(rows, columns) {
      return { value: this.zeros(rows * columns), grad: this.zeros(rows * columns), rows, columns };
    }

    /** Record a function that adds to the gradients of an operation's inputs. */
    record(propagate) {
      this.#records.push(propagate);
    }

    /** Propagate gradients from the last operation to the first. */
    backward() {
      for (let place = this.#records.length - 1; place >= 0; place--) this.#records[place]();
    }

    /** The current position, to rewind to. */
    get position() {
      return { chunk: this.#chunk, used: this.#used };
    }

    /** Forget all records, and reuse the memory behind a position. */
    rewind({ chunk, used } = { chunk: 0, used: 0 }) {
      this.#records = [];
      this.#chunk = chunk;
      this.#used = used;
    }
  }

  Object.assign(glassformer, { Tape });
})((globalThis.glassformer ??= {}));
