// The beams as a table: what is complete, the best first, then what was cut off, or is still followed.
(function (glassformer) {
  const NAMES = ["log-probability", "tokens", "divided by", "score"];
  const KINDS = ["total", "tokens", "divisor", "score"];

  /** Make the table. `draw` fills it in. */
  glassformer.beamRanking = function () {
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

    /** Show hypotheses of `rankHypotheses`, and nodes of `beamNumbers`; `write` makes text of tokens. */
    function draw({ ranked, followed, write }) {
      const ended = ranked.filter(({ fate }) => fate === "complete");
      const cut = ranked.filter(({ fate }) => fate === "cut");
      const complete = ended.map((each, place) => {
        const numbers = [show(each.divisor, 2), show(each.score, 3)];
        return row(each, write, { kind: place ? "complete" : "complete first", place: place + 1, numbers });
      });
      const open = followed.map((each) =>
        row(each, write, { kind: "followed", place: "", numbers: ["", "goes on"] }),
      );
      body.replaceChildren(...complete, ...cut.map((each) => cutRow(each, write)), ...open);
    }

    function row({ tokens, logProbability }, write, { kind, place, numbers }) {
      const cells = [show(logProbability, 2), tokens.length, ...numbers];
      return element(
        "tr",
        { class: kind },
        ...start(place, write(tokens)),
        ...cells.map((cell, column) => element("td", { class: `number ${KINDS[column]}` }, String(cell))),
      );
    }

    function cutRow({ tokens, logProbability }, write) {
      return element(
        "tr",
        { class: "cut" },
        ...start("", write(tokens)),
        element("td", { class: "number total" }, show(logProbability, 2)),
        element("td", { class: "number why", colspan: 3 }, `cut off at ${tokens.length} tokens`),
      );
    }

    function start(place, text) {
      return [
        element("td", { class: "place" }, String(place)),
        element("th", { scope: "row", lang: "fr" }, text || "(nothing)"),
      ];
    }

    return { whole, draw };
  };
})((globalThis.glassformer ??= {}));
