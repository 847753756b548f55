// A stack of blocks with optional parts: word vectors, spread, norm and gradient at every level.
(function (glassformer) {
  function start(stage, { words, depth, num_layers, ...sizes }) {
    const { element, set, slider, choice, toggle, summary, prediction, blockFigure: figure } = glassformer;
    const stack = glassformer.makeStack({ num_words: words.length, ...sizes });
    const state = { parts: { residual: false, norm: "none", feedForward: false }, depth };
    const changed = (part) => {
      Object.assign(state.parts, part);
      draw();
    };

    const residual = toggle({ label: "residual", value: false, onInput: (on) => changed({ residual: on }) });
    const network = toggle({ label: "feed-forward", value: false, onInput: (on) => changed({ feedForward: on }) });
    const norm = choice({
      label: "norm",
      options: ["none", "post", "pre"],
      value: "none",
      onInput: (place) => changed({ norm: place }),
    });
    const layers = slider({
      label: "layers",
      min: 1,
      max: num_layers,
      step: 1,
      value: depth,
      onInput: (number) => {
        state.depth = number;
        draw();
      },
    });
    const block = figure.makeBlockDiagram();
    const rows = figure.makeRows(words, sizes.d_model);
    const curves = figure.measures.map((measure) => figure.makeCurve(measure, num_layers));
    const above = element(
      "span",
      {},
      "With pre-norm it starts above the final norm; words, spread and norm are measured below it.",
    );
    const table = makeTable();
    const { parts, say } = summary();

    stage.append(
      prediction({
        question: `${num_layers} layers of attention and feed-forward, no norm: how does the residual connection change the spread?`,
        answers: ["Preserves it", "Slows its decay", "No effect"],
        right: 1,
        because: { toString: () => compare(stack, depth, num_layers) }, // computed when first needed
      }),
      element(
        "div",
        { class: "overview" },
        element(
          "div",
          { class: "controls" },
          residual,
          network,
          element("div", { class: "control" }, norm.label, norm.input),
          element("div", { class: "control" }, layers.label, layers.input, layers.output),
        ),
        block.drawing,
        rows.whole,
      ),
      element("div", { class: "curves" }, ...curves.map(({ curve }) => curve)),
      element("p", { class: "note" }, "The gradient flows down: read its curve from right to left. ", above),
      ...parts,
      element("details", {}, element("summary", {}, "All numbers by layer"), table.table),
    );

    function draw() {
      const levels = stack.run(state.parts, state.depth);
      block.draw(state.parts, state.depth);
      rows.draw(levels[0].words, levels.at(-1).words);
      for (const curve of curves) curve.draw(levels);
      table.draw(levels);
      set(above, { class: state.parts.norm === "pre" ? "" : "unsaid" });
      say(describe(state, levels));
    }

    draw();
  }

  /** Make the table of measures, one row per level. */
  function makeTable() {
    const { element, blockFigure: figure } = glassformer;
    const head = ["layers passed", "spread", "mean norm of the vectors", "gradient"];
    const body = element("tbody");
    const table = element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name)))),
      body,
    );

    function draw(levels) {
      const rows = levels.map((level, place) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, String(place)),
          ...figure.measures.map(({ key }) => element("td", { class: "number" }, figure.spell(level[key]))),
        ),
      );
      body.replaceChildren(...rows);
    }

    return { table, draw };
  }

  /** Compare the decay of the spread with and without the residual connection. */
  function compare(stack, few, most) {
    const { spell } = glassformer.blockFigure;
    const [added, replaced] = [true, false].map((residual) =>
      stack.run({ residual, norm: "none", feedForward: true }, most).map(({ spread }) => spell(spread)),
    );
    const lost = replaced[few].replace("<", "below");
    return `It falls from ${added[0]} to ${added[few]} after ${few} layers and to ${added[most]} after ${most}; without the connection it is ${lost} after ${few}.`;
  }

  function describe({ parts, depth }, levels) {
    const { spell } = glassformer.blockFigure;
    const [first, last] = [levels[0], levels.at(-1)];
    const added = [
      ...(parts.feedForward ? ["feed-forward"] : []),
      ...(parts.residual ? ["residual"] : []),
      ...(parts.norm === "none" ? [] : [`${parts.norm}-norm`]),
    ];
    const layers = `${depth} ${depth === 1 ? "layer" : "layers"} of attention${added.length ? `, ${added.join(", ")}` : " alone"}`;
    return `${layers}: spread ${spell(first.spread)} to ${spell(last.spread).replace("<", "below")}, mean norm of the vectors ${spell(first.length)} to ${spell(last.length)}; the gradient at the bottom is ${spell(first.gradient)} times the one at the top.`;
  }

  (glassformer.figures ??= []).push(["block", start]);
})((globalThis.glassformer ??= {}));
