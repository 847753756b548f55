// Run long computations without blocking the page.
(function (glassformer) {
  const SLICE = 30; // milliseconds of work before control returns to the browser

  const yieldToBrowser = () => new Promise((resolve) => setTimeout(resolve));

  /** Run a generator to its end in short slices. Returns null once `isCurrent()` is false. */
  async function runInSlices(steps, isCurrent = () => true) {
    let sliceStart = performance.now();
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (performance.now() - sliceStart < SLICE) continue;
      await yieldToBrowser();
      if (!isCurrent()) return null;
      sliceStart = performance.now();
    }
  }

  /** Run a generator to its end at once; return its result. */
  function runToEnd(steps) {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }

  Object.assign(glassformer, { yieldToBrowser, runInSlices, runToEnd });
})((globalThis.glassformer ??= {}));
