// Beam search over a tree of prefixes, with all intermediate steps recorded.
//
// `continuations` maps a prefix, a list of tokens, to its most probable next tokens, best first:
// `[{ token, logProbability }]`. It returns undefined for a complete hypothesis.
(function (glassformer) {
  const MAX_BEAMS = 4;
  const NUM_NEXT_TOKENS = 6; // recorded for each prefix
  const PENALTIES = { none: () => 1, average: (n) => n, gnmt: (n) => ((5 + n) / 6) ** 0.6 };

  /**
   * Run beam search and record its steps. Returns `steps`, the best candidates of each step, and the finished
   * `hypotheses`. A candidate is `{ tokens, logProbability, column, parent, status }`: `column` is its rank, `parent`
   * the column that it extends, and `status` is "kept", "complete", "truncated" (at the maximum length) or "pruned".
   */
  glassformer.traceSearch = function ({ continuations, beamSize, hasEnded = () => true }) {
    const [steps, hypotheses] = [[], []];
    let beams = [{ tokens: [], logProbability: 0, column: 0 }];
    while (beams.length) {
      const candidates = beams.flatMap((beam) =>
        continuations(beam.tokens).map(({ token, logProbability }) => ({
          tokens: [...beam.tokens, token],
          logProbability: beam.logProbability + logProbability,
          parent: beam.column,
        })),
      );
      candidates.sort((one, other) => other.logProbability - one.logProbability);
      const step = candidates.slice(0, NUM_NEXT_TOKENS);
      const numOpen = beamSize - hypotheses.length;
      step.forEach((candidate, column) => {
        const finished = hasEnded(candidate.tokens) ? "complete" : "truncated";
        const status = continuations(candidate.tokens) ? "kept" : finished;
        Object.assign(candidate, { column, status: column < numOpen ? status : "pruned" });
      });
      steps.push(step);
      hypotheses.push(...step.filter(({ status }) => status === "complete" || status === "truncated"));
      beams = step.filter(({ status }) => status === "kept");
    }
    return { steps, hypotheses };
  };

  /** Rank hypotheses by log-probability divided by the length penalty; truncated ones come last. */
  glassformer.rankHypotheses = function (hypotheses, penalty, hasEnded = () => true) {
    const scored = hypotheses.map((each) => {
      const divisor = PENALTIES[penalty](each.tokens.length);
      return { ...each, divisor, score: each.logProbability / divisor, ended: hasEnded(each.tokens) };
    });
    return scored.sort((one, other) => other.ended - one.ended || other.score - one.score);
  };

  /** Make `continuations` from pairs of a prefix and its next tokens. */
  glassformer.makePrefixTree = function (pairs) {
    const nextTokensOf = new Map(pairs.map(([prefix, nextTokens]) => [prefix.join("\n"), nextTokens]));
    return (tokens) => nextTokensOf.get(tokens.join("\n"));
  };

  /** Search a model with 1 to 4 beams, and make `continuations` of all prefixes that occur. */
  glassformer.searchModel = async function (
    model,
    sourceIds,
    { yieldToBrowser = () => {}, maxLength } = {},
  ) {
    const pairs = [];
    for (let beamSize = MAX_BEAMS; beamSize >= 1; beamSize--) {
      if (pairs.length && isCovered(glassformer.makePrefixTree(pairs), beamSize)) continue;
      const options = { beamSize, nBest: beamSize, numNextTokens: NUM_NEXT_TOKENS, maxLength };
      let prefixes = [[]];
      for (const { nextTokens, beams } of glassformer.beamSearch(model, sourceIds, options)) {
        nextTokens.forEach((tokens, beam) => {
          const named = tokens.map(({ id, logProbability }) => ({ token: id, logProbability }));
          pairs.push([prefixes[beam], named]);
        });
        prefixes = beams.map(({ ids }) => ids);
        await yieldToBrowser();
      }
    }
    return glassformer.makePrefixTree(pairs);
  };

  /** Say whether a wider search has visited every prefix of this one. */
  function isCovered(continuations, beamSize) {
    const { hypotheses } = glassformer.traceSearch({ continuations, beamSize });
    return hypotheses.every(({ tokens }) => tokens.at(-1) === glassformer.END_ID);
  }

  Object.assign(glassformer, { PENALTIES: Object.keys(PENALTIES), MAX_BEAMS });
})((globalThis.glassformer ??= {}));
