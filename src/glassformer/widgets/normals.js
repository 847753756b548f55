// Random numbers that Python and the browser draw alike.
(function (glassformer) {
  /** Numbers of mean 0 and variance 1 from place `first` on, each from two uniform ones (Box & Muller, 1958). */
  glassformer.normals = function (seed, first, count) {
    const numbers = new Float64Array(count);
    for (let place = 0; place < count; place += 1) {
      const each = 2 * (first + place);
      const radius = Math.sqrt(-2 * Math.log(1 - uniform(seed, each)));
      numbers[place] = radius * Math.cos(2 * Math.PI * uniform(seed, each + 1));
    }
    return numbers;
  };

  /** A random number from 0 up to 1, made from its place alone (mulberry32). */
  function uniform(seed, place) {
    let state = (seed + Math.imul(place + 1, 0x6d2b79f5)) | 0;
    state = Math.imul(state ^ (state >>> 15), state | 1);
    state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
    return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
  }
})((globalThis.glassformer ??= {}));
