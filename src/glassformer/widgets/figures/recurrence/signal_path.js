// Upper half: the step, the two words and the remaining signal.
(function (glassformer) {
  const figure = (glassformer.recurrenceFigure ??= {});

  /** Make both timelines with the step, the two words and the remaining signal. */
  figure.makeSignalPath = function ({ words, source, target, radius }) {
    const { element, slider, choice, summary, show } = glassformer;
    const state = {
      count: words.length,
      source: words.indexOf(source),
      target: words.indexOf(target),
      radius,
      step: Math.min(4, words.length),
    };
    const changed = (change, describe) => {
      Object.assign(state, change);
      draw();
      say(describe(words, state));
    };
    const step = slider({
      label: "step",
      min: 1,
      max: words.length,
      step: 1,
      value: state.step,
      show: (number) => `${number} of ${words.length}`,
      onInput: (number) => changed({ step: number }, describeStep),
    });
    const further = element("button", { type: "button" }, "next");
    further.addEventListener("click", () => {
      const next = (state.step % words.length) + 1;
      step.input.value = next;
      step.input.dispatchEvent(new Event("input"));
    });
    const pick = (label, word, role) =>
      choice({
        label,
        options: words,
        value: word,
        onInput: (chosen) => changed({ [role]: words.indexOf(chosen) }, describePath),
      });
    const [from, to] = [pick("from", source, "source"), pick("to", target, "target")];
    const kept = slider({
      label: "spectral radius ρ",
      min: 0.5,
      max: 1.1,
      step: 0.05,
      value: radius,
      show: (number) => show(number, 2),
      onInput: (number) => changed({ radius: number }, describePath),
    });
    const rows = figure.makeRows(words, () => draw());
    const paths = makePaths();
    const { parts, say } = summary();

    function draw() {
      const numbers = glassformer.computeSignals(state);
      further.textContent = state.step === words.length ? "again" : "next";
      rows.draw(state, numbers);
      paths.draw(words, state, numbers.paths);
    }

    draw();
    say(describeStep(words, state));
    return [
      element("div", { class: "controls" }, figure.control(step, further), figure.legend()),
      rows.drawing,
      element("div", { class: "controls" }, figure.control(from), figure.control(to), figure.control(kept)),
      paths.table,
      ...parts,
    ];
  };

  function makePaths() {
    const { element } = glassformer;
    const caption = element("caption");
    const [recurrence, attention] = ["recurrence", "attention"].map((layer) => {
      const hops = element("td", { class: "number" });
      const left = element("td", { class: "number" });
      const row = element("tr", { class: layer }, element("th", { scope: "row" }, layer), hops, left);
      return { row, hops, left };
    });
    const table = element(
      "table",
      { class: "paths" },
      caption,
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("td"),
          element("th", { scope: "col" }, "hops"),
          element("th", { scope: "col" }, "remaining signal"),
        ),
      ),
      element("tbody", {}, recurrence.row, attention.row),
    );

    function draw(words, { source, target, radius }, paths) {
      caption.textContent = `“${words[source]}” to “${words[target]}”: times ρ at every hop`;
      fill(recurrence, paths.recurrence, radius);
      fill(attention, paths.attention, radius);
    }

    return { table, draw };
  }

  function fill(row, { hops, left }, radius) {
    const { element, show } = glassformer;
    row.hops.textContent = hops ?? "no path";
    row.left.replaceChildren(
      ...(hops === null ? ["0"] : [show(radius, 2), element("sup", {}, hops), ` = ${show(left, 3)}`]),
    );
  }

  function describeStep(words, { step }) {
    const waiting = words.length - step;
    const now = words[step - 1];
    const number = `${waiting} ${plural(waiting, "word waits", "words wait")}`;
    const wait = waiting === 0 ? "no word waits any more" : `${number}, “${words[step]}” for the state at “${now}”`;
    const others = step === 1 ? `processes all ${words.length} words at once` : "finished after step 1";
    return `Step ${step}: recurrence processes “${now}”; ${wait}; attention ${others}.`;
  }

  function describePath(words, state) {
    const { show } = glassformer;
    const { recurrence, attention } = glassformer.computeSignals(state).paths;
    const [from, to] = [words[state.source], words[state.target]];
    if (recurrence.hops === null) {
      return `“${from}” comes after “${to}”: recurrence has no path, attention needs 1 hop.`;
    }
    const hands = plural(recurrence.hops, "hop leaves", "hops leave");
    const kept = `${recurrence.hops} ${hands} ${show(recurrence.left, 3)} in recurrence`;
    return `From “${from}” to “${to}”: ${kept}, 1 leaves ${show(attention.left, 3)} in attention.`;
  }

  function plural(count, one, many) {
    return count === 1 ? one : many;
  }
})((globalThis.glassformer ??= {}));
