// A stack of blocks with random first weights: up goes a sentence, down comes a gradient.
//
// A matrix is its numbers, row after row, and its width. What a part makes of `x` is returned together with
// `back`, which carries a gradient the other way.
(function (glassformer) {
  const ROUNDING = 1e-15; // a spread below is that of rounding
  const EPSILON = 1e-5;

  // ---- Matrices ----

  const matrix = (numbers, width) => ({ numbers, width, height: numbers.length / width });

  function product(left, right) {
    const numbers = new Float64Array(left.height * right.width);
    for (let row = 0; row < left.height; row += 1) {
      const made = numbers.subarray(row * right.width, (row + 1) * right.width);
      for (let inner = 0; inner < left.width; inner += 1) {
        const factor = left.numbers[row * left.width + inner];
        const start = inner * right.width;
        for (let column = 0; column < right.width; column += 1) {
          made[column] += factor * right.numbers[start + column];
        }
      }
    }
    return matrix(numbers, right.width);
  }

  /** `left` times `right` turned over: each row of the one with each row of the other. */
  function productTurned(left, right) {
    const numbers = new Float64Array(left.height * right.height);
    const [ours, theirs] = [rowsOf(left), rowsOf(right)];
    ours.forEach((row, place) =>
      theirs.forEach((other, column) => (numbers[place * right.height + column] = dot(row, other))),
    );
    return matrix(numbers, right.height);
  }

  function transposed({ numbers, width, height }) {
    const turned = new Float64Array(numbers.length);
    for (let place = 0; place < numbers.length; place += 1) {
      turned[(place % width) * height + Math.floor(place / width)] = numbers[place];
    }
    return matrix(turned, height);
  }

  const mapped = ({ numbers, width }, change) => matrix(numbers.map(change), width);
  const added = (left, right) => mapped(left, (number, place) => number + right.numbers[place]);
  const rowsOf = ({ numbers, width, height }) =>
    Array.from({ length: height }, (_, row) => numbers.subarray(row * width, (row + 1) * width));
  const mean = (row) => row.reduce((sum, each) => sum + each, 0) / row.length;
  const size = (numbers) => Math.sqrt(dot(numbers, numbers));

  function dot(left, right) {
    let sum = 0;
    for (let place = 0; place < left.length; place += 1) sum += left[place] * right[place];
    return sum;
  }

  /** Change a matrix row by row. */
  function byRow(x, change) {
    const numbers = new Float64Array(x.numbers.length);
    rowsOf(x).forEach((row, place) => numbers.set(change(row, place), place * x.width));
    return matrix(numbers, x.width);
  }

  // ---- The parts of a block ----

  function norm(x) {
    const deviations = new Float64Array(x.height);
    const made = byRow(x, (row, place) => {
      const centre = mean(row);
      const centred = row.map((each) => each - centre);
      deviations[place] = Math.sqrt(dot(centred, centred) / row.length + EPSILON);
      return centred.map((each) => each / deviations[place]);
    });
    const normed = rowsOf(made);
    const back = (grad) =>
      byRow(grad, (row, place) => {
        const along = dot(row, normed[place]) / row.length;
        const centre = mean(row);
        return row.map((each, k) => (each - centre - normed[place][k] * along) / deviations[place]);
      });
    return [made, back];
  }

  function work(x, { inner, outer }) {
    const widened = product(x, inner);
    const cut = mapped(widened, (number) => Math.max(0, number));
    const back = (grad) => {
      const through = productTurned(grad, outer);
      const kept = mapped(through, (number, place) => (widened.numbers[place] > 0 ? number : 0));
      return productTurned(kept, inner);
    };
    return [product(cut, outer), back];
  }

  function look(x, { query, key, value, output }, num_heads) {
    const asked = [query, key, value].map((weight) => split(product(x, weight), num_heads));
    const heads = Array.from({ length: num_heads }, (_, head) => attend(...asked.map((each) => each[head])));
    const made = product(merged(heads.map(([attended]) => attended)), output);
    const back = (grad) => {
      const pieces = split(productTurned(grad, output), num_heads);
      const grads = heads.map(([, headBack], head) => headBack(pieces[head]));
      return [query, key, value]
        .map((weight, role) => productTurned(merged(grads.map((each) => each[role])), weight))
        .reduce(added);
    };
    return [made, back];
  }

  function attend(query, key, value) {
    const root = Math.sqrt(query.width);
    const scores = mapped(productTurned(query, key), (score) => score / root);
    const weights = byRow(scores, (row) => glassformer.matrices.softmax(row));
    const shares = rowsOf(weights);
    const back = (grad) => {
      const above = productTurned(grad, value);
      const grad_scores = byRow(above, (row, place) => {
        const middle = dot(row, shares[place]);
        return row.map((each, k) => (shares[place][k] * (each - middle)) / root);
      });
      return [
        product(grad_scores, key),
        product(transposed(grad_scores), query),
        product(transposed(weights), grad),
      ];
    };
    return [product(weights, value), back];
  }

  /** Cut each row into pieces, one a head. */
  function split(x, num_heads) {
    const width = x.width / num_heads;
    return Array.from({ length: num_heads }, (_, head) => {
      const numbers = new Float64Array(x.height * width);
      rowsOf(x).forEach((row, place) =>
        numbers.set(row.subarray(head * width, (head + 1) * width), place * width),
      );
      return matrix(numbers, width);
    });
  }

  function merged(pieces) {
    const width = pieces.length * pieces[0].width;
    const numbers = new Float64Array(pieces[0].height * width);
    pieces.forEach((piece, head) =>
      rowsOf(piece).forEach((row, place) => numbers.set(row, place * width + head * piece.width)),
    );
    return matrix(numbers, width);
  }

  // ---- Blocks, and a stack of them ----

  /** Norm and residual connection around a sublayer, as far as they are there. */
  function wrapped(x, sublayer, { residual, norm: place }) {
    const unchanged = (grad) => grad;
    const [before, backBefore] = place === "pre" ? norm(x) : [x, unchanged];
    const [made, backMade] = sublayer(before);
    const sum = residual ? added(x, made) : made;
    const [after, backAfter] = place === "post" ? norm(sum) : [sum, unchanged];
    const back = (grad) => {
      const above = backAfter(grad);
      const through = backBefore(backMade(above));
      return residual ? added(above, through) : through;
    };
    return [after, back];
  }

  function block(x, layer, parts, num_heads) {
    const [looked, lookBack] = wrapped(x, (each) => look(each, layer, num_heads), parts);
    if (!parts.feedForward) return [looked, lookBack];
    const [worked, workBack] = wrapped(looked, (each) => work(each, layer), parts);
    return [worked, (grad) => lookBack(workBack(grad))];
  }

  /** How far the words are from their mean word, as a share of their length. */
  function spreadOf(x) {
    const middle = rowsOf(transposed(x)).map(mean);
    const apart = byRow(x, (row) => row.map((each, column) => each - middle[column]));
    return Math.max(size(apart.numbers) / size(x.numbers), ROUNDING);
  }

  /**
   * Words, a gradient to be sent in at the top, and layers, drawn when they are needed. `run` sends the words up
   * through so many layers and the gradient down again, and measures both at each level. Pre-norm has one more
   * norm above the last layer; only the gradient is sent through it. With the same parts, words that are already
   * up stay there.
   */
  glassformer.makeStack = function ({ num_words, d_model, num_heads, d_ff, seed }) {
    const shapes = Object.fromEntries(
      ["query", "key", "value", "output"].map((role) => [role, [d_model, d_model]]),
    );
    Object.assign(shapes, { inner: [d_model, d_ff], outer: [d_ff, d_model] });
    const count = num_words * d_model;
    const perLayer = Object.values(shapes).reduce((sum, [rows, columns]) => sum + rows * columns, 0);
    const words = matrix(glassformer.normals(seed, 0, count), d_model);
    const above = matrix(glassformer.normals(seed, count, count), d_model);
    const layers = [];
    let climbed = {};

    function drawLayer() {
      let first = 2 * count + layers.length * perLayer;
      return Object.fromEntries(
        Object.entries(shapes).map(([name, [rows, columns]]) => {
          const scale = Math.sqrt(2 / (rows + columns));
          const drawn = glassformer.normals(seed, first, rows * columns).map((number) => number * scale);
          first += rows * columns;
          return [name, matrix(drawn, columns)];
        }),
      );
    }

    function climb(parts, depth) {
      if (climbed.parts !== JSON.stringify(parts)) {
        climbed = { parts: JSON.stringify(parts), levels: [words], backs: [] };
      }
      const { levels, backs } = climbed;
      while (backs.length < depth) {
        if (backs.length === layers.length) layers.push(drawLayer());
        const [x, back] = block(levels.at(-1), layers[backs.length], parts, num_heads);
        levels.push(x);
        backs.push(back);
      }
      return { levels: levels.slice(0, depth + 1), backs: backs.slice(0, depth) };
    }

    function run(parts, depth) {
      const { levels, backs } = climb(parts, depth);
      const grads = [parts.norm === "pre" ? norm(levels.at(-1))[1](above) : above];
      for (const back of backs.reverse()) grads.push(back(grads.at(-1)));
      const sent = size(above.numbers);
      return levels.map((x, level) => ({
        words: rowsOf(x),
        spread: spreadOf(x),
        length: mean(rowsOf(x).map(size)),
        gradient: size(grads[depth - level].numbers) / sent,
      }));
    }

    return { run };
  };
})((globalThis.glassformer ??= {}));
