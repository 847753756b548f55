// Lower half: measured times.
(function (glassformer) {
  const figure = (glassformer.recurrenceFigure ??= {});

  /** Make the prediction that the measured times answer. */
  figure.makePrediction = function ({ lengths, length, settings: [{ lstm, attention }] }) {
    const ratio = lstm.at(-1) / attention.at(-1);
    return glassformer.prediction({
      question: `The curves end at ${length} words for now. Which layer is faster with ${lengths.at(-1)} words?`,
      answers: ["Attention", "An LSTM", "Both equally"],
      right: ratio > 1.1 ? 0 : ratio < 0.9 ? 1 : 2,
      because: `An LSTM takes ${lstm.at(-1)} ms, attention ${attention.at(-1)} ms: it has no sequential steps, but compares all pairs of words.`,
    });
  };

  /** Make the measured times at one length and the curves up to it. */
  figure.makeMeasuredTimes = function ({ lengths, length, settings, measured }) {
    const { element, slider, choice, summary } = glassformer;
    const state = { ...settings[0], lengths, place: lengths.indexOf(length) };
    const changed = (change) => {
      Object.assign(state, change);
      draw();
    };
    const setting = choice({
      label: "timed with",
      options: settings.map(({ name }) => name),
      value: settings[0].name,
      onInput: (chosen) => changed(settings.find(({ name }) => name === chosen)),
    });
    const longer = slider({
      label: "words",
      min: 0,
      max: lengths.length - 1,
      step: 1,
      value: state.place,
      show: (place) => String(lengths[place]),
      onInput: (place) => changed({ place }),
    });
    const chart = figure.makeChart(() => draw());
    const times = makeTimes();
    const { parts, say } = summary();

    function draw() {
      const numbers = glassformer.compareTimes(state);
      chart.draw(state, numbers);
      times.draw(numbers);
      say(describeTimes(state, numbers));
    }

    draw();
    return [
      element("div", { class: "controls" }, figure.control(setting), figure.control(longer)),
      element("div", { class: "timed" }, chart.drawing, element("div", {}, times.table, element("p", {}, measured))),
      ...parts,
    ];
  };

  function makeTimes() {
    const { element, set } = glassformer;
    const [lstm, attention] = [
      ["LSTM", "recurrence"],
      ["attention", "attention"],
    ].map(([name, layer]) => {
      const time = element("td", { class: "number" });
      const bar = element("td", { class: "bar" }, element("span"));
      return { row: element("tr", { class: layer }, element("th", { scope: "row" }, name), time, bar), time, bar };
    });
    const table = element("table", { class: "times" }, element("tbody", {}, lstm.row, attention.row));

    function draw(numbers) {
      const longest = Math.max(numbers.lstm, numbers.attention);
      for (const [{ time, bar }, each] of [[lstm, numbers.lstm], [attention, numbers.attention]]) {
        time.textContent = `${each} ms`;
        set(bar, { "--share": each / longest });
      }
    }

    return { table, draw };
  }

  function describeTimes({ lengths, place }, { lstm, attention, faster, crossing }) {
    const times = `${lengths[place]} words: LSTM ${lstm} ms, attention ${attention} ms`;
    if (crossing) {
      return `${times}; the LSTM becomes faster between ${crossing[0]} and ${crossing[1]} words.`;
    }
    return `${times}; ${faster} is faster.`;
  }
})((globalThis.glassformer ??= {}));
