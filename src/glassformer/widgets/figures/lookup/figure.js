// A movable query among keys in the plane, with its scores, weights and output.
(function (glassformer) {
  const HALF = 160; // the plane is drawn from -HALF to HALF
  const STEP = 0.1; // of arrow keys and of coordinates
  const BANDS = 8;

  /** Compute a look-up. A hard one returns the value of the best key, the first one if several are equal. */
  glassformer.computeLookup = function ({ query, key, value, hard }) {
    const { dot, sum } = glassformer.matrices;
    const scores = key.map((each) => dot(each, query));
    const best = Math.max(...scores);
    const shares = scores.map(hard ? winner(scores.indexOf(best)) : (score) => Math.exp(score - best));
    const total = sum(shares);
    const weights = shares.map((share) => share / total);
    return { scores, weights, attended: dot(weights, value) };
  };

  function winner(best) {
    return (_, place) => (place === best ? 1 : 0);
  }

  function start(stage, data) {
    const { element, toggle, summary, prediction } = glassformer;
    const state = { query: data.query, hard: false };
    const changed = (change) => {
      Object.assign(state, change);
      draw();
    };
    const plane = makePlane(data, (query) => changed({ query }));
    const scale = makeScale(data);
    const table = makeTable(data);
    const sum = element("p", { class: "sum" });
    const { parts, say } = summary();
    stage.append(
      prediction({
        question: "What is the output for a query at the origin?",
        answers: ["Nothing", `The value of “${data.words[0]}”`, "The mean of all values"],
        right: 2,
        because: "Each score is 0 there, so all keys get the same weight. Try it.",
      }),
      element(
        "div",
        { class: "lookup" },
        element("div", { class: "seen" }, plane.drawing, scale.drawing),
        element(
          "div",
          { class: "counted" },
          toggle({ label: "hard: the best key alone", value: false, onInput: (hard) => changed({ hard }) }),
          table.table,
          sum,
        ),
      ),
      ...parts,
    );

    function draw() {
      const numbers = glassformer.computeLookup({ ...data, ...state });
      plane.draw(state, numbers);
      scale.draw(numbers);
      table.draw(numbers);
      sum.textContent = inFull(data, numbers);
      say(describe(data, state, numbers));
    }

    draw();
  }

  // ---- The plane ----

  function makePlane({ key, value, words, asker, unit, reach }, move) {
    const { element, set, show } = glassformer;
    const across = (number) => (number / reach) * HALF;
    const up = (number) => (-number / reach) * HALF;
    const shade = element("g", { class: "shade" });
    const arrow = element("line", { class: "query arrow", x1: 0, y1: 0 });
    const handle = element(
      "g",
      {
        class: "handle",
        tabindex: 0,
        role: "slider",
        "aria-label": `query of “${asker}”`,
        "aria-valuemin": -reach,
        "aria-valuemax": reach,
      },
      element("circle", { class: "touch", r: 24 }),
      element("circle", { class: "grip", r: 11 }),
      element("text", { y: 4, "text-anchor": "middle" }, asker),
    );
    const square = `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`;
    const drawing = element(
      "svg",
      { viewBox: square, role: "group", "aria-label": "Keys and the query" },
      shade,
      element("path", { class: "axes", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` }),
      ...key.map(([x, y]) => element("path", { class: "key arrow", d: arrowTo(across(x), up(y)) })),
      arrow,
      ...key.map(([x, y], place) => name(across(x), up(y), words[place], `${plain(value[place])} ${unit}`)),
      handle,
    );
    let query;
    let hard;

    function moveTo(x, y) {
      const inside = (number) => Math.round(Math.max(-reach, Math.min(reach, number)) / STEP) * STEP;
      const tidy = (number) => Number(inside(number).toFixed(1));
      move([tidy(x), tidy(y)]);
    }

    function moveToPointer({ clientX, clientY }) {
      const { left, top, width, height } = drawing.getBoundingClientRect();
      moveTo(((clientX - left) / width - 0.5) * 2 * reach, (0.5 - (clientY - top) / height) * 2 * reach);
    }

    drawing.addEventListener("click", moveToPointer);
    handle.addEventListener("pointerdown", ({ pointerId }) => {
      handle.setPointerCapture(pointerId);
      handle.focus();
    });
    // On the parts of a drawing, browsers ignore the style touch-action, and would scroll the page.
    handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    handle.addEventListener("pointermove", (event) => {
      if (handle.hasPointerCapture(event.pointerId)) moveToPointer(event);
    });
    handle.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      if (!(event.key in steps)) return;
      event.preventDefault();
      const [x, y] = steps[event.key].map((step) => step * STEP * (event.shiftKey ? 5 : 1));
      moveTo(query[0] + x, query[1] + y);
    });

    function draw(state) {
      if (state.hard !== hard) shade.replaceChildren(...bands({ key, value, reach, hard: state.hard }));
      ({ query, hard } = state);
      const [x, y] = [across(query[0]), up(query[1])];
      set(arrow, { x2: x, y2: y });
      set(handle, {
        transform: `translate(${x} ${y})`,
        "aria-valuenow": query[0],
        "aria-valuetext": `${show(query[0], 1)} across, ${show(query[1], 1)} up`,
      });
    }

    return { drawing, draw };
  }

  /** Label a key with its word and value, beside the tip of its arrow. */
  function name(x, y, word, valueText) {
    const { element } = glassformer;
    const anchor = x > HALF / 2 ? "end" : x < -HALF / 2 ? "start" : "middle";
    const first = y > 0 ? y + 17 : y - 22;
    return element(
      "g",
      { class: "name", "text-anchor": anchor },
      element("text", { class: "word", x, y: first }, word),
      element("text", { class: "value-text", x, y: first + 14 }, valueText),
    );
  }

  function arrowTo(x, y) {
    const length = Math.hypot(x, y);
    if (length < 1) return "";
    const [along, aside] = [x / length, y / length];
    const [backX, backY] = [x - 9 * along, y - 9 * aside];
    return `M0 0L${x} ${y}M${backX - 4.5 * aside} ${backY + 4.5 * along}L${x} ${y}L${backX + 4.5 * aside} ${backY - 4.5 * along}`;
  }

  /** Shade the plane by the output for a query at each point, one path per band. */
  function bands({ key, value, reach, hard }) {
    const pixel = 2;
    const paths = Array.from({ length: BANDS + 1 }, () => "");
    for (let top = -HALF; top < HALF; top += pixel) {
      const bandAt = (left) => {
        const query = [left + pixel / 2, -top - pixel / 2].map((number) => (number / HALF) * reach);
        return bandOf(glassformer.computeLookup({ query, key, value, hard }).attended, value);
      };
      let from = -HALF;
      let band = bandAt(from);
      for (let left = from + pixel; left <= HALF; left += pixel) {
        const next = left < HALF ? bandAt(left) : undefined;
        if (next === band) continue;
        paths[band] += `M${from} ${top}H${left}V${top + pixel}H${from}Z`;
        [from, band] = [left, next];
      }
    }
    return paths.map((d, band) => glassformer.element("path", { d, "--level": band / BANDS }));
  }

  function bandOf(attended, value) {
    const [low, high] = [Math.min(...value), Math.max(...value)];
    return Math.round(((attended - low) / (high - low || 1)) * BANDS);
  }

  // ---- Scale of values: weights as circles, the output as their balance point ----

  function makeScale({ value, unit }) {
    const { element, set, show } = glassformer;
    const [low, high] = [Math.min(...value), Math.max(...value)];
    const [from, to] = [24 - HALF, HALF - 24];
    const along = (number) => from + ((number - low) / (high - low || 1)) * (to - from);
    const width = (to - from) / BANDS;
    const weights = value.map((each) => element("circle", { class: "weight", cx: along(each), cy: 24 }));
    const balance = element("path", { class: "balance", d: "M0 34l7 11h-14z" });
    const outcome = element("text", { class: "outcome", y: 59, "text-anchor": "middle" });
    const drawing = element(
      "svg",
      { class: "scale", viewBox: `${-HALF} 0 ${2 * HALF} 64`, "aria-hidden": "true" },
      ...Array.from({ length: BANDS + 1 }, (_, band) => {
        const left = Math.max(from, from + (band - 0.5) * width);
        const right = Math.min(to, from + (band + 0.5) * width);
        return element("rect", { class: "band", x: left, y: 18, width: right - left, height: 12, "--level": band / BANDS });
      }),
      ...weights,
      element("text", { x: from - 14, y: 28, "text-anchor": "end" }, plain(low)),
      element("text", { x: to + 14, y: 28 }, plain(high)),
      balance,
      outcome,
    );

    function draw({ weights: shares, attended }) {
      weights.forEach((circle, place) => set(circle, { r: 12 * Math.sqrt(shares[place]) }));
      set(balance, { transform: `translate(${along(attended)} 0)` });
      set(outcome, { x: along(attended) });
      outcome.textContent = `${show(attended)} ${unit}`;
    }

    return { drawing, draw };
  }

  // ---- The numbers ----

  function makeTable({ key, value, words, unit }) {
    const { element, set, show } = glassformer;
    const rows = words.map((word, place) => {
      const score = element("td", { class: "number" });
      const weight = element("td", { class: "number" });
      const bar = element("td", { class: "bar" }, element("span"));
      const row = element(
        "tr",
        {},
        element("th", { scope: "row" }, word),
        element("td", { class: "number" }, written(key[place])),
        score,
        weight,
        bar,
        element("td", { class: "number" }, plain(value[place])),
      );
      return { row, score, weight, bar };
    });
    const table = element(
      "table",
      {},
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          ...["", "key", "score", "weight", "", unit].map((cell) =>
            cell ? element("th", { scope: "col" }, cell) : element("td"),
          ),
        ),
      ),
      element("tbody", {}, ...rows.map(({ row }) => row)),
    );

    function draw({ scores, weights }) {
      rows.forEach(({ score, weight, bar }, place) => {
        score.textContent = show(scores[place]);
        weight.textContent = show(weights[place], 3);
        set(bar, { "--share": weights[place] });
      });
    }

    return { table, draw };
  }

  function written(place) {
    return `(${place.map(plain).join(", ")})`;
  }

  function plain(number) {
    return glassformer.show(number, Number.isInteger(number) ? 0 : 1);
  }

  function inFull({ value }, { weights, attended }) {
    const { show } = glassformer;
    const terms = weights.map((weight, place) => `${show(weight, 3)} × ${plain(value[place])}`);
    return `${terms.join(" + ")} = ${show(attended)}`;
  }

  function describe({ words, unit }, { query, hard }, { scores, weights, attended }) {
    const { show } = glassformer;
    const best = Math.max(...scores);
    const equals = words.filter((_, place) => best - scores[place] < 1e-9).map((word) => `“${word}”`);
    const subject = `The query ${written(query)}`;
    const output = `${show(attended)} ${unit}`;
    if (equals.length > 1 && hard) {
      return `${subject} matches ${equals.join(" and ")} equally well. A hard look-up takes the first: ${output}.`;
    }
    if (equals.length > 1) return `${subject} matches ${equals.join(" and ")} equally well; the output is ${output}.`;
    if (hard) return `${subject} matches ${equals[0]} best; the output is its value, ${output}.`;
    return `${subject} gives ${equals[0]} the largest weight, ${show(Math.max(...weights), 3)}; the output is ${output}.`;
  }

  (glassformer.figures ??= []).push(["lookup", start]);
})((globalThis.glassformer ??= {}));
