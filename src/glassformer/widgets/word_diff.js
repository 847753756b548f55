// Word-level difference between two translations.
(function (glassformer) {
  /** Mark the words that are not part of a longest common subsequence with another sentence. */
  function changedWords(words, before) {
    const table = words.map(() => before.map(() => 0));
    const common = (row, column) => table[row]?.[column] ?? 0;
    for (let row = words.length - 1; row >= 0; row--) {
      for (let column = before.length - 1; column >= 0; column--) {
        table[row][column] =
          words[row] === before[column]
            ? 1 + common(row + 1, column + 1)
            : Math.max(common(row + 1, column), common(row, column + 1));
      }
    }
    const changed = words.map(() => true);
    for (let row = 0, column = 0; row < words.length && column < before.length; ) {
      if (words[row] === before[column]) {
        changed[row++] = false;
        column++;
      } else if (common(row + 1, column) >= common(row, column + 1)) row++;
      else column++;
    }
    return changed;
  }

  Object.assign(glassformer, { changedWords });
})((globalThis.glassformer ??= {}));
