// What the parts of the figure share: a line of controls, and a drawing that knows its width.
(function (glassformer) {
  const figure = (glassformer.recurrenceFigure ??= {});

  /** A control with its name and its value, and what else stands in its line. */
  figure.control = function ({ label, input, output }, ...more) {
    return glassformer.element("div", { class: "control" }, label, input, ...(output ? [output] : []), ...more);
  };

  /** Say how wide a drawing is, and draw it anew when that changes. */
  figure.watchWidth = function (drawing, redraw) {
    let drawn;
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.abs(contentRect.width - drawn) > 0.5) redraw();
    }).observe(drawing);
    return () => (drawn = drawing.getBoundingClientRect().width || 640);
  };
})((globalThis.glassformer ??= {}));
