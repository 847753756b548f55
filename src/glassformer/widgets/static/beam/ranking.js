// The beams as a table: what is complete, the best first, and then what is still followed.
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
      const complete = ranked.map((each, place) => {
        const numbers = [show(each.divisor, 2), show(each.score, 3)];
        return row(each, write, { kind: place ? "complete" : "complete first", place: place + 1, numbers });
      });
      const open = followed.map((each) =>
        row(each, write, { kind: "followed", place: "", numbers: ["", "goes on"] }),
      );
      body.replaceChildren(...complete, ...open);
    }

    function row({ tokens, logProbability }, write, { kind, place, numbers }) {
      const cells = [show(logProbability, 2), tokens.length, ...numbers];
      return element(
        "tr",
        { class: kind },
        element("td", { class: "place" }, String(place)),
        element("th", { scope: "row", lang: "fr" }, write(tokens) || "(nothing)"),
        ...cells.map((cell, column) => element("td", { class: `number ${KINDS[column]}` }, String(cell))),
      );
    }

    return { whole, draw };
  };
})((globalThis.glassformer ??= {}));
