// A translator that runs in the page: write, translate, look at what its heads looked at, switch them off.
(function (glassformer) {
  const FILES = { model: "model.json", weights: "model.safetensors", tokenizer: "tokenizer.json" };
  const MOST_TOKENS = 128; // that this figure reads: longer maps could not be seen
  const MOST_DRAWN = 28; // tokens a side of the large map
  const WAYS = { "beam of 4": "beam", "likeliest token": "greedy", "by chance": "chance" };
  const KINDS = {
    "cross-attention": { end: "cross_attention", asks: "french", asked: "english" },
    encoder: { start: "encoder", asks: "english", asked: "english" },
    decoder: { start: "decoder", end: "self_attention", asks: "french", asked: "french" },
  };

  // ---- Words and numbers ----

  const show = (number) => glassformer.show(number, 2);
  const percent = (share) => (share < 0.005 ? "under 1 %" : `${Math.round(100 * share)} %`);
  const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
  const bare = (piece) => piece.replace(/^▁(?=.)/, "");
  const blank = () => glassformer.element("span", { class: "blank" }, "▁");
  const spell = (piece) => (bare(piece) === piece ? [piece] : [blank(), bare(piece)]);
  const tick = () => new Promise((resolve) => setTimeout(resolve));

  /** Which words of a sentence are not, in their order, words of another one. */
  glassformer.changedWords = function (words, before) {
    const table = words.map(() => before.map(() => 0));
    const common = (row, column) => table[row]?.[column] ?? 0;
    for (let row = words.length - 1; row >= 0; row--) {
      for (let column = before.length - 1; column >= 0; column--) {
        table[row][column] =
          words[row] === before[column]
            ? 1 + common(row + 1, column + 1)
            : Math.max(common(row + 1, column), common(row, column + 1));
      }
    }
    const changed = words.map(() => true);
    for (let row = 0, column = 0; row < words.length && column < before.length; ) {
      if (words[row] === before[column]) {
        changed[row++] = false;
        column++;
      } else if (common(row + 1, column) >= common(row, column + 1)) row++;
      else column++;
    }
    return changed;
  };

  /** Run a way of writing to its end, and let the page breathe meanwhile. Null once nobody waits for it. */
  async function finishGently(steps, isAwaited) {
    let rested = performance.now();
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (performance.now() - rested < 30) continue;
      await tick();
      if (!isAwaited()) return null;
      rested = performance.now();
    }
  }

  // ---- Files ----

  /** Read a file of the site, and say after each part how many bytes have come. */
  async function download(address, onBytes) {
    const response = await fetch(address);
    if (!response.ok) {
      throw new Error(`There is no ${address} here (${response.status}). Open the three files by hand.`);
    }
    const parts = [];
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(parts);
      parts.push(value);
      onBytes(value.length);
    }
  }

  /** Of the files that a reader opened, those of a translator, by what they are for. */
  function sortFiles(files) {
    const found = Object.entries(FILES).map(([part, name]) => [part, files.find((file) => file.name === name)]);
    const missing = found.filter(([, file]) => !file).map(([part]) => FILES[part]);
    if (!missing.length) return Object.fromEntries(found);
    const names = Object.values(FILES).join(", ");
    throw new Error(`Open three files at once: ${names}. Missing: ${missing.join(", ")}.`);
  }

  async function readTranslator({ model, weights, tokenizer }) {
    const texts = { model: await model.text(), tokenizer: await tokenizer.text() };
    return glassformer.loadTranslator({ ...texts, weights: await weights.arrayBuffer() });
  }

  // ---- The figure ----

  function start(stage, { examples, folder, megabytes }) {
    const { element, set, choice, slider, toggle, summary } = glassformer;
    const state = { way: "beam", temperature: 1, seed: 1, off: {}, kind: "cross-attention", layer: 0, head: 0 };
    let translator = null;
    let result = null;
    let isLoading = false;
    let wanted = 0; // the number of the latest translation that was asked for

    const field = element("textarea", { id: "glass-english", rows: 2, spellcheck: "false", lang: "en" });
    field.value = examples[0];
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      ask();
    });
    const exampleButtons = examples.map((sentence) => {
      const button = element("button", { type: "button", lang: "en" }, sentence);
      button.addEventListener("click", () => {
        field.value = sentence;
        if (translator) ask();
      });
      return button;
    });
    const way = choice({
      label: "choose words by",
      options: Object.keys(WAYS),
      value: Object.keys(WAYS)[0],
      onInput: (name) => {
        state.way = WAYS[name];
        temperature.input.disabled = state.way !== "chance";
        if (translator) translate();
      },
    });
    const temperature = slider({
      label: "temperature",
      min: 0,
      max: 2,
      step: 0.1,
      value: 1,
      show: (number) => number.toFixed(1),
      onInput: (number) => {
        state.temperature = number;
        translate();
      },
    });
    temperature.input.disabled = true;
    const go = element("button", { type: "button", class: "go" }, "Translate");
    go.addEventListener("click", ask);

    const message = element("p", { class: "message", role: "status" });
    const loader = makeLoader();
    const answer = element("div", { class: "answer", role: "status" });
    const others = element("details", { class: "others" });
    const desk = makeDesk();

    stage.append(
      element(
        "div",
        { class: "writing" },
        element("label", { for: field.id }, "An English sentence"),
        field,
        element("div", { class: "examples", role: "group", "aria-label": "Examples" }, ...exampleButtons),
      ),
      element(
        "div",
        { class: "controls" },
        go,
        element("div", { class: "control" }, way.label, way.input),
        element("div", { class: "control" }, temperature.label, temperature.input, temperature.output),
      ),
      loader,
      message,
    );

    // ---- Loading ----

    function makeLoader() {
      const button = element("button", { type: "button", class: "go" }, `Load the translator (${megabytes} MB)`);
      const bar = element("progress", { max: megabytes * 1e6, value: 0, "aria-label": "Loaded" });
      button.addEventListener("click", () => load(fetchFiles, button, bar));
      const picker = element("input", { type: "file", multiple: "", accept: ".json,.safetensors" });
      const drop = element(
        "label",
        { class: "drop" },
        element(
          "span",
          {},
          "or open your own: the three files that ",
          element("code", {}, "glassformer export"),
          " writes, here or dropped here",
        ),
        picker,
      );
      const open = (files) => load(() => sortFiles([...files]), button, bar);
      picker.addEventListener("click", () => (picker.value = "")); // the same files may be opened again
      picker.addEventListener("input", () => open(picker.files));
      drop.addEventListener("dragover", (event) => event.preventDefault());
      drop.addEventListener("drop", (event) => {
        event.preventDefault();
        open(event.dataTransfer.files);
      });
      if (location.protocol === "file:") {
        button.disabled = true;
        message.textContent =
          "This page was opened from your disk, where browsers let no page fetch files. Open the three files by " +
          `hand: they lie beside it, in ${folder}.`;
      }
      return element("div", { class: "loader" }, element("div", { class: "own" }, button, bar), drop);

      async function fetchFiles() {
        const onBytes = (number) => (bar.value += number);
        const blobs = Object.entries(FILES).map(async ([part, name]) => [
          part,
          await download(`${folder}${name}`, onBytes),
        ]);
        return Object.fromEntries(await Promise.all(blobs));
      }
    }

    async function load(find, button, bar) {
      if (isLoading) return;
      isLoading = true;
      bar.value = 0;
      message.textContent = "Loading …";
      try {
        const files = await find();
        await tick();
        translator = await readTranslator(files);
      } catch (error) {
        message.textContent = `It could not be loaded. ${error.message}`;
        return;
      } finally {
        isLoading = false;
      }
      bar.value = bar.max;
      button.textContent = "Load the shipped translator again";
      if (loader.contains(document.activeElement)) go.focus();
      stage.append(answer, others, desk.whole, loader); // the loader, no longer needed, goes to the end
      state.off = {};
      desk.build();
      desk.whole.hidden = true;
      await translate();
    }

    // ---- Translating ----

    function ask() {
      state.seed += 1;
      return translate();
    }

    /** Translate what stands in the field, with the heads that are on and, where some are off, with all. */
    async function translate() {
      if (!translator) {
        message.textContent = "First load the translator.";
        return;
      }
      const turn = (wanted += 1);
      const isAwaited = () => turn === wanted;
      message.textContent = "Translating …";
      await tick();
      if (!isAwaited()) return;
      try {
        const sourceIds = readField();
        const found = await write(sourceIds, state.off, isAwaited);
        const whole = found && isAnyOff() ? await write(sourceIds, {}, isAwaited) : found;
        if (!whole) return;
        const target = found[0].ids;
        const kept = glassformer.inspect(translator.model, sourceIds, target, { switchedOff: state.off });
        result = { source: pieces(sourceIds), target: pieces(target), found, whole, ...kept };
        message.textContent = "";
        drawAnswer();
        desk.draw();
      } catch (error) {
        message.textContent = error.message;
        answer.replaceChildren();
        others.replaceChildren();
      }
      answer.hidden = others.hidden = desk.whole.hidden = message.textContent !== "";
    }

    function readField() {
      const ids = translator.tokenize(field.value);
      if (!ids.length) throw new Error("There is nothing to translate: the field is empty.");
      if (ids.length > MOST_TOKENS) {
        throw new Error(
          `The sentence is too long for this page: it has ${ids.length} tokens, and ${MOST_TOKENS} can be shown. ` +
            "Write a shorter one.",
        );
      }
      return ids;
    }

    async function write(sourceIds, switchedOff, isAwaited) {
      const { model, tokenizer } = translator;
      const { temperature, seed } = state;
      const steps = {
        beam: () => glassformer.beamSearch(model, sourceIds, { beamSize: 4, numBest: 4, switchedOff }),
        greedy: () => glassformer.greedy(model, sourceIds, { switchedOff }),
        chance: () =>
          glassformer.sample(model, sourceIds, {
            temperature,
            random: glassformer.seededRandom(seed),
            switchedOff,
          }),
      }[state.way]();
      const found = await finishGently(steps, isAwaited);
      return found && [found].flat().map((each) => ({ ...each, text: tokenizer.decode(each.ids) }));
    }

    const pieces = (ids) => ids.map((id) => translator.tokenizer.piece(id));
    const isAnyOff = () => Object.values(state.off).some((heads) => heads.length);

    function drawAnswer() {
      const [best, ...rest] = result.found;
      const words = best.text.split(" ");
      const before = result.whole[0].text.split(" ");
      const changed = glassformer.changedWords(words, before);
      const marked = words.flatMap((word, place) => [changed[place] ? element("mark", {}, word) : word, " "]);
      const lines = [
        element("p", { class: "french", lang: "fr" }, ...(best.text ? marked : ["(no words at all)"])),
        element("p", { class: "likely" }, likelihood(best)),
      ];
      if (isAnyOff()) lines.push(comparison(changed.filter(Boolean).length, words.length));
      answer.replaceChildren(...lines);
      others.replaceChildren(
        element("summary", {}, `${plural(rest.length, "other translation")} that it considered`),
        element(
          "ol",
          { start: 2 },
          ...rest.map((each) =>
            element(
              "li",
              {},
              element("span", { lang: "fr" }, each.text),
              ` ${show(each.logProbability / each.ids.length)} a token`,
            ),
          ),
        ),
      );
      others.classList.toggle("none", rest.length === 0);
    }

    function likelihood({ logProbability, ids, ended }) {
      const each = logProbability / ids.length;
      const sentence =
        `Log-probability ${show(logProbability)} for ${plural(ids.length, "token")}, ${show(each)} a token: ` +
        `it found each about ${percent(Math.exp(each))} likely.`;
      return ended ? sentence : `${sentence} It came to no end.`;
    }

    function comparison(numChanged, numWords) {
      const same = result.found[0].text === result.whole[0].text;
      const verdict = numChanged
        ? `${numChanged} of ${plural(numWords, "word")} changed.`
        : same
          ? "Not a word changed."
          : "Words are missing.";
      return element(
        "p",
        {},
        `${verdict} With all heads: `,
        element("span", { lang: "fr" }, result.whole[0].text),
      );
    }

    // ---- Looking inside ----

    function makeDesk() {
      const kind = choice({
        label: "look at",
        options: Object.keys(KINDS),
        value: state.kind,
        onInput: (name) => {
          state.kind = name;
          buildMaps();
          draw();
        },
      });
      const noCross = toggle({
        label: "all cross-attention off",
        value: false,
        onInput: (isOff) => {
          for (const name of namesOf("cross-attention")) state.off[name] = isOff ? allHeads() : [];
          buildMaps();
          translate();
        },
      });
      const allOn = element("button", { type: "button" }, "All heads on");
      allOn.addEventListener("click", () => {
        state.off = {};
        buildMaps();
        translate();
      });
      const rows = { english: tokenRow("english"), french: tokenRow("french") };
      const places = { english: 0, french: 0 };
      const maps = element("div", { class: "layers" });
      const large = element("table", { class: "map", "aria-hidden": "true" });
      const largeNote = element("p", { class: "likely" });
      const likely = element("table", { class: "next" });
      const { parts, say } = summary();
      let small = [];
      const isOff = (name, head) => state.off[name]?.includes(head) ?? false;
      const shownName = () => small[state.layer][state.head].name;
      large.addEventListener("click", (event) => {
        const row = event.target.closest("tbody tr");
        if (row) pick(KINDS[state.kind].asks, row.sectionRowIndex);
      });
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
        ...["english", "french"].map((side) => rows[side].whole),
        ...parts,
        element(
          "div",
          { class: "halves" },
          maps,
          element("div", { class: "one" }, large, largeNote),
          likely,
        ),
      );
      return { whole, build, draw };

      function allHeads() {
        return Array.from({ length: translator.model.config.num_heads }, (_, head) => head);
      }

      function namesOf(kindName) {
        const { start = "", end = "" } = KINDS[kindName];
        return translator.model.attentionNames.filter((name) => name.startsWith(start) && name.endsWith(end));
      }

      function build() {
        state.layer = namesOf(state.kind).length - 1;
        state.head = 0;
        buildMaps();
      }

      /** A map and a switch for each head of each layer. */
      function buildMaps() {
        const names = namesOf(state.kind);
        state.layer = Math.min(state.layer, names.length - 1);
        small = names.map((name, layer) => allHeads().map((head) => smallMap(name, layer, head)));
        set(maps, { "--heads": allHeads().length });
        maps.replaceChildren(
          ...small.map((heads, layer) =>
            element(
              "div",
              { class: "layer", role: "group", "aria-label": `layer ${layer}` },
              element("p", {}, `layer ${layer}`),
              ...heads.map((head) => head.whole),
            ),
          ),
        );
        checkNoCross();
      }

      function checkNoCross() {
        const heads = allHeads();
        noCross.firstChild.checked = namesOf("cross-attention").every((name) =>
          heads.every((head) => isOff(name, head)),
        );
      }

      function smallMap(name, layer, head) {
        const canvas = element("canvas", { "aria-hidden": "true" });
        const button = element("button", { type: "button", "aria-label": `layer ${layer}, head ${head}` }, canvas);
        button.addEventListener("click", () => {
          Object.assign(state, { layer, head });
          draw();
        });
        const power = toggle({
          label: String(head),
          value: !isOff(name, head),
          onInput: (isOn) => {
            const others = (state.off[name] ?? []).filter((each) => each !== head);
            state.off[name] = isOn ? others : [...others, head];
            checkNoCross();
            translate();
          },
        });
        set(power.firstChild, { "aria-label": `layer ${layer}, head ${head} on` });
        return { name, canvas, button, whole: element("div", { class: "head" }, button, power) };
      }

      function pick(side, place) {
        places[side] = Math.max(0, Math.min(place, pieceCount(side) - 1));
        draw();
      }

      function pieceCount(side) {
        return side === "english" ? result.source.length : result.target.length;
      }

      /** The tokens of a sentence: to be picked where they ask, with their weights where they are asked. */
      function tokenRow(side) {
        const list = element("div", { class: "tokens", role: "group", lang: { english: "en", french: "fr" }[side] });
        const heading = element("p", { class: "side" });
        list.addEventListener("keydown", (event) => {
          const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
          if (!(event.key in steps) || KINDS[state.kind].asks !== side) return;
          event.preventDefault();
          pick(side, places[side] + steps[event.key]);
        });
        return { whole: element("div", {}, heading, list), heading, list };
      }

      function drawTokens(side, names, weights) {
        const { heading, list } = rows[side];
        const asks = KINDS[state.kind].asks === side;
        const asked = KINDS[state.kind].asked === side;
        const title = { english: "English", french: "French" }[side];
        const hint = asks ? ": pick one, by click or arrow keys" : "";
        heading.textContent = `${title} in tokens${side === "english" ? ", ▁ where a word begins" : ""}${hint}`;
        set(list, { "aria-label": `${title} tokens` });
        const hadFocus = list.contains(document.activeElement);
        const offset = state.kind === "decoder" && side === "french" ? 1 : 0; // the start comes before them
        const shown = offset ? ["<start>", ...names] : names;
        const chips = shown.map((piece, number) => {
          const place = number - offset;
          const picked = asks && place === places[side];
          const weight = asked ? weights[number] : undefined;
          const inside = [
            element("span", {}, ...spell(piece)),
            ...(asked ? [element("span", { class: "weight" }, weight === undefined ? "" : show(weight))] : []),
          ];
          const style = { class: "token", "--strength": weight ?? 0 };
          if (!asks || place < 0) return element("span", style, ...inside);
          const button = element(
            "button",
            { ...style, type: "button", "aria-pressed": String(picked), tabindex: picked ? 0 : -1 },
            ...inside,
          );
          button.addEventListener("click", () => pick(side, place));
          return button;
        });
        list.replaceChildren(...chips);
        if (hadFocus) list.querySelector("[aria-pressed='true']")?.focus();
      }

      // ---- Drawing ----

      function draw() {
        const { asks, asked } = KINDS[state.kind];
        for (const side of Object.keys(places)) places[side] = Math.min(places[side], pieceCount(side) - 1);
        const map = result.maps[shownName()][state.head];
        const weights = map[places[asks]];
        const keys = asked === "english" ? result.source : ["<start>", ...result.target.slice(0, -1)];
        const queries = asks === "english" ? result.source : result.target;
        drawTokens("english", result.source, weights);
        drawTokens("french", result.target, asked === "french" ? weights.slice(0, places.french + 1) : weights);
        small.flat().forEach((each, number) => drawSmall(each, number % small[0].length));
        drawLarge(map, keys, queries, places[asks]);
        drawLikely();
        say(describe(weights, keys, queries[places[asks]]));
      }

      function drawSmall({ name, canvas, button, whole }, head) {
        const map = result.maps[name][head];
        const [height, width] = [map.length, map[0].length];
        set(canvas, { width, height });
        const context = canvas.getContext("2d");
        const image = context.createImageData(width, height);
        map.flatMap((row) => [...row]).forEach((weight, place) => {
          image.data.set([122, 85, 208, 255 * (0.07 + 0.93 * weight)], 4 * place);
        });
        context.putImageData(image, 0, 0);
        const isPicked = small[state.layer][state.head].button === button;
        set(button, { "aria-pressed": String(isPicked) });
        whole.classList.toggle("off", isOff(name, head));
      }

      function drawLarge(map, keys, queries, picked) {
        const off = isOff(shownName(), state.head);
        const title = `layer ${state.layer}, head ${state.head}${off ? ": off" : ""}`;
        const fits = keys.length <= MOST_DRAWN && queries.length <= MOST_DRAWN;
        large.hidden = !fits;
        largeNote.textContent = fits ? "" : `More than ${MOST_DRAWN} tokens are too many for a large map.`;
        if (!fits) return;
        large.classList.toggle("off", off);
        large.replaceChildren(
          element("caption", {}, title),
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              element("td"),
              ...keys.map((piece) => element("th", {}, element("span", {}, bare(piece)))),
            ),
          ),
          element(
            "tbody",
            {},
            ...queries.map((piece, place) =>
              element(
                "tr",
                place === picked ? { class: "picked" } : {},
                element("th", {}, bare(piece)),
                ...Array.from(map[place], (weight) => element("td", { "--strength": weight })),
              ),
            ),
          ),
        );
      }

      /** The five likeliest tokens where the picked French one was written. */
      function drawLikely() {
        likely.hidden = KINDS[state.kind].asks !== "french";
        const place = places.french;
        const logProbabilities = glassformer.arithmetic.logSoftmax(result.logits[place]);
        logProbabilities[glassformer.PAD_ID] = logProbabilities[glassformer.START_ID] = -Infinity;
        const best = glassformer.likeliest(logProbabilities, 5);
        const written = result.found[0].ids[place];
        likely.replaceChildren(
          element("caption", {}, `The likeliest tokens where “${bare(result.target[place])}” was written`),
          element(
            "tbody",
            {},
            ...best.map(({ id, logProbability }) => {
              const share = Math.exp(logProbability);
              return element(
                "tr",
                id === written ? { class: "written" } : {},
                element("th", { scope: "row", lang: "fr" }, ...spell(translator.tokenizer.piece(id))),
                element("td", { class: "number" }, share.toFixed(3)),
                element("td", { class: "bar", "--share": share }, element("span")),
              );
            }),
          ),
        );
      }

      function describe(weights, keys, query) {
        const best = weights.indexOf(Math.max(...weights));
        const doing = KINDS[state.kind].asks === "english" ? "read" : "wrote";
        const where = `head ${state.head} of layer ${state.layer}`;
        const end = isOff(shownName(), state.head) ? "; but it is off, and handed on nothing" : "";
        const look = `looked most at “${bare(keys[best])}”, ${show(weights[best])}`;
        return `When it ${doing} “${bare(query)}”, ${where} ${look}${end}.`;
      }
    }
  }

  (glassformer.figures ??= []).push(["translate", start]);
})((globalThis.glassformer ??= {}));
