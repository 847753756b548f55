// The drawing of a search: a row for each step, the likeliest continuations from left to right, lines to what
// they continue, and greedy decoding in a column of its own. Every node is a button; arrow keys lead from one
// to the next.
(function (glassformer) {
  const GREEDY = -1; // its column
  const NODE_SHARE = 0.68; // of the height of a row; the lines have the rest

  const number = (value) => glassformer.show(value, value > -100 ? 2 : 1); // what a narrow node has room for

  /** Make the drawing. `onPick` hears of a node that the reader picks: `{ row, column }`. */
  glassformer.beamTree = function ({ onPick, onWiden }) {
    const { element, set } = glassformer;
    const head = element("div", { class: "level head" });
    const lines = element("svg", { class: "lines", preserveAspectRatio: "none", "aria-hidden": "true" });
    const rows = element("div", { class: "rows" });
    const whole = element(
      "div",
      { class: "tree", role: "group", "aria-label": "The search: arrow keys lead from node to node" },
      head,
      element("div", { class: "grown" }, lines, rows),
    );
    let nodes = []; // of each row, by column
    let numColumns = 6;
    let numRows = 0;

    new ResizeObserver(([{ contentRect }]) => {
      const fits = contentRect.width < 400 ? 5 : 6;
      if (fits === numColumns) return;
      numColumns = fits;
      onWiden();
    }).observe(whole);

    /** Draw a whole search; `show` then shows as much of it as there is yet. */
    function build({ steps, greedy, spell }) {
      const longest = Math.max(steps.length, greedy.length);
      set(whole, { "--columns": numColumns, "--count": longest });
      set(lines, { viewBox: `0 0 ${numColumns} ${longest}` });
      head.replaceChildren(
        element("span", { class: "greedy" }, "greedy"),
        element("span", { class: "wide" }, "continuations, the likeliest first"),
      );
      nodes = Array.from({ length: longest }, (_, row) => {
        const shown = (steps[row] ?? []).slice(0, numColumns);
        const made = new Map(shown.map((each) => [each.column, node(each, row, each.column, spell)]));
        if (greedy[row]) made.set(GREEDY, node(greedy[row], row, GREEDY, spell));
        return made;
      });
      rows.replaceChildren(
        ...nodes.map((made, row) =>
          element(
            "div",
            { class: "level" },
            element("span", { class: "count" }, String(row + 1)),
            ...made.values(),
          ),
        ),
      );
      lines.replaceChildren(
        ...steps.flatMap((step, row) => step.slice(0, numColumns).map((each) => line(each, row))),
      );
    }

    function node({ tokens, logProbability, fate }, row, column, spell) {
      const [, mark, word] = spell(tokens.at(-1))
        .replace("<end>", "■ end")
        .match(/^(▁?)(.*)$/s);
      const total = number(logProbability);
      const place = column === GREEDY ? "greedy" : `number ${column + 1}`;
      const label = `${word || mark} ${total}, step ${row + 1}, ${place}, ${fate}`;
      const button = element(
        "button",
        {
          type: "button",
          class: `node ${fate}`,
          "aria-label": label,
          "--column": column,
          "data-column": column,
        },
        element("span", { lang: "fr" }, element("span", { class: "new-word" }, mark), word),
        element("span", { class: "total" }, total),
      );
      button.addEventListener("click", () => onPick({ row, column }));
      button.addEventListener("keydown", (event) => walk(event, row, column));
      return button;
    }

    function line({ parent, column, fate }, row) {
      const [from, to] = [parent + 0.5, column + 0.5];
      const [top, bottom] = [row - 1 + NODE_SHARE, row];
      const middle = (top + bottom) / 2;
      const path = row ? `M${from} ${top}C${from} ${middle} ${to} ${middle} ${to} ${bottom}` : "";
      return element("path", { class: fate, d: path, "data-row": row, "data-column": column });
    }

    function walk(event, row, column) {
      const [down, right] =
        { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
      if (down === undefined) return;
      event.preventDefault();
      const next = { row: row + down, column: column + right };
      if (next.row >= numRows || !nodes[next.row]?.has(next.column)) return;
      onPick(next);
      nodes[next.row].get(next.column).focus();
    }

    /**
     * Show the first rows. `lit` is the path to the picked node, row by row a column, `greedyColumns` where
     * greedy decoding's path is met; `seen` is the row to be scrolled to.
     */
    function show({ step, picked, lit, greedyColumns, seen }) {
      numRows = step;
      const isOn = (row, column) => (picked.column === GREEDY ? column === GREEDY : column === lit[row]);
      nodes.forEach((made, row) => {
        for (const [column, button] of made) {
          button.hidden = row >= step;
          const isPicked = row === picked.row && column === picked.column;
          button.classList.toggle("lit", row <= picked.row && isOn(row, column));
          button.classList.toggle("shared", column === greedyColumns[row]);
          set(button, { "aria-pressed": String(isPicked), tabindex: isPicked ? 0 : -1 });
        }
      });
      for (const path of lines.children) {
        const [row, column] = [Number(path.dataset.row), Number(path.dataset.column)];
        path.classList.toggle("lit", picked.column !== GREEDY && row <= picked.row && column === lit[row]);
        path.classList.toggle("hidden", row >= step);
      }
      const { offsetTop = 0, offsetHeight = 0 } = rows.children[seen] ?? {};
      const hiddenBelow = offsetTop + offsetHeight + head.offsetHeight - whole.clientHeight;
      if (whole.scrollTop < hiddenBelow) whole.scrollTop = hiddenBelow;
      else if (whole.scrollTop > offsetTop) whole.scrollTop = offsetTop;
    }

    return { whole, build, show };
  };

  glassformer.beamTree.GREEDY = GREEDY;
})((globalThis.glassformer ??= {}));
