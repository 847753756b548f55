// A quiz: one question at a time, with feedback on every answer. Nothing is stored.
(function (glassformer) {
  let made = 0;

  /** Parse a number: 0,5 and 0.5 and 1/2. "10,000" is ambiguous, so both readings are returned. */
  function readNumbers(written) {
    const text = written.replaceAll(/\s/g, "").replaceAll("−", "-");
    const parse = (part) => (part === "" ? NaN : Number(part.replace(",", ".")));
    const ratio = (whole) => whole.split("/").map(parse).reduce((above, below) => above / below);
    const grouped = /^-?\d{1,3}(,\d{3})+$/.test(text);
    return [...(grouped ? [text.replaceAll(",", "")] : []), text].map(ratio).filter(Number.isFinite);
  }

  function judgeNumber({ answer, shown, within, why, mistakes }, written, tries) {
    const numbers = readNumbers(written);
    if (numbers.length === 0) return { verdict: "Please type a number, with a point or a comma for decimals." };
    const isNear = (target) => numbers.some((number) => Math.abs(number - target) <= within + 1e-9 * Math.abs(target));
    if (isNear(answer)) return { right: true, verdict: `Right. ${why}` };
    const mistake = mistakes.find(({ number }) => isNear(number));
    const side = numbers.at(-1) < answer ? "small" : "large";
    const help = mistake ? mistake.why : `That is too ${side}.`;
    return { right: false, verdict: `No. ${help}${tries > 1 ? ` The answer is ${shown}. ${why}` : ""}` };
  }

  function judgeChoice(options, chosen) {
    if (chosen.length === 0) return { verdict: "Please choose an answer first." };
    const wrong = chosen.filter((place) => !options[place].right);
    const missing = options.filter(({ right }, place) => right && !chosen.includes(place)).length;
    const whys = (places) => places.map((place) => options[place].why).join(" ");
    if (wrong.length === 0 && missing === 0) return { right: true, verdict: `Right. ${whys(chosen)}` };
    if (wrong.length > 0) return { right: false, verdict: `No. ${whys(wrong)}` };
    return { right: false, verdict: `Your choices are right, but ${missing} right ${missing > 1 ? "options are" : "option is"} missing.` };
  }

  Object.assign((glassformer.quiz ??= {}), { readNumbers, judgeNumber, judgeChoice });

  function start(stage, { questions }) {
    const { element, set } = glassformer;
    const forms = questions.map((asked, place) => ask(asked, place));
    const places = forms.map((_, place) => {
      const button = element("button", { type: "button" }, String(place + 1));
      button.addEventListener("click", () => open(place));
      return button;
    });
    const solved = element("span", { class: "solved" });
    stage.append(
      element("div", { class: "places", role: "group", "aria-label": "Questions" }, ...places, solved),
      ...forms.map(({ form }) => form),
    );

    /** Render text with code between backticks. */
    function prose(text) {
      return text.split("`").map((part, place) => (place % 2 ? element("code", {}, part) : part));
    }

    function ask(asked, place) {
      const state = { solved: false, tries: 0 };
      const fields = asked.kind === "number" ? numberField(asked) : optionFields(asked);
      const verdict = element("p", { class: "verdict", role: "status" });
      const button = element("button", { type: "submit" }, "Check");
      const form = element(
        "form",
        { class: "question", autocomplete: "off" },
        element("fieldset", {}, element("legend", {}, ...prose(asked.text)), ...fields.rows),
        element("div", { class: "submit" }, button),
        verdict,
      );
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (button.textContent === "Check") check();
        else if (button.textContent === "Start again") startAgain();
        else open(nextAfter(place), true);
      });
      form.addEventListener("input", () => {
        forget();
        button.textContent = "Check";
      });

      function check() {
        const { right, verdict: words } = fields.judge(state.tries + 1);
        if (right !== undefined && !state.solved) state.tries += 1;
        state.solved ||= right === true;
        fields.mark(right);
        set(verdict, { class: `verdict ${right === undefined ? "" : right ? "right" : "wrong"}` });
        verdict.replaceChildren(...prose(right && nextAfter(place) === undefined ? `${words} ${finalRemark()}` : words));
        if (right) button.textContent = nextAfter(place) === undefined ? "Start again" : "Next question";
        count();
      }

      function forget() {
        fields.mark(undefined);
        verdict.replaceChildren();
        set(verdict, { class: "verdict" });
      }

      function reset() {
        Object.assign(state, { solved: false, tries: 0 });
        form.reset();
        forget();
        button.textContent = "Check";
      }

      return { form, state, reset };
    }

    function optionFields({ kind, options }) {
      const name = `quiz-${(made += 1)}`;
      const type = kind === "one" ? "radio" : "checkbox";
      const inputs = options.map(() => element("input", { type, name }));
      const rows = options.map(({ text }, place) =>
        element("label", { class: "option" }, inputs[place], element("span", {}, ...prose(text))),
      );
      const chosen = () => inputs.flatMap(({ checked }, place) => (checked ? [place] : []));
      const mark = (judged) =>
        rows.forEach((row, place) => {
          const marked = judged !== undefined && inputs[place].checked;
          row.classList.toggle("right", marked && options[place].right);
          row.classList.toggle("wrong", marked && !options[place].right);
        });
      const hint = kind === "one" ? [] : [element("p", { class: "hint" }, "Choose all right options.")];
      return { rows: [...hint, ...rows], judge: () => judgeChoice(options, chosen()), mark };
    }

    function numberField(asked) {
      const id = `quiz-${(made += 1)}`;
      const input = element("input", { type: "text", inputmode: "decimal", id, size: 10 });
      const row = element(
        "div",
        { class: "number" },
        element("label", { for: id }, "Your number"),
        input,
        element("span", { class: "hint" }, asked.wanted),
      );
      const mark = (judged) => {
        row.classList.toggle("right", judged === true);
        row.classList.toggle("wrong", judged === false);
      };
      return { rows: [row], judge: (tries) => judgeNumber(asked, input.value, tries), mark };
    }

    // ---- Navigation ----

    function open(opened, byForm = false) {
      forms.forEach(({ form }, place) => {
        form.hidden = place !== opened;
        if (place === opened) set(places[place], { "aria-current": "step" });
        else places[place].removeAttribute("aria-current");
      });
      if (byForm) forms[opened].form.querySelector("input").focus();
    }

    function nextAfter(place) {
      const order = [...forms.keys()].map((step) => (place + 1 + step) % forms.length);
      return order.find((each) => !forms[each].state.solved);
    }

    function count() {
      forms.forEach(({ state }, place) => {
        places[place].classList.toggle("right", state.solved);
        set(places[place], { "aria-label": `Question ${place + 1}${state.solved ? ", solved" : ""}` });
      });
      solved.textContent = `${forms.filter(({ state }) => state.solved).length} of ${forms.length} solved`;
    }

    function finalRemark() {
      const firstTries = forms.filter(({ state }) => state.tries === 1).length;
      return `That was the last question. You solved ${firstTries} of ${forms.length} at the first try.`;
    }

    function startAgain() {
      for (const { reset } of forms) reset();
      count();
      open(0, true);
    }

    count();
    open(0);
  }

  (glassformer.figures ??= []).push(["quiz", start]);
})((globalThis.glassformer ??= {}));
