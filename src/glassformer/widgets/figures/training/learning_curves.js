// Learning curves with the current checkpoint highlighted.
(function (glassformer) {
  const WRITE = {
    loss: (loss) => glassformer.show(loss, 2),
    rate: (rate) => rate.toFixed(5),
    bleu: (score) => score.toFixed(1),
  };

  glassformer.trainingCurves = function ({ checkpoints, training, validation }) {
    const across = axisOf(training.step[0], Math.max(checkpoints.at(-1).step, training.step.at(-1)));
    const line = (curve, name) => curve.step.map((step, place) => [step, curve[name][place]]);
    const scores = checkpoints.map(({ step, bleu }) => [step, bleu]);
    return [
      makePlot(across, "loss", "loss", {
        training: line(training, "loss"),
        validation: line(validation, "loss"),
      }),
      makePlot(across, "learning rate", "rate", { training: line(training, "learning_rate") }),
      makePlot(across, "BLEU, validation", "bleu", { validation: scores }),
    ];
  };

  /** Make a logarithmic axis of steps, from 0 to 100. */
  function axisOf(first, last) {
    const at = (step) => Number(((100 * Math.log(step / first)) / Math.log(last / first)).toFixed(2));
    const powers = [10, 100, 1000, 10000, 100000].filter((step) => step > first && at(step) < 75);
    return { at, ticks: [...powers, last] };
  }

  const roundUp = (number) => (number > 10 ? 10 * Math.ceil(number / 10) : Math.ceil(number));

  /** Hide ticks that would overlap the next one; the last tick is always visible. */
  function thinOut(ticks) {
    let free = Infinity;
    for (const tick of [...ticks].reverse()) {
      const { left, right } = tick.getBoundingClientRect();
      const fits = right + 6 <= free;
      tick.style.visibility = fits ? "" : "hidden";
      if (fits) free = left;
    }
  }

  /** Make a plot; `what` is the value shown beside the title and highlighted on the first curve. */
  function makePlot(across, title, what, curves) {
    const { element, set } = glassformer;
    const write = WRITE[what];
    const kinds = Object.keys(curves);
    const all = Object.values(curves).flatMap((points) => points.map(([, number]) => number));
    const low = what === "loss" ? Math.floor(Math.min(...all)) : 0;
    const high = Math.max(...all) >= 1 ? roundUp(Math.max(...all)) : Math.max(...all, 1e-5);
    const at = ([step, number]) => `${across.at(step)} ${(100 * (high - number)) / (high - low)}`;
    const path = (kind, d) => element("path", { class: kind, d });
    const joined = (points) => points.map((each, place) => `${place ? "L" : "M"}${at(each)}`).join("");
    const dotted = (points = []) => points.map((each) => `M${at(each)}h0`).join("");

    const rule = path("rule", "");
    const point = path(`point ${kinds[0]}`, "");
    const values = kinds.map(() => element("output"));
    const drawing = element(
      "svg",
      { viewBox: "0 0 100 100", preserveAspectRatio: "none" },
      path("axes", "M0 0V100H100"),
      rule,
      ...kinds.map((kind) => path(`curve ${kind}`, joined(curves[kind]))),
      path("dots", what === "loss" ? dotted(curves.validation) : ""),
      point,
    );
    const legend =
      kinds.length > 1
        ? kinds.map((kind, place) => element("span", { class: kind }, `${kind} `, values[place]))
        : values;
    const ticks = across.ticks.map((step) =>
      element("span", { "--at": across.at(step) }, step.toLocaleString("en")),
    );
    const panel = element(
      "div",
      { class: `plot ${what}` },
      element("p", {}, `${title} `, ...legend),
      element(
        "div",
        { class: "frame", "aria-hidden": "true" },
        element("span", { class: "top" }, write(high).replace(/\.?0+$/, "")),
        element("span", { class: "low" }, String(low)),
        element("div", { class: "drawing" }, drawing),
        element("div", { class: "ticks" }, ...ticks),
      ),
    );
    new ResizeObserver(() => thinOut(ticks)).observe(drawing);

    function draw(checkpoint) {
      const shown = [checkpoint[what], checkpoint.validationLoss];
      values.forEach((value, place) => {
        value.textContent = shown[place] === null ? "–" : write(shown[place]);
      });
      set(rule, { d: `M${across.at(checkpoint.step)} 0V100` });
      set(point, { d: dotted([[checkpoint.step, checkpoint[what]]]) });
    }

    return { panel, draw };
  }
})((globalThis.glassformer ??= {}));
