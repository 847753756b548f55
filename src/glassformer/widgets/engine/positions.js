// Position schemes: sinusoids added to embeddings, rotations of queries and keys, biases on scores (ALiBi).
(function (glassformer) {
  const BASE = 10000;

  /** Compute the sinusoidal encoding of a position: sines in even columns, cosines in odd ones. */
  function sinusoid(position, width) {
    return Float32Array.from({ length: width }, (_, column) => {
      const angle = position * BASE ** ((-2 * (column >> 1)) / width);
      return column % 2 ? Math.cos(angle) : Math.sin(angle);
    });
  }

  /** Rotate each pair of numbers of each head by an angle proportional to the position; x is unchanged. */
  function rotate(x, position, headWidth) {
    const rotated = new Float32Array(x.length);
    for (let even = 0; even < x.length; even += 2) {
      // Rounded like PyTorch's float32 angles.
      const frequency = Math.fround(BASE ** -Math.fround((even % headWidth) / headWidth));
      const angle = Math.fround(position * frequency);
      const [cos, sin] = [Math.fround(Math.cos(angle)), Math.fround(Math.sin(angle))];
      rotated[even] = x[even] * cos - x[even + 1] * sin;
      rotated[even + 1] = x[even] * sin + x[even + 1] * cos;
    }
    return rotated;
  }

  /** Compute a head's ALiBi slope: the penalty per token of distance between query and key. */
  function slope(head, numHeads) {
    return 2 ** ((-8 * (head + 1)) / numHeads);
  }

  glassformer.positions = { sinusoid, rotate, slope };
})((globalThis.glassformer ??= {}));
