// Where the reader looks inside: a kind of attention, its heads, their maps, and one token of each sentence.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  /** Make the desk. `onSwitch` hears that heads went on or off: then the sentence must be translated anew. */
  page.makeDesk = ({ state, onSwitch }) => {
    const { element, choice, toggle, summary } = glassformer;
    const kind = choice({
      label: "look at",
      options: Object.keys(page.KINDS),
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
      onInput: (isOff) => {
        for (const name of page.namesOf(state, "cross-attention")) {
          state.off[name] = isOff ? page.allHeads(state) : [];
        }
        rebuild();
        onSwitch();
      },
    });
    const allOn = element("button", { type: "button" }, "All heads on");
    allOn.addEventListener("click", () => {
      state.off = {};
      rebuild();
      onSwitch();
    });
    const row = (side) => page.makeTokenRow({ state, side, onPick: (place) => pick(side, place) });
    const rows = { english: row("english"), french: row("french") };
    const small = page.makeSmallMaps({
      state,
      onPick: draw,
      onSwitch: () => {
        checkNoCross();
        onSwitch();
      },
    });
    const large = page.makeLargeMap({ onPick: (place) => pick(page.KINDS[state.kind].asks, place) });
    const likely = page.makeLikely({ state });
    const { parts, say } = summary();
    const whole = element(
      "div",
      { class: "desk" },
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
      element("div", { class: "halves" }, small.whole, large.whole, likely.whole),
    );
    return { whole, build, draw };

    /** Begin anew with another translator: at the first head of the last layer. */
    function build() {
      state.layer = page.namesOf(state, state.kind).length - 1;
      state.head = 0;
      rebuild();
    }

    function rebuild() {
      state.layer = Math.min(state.layer, page.namesOf(state, state.kind).length - 1);
      small.build();
      checkNoCross();
    }

    function checkNoCross() {
      noCross.firstChild.checked = page.areAllOff(state, "cross-attention");
    }

    function pick(side, place) {
      state.places[side] = place;
      draw();
    }

    function draw() {
      const { result, places, kind, layer, head } = state;
      const { source, target } = result;
      const { asks, asked } = page.KINDS[kind];
      places.english = within(places.english, source);
      places.french = within(places.french, target);
      const name = page.namesOf(state, kind)[layer];
      const map = result.maps[name][head];
      const weights = map[places[asks]];
      const keys = asked === "english" ? source : ["<start>", ...target.slice(0, -1)];
      const queries = asks === "english" ? source : target;
      const isOff = page.isOff(state, name, head);
      const title = `layer ${layer + 1}, head ${head}${isOff ? ": off" : ""}`;
      rows.english.draw(source, weights);
      rows.french.draw(target, weights.slice(0, places.french + 1));
      small.draw();
      large.draw({ title, map, keys, queries, picked: places[asks], isOff });
      likely.draw();
      say(describe({ weights, keys, query: queries[places[asks]], isOff }));
    }

    function describe({ weights, keys, query, isOff }) {
      const best = weights.indexOf(Math.max(...weights));
      const did = page.KINDS[state.kind].asks === "english" ? "read" : "wrote";
      const where = `head ${state.head} of layer ${state.layer + 1}`;
      const look = `looked most at “${page.bare(keys[best])}”, ${page.show(weights[best])}`;
      const end = isOff ? "; but it is off, and handed on nothing" : "";
      return `When it ${did} “${page.bare(query)}”, ${where} ${look}${end}.`;
    }
  };

  const within = (place, pieces) => Math.max(0, Math.min(place, pieces.length - 1));
})((globalThis.glassformer ??= {}));
