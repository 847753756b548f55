// A trainable Transformer (`modules/transformer.py`, with post-norm and sinusoidal positions).
//
// Some of its parts can be removed; the parameters stay the same, so that models with one seed begin alike.
(function (glassformer) {
  const REMOVABLE = ["positions", "causalMask", "crossAttention", "residuals", "layerNorm", "scaling"];

  class TrainableTransformer {
    /** Sizes are named as in `TransformerConfig`; `without` lists removed parts. */
    constructor({ without = [], ...sizes }, random) {
      const unknown = without.filter((part) => !REMOVABLE.includes(part));
      if (unknown.length) throw new Error(`without may list ${REMOVABLE.join(", ")}, but not ${unknown}.`);
      const { d_model: width, num_heads: numHeads } = sizes;
      const { source_vocabulary_size: sourceSize, target_vocabulary_size: targetSize } = sizes;
      if (width % numHeads) throw new Error(`d_model (${width}) must be a multiple of num_heads (${numHeads}).`);
      const config = { ...sizes, without };
      const parameters = new glassformer.Parameters(random);
      const { EncoderLayer, DecoderLayer } = glassformer.trainableLayers;
      this.config = config;
      this.parameters = parameters;
      const stack = (length, Layer, name) =>
        Array.from({ length }, (_, number) => new Layer(parameters, `${name}.layers.${number}`, config));
      this.sourceEmbedding = parameters.embedding("source_embedding.token", sourceSize, width);
      this.targetEmbedding = parameters.embedding("target_embedding.token", targetSize, width);
      this.encoderLayers = stack(config.num_encoder_layers, EncoderLayer, "encoder");
      this.decoderLayers = stack(config.num_decoder_layers, DecoderLayer, "decoder");
      this.outputProj = parameters.linear("output_proj", width, targetSize, { hasBias: false });
    }

    /** Compute the memory of packed source sentences. */
    encode(tape, source) {
      let x = this.#embed(tape, source, this.sourceEmbedding);
      for (const layer of this.encoderLayers) x = layer.forward(tape, x, source.sentences);
      return x;
    }

    /** Compute the logits of the token after each target token, and each layer's cross-attention weights. */
    decode(tape, target, memory, source) {
      const sentences = { target: target.sentences, source: source.sentences };
      const crossWeights = [];
      let x = this.#embed(tape, target, this.targetEmbedding);
      for (const layer of this.decoderLayers) {
        const computed = layer.forward(tape, x, memory, sentences);
        x = computed.x;
        crossWeights.push(computed.weights);
      }
      return { logits: glassformer.operations.linear(tape, x, this.outputProj), crossWeights };
    }

    #embed(tape, packed, table) {
      const { d_model: width, without } = this.config;
      const longest = Math.max(...packed.sentences.map(({ length }) => length));
      const encodings = without.includes("positions")
        ? null
        : Array.from({ length: longest }, (_, position) => glassformer.positions.sinusoid(position, width));
      return glassformer.operations.embed(tape, packed, table, encodings);
    }
  }

  /** Pack sentences of ids, one after the other: their ids, and the first position and the length of each. */
  function pack(lists) {
    let first = 0;
    const sentences = lists.map(({ length }) => {
      first += length;
      return { first: first - length, length };
    });
    return { ids: lists.flat(), sentences };
  }

  Object.assign(glassformer, { TrainableTransformer, pack });
})((globalThis.glassformer ??= {}));
