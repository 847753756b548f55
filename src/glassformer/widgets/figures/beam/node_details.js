// One beginning of a translation: its words, its log-probability, and what the model finds likely next.
(function (glassformer) {
  const NUM_SHOWN = 6;

  const number = (value) => glassformer.show(value, 2);

  /** Make the part of the figure that tells of a node. `draw` fills it in. */
  glassformer.beamNode = function () {
    const { element } = glassformer;
    const path = element("div", { class: "path" });
    const next = element("table", { class: "next" });

    /** Tell of a node of `beamNumbers`; of the tokens that follow, those that were `kept` are bold. */
    function draw({ node, source, kept }) {
      const { tokens, logProbability, fate } = node;
      const siblings = source.continuations(tokens.slice(0, -1));
      const last = siblings.find(({ token }) => token === tokens.at(-1)).logProbability;
      const length = `${tokens.length} token${tokens.length === 1 ? "" : "s"}`;
      path.replaceChildren(
        element("p", { class: "words", lang: "fr" }, source.write(tokens) || "…"),
        element("p", { class: "sum" }, `log-probability after ${length}:`),
        element("p", { class: "sum" }, addition(logProbability - last, logProbability)),
      );
      next.replaceChildren(element("caption", {}, captionOf(node)));
      if (fate !== "followed") return;
      const following = source.continuations(tokens).slice(0, NUM_SHOWN);
      const rows = following.map(({ token, logProbability: added }) =>
        row(source.spell(token), Math.exp(added), logProbability + added, kept.includes(token)),
      );
      next.append(head(), element("tbody", {}, ...rows));
    }

    /** What was there and what the last token adds; as printed, the numbers add up. */
    function addition(before, total) {
      const [from, to] = [before, total].map((value) => Math.round(1000 * value) / 1000);
      const [start, added, sum] = [from, from - to, to].map((value) => glassformer.show(value, 3));
      return `${start} − ${added} = ${sum}`;
    }

    function captionOf({ fate, tokens }) {
      if (fate === "followed") return "What may come next";
      if (fate === "dropped") return "Dropped here: likelier ones took all places.";
      if (fate === "complete") return "Complete: set aside, and ranked below.";
      return `Cut off at ${tokens.length} tokens, the most that this search writes; not ranked.`;
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
