// Arithmetic on small lists of numbers, and on matrices as lists of rows.
(function (glassformer) {
  const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
  const dot = (left, right) => sum(left.map((each, place) => each * right[place]));
  const columns = (matrix) => matrix[0].map((_, place) => matrix.map((row) => row[place]));
  const product = (rows, matrix) => {
    const turned = columns(matrix);
    return rows.map((row) => turned.map((column) => dot(row, column)));
  };

  /** Weights of a row of scores; the largest is subtracted first. */
  function softmax(scores) {
    const largest = Math.max(...scores);
    const exponentials = scores.map((score) => Math.exp(score - largest));
    const total = sum(exponentials);
    return exponentials.map((each) => each / total);
  }

  glassformer.matrices = { sum, dot, columns, product, softmax };
})((globalThis.glassformer ??= {}));
