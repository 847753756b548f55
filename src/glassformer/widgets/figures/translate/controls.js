// Controls: the sentence, the decoding strategy and the temperature.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});
  const STRATEGIES = { "beam search": "beam", "greedy decoding": "greedy", sampling: "sampling" };

  /** Make a field with examples. `onSubmit` is called on Enter, `onExample` when an example is picked. */
  page.makeSentenceField = ({ examples, onSubmit, onExample }) => {
    const { element } = glassformer;
    const field = element("textarea", { id: "glass-english", rows: 2, spellcheck: "false", lang: "en" });
    field.value = examples[0];
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      onSubmit();
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

  /** Make the button and the choices that set `state.strategy` and `state.temperature`. */
  page.makeControls = ({ state, onSubmit, onChange }) => {
    const { element } = glassformer;
    const temperature = glassformer.slider({
      label: "temperature (sampling only)",
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
    const strategy = glassformer.choice({
      label: "decode by",
      options: Object.keys(STRATEGIES),
      value: Object.keys(STRATEGIES).find((name) => STRATEGIES[name] === state.strategy),
      onInput: (name) => {
        state.strategy = STRATEGIES[name];
        temperature.input.disabled = state.strategy !== "sampling";
        onChange();
      },
    });
    temperature.input.disabled = state.strategy !== "sampling";
    const go = element("button", { type: "button", class: "go" }, "Translate");
    go.addEventListener("click", onSubmit);
    const whole = element(
      "div",
      { class: "controls" },
      go,
      element("div", { class: "control" }, strategy.label, strategy.input),
      element("div", { class: "control" }, temperature.label, temperature.input, temperature.output),
    );
    return { whole, go };
  };
})((globalThis.glassformer ??= {}));
