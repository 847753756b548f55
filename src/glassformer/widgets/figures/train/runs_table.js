// The table of all runs of this visit.
(function (glassformer) {
  const HEADS = ["run", "layers", "seed", "steps", "loss", "right", "seconds"];

  /** Make the table; `draw(runs)` takes runs as in run_state.js. */
  glassformer.trainFigure.runsTable = function (parts) {
    const { element } = glassformer;
    const body = element("tbody");
    const whole = element(
      "table",
      { class: "runs" },
      element("caption", {}, "Runs of this visit"),
      element("thead", {}, element("tr", {}, ...HEADS.map((name) => element("th", { scope: "col" }, name)))),
      body,
    );

    function draw(runs) {
      const rows = runs.map(cellsOf);
      if (!rows.length) rows.push(["none yet", ...HEADS.slice(1).map(() => "")]);
      body.replaceChildren(
        ...rows.map(([name, ...cells]) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, name),
            ...cells.map((cell) => element("td", { class: "number" }, cell)),
          ),
        ),
      );
    }

    function cellsOf({ settings, step, losses, look, seconds }) {
      const { numLayers, width, seed } = settings;
      const name = glassformer.trainFigure.nameRun(settings, parts);
      const loss = losses.at(-1)?.[1];
      return [
        width === 32 ? name : `${name}, width ${width}`,
        `${numLayers} + ${numLayers}`,
        String(seed),
        String(step),
        loss === undefined ? "–" : glassformer.show(loss, loss < 0.1 ? 4 : 2),
        look ? `${Math.round(100 * look.exactMatch)}%` : "–",
        seconds.toFixed(1),
      ];
    }

    return { whole, draw };
  };
})((globalThis.glassformer ??= {}));
