// Matrix products, which take most of the time of training. Matrices are stored row by row.
(function (glassformer) {
  /** Add ABᵀ to C, in blocks of two rows by four columns, which share the numbers that they load. */
  function addProduct(A, B, C, { rows, inner, columns }) {
    const [blockRows, blockColumns] = [rows - (rows % 2), columns - (columns % 4)];
    for (let row = 0; row < blockRows; row += 2) {
      for (let column = 0; column < blockColumns; column += 4) addBlock(A, B, C, row, column, inner, columns);
    }
    addOneByOne(A, B, C, [0, blockRows], [blockColumns, columns], inner, columns);
    addOneByOne(A, B, C, [blockRows, rows], [0, columns], inner, columns);
  }

  function addBlock(A, B, C, row, column, inner, columns) {
    const a0 = row * inner;
    const a1 = a0 + inner;
    const b0 = column * inner;
    const b1 = b0 + inner;
    const b2 = b1 + inner;
    const b3 = b2 + inner;
    let sum00 = 0;
    let sum01 = 0;
    let sum02 = 0;
    let sum03 = 0;
    let sum10 = 0;
    let sum11 = 0;
    let sum12 = 0;
    let sum13 = 0;
    for (let i = 0; i < inner; i++) {
      const x0 = A[a0 + i];
      const x1 = A[a1 + i];
      sum00 += x0 * B[b0 + i];
      sum01 += x0 * B[b1 + i];
      sum02 += x0 * B[b2 + i];
      sum03 += x0 * B[b3 + i];
      sum10 += x1 * B[b0 + i];
      sum11 += x1 * B[b1 + i];
      sum12 += x1 * B[b2 + i];
      sum13 += x1 * B[b3 + i];
    }
    const c0 = row * columns + column;
    const c1 = c0 + columns;
    C[c0] += sum00;
    C[c0 + 1] += sum01;
    C[c0 + 2] += sum02;
    C[c0 + 3] += sum03;
    C[c1] += sum10;
    C[c1 + 1] += sum11;
    C[c1 + 2] += sum12;
    C[c1 + 3] += sum13;
  }

  /** Add the part of the product that is left over from the blocks. */
  function addOneByOne(A, B, C, [firstRow, endRow], [firstColumn, endColumn], inner, columns) {
    for (let row = firstRow; row < endRow; row++) {
      for (let column = firstColumn; column < endColumn; column++) {
        let sum = 0;
        for (let i = 0; i < inner; i++) sum += A[row * inner + i] * B[column * inner + i];
        C[row * columns + column] += sum;
      }
    }
  }

  /** Write the transpose of A into `result` and return it. */
  function transpose(A, rows, columns, result) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) result[column * rows + row] = A[row * columns + column];
    }
    return result;
  }

  glassformer.products = { addProduct, transpose };
})((globalThis.glassformer ??= {}));
