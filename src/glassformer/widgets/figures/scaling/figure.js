// Scores, weights and gradients at any width, under four divisors.
(function (glassformer) {
  const { dot, mean, softmax } = glassformer.matrices;
  const REACH = 24; // of the histogram on both sides
  const BIN = 0.8;

  // ---- Numbers ----

  function divisorsOf(d_k, num_heads) {
    return { undivided: 1, "√d_k": Math.sqrt(d_k), "√d_model": Math.sqrt(num_heads * d_k), "d_k": d_k };
  }

  /**
   * Compute the figure's numbers for each divisor. `drawn` caches the samples: one block per component, with a number
   * for each query and then one for each of its keys. The keys of the first block are the gradient of the weights.
   */
  glassformer.computeScaling = function ({ seed, num_queries, num_keys, num_heads, d_k }, drawn = []) {
    const size = num_queries * (1 + num_keys);
    while (drawn.length <= d_k) drawn.push(glassformer.normals(seed, drawn.length * size, size));
    const [above, ...components] = drawn.slice(0, d_k + 1);
    const shape = { num_queries, num_keys };
    const products = dotProducts(components, shape);
    return Object.fromEntries(
      Object.entries(divisorsOf(d_k, num_heads)).map(([name, divisor]) => [
        name,
        measure(products.map((product) => product / divisor), above, components, divisor, shape),
      ]),
    );
  };

  /** Compute the dot product of each query with each of its keys. */
  function dotProducts(components, { num_queries, num_keys }) {
    const products = new Float64Array(num_queries * num_keys);
    for (const component of components) {
      for (let query = 0; query < num_queries; query += 1) {
        for (let key = query * num_keys; key < (query + 1) * num_keys; key += 1) {
          products[key] += component[query] * component[num_queries + key];
        }
      }
    }
    return products;
  }

  function measure(scores, above, components, divisor, { num_queries, num_keys }) {
    const weights = new Float64Array(scores.length);
    const gradients = new Float64Array(scores.length);
    for (let first = 0; first < scores.length; first += num_keys) {
      const row = softmax(scores.subarray(first, first + num_keys));
      weights.set(row, first);
      gradients.set(backward(above.subarray(num_queries + first), row), first);
    }
    const shape = { num_queries, num_keys };
    const ranked = rank(weights, shape);
    return {
      scores,
      ranked,
      deviation: deviation(scores),
      entropy: weights.reduce((sum, each) => sum - (each === 0 ? 0 : each * Math.log2(each)), 0) / num_queries,
      largest: ranked[0],
      atScores: median(normsAtScores(gradients, shape)),
      atQuery: median(normsAtQuery(gradients, components, divisor, shape)),
    };
  }

  /** Backpropagate through the softmax. */
  function backward(above, weights) {
    const average = dot(weights, above);
    return weights.map((weight, place) => weight * (above[place] - average));
  }

  /** Average the largest weight of all queries, the second largest, and so on. */
  function rank(weights, { num_queries, num_keys }) {
    const means = new Float64Array(num_keys);
    for (let first = 0; first < weights.length; first += num_keys) {
      const falling = weights.slice(first, first + num_keys).sort().reverse();
      falling.forEach((weight, place) => (means[place] += weight / num_queries));
    }
    return [...means];
  }

  function deviation(numbers) {
    const average = mean(numbers);
    return Math.sqrt(mean(numbers.map((each) => (each - average) ** 2)));
  }

  /** Compute the gradient norm at the scores of each query. */
  function normsAtScores(gradients, { num_queries, num_keys }) {
    return Float64Array.from({ length: num_queries }, (_, query) =>
      Math.hypot(...gradients.subarray(query * num_keys, (query + 1) * num_keys)),
    );
  }

  /** Compute the gradient norm at each query, summed over its keys. */
  function normsAtQuery(gradients, components, divisor, { num_queries, num_keys }) {
    const squares = new Float64Array(num_queries);
    for (const component of components) {
      for (let query = 0; query < num_queries; query += 1) {
        let gathered = 0;
        for (let key = query * num_keys; key < (query + 1) * num_keys; key += 1) {
          gathered += gradients[key] * component[num_queries + key];
        }
        squares[query] += (gathered / divisor) ** 2;
      }
    }
    return squares.map(Math.sqrt);
  }

  function median(numbers) {
    const sorted = numbers.slice().sort();
    const middle = sorted.length / 2;
    return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
  }

  // ---- Figure ----

  const MEASURES = [
    { key: "deviation", head: "spread of scores" },
    { key: "entropy", head: "entropy, bits" },
    { key: "largest", head: "largest weight" },
    { key: "atScores", head: "gradient at scores" },
    { key: "atQuery", head: "gradient at query" },
  ];

  function start(stage, data) {
    const { element, slider, summary, prediction } = glassformer;
    const drawn = [];
    const state = { d_k: data.start, divisor: "undivided" };
    let numbers;
    const widened = (d_k) => {
      state.d_k = d_k;
      numbers = glassformer.computeScaling({ ...data, d_k }, drawn);
      draw();
    };
    const divided = (divisor) => {
      state.divisor = divisor;
      draw();
    };
    const width = slider({
      label: "width d_k",
      min: 0,
      max: data.widths.length - 1,
      step: 1,
      value: data.widths.indexOf(data.start),
      show: (place) => String(data.widths[place]),
      onInput: (place) => widened(data.widths[place]),
    });
    const table = makeTable(Object.keys(divisorsOf(1, 1)), divided);
    const scores = makeHistogram();
    const weights = makeBars(data.num_keys);
    const { parts, say } = summary();
    const widest = data.widths.at(-1);
    stage.append(
      prediction({
        question: `Divided by √d_k, how does the entropy change from d_k = ${data.start} to ${widest}?`,
        answers: ["It falls", "It hardly changes", "It rises"],
        right: 1,
        because: "The scores have the same spread at every width. Choose √d_k to see it.",
      }),
      element("div", { class: "control" }, width.label, width.input, width.output),
      table.table,
      element("div", { class: "panels" }, scores.panel, weights.panel),
      ...parts,
    );

    function draw() {
      table.draw(state.divisor, numbers);
      scores.draw(numbers[state.divisor]);
      weights.draw(numbers[state.divisor]);
      say(describe(state, numbers[state.divisor]));
    }

    widened(data.start);
  }

  let made = 0;

  /** Make the table of measures, in which a divisor can be selected. */
  function makeTable(divisors, choose) {
    const { element } = glassformer;
    const group = `glass-divisor-${(made += 1)}`;
    const rows = divisors.map((divisor) => {
      const radio = element("input", { type: "radio", name: group, value: divisor });
      radio.addEventListener("input", () => choose(divisor));
      const cells = MEASURES.map(() => element("td", { class: "number" }));
      const row = element(
        "tr",
        {},
        element("th", { scope: "row" }, element("label", { class: "switch" }, radio, divisor)),
        ...cells,
      );
      return { divisor, radio, cells, row };
    });
    const table = element(
      "table",
      { class: "divisors" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          ...["divisor", ...MEASURES.map(({ head }) => head)].map((cell) => element("th", { scope: "col" }, cell)),
        ),
      ),
      element("tbody", {}, ...rows.map(({ row }) => row)),
    );

    function draw(chosen, numbers) {
      for (const { divisor, radio, cells, row } of rows) {
        radio.checked = divisor === chosen;
        row.classList.toggle("chosen", radio.checked);
        cells.forEach((cell, place) => (cell.textContent = short(numbers[divisor][MEASURES[place].key])));
      }
    }

    return { table, draw };
  }

  const [WIDE, HIGH] = [300, 120]; // size of a plot without its labels

  function makePanel(title, below, ...parts) {
    const { element } = glassformer;
    const drawing = element("svg", { viewBox: `0 0 ${WIDE} ${HIGH + below}`, "aria-hidden": "true" }, ...parts);
    return element("div", { class: "panel" }, element("p", {}, title), drawing);
  }

  function makeHistogram() {
    const { element, set, show } = glassformer;
    const across = (score) => ((score + REACH) / (2 * REACH)) * WIDE;
    const shape = element("path", { class: "scores" });
    const spread = element("path", { class: "spread" });
    const written = element("text", { class: "note", x: WIDE / 2, y: HIGH + 33, "text-anchor": "middle" });
    const ticks = [-16, -8, 0, 8, 16].map((score) =>
      element("text", { x: across(score), y: HIGH + 15, "text-anchor": "middle" }, show(score, 0)),
    );
    const axis = element("path", { class: "axes", d: `M0 ${HIGH}H${WIDE}` });
    const panel = makePanel("Scores", 38, shape, spread, axis, ...ticks, written);

    function draw({ scores, deviation }) {
      const counts = histogram(scores);
      const most = Math.max(...counts);
      const step = WIDE / counts.length;
      const bars = counts.map((count, place) => `M${place * step} ${HIGH}v${(-count / most) * (HIGH - 12)}h${step}V${HIGH}Z`);
      set(shape, { d: bars.join("") });
      set(spread, { d: `M${across(-Math.min(deviation, REACH))} ${HIGH}H${across(Math.min(deviation, REACH))}` });
      const outside = scores.reduce((sum, score) => sum + (Math.abs(score) >= REACH ? 1 : 0), 0) / scores.length;
      const beyond = outside ? `; ${show(100 * outside, 1)}% outside` : "";
      written.textContent = `standard deviation ±${show(deviation)}${beyond}`;
    }

    return { panel, draw };
  }

  /** Count the scores in each bin; outliers are left out. */
  function histogram(scores) {
    const counts = new Array((2 * REACH) / BIN).fill(0);
    for (const score of scores) {
      const bin = Math.floor((score + REACH) / BIN);
      if (bin in counts) counts[bin] += 1;
    }
    return counts;
  }

  function makeBars(num_keys) {
    const { element, set, show } = glassformer;
    const step = WIDE / num_keys;
    const up = (weight) => HIGH - weight * (HIGH - 12);
    const bars = Array.from({ length: num_keys }, (_, place) =>
      element("rect", { class: "weight", x: place * step + 1, width: step - 2 }),
    );
    const even = up(1 / num_keys);
    const largest = element("text", { class: "note", x: step + 4 });
    const panel = makePanel(
      "Weights, by rank",
      20,
      ...bars,
      element("path", { class: "even", d: `M0 ${even}H${WIDE}` }),
      element("path", { class: "axes", d: `M0 ${HIGH}H${WIDE}` }),
      element("text", { x: WIDE, y: even - 6, "text-anchor": "end" }, `even share ${show(1 / num_keys, 3)}`),
      largest,
      ...[1, num_keys / 2, num_keys].map((rank) =>
        element("text", { x: (rank - 0.5) * step, y: HIGH + 15, "text-anchor": "middle" }, String(rank)),
      ),
    );

    function draw({ ranked }) {
      bars.forEach((bar, place) => set(bar, { y: up(ranked[place]), height: HIGH - up(ranked[place]) }));
      set(largest, { y: Math.min(up(ranked[0]) + 11, even - 24) });
      largest.textContent = show(ranked[0], 3);
    }

    return { panel, draw };
  }

  /** Format a number in about five characters. */
  function short(number) {
    if (number > 0 && number < 0.001) return number.toExponential(0).replace("-", "−");
    return glassformer.show(number, number < 10 ? 3 : 2);
  }

  function describe({ d_k, divisor }, { entropy, largest, atScores }) {
    const { show } = glassformer;
    const how = divisor === "undivided" ? "undivided" : `divided by ${divisor}`;
    return `d_k ${d_k}, ${how}: largest weight ${show(largest)}, entropy ${show(entropy)} bits, median gradient at the scores ${short(atScores)}.`;
  }

  (glassformer.figures ??= []).push(["scaling", start]);
})((globalThis.glassformer ??= {}));
