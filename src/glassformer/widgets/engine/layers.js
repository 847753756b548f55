// An encoder layer, a decoder layer, and what stands in them (`modules/layers.py`, `modules/attention.py`).
//
// `seen` is what an attention looks at: `keys`, `values`, and `rowsFor(query)`, which lists the rows of both
// that a query may look at, from the first position to the last.
(function (glassformer) {
  class Attention {
    #numHeads;
    #kind;

    constructor(parameters, name, { d_model: width, num_heads: numHeads }, kindOfPositions) {
      this.name = name;
      this.#numHeads = numHeads;
      this.#kind = kindOfPositions;
      this.queryProj = parameters.linear(`${name}.query_proj`, width, width);
      this.keyProj = parameters.linear(`${name}.key_proj`, width, width);
      this.valueProj = parameters.linear(`${name}.value_proj`, width, width);
      this.outputProj = parameters.linear(`${name}.output_proj`, width, width);
    }

    /** The keys and values of vectors that stand at these positions. */
    project(x, positions) {
      const { linear } = glassformer.kernels;
      return { keys: this.#place(linear(x, this.keyProj), positions), values: linear(x, this.valueProj) };
    }

    /** Project, attend in each head, join the heads, project; `atHeads` as in transformer.js. */
    attend(x, positions, { keys, values, rowsFor }, atHeads) {
      const { linear, attend } = glassformer.kernels;
      const queries = this.#place(linear(x, this.queryProj), positions);
      const width = x.length / positions.length;
      const joined = new Float32Array(x.length);
      positions.forEach((position, number) => {
        const query = queries.subarray(number * width, (number + 1) * width);
        const rows = rowsFor(number);
        const bias = this.#biasAt(position);
        const { attended, weights } = attend({ query, keys, values, rows, numHeads: this.#numHeads, bias });
        atHeads?.(this.name, attended, weights);
        joined.set(attended, number * width);
      });
      return linear(joined, this.outputProj);
    }

    /** Turn queries or keys by where they stand, if positions are rotary. */
    #place(x, positions) {
      if (this.#kind !== "rotary") return x;
      const width = x.length / positions.length;
      const placed = new Float32Array(x.length);
      positions.forEach((position, row) => {
        const vector = x.subarray(row * width, (row + 1) * width);
        placed.set(glassformer.positions.rotate(vector, position, width / this.#numHeads), row * width);
      });
      return placed;
    }

    /** What is added to the scores of a query at a position, by head and position of the key. */
    #biasAt(position) {
      if (this.#kind !== "linear_bias") return () => 0;
      return (head, other) => -glassformer.positions.slope(head, this.#numHeads) * Math.abs(position - other);
    }
  }

  /** Widen each vector, keep what is positive, narrow it again. */
  class FeedForward {
    constructor(parameters, name, { d_model: width, d_ff: inner }) {
      this.inner = parameters.linear(`${name}.inner`, width, inner);
      this.outer = parameters.linear(`${name}.outer`, inner, width);
    }

    map(x) {
      const { linear, relu } = glassformer.kernels;
      return linear(relu(linear(x, this.inner)), this.outer);
    }
  }

  /** Add to x what a sublayer makes of it; "pre" norms what the sublayer is given, "post" the sum. */
  class Residual {
    constructor(parameters, name, { d_model: width, norm }) {
      this.norm = parameters.norm(`${name}.norm`, width);
      this.normFirst = norm === "pre";
    }

    around(x, sublayer) {
      const { add, layerNorm } = glassformer.kernels;
      if (this.normFirst) return add(x, sublayer(layerNorm(x, this.norm)));
      return layerNorm(add(x, sublayer(x)), this.norm);
    }
  }

  class EncoderLayer {
    constructor(parameters, name, config) {
      this.selfAttention = new Attention(parameters, `${name}.self_attention`, config, config.positions);
      this.selfAttentionResidual = new Residual(parameters, `${name}.self_attention_residual`, config);
      this.feedForward = new FeedForward(parameters, `${name}.feed_forward`, config);
      this.feedForwardResidual = new Residual(parameters, `${name}.feed_forward_residual`, config);
    }

    /** Let all tokens of a sentence look at each other, then think by themselves. */
    read(x, positions, atHeads) {
      x = this.selfAttentionResidual.around(x, (x) => {
        const seen = { ...this.selfAttention.project(x, positions), rowsFor: () => positions };
        return this.selfAttention.attend(x, positions, seen, atHeads);
      });
      return this.feedForwardResidual.around(x, (x) => this.feedForward.map(x));
    }
  }

  class DecoderLayer {
    constructor(parameters, name, config) {
      this.selfAttention = new Attention(parameters, `${name}.self_attention`, config, config.positions);
      this.selfAttentionResidual = new Residual(parameters, `${name}.self_attention_residual`, config);
      // Between two languages, distance has no fixed meaning.
      this.crossAttention = new Attention(parameters, `${name}.cross_attention`, config, "none");
      this.crossAttentionResidual = new Residual(parameters, `${name}.cross_attention_residual`, config);
      this.feedForward = new FeedForward(parameters, `${name}.feed_forward`, config);
      this.feedForwardResidual = new Residual(parameters, `${name}.feed_forward_residual`, config);
    }

    /**
     * Take new tokens, rivals for one place, one layer further. `remember` takes in their keys and values
     * and gives back what they see of the target, `memory` is what they see of the source.
     */
    step(x, positions, remember, memory, atHeads) {
      x = this.selfAttentionResidual.around(x, (x) => {
        const seen = remember(this.selfAttention.project(x, positions));
        return this.selfAttention.attend(x, positions, seen, atHeads);
      });
      x = this.crossAttentionResidual.around(x, (x) =>
        this.crossAttention.attend(x, positions, memory, atHeads),
      );
      return this.feedForwardResidual.around(x, (x) => this.feedForward.map(x));
    }
  }

  glassformer.layers = { EncoderLayer, DecoderLayer };
})((globalThis.glassformer ??= {}));
