// Differentiable operations on matrices. Each computes its result and records its gradient, derived by hand: dx is
// the derivative of the loss with respect to x.
(function (glassformer) {
  const EPSILON = 1e-5;

  /** Compute xWᵀ + b for each row of x; the bias may be missing. */
  function linear(tape, x, { weight, bias }) {
    const { addProduct, transpose } = glassformer.products;
    const [rows, inputs, outputs] = [x.rows, x.columns, weight.rows];
    const y = tape.matrix(rows, outputs);
    if (bias) for (let from = 0; from < y.value.length; from += outputs) y.value.set(bias.value, from);
    addProduct(x.value, weight.value, y.value, { rows, inner: inputs, columns: outputs });
    tape.record(() => {
      const transposed = ({ value }, ...shape) => transpose(value, ...shape, tape.zeros(value.length));
      const turned = transpose(y.grad, rows, outputs, tape.zeros(y.grad.length));
      // dx = dy W, dW = dyᵀ x, and db is the sum of the rows of dy.
      const dx = { rows, inner: outputs, columns: inputs };
      addProduct(y.grad, transposed(weight, outputs, inputs), x.grad, dx);
      const dW = { rows: outputs, inner: rows, columns: inputs };
      addProduct(turned, transposed(x, rows, inputs), weight.grad, dW);
      for (let row = 0; bias && row < rows; row++) {
        for (let i = 0; i < outputs; i++) bias.grad[i] += y.grad[row * outputs + i];
      }
    });
    return y;
  }

  function add(tape, x, y) {
    const sum = tape.matrix(x.rows, x.columns);
    for (let i = 0; i < sum.value.length; i++) sum.value[i] = x.value[i] + y.value[i];
    tape.record(() => {
      for (let i = 0; i < sum.grad.length; i++) {
        x.grad[i] += sum.grad[i];
        y.grad[i] += sum.grad[i];
      }
    });
    return sum;
  }

  function relu(tape, x) {
    const y = tape.matrix(x.rows, x.columns);
    for (let i = 0; i < y.value.length; i++) y.value[i] = Math.max(x.value[i], 0);
    tape.record(() => {
      for (let i = 0; i < y.grad.length; i++) if (x.value[i] > 0) x.grad[i] += y.grad[i];
    });
    return y;
  }

  /** Normalize each row to mean 0 and variance 1, then scale and shift it. */
  function layerNorm(tape, x, { weight, bias }) {
    const width = x.columns;
    const y = tape.matrix(x.rows, width);
    const normed = tape.zeros(x.value.length);
    const scales = tape.zeros(x.rows); // 1 / standard deviation
    for (let row = 0; row < x.rows; row++) {
      const from = row * width;
      let sum = 0;
      for (let i = 0; i < width; i++) sum += x.value[from + i];
      const mean = sum / width;
      let squares = 0;
      for (let i = 0; i < width; i++) squares += (x.value[from + i] - mean) ** 2;
      scales[row] = 1 / Math.sqrt(squares / width + EPSILON);
      for (let i = 0; i < width; i++) {
        normed[from + i] = (x.value[from + i] - mean) * scales[row];
        y.value[from + i] = normed[from + i] * weight.value[i] + bias.value[i];
      }
    }
    tape.record(() => {
      // With dn = dy · weight: dx = scale · (dn − mean(dn) − normed · mean(dn · normed)).
      for (let row = 0; row < x.rows; row++) {
        const from = row * width;
        let sum = 0;
        let product = 0;
        for (let i = 0; i < width; i++) {
          const dy = y.grad[from + i];
          weight.grad[i] += dy * normed[from + i];
          bias.grad[i] += dy;
          sum += dy * weight.value[i];
          product += dy * weight.value[i] * normed[from + i];
        }
        for (let i = 0; i < width; i++) {
          const dn = y.grad[from + i] * weight.value[i];
          x.grad[from + i] += scales[row] * (dn - sum / width - (normed[from + i] * product) / width);
        }
      }
    });
    return y;
  }

  /** Look up each id in a table, times √width, and add the encoding of its position, if there are encodings. */
  function embed(tape, { ids, sentences }, { weight }, encodings) {
    const width = weight.columns;
    const factor = Math.sqrt(width);
    const x = tape.matrix(ids.length, width);
    for (const { first, length } of sentences) {
      for (let position = 0; position < length; position++) {
        const [row, entry] = [(first + position) * width, ids[first + position] * width];
        for (let i = 0; i < width; i++) {
          x.value[row + i] = factor * weight.value[entry + i] + (encodings ? encodings[position][i] : 0);
        }
      }
    }
    tape.record(() => {
      ids.forEach((id, row) => {
        for (let i = 0; i < width; i++) weight.grad[id * width + i] += factor * x.grad[row * width + i];
      });
    });
    return x;
  }

  /** Compute the mean of −log softmax(logits)[label], and set the gradient of the logits. */
  function crossEntropy({ value, grad, rows, columns }, labels) {
    let loss = 0;
    for (let row = 0; row < rows; row++) {
      const from = row * columns;
      const label = from + labels[row];
      let highest = -Infinity;
      for (let i = from; i < from + columns; i++) highest = Math.max(highest, value[i]);
      let total = 0;
      for (let i = from; i < from + columns; i++) total += Math.exp(value[i] - highest);
      loss += (Math.log(total) + highest - value[label]) / rows;
      // The gradient is (softmax(logits) − one-hot label) / rows.
      for (let i = from; i < from + columns; i++) grad[i] = Math.exp(value[i] - highest) / total / rows;
      grad[label] -= 1 / rows;
    }
    return loss;
  }

  glassformer.operations = { linear, add, relu, layerNorm, embed, crossEntropy };
})((globalThis.glassformer ??= {}));
