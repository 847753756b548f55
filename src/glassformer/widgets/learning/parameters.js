// Parameters of a trainable model by name, initialised as in `modules/transformer.py`.
(function (glassformer) {
  class Parameters {
    #random;
    list = [];

    /** Draw from `random`, a generator of uniform numbers: see `seededRandom`. */
    constructor(random) {
      this.#random = random;
    }

    get count() {
      return this.list.reduce((total, { value }) => total + value.length, 0);
    }

    /** Add a weight that is Xavier-uniform (Glorot & Bengio, 2010), and a bias of zeros. */
    linear(name, inputs, outputs, { hasBias = true } = {}) {
      const limit = Math.sqrt(6 / (inputs + outputs));
      const weight = this.#add(`${name}.weight`, outputs, inputs, () => limit * (2 * this.#random() - 1));
      return { weight, bias: hasBias ? this.#add(`${name}.bias`, 1, outputs, () => 0) : null };
    }

    norm(name, width) {
      return {
        weight: this.#add(`${name}.weight`, 1, width, () => 1),
        bias: this.#add(`${name}.bias`, 1, width, () => 0),
      };
    }

    /** Add a table with a row for each token, normal with variance 1/width. */
    embedding(name, count, width) {
      return { weight: this.#add(`${name}.weight`, count, width, () => this.#normal() / Math.sqrt(width)) };
    }

    #add(name, rows, columns, draw) {
      const value = Float64Array.from({ length: rows * columns }, draw);
      const parameter = { name, value, grad: new Float64Array(value.length), rows, columns };
      this.list.push(parameter);
      return parameter;
    }

    /** Sample a standard normal number by the Box-Muller transform. */
    #normal() {
      return Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
    }
  }

  Object.assign(glassformer, { Parameters });
})((globalThis.glassformer ??= {}));
