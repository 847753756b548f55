// What the reader writes, and how the next token shall be chosen.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});
  const WAYS = { "beam of 4": "beam", "likeliest token": "greedy", "by chance": "chance" };

  /** A field for a sentence, with examples. `onAsk` hears of the Enter key, `onExample` of a sentence taken. */
  page.makeWriting = ({ examples, onAsk, onExample }) => {
    const { element } = glassformer;
    const field = element("textarea", { id: "glass-english", rows: 2, spellcheck: "false", lang: "en" });
    field.value = examples[0];
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      onAsk();
    });
    const buttons = examples.map((sentence) => {
      const button = element("button", { type: "button", lang: "en" }, sentence);
      button.addEventListener("click", () => {
        field.value = sentence;
        onExample();
      });
      return button;
    });
    const whole = element(
      "div",
      { class: "writing" },
      element("label", { for: field.id }, "An English sentence"),
      field,
      element("div", { class: "examples", role: "group", "aria-label": "Examples" }, ...buttons),
    );
    return { whole, field };
  };

  /** The button, and how words are chosen: `state.way` and `state.temperature`. `onChange` hears of both. */
  page.makeControls = ({ state, onAsk, onChange }) => {
    const { element } = glassformer;
    const temperature = glassformer.slider({
      label: "temperature (only by chance)",
      min: 0,
      max: 2,
      step: 0.1,
      value: state.temperature,
      show: (number) => number.toFixed(1),
      onInput: (number) => {
        state.temperature = number;
        onChange();
      },
    });
    const way = glassformer.choice({
      label: "choose words by",
      options: Object.keys(WAYS),
      value: Object.keys(WAYS).find((name) => WAYS[name] === state.way),
      onInput: (name) => {
        state.way = WAYS[name];
        temperature.input.disabled = state.way !== "chance";
        onChange();
      },
    });
    temperature.input.disabled = state.way !== "chance";
    const go = element("button", { type: "button", class: "go" }, "Translate");
    go.addEventListener("click", onAsk);
    const whole = element(
      "div",
      { class: "controls" },
      go,
      element("div", { class: "control" }, way.label, way.input),
      element("div", { class: "control" }, temperature.label, temperature.input, temperature.output),
    );
    return { whole, go };
  };
})((globalThis.glassformer ??= {}));
