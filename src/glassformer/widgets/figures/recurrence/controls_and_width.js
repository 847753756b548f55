// Shared parts: labelled controls, and drawings that adapt to their width.
(function (glassformer) {
  const figure = (glassformer.recurrenceFigure ??= {});

  /** Wrap a control with its label, its output and further elements. */
  figure.control = function ({ label, input, output }, ...more) {
    return glassformer.element("div", { class: "control" }, label, input, ...(output ? [output] : []), ...more);
  };

  /** Return a function that measures a drawing's width; redraw when the width changes. */
  figure.watchWidth = function (drawing, redraw) {
    let drawn;
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.abs(contentRect.width - drawn) > 0.5) redraw();
    }).observe(drawing);
    return () => (drawn = drawing.getBoundingClientRect().width || 640);
  };
})((globalThis.glassformer ??= {}));
