// The Transformer of `modules/transformer.py`, for one sentence at a time.
//
// Each attention calls `atHeads(name, attended, weights)` once a query, after its heads have attended and
// before they are joined: the place to look in, or step in, from outside (see inspection.js).
(function (glassformer) {
  class Transformer {
    /** Take a configuration and the weights that belong to it: see `readConfiguration`, `readSafetensors`. */
    constructor(config, tensors) {
      const { EncoderLayer, DecoderLayer } = glassformer.layers;
      const parameters = new Parameters(tensors);
      const stack = (Layer, name, length) =>
        Array.from({ length }, (_, number) => new Layer(parameters, `${name}.${number}`, config));
      this.config = config;
      this.encoderLayers = stack(EncoderLayer, "encoder.layers", config.num_encoder_layers);
      this.decoderLayers = stack(DecoderLayer, "decoder.layers", config.num_decoder_layers);
      this.#takeEmbeddings(parameters);
      this.#takeFinalNorms(parameters);
      parameters.requireAllTaken();
    }

    /** The name of each attention, as `find_attentions` gives them in Python. */
    get attentionNames() {
      const reading = this.encoderLayers.map((layer) => layer.selfAttention);
      const writing = this.decoderLayers.flatMap((layer) => [layer.selfAttention, layer.crossAttention]);
      return [...reading, ...writing].map((attention) => attention.name);
    }

    /** How many tokens a sentence may have: there is no end to positions that are not learned. */
    get numPositions() {
      return this.config.positions === "learned" ? this.config.max_length : Infinity;
    }

    /** Read a sentence, all tokens at once: the memory, one vector a token. */
    encode(sourceIds, atHeads) {
      const positions = sourceIds.map((_, place) => place);
      let x = this.#embed(this.sourceEmbedding, sourceIds, positions);
      for (const layer of this.encoderLayers) x = layer.read(x, positions, atHeads);
      return this.#finish(x, this.encoderNorm);
    }

    /** The vectors of target tokens that all stand at one position. */
    embedTarget(targetIds, position) {
      const positions = targetIds.map(() => position);
      return this.#embed(this.targetEmbedding, targetIds, positions);
    }

    /** Say from what the decoder layers made of each token which one should come next. */
    logits(x) {
      return glassformer.kernels.linear(this.#finish(x, this.decoderNorm), this.outputProj);
    }

    /** Tied weights stand in the file once, under the first of their names. */
    #takeEmbeddings(parameters) {
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

    #takeFinalNorms(parameters) {
      if (this.config.norm !== "pre") return;
      this.encoderNorm = parameters.norm("encoder.final_norm", this.config.d_model);
      this.decoderNorm = parameters.norm("decoder.final_norm", this.config.d_model);
    }

    /** Look up each token's vector, times √d_model, and add where it stands. */
    #embed({ token, position: table }, ids, positions) {
      const { d_model: width, positions: kind } = this.config;
      this.#requireIds(ids, token.length / width);
      this.#requirePositions(positions);
      const embedded = new Float32Array(ids.length * width);
      ids.forEach((id, row) => {
        const where = placeOf(kind, positions[row], width, table);
        for (let i = 0; i < width; i++) {
          embedded[row * width + i] = token[id * width + i] * Math.sqrt(width) + where[i];
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
        throw new Error(`Ids must be below ${size} and no padding (${padId}), got [${ids.join(", ")}].`);
      }
    }

    #requirePositions(positions) {
      const last = Math.max(...positions);
      if (last >= this.numPositions) {
        throw new Error(`The sentence reaches position ${last}, but the model knows ${this.numPositions}.`);
      }
    }
  }

  /** What is added to a vector that stands at a position. */
  function placeOf(kind, position, width, table) {
    if (kind === "sinusoidal") return glassformer.positions.sinusoid(position, width);
    if (kind === "learned") return table.subarray(position * width, (position + 1) * width);
    return new Float32Array(width);
  }

  /** Stored weights, each of which is taken to its place, so that none is missing and none is left over. */
  class Parameters {
    #tensors;

    constructor(tensors) {
      this.#tensors = new Map(tensors);
    }

    take(name, ...shape) {
      const tensor = this.#tensors.get(name);
      if (!tensor) throw misfit(`lacks ${name}`);
      if (tensor.shape.join() !== shape.join()) {
        throw misfit(`has a ${name} of shape (${tensor.shape.join(", ")}) in place of (${shape.join(", ")})`);
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
      if (name !== undefined) throw misfit(`holds ${name}, for which the model has no place`);
    }
  }

  function misfit(what) {
    return new Error(`The file of weights does not fit model.json: it ${what}.`);
  }

  Object.assign(glassformer, { Transformer });
})((globalThis.glassformer ??= {}));
