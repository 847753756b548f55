// Beam search, step by step: how the tree grows, what is kept, what is dropped, and how what was found is ranked.
(function (glassformer) {
  const END = "<end>";
  const MOST_OWN = 3; // sentences of the reader's that stay in the list
  const COUNTS = ["None", "One", "Two", "Three", "Four"];

  const number = (value) => glassformer.show(value, 2);
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  /** What a recorded search says of its tokens. */
  function recorded(pairs) {
    const sorted = pairs.map(([beginning, following]) => [
      beginning,
      Object.entries(following)
        .map(([token, logProbability]) => ({ token, logProbability }))
        .sort((one, other) => other.logProbability - one.logProbability),
    ]);
    return {
      continuations: glassformer.treeOf(sorted),
      spell: (token) => token,
      hasEnded: () => true,
      write: (tokens) => {
        const text = tokens.filter((token) => token !== END).join("");
        return text.replaceAll("▁", " ").replace(/^ /, "").replaceAll("' ", "'");
      },
    };
  }

  function start(stage, { searches, model, megabytes }) {
    const { element, set, choice, slider, summary, prediction } = glassformer;
    const { GREEDY } = glassformer.beamTree;
    const sources = new Map(Object.entries(searches).map(([sentence, pairs]) => [sentence, recorded(pairs)]));
    const state = { sentence: [...sources.keys()][0], beamSize: 4, penalty: "none", step: 5, picked: null };
    const own = []; // the reader's sentences, the oldest first
    let source;
    let steps;
    let found;
    let greedy; // the greedy path, from its first token on

    // ---- Controls ----

    const sentence = choice({
      label: "sentence",
      options: [...sources.keys()],
      value: state.sentence,
      onInput: (chosen) => {
        state.sentence = chosen;
        search();
      },
    });
    const beams = slider({
      label: "beams",
      min: 1,
      max: glassformer.MOST_BEAMS,
      step: 1,
      value: state.beamSize,
      onInput: (size) => {
        state.beamSize = size;
        search();
      },
    });
    const penalty = choice({
      label: "length penalty",
      options: glassformer.PENALTIES,
      value: state.penalty,
      onInput: (kind) => {
        state.penalty = kind;
        draw();
      },
    });
    const numSteps = () => (steps ? Math.max(steps.length, greedy.length) : 1);
    const time = slider({
      label: "step",
      min: 1,
      max: 1,
      step: 1,
      value: 1,
      show: (step) => `${step} of ${numSteps()}`,
      onInput: (step) => {
        Object.assign(state, { step, picked: null });
        draw();
      },
    });
    const button = (name, onClick) => {
      const made = element("button", { type: "button" }, name);
      made.addEventListener("click", onClick);
      return made;
    };
    const back = button("Back", () => goTo(state.step - 1));
    const forward = button("Step", () => goTo(state.step + 1));
    const toEnd = button("To the end", () => goTo(numSteps()));

    const tree = glassformer.beamTree({
      onPick: (node) => {
        state.picked = node;
        draw();
      },
      onWiden: () => {
        tree.build({ steps, greedy, spell: source.spell });
        draw();
      },
    });
    const inside = glassformer.beamNode();
    const ranking = glassformer.beamRanking();
    const { parts, say } = summary();

    const control = ({ label, input, output = "" }) =>
      element("div", { class: "control" }, label, input, output);
    stage.append(
      makePrediction(),
      element("div", { class: "controls asked" }, control(sentence), control(beams)),
      element("div", { class: "controls steps" }, back, forward, toEnd, control(time)),
      element("div", { class: "search" }, tree.whole, inside.whole),
      ...parts,
      element("div", { class: "found" }, control(penalty), ranking.whole),
      glassformer.ownSentence({ model, megabytes, onFound: add }),
    );

    /** The question is answered by the recorded searches themselves. */
    function makePrediction() {
      const gains = [...sources].map(([name, { continuations }]) => {
        const [one, four] = [1, 4].map(
          (beamSize) => glassformer.beamNumbers({ continuations, beamSize }).found,
        );
        const best = Math.max(...four.map(({ logProbability }) => logProbability));
        return { name, one: one[0].logProbability, best };
      });
      const likelier = gains.filter(({ one, best }) => best > one);
      const listed = likelier.map(
        ({ name, one, best }) => `“${name}” from ${number(one)} to ${number(best)}`,
      );
      return prediction({
        question:
          "Greedy decoding follows one path. For how many of these sentences do four beams find a likelier " +
          "translation?",
        answers: COUNTS.slice(0, gains.length + 1),
        right: likelier.length,
        because: listed.length
          ? `The log-probability rises for ${listed.join(" and ")}.`
          : "All stay as they are.",
      });
    }

    // ---- Searching ----

    /** Search anew, and show as many steps as before, or all if these were all. */
    function search() {
      const step = state.step === numSteps() ? Infinity : state.step;
      source = sources.get(state.sentence);
      const { continuations, spell, hasEnded } = source;
      const run = (beamSize) => glassformer.beamNumbers({ continuations, beamSize, hasEnded });
      ({ steps, found } = run(state.beamSize));
      greedy = run(1).steps.map(([likeliest]) => likeliest);
      tree.build({ steps, greedy, spell });
      set(time.input, { max: numSteps() });
      goTo(step);
    }

    function goTo(step) {
      time.input.value = Math.min(Math.max(step, 1), numSteps());
      time.input.dispatchEvent(new Event("input"));
    }

    /** Take in a sentence of the reader's, and what is known of it. */
    function add(text, known) {
      if (!sources.has(text)) {
        sentence.input.append(element("option", { value: text }, text));
        own.push(text);
      }
      sources.set(text, known);
      if (own.length > MOST_OWN) forget(own.shift());
      sentence.input.value = state.sentence = text;
      search();
      goTo(Infinity);
    }

    function forget(text) {
      sources.delete(text);
      [...sentence.input.options].find(({ value }) => value === text).remove();
    }

    // ---- Drawing ----

    function draw() {
      const isShown = ({ tokens }) => tokens.length <= state.step;
      const ranked = glassformer.rankHypotheses(found.filter(isShown), state.penalty, source.hasEnded);
      const picked = state.picked ?? defaultPick(ranked);
      const greedyColumns = greedy.map((each, row) => columnOf(each, row));
      const seen = (state.picked ?? { row: state.step - 1 }).row;
      tree.show({ step: state.step, picked, lit: lineage(picked), greedyColumns, seen });
      set(back, { "aria-disabled": String(state.step === 1) });
      for (const each of [forward, toEnd]) set(each, { "aria-disabled": String(state.step === numSteps()) });
      drawPicked(picked);
      const followed = (steps[state.step - 1] ?? []).filter(({ fate }) => fate === "followed");
      ranking.draw({ ranked, followed, write: source.write });
      say(describe(ranked));
    }

    /** The best that was found where the search has ended, else the likeliest of this step. */
    function defaultPick([winner]) {
      const row = state.step - 1;
      if (row >= steps.length - 1 && winner) return { row: winner.tokens.length - 1, column: winner.column };
      return { row, column: 0 };
    }

    /** In which column of a step something stands; none if it is not there. */
    function columnOf({ tokens }, row) {
      const place = (steps[row] ?? []).findIndex((each) => each.tokens.join("\n") === tokens.join("\n"));
      return place < 0 ? null : place;
    }

    /** The columns that a node descends from, row by row. */
    function lineage({ row, column }) {
      if (column === GREEDY) return [];
      const columns = [];
      for (let place = row; place >= 0; place--) {
        columns[place] = column;
        column = steps[place][column].parent;
      }
      return columns;
    }

    /** What is known of the picked node, and which of its continuations the next step kept if that is shown. */
    function drawPicked({ row, column }) {
      const isGreedy = column === GREEDY;
      const node = isGreedy ? greedy[row] : steps[row][column];
      const later = isGreedy ? greedy.slice(row + 1, row + 2) : (steps[row + 1] ?? []);
      const kept = later.filter(({ fate, parent }) => fate !== "dropped" && (isGreedy || parent === column));
      inside.draw({
        node,
        source,
        kept: state.step > row + 1 ? kept.map(({ tokens }) => tokens.at(-1)) : [],
      });
    }

    // ---- Saying ----

    function describe(ranked) {
      const beamsOf = plural(state.beamSize, "beam");
      if (state.step >= steps.length) {
        return `${describeBest(ranked, beamsOf)}; greedy decoding’s translation ${placeOfGreedy(ranked)}.`;
      }
      const step = steps[state.step - 1];
      const going = step.filter(({ fate }) => fate === "followed");
      const leads = `“${source.write(going[0].tokens)}” leads with ${number(going[0].logProbability)}`;
      const numEnded = ranked.filter((each) => each.ended).length;
      const ended = numEnded ? `, ${numEnded} complete` : "";
      return `Step ${state.step}: ${going.length} of ${beamsOf} followed${ended}; ${leads}; ${greedySoFar(step)}.`;
    }

    function describeBest(ranked, beamsOf) {
      const [best] = ranked;
      const cut = ranked.filter((each) => !each.ended);
      const limit = `cut off at ${cut[0]?.tokens.length} tokens, the most that this search writes`;
      if (!best.ended) return `None of ${beamsOf} has ended: all were ${limit}`;
      const penalty =
        state.penalty === "none" ? "Without a penalty" : `With the penalty “${state.penalty}”`;
      const text = source.write(best.tokens);
      const first = `${penalty}, “${text}” is the best of ${beamsOf}, score ${number(best.score)}`;
      if (!cut.length) return first;
      return `${first}; ${cut.length} of them ${cut.length === 1 ? "was" : "were"} ${limit}`;
    }

    function placeOfGreedy(ranked) {
      const { tokens: path, logProbability, fate } = greedy.at(-1);
      if (fate === "cut") return "was cut off, too";
      const place = ranked.findIndex(({ tokens }) => tokens.join("\n") === path.join("\n"));
      if (place >= 0) return `is number ${place + 1}`;
      return `“${source.write(path)}” is not among them, log-probability ${number(logProbability)}`;
    }

    function greedySoFar(step) {
      const path = greedy[state.step - 1];
      if (!path) return "greedy decoding has ended";
      const column = columnOf(path, state.step - 1);
      const isKept = column !== null && step[column].fate !== "dropped";
      return isKept ? `greedy decoding’s path is number ${column + 1}` : "greedy decoding’s path is dropped";
    }

    search();
  }

  (glassformer.figures ??= []).push(["beam", start]);
})((globalThis.glassformer ??= {}));
