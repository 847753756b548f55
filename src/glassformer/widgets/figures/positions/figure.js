// Position schemes: one pair of dimensions as a clock hand, its rotation by a shift, and scores by distance.
(function (glassformer) {
  const { dot, product, productTransposed, transpose } = glassformer.matrices;
  const SCHEMES = ["sinusoidal", "learned, untrained", "rotary", "ALiBi"];

  // ---- Numbers ----

  /**
   * Compute the figure's numbers. `query` and `key` are the selected pair at each position, and `angle` is its
   * rotation by the shift. `scores` are the dot products of the query's position with each position, or the bias;
   * `least` and `most` are their range over all pairs of positions at each distance, from `-reach` on.
   */
  glassformer.computePositions = function (state) {
    const { position, shift, pair, reach, learned } = state;
    const { shown, matrix } = state.kind === "ALiBi" ? biased(state) : compared(state);
    const ofPair = (vectors) => vectors?.map((vector) => vector.slice(2 * pair, 2 * pair + 2));
    const distances = Array.from({ length: 2 * reach + 1 }, (_, place) => place - reach);
    const everywhere = distances.map((distance) =>
      matrix.flatMap((row, place) => (place + distance in row ? [row[place + distance]] : [])),
    );
    return {
      query: ofPair(shown.query),
      key: ofPair(shown.key),
      angle: shift * frequency(pair, learned[0].length),
      scores: matrix[position],
      least: everywhere.map((each) => Math.min(...each)),
      most: everywhere.map((each) => Math.max(...each)),
    };
  };

  function frequency(pair, d_model) {
    return 10000 ** ((-2 * pair) / d_model);
  }

  function slope(head, num_heads) {
    return 2 ** ((-8 * head) / num_heads);
  }

  /** Compute the dot products of all positions. Additive schemes show position vectors before projection. */
  function compared({ kind, projected, word, learned, query_weight, key_weight }) {
    const behind = (vectors, weight) => (projected ? product(vectors, weight) : vectors);
    const entering = {
      sinusoidal: () => learned.map((_, place) => sinusoids(place, word.length)),
      "learned, untrained": () => learned,
      rotary: () => learned.map(() => word),
    }[kind]();
    const turn = kind === "rotary" ? rotated : (vector) => vector;
    const query = behind(entering, query_weight).map(turn);
    const key = behind(entering, key_weight).map(turn);
    const matrix = productTransposed(query, key);
    return { shown: kind === "rotary" ? { query, key } : { query: entering, key: entering }, matrix };
  }

  function biased({ learned, head, num_heads }) {
    const steepness = slope(head, num_heads);
    const matrix = learned.map((_, place) => learned.map((_, other) => -steepness * Math.abs(place - other)));
    return { shown: {}, matrix };
  }

  function sinusoids(place, d_model) {
    return Array.from({ length: d_model }, (_, column) => {
      const angle = place * frequency(Math.floor(column / 2), d_model);
      return column % 2 ? Math.cos(angle) : Math.sin(angle);
    });
  }

  function rotated(vector, place) {
    return vector.map((number, column) => {
      const angle = place * frequency(Math.floor(column / 2), vector.length);
      const partner = column % 2 ? vector[column - 1] : -vector[column + 1];
      return number * Math.cos(angle) + partner * Math.sin(angle);
    });
  }

  // ---- Figure ----

  function start(stage, data) {
    const { element, choice, toggle, summary, prediction } = glassformer;
    const last = data.learned.length - 1;
    const state = { ...data, ...data.start, kind: SCHEMES[0], projected: false };
    const within = (number, least, most) => Math.max(least, Math.min(most, number));
    const changed = (change) => {
      Object.assign(state, change);
      draw();
    };
    const kind = choice({ label: "scheme", options: SCHEMES, value: state.kind, onInput: (kind) => changed({ kind }) });
    const projected = toggle({
      label: "after random projections",
      value: false,
      onInput: (projected) => changed({ projected }),
    });
    const sliders = {
      position: control("position", 0, last, (position) =>
        changed({ position, shift: within(state.shift, -position, last - position) }),
      ),
      shift: control("shift", -data.reach, data.reach, (shift) =>
        changed({ shift, position: within(state.position, -shift, last - shift) }),
      ),
      pair: control("pair", 0, data.word.length / 2 - 1, (pair) => changed({ pair })),
      head: control("head", 1, data.num_heads, (head) => changed({ head })),
    };
    const waves = makeWaves(last);
    const curve = makeCurve(data);
    const dial = makeDial();
    const sums = makeSums();
    const { parts, say } = summary();
    stage.append(
      prediction({
        question: "After projections, two words are shifted together. Which schemes keep their score?",
        answers: ["All four", "Sinusoidal and rotary", "Rotary and ALiBi"],
        right: 2,
        because: "Projections mix added positions; rotations and biases come after them. Tick the box.",
      }),
      element("div", { class: "controls" }, element("div", { class: "control" }, kind.label, kind.input), projected),
      element("div", { class: "sliders" }, ...Object.values(sliders).map(({ row }) => row)),
      element("div", { class: "views" }, waves.panel, curve.panel),
      element("div", { class: "calculation" }, dial.drawing, sums.table),
      ...parts,
    );

    function draw() {
      const numbers = glassformer.computePositions(state);
      for (const [name, { put }] of Object.entries(sliders)) put(state[name]);
      sliders.pair.row.hidden = state.kind === "ALiBi";
      sliders.head.row.hidden = state.kind !== "ALiBi";
      waves.draw(state, numbers);
      curve.draw(state, numbers);
      dial.draw(state, numbers);
      sums.draw(sumsOf(state, numbers));
      say(describe(state, numbers));
    }

    draw();
  }

  /** Make a slider whose value can be set by the script. */
  function control(label, min, max, onInput) {
    const show = label === "shift" ? signed : String;
    const { label: name, input, output } = glassformer.slider({ label, min, max, step: 1, value: min, show, onInput });
    const row = glassformer.element("div", { class: "control" }, name, input, output);

    function put(value) {
      input.value = value;
      output.textContent = show(value);
      glassformer.set(input, { "aria-valuetext": output.textContent });
    }

    return { row, put };
  }

  // ---- Drawings ----

  const [WIDE, HIGH] = [300, 128];
  const [LEFT, TOP] = [30, 8]; // corner of the plot area

  /** Make empty axes with their scales. */
  function makeAxes({ from, to, ticks, below }, ...parts) {
    const { element, set, show } = glassformer;
    const across = (number) => LEFT + ((number - from) / (to - from)) * (WIDE - LEFT - 6);
    const base = element("path", { class: "axes" });
    const marks = [0, 1, 2].map(() => element("text", { x: LEFT - 5, "text-anchor": "end" }));
    const title = element("p");
    let [low, high] = [0, 1];
    const up = (number) => TOP + ((high - number) / (high - low)) * (HIGH - TOP);
    const drawing = element(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH + 34}`, "aria-hidden": "true" },
      base,
      ...marks,
      ...ticks.map((tick) =>
        element("text", { x: across(tick), y: HIGH + 16, "text-anchor": "middle" }, show(tick, 0)),
      ),
      element("text", { x: (LEFT + WIDE) / 2, y: HIGH + 31, "text-anchor": "middle" }, below),
      ...parts,
    );

    function range(...reached) {
      [low, high] = reached;
      set(base, { d: `M${LEFT} ${TOP}V${HIGH}M${LEFT} ${up(Math.max(0, low))}H${WIDE - 6}` });
      const shown = low < 0 && high > 0 ? [low, 0, high] : [low, (low + high) / 2, high];
      marks.forEach((mark, place) => {
        set(mark, { y: up(shown[place]) + 4 });
        mark.textContent = show(shown[place], Math.abs(high - low) < 20 && !Number.isInteger(shown[place]) ? 1 : 0);
      });
    }

    const line = (points) =>
      points.map(([x, y], place) => `${place ? "L" : "M"}${across(x).toFixed(1)} ${up(y).toFixed(1)}`).join("");
    return { panel: element("div", { class: "view" }, title, drawing), title, range, across, up, line };
  }

  /** Plot the two components of the selected pair, or the bias, over all positions. */
  function makeWaves(last) {
    const { element, set } = glassformer;
    const names = ["key first", "key second", "first", "second"];
    const lines = names.map((name) => element("path", { class: `wave ${name}` }));
    const rules = ["query", "key"].map((name) => element("path", { class: `rule ${name}` }));
    const marks = ["key", "key", "query", "query"].map((name) => element("circle", { class: `mark ${name}`, r: 4.5 }));
    const axes = makeAxes(
      { from: 0, to: last, ticks: [0, 16, 32, 48, last], below: "position" },
      ...rules,
      ...lines,
      ...marks,
    );

    function draw({ kind, projected, position, shift, pair, head }, { query, key, scores }) {
      const drawn = query ? [...transpose(key), ...transpose(query)] : [scores, [], scores, []];
      const longest = Math.ceil(Math.max(...drawn.flat().map(Math.abs)) - 1e-9);
      axes.range(...(query ? [-longest, longest] : [-16, 0]));
      lines.forEach((line, place) => set(line, { d: axes.line([...drawn[place].entries()]) }));
      const places = [position, position + shift];
      rules.forEach((rule, place) => set(rule, { d: `M${axes.across(places[place])} ${TOP}V${HIGH}` }));
      marks.forEach((mark, place) => {
        const at = places[place < 2 ? 1 : 0];
        set(mark, { cx: axes.across(at), cy: axes.up((drawn[place].length ? drawn[place] : scores)[at]) });
      });
      const apart = kind === "rotary" && projected;
      axes.panel.classList.toggle("apart", apart);
      axes.title.textContent = {
        sinusoidal: `Pair ${pair} at each position: sine, cosine dashed`,
        "learned, untrained": `Pair ${pair} at each position: first, second dashed`,
        rotary: `Pair ${pair} of ${apart ? "query and key" : "one word, rotated"}; second dashed`,
        "ALiBi": `Bias on the scores of position ${position}, head ${head}`,
      }[kind];
    }

    return { panel: axes.panel, draw };
  }

  /** Plot dot products over distance: a line for the selected position, a band for all positions. */
  function makeCurve({ reach, num_heads, learned }) {
    const { element, set } = glassformer;
    const band = element("path", { class: "band" });
    const others = element("path", { class: "others" });
    const curve = element("path", { class: "curve" });
    const here = element("circle", { class: "mark query", r: 4.5 });
    const mark = element("circle", { class: "mark key", r: 4.5 });
    const ticks = [-reach, -reach / 2, 0, reach / 2, reach];
    const axes = makeAxes({ from: -reach, to: reach, ticks, below: "distance (pale: from all positions)" }, band, others, curve, here, mark);

    function draw({ kind, position, shift, projected }, { scores, least, most }) {
      const known = [...scores.entries()].map(([place, score]) => [place - position, score]);
      const points = known.filter(([distance]) => Math.abs(distance) <= reach);
      if (kind === "ALiBi") axes.range(-slope(1, num_heads) * reach, 0);
      else axes.range(Math.min(0, Math.floor(Math.min(...least) + 1e-9)), Math.ceil(Math.max(...most) - 1e-9));
      const edge = (numbers) => numbers.map((number, place) => [place - reach, number]);
      set(band, { d: `${axes.line(edge(most))}${axes.line(edge(least).reverse()).replace("M", "L")}Z` });
      set(curve, { d: axes.line(points) });
      set(others, { d: kind === "ALiBi" ? slopes() : "" });
      set(here, { cx: axes.across(0), cy: axes.up(scores[position]) });
      set(mark, { cx: axes.across(shift), cy: axes.up(scores[position + shift]) });
      const of = kind === "rotary" ? "one rotated word" : "two positions";
      axes.title.textContent =
        kind === "ALiBi" ? "Bias on the score, each head" : `Dot product of ${of}${projected ? ", projected" : ""}`;
    }

    function slopes() {
      const heads = Array.from({ length: num_heads }, (_, place) => slope(place + 1, num_heads));
      return heads.map((each) => axes.line([[-reach, -each * reach], [0, 0], [reach, -each * reach]])).join("");
    }

    return { panel: axes.panel, draw };
  }

  const RADIUS = 62;

  /** Draw the selected pair as a clock hand at both positions. A sinusoidal hand points to 12 at position 0. */
  function makeDial() {
    const { element, set } = glassformer;
    const arc = element("path", { class: "arc" });
    const hands = ["key", "query"].map((name) => element("path", { class: `hand ${name}` }));
    const names = ["key", "query"].map((name) => element("text", { class: name, "text-anchor": "middle" }));
    const still = ["no", "rotation"].map((word, line) =>
      element("text", { class: "still", y: 18 * line - 5, "text-anchor": "middle" }, word),
    );
    const hours = Array.from({ length: 12 }, (_, hour) => (hour * Math.PI) / 6);
    const drawing = element(
      "svg",
      { class: "dial", viewBox: "-100 -84 200 168", "aria-hidden": "true" },
      element("circle", { class: "face", r: RADIUS }),
      element("path", { class: "axes", d: hours.map((hour) => spoke(hour, RADIUS - 4, RADIUS)).join("") }),
      arc,
      ...hands,
      ...names,
      ...still,
    );

    function draw({ kind, projected, position, shift }, { query, key, angle }) {
      drawing.classList.toggle("without", !query);
      if (!query) return;
      const longest = Math.max(...[...query, ...key].map((each) => Math.hypot(...each)));
      const places = [position + shift, position];
      const ends = [key[places[0]], query[places[1]]].map((each) => handOf(kind, each, longest));
      const near = Math.cos(ends[0].turned - ends[1].turned) > 0.95;
      ends.forEach(({ turned, length }, place) => {
        const [x, y] = pointAt(turned, RADIUS + 13);
        set(hands[place], { d: arrow(turned, length) });
        set(names[place], { x, y: y + 4 });
        names[place].textContent = near && place === 0 ? "" : String(places[place]);
      });
      const turns = kind === "sinusoidal" || (kind === "rotary" && !projected);
      set(arc, { d: turns ? arcOf(ends[1].turned, angle) : "" });
    }

    return { drawing, draw };
  }

  /** Compute a hand: a sinusoidal pair is (sine, cosine) of its angle, a rotated one (cosine, sine). */
  function handOf(kind, [first, second], longest) {
    const turned = kind === "rotary" ? Math.atan2(second, first) : Math.atan2(first, second);
    return { turned, length: (Math.hypot(first, second) / longest) * (RADIUS - 8) };
  }

  function pointAt(angle, length) {
    return [length * Math.sin(angle), -length * Math.cos(angle)];
  }

  function spoke(angle, from, to) {
    return `M${pointAt(angle, from).join(" ")}L${pointAt(angle, to).join(" ")}`;
  }

  function arrow(angle, length) {
    const [x, y] = pointAt(angle, length);
    const barb = (side) => pointAt(angle + Math.PI + side, Math.min(7, length / 2));
    const [one, other] = [barb(0.5), barb(-0.5)].map(([dx, dy]) => `${x + dx} ${y + dy}`);
    return `M0 0L${x} ${y}M${one}L${x} ${y}L${other}`;
  }

  /** Draw the rotation by the shift, modulo full turns. */
  function arcOf(from, angle) {
    const left = angle % (2 * Math.PI);
    const middle = pointAt(from + left / 2, 24).join(" ");
    const sweep = left > 0 ? 1 : 0;
    return `M${pointAt(from, 24).join(" ")}A24 24 0 0 ${sweep} ${middle}A24 24 0 0 ${sweep} ${pointAt(from + left, 24).join(" ")}`;
  }

  // ---- The calculation ----

  function makeSums() {
    const { element } = glassformer;
    const rows = Array.from({ length: 5 }, () => {
      const name = element("th", { scope: "row" });
      const sum = element("td", { class: "sum" });
      return { name, sum, row: element("tr", {}, name, sum) };
    });
    const table = element("table", {}, element("tbody", {}, ...rows.map(({ row }) => row)));

    function draw(sums) {
      rows.forEach(({ name, sum, row }, place) => {
        row.hidden = !(place in sums);
        [name.textContent, sum.textContent] = sums[place] ?? ["", ""];
      });
    }

    return { table, draw };
  }

  /** List the rows of the calculation: name and formula. */
  function sumsOf(state, numbers) {
    const { kind, position, shift, pair, head, num_heads, word, projected } = state;
    const other = position + shift;
    const score = numbers.scores[other];
    if (kind === "ALiBi") {
      const steepness = slope(head, num_heads);
      return [
        ["slope", `2^(−8 · ${head} / ${num_heads}) = ${three(steepness)}`],
        ["bias", `−${three(steepness)} × ${Math.abs(shift)} = ${three(score)}`],
        ["weight", `e^${three(score)} = ${three(Math.exp(score))} times the weight`],
      ];
    }
    const [query, key] = [numbers.query[position], numbers.key[other]];
    const inPair = dot(query, key);
    const added = kind !== "rotary";
    const ofPair = [`pair ${pair}`, `${multiplied(query[0], key[0])} ${plus(query[1], key[1])} = ${three(inPair)}`];
    const mixed = added && projected;
    const total = [mixed ? "score" : "all pairs", mixed ? `${three(score)}: the projections mix all pairs` : three(score)];
    if (kind === "learned, untrained") {
      return [["angle", "none: each position was drawn independently"], at(position, query), at(other, key), ofPair, total];
    }
    const turn = [
      "angle",
      `${signed(shift)} × 10000^(−${2 * pair}/${word.length}) = ${three(numbers.angle)} rad, ${Math.round((numbers.angle * 180) / Math.PI)}°`.replaceAll("-", "−"),
    ];
    if (kind === "rotary") return [turn, at(position, query), at(other, key), ofPair, total];
    const [cosine, sine] = [Math.cos(numbers.angle), Math.sin(numbers.angle)];
    return [
      turn,
      [`sin, ${other}`, `${multiplied(cosine, query[0])} ${plus(sine, query[1])} = ${three(key[0])}`],
      [`cos, ${other}`, `${multiplied(cosine, query[1])} ${plus(-sine, query[0])} = ${three(key[1])}`],
      ofPair,
      total,
    ];
  }

  function at(place, [first, second]) {
    return [`position ${place}`, `(${three(first)}, ${three(second)})`];
  }

  function multiplied(one, other) {
    return `${three(one)} × ${three(other)}`;
  }

  function plus(one, other) {
    return `${one < 0 ? "−" : "+"} ${multiplied(Math.abs(one), other)}`;
  }

  function three(number) {
    return glassformer.show(number, 3);
  }

  function signed(number) {
    return number > 0 ? `+${number}` : glassformer.show(number, 0);
  }

  function describe({ kind, projected, position, shift, reach }, { scores, least, most }) {
    const { show } = glassformer;
    const [low, high] = [least[shift + reach], most[shift + reach]];
    const said = kind === "ALiBi" ? "the bias is" : projected ? "the score is" : "the dot product is";
    const added = "ALiBi, which is added after the projections";
    const which = !projected ? kind : kind === "ALiBi" ? added : `${kind}, projected`;
    const elsewhere =
      high - low < 1e-9
        ? `the same as from any position with shift ${signed(shift)}`
        : `but between ${show(low)} and ${show(high)} from other positions with the same shift`;
    const named = which[0].toUpperCase() + which.slice(1);
    return `${named}: from position ${position} to ${position + shift} ${said} ${show(scores[position + shift])}, ${elsewhere}.`;
  }

  (glassformer.figures ??= []).push(["positions", start]);
})((globalThis.glassformer ??= {}));
