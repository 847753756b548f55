// Adam, and the learning-rate schedule of `training/schedule.py`.
(function (glassformer) {
  /** Adam (Kingma & Ba, 2015), with the decay rates of Vaswani et al. (2017, section 5.3). */
  class Adam {
    #parameters;
    #moments;
    #steps = 0;

    constructor(parameters, { beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9 } = {}) {
      Object.assign(this, { beta1, beta2, epsilon });
      this.#parameters = parameters;
      this.#moments = parameters.map(({ value: { length } }) => ({
        first: new Float64Array(length),
        second: new Float64Array(length),
      }));
    }

    /** Update all parameters, and set their gradients to zero. */
    step(learningRate) {
      const { beta1, beta2, epsilon } = this;
      this.#steps += 1;
      const correction1 = 1 - beta1 ** this.#steps;
      const correction2 = 1 - beta2 ** this.#steps;
      this.#parameters.forEach(({ value, grad }, number) => {
        const { first, second } = this.#moments[number];
        for (let i = 0; i < value.length; i++) {
          first[i] = beta1 * first[i] + (1 - beta1) * grad[i];
          second[i] = beta2 * second[i] + (1 - beta2) * grad[i] ** 2;
          const deviation = Math.sqrt(second[i] / correction2) + epsilon;
          value[i] -= (learningRate * first[i]) / correction1 / deviation;
        }
        grad.fill(0);
      });
    }
  }

  /** Compute the learning rate of a step, from 1: linear warm-up to the peak, then half a cosine down to 0. */
  function learningRateAt(step, { peak, warmupSteps, totalSteps }) {
    if (step < warmupSteps) return (peak * step) / warmupSteps;
    const done = (step - warmupSteps) / Math.max(totalSteps - warmupSteps, 1);
    return (peak * (1 + Math.cos(Math.PI * Math.min(done, 1)))) / 2;
  }

  Object.assign(glassformer, { Adam, learningRateAt });
})((globalThis.glassformer ??= {}));
