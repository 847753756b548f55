// What a Transformer computes with. Vectors stand one behind the other in a Float32Array. Sums are kept as
// float64 until they are stored: that is quicker here than rounding each summand, and nearer to the truth
// that torch's float32 comes near, too.
(function (glassformer) {
  const EPSILON = 1e-5;

  /** Map each vector of x: Wx + b. The rows of the weight stand one behind the other. */
  function linear(x, { weight, bias }) {
    const inputs = weight.length / bias.length;
    const count = x.length / inputs;
    const vectors = cut(x, count);
    const mapped = new Float32Array(count * bias.length);
    const results = cut(mapped, count);
    for (let i = 0; i + 1 < count; i += 2) {
      mapTwo(vectors[i], vectors[i + 1], weight, bias, results[i], results[i + 1]);
    }
    if (count % 2) mapOne(vectors[count - 1], weight, bias, results[count - 1]);
    return mapped;
  }

  function cut(x, count) {
    const width = x.length / count;
    return Array.from({ length: count }, (_, i) => x.subarray(i * width, (i + 1) * width));
  }

  // Four sums at a time keep the processor busy. At the end, the last row may be computed more than once.
  function mapOne(x, weight, bias, mapped) {
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
      mapped[one] = sum1;
      mapped[two] = sum2;
      mapped[three] = sum3;
      mapped[four] = sum4;
    }
  }

  // Two vectors share each number of the weight, which takes longer to fetch than to multiply.
  function mapTwo(x, y, weight, bias, mappedX, mappedY) {
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
      mappedX[one] = x1;
      mappedX[two] = x2;
      mappedX[three] = x3;
      mappedX[four] = x4;
      mappedY[one] = y1;
      mappedY[two] = y2;
      mappedY[three] = y3;
      mappedY[four] = y4;
    }
  }

  /** Give each vector of x the mean 0 and the variance 1, then scale and shift it. */
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

  /** Turn scores into weights, in place: positive, and 1 in all. */
  function softmax(scores) {
    const highest = highestOf(scores);
    let total = 0;
    for (let i = 0; i < scores.length; i++) total += scores[i] = Math.exp(scores[i] - highest);
    for (let i = 0; i < scores.length; i++) scores[i] /= total;
  }

  /** The logarithms of the softmax of logits, as float64: long sums are made of them. */
  function logSoftmax(logits) {
    const highest = highestOf(logits);
    let total = 0;
    for (let i = 0; i < logits.length; i++) total += Math.exp(logits[i] - highest);
    const shift = highest + Math.log(total);
    const logProbabilities = new Float64Array(logits.length);
    for (let i = 0; i < logits.length; i++) logProbabilities[i] = logits[i] - shift;
    return logProbabilities;
  }

  function highestOf(numbers) {
    let highest = -Infinity;
    for (let i = 0; i < numbers.length; i++) highest = Math.max(highest, numbers[i]);
    return highest;
  }

  function allFinite(numbers) {
    for (let i = 0; i < numbers.length; i++) if (!Number.isFinite(numbers[i])) return false;
    return true;
  }

  /**
   * Let one query attend, head by head, to the vectors of keys and values that stand in the given rows.
   * `bias(head, place)` is added to the score of the row at that place of the list. Returned are what was
   * attended to, the heads side by side, and the weights of each head.
   */
  function attend({ query, keys, values, rows, numHeads, bias }) {
    const width = query.length;
    const headWidth = width / numHeads;
    const attended = new Float32Array(width);
    const weights = Array.from({ length: numHeads }, () => new Float32Array(rows.length));
    for (let head = 0; head < numHeads; head++) {
      const start = head * headWidth;
      const stop = start + headWidth;
      const weightsHere = weights[head];
      for (let place = 0; place < rows.length; place++) {
        const key = rows[place] * width;
        let score = 0;
        for (let i = start; i < stop; i++) score += query[i] * keys[key + i];
        weightsHere[place] = score / Math.sqrt(headWidth) + bias(head, place);
      }
      softmax(weightsHere);
      for (let place = 0; place < rows.length; place++) {
        const value = rows[place] * width;
        for (let i = start; i < stop; i++) attended[i] += weightsHere[place] * values[value + i];
      }
    }
    return { attended, weights };
  }

  glassformer.kernels = { linear, layerNorm, add, relu, softmax, logSoftmax, allFinite, attend };
})((globalThis.glassformer ??= {}));
