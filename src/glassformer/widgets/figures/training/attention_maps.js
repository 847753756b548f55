// Attention maps of a checkpoint: thumbnails of all heads and one large map.
(function (glassformer) {
  const { sum } = glassformer.matrices;

  /** Unpack the maps of a checkpoint by layer and head, with the largest weight of each row and their mean. */
  glassformer.unpackMaps = function ({ maps, numLayers, numHeads, sourceTokens, targetTokens }) {
    const weights = maps.split(" ").map((each) => each / 1000);
    const [height, width] = [targetTokens.length, sourceTokens.length];
    const rowsFrom = (start) =>
      Array.from({ length: height }, (_, row) => weights.slice(start + row * width, start + (row + 1) * width));
    return Array.from({ length: numLayers }, (_, layer) =>
      Array.from({ length: numHeads }, (_, head) => {
        const map = rowsFrom((layer * numHeads + head) * height * width);
        const most = map.map((row) => Math.max(...row));
        return { map, most, mean: sum(most) / height };
      }),
    );
  };

  const show = (number) => glassformer.show(number, 2);
  const bare = (piece) => piece.replace(/^▁(?=.)/, "");

  /** Make a thumbnail for each head; arrow keys move between them. */
  glassformer.trainingHeads = function ({ numLayers, numHeads, sourceTokens, targetTokens }, onPick) {
    const { element, set } = glassformer;
    const whole = element("div", { class: "layers", "--heads": numHeads });
    const indices = (length) => Array.from({ length }, (_, place) => place);
    const small = indices(numLayers).map((layer) => indices(numHeads).map((head) => smallMap(layer, head)));
    let picked = [0, 0];
    small.forEach((heads, layer) =>
      whole.append(
        element(
          "div",
          { class: "layer", role: "group", "aria-label": `layer ${layer + 1}` },
          element("p", { class: "note" }, `layer ${layer + 1}`),
          ...heads.map(({ button }) => button),
        ),
      ),
    );
    whole.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
      if (!(event.key in moves)) return;
      event.preventDefault();
      const [down, right] = moves[event.key];
      const found = small[picked[0] + down]?.[picked[1] + right];
      found?.button.click();
      found?.button.focus();
    });

    function smallMap(layer, head) {
      const sizes = { width: sourceTokens.length, height: targetTokens.length };
      const canvas = element("canvas", { ...sizes, "aria-hidden": "true" });
      const mean = element("span", {});
      const button = element("button", { type: "button", class: "head" }, canvas, mean);
      button.addEventListener("click", () => onPick(layer, head));
      return { canvas, mean, button };
    }

    function draw(numbers, layer, head) {
      picked = [layer, head];
      small.forEach((heads, row) =>
        heads.forEach((each, column) =>
          drawSmall(each, numbers[row][column], {
            name: `layer ${row + 1}, head ${column}`,
            isPicked: row === layer && column === head,
          }),
        ),
      );
    }

    function drawSmall({ canvas, mean, button }, numbers, { name, isPicked }) {
      glassformer.paintMap(canvas, numbers.map);
      mean.textContent = show(numbers.mean);
      set(button, {
        "aria-label": `${name}: ${show(numbers.mean)}`,
        "aria-pressed": String(isPicked),
        tabindex: isPicked ? 0 : -1,
      });
    }

    return { whole, draw };
  };

  /** Make the large map, with one row per target token and its largest weight. */
  glassformer.trainingMap = function ({ sourceTokens, targetTokens }) {
    const { element } = glassformer;
    const whole = element("table", { class: "map", "aria-hidden": "true" });
    const upright = (word) => element("th", {}, element("span", {}, word));
    const number = (each) => element("td", { class: "number" }, show(each));
    const row = (...cells) => element("tr", {}, ...cells);
    const head = row(element("td"), ...sourceTokens.map(bare).map(upright), upright("largest"));

    function draw({ map, most, mean }, layer, place) {
      const rows = map.map((weights, written) =>
        row(
          element("th", { lang: "fr" }, bare(targetTokens[written])),
          ...weights.map((weight) => element("td", { "--strength": weight })),
          number(most[written]),
        ),
      );
      const title = `layer ${layer + 1}, head ${place}: target rows, source columns`;
      whole.replaceChildren(
        element("caption", {}, title),
        element("thead", {}, head),
        element("tbody", {}, ...rows),
        element("tfoot", {}, row(element("th", { colspan: sourceTokens.length + 1 }, "mean"), number(mean))),
      );
    }

    return { whole, draw };
  };
})((globalThis.glassformer ??= {}));
