// Timelines of both layers above and below the words, with arcs for the hops.
(function (glassformer) {
  const figure = (glassformer.recurrenceFigure ??= {});

  const BOX = 28; // height
  const ARCS = 44; // height of the arcs

  figure.makeRows = function (words, redraw) {
    const { element, set } = glassformer;
    const drawing = element("svg", { class: "rows", "aria-hidden": "true" });
    const widthOf = figure.watchWidth(drawing, redraw);

    function draw(state, numbers) {
      const width = widthOf();
      const narrow = width < 480;
      const column = width / words.length;
      const note = narrow ? { y: 28 } : { x: width, y: 12 };
      const [top, wordsHigh] = narrow ? [32 + ARCS, 66] : [18 + ARCS, 30];
      const below = top + BOX + wordsHigh;
      const height = below + BOX + ARCS + 18;
      const middle = (place) => (place + 0.5) * column;
      set(drawing, { viewBox: `0 0 ${width} ${height}`, "--height": `${height}px` });
      drawing.replaceChildren(
        element("text", { class: "title", y: 12 }, "Recurrence: each word waits for the previous one"),
        element("text", { class: narrow ? "title" : "title end", ...note }, `number: signal of “${words[state.source]}”`),
        element("text", { class: "title", y: height - 4 }, "Attention: all words attend to all words at once"),
        ...hops(state, numbers, (place) => [middle(place), top]),
        ...attentionArcs(state, (place) => [middle(place), below + BOX]),
        ...words.map((word, place) => {
          const lit = place === state.source || place === state.target ? "word lit" : "word";
          const at = [middle(place), top + BOX + wordsHigh / 2];
          const turn = narrow ? { transform: `rotate(-90 ${at.join(" ")})` } : {};
          return element("text", { class: lit, x: at[0], y: at[1] + 4, ...turn }, word);
        }),
        ...boxes("recurrence", numbers.recurrence, top, column),
        ...boxes("attention", numbers.attention, below, column),
      );
    }

    return { drawing, draw };
  };

  /** Draw arcs between states; the selected path is highlighted, future hops are dashed. */
  function hops({ source, target, step }, { recurrence }, at) {
    return recurrence.slice(1).map((_, place) => {
      const picked = source <= place && place < target ? " picked" : "";
      const waits = place + 1 >= step ? " waits" : "";
      return arrow(`recurrence${picked}${waits}`, at(place), at(place + 1), -22);
    });
  }

  /** Draw arcs from all words to the target. */
  function attentionArcs({ count, source, target }, at) {
    const places = Array.from({ length: count }, (_, place) => place).filter((place) => place !== source);
    return [...places, source].map((place) => {
      const depth = 14 + ((ARCS - 14) * Math.abs(place - target)) / count;
      return arrow(`attention${place === source ? " picked" : ""}`, at(place), at(target), depth);
    });
  }

  /** Draw a flat arc with an arrowhead. */
  function arrow(kind, [from, y], [to, end], depth) {
    const { element } = glassformer;
    const away = Math.sign(depth);
    const [first, tip] = from === to ? [from - 8, to + 8] : [from, to];
    const [start, stop] = [y + 2 * away, end + 3 * away];
    const bend = depth * 1.3;
    const aside = Math.max(-9, Math.min(9, (tip - first) / 4));
    const d = `M${first} ${start}C${first + aside} ${start + bend} ${tip - aside} ${stop + bend} ${tip} ${stop}`;
    const head = `M${tip - 4} ${stop + 6 * away}L${tip} ${stop}L${tip + 4} ${stop + 6 * away}`;
    return element("g", { class: `arrow ${kind}` }, element("path", { d }), element("path", { class: "head", d: head }));
  }

  function boxes(layer, cells, top, column) {
    const { element } = glassformer;
    const size = Math.min(column - 2, 48);
    return cells.map(({ work, left }, place) => {
      const middle = (place + 0.5) * column;
      return element(
        "g",
        { class: `box ${layer} ${work}`, "--strength": Math.min(1, left) },
        element("rect", { x: middle - size / 2, y: top, width: size, height: BOX, rx: 4 }),
        element("text", { x: middle, y: top + 18 }, work === "waits" ? "" : written(left, size < 32)),
      );
    });
  }

  function written(left, short) {
    if (left === 0) return "0";
    if (!short) return glassformer.show(left, 2);
    return glassformer.show(left, left < 0.995 ? 2 : 1).replace(/^0/, "");
  }

  figure.legend = function () {
    const { element } = glassformer;
    const states = { done: "done", now: "in progress", waits: "waiting" };
    return element(
      "p",
      { class: "legend" },
      ...Object.entries(states).map(([work, name]) => element("span", { class: work }, name)),
    );
  };
})((globalThis.glassformer ??= {}));
