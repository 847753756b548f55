// Random numbers that are identical in Python and in the browser.
(function (glassformer) {
  /** Sample standard normal numbers from index `first` on by the Box-Muller transform. */
  glassformer.normals = function (seed, first, count) {
    const numbers = new Float64Array(count);
    for (let i = 0; i < count; i += 1) {
      const each = 2 * (first + i);
      const radius = Math.sqrt(-2 * Math.log(1 - uniform(seed, each)));
      numbers[i] = radius * Math.cos(2 * Math.PI * uniform(seed, each + 1));
    }
    return numbers;
  };

  /** Sample a uniform number in [0, 1) from the seed and an index (mulberry32). */
  function uniform(seed, index) {
    let state = (seed + Math.imul(index + 1, 0x6d2b79f5)) | 0;
    state = Math.imul(state ^ (state >>> 15), state | 1);
    state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
    return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
  }
})((globalThis.glassformer ??= {}));
