// Ways to write a translation (`decoding/`). Each is a generator: it yields every step, for a page to show,
// and returns what it found. `finish` runs one through.
//
// All take a model, the ids of a sentence with its end, and options: `maxLength`, how many tokens to write at
// most, the end among them, and `switchedOff`, heads as in `silenceHeads`.
(function (glassformer) {
  const USUAL_ALPHA = { none: 0, average: 1, gnmt: 0.6 };

  /**
   * Write the likeliest token each time. Yields `{ ids, id, logProbability, logProbabilities }`: what is
   * written so far, the last token of it, the log-probability of it all, and those of each token that might
   * have come last. Returns `{ ids, logProbability, ended }`.
   */
  function greedy(model, sourceIds, options = {}) {
    return write(model, sourceIds, (logProbabilities) => likeliest(logProbabilities, 1)[0].id, options);
  }

  /**
   * Draw each token as often as the model finds it likely. Below 1, `temperature` makes the likely likelier;
   * 0 is greedy. `random` gives numbers from 0 up to 1: see `seededRandom`. Yields and returns as `greedy`.
   */
  function sample(model, sourceIds, { temperature = 1, random = Math.random, ...options } = {}) {
    if (!(temperature >= 0 && temperature < Infinity)) {
      throw new Error(`The temperature must be at least 0 and finite, got ${temperature}.`);
    }
    if (temperature === 0) return greedy(model, sourceIds, options);
    const draw = (logProbabilities) => drawToken(logProbabilities, temperature, random());
    return write(model, sourceIds, draw, options);
  }

  function* write(model, sourceIds, choose, { maxLength, switchedOff = {} }) {
    const limit = lengthLimit(model, sourceIds, maxLength);
    const atHeads = glassformer.silenceHeads(model, switchedOff);
    const cache = new glassformer.KeyValueCache(model, sourceIds, { maxLength: limit, atHeads });
    const { START_ID, END_ID } = glassformer;
    let [ids, id, logProbability] = [[], START_ID, 0];
    while (ids.length < limit && id !== END_ID) {
      const logProbabilities = nextLogProbabilities(model, cache.step([id]));
      id = choose(logProbabilities);
      ids = [...ids, id];
      logProbability += logProbabilities[id];
      yield { ids, id, logProbability, logProbabilities };
    }
    return { ids, logProbability, ended: id === END_ID };
  }

  /**
   * Follow the likeliest few translations side by side: see `decoding/beam.py` for the options and for when
   * the search stops. Yields `{ candidates, beams, following }`: the likeliest continuations, the best first,
   * each `{ ids, logProbability, score, ended, parent, fate }`, those of them that are followed, and for each
   * beam before, its likeliest next tokens, `{ id, logProbability }`, at least `numFollowing`. A candidate's
   * parent is the number of the beam it continues, its fate "followed", "complete" or "dropped". Returns the
   * `nBest` best hypotheses.
   */
  function* beamSearch(model, sourceIds, options = {}) {
    const { beamSize = 4, nBest = 1, lengthPenalty = "gnmt", alpha } = options;
    const { maxLength, switchedOff = {}, numFollowing = beamSize } = options;
    requireWhole({ beamSize, nBest, numFollowing });
    if (nBest > beamSize) {
      throw new Error(`nBest must be at most beamSize (${beamSize}), got ${nBest}.`);
    }
    const penalty = makePenalty(lengthPenalty, alpha);
    const limit = lengthLimit(model, sourceIds, maxLength);
    const atHeads = glassformer.silenceHeads(model, switchedOff);
    const cache = new glassformer.KeyValueCache(model, sourceIds, { maxLength: limit, beamSize, atHeads });
    const complete = [];
    let beams = [{ ids: [], logProbability: 0 }];
    let room = beamSize; // beams not taken by what has ended
    for (let length = 1; beams.length; length++) {
      const lastIds = beams.map(({ ids }) => ids.at(-1) ?? glassformer.START_ID);
      const following = nextTokens(model, cache.step(lastIds), Math.max(beamSize, numFollowing));
      const candidates = continuations(beams, following).slice(0, beamSize);
      for (const candidate of candidates) candidate.score = candidate.logProbability / penalty(length);
      const chosen = candidates.slice(0, room);
      const isComplete = ({ ended }) => ended || length === limit;
      complete.push(...chosen.filter(isComplete));
      room -= chosen.filter(({ ended }) => ended).length;
      beams = chosen.filter((candidate) => !isComplete(candidate));
      if (isDecided(beams, complete, nBest, penalty(limit))) beams = [];
      for (const candidate of candidates) candidate.fate = fateOf(candidate, beams, complete);
      yield { candidates, beams, following };
      cache.reorder(beams.map(({ parent }) => parent));
    }
    return complete.sort(byRank).slice(0, nBest);
  }

  /** Run a way of writing to its end, and give what it returns. */
  function finish(steps) {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }

  /** The tokens of highest log-probability, the highest first: `{ id, logProbability }`. */
  function likeliest(logProbabilities, count) {
    const best = [];
    for (let id = 0; id < logProbabilities.length; id++) {
      const logProbability = logProbabilities[id];
      if (best.length === count && logProbability <= best[count - 1].logProbability) continue;
      const place = best.findIndex((other) => other.logProbability < logProbability);
      best.splice(place < 0 ? best.length : place, 0, { id, logProbability });
      best.length = Math.min(best.length, count);
    }
    return best;
  }

  /** Numbers from 0 up to 1 by chance, the same for the same seed (mulberry32 of Tommy Ettinger). */
  function seededRandom(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  /** Lay the tokens end to end, each as long as it is likely, and see where luck falls. */
  function drawToken(logProbabilities, temperature, luck) {
    const [{ logProbability: highest }] = likeliest(logProbabilities, 1);
    const weights = logProbabilities.map((logProbability) => (logProbability - highest) / temperature);
    glassformer.kernels.softmax(weights);
    let reached = 0;
    let last;
    for (let id = 0; id < weights.length; id++) {
      if (!weights[id]) continue;
      reached += weights[id];
      last = id;
      if (reached > luck) break;
    }
    return last;
  }

  /** The log-probabilities of all tokens; what is never written has −∞. */
  function nextLogProbabilities(model, logits) {
    const { logSoftmax, allFinite } = glassformer.kernels;
    const logProbabilities = logSoftmax(logits);
    if (!allFinite(logProbabilities)) {
      throw new Error("The logits of the model must be finite: its weights are damaged, or too large.");
    }
    for (const id of [model.config.pad_id, glassformer.START_ID]) logProbabilities[id] = -Infinity;
    return logProbabilities;
  }

  /** The likeliest next tokens of each beam, as `likeliest` gives them; one that is never written is none. */
  function nextTokens(model, logits, count) {
    const size = model.config.target_vocabulary_size;
    return Array.from({ length: logits.length / size }, (_, beam) => {
      const ofBeam = logits.subarray(beam * size, (beam + 1) * size);
      const tokens = likeliest(nextLogProbabilities(model, ofBeam), count);
      return tokens.filter(({ logProbability }) => logProbability > -Infinity);
    });
  }

  /** The ways to go on by one of these tokens, over all beams together, the likeliest first. */
  function continuations(beams, following) {
    const candidates = beams.flatMap((beam, parent) =>
      following[parent].map(({ id, logProbability }) => ({
        ids: [...beam.ids, id],
        logProbability: beam.logProbability + logProbability,
        ended: id === glassformer.END_ID,
        parent,
      })),
    );
    return candidates.sort((one, other) => other.logProbability - one.logProbability);
  }

  /** Whether no beam can still come among the best: tokens never raise log-probability. */
  function isDecided([likeliestBeam], complete, nBest, highestPenalty) {
    const ended = complete.filter((hypothesis) => hypothesis.ended).sort(byRank);
    if (!likeliestBeam || ended.length < nBest) return false;
    return likeliestBeam.logProbability / highestPenalty <= ended[nBest - 1].score;
  }

  function fateOf(candidate, beams, complete) {
    if (beams.includes(candidate)) return "followed";
    return complete.includes(candidate) ? "complete" : "dropped";
  }

  /** What ended comes before what was cut; the highest score first. */
  function byRank(one, other) {
    return other.ended - one.ended || other.score - one.score;
  }

  /** What log-probabilities are divided by, since they fall with each token. */
  function makePenalty(kind, alpha = USUAL_ALPHA[kind]) {
    if (!Object.hasOwn(USUAL_ALPHA, kind)) {
      throw new Error(`lengthPenalty must be one of ${Object.keys(USUAL_ALPHA).join(", ")}, got ${kind}.`);
    }
    if (!(alpha >= 0 && alpha < Infinity)) {
      throw new Error(`alpha must be at least 0 and finite, got ${alpha}.`);
    }
    const base = { none: () => 1, average: (length) => length, gnmt: (length) => (5 + length) / 6 }[kind];
    return (length) => base(length) ** alpha;
  }

  /** Without a `maxLength`, a translation may have twice as many tokens as its source, and 10 more. */
  function lengthLimit(model, sourceIds, maxLength) {
    if (maxLength === undefined) return Math.min(2 * sourceIds.length + 10, model.numPositions);
    requireWhole({ maxLength });
    if (maxLength > model.numPositions) {
      throw new Error(
        `maxLength must be at most ${model.numPositions}, the positions learned, got ${maxLength}.`,
      );
    }
    return maxLength;
  }

  function requireWhole(numbers) {
    for (const [name, number] of Object.entries(numbers)) {
      if (!Number.isInteger(number) || number < 1) {
        throw new Error(`${name} must be a whole number of at least 1, got ${number}.`);
      }
    }
  }

  Object.assign(glassformer, { greedy, sample, beamSearch, finish, likeliest, seededRandom });
})((globalThis.glassformer ??= {}));
