// The tokens of a sentence: to be picked where they ask, with their weights where they are asked.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});
  const TITLES = { english: "English in tokens, ▁ where a word begins", french: "French in tokens" };
  const LABELS = { english: "English tokens", french: "French tokens" };
  const LANGUAGES = { english: "en", french: "fr" };
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

  /** Make the row of a side, `english` or `french`. `onPick(place)` hears which token shall be looked at. */
  page.makeTokenRow = ({ state, side, onPick }) => {
    const { element } = glassformer;
    const heading = element("p", { class: "side" });
    const attributes = { class: "tokens", role: "group", lang: LANGUAGES[side], "aria-label": LABELS[side] };
    const list = element("div", attributes);
    const asks = () => page.KINDS[state.kind].asks === side;
    const asked = () => page.KINDS[state.kind].asked === side;
    list.addEventListener("keydown", (event) => {
      if (!(event.key in STEPS) || !asks()) return;
      event.preventDefault();
      onPick(state.places[side] + STEPS[event.key]);
    });
    return { whole: element("div", {}, heading, list), draw };

    /** Show the tokens; in the decoder's self-attention the start comes before them. */
    function draw(pieces, weights) {
      heading.textContent = `${TITLES[side]}${asks() ? ": pick one, by click or arrow keys" : ""}`;
      const offset = asks() && asked() && side === "french" ? 1 : 0;
      const shown = offset ? ["<start>", ...pieces] : pieces;
      const hadFocus = list.contains(document.activeElement);
      list.replaceChildren(...shown.map((piece, number) => chip(piece, number - offset, weights[number])));
      if (hadFocus) list.querySelector("[aria-pressed='true']")?.focus();
    }

    function chip(piece, place, weight) {
      const inside = [element("span", {}, ...page.spell(piece))];
      const shown = asked() && weight !== undefined;
      if (asked()) inside.push(element("span", { class: "weight" }, shown ? page.show(weight) : ""));
      const style = { class: "token", "--strength": shown ? weight : 0 };
      if (!asks() || place < 0) return element("span", style, ...inside);
      const isPicked = place === state.places[side];
      const pressed = { type: "button", "aria-pressed": String(isPicked), tabindex: isPicked ? 0 : -1 };
      const button = element("button", { ...style, ...pressed }, ...inside);
      button.addEventListener("click", () => onPick(place));
      return button;
    }
  };
})((globalThis.glassformer ??= {}));
