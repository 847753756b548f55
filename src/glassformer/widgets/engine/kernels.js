// Numerical kernels of the Transformer. Vectors are stored one after the other in a Float32Array. Sums are
// accumulated in float64, which is faster here than rounding each term, and more precise.
(function (glassformer) {
  const EPSILON = 1e-5;

  /** Apply Wx + b to each vector of x. The weight is stored row by row. */
  function linear(x, { weight, bias }) {
    const inputs = weight.length / bias.length;
    const count = x.length / inputs;
    const vectors = splitVectors(x, count);
    const result = new Float32Array(count * bias.length);
    const results = splitVectors(result, count);
    for (let i = 0; i + 1 < count; i += 2) {
      linearTwo(vectors[i], vectors[i + 1], weight, bias, results[i], results[i + 1]);
    }
    if (count % 2) linearOne(vectors[count - 1], weight, bias, results[count - 1]);
    return result;
  }

  function splitVectors(x, count) {
    const width = x.length / count;
    return Array.from({ length: count }, (_, i) => x.subarray(i * width, (i + 1) * width));
  }

  // Four sums at a time use the processor's parallelism. At the end, the last row may be computed repeatedly.
  function linearOne(x, weight, bias, result) {
    const inputs = x.length;
    const last = bias.length - 1;
    for (let one = 0; one <= last; one += 4) {
      const two = Math.min(one + 1, last);
      const three = Math.min(one + 2, last);
      const four = Math.min(one + 3, last);
      const [row1, row2, row3, row4] = [one * inputs, two * inputs, three * inputs, four * inputs];
      let sum1 = bias[one];
      let sum2 = bias[two];
      let sum3 = bias[three];
      let sum4 = bias[four];
      for (let i = 0; i < inputs; i++) {
        const number = x[i];
        sum1 += weight[row1 + i] * number;
        sum2 += weight[row2 + i] * number;
        sum3 += weight[row3 + i] * number;
        sum4 += weight[row4 + i] * number;
      }
      result[one] = sum1;
      result[two] = sum2;
      result[three] = sum3;
      result[four] = sum4;
    }
  }

  // Two vectors share each weight, which takes longer to load than to multiply.
  function linearTwo(x, y, weight, bias, resultX, resultY) {
    const inputs = x.length;
    const last = bias.length - 1;
    for (let one = 0; one <= last; one += 4) {
      const two = Math.min(one + 1, last);
      const three = Math.min(one + 2, last);
      const four = Math.min(one + 3, last);
      const [row1, row2, row3, row4] = [one * inputs, two * inputs, three * inputs, four * inputs];
      let x1 = bias[one];
      let x2 = bias[two];
      let x3 = bias[three];
      let x4 = bias[four];
      let [y1, y2, y3, y4] = [x1, x2, x3, x4];
      for (let i = 0; i < inputs; i++) {
        const weight1 = weight[row1 + i];
        const weight2 = weight[row2 + i];
        const weight3 = weight[row3 + i];
        const weight4 = weight[row4 + i];
        x1 += weight1 * x[i];
        x2 += weight2 * x[i];
        x3 += weight3 * x[i];
        x4 += weight4 * x[i];
        y1 += weight1 * y[i];
        y2 += weight2 * y[i];
        y3 += weight3 * y[i];
        y4 += weight4 * y[i];
      }
      resultX[one] = x1;
      resultX[two] = x2;
      resultX[three] = x3;
      resultX[four] = x4;
      resultY[one] = y1;
      resultY[two] = y2;
      resultY[three] = y3;
      resultY[four] = y4;
    }
  }

  /** Normalize each vector of x to mean 0 and variance 1, then scale and shift it. */
  function layerNorm(x, { weight, bias }) {
    const width = weight.length;
    const normed = new Float32Array(x.length);
    for (let from = 0; from < x.length; from += width) {
      let sum = 0;
      for (let i = 0; i < width; i++) sum += x[from + i];
      const mean = sum / width;
      let squares = 0;
      for (let i = 0; i < width; i++) squares += (x[from + i] - mean) ** 2;
      const scale = 1 / Math.sqrt(squares / width + EPSILON);
      for (let i = 0; i < width; i++) normed[from + i] = (x[from + i] - mean) * scale * weight[i] + bias[i];
    }
    return normed;
  }

  function add(x, y) {
    return x.map((number, i) => number + y[i]);
  }

  function relu(x) {
    return x.map((number) => Math.max(number, 0));
  }

  /** Apply the softmax in place. */
  function softmax(scores) {
    const highest = maximum(scores);
    let total = 0;
    for (let i = 0; i < scores.length; i++) total += scores[i] = Math.exp(scores[i] - highest);
    for (let i = 0; i < scores.length; i++) scores[i] /= total;
  }

  /** Compute the log-softmax in float64, because log-probabilities are summed over many tokens. */
  function logSoftmax(logits) {
    const highest = maximum(logits);
    let total = 0;
    for (let i = 0; i < logits.length; i++) total += Math.exp(logits[i] - highest);
    const shift = highest + Math.log(total);
    const logProbabilities = new Float64Array(logits.length);
    for (let i = 0; i < logits.length; i++) logProbabilities[i] = logits[i] - shift;
    return logProbabilities;
  }

  function maximum(numbers) {
    let highest = -Infinity;
    for (let i = 0; i < numbers.length; i++) highest = Math.max(highest, numbers[i]);
    return highest;
  }

  function allFinite(numbers) {
    for (let i = 0; i < numbers.length; i++) if (!Number.isFinite(numbers[i])) return false;
    return true;
  }

  /**
   * Compute multi-head attention of one query over the given rows of keys and values. `bias(head, position)` is
   * added to the score of the key at that position. Returns the heads' outputs side by side, and their weights.
   */
  function attend({ query, keys, values, rows, numHeads, bias }) {
    const width = query.length;
    const headWidth = width / numHeads;
    const attended = new Float32Array(width);
    const weights = Array.from({ length: numHeads }, () => new Float32Array(rows.length));
    for (let head = 0; head < numHeads; head++) {
      const start = head * headWidth;
      const stop = start + headWidth;
      const headWeights = weights[head];
      for (let position = 0; position < rows.length; position++) {
        const key = rows[position] * width;
        let score = 0;
        for (let i = start; i < stop; i++) score += query[i] * keys[key + i];
        headWeights[position] = score / Math.sqrt(headWidth) + bias(head, position);
      }
      softmax(headWeights);
      for (let position = 0; position < rows.length; position++) {
        const value = rows[position] * width;
        for (let i = start; i < stop; i++) attended[i] += headWeights[position] * values[value + i];
      }
    }
    return { attended, weights };
  }

  glassformer.kernels = { linear, layerNorm, add, relu, softmax, logSoftmax, allFinite, attend };
})((globalThis.glassformer ??= {}));
