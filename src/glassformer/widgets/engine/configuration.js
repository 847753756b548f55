// What a model.json says of a model: the sizes and choices of `modules/configuration.py`, under their names.
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
    positions: ["sinusoidal", "learned", "rotary", "linear_bias", "none"],
  };
  const SETTINGS = new Set([...SIZES, ...Object.keys(CHOICES), "pad_id", "dropout"]);
  const RECURRENT = ["fixed_context", "additive_attention"];

  /** Read the text of a model.json. Throws an Error that says what is wrong with it, or not known here. */
  function readConfiguration(text) {
    let description;
    try {
      description = JSON.parse(text);
    } catch (error) {
      throw wrong(`must describe a model, but is damaged: ${error.message}`);
    }
    const { architecture, config } = description ?? {};
    if (RECURRENT.includes(architecture)) {
      throw wrong(`describes a recurrent model (${architecture}): only a Transformer runs here`);
    }
    if (architecture !== "transformer") {
      throw wrong(`must describe a transformer, got ${JSON.stringify(architecture)}`);
    }
    checkSettings(config);
    return config;
  }

  function checkSettings(config) {
    const names = Object.keys(config ?? {});
    const missing = [...SETTINGS].filter((name) => !names.includes(name));
    if (missing.length) throw wrong(`lacks the settings ${missing.join(", ")}`);
    const unknown = names.filter((name) => !SETTINGS.has(name));
    if (unknown.length) throw wrong(`has settings that are not known here: ${unknown.join(", ")}`);
    for (const name of SIZES) {
      const size = config[name];
      if (!Number.isSafeInteger(size) || size < 1) throw wrong(`has a ${name} that is no size: ${size}`);
    }
    for (const [name, known] of Object.entries(CHOICES)) {
      if (!known.includes(config[name])) throw wrong(`has a ${name} that is not known here: ${config[name]}`);
    }
    checkTogether(config);
  }

  function checkTogether({ source_vocabulary_size, target_vocabulary_size, pad_id, ...config }) {
    const smaller = Math.min(source_vocabulary_size, target_vocabulary_size);
    if (!Number.isInteger(pad_id) || pad_id < 0 || pad_id >= smaller) {
      throw wrong(`has a pad_id that is not from 0 to ${smaller - 1}: ${pad_id}`);
    }
    if (config.tie_embeddings === "all" && source_vocabulary_size !== target_vocabulary_size) {
      throw wrong(
        `ties all embeddings of two vocabularies: ${source_vocabulary_size}, ${target_vocabulary_size}`,
      );
    }
    const headWidth = config.d_model / config.num_heads;
    if (!Number.isInteger(headWidth)) {
      throw wrong(`has a d_model (${config.d_model}) that is no multiple of num_heads (${config.num_heads})`);
    }
    if (config.positions === "rotary" && headWidth % 2) {
      throw wrong(`has rotary positions, which turn pairs, in heads of odd width (${headWidth})`);
    }
  }

  function wrong(what) {
    return new Error(`model.json ${what}.`);
  }

  Object.assign(glassformer, { readConfiguration });
})((globalThis.glassformer ??= {}));
