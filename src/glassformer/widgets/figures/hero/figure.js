// The front page: a recorded translation, and any other after loading the translator.
(function (glassformer) {
  const MAX_TOKENS = 40; // per side: more threads would be illegible

  /** Average the cross-attention weights of all heads. */
  glassformer.meanCrossAttention = (maps) => {
    const heads = crossAttention(maps);
    const mean = (query, key) =>
      glassformer.matrices.sum(heads.map((head) => head[query][key])) / heads.length;
    return heads[0].map((row, query) => Array.from(row, (_, key) => mean(query, key)));
  };

  const crossAttention = (maps) =>
    Object.entries(maps).flatMap(([name, heads]) => (name.endsWith("cross_attention") ? heads : []));

  function start(stage, { sentence, picked, recorded, model, megabytes, page }) {
    const { element } = glassformer;
    const { parts, say } = glassformer.summary();
    const picture = glassformer.makeAttentionThreads(() => say(picture.describe()));
    let translator = null;
    let isBusy = false;

    const field = element("textarea", { id: "glass-hero", rows: 1, spellcheck: "false", lang: "en" });
    field.value = sentence;
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      translate();
    });
    const go = element("button", { type: "button", class: "go" }, `Load and translate (${megabytes} MB)`);
    go.addEventListener("click", translate);
    const bar = element("progress", { max: megabytes * 1e6, value: 0, "aria-label": "Loaded" });
    const message = element("p", { class: "message", role: "status" });
    const link = element("a", { href: page }, "Inspect each head and switch it off");
    const form = element(
      "div",
      { class: "form" },
      element("label", { for: field.id }, "An English sentence"),
      field,
    );
    const row = element("div", { class: "ask" }, message, go);
    stage.append(form, row, bar, picture.whole, ...parts, element("p", { class: "more" }, link));
    message.textContent = "A recorded translation. Pick a French token.";
    show(recorded, picked);

    function show(translation, place) {
      picture.show(translation, place);
      say(picture.describe());
    }

    async function translate() {
      if (isBusy) return;
      isBusy = true;
      try {
        translator ??= await load();
        message.textContent = "Translating …";
        await glassformer.yieldToBrowser();
        const translation = await run(field.value);
        show(translation, 0);
        message.textContent = translation.ended
          ? "Translated in this page. Pick a French token."
          : `Truncated: this picture shows at most ${MAX_TOKENS} French tokens.`;
      } catch (error) {
        message.textContent = error.message;
      } finally {
        isBusy = false;
      }
    }

    async function load() {
      message.textContent = "Loading …";
      bar.classList.add("on");
      const files = await glassformer
        .fetchModel(model, (numBytes) => (bar.value = numBytes))
        .finally(() => {
          bar.classList.remove("on");
        });
      await glassformer.yieldToBrowser();
      const loaded = glassformer.loadTranslator(files);
      go.textContent = "Translate";
      return loaded;
    }

    async function run(text) {
      const sourceIds = translator.tokenize(text);
      if (!sourceIds.length) throw new Error("Please type a sentence first: the field is empty.");
      if (sourceIds.length > MAX_TOKENS) {
        throw new Error(
          `The sentence is too long for this picture: it has ${sourceIds.length} tokens; the maximum is ${MAX_TOKENS}.`,
        );
      }
      const search = glassformer.beamSearch(translator.model, sourceIds, {
        beamSize: 4,
        maxLength: MAX_TOKENS,
      });
      const [{ ids, ended }] = await glassformer.runInSlices(search);
      const { maps } = await glassformer.runInSlices(
        glassformer.inspectInSteps(translator.model, sourceIds, ids),
      );
      const [source, target] = [sourceIds, ids].map((each) =>
        each.map((id) => translator.tokenizer.piece(id)),
      );
      const heads = crossAttention(maps).length;
      return { source, target, ended, heads, weights: glassformer.meanCrossAttention(maps) };
    }
  }

  (glassformer.figures ??= []).push(["hero", start]);
})((globalThis.glassformer ??= {}));
