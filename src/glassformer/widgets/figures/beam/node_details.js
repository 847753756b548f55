// Details of one node: its prefix, its log-probability and the most probable next tokens.
(function (glassformer) {
  const NUM_NEXT_TOKENS = 6;

  const number = (value) => glassformer.show(value, 2);

    glassformer.makeNodeDetails = function () {
    const { element } = glassformer;
    const path = element("div", { class: "path" });
    const next = element("table", { class: "next" });

    /** Show a candidate of `traceSearch`; the next tokens that were `kept` are bold. */
    function draw({ node, source, kept }) {
      const { tokens, logProbability, status } = node;
      const siblings = source.continuations(tokens.slice(0, -1));
      const last = siblings.find(({ token }) => token === tokens.at(-1)).logProbability;
      const length = `${tokens.length} token${tokens.length === 1 ? "" : "s"}`;
      path.replaceChildren(
        element("p", { class: "words", lang: "fr" }, source.detokenize(tokens) || "…"),
        element("p", { class: "sum" }, `log-probability after ${length}:`),
        element("p", { class: "sum" }, addition(logProbability - last, logProbability)),
      );
      next.replaceChildren(element("caption", {}, captionOf(node)));
      if (status !== "kept") return;
      const nextTokens = source.continuations(tokens).slice(0, NUM_NEXT_TOKENS);
      const rows = nextTokens.map(({ token, logProbability: added }) =>
        row(source.spell(token), Math.exp(added), logProbability + added, kept.includes(token)),
      );
      next.append(head(), element("tbody", {}, ...rows));
    }

    /** Write the last token's contribution as an addition whose rounded numbers add up. */
    function addition(before, total) {
      const [from, to] = [before, total].map((value) => Math.round(1000 * value) / 1000);
      const [start, added, sum] = [from, from - to, to].map((value) => glassformer.show(value, 3));
      return `${start} − ${added} = ${sum}`;
    }

    function captionOf({ status, tokens }) {
      if (status === "kept") return "Most probable next tokens";
      if (status === "pruned") return "Pruned: more probable candidates filled the beam.";
      if (status === "complete") return "Complete: ranked in the table below.";
      return `Truncated at ${tokens.length} tokens, the maximum length; not ranked.`;
    }

    function head() {
      const names = [
        element("th", { scope: "col" }, "token"),
        element("th", { scope: "col", colspan: 2 }, "probability"),
        element("th", { scope: "col", class: "number" }, "sum"),
      ];
      return element("thead", {}, element("tr", {}, ...names));
    }

    function row(token, share, sum, isKept) {
      return element(
        "tr",
        isKept ? { class: "kept" } : {},
        element("th", { scope: "row", lang: "fr" }, token),
        element("td", { class: "number" }, share.toFixed(3)),
        element("td", { class: "bar", "--share": share }, element("span")),
        element("td", { class: "number" }, number(sum)),
      );
    }

    return { whole: element("div", { class: "inside" }, path, next), draw };
  };
})((globalThis.glassformer ??= {}));
