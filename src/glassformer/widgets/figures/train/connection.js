// Connections to a trainer (`learning/trainer.js`): in a worker, or on the page where no worker can be started.
(function (glassformer) {
  const SLICE = 30; // milliseconds of work on the page before it can respond
  const script = document.currentScript?.src;

  /** Workers need a script with an address, which a notebook lacks, and a server, which files lack. */
  const canUseWorker = () => Boolean(script) && location.protocol !== "file:";

  /** Start a trainer, which calls `report`. Returns the function `send(command, options)`. */
  function connectTrainer(report) {
    if (!canUseWorker()) {
      const trainer = new glassformer.Trainer({ report, slice: SLICE });
      return (command, options) => trainer.handle({ command, ...options });
    }
    const worker = new Worker(new URL("../../workers/train.js", script));
    worker.onmessage = ({ data }) => report(data);
    return (command, options) => worker.postMessage({ command, ...options });
  }

  glassformer.trainFigure = { connectTrainer, canUseWorker };
})((globalThis.glassformer ??= {}));
