// A sentence of the reader, translated by the trained models.
(function (glassformer) {
  const FIRST = "the shy mouse and the lazy horse didn't avoid the proud cow";

  /** Make the form. `onAsk(words)` is called with a readable sentence; `draw(answers)` shows `[{ name, translation }]`. */
  glassformer.trainFigure.ownSentence = function (onAsk) {
    const { element } = glassformer;
    const { english, readSentence, isSentence, translate } = glassformer.sentences;
    const input = element("input", { type: "text", value: FIRST, autocomplete: "off", spellcheck: "false" });
    const button = element("button", {}, "Translate");
    const answers = element("div", { class: "answers-own", role: "status" });
    const form = element(
      "form",
      { class: "own" },
      element("label", {}, element("span", {}, "Your own sentence, once a run is finished"), input),
      button,
    );
    const words = element(
      "details",
      {},
      element("summary", {}, `The ${english.length} words that it learns`),
      element("p", {}, [...english].sort().join(", ")),
    );
    let asked = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        asked = readSentence(input.value);
      } catch (error) {
        return answers.replaceChildren(element("p", {}, `${error.message} Choose from the words below.`));
      }
      onAsk(asked);
    });

    function lock(isLocked) {
      input.disabled = isLocked;
      button.disabled = isLocked;
      if (isLocked) answers.replaceChildren();
    }

    /** Show the answer of each run, and the reference if the sentence follows the grammar. */
    function draw(answered) {
      const line = (name, list) =>
        element("p", {}, element("span", { class: "note" }, `${name}: `), element("span", { lang: "fr" }, join(list)));
      const reference = isSentence(asked)
        ? line("by rule", translate(asked).map(({ word }) => word))
        : element("p", { class: "note" }, "Not a sentence of its grammar, so there is no right answer.");
      answers.replaceChildren(...answered.map(({ name, translation }) => line(name, translation)), reference);
    }

    return { parts: [form, answers, words], lock, draw };
  };

  const join = (words) => (words.length ? words.join(" ").replaceAll("' ", "'") : "(nothing)");
})((globalThis.glassformer ??= {}));
