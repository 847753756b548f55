// A translator that runs in the page: write, translate, look at what its heads looked at, switch them off.
(function (glassformer) {
  function start(stage, { examples, model, megabytes }) {
    const { element } = glassformer;
    const page = glassformer.translatePage;
    const state = {
      translator: null,
      result: null,
      off: {}, // heads, by the names of their attentions
      ...{ way: "beam", temperature: 1, seed: 1 },
      ...{ kind: "cross-attention", layer: 0, head: 0, places: { english: 0, french: 0 } },
    };
    let isLoading = false;
    let wanted = 0; // the number of the latest translation that was asked for

    const message = element("p", { class: "message", role: "status" });
    const writing = page.makeWriting({ examples, onAsk: ask, onExample: () => state.translator && ask() });
    const controls = page.makeControls({
      state,
      onAsk: ask,
      onChange: () => state.translator && translate(),
    });
    const loader = page.makeLoader({ model, megabytes, load });
    const answer = page.makeAnswer({ state, onPick: lookInto });
    const desk = page.makeDesk({ state, onSwitch: translate });
    stage.append(writing.whole, controls.whole, loader, message);

    /** Take the translator that `find` promises, and translate. Say whether there was one. */
    async function load(find) {
      if (isLoading) return false;
      isLoading = true;
      message.textContent = "Loading …";
      try {
        const files = await find();
        await glassformer.breathe();
        state.translator = glassformer.loadTranslator(files);
      } catch (error) {
        message.textContent = `It could not be loaded. ${error.message}`;
        return false;
      } finally {
        isLoading = false;
      }
      if (loader.contains(document.activeElement)) controls.go.focus();
      stage.append(...answer.parts, desk.whole, loader); // the loader, no longer needed, goes to the end
      state.off = {};
      desk.build();
      desk.whole.hidden = true;
      translate();
      return true;
    }

    function ask() {
      state.seed += 1;
      return translate();
    }

    async function translate() {
      if (!state.translator) {
        message.textContent = "First load the translator.";
        return;
      }
      await work(
        "Translating …",
        (isAwaited) => page.run(state, writing.field.value, isAwaited),
        answer.draw,
      );
    }

    function lookInto(number) {
      const look = (isAwaited) => page.lookInto(state, state.result, number, isAwaited);
      return work("Looking inside …", look, answer.drawPicked);
    }

    /** Wait for a result, unless another is asked for meanwhile, and draw it; or say why there is none. */
    async function work(words, makeResult, drawAnswer) {
      const turn = (wanted += 1);
      const isAwaited = () => turn === wanted;
      message.textContent = words;
      await glassformer.breathe();
      if (!isAwaited()) return;
      try {
        const result = await makeResult(isAwaited);
        if (!result) return;
        state.result = result;
        message.textContent = "";
        drawAnswer();
        desk.draw();
      } catch (error) {
        message.textContent = error.message;
        answer.clear();
      }
      const failed = message.textContent !== "";
      answer.hide(failed);
      desk.whole.hidden = failed;
    }
  }

  (glassformer.figures ??= []).push(["translate", start]);
})((globalThis.glassformer ??= {}));
