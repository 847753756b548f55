// Recurrence against attention: sequential steps, path lengths and measured times.
(function (glassformer) {
  function start(stage, data) {
    const { element, recurrenceFigure: figure } = glassformer;
    stage.append(
      ...figure.makeSignalPath(data),
      element("div", { class: "clock" }, figure.makePrediction(data), ...figure.makeMeasuredTimes(data)),
    );
  }

  (glassformer.figures ??= []).push(["recurrence", start]);
})((globalThis.glassformer ??= {}));
