// Long work in a page that shall not freeze.
(function (glassformer) {
  const STRETCH = 30; // milliseconds of work before the page may breathe

  const breathe = () => new Promise((resolve) => setTimeout(resolve));

  /** Run a generator to its end, and let the page breathe meanwhile. Null once nobody waits for it. */
  async function runInSlices(steps, isAwaited = () => true) {
    let rested = performance.now();
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (performance.now() - rested < STRETCH) continue;
      await breathe();
      if (!isAwaited()) return null;
      rested = performance.now();
    }
  }

  Object.assign(glassformer, { breathe, runInSlices });
})((globalThis.glassformer ??= {}));
