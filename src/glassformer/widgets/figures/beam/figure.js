// Beam search, step by step: the search tree, kept and pruned candidates, and the ranking of hypotheses.
(function (glassformer) {
  const END = "<end>";
  const MAX_USER_SENTENCES = 3; // in the list of sentences
  const COUNTS = ["None", "One", "Two", "Three", "Four"];

  const number = (value) => glassformer.show(value, 2);
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  /** Make a source of continuations from a recorded search. */
  function recorded(pairs) {
    const sorted = pairs.map(([prefix, nextTokens]) => [
      prefix,
      Object.entries(nextTokens)
        .map(([token, logProbability]) => ({ token, logProbability }))
        .sort((one, other) => other.logProbability - one.logProbability),
    ]);
    return {
      continuations: glassformer.makePrefixTree(sorted),
      spell: (token) => token,
      hasEnded: () => true,
      detokenize: (tokens) => {
        const text = tokens.filter((token) => token !== END).join("");
        return text.replaceAll("▁", " ").replace(/^ /, "").replaceAll("' ", "'");
      },
    };
  }

  function start(stage, { searches, model, megabytes }) {
    const { element, set, choice, slider, summary, prediction } = glassformer;
    const { GREEDY } = glassformer.makeSearchTree;
    const sources = new Map(Object.entries(searches).map(([sentence, pairs]) => [sentence, recorded(pairs)]));
    const state = { sentence: [...sources.keys()][0], beamSize: 4, penalty: "none", step: 5, picked: null };
    const userSentences = []; // oldest first
    let source;
    let steps;
    let hypotheses;
    let greedy; // the greedy path

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
      max: glassformer.MAX_BEAMS,
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

    const tree = glassformer.makeSearchTree({
      onPick: (node) => {
        state.picked = node;
        draw();
      },
      onResize: () => {
        tree.build({ steps, greedy, spell: source.spell });
        draw();
      },
    });
    const inside = glassformer.makeNodeDetails();
    const ranking = glassformer.makeRankingTable();
    const { parts, say } = summary();

    const control = ({ label, input, output = "" }) =>
      element("div", { class: "control" }, label, input, output);
    stage.append(
      makePrediction(),
      element("div", { class: "controls asked" }, control(sentence), control(beams)),
      element("div", { class: "controls steps" }, back, forward, toEnd, control(time)),
      element("div", { class: "search" }, tree.whole, inside.whole),
      ...parts,
      element("div", { class: "hypotheses" }, control(penalty), ranking.whole),
      glassformer.makeSentenceForm({ model, megabytes, onFound: add }),
    );

    /** The answer is computed from the recorded searches. */
    function makePrediction() {
      const gains = [...sources].map(([name, { continuations }]) => {
        const [one, four] = [1, 4].map(
          (beamSize) => glassformer.traceSearch({ continuations, beamSize }).hypotheses,
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
          "Greedy decoding follows one path. For how many of these sentences do four beams find a more " +
          "probable translation?",
        answers: COUNTS.slice(0, gains.length + 1),
        right: likelier.length,
        because: listed.length
          ? `The log-probability rises for ${listed.join(" and ")}.`
          : "No translation changes.",
      });
    }

    // ---- Search ----

    /** Run the search again; show as many steps as before, or all if all were shown. */
    function search() {
      const step = state.step === numSteps() ? Infinity : state.step;
      source = sources.get(state.sentence);
      const { continuations, spell, hasEnded } = source;
      const run = (beamSize) => glassformer.traceSearch({ continuations, beamSize, hasEnded });
      ({ steps, hypotheses } = run(state.beamSize));
      greedy = run(1).steps.map(([best]) => best);
      tree.build({ steps, greedy, spell });
      set(time.input, { max: numSteps() });
      goTo(step);
    }

    function goTo(step) {
      time.input.value = Math.min(Math.max(step, 1), numSteps());
      time.input.dispatchEvent(new Event("input"));
    }

    /** Add a sentence of the reader's with its search. */
    function add(text, recorded) {
      if (!sources.has(text)) {
        sentence.input.append(element("option", { value: text }, text));
        userSentences.push(text);
      }
      sources.set(text, recorded);
      if (userSentences.length > MAX_USER_SENTENCES) removeSentence(userSentences.shift());
      sentence.input.value = state.sentence = text;
      search();
      goTo(Infinity);
    }

    function removeSentence(text) {
      sources.delete(text);
      [...sentence.input.options].find(({ value }) => value === text).remove();
    }

    // ---- Drawing ----

    function draw() {
      const isShown = ({ tokens }) => tokens.length <= state.step;
      const ranked = glassformer.rankHypotheses(hypotheses.filter(isShown), state.penalty, source.hasEnded);
      const picked = state.picked ?? defaultPick(ranked);
      const greedyColumns = greedy.map((each, row) => columnOf(each, row));
      const visibleRow = (state.picked ?? { row: state.step - 1 }).row;
      tree.show({ step: state.step, picked, path: ancestors(picked), greedyColumns, visibleRow });
      set(back, { "aria-disabled": String(state.step === 1) });
      for (const each of [forward, toEnd]) set(each, { "aria-disabled": String(state.step === numSteps()) });
      drawPicked(picked);
      const beams = (steps[state.step - 1] ?? []).filter(({ status }) => status === "kept");
      ranking.draw({ ranked, beams, detokenize: source.detokenize });
      say(describe(ranked));
    }

    /** Pick the best hypothesis once the search has ended, or else the best candidate of this step. */
    function defaultPick([winner]) {
      const row = state.step - 1;
      if (row >= steps.length - 1 && winner) return { row: winner.tokens.length - 1, column: winner.column };
      return { row, column: 0 };
    }

    /** Find the column of a candidate in a step, or null. */
    function columnOf({ tokens }, row) {
      const column = (steps[row] ?? []).findIndex((each) => each.tokens.join("\n") === tokens.join("\n"));
      return column < 0 ? null : column;
    }

    /** List the columns of a node's ancestors by row. */
    function ancestors({ row, column }) {
      if (column === GREEDY) return [];
      const columns = [];
      for (let place = row; place >= 0; place--) {
        columns[place] = column;
        column = steps[place][column].parent;
      }
      return columns;
    }

    /** Show the picked node, and which of its continuations the next step kept. */
    function drawPicked({ row, column }) {
      const isGreedy = column === GREEDY;
      const node = isGreedy ? greedy[row] : steps[row][column];
      const later = isGreedy ? greedy.slice(row + 1, row + 2) : (steps[row + 1] ?? []);
      const kept = later.filter(({ status, parent }) => status !== "pruned" && (isGreedy || parent === column));
      inside.draw({
        node,
        source,
        kept: state.step > row + 1 ? kept.map(({ tokens }) => tokens.at(-1)) : [],
      });
    }

    // ---- Descriptions ----

    function describe(ranked) {
      const beamsOf = plural(state.beamSize, "beam");
      if (state.step >= steps.length) {
        return `${describeBest(ranked, beamsOf)}; the greedy translation ${rankOfGreedy(ranked)}.`;
      }
      const step = steps[state.step - 1];
      const kept = step.filter(({ status }) => status === "kept");
      const leads = `“${source.detokenize(kept[0].tokens)}” leads with ${number(kept[0].logProbability)}`;
      const numEnded = ranked.filter((each) => each.ended).length;
      const ended = numEnded ? `, ${numEnded} complete` : "";
      return `Step ${state.step}: ${kept.length} of ${beamsOf} kept${ended}; ${leads}; ${greedySoFar(step)}.`;
    }

    function describeBest(ranked, beamsOf) {
      const [best] = ranked;
      const truncated = ranked.filter((each) => !each.ended);
      const limit = `truncated at ${truncated[0]?.tokens.length} tokens, the maximum length`;
      if (!best.ended) return `None of ${beamsOf} has ended: all were ${limit}`;
      const penalty =
        state.penalty === "none" ? "Without a length penalty" : `With length penalty “${state.penalty}”`;
      const text = source.detokenize(best.tokens);
      const first = `${penalty}, the best of ${beamsOf} is “${text}”, score ${number(best.score)}`;
      if (!truncated.length) return first;
      return `${first}; ${truncated.length} of them ${truncated.length === 1 ? "was" : "were"} ${limit}`;
    }

    function rankOfGreedy(ranked) {
      const { tokens: path, logProbability, status } = greedy.at(-1);
      if (status === "truncated") return "was truncated, too";
      const rank = ranked.findIndex(({ tokens }) => tokens.join("\n") === path.join("\n"));
      if (rank >= 0) return `has rank ${rank + 1}`;
      return `“${source.detokenize(path)}” is not among them, log-probability ${number(logProbability)}`;
    }

    function greedySoFar(step) {
      const path = greedy[state.step - 1];
      if (!path) return "greedy decoding has ended";
      const column = columnOf(path, state.step - 1);
      const isKept = column !== null && step[column].status !== "pruned";
      return isKept ? `the greedy path has rank ${column + 1}` : "the greedy path is pruned";
    }

    search();
  }

  (glassformer.figures ??= []).push(["beam", start]);
})((globalThis.glassformer ??= {}));
