// Encoder layer, decoder layer and their parts (`modules/layers.py`, `modules/attention.py`).
//
// A `cache` holds `keys`, `values` and `rowsFor(query)`: the rows a query may attend to, in order of position.
(function (glassformer) {
  class MultiHeadAttention {
    #numHeads;
    #scheme;

    constructor(parameters, name, { d_model: width, num_heads: numHeads }, scheme) {
      this.name = name;
      this.#numHeads = numHeads;
      this.#scheme = scheme;
      this.queryProj = parameters.linear(`${name}.query_proj`, width, width);
      this.keyProj = parameters.linear(`${name}.key_proj`, width, width);
      this.valueProj = parameters.linear(`${name}.value_proj`, width, width);
      this.outputProj = parameters.linear(`${name}.output_proj`, width, width);
    }

    projectKeysAndValues(x, positions) {
      const { linear } = glassformer.kernels;
      return { keys: this.#rotate(linear(x, this.keyProj), positions), values: linear(x, this.valueProj) };
    }

    /** Project queries, attend in each head, merge the heads, project. See transformer.js for `hook`. */
    forward(x, positions, { keys, values, rowsFor }, hook) {
      const { linear, attend } = glassformer.kernels;
      const queries = this.#rotate(linear(x, this.queryProj), positions);
      const width = x.length / positions.length;
      const merged = new Float32Array(x.length);
      positions.forEach((position, number) => {
        const query = queries.subarray(number * width, (number + 1) * width);
        const rows = rowsFor(number);
        const bias = this.#biasAt(position);
        const { attended, weights } = attend({ query, keys, values, rows, numHeads: this.#numHeads, bias });
        hook?.(this.name, attended, weights);
        merged.set(attended, number * width);
      });
      return linear(merged, this.outputProj);
    }

    /** Rotate queries or keys by their positions if the scheme is rotary. */
    #rotate(x, positions) {
      if (this.#scheme !== "rotary") return x;
      const width = x.length / positions.length;
      const rotated = new Float32Array(x.length);
      positions.forEach((position, row) => {
        const vector = x.subarray(row * width, (row + 1) * width);
        rotated.set(glassformer.positions.rotate(vector, position, width / this.#numHeads), row * width);
      });
      return rotated;
    }

    /** The bias on the scores of a query, as a function of head and key position. */
    #biasAt(position) {
      if (this.#scheme !== "alibi") return () => 0;
      return (head, other) => -glassformer.positions.slope(head, this.#numHeads) * Math.abs(position - other);
    }
  }

  class FeedForward {
    constructor(parameters, name, { d_model: width, d_ff: inner }) {
      this.inner = parameters.linear(`${name}.inner`, width, inner);
      this.outer = parameters.linear(`${name}.outer`, inner, width);
    }

    forward(x) {
      const { linear, relu } = glassformer.kernels;
      return linear(relu(linear(x, this.inner)), this.outer);
    }
  }

  /** Add a sublayer's output to its input, with the norm before the sublayer ("pre") or after the sum ("post"). */
  class Residual {
    constructor(parameters, name, { d_model: width, norm }) {
      this.norm = parameters.norm(`${name}.norm`, width);
      this.isPreNorm = norm === "pre";
    }

    forward(x, sublayer) {
      const { add, layerNorm } = glassformer.kernels;
      if (this.isPreNorm) return add(x, sublayer(layerNorm(x, this.norm)));
      return layerNorm(add(x, sublayer(x)), this.norm);
    }
  }

  class EncoderLayer {
    constructor(parameters, name, config) {
      this.selfAttention = new MultiHeadAttention(
        parameters,
        `${name}.self_attention`,
        config,
        config.positions,
      );
      this.selfAttentionResidual = new Residual(parameters, `${name}.self_attention_residual`, config);
      this.feedForward = new FeedForward(parameters, `${name}.feed_forward`, config);
      this.feedForwardResidual = new Residual(parameters, `${name}.feed_forward_residual`, config);
    }

    forward(x, positions, hook) {
      x = this.selfAttentionResidual.forward(x, (x) => {
        const cache = { ...this.selfAttention.projectKeysAndValues(x, positions), rowsFor: () => positions };
        return this.selfAttention.forward(x, positions, cache, hook);
      });
      return this.feedForwardResidual.forward(x, (x) => this.feedForward.forward(x));
    }
  }

  class DecoderLayer {
    constructor(parameters, name, config) {
      this.selfAttention = new MultiHeadAttention(
        parameters,
        `${name}.self_attention`,
        config,
        config.positions,
      );
      this.selfAttentionResidual = new Residual(parameters, `${name}.self_attention_residual`, config);
      // Distances between source and target tokens carry no fixed meaning.
      this.crossAttention = new MultiHeadAttention(parameters, `${name}.cross_attention`, config, "none");
      this.crossAttentionResidual = new Residual(parameters, `${name}.cross_attention_residual`, config);
      this.feedForward = new FeedForward(parameters, `${name}.feed_forward`, config);
      this.feedForwardResidual = new Residual(parameters, `${name}.feed_forward_residual`, config);
    }

    /** Process one new token per beam. `update` appends its keys and values to the cache and returns the cache. */
    forward(x, positions, update, crossCache, hook) {
      x = this.selfAttentionResidual.forward(x, (x) => {
        const cache = update(this.selfAttention.projectKeysAndValues(x, positions));
        return this.selfAttention.forward(x, positions, cache, hook);
      });
      x = this.crossAttentionResidual.forward(x, (x) =>
        this.crossAttention.forward(x, positions, crossCache, hook),
      );
      return this.feedForwardResidual.forward(x, (x) => this.feedForward.forward(x));
    }
  }

  glassformer.layers = { EncoderLayer, DecoderLayer };
})((globalThis.glassformer ??= {}));
