// The reader's own sentence: load the translator when asked to, and search.
(function (glassformer) {
  const MOST_TOKENS = 48; // that this figure reads

  const tick = () => new Promise((resolve) => setTimeout(resolve));

  /** Let the page breathe now and then, so that a slow machine does not freeze. */
  function makeBreath() {
    let rested = performance.now();
    return async () => {
      if (performance.now() - rested < 30) return;
      await tick();
      rested = performance.now();
    };
  }

  /** Make a field with its button. `onFound` hears a sentence, and what its search says of its tokens. */
  glassformer.ownSentence = function ({ model, megabytes, onFound }) {
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
      await tick();
      translator = glassformer.loadTranslator(files);
      button.textContent = "Search";
    }

    async function search() {
      const text = field.value.trim();
      const ids = translator.tokenize(text);
      if (!ids.length) throw new Error("There is nothing to translate: the field is empty.");
      if (ids.length > MOST_TOKENS) {
        throw new Error(
          `The sentence is too long for this figure: it has ${ids.length} tokens, and ${MOST_TOKENS} can be shown.`,
        );
      }
      message.textContent = "Searching …";
      await tick();
      const { tokenizer } = translator;
      const continuations = await glassformer.searchModel(translator.model, ids, { breathe: makeBreath() });
      onFound(text, {
        continuations,
        spell: (id) => tokenizer.piece(id),
        hasEnded: (target) => target.at(-1) === glassformer.END_ID,
        write: (target) => tokenizer.decode(target),
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
