// Inspection panel: a kind of attention, its heads, their maps, and one token of each sentence.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  /** Make the panel. `onSwitch` is called when heads were switched on or off. */
  page.makePanel = ({ state, onSwitch }) => {
    const { element, choice, toggle, summary } = glassformer;
    const kind = choice({
      label: "attention",
      options: Object.keys(page.ATTENTION_KINDS),
      value: state.kind,
      onInput: (name) => {
        state.kind = name;
        rebuild();
        draw();
      },
    });
    const noCross = toggle({
      label: "all cross-attention off",
      value: false,
      onInput: (isAblated) => {
        for (const name of page.namesOf(state, "cross-attention")) {
          state.ablated[name] = isAblated ? page.allHeads(state) : [];
        }
        rebuild();
        onSwitch();
      },
    });
    const allOn = element("button", { type: "button" }, "All heads on");
    allOn.addEventListener("click", () => {
      state.ablated = {};
      rebuild();
      onSwitch();
    });
    const row = (side) => page.makeTokenRow({ state, side, onPick: (position) => pick(side, position) });
    const rows = { english: row("english"), french: row("french") };
    const thumbnails = page.makeMapThumbnails({
      state,
      onPick: draw,
      onSwitch: () => {
        checkNoCross();
        onSwitch();
      },
    });
    const large = page.makeLargeMap({ onPick: (position) => pick(page.ATTENTION_KINDS[state.kind].queries, position) });
    const nextTokens = page.makeNextTokenTable({ state });
    const { parts, say } = summary();
    const whole = element(
      "div",
      { class: "panel" },
      element(
        "div",
        { class: "controls" },
        element("div", { class: "control" }, kind.label, kind.input),
        noCross,
        allOn,
      ),
      rows.english.whole,
      rows.french.whole,
      ...parts,
      element("div", { class: "halves" }, thumbnails.whole, large.whole, nextTokens.whole),
    );
    return { whole, build, draw };

    /** Reset to the first head of the last layer of a new translator. */
    function build() {
      state.layer = page.namesOf(state, state.kind).length - 1;
      state.head = 0;
      rebuild();
    }

    function rebuild() {
      state.layer = Math.min(state.layer, page.namesOf(state, state.kind).length - 1);
      thumbnails.build();
      checkNoCross();
    }

    function checkNoCross() {
      noCross.firstChild.checked = page.areAllAblated(state, "cross-attention");
    }

    function pick(side, position) {
      state.positions[side] = position;
      draw();
    }

    function draw() {
      const { result, positions, kind, layer, head } = state;
      const { source, target } = result;
      const sides = page.ATTENTION_KINDS[kind];
      positions.english = clamp(positions.english, source);
      positions.french = clamp(positions.french, target);
      const name = page.namesOf(state, kind)[layer];
      const map = result.maps[name][head];
      const weights = map[positions[sides.queries]];
      const keys = sides.keys === "english" ? source : ["<start>", ...target.slice(0, -1)];
      const queries = sides.queries === "english" ? source : target;
      const isAblated = page.isAblated(state, name, head);
      const title = `layer ${layer + 1}, head ${head}${isAblated ? ": off" : ""}`;
      rows.english.draw(source, weights);
      rows.french.draw(target, weights.slice(0, positions.french + 1));
      thumbnails.draw();
      large.draw({ title, map, keys, queries, picked: positions[sides.queries], isAblated });
      nextTokens.draw();
      say(describe({ weights, keys, query: queries[positions[sides.queries]], isAblated }));
    }

    function describe({ weights, keys, query, isAblated }) {
      const best = weights.indexOf(Math.max(...weights));
      const verb = page.ATTENTION_KINDS[state.kind].queries === "english" ? "Reading" : "Writing";
      const where = `head ${state.head} of layer ${state.layer + 1}`;
      const look = `attends most to “${page.bare(keys[best])}”, ${page.show(weights[best])}`;
      const end = isAblated ? "; but it is off, so its output is zero" : "";
      return `${verb} “${page.bare(query)}”, ${where} ${look}${end}.`;
    }
  };

  const clamp = (position, pieces) => Math.max(0, Math.min(position, pieces.length - 1));
})((globalThis.glassformer ??= {}));
