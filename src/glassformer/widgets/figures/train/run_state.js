// What the figure knows of a run: its settings, its curves, and what its trainer last reported.
(function (glassformer) {
  const SMOOTHING = 0.9; // of the loss, as a moving average
  let made = 0;

  /** Describe a run that has not begun. Its trainer repeats `id` in its reports. */
  glassformer.trainFigure.makeRun = function (settings) {
    made += 1;
    return {
      id: made,
      settings,
      step: 0,
      losses: [],
      shares: [],
      seconds: 0,
      tokens: 0,
      look: null,
      translated: null,
      isDone: false,
    };
  };

  /** Take a report of the run's trainer. */
  glassformer.trainFigure.takeReport = function (run, { kind, ...report }) {
    if (kind === "translated") run.translated = report;
    else advance(run, report);
  };

  function advance(run, { step, losses, seconds, tokens, look, isDone }) {
    losses.forEach((loss, place) => {
      const before = run.losses.at(-1)?.[1] ?? loss;
      run.losses.push([step - losses.length + place + 1, SMOOTHING * before + (1 - SMOOTHING) * loss]);
    });
    if (look) {
      run.look = look.look;
      run.shares.push([look.step, look.look.exactMatch]);
    }
    run.step = step;
    run.seconds += seconds;
    run.tokens += tokens;
    run.isDone = isDone;
  }

  /** Name a run: "complete", or its removed parts. */
  glassformer.trainFigure.nameRun = function ({ without }, parts) {
    if (!without.length) return "complete";
    const labels = without.map((name) => parts.find((part) => part.name === name).label);
    return `without ${labels.join(", ")}`;
  };
})((globalThis.glassformer ??= {}));
