// Search for translations of the reader's own sentence; the translator is loaded on request.
(function (glassformer) {
  const MAX_TOKENS = 48;

  /** Make a field with its button. `onFound` is called with a sentence and the tree of its search. */
  glassformer.makeSentenceForm = function ({ model, megabytes, onFound }) {
    const { element } = glassformer;
    const field = element("input", { type: "text", lang: "en", spellcheck: "false" });
    field.value = "The street was too wide.";
    const button = element("button", { type: "button" }, `Load the translator (${megabytes} MB)`);
    const bar = element("progress", { max: megabytes * 1e6, value: 0, "aria-label": "Loaded", hidden: "" });
    const message = element("p", { class: "message", role: "status" });
    let translator = null;
    let isBusy = false;

    button.addEventListener("click", answer);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) answer();
    });

    async function answer() {
      if (isBusy) return;
      isBusy = true;
      try {
        if (!translator) await load();
        await search();
      } catch (error) {
        message.textContent = error.message;
      } finally {
        isBusy = false;
        bar.hidden = true;
      }
    }

    async function load() {
      message.textContent = "Loading …";
      bar.hidden = false;
      const files = await glassformer.fetchModel(model, (numBytes) => (bar.value = numBytes));
      await glassformer.yieldToBrowser();
      translator = glassformer.loadTranslator(files);
      button.textContent = "Search";
    }

    async function search() {
      const text = field.value.trim();
      const ids = translator.tokenize(text);
      if (!ids.length) throw new Error("Please type a sentence first: the field is empty.");
      if (ids.length > MAX_TOKENS) {
        throw new Error(
          `The sentence is too long for this figure: it has ${ids.length} tokens; the maximum is ${MAX_TOKENS}.`,
        );
      }
      message.textContent = "Searching …";
      await glassformer.yieldToBrowser();
      const { tokenizer } = translator;
      const continuations = await glassformer.searchModel(translator.model, ids, {
        yieldToBrowser: glassformer.yieldToBrowser,
      });
      onFound(text, {
        continuations,
        spell: (id) => tokenizer.piece(id),
        hasEnded: (target) => target.at(-1) === glassformer.END_ID,
        detokenize: (target) => tokenizer.decode(target),
      });
      message.textContent = "";
    }

    return element(
      "div",
      { class: "own" },
      element("div", { class: "ask" }, element("label", {}, "or your own ", field), button, bar),
      message,
    );
  };
})((globalThis.glassformer ??= {}));
