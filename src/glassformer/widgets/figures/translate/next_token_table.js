// The five most probable tokens at the picked French position.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  page.makeNextTokenTable = ({ state }) => {
    const { element } = glassformer;
    const whole = element("table", { class: "next" });
    return { whole, draw };

    function draw() {
      const { result, positions, translator } = state;
      const position = positions.french;
      const generated = result.hypotheses[result.selected].ids[position];
      whole.hidden = page.ATTENTION_KINDS[state.kind].queries !== "french";
      const rows = mostProbable(result.logits[position]).map(({ id, logProbability }) => {
        const probability = Math.exp(logProbability);
        return element(
          "tr",
          id === generated ? { class: "written" } : {},
          element("th", { scope: "row", lang: "fr" }, ...page.spell(translator.tokenizer.piece(id))),
          element("td", { class: "number" }, probability.toFixed(3)),
          element("td", { class: "bar", "--share": probability }, element("span")),
        );
      });
      const title = `Most probable tokens where “${page.bare(result.target[position])}” was generated`;
      whole.replaceChildren(element("caption", {}, title), element("tbody", {}, ...rows));
    }
  };

  function mostProbable(logits) {
    const logProbabilities = glassformer.kernels.logSoftmax(logits);
    logProbabilities[glassformer.PAD_ID] = logProbabilities[glassformer.START_ID] = -Infinity;
    return glassformer.topk(logProbabilities, 5);
  }
})((globalThis.glassformer ??= {}));
