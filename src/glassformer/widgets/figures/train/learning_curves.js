// Curves of the loss and of the share of right translations, one for each of the two runs.
(function (glassformer) {
  const [TOP, BOTTOM] = [1, -3]; // powers of ten on the axis of the loss

  const lossToHeight = (loss) => Math.min(1, Math.max(0, (Math.log10(loss) - BOTTOM) / (TOP - BOTTOM)));

  /** Make both plots. `draw(runs)` takes runs as in run_state.js; null stands for a run that does not exist. */
  glassformer.trainFigure.learningCurves = function () {
    const loss = plot("loss", ["10", "1", "0.1", "0.01", "0.001"], lossToHeight);
    const exact = plot("unseen sentences right", ["100%", "50%", "0%"], (share) => share);

    function draw(runs) {
      loss.draw(runs.map((run) => run?.losses ?? []));
      exact.draw(runs.map((run) => run?.shares ?? []));
    }

    return { whole: glassformer.element("div", { class: "plots" }, loss.panel, exact.panel), draw };
  };

  /** Make a plot over the steps of a run; `toHeight` maps a value to a height from 0 to 1. */
  function plot(title, ticks, toHeight) {
    const { element, set } = glassformer;
    const curves = ["complete", "changed"].map((kind) => element("path", { class: `curve ${kind}` }));
    const axes = element("path", { class: "axes", d: "M0 0V100H100" });
    const panel = element(
      "div",
      { class: "plot", "aria-hidden": "true" },
      element("p", {}, title),
      element(
        "div",
        { class: "frame" },
        element("div", { class: "ticks" }, ...ticks.map((tick) => element("span", {}, tick))),
        element("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" }, axes, ...curves),
        element("p", { class: "steps" }, element("span", {}, "0"), element("span", {}, "500 steps")),
      ),
    );
    const total = 500;
    const at = ([step, value]) => `${((100 * step) / total).toFixed(1)} ${(100 - 100 * toHeight(value)).toFixed(1)}`;
    const draw = (lines) =>
      lines.forEach((points, place) =>
        set(curves[place], { d: points.map((point, i) => `${i ? "L" : "M"}${at(point)}`).join("") }),
      );
    return { panel, draw };
  }
})((globalThis.glassformer ??= {}));
