// Curves of the measures over the levels of the stack.
(function (glassformer) {
  const figure = (glassformer.blockFigure ??= {});

  const ROUNDING = 1e-15; // a smaller spread is rounding error

  const [UP, DOWN] = [
    { at: "top", axis: "layers →" },
    { at: "bottom", axis: "← layers" },
  ];
  figure.measures = [
    { key: "spread", name: "spread of the words", ...UP, lowest: -6, highest: 0, ticks: [-6, -4, -2, 0] },
    { key: "length", name: "mean norm of the vectors", ...UP, lowest: -2, highest: 4, ticks: [-2, 0, 2, 4] },
    { key: "gradient", name: "gradient at bottom", ...DOWN, lowest: -4, highest: 4, ticks: [-4, -2, 0, 2, 4] },
  ];

  /** Make a curve on a logarithmic scale; a triangle marks an end point outside the frame. */
  figure.makeCurve = function ({ key, name, at, axis, lowest, highest, ticks }, most) {
    const { element, set } = glassformer;
    const up = (power) => (100 * (highest - power)) / (highest - lowest);
    const line = element("path", { class: "line" });
    const dot = element("path", { class: "dot" });
    const beyond = element("i", {});
    const number = element("strong");
    const grid = element("path", { class: "grid", d: ticks.map((power) => `M0 ${up(power)}H${most}`).join("") });
    const curve = element(
      "div",
      { class: `curve ${key}` },
      element("p", {}, `${name} `, number),
      element(
        "div",
        { class: "plane", "aria-hidden": "true" },
        ...ticks.map((power) => element("span", { "--at": `${up(power)}%` }, tick(power))),
        element(
          "svg",
          { viewBox: `${-most / 30} -5 ${most + most / 15} 110`, preserveAspectRatio: "none" },
          ...[grid, line, dot],
        ),
        beyond,
      ),
      element(
        "div",
        { class: "levels", "aria-hidden": "true" },
        ...["0", axis, String(most)].map((text) => element("span", {}, text)),
      ),
    );

    function draw(levels) {
      const places = levels.map((level, depth) => [depth, up(Math.log10(level[key]))]);
      const [depth, height] = places.at(at === "top" ? -1 : 0);
      number.textContent = figure.spell(levels[depth][key]);
      set(line, { d: places.slice(1).map((end, place) => inFrame(places[place], end)).join("") });
      const isOutside = height < 0 || height > 100;
      set(dot, { d: isOutside ? "" : `M${depth} ${height}h0` });
      set(beyond, { class: isOutside ? (height < 0 ? "above" : "below") : "", "--along": depth / most });
    }

    return { curve, draw };
  };

  /** Clip a line segment to the frame, from 0 to 100. */
  function inFrame(...ends) {
    const [[x, y], [right, down]] = ends;
    if (Math.max(y, down) < 0 || Math.min(y, down) > 100) return "";
    const cut = ends.map(([place, height]) => {
      const edge = Math.min(100, Math.max(0, height));
      const along = edge === height ? place : x + ((right - x) * (edge - y)) / (down - y);
      return `${along.toFixed(3)} ${edge.toFixed(2)}`;
    });
    return `M${cut.join("L")}`;
  }

  function tick(power) {
    const signs = [...String(power)].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]);
    return power === 0 ? "1" : `10${signs.join("")}`;
  }

  /** Format a number with three digits, or in scientific notation if it is very small or large. */
  figure.spell = (number) => {
    if (number <= ROUNDING) return "< 1e−15";
    const isPlain = number >= 0.001 && number < 999.5;
    const spelled = isPlain ? number.toPrecision(3) : number.toExponential(1);
    return spelled.replace("-", "−").replace("+", "");
  };
})((globalThis.glassformer ??= {}));
