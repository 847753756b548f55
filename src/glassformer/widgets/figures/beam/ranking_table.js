// Table of hypotheses: complete ones by rank, then truncated ones and active beams.
(function (glassformer) {
  const NAMES = ["log-probability", "tokens", "divided by", "score"];
  const CLASSES = ["total", "tokens", "divisor", "score"];

    glassformer.makeRankingTable = function () {
    const { element, show } = glassformer;
    const body = element("tbody");
    const head = [
      element("td"),
      element("th", { scope: "col" }, "beam"),
      ...NAMES.map((name) => element("th", { scope: "col", class: "number" }, name)),
    ];
    const whole = element(
      "table",
      { class: "ranking" },
      element("thead", {}, element("tr", {}, ...head)),
      body,
    );

    /** Show hypotheses ranked by `rankHypotheses` and active beams; `detokenize` joins tokens into text. */
    function draw({ ranked, beams, detokenize }) {
      const ended = ranked.filter(({ status }) => status === "complete");
      const truncated = ranked.filter(({ status }) => status === "truncated");
      const complete = ended.map((each, rank) => {
        const numbers = [show(each.divisor, 2), show(each.score, 3)];
        return row(each, detokenize, { kind: rank ? "complete" : "complete first", rank: rank + 1, numbers });
      });
      const active = beams.map((each) =>
        row(each, detokenize, { kind: "kept", rank: "", numbers: ["", "continues"] }),
      );
      body.replaceChildren(...complete, ...truncated.map((each) => truncatedRow(each, detokenize)), ...active);
    }

    function row({ tokens, logProbability }, detokenize, { kind, rank, numbers }) {
      const cells = [show(logProbability, 2), tokens.length, ...numbers];
      return element(
        "tr",
        { class: kind },
        ...start(rank, detokenize(tokens)),
        ...cells.map((cell, column) => element("td", { class: `number ${CLASSES[column]}` }, String(cell))),
      );
    }

    function truncatedRow({ tokens, logProbability }, detokenize) {
      return element(
        "tr",
        { class: "truncated" },
        ...start("", detokenize(tokens)),
        element("td", { class: "number total" }, show(logProbability, 2)),
        element("td", { class: "number why", colspan: 3 }, `truncated at ${tokens.length} tokens`),
      );
    }

    function start(rank, text) {
      return [
        element("td", { class: "rank" }, String(rank)),
        element("th", { scope: "row", lang: "fr" }, text || "(nothing)"),
      ];
    }

    return { whole, draw };
  };
})((globalThis.glassformer ??= {}));
