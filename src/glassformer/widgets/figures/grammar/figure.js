// A small translator of grammar sentences in the page, with an attention map for each head.
(function (glassformer) {
  const KINDS = [
    {
      name: "encoder",
      start: "encoder",
      queries: "source",
      keys: "source",
      note: "English to English",
      verb: "is a source word",
    },
    {
      name: "cross",
      end: "cross_attention",
      queries: "target",
      keys: "source",
      note: "French to English",
      verb: "is the next target word",
    },
    {
      name: "self",
      start: "decoder",
      end: "self_attention",
      queries: "target",
      keys: "given",
      note: "French to French",
      verb: "is the next target word",
    },
  ];

  const ARTICLES = ["the", "le", "la", "l'"];

  /** Distinguish articles by their nouns: "the (street)". */
  const distinguish = (words) =>
    words.map((word, place) =>
      ARTICLES.includes(word) && words[place + 1] ? `${word} (${words[place + 1]})` : word,
    );

  /** Compute the colour strength of a weight; the square root separates small weights. */
  const strength = (weight) => Math.sqrt(weight);
  const percent = (weight) => String(Math.round(100 * weight));
  let figures = 0;

  function start(stage, { config, weights, english, french, start: first, ...lexicon }) {
    const { element, set, show, summary, prediction, PRONOUNS } = glassformer;
    const model = glassformer.unpackModel(config, weights);
    const { whole: sentence, chosen } = glassformer.sentenceComposer(lexicon, first, translate);
    const radios = `glass-grammar-${(figures += 1)}`;
    const heads = model.attentionNames.flatMap((name) =>
      Array.from({ length: config.num_heads }, (_, head) => makeHead(name, head)),
    );
    let shown = heads.findLast(({ kind, head }) => kind.name === "encoder" && head === 0);
    let picked = null; // the selected row; by default that of the pronoun
    let [now, before] = [null, null];

    const answer = element("p", { class: "french", lang: "fr" });
    const former = element("p", { class: "former" });
    const meant = element("p");
    const chances = element("table", { class: "chances" });
    const large = element("table", { class: "map" });
    large.addEventListener("click", (event) => {
      const line = event.target.closest("tbody tr");
      if (line) pick(line.sectionRowIndex);
    });
    const row = element("select", { "aria-label": "row" });
    row.addEventListener("input", () => pick(row.selectedIndex));
    const { parts, say } = summary();

    stage.append(
      prediction({
        question:
          "In a benchmark, sixteen such translators were trained. How many of the 64 heads in their second " +
          "encoder layers attend from “it” more to its referent than to the other noun in over 55 of 100 sentences?",
        answers: ["All of them", "One or two", "None"],
        right: 2,
        because: "The best of the 64 heads does so in 52 of 100 sentences. Chance is 50.",
      }),
      sentence,
      element("div", { class: "answer" }, element("div", {}, answer, former), chances),
      element(
        "div",
        { class: "halves" },
        element("div", { class: "kinds", role: "radiogroup", "aria-label": "Map" }, ...KINDS.map(group)),
        element(
          "div",
          { class: "one" },
          large,
          element("p", { class: "numbers" }, "row in numbers: ", row),
          meant,
        ),
      ),
      ...parts,
    );
    translate();

    // ---- Controls ----

    /** Make a small map that can be enlarged; arrow keys move between the maps. */
    function makeHead(name, head) {
      const kind = KINDS.find(({ start = "", end = "" }) => name.startsWith(start) && name.endsWith(end));
      const layer = 1 + Number(name.split(".")[2]);
      const title = `${kind.name} ${layer}, head ${head + 1}`;
      const canvas = element("canvas", { "aria-hidden": "true" });
      const stripe = element("span", { class: "stripe" });
      const columns = ["other", "meant"].map((noun) => element("span", { class: `column ${noun}` }));
      const input = element("input", { type: "radio", name: radios, "aria-label": title });
      const thumb = element("span", { class: "thumb" }, canvas, ...columns, stripe);
      const whole = element("label", { class: "head" }, input, thumb);
      const made = { name, head, kind, layer, title, canvas, columns, stripe, input, whole };
      input.addEventListener("input", () => {
        if (made.kind !== shown.kind) picked = null;
        shown = made;
        draw();
      });
      return made;
    }

    function group(kind) {
      const own = heads.filter((head) => head.kind === kind);
      const layers = [...new Set(own.map(({ layer }) => layer))];
      return element(
        "div",
        { class: "kind", "--heads": config.num_heads },
        element("p", {}, element("strong", {}, kind.name), ` ${kind.note}`),
        ...layers.map((layer) =>
          element(
            "div",
            { class: "layer" },
            element("span", {}, String(layer)),
            ...own.filter((head) => head.layer === layer).map(({ whole }) => whole),
          ),
        ),
      );
    }

    // ---- Drawing ----

    function translate() {
      before = now;
      now = glassformer.translateAndInspect(model, english, french, glassformer.composeSentence(chosen));
      if (before && !isComparable()) picked = null;
      draw();
    }

    function pick(place) {
      picked = place;
      draw();
    }

    /** Say whether the maps of both sentences have the same rows and columns. */
    function isComparable() {
      return before?.source.length === now.source.length && before.target.length === now.target.length;
    }

    /** Return the referent of "it" and the other noun. */
    function nouns() {
      const { subject, object, adjective } = chosen;
      return adjective.describes === "animal" ? [subject, object] : [object, subject];
    }

    /** Find the column of a noun in a map, or -1. */
    function columnOf(noun, { keys }) {
      return now[keys].indexOf(noun[keys === "source" ? "english" : "french"]);
    }

    function meantColumn() {
      return columnOf(nouns()[0], shown.kind);
    }

    function pickedRow() {
      return picked ?? Math.max(0, now.places[shown.kind.queries]);
    }

    function draw() {
      drawAnswer();
      for (const head of heads) drawSmall(head);
      drawLarge();
      say(describe());
    }

    function drawAnswer() {
      const words = wordsOf(now);
      const changed = glassformer.changedWords(words, before ? wordsOf(before) : words);
      answer.replaceChildren(
        ...words.flatMap((word, place) => {
          const marks = [place === now.places.target && "pronoun", changed[place] && "changed"];
          const gap = word.endsWith("'") ? "" : " ";
          return [element("span", { class: marks.filter(Boolean).join(" ") }, word), gap];
        }),
      );
      former.replaceChildren(
        ...(before
          ? ["before: ", element("span", { lang: "fr" }, join(wordsOf(before)))]
          : ["Change a word above: differences will be underlined."]),
      );
      const [own, other] = nouns();
      meant.replaceChildren(
        "Blue: the referent of “it”, ",
        ...withGender(own),
        "; grey: ",
        ...withGender(other),
        ". Colours show √weight.",
      );
      chances.replaceChildren(
        element(
          "thead",
          {},
          element("tr", {}, heading("pronoun"), heading("probability", { colspan: 2 }), heading("before")),
        ),
        element("tbody", {}, ...PRONOUNS.map(chance)),
      );
    }

    function withGender({ french, gender }) {
      return [element("span", { lang: "fr" }, french), ` (${gender})`];
    }

    function heading(name, attributes = {}) {
      return element("th", { scope: "col", ...attributes }, name);
    }

    function chance(word, place) {
      return element(
        "tr",
        word === now.target[now.places.target] ? { class: "written" } : {},
        element("th", { scope: "row", lang: "fr" }, word),
        element("td", { class: "number" }, show(now.probabilities[place], 4)),
        element("td", { class: "bar", "--share": now.probabilities[place] }, element("span")),
        element("td", { class: "number" }, before ? show(before.probabilities[place], 4) : "–"),
      );
    }

    function drawSmall({ name, head, kind, canvas, columns, stripe, input, whole }) {
      const map = now.maps[name][head];
      glassformer.paintMap(
        canvas,
        map.map((weights) => Array.from(weights, strength)),
      );
      const [own, other] = nouns().map((noun) => columnOf(noun, kind));
      [other, own].forEach((column, place) => {
        set(columns[place], { "--column": column, "--columns": map[0].length });
        columns[place].hidden = column < 0;
      });
      set(whole, { "--rows": map.length });
      set(stripe, { "--place": now.places[kind.queries] });
      stripe.hidden = now.places[kind.queries] < 0;
      input.checked = shown.input === input;
    }

    function drawLarge() {
      const { name, head, kind, title } = shown;
      const [map, queries, keys] = [now.maps[name][head], now[kind.queries], now[kind.keys]];
      const place = pickedRow();
      const earlier = isComparable() ? before.maps[name][head][place] : null;
      const mark = (column) => (column === meantColumn() ? { class: "meant" } : {});
      const numbers = (label, weights) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, label),
          ...keys.map((_, column) =>
            element("td", mark(column), weights ? percent(weights[column]) : "–"),
          ),
        );
      set(large, { "--rows": queries.length });
      large.replaceChildren(
        element("caption", {}, element("strong", {}, title), `: each row ${kind.verb}`),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("td"),
            ...keys.map((word, column) =>
              element("th", { scope: "col", ...mark(column) }, element("span", {}, word)),
            ),
          ),
        ),
        element(
          "tbody",
          { "aria-hidden": "true" },
          ...queries.map((word, number) =>
            element(
              "tr",
              number === place ? { class: "picked" } : {},
              element("th", {}, word),
              ...Array.from(map[number], (weight) => element("td", { "--strength": strength(weight) })),
            ),
          ),
        ),
        element("tfoot", {}, numbers("in %", map[place]), numbers("before", earlier)),
      );
      row.replaceChildren(...distinguish(queries).map((word) => element("option", {}, word)));
      row.selectedIndex = place;
    }

    function rightPronoun() {
      return nouns()[0].gender === "masculine" ? "il" : "elle";
    }

    function describe() {
      const { name, head, kind, title } = shown;
      const place = pickedRow();
      const weights = now.maps[name][head][place];
      const best = weights.indexOf(Math.max(...weights));
      const [queries, keys] = [now[kind.queries], now[kind.keys]].map(distinguish);
      const looks = `“${queries[place]}” attends most to “${keys[best]}”, ${percent(weights[best])}%`;
      const noun = meantColumn();
      const meanwhile = [-1, best].includes(noun) ? "" : `, to “${keys[noun]}” ${percent(weights[noun])}%`;
      return `“It” becomes ${pronoun()}; ${title}: ${looks}${meanwhile}.`;
    }

    function pronoun() {
      const written = now.target[now.places.target];
      if (!written) return "no pronoun";
      const verdict = written === rightPronoun() ? "right" : "wrong";
      const probability = show(now.probabilities[PRONOUNS.indexOf(written)], 4);
      return `“${written}”, which is ${verdict}, with probability ${probability}`;
    }
  }

  function wordsOf({ target }) {
    return target.filter((word) => word !== "<end>");
  }

  function join(words) {
    return words.join(" ").replaceAll("' ", "'");
  }

  (glassformer.figures ??= []).push(["grammar", start]);
})((globalThis.glassformer ??= {}));
