// The French, how likely the model found it, what changed with the heads that are off, and the rivals.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  /** Make the answer and the list of the rivals. `onPick(number)` hears which one shall be looked into. */
  page.makeAnswer = ({ state, onPick }) => {
    const { element, set } = glassformer;
    const answer = element("div", { class: "answer", role: "status" });
    const rivals = element("details", { class: "others" });
    return { parts: [answer, rivals], draw, drawPicked, clear, hide };

    function draw() {
      const { found, whole } = state.result;
      const words = found[0].text.split(" ");
      const changed = glassformer.changedWords(words, whole[0].text.split(" "));
      const marked = words.flatMap((word, place) => [changed[place] ? element("mark", {}, word) : word, " "]);
      const lines = [
        element("p", { class: "french", lang: "fr" }, ...(found[0].text ? marked : ["(no words at all)"])),
        element("p", { class: "likely" }, likelihood(found[0])),
      ];
      if (page.isAnyOff(state))
        lines.push(comparison(state.result, changed.filter(Boolean).length, words.length));
      answer.replaceChildren(...lines);
      const title = `${page.plural(found.length, "translation")} that it found, to look inside`;
      rivals.replaceChildren(element("summary", {}, title), element("ol", {}, ...found.map(rival)));
      rivals.classList.toggle("none", found.length === 1);
      drawPicked();
    }

    function rival({ text, logProbability, ids }, number) {
      const button = element("button", { type: "button", lang: "fr" }, text || "(no words at all)");
      button.addEventListener("click", () => onPick(number));
      return element("li", {}, button, ` ${page.show(logProbability / ids.length)} a token`);
    }

    function drawPicked() {
      rivals.querySelectorAll("button").forEach((button, number) => {
        set(button, { "aria-pressed": String(number === state.result.shown) });
      });
    }

    function clear() {
      answer.replaceChildren();
      rivals.replaceChildren();
    }

    function hide(isHidden) {
      answer.hidden = rivals.hidden = isHidden;
    }
  };

  function likelihood({ logProbability, ids, ended }) {
    const each = logProbability / ids.length;
    const sentence =
      `Log-probability ${page.show(logProbability)} for ${page.plural(ids.length, "token")}, ${page.show(each)} a ` +
      `token: it found each about ${page.percent(Math.exp(each))} likely.`;
    return ended ? sentence : `${sentence} It came to no end.`;
  }

  function comparison({ found, whole }, numChanged, numWords) {
    const { element } = glassformer;
    const unchanged = found[0].text === whole[0].text ? "Not a word changed." : "Words are missing.";
    const verdict = numChanged ? `${numChanged} of ${page.plural(numWords, "word")} changed.` : unchanged;
    return element("p", {}, `${verdict} With all heads: `, element("span", { lang: "fr" }, whole[0].text));
  }
})((globalThis.glassformer ??= {}));
