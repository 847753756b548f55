// The search tree: one row per step, candidates from left to right by rank, lines to the beams that they extend, and
// greedy decoding in a column of its own. Every node is a button; arrow keys move between them.
(function (glassformer) {
  const GREEDY = -1; // its column
  const NODE_SHARE = 0.68; // share of a row's height; lines take the rest

  const number = (value) => glassformer.show(value, value > -100 ? 2 : 1); // fits into a narrow node

  /** Make the tree. `onPick` is called with the picked node, `{ row, column }`. */
  glassformer.makeSearchTree = function ({ onPick, onResize }) {
    const { element, set } = glassformer;
    const head = element("div", { class: "level head" });
    const lines = element("svg", { class: "lines", preserveAspectRatio: "none", "aria-hidden": "true" });
    const rows = element("div", { class: "rows" });
    const whole = element(
      "div",
      { class: "tree", role: "group", "aria-label": "Search tree: use the arrow keys to move between nodes" },
      head,
      element("div", { class: "grown" }, lines, rows),
    );
    let nodes = []; // one Map per row, keyed by column
    let numColumns = 6;
    let numRows = 0;

    new ResizeObserver(([{ contentRect }]) => {
      const fits = contentRect.width < 400 ? 5 : 6;
      if (fits === numColumns) return;
      numColumns = fits;
      onResize();
    }).observe(whole);

    /** Draw a complete search; `show` then reveals its first steps. */
    function build({ steps, greedy, spell }) {
      const longest = Math.max(steps.length, greedy.length);
      set(whole, { "--columns": numColumns, "--count": longest });
      set(lines, { viewBox: `0 0 ${numColumns} ${longest}` });
      head.replaceChildren(
        element("span", { class: "greedy" }, "greedy"),
        element("span", { class: "wide" }, "candidates, most probable first"),
      );
      nodes = Array.from({ length: longest }, (_, row) => {
        const shown = (steps[row] ?? []).slice(0, numColumns);
        const byColumn = new Map(shown.map((each) => [each.column, node(each, row, each.column, spell)]));
        if (greedy[row]) byColumn.set(GREEDY, node(greedy[row], row, GREEDY, spell));
        return byColumn;
      });
      rows.replaceChildren(
        ...nodes.map((byColumn, row) =>
          element(
            "div",
            { class: "level" },
            element("span", { class: "count" }, String(row + 1)),
            ...byColumn.values(),
          ),
        ),
      );
      lines.replaceChildren(
        ...steps.flatMap((step, row) => step.slice(0, numColumns).map((each) => line(each, row))),
      );
    }

    function node({ tokens, logProbability, status }, row, column, spell) {
      const [, mark, word] = spell(tokens.at(-1))
        .replace("<end>", "■ end")
        .match(/^(▁?)(.*)$/s);
      const total = number(logProbability);
      const rank = column === GREEDY ? "greedy" : `rank ${column + 1}`;
      const label = `${word || mark} ${total}, step ${row + 1}, ${rank}, ${status}`;
      const button = element(
        "button",
        {
          type: "button",
          class: `node ${status}`,
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

    function line({ parent, column, status }, row) {
      const [from, to] = [parent + 0.5, column + 0.5];
      const [top, bottom] = [row - 1 + NODE_SHARE, row];
      const middle = (top + bottom) / 2;
      const path = row ? `M${from} ${top}C${from} ${middle} ${to} ${middle} ${to} ${bottom}` : "";
      return element("path", { class: status, d: path, "data-row": row, "data-column": column });
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
     * Show the first rows. `path` lists the columns of the picked node's ancestors by row, `greedyColumns` those of
     * the greedy path, and `visibleRow` is the row to scroll to.
     */
    function show({ step, picked, path, greedyColumns, visibleRow }) {
      numRows = step;
      const isOnPath = (row, column) => (picked.column === GREEDY ? column === GREEDY : column === path[row]);
      nodes.forEach((byColumn, row) => {
        for (const [column, button] of byColumn) {
          button.hidden = row >= step;
          const isPicked = row === picked.row && column === picked.column;
          button.classList.toggle("lit", row <= picked.row && isOnPath(row, column));
          button.classList.toggle("shared", column === greedyColumns[row]);
          set(button, { "aria-pressed": String(isPicked), tabindex: isPicked ? 0 : -1 });
        }
      });
      for (const line of lines.children) {
        const [row, column] = [Number(line.dataset.row), Number(line.dataset.column)];
        line.classList.toggle("lit", picked.column !== GREEDY && row <= picked.row && column === path[row]);
        line.classList.toggle("hidden", row >= step);
      }
      const { offsetTop = 0, offsetHeight = 0 } = rows.children[visibleRow] ?? {};
      const hiddenBelow = offsetTop + offsetHeight + head.offsetHeight - whole.clientHeight;
      if (whole.scrollTop < hiddenBelow) whole.scrollTop = hiddenBelow;
      else if (whole.scrollTop > offsetTop) whole.scrollTop = offsetTop;
    }

    return { whole, build, show };
  };

  glassformer.makeSearchTree.GREEDY = GREEDY;
})((globalThis.glassformer ??= {}));
