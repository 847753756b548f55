// Where a token stands: added to its vector, turned into queries and keys, or taken off the scores.
(function (glassformer) {
  const BASE = 10000;

  /** Describe a position by waves of many lengths, sines and cosines in turn. */
  function sinusoid(position, width) {
    return Float32Array.from({ length: width }, (_, column) => {
      const angle = position * BASE ** ((-2 * (column >> 1)) / width);
      return column % 2 ? Math.cos(angle) : Math.sin(angle);
    });
  }

  /** Turn each pair of numbers, in each head, by an angle that grows with the position; x stays as it was. */
  function rotate(x, position, headWidth) {
    const turned = new Float32Array(x.length);
    for (let even = 0; even < x.length; even += 2) {
      // Rounded as torch rounds them, whose angles are float32.
      const frequency = Math.fround(BASE ** -Math.fround((even % headWidth) / headWidth));
      const angle = Math.fround(position * frequency);
      const [cos, sin] = [Math.fround(Math.cos(angle)), Math.fround(Math.sin(angle))];
      turned[even] = x[even] * cos - x[even + 1] * sin;
      turned[even + 1] = x[even] * sin + x[even + 1] * cos;
    }
    return turned;
  }

  /** How much a head lowers a score for each token between query and key. */
  function slope(head, numHeads) {
    return 2 ** ((-8 * (head + 1)) / numHeads);
  }

  glassformer.positions = { sinusoid, rotate, slope };
})((globalThis.glassformer ??= {}));
