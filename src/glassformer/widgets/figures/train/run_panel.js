// One of the two runs: its numbers, its translation of the example, and its cross-attention.
(function (glassformer) {
  const MOST_WORDS = 12; // of a translation, which does not always end

  /** Make the panel; `draw(title, run)` takes a run as in run_state.js, or null. */
  glassformer.trainFigure.runPanel = function (kind) {
    const { element, show } = glassformer;
    const { EXAMPLE, translate } = glassformer.sentences;
    const source = EXAMPLE.split(" ");
    const reference = translate(source);
    const heading = element("p", { class: "heading" });
    const numbers = element("p", { class: "numbers" });
    const french = element("p", { class: "french", lang: "fr" });
    const map = attentionMap(source, [...reference.map(({ word }) => word), "<end>"]);
    const aligned = element("p", { class: "note" });
    let shown = null;
    const whole = element("div", { class: `run ${kind}` }, heading, numbers, french, map.whole, aligned);

    function draw(title, run) {
      heading.textContent = title;
      const loss = run?.losses.at(-1)?.[1];
      const share = run?.look ? `${Math.round(100 * run.look.exactMatch)}%` : "–";
      const speed = run?.tokens ? Math.round(run.tokens / run.seconds).toLocaleString("en") : "–";
      numbers.replaceChildren(
        ...number("loss", loss === undefined ? "–" : show(loss, loss < 0.1 ? 4 : 2)),
        ...number("unseen right", share),
        ...number("seconds", run ? run.seconds.toFixed(1) : "–"),
        ...number("tokens/s", speed),
      );
      if (run?.look !== shown) drawLook(run?.look);
    }

    function drawLook(look) {
      shown = look;
      french.replaceChildren(...(look ? marked(look.translation) : ["–"]));
      map.draw(look?.map);
      aligned.textContent = look ? countAligned(look.map) : "";
    }

    const number = (name, value) => [
      element("span", {}, `${name} `, element("output", {}, value)),
      " ",
    ];

    /** Mark the words that are not in the same place of the reference. */
    function marked(words) {
      const shown = words.slice(0, MOST_WORDS);
      const isRight = (word, place) => word === reference[place]?.word;
      const parts = shown.flatMap((word, place) => [
        isRight(word, place) ? word : element("mark", {}, word),
        word.endsWith("'") ? "" : " ",
      ]);
      return words.length > MOST_WORDS ? [...parts, "…"] : parts;
    }

    function countAligned(rows) {
      const translated = reference.map(({ from }, place) => ({ from, place })).filter(({ from }) => from !== null);
      const right = translated.filter(({ from, place }) => rows[place].indexOf(Math.max(...rows[place])) === from);
      return (
        `${right.length} of ${translated.length} nouns, adjectives and verbs attend most to the word that they ` +
        "translate."
      );
    }

    return { whole, draw };
  };

  /** Make a map with a row for each French word and a column for each English word. */
  function attentionMap(columns, rows) {
    const { element, set } = glassformer;
    const cells = rows.map(() => columns.map(() => element("td", { "--strength": 0 })));
    const head = columns.map((word) => element("th", {}, element("span", {}, word)));
    const whole = element(
      "table",
      { class: "map", "aria-hidden": "true" },
      element("thead", {}, element("tr", {}, element("td"), ...head)),
      element(
        "tbody",
        {},
        ...rows.map((word, place) => element("tr", {}, element("th", { lang: "fr" }, word), ...cells[place])),
      ),
    );
    const draw = (weights) =>
      cells.forEach((row, place) =>
        row.forEach((cell, column) => set(cell, { "--strength": Math.sqrt(weights?.[place][column] ?? 0).toFixed(2) })),
      );
    return { whole, draw };
  }
})((globalThis.glassformer ??= {}));
