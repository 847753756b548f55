// Measured times as curves on logarithmic axes, up to the selected length.
(function (glassformer) {
  const figure = (glassformer.recurrenceFigure ??= {});

  const [HIGH, LEFT, RIGHT, TOP, FLOOR] = [176, 34, 16, 20, 142];
  const TICKS = [0.01, 0.1, 1, 10, 100, 1000]; // milliseconds

  figure.makeChart = function (redraw) {
    const { element, set } = glassformer;
    const drawing = element("svg", { class: "chart", "aria-hidden": "true" });
    const widthOf = figure.watchWidth(drawing, redraw);

    function draw({ lengths, lstm, attention, place }, { crossing }) {
      const width = widthOf();
      const across = (each) => LEFT + (each / (lengths.length - 1)) * (width - LEFT - RIGHT);
      const up = scale([...lstm, ...attention]);
      const edges = (crossing ?? []).map((length) => across(lengths.indexOf(length)));
      set(drawing, { viewBox: `0 0 ${width} ${HIGH}` });
      drawing.replaceChildren(
        element("path", { class: "crossing", d: crossing ? `M${edges[0]} ${TOP}H${edges[1]}V${FLOOR}H${edges[0]}Z` : "" }),
        ...grid(up, width),
        element("path", { class: "now", d: `M${across(place)} ${TOP}V${FLOOR}` }),
        ...lengths.map((each, at) => {
          const kind = at === place ? "tick lit" : "tick";
          return element("text", { class: kind, x: across(at), y: FLOOR + 15 }, String(each));
        }),
        element("text", { class: "tick", x: (LEFT + width - RIGHT) / 2, y: FLOOR + 31 }, "words"),
        ...curve("recurrence", lstm.slice(0, place + 1), across, up),
        ...curve("attention", attention.slice(0, place + 1), across, up),
      );
    }

    return { drawing, draw };
  };

  /** Make the logarithmic scale of the times. */
  function scale(times) {
    const logs = times.map(Math.log10);
    const [least, most] = [Math.min(...logs) - 0.1, Math.max(...logs) + 0.1];
    return (time) => FLOOR - ((Math.log10(time) - least) / (most - least)) * (FLOOR - TOP);
  }

  function grid(up, width) {
    const { element } = glassformer;
    const seen = TICKS.filter((time) => TOP <= up(time) && up(time) <= FLOOR);
    const write = (text, y) => element("text", { class: "tick unit", x: LEFT - 6, y }, text);
    return [
      write("ms", 11),
      ...seen.map((time) => element("path", { class: "grid", d: `M${LEFT} ${up(time)}H${width - RIGHT}` })),
      ...seen.map((time) => write(String(time), up(time) + 4)),
    ];
  }

  function curve(layer, times, across, up) {
    const { element } = glassformer;
    const points = times.map((time, place) => [across(place), up(time)]);
    return [
      element("polyline", { class: `curve ${layer}`, points: points.join(" ") }),
      ...points.map(([cx, cy]) => element("circle", { class: `point ${layer}`, cx, cy, r: 3.5 })),
    ];
  }
})((globalThis.glassformer ??= {}));
