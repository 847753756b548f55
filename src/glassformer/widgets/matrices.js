// Vectors and small matrices. A matrix is a list of rows; rows are arrays or typed arrays, and results have rows
// of the same type.
(function (glassformer) {
  const sum = (vector) => vector.reduce((total, each) => total + each, 0);
  const mean = (vector) => sum(vector) / vector.length;
  const norm = (vector) => Math.sqrt(dot(vector, vector));
  const transpose = (matrix) =>
    Array.from(matrix[0], (_, column) => matrix[0].constructor.from(matrix, (row) => row[column]));

  function dot(left, right) {
    let total = 0;
    for (let i = 0; i < left.length; i++) total += left[i] * right[i];
    return total;
  }

  function product(left, right) {
    return left.map((row) => {
      const result = new row.constructor(right[0].length).fill(0);
      right.forEach((other, inner) => {
        for (let column = 0; column < result.length; column++) result[column] += row[inner] * other[column];
      });
      return result;
    });
  }

  /** Multiply by a transposed matrix: left · rightᵀ. */
  function productTransposed(left, right) {
    return left.map((row) => row.constructor.from(right, (other) => dot(row, other)));
  }

  /** Turn scores into weights. The largest score is subtracted first. */
  function softmax(scores) {
    const largest = Math.max(...scores);
    const exponentials = scores.map((score) => Math.exp(score - largest));
    const total = sum(exponentials);
    return exponentials.map((each) => each / total);
  }

  glassformer.matrices = { sum, mean, norm, dot, transpose, product, productTransposed, softmax };
})((globalThis.glassformer ??= {}));
