// Softmax of adjustable scores, with temperature, a common offset and the number format.
(function (glassformer) {
  const LARGEST = { float16: 65504, float32: (2 - 2 ** -23) * 2 ** 127, float64: Number.MAX_VALUE };
  const UNDERFLOW = { float16: 2 ** -25, float32: 2 ** -150, float64: 0 }; // largest value rounded to zero

  /** Compute the softmax and its Jacobian. Formats differ in overflow and underflow only, not in rounding. */
  glassformer.computeSoftmax = function ({ scores, temperature, level, format, shifted }) {
    const scaled = scores.map((score) => (score + level) / temperature);
    const shift = shifted ? Math.max(...scaled) : 0;
    const exponentials = scaled.map((score) => clampToFormat(Math.exp(score - shift), format));
    const total = clampToFormat(glassformer.matrices.sum(exponentials), format);
    const weights = exponentials.map((each) => each / total);
    const jacobian = weights.map((weight, row) =>
      weights.map((other, column) => (weight * ((row === column ? 1 : 0) - other)) / temperature),
    );
    const entropy = -weights.reduce((sum, weight) => sum + (weight === 0 ? 0 : weight * Math.log(weight)), 0);
    return { exponentials, total, weights, jacobian, entropy };
  };

  function clampToFormat(number, format) {
    if (number <= UNDERFLOW[format]) return 0;
    return number > LARGEST[format] ? Infinity : number;
  }

  function start(stage, { words, scores, reach }) {
    const { element, set, slider, choice, toggle, summary, prediction, show } = glassformer;
    const state = { scores: [...scores], temperature: 1, level: 0, format: "float64", shifted: true };
    const changed = (change) => {
      Object.assign(state, change);
      draw();
    };

    const rows = words.map((word, place) => {
      const score = slider({
        label: word,
        min: -reach,
        max: reach,
        step: 0.1,
        value: scores[place],
        show: (number) => show(number, 1),
        onInput: (number) => changed({ scores: state.scores.with(place, number) }),
      });
      const exponential = element("td", { class: "number" });
      const weight = element("td", { class: "number" });
      const bar = element("td", { class: "bar" }, element("span"));
      const derivatives = words.map(() => element("td", { class: "derivative number" }));
      return { score, exponential, weight, bar, derivatives };
    });

    const numbers = element(
      "table",
      { class: "numbers" },
      head("word", "score", "", "exp", "weight", ""),
      element(
        "tbody",
        {},
        ...rows.map(({ score, exponential, weight, bar }) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, score.label),
            element("td", {}, score.input),
            element("td", { class: "number" }, score.output),
            exponential,
            weight,
            bar,
          ),
        ),
      ),
    );

    const jacobianTable = element(
      "table",
      { class: "jacobian" },
      element("caption", {}, "Change of each weight (row) for each score (column)"),
      head("", ...words),
      element(
        "tbody",
        {},
        ...rows.map(({ derivatives }, place) =>
          element("tr", {}, element("th", { scope: "row" }, words[place]), ...derivatives),
        ),
      ),
    );

    const temperature = slider({
      label: "temperature",
      min: 0.1,
      max: 5,
      step: 0.1,
      value: 1,
      show: (number) => show(number, 1),
      onInput: (number) => changed({ temperature: number }),
    });
    const level = slider({
      label: "add to all scores",
      min: 0,
      max: 800,
      step: 1,
      value: 0,
      onInput: (number) => changed({ level: number }),
    });
    const format = choice({
      label: "format",
      options: Object.keys(LARGEST),
      value: state.format,
      onInput: (name) => changed({ format: name }),
    });
    const shift = toggle({
      label: "subtract the largest score first",
      value: true,
      onInput: (on) => changed({ shifted: on }),
    });
    const { parts, say } = summary();

    stage.append(
      prediction({
        question: "All scores increase by 100. The weights become …",
        answers: ["More equal", "Unchanged", "Less equal"],
        right: 1,
        because: "Only differences of scores matter. Try it.",
      }),
      numbers,
      element(
        "div",
        { class: "controls" },
        ...[temperature, level].map(({ label, input, output }) =>
          element("div", { class: "control" }, label, input, output),
        ),
        element("div", { class: "control" }, format.label, format.input),
        shift,
      ),
      ...parts,
      jacobianTable,
    );

    function draw() {
      const { exponentials, weights, jacobian, entropy, total } = glassformer.computeSoftmax(state);
      rows.forEach((row, place) => {
        row.exponential.textContent = show(exponentials[place], 3);
        row.weight.textContent = show(weights[place], 3);
        set(row.bar, { "--share": weights[place] || 0 });
        row.derivatives.forEach((cell, column) => {
          const derivative = jacobian[place][column];
          cell.textContent = show(derivative, 2);
          cell.classList.toggle("negative", derivative < 0);
          set(cell, { "--strength": Math.min(1, Math.abs(derivative) * 4) || 0 });
        });
      });
      say(describe(exponentials, weights, entropy, total));
    }

    function describe(exponentials, weights, entropy, total) {
      if (total === 0) return `Every exponential is too small for ${state.format}: 0 / 0 is NaN.`;
      if (exponentials.includes(Infinity)) return `An exponential is too large for ${state.format}: ∞ / ∞ is NaN.`;
      if (total === Infinity) {
        return `Each exponential fits into ${state.format}, but their sum does not: every weight is 0.`;
      }
      const most = Math.max(...weights);
      const best = words.filter((_, place) => most - weights[place] < 1e-9).map((word) => `“${word}”`);
      const shares = words.map((word, place) => `${word} ${show(weights[place], 3)}`).join(", ");
      const alike = best.length > 1 ? ", equally" : "";
      return `${shares}. Largest weight: ${best.join(" and ")}${alike}; entropy ${show(entropy, 2)} of at most ${show(Math.log(words.length), 2)} nats.`;
    }

    draw();
  }

  function head(...cells) {
    const { element } = glassformer;
    return element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...cells.map((cell) => (cell ? element("th", { scope: "col" }, cell) : element("td"))),
      ),
    );
  }

  (glassformer.figures ??= []).push(["softmax", start]);
})((globalThis.glassformer ??= {}));
