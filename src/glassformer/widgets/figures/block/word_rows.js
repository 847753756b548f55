// Word vectors as rows of coloured cells, before and after the stack.
(function (glassformer) {
  const figure = (glassformer.blockFigure ??= {});

  const SHOWN = 16; // values per word; Python requires d_model to be at least as large

  figure.makeRows = function (words, d_model) {
    const { element, set } = glassformer;
    const makeCells = () => Array.from({ length: SHOWN }, () => element("i"));
    const rows = words.map((word) => ({ word, sides: [makeCells(), makeCells()] }));
    const whole = element(
      "div",
      { class: "rows" },
      element("p", {}, `${SHOWN} of each word’s ${d_model} values`),
      element(
        "div",
        { class: "words", "aria-hidden": "true" },
        ...["", "before", "after"].map((name) => element("span", {}, name)),
        ...rows.flatMap(({ word, sides }) => [
          element("span", {}, word),
          ...sides.map((cells) => element("div", {}, ...cells)),
        ]),
      ),
      element("p", { class: "note" }, "Violet is positive, amber negative; each side has its own scale."),
    );

    function draw(...levels) {
      levels.forEach((vectors, side) => {
        const numbers = vectors.flatMap((vector) => [...vector]);
        const typical = Math.sqrt(glassformer.matrices.dot(numbers, numbers) / numbers.length);
        rows.forEach(({ sides }, row) =>
          sides[side].forEach((cell, place) => {
            const strength = vectors[row][place] / typical / 2;
            cell.classList.toggle("negative", strength < 0);
            set(cell, { "--strength": Math.min(1, Math.abs(strength)).toFixed(2) });
          }),
        );
      });
    }

    return { whole, draw };
  };
})((globalThis.glassformer ??= {}));
