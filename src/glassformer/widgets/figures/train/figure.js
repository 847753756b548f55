// Train a small translator in the page, and beside it the same one without some of its parts.
(function (glassformer) {
  const KINDS = ["complete", "changed"];
  const DRAW_EVERY = 100; // milliseconds
  const DRAW_SELDOM = 2000; // the same with reduced motion

  function start(stage, { parts }) {
    const { element, set, summary, prediction, trainFigure } = glassformer;
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    const settings = trainFigure.settings(parts);
    const curves = trainFigure.learningCurves();
    const panels = KINDS.map((kind) => trainFigure.runPanel(kind));
    const table = trainFigure.runsTable(parts);
    const own = trainFigure.ownSentence(ask);
    const { parts: spoken, say } = summary();
    const trainers = KINDS.map((_, place) => trainFigure.connectTrainer((report) => receive(place, report)));
    let runs = []; // the complete run and, if a part is removed, the changed one
    let all = []; // runs of this visit
    let isRunning = false;
    let isScheduled = false;
    let wasHidden = false;

    const train = element("button", { type: "button", class: "train" });
    const step = element("button", { type: "button" }, "One step");
    const reset = element("button", { type: "button" }, "Reset");
    train.addEventListener("click", () => (isRunning ? pause() : resume()));
    step.addEventListener("click", takeStep);
    reset.addEventListener("click", clear);
    document.addEventListener("visibilitychange", pauseWhileHidden);

    stage.append(
      prediction({
        question:
          "Without the causal mask, each position may look at the words that it should predict. With 3 + 3 layers, " +
          "will the training loss be lower or higher?",
        answers: ["Lower", "Higher", "About the same"],
        right: 0,
        because:
          "It falls faster, because the next word can be copied from the decoder’s input. When the model " +
          "translates, there is nothing to copy, and not one unseen sentence is right. Remove the mask and see.",
      }),
      ...settings.parts,
      element("div", { class: "controls" }, train, step, reset),
      curves.whole,
      element(
        "p",
        { class: "note" },
        `Below: the translation of “${glassformer.sentences.EXAMPLE}”, and how much each French word attends to ` +
          "each English word in the last layer, averaged over heads.",
      ),
      element("div", { class: "halves" }, ...panels.map(({ whole }) => whole)),
      ...own.parts,
      table.whole,
      ...spoken,
    );
    draw();
    trainers[0]("measure");

    // ---- Training ----

    function prepare() {
      const { without, ...shared } = settings.read();
      const variants = without.length ? [[], without] : [[]];
      runs = variants.map((removed) => trainFigure.makeRun({ ...shared, without: removed }));
      runs.forEach(({ id, settings }, place) => trainers[place]("prepare", { id, ...settings }));
      all = [...all, ...runs];
    }

    function isFinished() {
      return runs.length > 0 && runs.every(({ isDone }) => isDone);
    }

    function resume() {
      if (!runs.length || isFinished()) prepare();
      isRunning = true;
      send("resume");
    }

    function pause() {
      isRunning = false;
      send("pause");
    }

    function takeStep() {
      if (!runs.length || isFinished()) prepare();
      isRunning = false;
      send("step");
    }

    function send(command) {
      runs.forEach(({ isDone }, place) => isDone || trainers[place](command));
      draw();
    }

    function clear() {
      pause();
      runs = [];
      draw();
    }

    /** Stop computing in a tab that nobody sees. */
    function pauseWhileHidden() {
      if (document.hidden && isRunning) {
        wasHidden = true;
        pause();
      } else if (!document.hidden && wasHidden) {
        wasHidden = false;
        resume();
      }
    }

    function ask(words) {
      runs.forEach((run, place) => {
        run.translated = null;
        trainers[place]("translate", { words });
      });
    }

    /** Take a report of a trainer; one about an earlier run is outdated. */
    function receive(place, report) {
      if (report.kind === "measured") return settings.takeSpeed(report.milliseconds);
      if (report.id !== runs[place]?.id) return;
      trainFigure.takeReport(runs[place], report);
      if (isFinished()) isRunning = false;
      drawSoon();
    }

    // ---- Drawing ----

    /** Draw, but not for every report. */
    function drawSoon() {
      if (isScheduled) return;
      isScheduled = true;
      setTimeout(
        () => {
          isScheduled = false;
          draw();
        },
        isRunning && still.matches ? DRAW_SELDOM : DRAW_EVERY,
      );
    }

    function draw() {
      const pair = KINDS.map((_, place) => runs[place] ?? null);
      train.textContent = isRunning ? "Pause" : runs.length && !isFinished() ? "Continue" : "Train";
      reset.disabled = !runs.length;
      settings.lock(runs.length > 0 && !isFinished());
      own.lock(!isFinished());
      curves.draw(pair);
      panels.forEach((panel, place) => panel.draw(titleOf(pair[place], place), pair[place]));
      table.draw(all.filter((run) => run.step > 0));
      if (isFinished() && runs.every(({ translated }) => translated)) {
        own.draw(runs.map((run) => ({ name: trainFigure.nameRun(run.settings, parts), ...run.translated })));
      }
      set(spoken[1], { "aria-live": isRunning ? "off" : "polite" });
      say(describe());
    }

    function titleOf(run, place) {
      if (run) return trainFigure.nameRun(run.settings, parts);
      return place ? "without a part: none is removed" : "complete";
    }

    function describe() {
      if (!runs.length) return "Nothing is trained yet.";
      return `${runs.map(describeRun).join("; ")}.`;
    }

    function describeRun(run) {
      const name = trainFigure.nameRun(run.settings, parts);
      const loss = run.losses.at(-1)?.[1];
      const learned = loss === undefined ? "" : `, loss ${glassformer.show(loss, 3)}`;
      const right = run.look ? `, ${Math.round(100 * run.look.exactMatch)}% of unseen sentences right` : "";
      return `${name}: step ${run.step} of 500${learned}${right}`;
    }
  }

  (glassformer.figures ??= []).push(["train", start]);
})((globalThis.glassformer ??= {}));
