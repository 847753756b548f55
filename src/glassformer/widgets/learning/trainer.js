// A trainer carries out commands and reports back, in a worker or, where there is none, in slices on the page.
(function (glassformer) {
  const MEASURED_STEPS = 8;

  class Trainer {
    #report;
    #slice;
    #id;
    #run = null;
    #pieces = null;
    #turn = 0; // changes when the trainer is paused

    /** `slice` is the number of milliseconds between reports, and until the next command is heard. */
    constructor({ report, slice }) {
      this.#report = report;
      this.#slice = slice;
    }

    /** Carry out a command: a method's name, with its options. */
    handle({ command, ...options }) {
      return this[command](options);
    }

    /** Prepare a run with these settings, instead of the one before. Its reports will carry `id`. */
    prepare({ id, ...settings }) {
      this.pause();
      this.#id = id;
      this.#run = new glassformer.TrainingRun(settings);
      this.#pieces = this.#run.train();
    }

    /** Train until the end or until `pause`. */
    resume() {
      return this.#advance(() => false);
    }

    /** Take a single step. */
    step() {
      return this.#advance(({ losses }) => losses.length > 0);
    }

    pause() {
      this.#turn += 1;
    }

    /** Translate the words of a sentence, and compute its attention map. */
    translate({ words }) {
      const [translation] = glassformer.runToEnd(this.#run.translate([words]));
      this.#report({ id: this.#id, kind: "translated", words, translation });
    }

    /** Measure the milliseconds of the fastest of a few steps, on another model with one layer in each stack. */
    async measure() {
      const run = new glassformer.TrainingRun({ seed: 1, numLayers: 1 });
      const times = [];
      while (times.length < MEASURED_STEPS) {
        const start = performance.now();
        await glassformer.runInSlices(run.takeStep(run.sampleBatch()));
        times.push(performance.now() - start);
      }
      this.#report({ kind: "measured", milliseconds: Math.min(...times) });
    }

    /** Work in slices until `isEnough(progress)` of one slice, the end, or a pause; report after each slice. */
    async #advance(isEnough) {
      const turn = (this.#turn += 1);
      while (turn === this.#turn) {
        const start = performance.now();
        const isOver = (progress) => isEnough(progress) || performance.now() - start > this.#slice;
        const progress = this.#work(isOver);
        if (progress.isDone || isEnough(progress)) this.pause();
        this.#report({ id: this.#id, ...progress, step: this.#run.step, seconds: (performance.now() - start) / 1000 });
        await glassformer.yieldToBrowser();
      }
    }

    /** Work until `isOver(progress)` or to the end; return the progress. */
    #work(isOver) {
      const progress = { kind: "progress", losses: [], tokens: 0, look: null, isDone: false };
      do {
        const { done, value } = this.#pieces.next();
        if (done) progress.isDone = true;
        else if (value?.look) progress.look = value;
        else if (value) {
          progress.losses.push(value.loss);
          progress.tokens += value.tokens;
        }
      } while (!progress.isDone && !isOver(progress));
      return progress;
    }
  }

  Object.assign(glassformer, { Trainer });
})((globalThis.glassformer ??= {}));
