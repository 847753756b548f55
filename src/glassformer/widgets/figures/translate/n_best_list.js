// The translation with its log-probability, the effect of ablated heads, and the n best hypotheses.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  /** Make the translation and the list of hypotheses. `onPick(number)` is called with the one to inspect. */
  page.makeNBestList = ({ state, onPick }) => {
    const { element, set } = glassformer;
    const answer = element("div", { class: "answer", role: "status" });
    const others = element("details", { class: "others" });
    return { parts: [answer, others], draw, drawPicked, clear, hide };

    function draw() {
      const { hypotheses, baseline } = state.result;
      const words = hypotheses[0].text.split(" ");
      const changed = glassformer.changedWords(words, baseline[0].text.split(" "));
      const marked = words.flatMap((word, place) => [changed[place] ? element("mark", {}, word) : word, " "]);
      const lines = [
        element("p", { class: "french", lang: "fr" }, ...(hypotheses[0].text ? marked : ["(no words at all)"])),
        element("p", { class: "likely" }, likelihood(hypotheses[0])),
      ];
      if (page.isAnyAblated(state))
        lines.push(comparison(state.result, changed.filter(Boolean).length, words.length));
      answer.replaceChildren(...lines);
      const title = `${page.plural(hypotheses.length, "hypothesis", "hypotheses")}: pick one to inspect`;
      others.replaceChildren(element("summary", {}, title), element("ol", {}, ...hypotheses.map(hypothesis)));
      others.classList.toggle("none", hypotheses.length === 1);
      drawPicked();
    }

    function hypothesis({ text, logProbability, ids }, number) {
      const button = element("button", { type: "button", lang: "fr" }, text || "(no words at all)");
      button.addEventListener("click", () => onPick(number));
      return element("li", {}, button, ` ${page.show(logProbability / ids.length)} per token`);
    }

    function drawPicked() {
      others.querySelectorAll("button").forEach((button, number) => {
        set(button, { "aria-pressed": String(number === state.result.selected) });
      });
    }

    function clear() {
      answer.replaceChildren();
      others.replaceChildren();
    }

    function hide(isHidden) {
      answer.hidden = others.hidden = isHidden;
    }
  };

  function likelihood({ logProbability, ids, ended }) {
    const each = logProbability / ids.length;
    const sentence =
      `Log-probability ${page.show(logProbability)} for ${page.plural(ids.length, "token")}: ${page.show(each)} ` +
      `per token, a probability of about ${page.percent(Math.exp(each))} each.`;
    return ended ? sentence : `${sentence} The translation was truncated at the maximum length.`;
  }

  function comparison({ hypotheses, baseline }, numChanged, numWords) {
    const { element } = glassformer;
    const unchanged = hypotheses[0].text === baseline[0].text ? "No word changed." : "Some words disappeared.";
    const verdict = numChanged ? `${numChanged} of ${page.plural(numWords, "word")} changed.` : unchanged;
    return element("p", {}, `${verdict} With all heads: `, element("span", { lang: "fr" }, baseline[0].text));
  }
})((globalThis.glassformer ??= {}));
