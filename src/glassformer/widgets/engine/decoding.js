// Decoding algorithms (`decoding/`). Each is a generator that yields every step and returns its result; `runToEnd`
// (scheduling.js) returns the result alone.
//
// All take a model, the ids of a source sentence with its end, and options: `maxLength`, the maximum number of
// generated tokens including the end, and `ablated`, heads as in `ablateHeads`.
(function (glassformer) {
  const DEFAULT_ALPHA = { none: 0, average: 1, gnmt: 0.6 };

  /**
   * Decode greedily: take the most probable token at each step. Yields `{ ids, id, logProbability,
   * logProbabilities }`: the tokens so far, the last of them, their total log-probability, and the
   * log-probabilities of all candidates for the last token. Returns `{ ids, logProbability, ended }`.
   */
  function greedy(model, sourceIds, options = {}) {
    return generate(model, sourceIds, (logProbabilities) => topk(logProbabilities, 1)[0].id, options);
  }

  /**
   * Sample each token from softmax(logits / temperature); a temperature of 0 is greedy decoding. `random` returns
   * uniform numbers in [0, 1): see `seededRandom`. Yields and returns the same as `greedy`.
   */
  function sample(model, sourceIds, { temperature = 1, random = Math.random, ...options } = {}) {
    if (!(temperature >= 0 && temperature < Infinity)) {
      throw new Error(`temperature must be at least 0 and finite, got ${temperature}.`);
    }
    if (temperature === 0) return greedy(model, sourceIds, options);
    const choose = (logProbabilities) => sampleToken(logProbabilities, temperature, random());
    return generate(model, sourceIds, choose, options);
  }

  function* generate(model, sourceIds, choose, { maxLength, ablated = {} }) {
    const limit = resolveMaxLength(model, sourceIds, maxLength);
    const hook = glassformer.ablateHeads(model, ablated);
    const decoding = new glassformer.CachedDecoding(model, sourceIds, { maxLength: limit, hook });
    const { START_ID, END_ID } = glassformer;
    let [ids, id, logProbability] = [[], START_ID, 0];
    while (ids.length < limit && id !== END_ID) {
      const logProbabilities = nextLogProbabilities(model, decoding.step([id]));
      id = choose(logProbabilities);
      ids = [...ids, id];
      logProbability += logProbabilities[id];
      yield { ids, id, logProbability, logProbabilities };
    }
    return { ids, logProbability, ended: id === END_ID };
  }

  /**
   * Search with a beam: `decoding/beam.py` documents the options and the stopping rule. Yields `{ candidates, beams,
   * nextTokens }`: the best candidates of the step, each `{ ids, logProbability, score, ended, parent, status }`; those
   * that continue as beams; and for each previous beam its most probable next tokens, `{ id, logProbability }`, at least
   * `numNextTokens`. `parent` is the index of the beam that a candidate extends, `status` is "kept", "complete" or
   * "pruned". Returns the `nBest` best hypotheses.
   */
  function* beamSearch(model, sourceIds, options = {}) {
    const { beamSize = 4, nBest = 1, lengthPenalty = "gnmt", alpha } = options;
    const { maxLength, ablated = {}, numNextTokens = beamSize } = options;
    requirePositiveIntegers({ beamSize, nBest, numNextTokens });
    if (nBest > beamSize) throw new Error(`nBest must be at most beamSize (${beamSize}), got ${nBest}.`);
    const penalty = makePenalty(lengthPenalty, alpha);
    const limit = resolveMaxLength(model, sourceIds, maxLength);
    const hook = glassformer.ablateHeads(model, ablated);
    const decoding = new glassformer.CachedDecoding(model, sourceIds, { maxLength: limit, beamSize, hook });
    const complete = [];
    let beams = [{ ids: [], logProbability: 0 }];
    let numOpen = beamSize; // beams not yet taken by an ended hypothesis
    for (let length = 1; beams.length; length++) {
      const lastIds = beams.map(({ ids }) => ids.at(-1) ?? glassformer.START_ID);
      const nextTokens = topkOfBeams(model, decoding.step(lastIds), Math.max(beamSize, numNextTokens));
      const candidates = extend(beams, nextTokens).slice(0, beamSize);
      for (const candidate of candidates) candidate.score = candidate.logProbability / penalty(length);
      const selected = candidates.slice(0, numOpen);
      const isComplete = ({ ended }) => ended || length === limit;
      complete.push(...selected.filter(isComplete));
      numOpen -= selected.filter(({ ended }) => ended).length;
      beams = selected.filter((candidate) => !isComplete(candidate));
      if (isDecided(beams, complete, nBest, penalty(limit))) beams = [];
      for (const candidate of candidates) candidate.status = statusOf(candidate, beams, complete);
      yield { candidates, beams, nextTokens };
      decoding.reorder(beams.map(({ parent }) => parent));
    }
    return complete.sort(byRank).slice(0, nBest);
  }

  /** Select the k tokens of highest log-probability, best first: `{ id, logProbability }`. */
  function topk(logProbabilities, k) {
    const best = [];
    for (let id = 0; id < logProbabilities.length; id++) {
      const logProbability = logProbabilities[id];
      if (best.length === k && logProbability <= best[k - 1].logProbability) continue;
      const rank = best.findIndex((other) => other.logProbability < logProbability);
      best.splice(rank < 0 ? best.length : rank, 0, { id, logProbability });
      best.length = Math.min(best.length, k);
    }
    return best;
  }

  /** Sample a token by inverting the cumulative distribution at `uniform`. */
  function sampleToken(logProbabilities, temperature, uniform) {
    const [{ logProbability: highest }] = topk(logProbabilities, 1);
    const probabilities = logProbabilities.map((each) => (each - highest) / temperature);
    glassformer.kernels.softmax(probabilities);
    let cumulative = 0;
    let last;
    for (let id = 0; id < probabilities.length; id++) {
      if (!probabilities[id]) continue;
      cumulative += probabilities[id];
      last = id;
      if (cumulative > uniform) break;
    }
    return last;
  }

  /** Compute the log-probabilities of all tokens; padding and start are never generated and get −∞. */
  function nextLogProbabilities(model, logits) {
    const { logSoftmax, allFinite } = glassformer.kernels;
    const logProbabilities = logSoftmax(logits);
    if (!allFinite(logProbabilities)) {
      throw new Error("The model's logits must be finite: its weights are damaged or too large.");
    }
    for (const id of [model.config.pad_id, glassformer.START_ID]) logProbabilities[id] = -Infinity;
    return logProbabilities;
  }

  /** Select the most probable next tokens of each beam. */
  function topkOfBeams(model, logits, k) {
    const size = model.config.target_vocabulary_size;
    return Array.from({ length: logits.length / size }, (_, beam) => {
      const beamLogits = logits.subarray(beam * size, (beam + 1) * size);
      const tokens = topk(nextLogProbabilities(model, beamLogits), k);
      return tokens.filter(({ logProbability }) => logProbability > -Infinity);
    });
  }

  /** Extend each beam by each of its next tokens; return the candidates of all beams, best first. */
  function extend(beams, nextTokens) {
    const candidates = beams.flatMap((beam, parent) =>
      nextTokens[parent].map(({ id, logProbability }) => ({
        ids: [...beam.ids, id],
        logProbability: beam.logProbability + logProbability,
        ended: id === glassformer.END_ID,
        parent,
      })),
    );
    return candidates.sort((one, other) => other.logProbability - one.logProbability);
  }

  /** Say whether no beam can still reach the n best: log-probability never rises. */
  function isDecided([bestBeam], complete, nBest, maxPenalty) {
    const ended = complete.filter((hypothesis) => hypothesis.ended).sort(byRank);
    if (!bestBeam || ended.length < nBest) return false;
    return bestBeam.logProbability / maxPenalty <= ended[nBest - 1].score;
  }

  function statusOf(candidate, beams, complete) {
    if (beams.includes(candidate)) return "kept";
    return complete.includes(candidate) ? "complete" : "pruned";
  }

  /** Order ended hypotheses before truncated ones, then by score. */
  function byRank(one, other) {
    return other.ended - one.ended || other.score - one.score;
  }

  /** Make the length penalty: the divisor of a log-probability, as a function of length. */
  function makePenalty(kind, alpha = DEFAULT_ALPHA[kind]) {
    if (!Object.hasOwn(DEFAULT_ALPHA, kind)) {
      throw new Error(`lengthPenalty must be one of ${Object.keys(DEFAULT_ALPHA).join(", ")}, got ${kind}.`);
    }
    if (!(alpha >= 0 && alpha < Infinity)) {
      throw new Error(`alpha must be at least 0 and finite, got ${alpha}.`);
    }
    const base = { none: () => 1, average: (length) => length, gnmt: (length) => (5 + length) / 6 }[kind];
    return (length) => base(length) ** alpha;
  }

  /** Resolve the maximum length; the default is twice the source length plus 10. */
  function resolveMaxLength(model, sourceIds, maxLength) {
    if (maxLength === undefined) return Math.min(2 * sourceIds.length + 10, model.numPositions);
    requirePositiveIntegers({ maxLength });
    if (maxLength > model.numPositions) {
      throw new Error(
        `maxLength must be at most ${model.numPositions}, the number of learned positions, got ${maxLength}.`,
      );
    }
    return maxLength;
  }

  function requirePositiveIntegers(numbers) {
    for (const [name, number] of Object.entries(numbers)) {
      if (!Number.isInteger(number) || number < 1) {
        throw new Error(`${name} must be a positive integer, got ${number}.`);
      }
    }
  }

  Object.assign(glassformer, { greedy, sample, beamSearch, topk });
})((globalThis.glassformer ??= {}));
