// Scaled dot-product attention with its gradient (`modules/attention.py`).
(function (glassformer) {
  /**
   * Compute softmax(QKᵀ · scale) V in each head. `queries` and `keys` are the sentences, `[{ first, length }]`.
   *
   * With `isCausal`, a query attends only to keys up to its own position; with `isUniform`, all weights are equal.
   * Returns the heads' outputs side by side, and the weights, in the order sentence, head, query, key.
   */
  function attend(tape, { query, key, value }, { queries, keys, numHeads, scale, isCausal, isUniform }) {
    const width = query.columns;
    const headWidth = width / numHeads;
    const attended = tape.matrix(query.rows, width);
    const { rows, numWeights } = listRows({ queries, keys, numHeads, width, isCausal });
    const weights = tape.zeros(numWeights);
    for (const row of rows) {
      if (!isUniform) computeScores(weights, row, query.value, key.value, { width, headWidth, scale });
      softmax(weights, row);
      mixValues(attended.value, row, weights, value.value, { width, headWidth });
    }
    tape.record(() => {
      const weightGrads = tape.zeros(Math.max(...rows.map(({ count }) => count)));
      for (const row of rows) {
        propagateToValues(weightGrads, row, weights, attended, value, { width, headWidth });
        if (!isUniform) propagateToScores(weightGrads, row, weights, query, key, { width, headWidth, scale });
      }
    });
    return { attended, weights };
  }

  /** List the rows of all maps: where the query, the first key and the weights are stored, and the number of keys. */
  function listRows({ queries, keys, numHeads, width, isCausal }) {
    const rows = [];
    let start = 0;
    queries.forEach(({ first, length }, sentence) => {
      const seen = keys[sentence];
      for (let head = 0; head < numHeads; head++) {
        const column = (head * width) / numHeads;
        for (let position = 0; position < length; position++) {
          const count = isCausal ? position + 1 : seen.length;
          rows.push({ query: (first + position) * width + column, key: seen.first * width + column, count, start });
          start += seen.length;
        }
      }
    });
    return { rows, numWeights: start };
  }

  function computeScores(scores, { query, key, count, start }, Q, K, { width, headWidth, scale }) {
    for (let j = 0; j < count; j++) {
      const other = key + j * width;
      let product = 0;
      for (let i = 0; i < headWidth; i++) product += Q[query + i] * K[other + i];
      scores[start + j] = product * scale;
    }
  }

  /** Turn the scores of a row into weights, in place. */
  function softmax(scores, { count, start }) {
    const end = start + count;
    let highest = -Infinity;
    for (let j = start; j < end; j++) highest = Math.max(highest, scores[j]);
    let total = 0;
    for (let j = start; j < end; j++) total += scores[j] = Math.exp(scores[j] - highest);
    for (let j = start; j < end; j++) scores[j] /= total;
  }

  function mixValues(Y, { query, key, count, start }, weights, V, { width, headWidth }) {
    for (let j = 0; j < count; j++) {
      const weight = weights[start + j];
      const other = key + j * width;
      for (let i = 0; i < headWidth; i++) Y[query + i] += weight * V[other + i];
    }
  }

  /** Add weight · dy to dv, and compute the gradient of the weights, dy · v, into `weightGrads`. */
  function propagateToValues(weightGrads, row, weights, attended, value, { width, headWidth }) {
    const { query, key, count, start } = row;
    const [dY, V, dV] = [attended.grad, value.value, value.grad];
    for (let j = 0; j < count; j++) {
      const weight = weights[start + j];
      const other = key + j * width;
      let product = 0;
      for (let i = 0; i < headWidth; i++) {
        product += dY[query + i] * V[other + i];
        dV[other + i] += weight * dY[query + i];
      }
      weightGrads[j] = product;
    }
  }

  /** Propagate through the softmax, ds = weight · (dw − Σ weight · dw), and on to queries and keys. */
  function propagateToScores(weightGrads, row, weights, query, key, { width, headWidth, scale }) {
    const { query: at, key: first, count, start } = row;
    const [Q, dQ, K, dK] = [query.value, query.grad, key.value, key.grad];
    let mean = 0;
    for (let j = 0; j < count; j++) mean += weights[start + j] * weightGrads[j];
    for (let j = 0; j < count; j++) {
      const other = first + j * width;
      const grad = scale * weights[start + j] * (weightGrads[j] - mean);
      for (let i = 0; i < headWidth; i++) {
        dQ[at + i] += grad * K[other + i];
        dK[other + i] += grad * Q[at + i];
      }
    }
  }

  Object.assign(glassformer, { attend });
})((globalThis.glassformer ??= {}));
