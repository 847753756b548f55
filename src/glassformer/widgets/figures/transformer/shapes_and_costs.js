// What each box of an encoder-decoder takes, gives, holds and costs, counted by formula.
//
// A count is a list of products: [[4, 64, 64], [4, 64]] is 4 · 64 · 64 + 4 · 64. Multiplications are those of
// matrix products. A shape is that of one sentence, without the batch.
(function (glassformer) {
  const { sum } = glassformer.matrices;
  const [IDS, VECTORS, NORMED] = ["one id a token", "one vector a token", "normed"];

  const total = (products) =>
    sum(products.map((factors) => factors.reduce((left, right) => left * right, 1)));

  /** All boxes in the order of the data flow, with the totals over all layers. */
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

  /** What comes out at the end of each sublayer, and so goes into the next one. */
  const summed = ({ norm }) => (norm === "pre" ? "the sum" : "the sum, normed");
  /** What comes to a sublayer from below, and what its box takes of it, after a norm or without one. */
  const below = (model, sublayer) => (sublayer === 0 ? VECTORS : summed(model));
  const taken = (model, sublayer) => (model.norm === "pre" ? NORMED : below(model, sublayer));
  /** What a whole stack gives. */
  const given = (model) => (model.norm === "pre" ? NORMED : summed(model));

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
          `Each word becomes its number in a list of ${show(model.source_vocabulary_size)}. ` +
          "A word outside the list has no number, and the embedding no row for it; here it is counted, too.",
      },
      embedding(model, words, model.source_vocabulary_size, false),
      ...sublayers.flatMap((box, sublayer) => residual(model, words, box, { layers, sublayer })),
      ...lastNorm(model, words),
      {
        kind: "memory",
        takes: [[given(model), [source, model.d_model]]],
        gives: ["to every decoder layer", [source, model.d_model]],
        how:
          "Nothing is computed here: what the encoder made of the source is kept for the keys and values of " +
          "every cross-attention.",
      },
    ].map((box) => ({ stack: "encoder", ...box }));
  }

  function decoder(model, source, target) {
    const words = { time: target };
    const layers = model.num_decoder_layers;
    const { d_model: width, target_vocabulary_size: vocabulary } = model;
    const sublayers = [
      selfAttention(model, words, { kind: "masked attention", weights: "zero for later tokens" }),
      crossAttention(model, words, source),
      feedForward(model, words, 2),
    ];
    const isTied = model.tie_embeddings !== "none";
    return [
      {
        kind: "given ids",
        takes: [["<start>, then your words", [target]]],
        gives: [IDS, [target]],
        how:
          "The translation as far as it is written, shifted right by <start>: at each place the model sees " +
          "the tokens up to there, and is asked for the next.",
      },
      embedding(model, words, vocabulary, model.tie_embeddings === "all"),
      ...sublayers.flatMap((box, sublayer) => residual(model, words, box, { layers, sublayer })),
      ...lastNorm(model, words),
      {
        kind: "linear",
        takes: [[given(model), [target, width]]],
        gives: ["logits", [target, vocabulary]],
        how:
          `A score for each of ${show(vocabulary)} tokens: the dot product of the vector with a row of a ` +
          "matrix.",
        parameters: isTied ? [] : [[vocabulary, width]],
        shared: isTied ? "the matrix of the embedding" : undefined,
        multiplications: [[target, width, vocabulary]],
      },
      {
        kind: "softmax",
        takes: [["logits", [target, vocabulary]]],
        gives: ["probabilities", [target, vocabulary]],
        how: "Each row becomes probabilities that sum to one. The last row tells the token to be written next.",
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
        `Look up each id’s row in a table; times √d_model = √${width} = ` +
        `${glassformer.show(Math.sqrt(width), 1)}; ` +
        "plus the sines and cosines of its position.",
      parameters: isShared ? [] : [[vocabulary, width]],
      shared: isShared ? "the table of the source" : undefined,
    };
  }

  /** A sublayer with its addition and its norm: before it (pre) or with the addition (post). */
  function residual(model, { time }, box, place) {
    const { d_model: width, norm } = model;
    const shape = [time, width];
    const adding = [
      ["x, past the box", shape],
      [box.kind, shape],
    ];
    const parameters = [[2, width]];
    const normed =
      "each vector minus its mean, over its standard deviation; times a learned scale, plus a learned shift.";
    const parts =
      norm === "pre"
        ? [
            {
              kind: "norm",
              takes: [[below(model, place.sublayer), shape]],
              gives: [NORMED, shape],
              how: `Layer norm: ${normed}`,
              parameters,
            },
            box,
            {
              kind: "add",
              takes: adding,
              gives: [summed(model), shape],
              how: `x + ${box.kind}(norm(x)): what came in, plus what was made of it.`,
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

  /** Layers that norm what they are given leave their last sum to one more norm. */
  function lastNorm(model, { time }) {
    if (model.norm !== "pre") return [];
    const width = model.d_model;
    const shape = [time, width];
    return [
      {
        kind: "norm",
        takes: [[summed(model), shape]],
        gives: [NORMED, shape],
        how: "Layer norm once more, for nothing else norms the sums of the last layer.",
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
      gives: ["handed over", [time, width]],
      how: attended(model, kind === "self-attention" ? "all words" : "the tokens up to itself"),
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
      gives: ["handed over", [time, width]],
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
      "and mix the values by these weights. Then one last map."
    );
  }

  /** Where queries, keys and values come from, and the weights, each with its shape. */
  function roles({ d_model: width, num_heads: heads }, { asking, asked, weights }) {
    const from = ([of, time]) => [of, [heads, time, width / heads]];
    return [
      ["Q", ...from(asking)],
      ["K", ...from(asked)],
      ["V", ...from(asked)],
      ["weights", weights, [heads, asking[1], asked[1]]],
    ];
  }

  /** Four maps with their biases: for queries, keys, values, and the heads joined. */
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
      gives: ["each by itself", [time, width]],
      how:
        `max(0, x W₁ + b₁) W₂ + b₂: widen each vector to ${show(inner)} numbers, keep what is positive, ` +
        "narrow it.",
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
