// Recurrence against attention: sequential steps, path lengths and, if given, measured times.
(function (glassformer) {
  function start(stage, data) {
    const { element, recurrenceFigure: figure } = glassformer;
    stage.append(...figure.makeSignalPath(data));
    if (data.settings) {
      stage.append(element("div", { class: "clock" }, figure.makePrediction(data), ...figure.makeMeasuredTimes(data)));
    }
  }

  (glassformer.figures ??= []).push(["recurrence", start]);
})((globalThis.glassformer ??= {}));
