// Two sentences connected by threads: from each French token to the English tokens it attends to.
(function (glassformer) {
  const MIN_THREAD = 0.04; // smallest weight that is drawn
  const MIN_NUMBER = 0.015; // smallest weight that is written
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  const SVG = "http://www.w3.org/2000/svg";

  /** Make the picture. `onPick` is called when a French token is picked. */
  glassformer.makeAttentionThreads = (onPick) => {
    const { element, set } = glassformer;
    const gradient = document.createElementNS(SVG, "linearGradient");
    const threads = element("g");
    const svg = element("svg", { class: "threads", "aria-hidden": "true" }, gradient, threads);
    const english = element("div", {
      class: "tokens",
      lang: "en",
      role: "group",
      "aria-label": "English tokens",
    });
    const french = element("div", {
      class: "tokens",
      lang: "fr",
      role: "group",
      "aria-label": "French tokens",
    });
    const whole = element("div", { class: "picture" }, svg, english, french);
    set(gradient, { id: "glass-thread", gradientUnits: "userSpaceOnUse" });
    gradient.append(stop(0, "var(--key)"), stop(1, "var(--query)"));
    french.addEventListener("keydown", onKey);
    new ResizeObserver(arrange).observe(whole);
    let shown = { source: [], target: [], weights: [] };
    let picked = 0;
    return { whole, show, describe };

    /** Show a translation: the tokens of both sentences and their attention weights. */
    function show(translation, place) {
      shown = translation;
      english.replaceChildren(
        ...shown.source.map((piece, number) => chip("span", piece, shown.source[number - 1])),
      );
      french.replaceChildren(
        ...shown.target.map((piece, number) => chip("button", piece, shown.target[number - 1])),
      );
      [...french.children].forEach((button, number) => {
        set(button, { type: "button" });
        button.addEventListener("click", () => pick(number));
        button.addEventListener("pointerenter", () => light(number));
        button.addEventListener("pointerleave", () => light(picked));
      });
      picked = place;
      light(picked);
      arrange();
    }

    /** Arrange the tokens in two columns if a sentence does not fit on one line. */
    function arrange() {
      whole.classList.remove("stacked");
      const isNarrow = getComputedStyle(whole).getPropertyValue("--narrow") === "1";
      whole.classList.toggle("stacked", isNarrow || [english, french].some(isBroken));
      drawThreads();
    }

    function isBroken(row) {
      const [first, last] = [row.firstChild, row.lastChild].map((child) => child?.getBoundingClientRect());
      return first !== undefined && last.top >= first.bottom;
    }

    function chip(tag, piece, before) {
      const isJoined = before !== undefined && (!piece.startsWith("▁") || before.endsWith("'"));
      const classes = ["token", ...(isJoined ? ["joined"] : []), ...(piece === "<end>" ? ["end"] : [])];
      const number = tag === "span" ? [element("span", { class: "weight" })] : [];
      return element(tag, { class: classes.join(" ") }, bare(piece), ...number);
    }

    function onKey(event) {
      if (!(event.key in STEPS)) return;
      event.preventDefault();
      pick(Math.max(0, Math.min(picked + STEPS[event.key], shown.target.length - 1)));
      french.children[picked].focus();
    }

    function pick(place) {
      picked = place;
      light(place);
      onPick();
    }

    /** Highlight the attention of one French token. */
    function light(place) {
      [...french.children].forEach((button, number) => {
        set(button, { "aria-pressed": String(number === picked), tabindex: number === picked ? 0 : -1 });
        button.classList.toggle("lit", number === place);
      });
      [...english.children].forEach((span, number) => {
        const weight = shown.weights[place][number];
        set(span, { "--strength": weight });
        span.lastChild.textContent = weight < MIN_NUMBER ? "" : glassformer.show(weight, 2);
      });
      drawThreads();
    }

    function drawThreads() {
      const from = boxes(english);
      const to = boxes(french);
      if (!from.length || !to.length) return;
      const isSideBySide = from[0].top < to.at(-1).bottom && to[0].top < from.at(-1).bottom;
      const lit = [...french.children].findIndex((button) => button.classList.contains("lit"));
      const ends = isSideBySide ? [from[0].right, 0, to[0].left, 0] : [0, from.at(-1).bottom, 0, to[0].top];
      const [x1, y1, x2, y2] = ends;
      set(gradient, { x1, y1, x2, y2 });
      const order = [...to.keys()].filter((place) => place !== lit).concat(lit); // highlighted threads on top
      threads.replaceChildren(
        ...order.flatMap((place) => {
          return shown.weights[place].flatMap((weight, key) => {
            if (weight < (place === lit ? 0.005 : MIN_THREAD)) return [];
            const d = (isSideBySide ? across : down)(from[key], to[place]);
            const look = place === lit ? { class: "lit", stroke: "url(#glass-thread)" } : {};
            return [element("path", { d, ...look, "stroke-width": 1 + 9 * weight, "--strength": weight })];
          });
        }),
      );
    }

    function boxes(row) {
      const { left, top } = whole.getBoundingClientRect();
      return Array.from(row.children, (child) => {
        const box = child.getBoundingClientRect();
        return {
          left: box.left - left,
          right: box.right - left,
          top: box.top - top,
          bottom: box.bottom - top,
        };
      });
    }

    /** Describe the largest weight of the picked token. */
    function describe() {
      const weights = shown.weights[picked];
      const best = weights.indexOf(Math.max(...weights));
      const [query, key] = [shown.target[picked], shown.source[best]].map(bare);
      const most = glassformer.show(weights[best], 2);
      return `Writing “${query}”, it attends most to “${key}”: ${most}, averaged over all ${shown.heads} cross-attention heads.`;
    }
  };

  const bare = (piece) => piece.replace(/^▁(?=.)/, "");

  function stop(offset, color) {
    const made = document.createElementNS(SVG, "stop");
    glassformer.set(made, { offset });
    made.style.stopColor = color;
    return made;
  }

  function down(english, french) {
    const [x1, y1, x2, y2] = [
      middle(english.left, english.right),
      english.bottom,
      middle(french.left, french.right),
      french.top,
    ];
    const bend = 0.5 * (y2 - y1);
    return `M ${x1} ${y1} C ${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
  }

  function across(english, french) {
    const [x1, y1, x2, y2] = [
      english.right,
      middle(english.top, english.bottom),
      french.left,
      middle(french.top, french.bottom),
    ];
    const bend = 0.5 * (x2 - x1);
    return `M ${x1} ${y1} C ${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }

  const middle = (one, other) => (one + other) / 2;
})((globalThis.glassformer ??= {}));
