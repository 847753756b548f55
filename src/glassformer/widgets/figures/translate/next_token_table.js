// The five likeliest tokens where the picked French one was written.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  page.makeLikely = ({ state }) => {
    const { element } = glassformer;
    const whole = element("table", { class: "next" });
    return { whole, draw };

    function draw() {
      const { result, places, translator } = state;
      const place = places.french;
      const written = result.found[result.shown].ids[place];
      whole.hidden = page.KINDS[state.kind].asks !== "french";
      const rows = likeliest(result.logits[place]).map(({ id, logProbability }) => {
        const share = Math.exp(logProbability);
        return element(
          "tr",
          id === written ? { class: "written" } : {},
          element("th", { scope: "row", lang: "fr" }, ...page.spell(translator.tokenizer.piece(id))),
          element("td", { class: "number" }, share.toFixed(3)),
          element("td", { class: "bar", "--share": share }, element("span")),
        );
      });
      const title = `The likeliest tokens where “${page.bare(result.target[place])}” was written`;
      whole.replaceChildren(element("caption", {}, title), element("tbody", {}, ...rows));
    }
  };

  function likeliest(logits) {
    const logProbabilities = glassformer.kernels.logSoftmax(logits);
    logProbabilities[glassformer.PAD_ID] = logProbabilities[glassformer.START_ID] = -Infinity;
    return glassformer.likeliest(logProbabilities, 5);
  }
})((globalThis.glassformer ??= {}));
