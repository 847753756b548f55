// Read and validate a model.json: the settings of `modules/configuration.py`, under the same names.
(function (glassformer) {
  const SIZES = [
    "source_vocabulary_size",
    "target_vocabulary_size",
    "d_model",
    "num_heads",
    "d_ff",
    "num_encoder_layers",
    "num_decoder_layers",
    "max_length",
  ];
  const CHOICES = {
    tie_embeddings: ["none", "target", "all"],
    norm: ["post", "pre"],
    positions: ["sinusoidal", "learned", "rotary", "alibi", "none"],
  };
  const SETTINGS = new Set([...SIZES, ...Object.keys(CHOICES), "pad_id", "dropout"]);
  const OPTIONAL = new Set(["attention_dropout", "activation_dropout"]); // models saved before them lack both
  const RECURRENT = ["fixed_context", "additive_attention"];
  const OLD_NAMES = { linear_bias: "alibi" }; // of position schemes

  /** Read the text of a model.json. Throws an Error that names the invalid setting. */
  function readConfiguration(text) {
    let description;
    try {
      description = JSON.parse(text);
    } catch (error) {
      throw invalid(`must be valid JSON: ${error.message}`);
    }
    const { kind, architecture = kind, config } = description ?? {};
    if (RECURRENT.includes(architecture)) {
      throw invalid(`describes a recurrent model (${architecture}); only a Transformer can run here`);
    }
    if (architecture !== "transformer") {
      throw invalid(`must describe a transformer, got ${JSON.stringify(architecture)}`);
    }
    const settings = { ...config };
    if (settings.positions in OLD_NAMES) settings.positions = OLD_NAMES[settings.positions];
    validateSettings(settings);
    return settings;
  }

  function validateSettings(config) {
    const names = Object.keys(config);
    const missing = [...SETTINGS].filter((name) => !names.includes(name));
    if (missing.length) throw invalid(`lacks ${missing.join(", ")}`);
    const unknown = names.filter((name) => !SETTINGS.has(name) && !OPTIONAL.has(name));
    if (unknown.length) throw invalid(`has unknown settings: ${unknown.join(", ")}`);
    for (const name of SIZES) {
      const size = config[name];
      if (!Number.isSafeInteger(size) || size < 1) {
        throw invalid(`has an invalid ${name}: it must be a positive integer, got ${size}`);
      }
    }
    for (const [name, known] of Object.entries(CHOICES)) {
      if (!known.includes(config[name])) {
        throw invalid(`has an unknown value of ${name}: it must be one of ${known.join(", ")}, got ${config[name]}`);
      }
    }
    validateCombinations(config);
  }

  function validateCombinations({ source_vocabulary_size, target_vocabulary_size, pad_id, ...config }) {
    const smaller = Math.min(source_vocabulary_size, target_vocabulary_size);
    if (!Number.isInteger(pad_id) || pad_id < 0 || pad_id >= smaller) {
      throw invalid(`has an invalid pad_id: it must be from 0 to ${smaller - 1}, got ${pad_id}`);
    }
    if (config.tie_embeddings === "all" && source_vocabulary_size !== target_vocabulary_size) {
      throw invalid(
        `ties all embeddings, but its vocabularies differ in size: ${source_vocabulary_size}, ${target_vocabulary_size}`,
      );
    }
    const headWidth = config.d_model / config.num_heads;
    if (!Number.isInteger(headWidth)) {
      throw invalid(`has a d_model (${config.d_model}) that is not a multiple of num_heads (${config.num_heads})`);
    }
    if (config.positions === "rotary" && headWidth % 2) {
      throw invalid(`has rotary positions, which need an even head width, got ${headWidth}`);
    }
  }

  function invalid(what) {
    return new Error(`model.json ${what}.`);
  }

  Object.assign(glassformer, { readConfiguration });
})((globalThis.glassformer ??= {}));
