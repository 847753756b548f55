// The tokens of a sentence: queries can be picked, keys show their weights.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});
  const TITLES = { english: "English tokens (▁ starts a word)", french: "French tokens" };
  const LABELS = { english: "English tokens", french: "French tokens" };
  const LANGUAGES = { english: "en", french: "fr" };
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

  /** Make the row of a side, `english` or `french`. `onPick(position)` is called with the picked token. */
  page.makeTokenRow = ({ state, side, onPick }) => {
    const { element } = glassformer;
    const heading = element("p", { class: "side" });
    const attributes = { class: "tokens", role: "group", lang: LANGUAGES[side], "aria-label": LABELS[side] };
    const list = element("div", attributes);
    const isQuery = () => page.ATTENTION_KINDS[state.kind].queries === side;
    const isKey = () => page.ATTENTION_KINDS[state.kind].keys === side;
    list.addEventListener("keydown", (event) => {
      if (!(event.key in STEPS) || !isQuery()) return;
      event.preventDefault();
      onPick(state.positions[side] + STEPS[event.key]);
    });
    return { whole: element("div", {}, heading, list), draw };

    /** Show the tokens; the decoder's self-attention has the start token before them. */
    function draw(pieces, weights) {
      heading.textContent = `${TITLES[side]}${isQuery() ? ": pick one by click or arrow keys" : ""}`;
      const offset = isQuery() && isKey() && side === "french" ? 1 : 0;
      const shown = offset ? ["<start>", ...pieces] : pieces;
      const hadFocus = list.contains(document.activeElement);
      list.replaceChildren(...shown.map((piece, number) => chip(piece, number - offset, weights[number])));
      if (hadFocus) list.querySelector("[aria-pressed='true']")?.focus();
    }

    function chip(piece, position, weight) {
      const inside = [element("span", {}, ...page.spell(piece))];
      const shown = isKey() && weight !== undefined;
      if (isKey()) inside.push(element("span", { class: "weight" }, shown ? page.show(weight) : ""));
      const style = { class: "token", "--strength": shown ? weight : 0 };
      if (!isQuery() || position < 0) return element("span", style, ...inside);
      const isPicked = position === state.positions[side];
      const pressed = { type: "button", "aria-pressed": String(isPicked), tabindex: isPicked ? 0 : -1 };
      const button = element("button", { ...style, ...pressed }, ...inside);
      button.addEventListener("click", () => onPick(position));
      return button;
    }
  };
})((globalThis.glassformer ??= {}));
