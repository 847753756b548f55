// Encoder layer, decoder layer and their parts (`modules/layers.py`, `modules/attention.py`), made trainable.
//
// `config.without` lists the parts that are removed: see transformer.js.
(function (glassformer) {
  class MultiHeadAttention {
    constructor(parameters, name, { d_model: width, num_heads: numHeads, without }) {
      this.numHeads = numHeads;
      this.scale = without.includes("scaling") ? 1 : 1 / Math.sqrt(width / numHeads);
      this.queryProj = parameters.linear(`${name}.query_proj`, width, width);
      this.keyProj = parameters.linear(`${name}.key_proj`, width, width);
      this.valueProj = parameters.linear(`${name}.value_proj`, width, width);
      this.outputProj = parameters.linear(`${name}.output_proj`, width, width);
    }

    /** Let x attend to `memory`. The options are those of `attend`. Returns the output and the weights. */
    forward(tape, x, memory, options) {
      const { operations: { linear }, attend } = glassformer;
      const query = linear(tape, x, this.queryProj);
      const key = linear(tape, memory, this.keyProj);
      const value = linear(tape, memory, this.valueProj);
      const { numHeads, scale } = this;
      const { attended, weights } = attend(tape, { query, key, value }, { numHeads, scale, ...options });
      return { output: linear(tape, attended, this.outputProj), weights };
    }
  }

  class FeedForward {
    constructor(parameters, name, { d_model: width, d_ff: inner }) {
      this.inner = parameters.linear(`${name}.inner`, width, inner);
      this.outer = parameters.linear(`${name}.outer`, inner, width);
    }

    forward(tape, x) {
      const { linear, relu } = glassformer.operations;
      return linear(tape, relu(tape, linear(tape, x, this.inner)), this.outer);
    }
  }

  /** Add a sublayer's output to its input, and normalize the sum. */
  class Residual {
    constructor(parameters, name, { d_model: width, without }) {
      this.norm = parameters.norm(`${name}.norm`, width);
      this.adds = !without.includes("residuals");
      this.normalizes = !without.includes("layerNorm");
    }

    forward(tape, x, sublayer) {
      const { add, layerNorm } = glassformer.operations;
      const y = this.adds ? add(tape, x, sublayer(x)) : sublayer(x);
      return this.normalizes ? layerNorm(tape, y, this.norm) : y;
    }
  }

  class EncoderLayer {
    constructor(parameters, name, config) {
      this.selfAttention = new MultiHeadAttention(parameters, `${name}.self_attention`, config);
      this.selfAttentionResidual = new Residual(parameters, `${name}.self_attention_residual`, config);
      this.feedForward = new FeedForward(parameters, `${name}.feed_forward`, config);
      this.feedForwardResidual = new Residual(parameters, `${name}.feed_forward_residual`, config);
    }

    forward(tape, x, sentences) {
      const options = { queries: sentences, keys: sentences };
      const attend = (x) => this.selfAttention.forward(tape, x, x, options).output;
      x = this.selfAttentionResidual.forward(tape, x, attend);
      return this.feedForwardResidual.forward(tape, x, (x) => this.feedForward.forward(tape, x));
    }
  }

  class DecoderLayer {
    constructor(parameters, name, config) {
      this.isCausal = !config.without.includes("causalMask");
      this.isUniform = config.without.includes("crossAttention");
      this.selfAttention = new MultiHeadAttention(parameters, `${name}.self_attention`, config);
      this.selfAttentionResidual = new Residual(parameters, `${name}.self_attention_residual`, config);
      this.crossAttention = new MultiHeadAttention(parameters, `${name}.cross_attention`, config);
      this.crossAttentionResidual = new Residual(parameters, `${name}.cross_attention_residual`, config);
      this.feedForward = new FeedForward(parameters, `${name}.feed_forward`, config);
      this.feedForwardResidual = new Residual(parameters, `${name}.feed_forward_residual`, config);
    }

    /** Returns the states and the weights of the cross-attention. */
    forward(tape, x, memory, { target, source }) {
      const own = { queries: target, keys: target, isCausal: this.isCausal };
      const crossing = { queries: target, keys: source, isUniform: this.isUniform };
      let weights;
      x = this.selfAttentionResidual.forward(tape, x, (x) => this.selfAttention.forward(tape, x, x, own).output);
      x = this.crossAttentionResidual.forward(tape, x, (x) => {
        const crossed = this.crossAttention.forward(tape, x, memory, crossing);
        weights = crossed.weights;
        return crossed.output;
      });
      x = this.feedForwardResidual.forward(tape, x, (x) => this.feedForward.forward(tape, x));
      return { x, weights };
    }
  }

  glassformer.trainableLayers = { EncoderLayer, DecoderLayer };
})((globalThis.glassformer ??= {}));
