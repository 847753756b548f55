// One head's map with its words, a row a token that asks.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});
  const MOST_DRAWN = 28; // tokens a side

  /** Make the map. `onPick(place)` hears which row was clicked. */
  page.makeLargeMap = ({ onPick }) => {
    const { element } = glassformer;
    const table = element("table", { class: "map", "aria-hidden": "true" });
    const note = element("p", { class: "likely" });
    table.addEventListener("click", (event) => {
      const row = event.target.closest("tbody tr");
      if (row) onPick(row.sectionRowIndex);
    });
    return { whole: element("div", { class: "one" }, table, note), draw };

    function draw({ title, map, keys, queries, picked, isOff }) {
      const fits = keys.length <= MOST_DRAWN && queries.length <= MOST_DRAWN;
      table.hidden = !fits;
      note.textContent = fits ? "" : `More than ${MOST_DRAWN} tokens are too many for a large map.`;
      if (!fits) return;
      table.classList.toggle("off", isOff);
      const heads = keys.map((piece) => element("th", {}, element("span", {}, page.bare(piece))));
      const rows = queries.map((piece, place) => {
        const cells = Array.from(map[place], (weight) => element("td", { "--strength": weight }));
        const mark = place === picked ? { class: "picked" } : {};
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
