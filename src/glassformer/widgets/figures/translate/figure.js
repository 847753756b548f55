// A translator in the page: translate a sentence, inspect its attention, ablate heads.
(function (glassformer) {
  function start(stage, { examples, model, megabytes }) {
    const { element } = glassformer;
    const page = glassformer.translatePage;
    const state = {
      translator: null,
      result: null,
      ablated: {}, // heads by attention
      ...{ strategy: "beam", temperature: 1, seed: 1 },
      ...{ kind: "cross-attention", layer: 0, head: 0, positions: { english: 0, french: 0 } },
    };
    let isLoading = false;
    let latestRequest = 0;

    const message = element("p", { class: "message", role: "status" });
    const writing = page.makeSentenceField({ examples, onSubmit: ask, onExample: () => state.translator && ask() });
    const controls = page.makeControls({
      state,
      onSubmit: ask,
      onChange: () => state.translator && translate(),
    });
    const loader = page.makeLoader({ model, megabytes, load });
    const answer = page.makeNBestList({ state, onPick: inspect });
    const panel = page.makePanel({ state, onSwitch: translate });
    stage.append(writing.whole, controls.whole, loader, message);

    /** Load the translator from the files that `find` returns, and translate. Returns true on success. */
    async function load(find) {
      if (isLoading) return false;
      isLoading = true;
      message.textContent = "Loading …";
      try {
        const files = await find();
        await glassformer.yieldToBrowser();
        state.translator = glassformer.loadTranslator(files);
      } catch (error) {
        message.textContent = `The translator could not be loaded. ${error.message}`;
        return false;
      } finally {
        isLoading = false;
      }
      if (loader.contains(document.activeElement)) controls.go.focus();
      stage.append(...answer.parts, panel.whole, loader); // move the loader to the end
      state.ablated = {};
      panel.build();
      panel.whole.hidden = true;
      translate();
      return true;
    }

    function ask() {
      state.seed += 1;
      return translate();
    }

    async function translate() {
      if (!state.translator) {
        message.textContent = "Load the translator first.";
        return;
      }
      await work(
        "Translating …",
        (isCurrent) => page.run(state, writing.field.value, isCurrent),
        answer.draw,
      );
    }

    function inspect(number) {
      const makeResult = (isCurrent) => page.inspectHypothesis(state, state.result, number, isCurrent);
      return work("Inspecting …", makeResult, answer.drawPicked);
    }

    /** Compute a result and draw it, unless a newer request replaces it; show an error as a message. */
    async function work(words, makeResult, drawAnswer) {
      const turn = (latestRequest += 1);
      const isCurrent = () => turn === latestRequest;
      message.textContent = words;
      await glassformer.yieldToBrowser();
      if (!isCurrent()) return;
      try {
        const result = await makeResult(isCurrent);
        if (!result) return;
        state.result = result;
        message.textContent = "";
        drawAnswer();
        panel.draw();
      } catch (error) {
        message.textContent = error.message;
        answer.clear();
      }
      const failed = message.textContent !== "";
      answer.hide(failed);
      panel.whole.hidden = failed;
    }
  }

  (glassformer.figures ??= []).push(["translate", start]);
})((globalThis.glassformer ??= {}));
