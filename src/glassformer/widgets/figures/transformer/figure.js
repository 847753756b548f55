// The encoder-decoder as a diagram of boxes, with the shapes for the reader's own sentence.
(function (glassformer) {
  const { total, inWords, show } = glassformer.counting;
  const ROLES = { Q: "query", K: "key", V: "value" };

  /** Split at spaces and after French elisions, like `split_words` in the package. */
  glassformer.splitWords = function (text) {
    const apart = text.replaceAll("’", "'").replace(/(?<![\p{L}\p{N}_])(l|n|qu)'/giu, "$1' ");
    return apart.split(/\s+/u).filter(Boolean);
  };

  let groups = 0;

  function start(stage, { source, target, models, maxWords }) {
    const { element, set, choice, summary } = glassformer;
    const words = glassformer.splitWords;
    const state = { source: words(source), target: words(target), model: Object.keys(models)[0] };
    let all, radios, drawn;

    // ---- Controls ----

    const [reads, writes] = [
      ["Source sentence", source],
      ["Target, after <start>", target],
    ].map(([label, value]) => {
      const field = element("input", {
        type: "text",
        value,
        maxlength: 1000,
        autocomplete: "off",
        spellcheck: "false",
        dir: "auto",
      });
      field.addEventListener("input", read);
      const note = element("p", { class: "note" });
      const whole = element("div", { class: "field" }, element("label", {}, label, field), note);
      return { field, note, whole };
    });
    const size = choice({
      label: "model",
      options: Object.keys(models),
      value: state.model,
      onInput: (name) => {
        const kept = all.boxes[state.step];
        state.model = name;
        rebuild(sameAs(kept));
      },
    });

    const totals = element("p");
    const steps = element("fieldset", { class: "steps" });
    const drawing = element("svg", { role: "group", "aria-label": "Diagram, from the inputs upwards" });
    const title = element("p", { class: "title" });
    const how = element("p", { class: "how" });
    const facts = element("div", { class: "numbers" });
    const { parts, say } = summary();

    stage.append(
      element("div", { class: "sentences" }, reads.whole, writes.whole),
      element(
        "div",
        { class: "controls" },
        element("div", { class: "control" }, size.label, size.input),
        element(
          "div",
          { class: "totals" },
          totals,
          element("p", {}, "three dimensions: (heads, tokens, width)"),
        ),
      ),
      steps,
      element("div", { class: "flow" }, drawing, element("div", { class: "box" }, title, how, facts)),
      ...parts,
    );

    function read() {
      const typed = [reads, writes].map(({ field }) => words(field.value));
      state.isEmpty = typed[0].length === 0;
      if (state.isEmpty) typed[0] = words(source);
      [state.source, state.target] = typed.map((list) => list.slice(0, maxWords));
      state.limit = typed.some((list) => list.length > maxWords);
      noteLengths(typed);
      rebuild();
    }

    /** Note the number of words below each field, or the default for an empty one. */
    function noteLengths([read, given]) {
      const taken = (list) =>
        list.length > maxWords
          ? `Only the first ${maxWords} words are used.`
          : `${list.length} ${list.length === 1 ? "word" : "words"}`;
      reads.note.textContent = state.isEmpty ? "Empty: the default sentence is shown." : taken(read);
      writes.note.textContent = given.length > 0 ? taken(given) : "Empty: only <start> is used.";
    }

    /** Match the corresponding box of another model, which may combine addition and norm. */
    function sameAs(kept) {
      const job = ({ kind, stack, sublayer }) =>
        [stack, sublayer, kind.replace(/^(norm|add)$/, "add & norm")].join();
      return (box) => job(box) === job(kept);
    }

    // ---- Steps and boxes ----

    function rebuild(isLit = (_, place) => place === state.step) {
      const [source, target] = [state.source.length, state.target.length + 1];
      all = glassformer.countTransformer({ model: models[state.model], source, target });
      const found = all.boxes.findIndex(isLit);
      state.step = found < 0 ? Math.min(state.step, all.boxes.length - 1) : found;
      buildSteps();
      buildDrawing();
      totals.textContent = `${show(all.parameters)} parameters, ${show(all.multiplications)} multiplications`;
      draw();
    }

    function buildSteps() {
      const name = `transformer-step-${(groups += 1)}`;
      radios = all.boxes.map((box, place) => {
        const input = element("input", {
          type: "radio",
          name,
          class: "heard",
          "aria-label": nameOf(box, place),
        });
        input.addEventListener("input", () => visit(place));
        return input;
      });
      steps.replaceChildren(
        element("legend", { class: "heard" }, "Step"),
        ...radios.map((input, place) =>
          element("label", {}, input, element("span", { "aria-hidden": "true" }, String(place + 1))),
        ),
      );
    }

    function buildDrawing() {
      const { width, height, places, frames, paths } = glassformer.layOutTransformer(all.boxes);
      set(drawing, { viewBox: `0 0 ${width} ${height}` });
      const lines = paths.map((path) => ({ to: path.to, shape: line(path) }));
      const boxes = places.map((place, index) => boxOf(all.boxes[index], place, index));
      drawing.replaceChildren(
        ...frames.flatMap((frame) => [
          element("rect", { ...area(frame), rx: 10, class: "frame" }),
          element("text", { x: frame.x + 4, y: frame.y - 5, class: "times" }, `${frame.layers} ×`),
        ]),
        ...lines.map(({ shape }) => shape),
        ...boxes,
      );
      drawn = { lines, boxes };
    }

    function line({ points, role = "", isOpen }) {
      const whole = element(
        "g",
        { class: `path ${role}` },
        element("polyline", { points: points.join(" ") }),
      );
      if (!isOpen) whole.append(element("polygon", { points: head(points).join(" ") }));
      return whole;
    }

    /** Compute the corners of an arrowhead. */
    function head(points) {
      const [[x, y], [fromX, fromY]] = [points.at(-1), points.at(-2)];
      const [across, up] = [Math.sign(x - fromX), Math.sign(y - fromY)];
      const [backX, backY] = [x - 6 * across, y - 6 * up];
      return [
        [x, y],
        [backX + 3.5 * up, backY + 3.5 * across],
        [backX - 3.5 * up, backY - 3.5 * across],
      ];
    }

    function boxOf(box, place, index) {
      const text = element(
        "text",
        { x: place.x + place.width / 2, y: place.y + place.height / 2 + 4, "text-anchor": "middle" },
        labelOf(box),
      );
      const made = element(
        "g",
        { class: "part", role: "button", "aria-label": nameOf(box, index) },
        element("rect", { ...area(place), rx: 6 }),
        text,
      );
      made.addEventListener("click", () => visit(index));
      return made;
    }

    const area = ({ x, y, width, height }) => ({ x, y, width, height });
    const labelOf = ({ kind, gives: [, shape] }) =>
      kind.endsWith("ids") || kind === "memory"
        ? `${kind} ${inBrackets(shape)}`
        : kind.replace("embedding", "embedding, position");
    const nameOf = ({ kind, stack }, place) => `${place + 1}: ${kind}, ${stack}`;
    const inBrackets = (shape) => `(${shape.map(show).join(", ")})`;

    drawing.addEventListener("keydown", (event) => {
      const last = all.boxes.length - 1;
      const moves = {
        ArrowUp: state.step + 1,
        ArrowRight: state.step + 1,
        ArrowDown: state.step - 1,
        ArrowLeft: state.step - 1,
        Home: 0,
        End: last,
      };
      const move = moves[event.key];
      if (move === undefined) return;
      event.preventDefault();
      visit(Math.max(0, Math.min(last, move)));
      drawn.boxes[state.step].focus();
    });

    function visit(step) {
      state.step = step;
      draw();
    }

    // ---- The selected box ----

    function draw() {
      const box = all.boxes[state.step];
      radios[state.step].checked = true;
      drawn.boxes.forEach((made, place) => {
        const isLit = place === state.step;
        set(made, { tabindex: isLit ? 0 : -1, "aria-pressed": String(isLit) });
      });
      for (const { to, shape } of drawn.lines) shape.classList.toggle("lit", to === state.step);
      title.replaceChildren(`${state.step + 1}. ${box.kind}`, element("span", {}, whereabouts(box)));
      how.textContent = box.how + tokensOf(box);
      facts.replaceChildren(
        element("table", { class: "facts" }, element("tbody", {}, ...flow(box))),
        costs(box),
      );
      say(describe(box));
    }

    function whereabouts({ stack, layers, sublayer }) {
      return sublayer === undefined ? stack : `in each of ${layers} ${stack} layers`;
    }

    /** List the reader's words as tokens. */
    function tokensOf({ kind }) {
      const tokens = { "source ids": state.source, "target ids": ["<start>", ...state.target] }[kind];
      if (!tokens) return "";
      const brief = (token) => (token.length > 16 ? `${token.slice(0, 15)}…` : token);
      const whose = state.isEmpty && kind === "source ids" ? "Default" : "Yours";
      return ` ${whose}: ${tokens.slice(0, 12).map(brief).join(" · ")}${tokens.length > 12 ? " · …" : ""}`;
    }

    function flow({ takes, inside, gives }) {
      return [
        ...takes.map(([what, shape], place) => fact(place ? "and" : "in", what, inBrackets(shape))),
        ...inside.map(([name, what, shape]) => fact(name, what, inBrackets(shape), ROLES[name])),
        fact("out", gives[0], inBrackets(gives[1])),
      ];
    }

    /** Show parameters and multiplications in all layers, with their formulas. */
    function costs({ layers, parameters, shared, multiplications }) {
      const sum = (products) => (layers > 1 ? `${layers} × (${inWords(products)})` : inWords(products));
      const rows = (name, products, none) => [
        fact(name, [], show(layers * total(products)), "count"),
        element("tr", {}, element("td", { colspan: 3 }, products.length > 0 ? sum(products) : none)),
      ];
      return element(
        "table",
        { class: "facts costs" },
        element(
          "tbody",
          {},
          ...rows("parameters", parameters, shared ? `shared: ${shared}` : "no parameters"),
          ...rows("multiplications", multiplications, "no matrix products"),
        ),
      );
    }

    function fact(name, what, number, kind = "") {
      return element(
        "tr",
        { class: kind },
        element("th", { scope: "row" }, name),
        element("td", {}, ...[what].flat()),
        element("td", { class: "number" }, number),
      );
    }

    function describe(box) {
      const shapes = box.takes.map(([, shape]) => inBrackets(shape)).join(" and ");
      const share = (box.layers * total(box.parameters)) / all.parameters;
      const limit = state.limit ? `Only the first ${maxWords} words are used. ` : "";
      const empty = state.isEmpty ? "The source field is empty; the default sentence is shown. " : "";
      return (
        `${empty}${limit}Step ${state.step + 1} of ${all.boxes.length}, ${box.kind}, ${whereabouts(box)}: ` +
        `${shapes} in, ${inBrackets(box.gives[1])} out; ${shareInWords(share)}.`
      );
    }

    function shareInWords(share) {
      if (share === 0) return "no parameters of its own";
      return `${share < 0.01 ? "less than 1" : Math.round(100 * share)}% of all parameters`;
    }

    noteLengths([state.source, state.target]);
    rebuild(({ kind }) => kind === "cross-attention"); // the default selection
  }

  (glassformer.figures ??= []).push(["transformer", start]);
})((globalThis.glassformer ??= {}));
