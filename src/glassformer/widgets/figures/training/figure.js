// Replay of a training run: curves, translations and attention maps at each checkpoint.
(function (glassformer) {
  const PAUSE = 1500; // milliseconds per checkpoint during playback

  const grouped = (number) => number.toLocaleString("en");
  const show = (number) => glassformer.show(number, 2);

  function start(stage, data) {
    const { element, set, slider, summary, prediction } = glassformer;
    const { checkpoints } = data;
    const last = checkpoints.length - 1;
    const lastStep = checkpoints[last].step;
    const numbers = checkpoints.map(({ maps }) => glassformer.unpackMaps({ ...data, maps }));
    const state = { place: last, layer: data.numLayers - 1, head: 0 };
    const changed = (change) => {
      Object.assign(state, change);
      draw();
    };

    const moment = slider({
      label: "step",
      min: 0,
      max: last,
      step: 1,
      value: last,
      show: (place) => grouped(checkpoints[place].step),
      onInput: (place) => {
        player.stop();
        changed({ place });
      },
    });
    const { parts, say } = summary();
    const player = makePlayer();
    const curves = glassformer.trainingCurves(data);
    const translations = data.sentences.map(makeTranslation);
    const heads = glassformer.trainingHeads(data, (layer, head) => changed({ layer, head }));
    const large = glassformer.trainingMap(data);

    stage.append(
      ...question(),
      element(
        "div",
        { class: "controls" },
        player.button,
        element("div", { class: "control moment" }, moment.label, moment.input, moment.output),
      ),
      element("div", { class: "plots" }, ...curves.map(({ panel }) => panel)),
      element("div", { class: "spoken" }, ...translations.map(({ whole }) => whole)),
      element(
        "div",
        { class: "halves" },
        element(
          "p",
          { class: "note" },
          "Cross-attention of each head in the last sentence, with the same French tokens at every step, those of " +
            `step ${grouped(lastStep)}. Below each map: the largest weight of a row, on average. Pick a head.`,
        ),
        heads.whole,
        large.whole,
      ),
      ...parts,
    );

    /** Make the prediction, if the run begins accordingly. */
    function question() {
      const first = checkpoints[0];
      const [said] = first.translations;
      if (first.translations.some((text) => text !== said)) return [];
      const asked = prediction({
        question: `How does it translate these sentences after ${grouped(first.step)} of ${grouped(lastStep)} steps?`,
        answers: ["Word fragments", "All the same", "Main words, out of order"],
        right: 1,
        because: `“${said}” every time, whatever the source. Play the run to see when that changes.`,
      });
      return [asked];
    }

    /** Make the playback button; with reduced motion, each press advances by one checkpoint. */
    function makePlayer() {
      const still = matchMedia("(prefers-reduced-motion: reduce)");
      const button = element("button", { type: "button", class: "play" });
      let timer = null;
      const name = () => {
        button.textContent = still.matches ? "Next" : timer === null ? "Play" : "Stop";
        set(parts[1], { "aria-live": timer === null ? "polite" : "off" }); // no announcements during playback
      };
      const stop = () => {
        clearInterval(timer);
        timer = null;
        name();
      };
      const advance = () => {
        const next = state.place === last ? 0 : state.place + 1;
        if (next === last) stop();
        moment.input.value = next;
        moment.output.textContent = grouped(checkpoints[next].step);
        set(moment.input, { "aria-valuetext": moment.output.textContent });
        changed({ place: next });
      };
      button.addEventListener("click", () => {
        if (timer !== null) return stop();
        if (!still.matches) timer = setInterval(advance, PAUSE);
        name();
        advance();
      });
      still.addEventListener("change", stop);
      name();
      return { button, stop };
    }

    /** Make a sentence with its translation and reference. */
    function makeTranslation(sentence, number) {
      const french = element("p", { lang: "fr" });
      const known = data.learned[number] ? " (in the training set)" : " (not in the training set)";
      const reference = element("span", { lang: "fr" }, data.references[number]);
      const whole = element(
        "div",
        { class: "sentence" },
        element("p", { class: "note" }, element("span", { lang: "en" }, sentence), known),
        element("div", { class: "french" }, roomFor(number), french),
        element("p", { class: "note" }, "reference: ", reference),
      );

      function draw({ translations, changed }) {
        const words = translations[number].split(" ");
        const isNew = (place) => changed[number].includes(place);
        french.replaceChildren(...words.flatMap((word, place) => [isNew(place) ? mark(word) : word, " "]));
      }

      return { whole, draw };
    }

    function mark(word) {
      return element("mark", {}, word);
    }

    /** Reserve room for a sentence's longest translation. */
    function roomFor(number) {
      const texts = checkpoints.map(({ translations }) => translations[number]);
      const longest = texts.reduce((one, other) => (other.length > one.length ? other : one));
      const words = longest.split(" ").flatMap((word) => [mark(word), " "]);
      return element("p", { class: "room", "aria-hidden": "true" }, ...words);
    }

    function draw() {
      const { place, layer, head } = state;
      curves.forEach((curve) => curve.draw(checkpoints[place]));
      translations.forEach((translation) => translation.draw(checkpoints[place]));
      heads.draw(numbers[place], layer, head);
      large.draw(numbers[place][layer][head], layer, head);
      say(describe(checkpoints[place], checkpoints[place - 1], numbers[place][layer][head]));
    }

    function describe({ step, loss, bleu, translations }, before, { mean }) {
      const number = translations.filter((text, place) => text !== before?.translations[place]).length;
      const since = before && `since step ${grouped(before.step)}`;
      const others = before ? `; ${since}, ${number} of ${translations.length} translations changed` : "";
      return (
        `Step ${grouped(step)} of ${grouped(lastStep)}: training loss ${show(loss)}, BLEU ${bleu.toFixed(1)}${others}. ` +
        `Layer ${state.layer + 1}, head ${state.head}: largest weights ${show(mean)} on average.`
      );
    }

    draw();
  }

  (glassformer.figures ??= []).push(["training", start]);
})((globalThis.glassformer ??= {}));
