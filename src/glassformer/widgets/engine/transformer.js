// The Transformer of `modules/transformer.py`, for one sentence at a time.
//
// Each attention calls `hook(name, attended, weights)` once per query, before the heads are merged: the place to
// record weights or change outputs from outside (see inspection.js).
(function (glassformer) {
  class Transformer {
    /** Build a model from a configuration and its weights: see `readConfiguration`, `readSafetensors`. */
    constructor(config, tensors) {
      const { EncoderLayer, DecoderLayer } = glassformer.layers;
      const parameters = new Parameters(tensors);
      const stack = (Layer, name, length) =>
        Array.from({ length }, (_, number) => new Layer(parameters, `${name}.${number}`, config));
      this.config = config;
      this.encoderLayers = stack(EncoderLayer, "encoder.layers", config.num_encoder_layers);
      this.decoderLayers = stack(DecoderLayer, "decoder.layers", config.num_decoder_layers);
      this.#loadEmbeddings(parameters);
      this.#loadFinalNorms(parameters);
      parameters.requireAllTaken();
    }

    /** Names of all attention layers, as in Python's `find_attention_layers`. */
    get attentionNames() {
      const encoder = this.encoderLayers.map((layer) => layer.selfAttention);
      const decoder = this.decoderLayers.flatMap((layer) => [layer.selfAttention, layer.crossAttention]);
      return [...encoder, ...decoder].map((attention) => attention.name);
    }

    /** Number of positions the model knows; unlimited unless they are learned. */
    get numPositions() {
      return this.config.positions === "learned" ? this.config.max_length : Infinity;
    }

    /** Encode a sentence into its memory, one vector per token. */
    encode(sourceIds, hook) {
      const positions = [...sourceIds.keys()];
      let x = this.#embed(this.sourceEmbedding, sourceIds, positions);
      for (const layer of this.encoderLayers) x = layer.forward(x, positions, hook);
      return this.#finish(x, this.encoderNorm);
    }

    /** Embed target tokens that share one position. */
    embedTarget(targetIds, position) {
      const positions = targetIds.map(() => position);
      return this.#embed(this.targetEmbedding, targetIds, positions);
    }

    /** Map the decoder's output to the logits of the next token. */
    logits(x) {
      return glassformer.kernels.linear(this.#finish(x, this.decoderNorm), this.outputProj);
    }

    /** Load the embeddings. The file holds tied weights once, under the first of their names. */
    #loadEmbeddings(parameters) {
      const { source_vocabulary_size: numSource, target_vocabulary_size: numTarget } = this.config;
      const { tie_embeddings: tie, d_model: width } = this.config;
      const take = (name, size) => parameters.take(name, size, width);
      const source = take("source_embedding.token.weight", numSource);
      const target = tie === "all" ? source : take("target_embedding.token.weight", numTarget);
      const output = tie === "none" ? take("output_proj.weight", numTarget) : target;
      const table = (side) =>
        this.config.positions === "learned"
          ? take(`${side}_embedding.position.table.weight`, this.config.max_length)
          : null;
      this.sourceEmbedding = { token: source, position: table("source") };
      this.targetEmbedding = { token: target, position: table("target") };
      this.outputProj = { weight: output, bias: new Float32Array(numTarget) };
    }

    #loadFinalNorms(parameters) {
      if (this.config.norm !== "pre") return;
      this.encoderNorm = parameters.norm("encoder.final_norm", this.config.d_model);
      this.decoderNorm = parameters.norm("decoder.final_norm", this.config.d_model);
    }

    /** Embed tokens: √d_model times each token's vector, plus its position encoding. */
    #embed({ token, position: table }, ids, positions) {
      const { d_model: width, positions: scheme } = this.config;
      this.#requireIds(ids, token.length / width);
      this.#requirePositions(positions);
      const embedded = new Float32Array(ids.length * width);
      ids.forEach((id, row) => {
        const encoding = positionEncoding(scheme, positions[row], width, table);
        for (let i = 0; i < width; i++) {
          embedded[row * width + i] = token[id * width + i] * Math.sqrt(width) + encoding[i];
        }
      });
      return embedded;
    }

    #finish(x, norm) {
      return norm ? glassformer.kernels.layerNorm(x, norm) : x;
    }

    #requireIds(ids, size) {
      const { pad_id: padId } = this.config;
      const isToken = (id) => Number.isInteger(id) && id >= 0 && id < size && id !== padId;
      if (!ids.length || !ids.every(isToken)) {
        throw new Error(`ids must be below ${size} and not the padding id ${padId}, got [${ids.join(", ")}].`);
      }
    }

    #requirePositions(positions) {
      const last = Math.max(...positions);
      if (last >= this.numPositions) {
        throw new Error(`The sentence reaches position ${last}, but the model has ${this.numPositions} positions.`);
      }
    }
  }

  /** Compute the vector added to an embedding at a position. */
  function positionEncoding(scheme, position, width, table) {
    if (scheme === "sinusoidal") return glassformer.positions.sinusoid(position, width);
    if (scheme === "learned") return table.subarray(position * width, (position + 1) * width);
    return new Float32Array(width);
  }

  /** Stored weights, each taken exactly once, so that missing and unused ones are noticed. */
  class Parameters {
    #tensors;

    constructor(tensors) {
      this.#tensors = new Map(tensors);
    }

    take(name, ...shape) {
      const tensor = this.#tensors.get(name);
      if (!tensor) throw misfit(`lacks ${name}`);
      if (tensor.shape.join() !== shape.join()) {
        throw misfit(`has a ${name} of shape (${tensor.shape.join(", ")}) instead of (${shape.join(", ")})`);
      }
      if (!glassformer.kernels.allFinite(tensor.values)) throw misfit(`holds NaN or infinity in ${name}`);
      this.#tensors.delete(name);
      return tensor.values;
    }

    linear(name, inputs, outputs) {
      return {
        weight: this.take(`${name}.weight`, outputs, inputs),
        bias: this.take(`${name}.bias`, outputs),
      };
    }

    norm(name, width) {
      return { weight: this.take(`${name}.weight`, width), bias: this.take(`${name}.bias`, width) };
    }

    requireAllTaken() {
      const [name] = this.#tensors.keys();
      if (name !== undefined) throw misfit(`holds ${name}, which the model does not have`);
    }
  }

  function misfit(what) {
    return new Error(`The weights file does not fit model.json: it ${what}.`);
  }

  Object.assign(glassformer, { Transformer });
})((globalThis.glassformer ??= {}));
