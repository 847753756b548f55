// Recurrence against attention: who waits for whom, how long the path between two words is, and what it costs.
(function (glassformer) {
  function start(stage, data) {
    const { element, recurrenceFigure: figure } = glassformer;
    stage.append(
      ...figure.makeSentence(data),
      element("div", { class: "clock" }, figure.ask(data), ...figure.makeClock(data)),
    );
  }

  (glassformer.figures ??= []).push(["recurrence", start]);
})((globalThis.glassformer ??= {}));
