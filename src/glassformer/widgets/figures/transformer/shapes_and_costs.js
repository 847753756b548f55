// Inputs, outputs, parameters and multiplications of each box of an encoder-decoder.
//
// A count is a list of products: [[4, 64, 64], [4, 64]] is 4 · 64 · 64 + 4 · 64. Only the multiplications of
// matrix products are counted. Shapes are those of one sentence, without the batch.
(function (glassformer) {
  const { sum } = glassformer.matrices;
  const [IDS, VECTORS, NORMALIZED] = ["one id per token", "one vector per token", "normalized"];

  const total = (products) =>
    sum(products.map((factors) => factors.reduce((left, right) => left * right, 1)));

  /** List all boxes in the order of the data flow, with totals over all layers. */
  glassformer.countTransformer = function ({ model, source, target }) {
    const boxes = [...encoder(model, source), ...decoder(model, source, target)].map((box) => ({
      layers: 1,
      inside: [],
      parameters: [],
      multiplications: [],
      ...box,
    }));
    const over = (count) => sum(boxes.map((box) => box.layers * total(box[count])));
    return { boxes, parameters: over("parameters"), multiplications: over("multiplications") };
  };

  /** Describe the output of a sublayer. */
  const summed = ({ norm }) => (norm === "pre" ? "the sum" : "normalized sum");
  /** Describe the input of a sublayer before and after its norm. */
  const below = (model, sublayer) => (sublayer === 0 ? VECTORS : summed(model));
  const taken = (model, sublayer) => (model.norm === "pre" ? NORMALIZED : below(model, sublayer));
  /** Describe the output of a stack. */
  const given = (model) => (model.norm === "pre" ? NORMALIZED : summed(model));

  function encoder(model, source) {
    const words = { time: source };
    const layers = model.num_encoder_layers;
    const sublayers = [
      selfAttention(model, words, { kind: "self-attention", weights: "from word to word" }),
      feedForward(model, words, 1),
    ];
    return [
      {
        kind: "source ids",
        takes: [["your sentence, word by word", [source]]],
        gives: [IDS, [source]],
        how:
          `Each word becomes its id in a vocabulary of ${show(model.source_vocabulary_size)}. ` +
          "A word outside the vocabulary has no id and no embedding; this figure counts it anyway.",
      },
      embedding(model, words, model.source_vocabulary_size, false),
      ...sublayers.flatMap((box, sublayer) => residual(model, words, box, { layers, sublayer })),
      ...lastNorm(model, words),
      {
        kind: "memory",
        takes: [[given(model), [source, model.d_model]]],
        gives: ["to every decoder layer", [source, model.d_model]],
        how:
          "Nothing is computed here: the encoder’s output is stored for the keys and values of every " +
          "cross-attention.",
      },
    ].map((box) => ({ stack: "encoder", ...box }));
  }

  function decoder(model, source, target) {
    const words = { time: target };
    const layers = model.num_decoder_layers;
    const { d_model: width, target_vocabulary_size: vocabulary } = model;
    const sublayers = [
      selfAttention(model, words, { kind: "masked attention", weights: "0 for later tokens" }),
      crossAttention(model, words, source),
      feedForward(model, words, 2),
    ];
    const isTied = model.tie_embeddings !== "none";
    return [
      {
        kind: "target ids",
        takes: [["<start>, then your words", [target]]],
        gives: [IDS, [target]],
        how:
          "The translation so far, shifted right by <start>: at each position the model sees the tokens up to " +
          "there and predicts the next one.",
      },
      embedding(model, words, vocabulary, model.tie_embeddings === "all"),
      ...sublayers.flatMap((box, sublayer) => residual(model, words, box, { layers, sublayer })),
      ...lastNorm(model, words),
      {
        kind: "linear",
        takes: [[given(model), [target, width]]],
        gives: ["logits", [target, vocabulary]],
        how:
          `A score for each of ${show(vocabulary)} tokens: the dot product of the vector and a row of the ` +
          "matrix.",
        parameters: isTied ? [] : [[vocabulary, width]],
        shared: isTied ? "the embedding matrix" : undefined,
        multiplications: [[target, width, vocabulary]],
      },
      {
        kind: "softmax",
        takes: [["logits", [target, vocabulary]]],
        gives: ["probabilities", [target, vocabulary]],
        how: "Each row becomes probabilities that sum to 1. The last row predicts the next token.",
      },
    ].map((box) => ({ stack: "decoder", ...box }));
  }

  // ---- The boxes ----

  function embedding({ d_model: width }, { time }, vocabulary, isShared) {
    return {
      kind: "embedding",
      takes: [[IDS, [time]]],
      gives: [VECTORS, [time, width]],
      how:
        `Look up the vector of each id; times √d_model = √${width} = ` +
        `${glassformer.show(Math.sqrt(width), 1)}; ` +
        "plus the sinusoidal encoding of its position.",
      parameters: isShared ? [] : [[vocabulary, width]],
      shared: isShared ? "the source embedding" : undefined,
    };
  }

  /** Wrap a sublayer with its norm and residual connection. */
  function residual(model, { time }, box, place) {
    const { d_model: width, norm } = model;
    const shape = [time, width];
    const adding = [
      ["x, residual path", shape],
      [box.kind, shape],
    ];
    const parameters = [[2, width]];
    const normed =
      "subtract each vector’s mean, divide by its standard deviation; then a learned scale and shift.";
    const parts =
      norm === "pre"
        ? [
            {
              kind: "norm",
              takes: [[below(model, place.sublayer), shape]],
              gives: [NORMALIZED, shape],
              how: `Layer norm: ${normed}`,
              parameters,
            },
            box,
            {
              kind: "add",
              takes: adding,
              gives: [summed(model), shape],
              how: `x + ${box.kind}(norm(x)): the input plus the sublayer’s output.`,
            },
          ]
        : [
            box,
            {
              kind: "add & norm",
              takes: adding,
              gives: [summed(model), shape],
              how: `x + ${box.kind}(x). Then layer norm: ${normed}`,
              parameters,
            },
          ];
    return parts.map((part) => ({ ...part, ...place }));
  }

  /** Add the final norm of a pre-norm stack. */
  function lastNorm(model, { time }) {
    if (model.norm !== "pre") return [];
    const width = model.d_model;
    const shape = [time, width];
    return [
      {
        kind: "norm",
        takes: [[summed(model), shape]],
        gives: [NORMALIZED, shape],
        how: "A final layer norm, because pre-norm layers do not normalize their output.",
        parameters: [[2, width]],
      },
    ];
  }

  function selfAttention(model, { time }, { kind, weights }) {
    const { d_model: width } = model;
    const of = taken(model, 0);
    return {
      kind,
      takes: [[of, [time, width]]],
      gives: ["output", [time, width]],
      how: attended(model, kind === "self-attention" ? "all words" : "the tokens up to its own position"),
      inside: roles(model, { asking: [of, time], asked: [of, time], weights }),
      parameters: attentionParameters(model),
      multiplications: [
        [4, time, width, width],
        [2, time, time, width],
      ],
    };
  }

  function crossAttention(model, { time }, source) {
    const { d_model: width } = model;
    const of = taken(model, 1);
    return {
      kind: "cross-attention",
      takes: [
        [of, [time, width]],
        ["memory", [source, width]],
      ],
      gives: ["output", [time, width]],
      how: attended(model, "the memory"),
      inside: roles(model, {
        asking: [of, time],
        asked: ["memory", source],
        weights: "from token to word",
      }),
      parameters: attentionParameters(model),
      multiplications: [
        [2, time, width, width],
        [2, source, width, width],
        [2, time, source, width],
      ],
    };
  }

  function attended({ d_model: width, num_heads: heads }, whom) {
    return (
      `softmax(QKᵀ / √${width / heads}) V in ${heads} heads: compare each query with the keys of ${whom}, ` +
      "and average the values with these weights. Then a final linear map."
    );
  }

  /** List queries, keys, values and weights with their sources and shapes. */
  function roles({ d_model: width, num_heads: heads }, { asking, asked, weights }) {
    const from = ([of, time]) => [of, [heads, time, width / heads]];
    return [
      ["Q", ...from(asking)],
      ["K", ...from(asked)],
      ["V", ...from(asked)],
      ["weights", weights, [heads, asking[1], asked[1]]],
    ];
  }

  /** Count four linear maps with biases: queries, keys, values and output. */
  function attentionParameters({ d_model: width }) {
    return [
      [4, width, width],
      [4, width],
    ];
  }

  function feedForward(model, { time }, sublayer) {
    const { d_model: width, d_ff: inner } = model;
    return {
      kind: "feed-forward",
      takes: [[taken(model, sublayer), [time, width]]],
      gives: ["each separately", [time, width]],
      how:
        `max(0, x W₁ + b₁) W₂ + b₂: widen each vector to ${show(inner)}, apply ReLU, project it ` +
        "back.",
      inside: [["inside", "widened", [time, inner]]],
      parameters: [[width, inner], [inner], [inner, width], [width]],
      multiplications: [[2, time, width, inner]],
    };
  }

  const show = (number) => number.toLocaleString("en-US");

  glassformer.counting = {
    total,
    /** "4 · 64 · 64 + 4 · 64" */
    inWords: (products) => products.map((factors) => factors.map(show).join(" · ")).join(" + "),
    show,
  };
})((globalThis.glassformer ??= {}));
