// The attention formula step by step, for any sentence and mask.
(function (glassformer) {
  const { sum, transpose, product, productTransposed } = glassformer.matrices;
  const ROLES = ["query", "key", "value"];
  const COLOURS = { k: "key", v: "value" };
  const MASKS = {
    none: () => true,
    causal: (query, key) => key <= query,
    custom: (query, key, { edited, base }) => edited[query]?.[key] ?? MASKS[base](query, key),
  };

  /** Compute all steps. A fully masked row has zero weights. */
  glassformer.computeSteps = function ({ words, projections, mask }) {
    const x = words.map((word) => wordVector(word, projections.query.length));
    const [query, key, value] = ROLES.map((role) => product(x, projections[role]));
    const scores = productTransposed(query, key);
    const scaled = scores.map((row) => row.map((score) => score / Math.sqrt(query[0].length)));
    const masked = scaled.map((row, i) => row.map((score, j) => (mask[i][j] ? score : -Infinity)));
    const exponentials = masked.map((row) => row.map(Math.exp));
    const totals = exponentials.map(sum);
    const weights = exponentials.map((row, i) => row.map((each) => (totals[i] > 0 ? each / totals[i] : 0)));
    const attended = product(weights, value);
    return { x, query, key, value, scores, scaled, masked, exponentials, totals, weights, attended };
  };

  /** Generate a word's vector as in word_vectors.py. */
  function wordVector(word, width) {
    let state = 2166136261;
    for (const byte of new TextEncoder().encode(word.normalize("NFC"))) {
      state = Math.imul(state ^ byte, 16777619);
    }
    return Array.from({ length: width }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (Math.floor((state * 31) / 2 ** 32) - 15) / 10;
    });
  }

  // ---- Steps: the grid, the columns beside each key, one worked example, and the summary ----

  const show = (number) => glassformer.show(number, 2);
  const signed = (number) => (number < 0 ? `(${show(number)})` : show(number));
  const products = (left, right) =>
    left.map((each, place) => `${signed(each)} · ${signed(right[place])}`).join(" + ");

  const STEPS = [
    {
      name: "compare",
      sign: "QKᵀ",
      grid: ({ scores }) => scores,
      columns: ({ key, scores }, i) => [
        ["k", key],
        ["q · k", scores[i]],
      ],
      role: "query",
      given: ({ query }, i) => `q = ${query[i].map(show).join("  ")}`,
      work: ({ query, key, scores }, i, j) => `q · k = ${products(query[i], key[j])} = ${show(scores[i][j])}`,
      say: ({ scores }, i, words) => {
        const best = scores[i].indexOf(Math.max(...scores[i]));
        return `its query matches the key of “${words[best]}” best, with a score of ${show(scores[i][best])}.`;
      },
    },
    {
      name: "scale",
      sign: "÷ √dₖ",
      grid: ({ scaled }) => scaled,
      columns: ({ scores, scaled }, i) => [
        ["q · k", scores[i]],
        ["÷ √dₖ", scaled[i]],
      ],
      given: ({ query }, i) => `√dₖ = √${query[i].length} = ${show(Math.sqrt(query[i].length))}`,
      work: ({ query, scores, scaled }, i, j) =>
        `${show(scores[i][j])} ÷ √${query[i].length} = ${show(scaled[i][j])}`,
      say: ({ scaled }, i) => {
        const [low, high] = [Math.min(...scaled[i]), Math.max(...scaled[i])];
        return `divided by √dₖ, its scores are between ${show(low)} and ${show(high)}.`;
      },
    },
    {
      name: "mask",
      sign: "+ M",
      grid: ({ masked }) => masked,
      columns: ({ scaled, masked }, i) => [
        ["score", scaled[i]],
        ["M", masked[i].map((score) => (score > -Infinity ? 0 : score))],
        ["masked", masked[i]],
      ],
      given: () => "M = 0 where attention is allowed, −∞ elsewhere",
      work: ({ scaled, masked }, i, j) =>
        `${show(scaled[i][j])} + ${masked[i][j] > -Infinity ? "0" : "(−∞)"} = ${show(masked[i][j])}`,
      say: ({ masked }, i, words) => {
        const seen = words.filter((_, place) => masked[i][place] > -Infinity);
        const names = seen.length > 0 ? `: ${seen.join(", ")}` : "";
        return `it may attend to ${seen.length} of ${words.length} words${names}.`;
      },
    },
    {
      name: "weigh",
      sign: "softmax",
      grid: ({ weights }) => weights,
      columns: ({ masked, exponentials, weights }, i) => [
        ["masked", masked[i]],
        ["exp", exponentials[i]],
        ["weight", weights[i]],
      ],
      given: ({ totals }, i) => `sum of the exponentials = ${show(totals[i])}`,
      work: ({ exponentials, totals, weights }, i, j) =>
        totals[i] > 0
          ? `${show(exponentials[i][j])} ÷ ${show(totals[i])} = ${show(weights[i][j])}`
          : "all keys are masked: the weight is set to 0.00",
      say: ({ weights, totals }, i, words) => {
        if (totals[i] === 0) return "all its keys are masked, so its weights are zero.";
        const best = weights[i].indexOf(Math.max(...weights[i]));
        return `its largest weight is ${show(weights[i][best])}, on “${words[best]}”; its weights sum to 1.`;
      },
    },
    {
      name: "mix",
      sign: "· V",
      grid: ({ weights }) => weights,
      columns: ({ weights, value }, i) => [
        ["weight", weights[i]],
        ["v", value],
      ],
      role: "value",
      given: ({ attended }, i) => `output = ${attended[i].map(show).join("  ")}`,
      work: ({ weights, value, attended }, i) => {
        const pairs = value.map(([first], place) => [weights[i][place], first]);
        const seen = pairs.filter(([weight]) => weight > 0);
        const sums = seen.length > 0 ? products(...transpose(seen)) : "nothing";
        return `first number = ${sums} = ${show(attended[i][0])}`;
      },
      say: ({ attended, totals }, i) =>
        `its output is ${attended[i].map(show).join(", ")}${totals[i] > 0 ? "" : ", because all its keys are masked"}.`,
    },
  ];

  let groups = 0;

  function start(stage, { sentence, maxWords, projections }) {
    const { element, set, choice, summary, prediction } = glassformer;
    const words = split(sentence);
    const row = Math.floor(words.length / 2);
    const state = { words, row, column: 0, step: 0, kind: "causal", base: "causal", edited: [], tooLong: false };
    let cells = [];
    let rowHeads = [];
    let columnHeads = [];

    function split(text) {
      return text.split(/\s+/u).filter(Boolean);
    }

    /** Words added later follow the mask that the custom one was based on. */
    function maskOf({ words, kind, ...own }) {
      return words.map((_, query) => words.map((_, key) => MASKS[kind](query, key, own)));
    }

    // ---- Controls ----

    const field = element("input", {
      type: "text",
      value: sentence,
      maxlength: 200,
      autocomplete: "off",
      spellcheck: "false",
      dir: "auto",
    });
    field.addEventListener("input", () => {
      const typed = split(field.value);
      if (typed.length === 0) return say("Type a word to start.");
      state.words = typed.slice(0, maxWords);
      state.tooLong = typed.length > maxWords;
      state.row = Math.min(state.row, state.words.length - 1);
      state.column = Math.min(state.column, state.words.length - 1);
      rebuild();
    });

    const group = `formula-step-${(groups += 1)}`;
    const steps = element(
      "fieldset",
      { class: "steps" },
      element("legend", { class: "heard" }, "Step"),
      ...STEPS.map(({ name, sign }, place) => {
        const input = element("input", { type: "radio", name: group, class: "heard" });
        input.checked = place === 0;
        input.addEventListener("input", () => {
          state.step = place;
          draw();
        });
        return element("label", {}, input, element("span", {}, sign), element("span", {}, name));
      }),
    );

    const mask = choice({
      label: "mask",
      options: Object.keys(MASKS),
      value: state.kind,
      onInput: (kind) => {
        if (kind !== "custom") state.base = kind;
        state.kind = kind;
        draw();
      },
    });

    const grid = element("table", { class: "mask", role: "grid", "aria-label": "Attention mask" });
    const given = element("p", { class: "given" });
    const numbers = element("table", { class: "worked" });
    const work = element("p", { class: "work" });
    const sources = element("div", { class: "sources" });
    const { parts, say } = summary();

    stage.append(
      prediction({
        question: "Mask the key with the largest weight. Where does its weight go?",
        answers: ["It is lost", "To the other keys in equal parts", "To the other keys in proportion"],
        right: 2,
        because: "The softmax divides by the sum of the remaining exponentials, so their ratios stay the same.",
      }),
      element("label", { class: "sentence" }, `Your sentence, at most ${maxWords} words`, field),
      steps,
      element(
        "div",
        { class: "formula" },
        element(
          "div",
          {},
          grid,
          element("div", { class: "control" }, mask.label, mask.input),
          element(
            "p",
            { class: "hint" },
            "Rows are queries, columns are keys. Click a cell, or use the arrow keys and the space bar.",
          ),
        ),
        element("div", {}, given, numbers, work),
      ),
      ...parts,
      element("details", {}, element("summary", {}, "Where q, k and v come from"), sources),
    );

    // ---- The grid: each cell toggles an entry of the mask ----

    function rebuild() {
      const { words } = state;
      cells = words.map((_, row) => words.map((_, column) => cell(row, column)));
      rowHeads = words.map((word, row) => {
        const button = element("button", { type: "button", tabindex: -1, dir: "auto", title: word }, word);
        button.addEventListener("click", () => visit(row, state.column));
        return element("th", { scope: "row" }, button);
      });
      columnHeads = words.map((word) =>
        element("th", { scope: "col", title: word }, element("span", { dir: "auto" }, word)),
      );
      grid.classList.toggle("many", words.length > 6);
      grid.replaceChildren(
        element("thead", {}, element("tr", {}, element("td"), ...columnHeads)),
        element(
          "tbody",
          {},
          ...cells.map((row, place) =>
            element(
              "tr",
              {},
              rowHeads[place],
              ...row.map((button) => element("td", { role: "gridcell" }, button)),
            ),
          ),
        ),
      );
      draw();
    }

    function cell(row, column) {
      const button = element("button", { type: "button" });
      button.addEventListener("click", () => {
        const edited = maskOf(state);
        edited[row][column] = !edited[row][column];
        Object.assign(state, { row, column, edited, kind: "custom" });
        mask.input.value = "custom";
        draw();
      });
      return button;
    }

    grid.addEventListener("keydown", (event) => {
      const last = state.words.length - 1;
      const moves = {
        ArrowUp: [state.row - 1, state.column],
        ArrowDown: [state.row + 1, state.column],
        ArrowLeft: [state.row, state.column - 1],
        ArrowRight: [state.row, state.column + 1],
        Home: [state.row, 0],
        End: [state.row, last],
      };
      const move = moves[event.key];
      if (!move) return;
      event.preventDefault();
      const [row, column] = move.map((place) => Math.max(0, Math.min(last, place)));
      visit(row, column);
      cells[row][column].focus();
    });

    function visit(row, column) {
      Object.assign(state, { row, column });
      draw();
    }

    // ---- Drawing ----

    function draw() {
      const { words, row, column } = state;
      const current = maskOf(state);
      const all = glassformer.computeSteps({ words, projections, mask: current });
      const step = STEPS[state.step];
      drawGrid(step.grid(all), current);
      given.textContent = step.given(all, row);
      given.className = `given ${step.role ?? ""}`;
      work.textContent = step.work(all, row, column);
      drawNumbers(step.columns(all, row));
      sources.replaceChildren(...ROLES.map((role) => source(role, all.x[row], all[role][row])));
      const limit = state.tooLong ? `Only the first ${maxWords} words are used. ` : "";
      say(`${limit}“${words[row]}”: ${step.say(all, row, words)}`);
    }

    function drawGrid(shown, current) {
      const { words, row, column } = state;
      const finite = shown.flat().filter(Number.isFinite);
      const isWeight = state.step >= 3;
      const [low, high] = isWeight ? [0, 1] : [Math.min(...finite), Math.max(...finite)];
      cells.forEach((line, i) =>
        line.forEach((button, j) => {
          button.textContent = show(shown[i][j]);
          button.tabIndex = i === row && j === column ? 0 : -1;
          set(button, {
            "aria-pressed": String(current[i][j]),
            "aria-label": `${words[i]} may attend to ${words[j]}: ${show(shown[i][j])}`,
            "--strength": current[i][j] && high > low ? (shown[i][j] - low) / (high - low) : 0,
          });
          button.parentElement.classList.toggle("picked", i === row && j === column);
        }),
      );
      rowHeads.forEach((head, place) => head.classList.toggle("picked", place === row));
      columnHeads.forEach((head, place) => head.classList.toggle("picked", place === column));
    }

    function drawNumbers(columns) {
      const { words, column } = state;
      const cell = (number) => element("td", { class: "number" }, show(number));
      numbers.replaceChildren(
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("th", { scope: "col" }, "word"),
            ...columns.map(([name, [first]]) =>
              element(
                "th",
                { scope: "col", colspan: [first].flat().length, class: COLOURS[name] ?? "number" },
                name,
              ),
            ),
          ),
        ),
        element(
          "tbody",
          {},
          ...words.map((word, place) =>
            element(
              "tr",
              place === column ? { class: "picked" } : {},
              element("th", { scope: "row", dir: "auto", title: word }, word),
              ...columns.flatMap(([, content]) => [content[place]].flat().map(cell)),
            ),
          ),
        ),
      );
    }

    /** Show one of x W_Q, x W_K and x W_V: each number of x next to the matrix row that it multiplies. */
    function source(role, x, result) {
      const letter = role[0];
      const line = (first, numbers) =>
        element(
          "tr",
          {},
          element("th", { scope: "row", class: "number" }, first),
          ...numbers.map((each) => element("td", { class: "number" }, show(each))),
        );
      return element(
        "table",
        {},
        element("caption", { class: role }, `${letter} = x W`, element("sub", {}, letter.toUpperCase())),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("th", { scope: "col", class: "number" }, "x"),
            element("th", { scope: "colgroup", colspan: result.length, class: role }, "W"),
          ),
        ),
        element("tbody", {}, ...projections[role].map((weights, place) => line(show(x[place]), weights))),
        element("tfoot", {}, line(letter, result)),
      );
    }

    rebuild();
  }

  (glassformer.figures ??= []).push(["formula", start]);
})((globalThis.glassformer ??= {}));
