// Sequential steps, remaining signals and measured times.
(function (glassformer) {
  /**
   * Compute the state of both layers in a step, counted from 1, and the signal of the word at `source` that remains
   * if every hop multiplies it by `radius`.
   */
  glassformer.computeSignals = function ({ count, source, target, radius, step }) {
    const places = Array.from({ length: count }, (_, place) => place);
    const leftAt = (place) => (place < source ? 0 : radius ** (place - source));
    const workIn = (own) => (own < step ? "done" : own === step ? "now" : "waits");
    return {
      recurrence: places.map((place) => ({ work: workIn(place + 1), left: leftAt(place) })),
      attention: places.map(() => ({ work: workIn(1), left: radius })),
      paths: {
        recurrence: { hops: target < source ? null : target - source, left: leftAt(target) },
        attention: { hops: 1, left: radius },
      },
    };
  };

  /** Look up the times at an index of the lengths, and the last crossing of the two curves before it. */
  glassformer.compareTimes = function ({ lengths, lstm, attention, place }) {
    const last = lstm.findLastIndex((time, each) => time > attention[each]);
    const faster = ["the LSTM", "neither", "attention"][1 + Math.sign(lstm[place] - attention[place])];
    const crossing = 0 <= last && last < place ? lengths.slice(last, last + 2) : null;
    return { lstm: lstm[place], attention: attention[place], faster, crossing };
  };
})((globalThis.glassformer ??= {}));
