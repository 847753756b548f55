// Beam search over a tree of beginnings: the dozen lines of the book, with all that they go through kept.
//
// `continuations` says of a beginning, a list of tokens, what the likeliest next ones are, the likeliest
// first: `[{ token, logProbability }]`. It says nothing of what is complete.
(function (glassformer) {
  const MOST_BEAMS = 4;
  const NUM_FOLLOWING = 6; // next tokens of each beginning that are known
  const PENALTIES = { none: () => 1, average: (n) => n, gnmt: (n) => ((5 + n) / 6) ** 0.6 };

  /**
   * Follow the likeliest few beginnings side by side. Returned are `steps`, of each the likeliest
   * continuations, `{ tokens, logProbability, column, parent, fate }`, where `column` is the rank, `parent`
   * the column of what is continued, and the fate "followed", "complete", "cut" (neither followed nor ended)
   * or "dropped"; and what was `found`.
   */
  glassformer.beamNumbers = function ({ continuations, beamSize, hasEnded = () => true }) {
    const [steps, found] = [[], []];
    let beams = [{ tokens: [], logProbability: 0, column: 0 }];
    while (beams.length) {
      const grown = beams.flatMap((beam) =>
        continuations(beam.tokens).map(({ token, logProbability }) => ({
          tokens: [...beam.tokens, token],
          logProbability: beam.logProbability + logProbability,
          parent: beam.column,
        })),
      );
      grown.sort((one, other) => other.logProbability - one.logProbability);
      const step = grown.slice(0, NUM_FOLLOWING);
      const room = beamSize - found.length;
      step.forEach((each, column) => {
        const stopped = hasEnded(each.tokens) ? "complete" : "cut";
        const kept = continuations(each.tokens) ? "followed" : stopped;
        Object.assign(each, { column, fate: column < room ? kept : "dropped" });
      });
      steps.push(step);
      found.push(...step.filter(({ fate }) => fate === "complete" || fate === "cut"));
      beams = step.filter(({ fate }) => fate === "followed");
    }
    return { steps, found };
  };

  /** Rank hypotheses by log-probability over the penalty of their length; those without an end come last. */
  glassformer.rankHypotheses = function (found, penalty, hasEnded = () => true) {
    const scored = found.map((each) => {
      const divisor = PENALTIES[penalty](each.tokens.length);
      return { ...each, divisor, score: each.logProbability / divisor, ended: hasEnded(each.tokens) };
    });
    return scored.sort((one, other) => other.ended - one.ended || other.score - one.score);
  };

  /** Make `continuations` of pairs: a beginning, and the tokens that may come next. */
  glassformer.treeOf = function (pairs) {
    const known = new Map(pairs.map(([beginning, following]) => [beginning.join("\n"), following]));
    return (tokens) => known.get(tokens.join("\n"));
  };

  /** Run the searches of 1 to 4 beams through a model, and make `continuations` of all that they meet. */
  glassformer.searchModel = async function (model, sourceIds, { breathe = () => {}, maxLength } = {}) {
    const pairs = [];
    for (let beamSize = MOST_BEAMS; beamSize >= 1; beamSize--) {
      if (pairs.length && isKnown(glassformer.treeOf(pairs), beamSize)) continue;
      const options = { beamSize, nBest: beamSize, numFollowing: NUM_FOLLOWING, maxLength };
      let beginnings = [[]];
      for (const { following, beams } of glassformer.beamSearch(model, sourceIds, options)) {
        following.forEach((tokens, beam) => {
          const named = tokens.map(({ id, logProbability }) => ({ token: id, logProbability }));
          pairs.push([beginnings[beam], named]);
        });
        beginnings = beams.map(({ ids }) => ids);
        await breathe();
      }
    }
    return glassformer.treeOf(pairs);
  };

  /** Whether a wider search has met all that this one goes through, up to every end. */
  function isKnown(continuations, beamSize) {
    const { found } = glassformer.beamNumbers({ continuations, beamSize });
    return found.every(({ tokens }) => tokens.at(-1) === glassformer.END_ID);
  }

  Object.assign(glassformer, { PENALTIES: Object.keys(PENALTIES), MOST_BEAMS });
})((globalThis.glassformer ??= {}));
