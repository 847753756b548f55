// Multi-head attention: split into heads, attend, merge, and the effect of switching heads off.
(function (glassformer) {
  const { dot, product, softmax } = glassformer.matrices;

  /** Compute multi-head attention. A head that is off outputs zeros; its weights are still computed. */
  glassformer.computeHeads = function ({ x, weights: matrices, numHeads, on }) {
    const [query, key, value] = ["query", "key", "value"].map((role) => product(x, matrices[role]));
    const width = matrices.output.length / numHeads;
    const heads = Array.from({ length: numHeads }, (_, head) => {
      const piece = (rows) => rows.map((row) => row.slice(head * width, (head + 1) * width));
      const maps = piece(query).map((asking) =>
        softmax(piece(key).map((asked) => dot(asking, asked) / Math.sqrt(width))),
      );
      const attended = product(maps, piece(value)).map((row) => row.map((each) => (on[head] ? each : 0)));
      const block = matrices.output.slice(head * width, (head + 1) * width);
      return { weights: maps, value: piece(value), attended, contribution: product(attended, block) };
    });
    const merged = x.map((_, row) => heads.flatMap(({ attended }) => attended[row]));
    return { query, key, value, heads, merged, output: product(merged, matrices.output) };
  };

  const show = (number) => glassformer.show(number, 2);
  const brief = (number) => show(number).replace(/\.?0+$/, "");

  function start(stage, { words, x, weights, headCounts, numHeads, follow }) {
    const { element, set, choice, toggle, summary, prediction } = glassformer;
    const width = weights.output.length;
    const state = { x, weights, numHeads, on: Array(numHeads).fill(true), follow };
    const headOf = (number) => Math.floor((number * state.numHeads) / width);

    const count = choice({
      label: "heads",
      options: headCounts.map(String),
      value: String(numHeads),
      onInput: (chosen) => {
        Object.assign(state, { numHeads: Number(chosen), on: Array(Number(chosen)).fill(true) });
        rebuild();
      },
    });
    const followed = choice({
      label: "follow",
      options: words,
      value: follow,
      onInput: (word) => {
        state.follow = word;
        draw();
      },
    });

    const split = element("table", { class: "blocks" });
    const side = element("div", { class: "heads" });
    const merge = element("table", { class: "blocks" });
    const matrices = element("div", { class: "matrices" });
    const { parts, say } = summary();
    let cards = [];

    stage.append(
      prediction({
        question: "The same matrices, first as one head, then split into two. What changes for a word?",
        answers: ["Its query, key and value", "Its weights", "All of these"],
        right: 1,
        because: "The eight numbers are split, not recomputed; but each part is compared separately.",
      }),
      element(
        "div",
        { class: "controls" },
        ...[count, followed].map(({ label, input }) => element("div", { class: "control" }, label, input)),
      ),
      split,
      side,
      merge,
      ...parts,
      element(
        "details",
        {},
        element("summary", {}, "All queries, keys and values, and W", sub("O")),
        matrices,
      ),
    );

    function rebuild() {
      cards = state.on.map((_, head) => card(head));
      side.replaceChildren(...cards.map(({ whole }) => whole));
      set(side, { "data-heads": state.numHeads, "--heads": state.numHeads });
      draw();
    }

    /** Make a head: its switch, its map and its output for the selected word. */
    function card(head) {
      const map = element("table", { class: "map", "aria-hidden": "true" });
      const attendedTable = element("table", { class: "attended" });
      const power = toggle({
        label: `head ${head}`,
        value: true,
        onInput: (isOn) => {
          state.on[head] = isOn;
          draw();
        },
      });
      const whole = element("div", { class: `attention head-${head}` }, power, map, attendedTable);
      return { whole, map, attendedTable };
    }

    // ---- Drawing ----

    function draw() {
      const all = glassformer.computeHeads(state);
      const row = words.indexOf(state.follow);
      const colours = (number) => `head-${headOf(number)}`;
      split.replaceChildren(
        element("caption", {}, `The query of “${state.follow}”, split into ${pieces(state.numHeads)}`),
        element("tbody", {}, line("q", all.query[row], colours, { write: brief })),
      );
      cards.forEach(({ whole, map, attendedTable }, head) => {
        whole.classList.toggle("off", !state.on[head]);
        map.replaceChildren(...drawMap(all.heads[head].weights, row));
        attendedTable.replaceChildren(...drawAttended(all.heads[head], row));
      });
      merge.replaceChildren(
        element(
          "caption",
          {},
          "Merged; then each head’s output times its own rows of W",
          sub("O"),
          ", summed",
        ),
        element(
          "tbody",
          {},
          line("merged", all.merged[row], colours),
          ...all.heads.map(({ contribution }, head) =>
            line(`head ${head}`, contribution[row], () => `head-${head}`, {
              kind: state.on[head] ? "part" : "part off",
            }),
          ),
          line("output", all.output[row], () => "total", { kind: "total" }),
        ),
      );
      drawMatrices(all, colours);
      say(describe(all, row));
    }

    function sub(letter) {
      return element("sub", {}, letter);
    }

    function pieces(number) {
      return number === 1 ? "one head" : `${number} heads of ${width / number}`;
    }

    function line(name, numbers, colour, { kind = "", write = show } = {}) {
      return element(
        "tr",
        { class: kind },
        element("th", { scope: "row" }, name),
        ...numbers.map((each, place) => element("td", { class: `number ${colour(place)}` }, write(each))),
      );
    }

    function drawMap(map, followedRow) {
      const head = element(
        "tr",
        {},
        element("td"),
        ...words.map((word) => element("th", {}, element("span", {}, word))),
      );
      const rows = map.map((row, place) =>
        element(
          "tr",
          place === followedRow ? { class: "picked" } : {},
          element("th", {}, words[place]),
          ...row.map((weight) => element("td", { "--strength": weight })),
        ),
      );
      return [element("thead", {}, head), element("tbody", {}, ...rows)];
    }

    function drawAttended({ weights: map, value, attended }, row) {
      const size = attended[row].length;
      return [
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("th", { scope: "col", class: "number", colspan: 2 }, "weight"),
            element("th", { scope: "colgroup", class: "value", colspan: size }, "v"),
          ),
        ),
        element(
          "tbody",
          {},
          ...words.map((word, place) =>
            element(
              "tr",
              {},
              element("th", { scope: "row" }, word),
              element("td", { class: "number weight" }, show(map[row][place])),
              ...value[place].map((each) => element("td", { class: "number" }, brief(each))),
            ),
          ),
        ),
        element(
          "tfoot",
          {},
          element(
            "tr",
            {},
            element("th", { scope: "row", colspan: 2 }, "sum"),
            ...attended[row].map((each) => element("td", { class: "number" }, show(each))),
          ),
        ),
      ];
    }

    function drawMatrices(all, colours) {
      const tables = [
        [["Queries"], all.query, words, colours],
        [["Keys"], all.key, words, colours],
        [["Values"], all.value, words, colours],
        [["W", sub("O")], weights.output, weights.output.map((_, place) => `row ${place}`), null],
      ];
      matrices.replaceChildren(
        ...tables.map(([name, rows, names, colour]) =>
          element(
            "table",
            { class: "blocks" },
            element("caption", {}, ...name),
            element(
              "tbody",
              {},
              ...rows.map((row, place) =>
                line(names[place], row, colour ?? (() => colours(place)), { write: brief }),
              ),
            ),
          ),
        ),
      );
    }

    function describe({ heads, output }, row) {
      const targets = heads.map(({ weights: map }, head) => `head ${head} ${largestWeights(map[row])}`).join(", ");
      const off = state.on.flatMap((isOn, head) => (isOn ? [] : [head]));
      const seen = `“${state.follow}”: ${targets}.`;
      if (off.length === 0) return seen;
      const whole = glassformer.computeHeads({ ...state, on: state.on.map(() => true) }).output[row];
      const lost = Math.hypot(...whole.map((each, place) => each - output[row][place]));
      const names = `head${off.length > 1 ? "s" : ""} ${off.join(" and ")}`;
      const length = Math.hypot(...whole);
      return `${seen} Without ${names} its output changes by ${show(lost)}; its norm was ${show(length)}.`;
    }

    function largestWeights(row) {
      const best = Math.max(...row);
      const found = words.filter((_, place) => row[place] > best - 1e-9);
      if (found.length === words.length) return "attends to all words equally";
      const names = found.map((word) => `“${word}”`).join(" and ");
      return `attends most to ${names}, ${show(best)}${found.length > 1 ? " each" : ""}`;
    }

    rebuild();
  }

  (glassformer.figures ??= []).push(["heads", start]);
})((globalThis.glassformer ??= {}));
