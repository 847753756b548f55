// The large attention map of one head, one row per query.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});
  const MAX_TOKENS_DRAWN = 28; // per side

  /** Make the map. `onPick(position)` is called with the clicked row. */
  page.makeLargeMap = ({ onPick }) => {
    const { element } = glassformer;
    const table = element("table", { class: "map", "aria-hidden": "true" });
    const note = element("p", { class: "likely" });
    table.addEventListener("click", (event) => {
      const row = event.target.closest("tbody tr");
      if (row) onPick(row.sectionRowIndex);
    });
    return { whole: element("div", { class: "one" }, table, note), draw };

    function draw({ title, map, keys, queries, picked, isAblated }) {
      const fits = keys.length <= MAX_TOKENS_DRAWN && queries.length <= MAX_TOKENS_DRAWN;
      table.hidden = !fits;
      note.textContent = fits ? "" : `The large map shows at most ${MAX_TOKENS_DRAWN} tokens per side.`;
      if (!fits) return;
      table.classList.toggle("off", isAblated);
      const heads = keys.map((piece) => element("th", {}, element("span", {}, page.bare(piece))));
      const rows = queries.map((piece, position) => {
        const cells = Array.from(map[position], (weight) => element("td", { "--strength": weight }));
        const mark = position === picked ? { class: "picked" } : {};
        return element("tr", mark, element("th", {}, page.bare(piece)), ...cells);
      });
      table.replaceChildren(
        element("caption", {}, title),
        element("thead", {}, element("tr", {}, element("td"), ...heads)),
        element("tbody", {}, ...rows),
      );
    }
  };
})((globalThis.glassformer ??= {}));
