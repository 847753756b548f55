// The upper half: the step, the two words, and what is left of the signal.
(function (glassformer) {
  const figure = (glassformer.recurrenceFigure ??= {});

  /** Two rows of work, the step, the two words, and what is left. */
  figure.makeSentence = function ({ words, source, target, radius }) {
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
      const handOvers = element("td", { class: "number" });
      const left = element("td", { class: "number" });
      const row = element("tr", { class: layer }, element("th", { scope: "row" }, layer), handOvers, left);
      return { row, handOvers, left };
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
          element("th", { scope: "col" }, "hand-overs"),
          element("th", { scope: "col" }, "left of the signal"),
        ),
      ),
      element("tbody", {}, recurrence.row, attention.row),
    );

    function draw(words, { source, target, radius }, paths) {
      caption.textContent = `“${words[source]}” to “${words[target]}”: times ρ at each hand-over`;
      fill(recurrence, paths.recurrence, radius);
      fill(attention, paths.attention, radius);
    }

    return { table, draw };
  }

  function fill(row, { handOvers, left }, radius) {
    const { element, show } = glassformer;
    row.handOvers.textContent = handOvers ?? "no way back";
    row.left.replaceChildren(
      ...(handOvers === null ? ["0"] : [show(radius, 2), element("sup", {}, handOvers), ` = ${show(left, 3)}`]),
    );
  }

  function describeStep(words, { step }) {
    const waiting = words.length - step;
    const now = words[step - 1];
    const number = `${waiting} ${plural(waiting, "word waits", "words wait")}`;
    const wait = waiting === 0 ? "nobody waits any more" : `${number}, “${words[step]}” for the state at “${now}”`;
    const others = step === 1 ? `works on all ${words.length} words at once` : "was done after step 1";
    return `Step ${step}: recurrence works on “${now}”; ${wait}; attention ${others}.`;
  }

  function describePath(words, state) {
    const { show } = glassformer;
    const { recurrence, attention } = glassformer.computeSignals(state).paths;
    const [from, to] = [words[state.source], words[state.target]];
    if (recurrence.handOvers === null) {
      return `“${from}” stands after “${to}”: recurrence never brings it there, attention does in 1 hand-over.`;
    }
    const hands = plural(recurrence.handOvers, "hand-over leaves", "hand-overs leave");
    const kept = `${recurrence.handOvers} ${hands} ${show(recurrence.left, 3)} in recurrence`;
    return `From “${from}” to “${to}”: ${kept}, 1 leaves ${show(attention.left, 3)} in attention.`;
  }

  function plural(count, one, many) {
    return count === 1 ? one : many;
  }
})((globalThis.glassformer ??= {}));
