// A stack of Transformer blocks with random initial weights: a forward pass, and a gradient sent back through it.
//
// Each function returns its output together with `back`, which maps the gradient at the output to that at the input.
(function (glassformer) {
  const { dot, mean, norm, product, productTransposed, softmax, transpose } = glassformer.matrices;
  const ROUNDING = 1e-15; // a smaller spread is rounding error
  const EPSILON = 1e-5;

  /** Cut numbers into rows. */
  const toRows = (numbers, width) =>
    Array.from({ length: numbers.length / width }, (_, row) =>
      numbers.subarray(row * width, (row + 1) * width),
    );
  const zip = (left, right, combine) =>
    left.map((row, i) => row.map((number, j) => combine(number, right[i][j])));
  const add = (left, right) => zip(left, right, (one, other) => one + other);

  // ---- The parts of a block ----

  function layerNorm(x) {
    const deviations = [];
    const normed = x.map((row) => {
      const center = mean(row);
      const centered = row.map((each) => each - center);
      const deviation = Math.sqrt(dot(centered, centered) / row.length + EPSILON);
      deviations.push(deviation);
      return centered.map((each) => each / deviation);
    });
    const back = (grad) =>
      grad.map((row, i) => {
        const along = dot(row, normed[i]) / row.length;
        const center = mean(row);
        return row.map((each, j) => (each - center - normed[i][j] * along) / deviations[i]);
      });
    return [normed, back];
  }

  function feedForward(x, { inner, outer }) {
    const hidden = product(x, inner);
    const activated = hidden.map((row) => row.map((number) => Math.max(0, number)));
    const back = (grad) => {
      const gradActivated = productTransposed(grad, outer);
      const gradHidden = zip(gradActivated, hidden, (number, before) => (before > 0 ? number : 0));
      return productTransposed(gradHidden, inner);
    };
    return [product(activated, outer), back];
  }

  function multiHeadAttention(x, { query, key, value, output }, numHeads) {
    const projected = [query, key, value].map((weight) => splitHeads(product(x, weight), numHeads));
    const heads = Array.from({ length: numHeads }, (_, head) =>
      attention(...projected.map((each) => each[head])),
    );
    const back = (grad) => {
      const gradAttended = splitHeads(productTransposed(grad, output), numHeads);
      const grads = heads.map(([, headBack], head) => headBack(gradAttended[head]));
      return [query, key, value]
        .map((weight, role) => productTransposed(mergeHeads(grads.map((each) => each[role])), weight))
        .reduce(add);
    };
    return [product(mergeHeads(heads.map(([attended]) => attended)), output), back];
  }

  function attention(query, key, value) {
    const root = Math.sqrt(query[0].length);
    const weights = productTransposed(query, key).map((row) => softmax(row.map((score) => score / root)));
    const back = (grad) => {
      const gradWeights = productTransposed(grad, value);
      const gradScores = gradWeights.map((row, i) => {
        const center = dot(row, weights[i]);
        return row.map((each, j) => (weights[i][j] * (each - center)) / root);
      });
      return [
        product(gradScores, key),
        product(transpose(gradScores), query),
        product(transpose(weights), grad),
      ];
    };
    return [product(weights, value), back];
  }

  function splitHeads(x, numHeads) {
    const width = x[0].length / numHeads;
    return Array.from({ length: numHeads }, (_, head) =>
      x.map((row) => row.slice(head * width, (head + 1) * width)),
    );
  }

  function mergeHeads(heads) {
    return heads[0].map((_, row) => Float64Array.from(heads.flatMap((head) => [...head[row]])));
  }

  // ---- Blocks, and a stack of them ----

  /** Apply a sublayer with the norm and the residual connection that the block has. */
  function applySublayer(x, sublayer, { residual, norm: placement }) {
    const identity = (grad) => grad;
    const [input, backInput] = placement === "pre" ? layerNorm(x) : [x, identity];
    const [output, backOutput] = sublayer(input);
    const sum = residual ? add(x, output) : output;
    const [normed, backNorm] = placement === "post" ? layerNorm(sum) : [sum, identity];
    const back = (grad) => {
      const gradSum = backNorm(grad);
      const gradInput = backInput(backOutput(gradSum));
      return residual ? add(gradSum, gradInput) : gradInput;
    };
    return [normed, back];
  }

  function applyBlock(x, layer, parts, numHeads) {
    const attend = (each) => multiHeadAttention(each, layer, numHeads);
    const [attended, backAttention] = applySublayer(x, attend, parts);
    if (!parts.feedForward) return [attended, backAttention];
    const [output, backFeedForward] = applySublayer(attended, (each) => feedForward(each, layer), parts);
    return [output, (grad) => backAttention(backFeedForward(grad))];
  }

  /** Compute the distance of the words from their mean word, relative to their norm. */
  function spreadOf(x) {
    const center = transpose(x).map(mean);
    const centered = x.map((row) => row.map((each, column) => each - center[column]));
    return Math.max(frobenius(centered) / frobenius(x), ROUNDING);
  }

  const frobenius = (x) => norm(x.map(norm));

  /**
   * Make a stack whose layers are drawn on first use. `run` sends the words through `depth` layers and the gradient
   * back, and measures both at each level. Pre-norm has a final norm above the last layer, through which only the
   * gradient is sent. Activations are cached until the parts change.
   */
  glassformer.makeStack = function ({ num_words, d_model, num_heads, d_ff, seed }) {
    const shapes = Object.fromEntries(
      ["query", "key", "value", "output"].map((role) => [role, [d_model, d_model]]),
    );
    Object.assign(shapes, { inner: [d_model, d_ff], outer: [d_ff, d_model] });
    const count = num_words * d_model;
    const perLayer = Object.values(shapes).reduce((sum, [rows, columns]) => sum + rows * columns, 0);
    const words = toRows(glassformer.normals(seed, 0, count), d_model);
    const gradAtTop = toRows(glassformer.normals(seed, count, count), d_model);
    const layers = [];
    let cache = {};

    function drawLayer() {
      let first = 2 * count + layers.length * perLayer;
      return Object.fromEntries(
        Object.entries(shapes).map(([name, [rows, columns]]) => {
          const scale = Math.sqrt(2 / (rows + columns));
          const drawn = glassformer.normals(seed, first, rows * columns).map((number) => number * scale);
          first += rows * columns;
          return [name, toRows(drawn, columns)];
        }),
      );
    }

    function forward(parts, depth) {
      if (cache.parts !== JSON.stringify(parts)) {
        cache = { parts: JSON.stringify(parts), levels: [words], backs: [] };
      }
      const { levels, backs } = cache;
      while (backs.length < depth) {
        if (backs.length === layers.length) layers.push(drawLayer());
        const [x, back] = applyBlock(levels.at(-1), layers[backs.length], parts, num_heads);
        levels.push(x);
        backs.push(back);
      }
      return { levels: levels.slice(0, depth + 1), backs: backs.slice(0, depth) };
    }

    function run(parts, depth) {
      const { levels, backs } = forward(parts, depth);
      const grads = [parts.norm === "pre" ? layerNorm(levels.at(-1))[1](gradAtTop) : gradAtTop];
      for (const back of backs.reverse()) grads.push(back(grads.at(-1)));
      return levels.map((x, level) => ({
        words: x,
        spread: spreadOf(x),
        length: mean(x.map(norm)),
        gradient: frobenius(grads[depth - level]) / frobenius(gradAtTop),
      }));
    }

    return { run };
  };
})((globalThis.glassformer ??= {}));
