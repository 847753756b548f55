// Record attention weights and ablate heads (`inspection.py`).
(function (glassformer) {
  /**
   * Make a hook that sets the output of some heads to zero. `heads` lists them, counted from 0, by attention:
   * `{ "encoder.layers.1.self_attention": [0, 3] }`.
   */
  function ablateHeads(model, heads) {
    const { num_heads: numHeads, d_model: width } = model.config;
    const headWidth = width / numHeads;
    for (const [name, numbers] of Object.entries(heads)) {
      if (!model.attentionNames.includes(name)) {
        throw new Error(`The attention must be one of ${model.attentionNames.join(", ")}, got ${name}.`);
      }
      const invalid = numbers.filter((head) => !Number.isInteger(head) || head < 0 || head >= numHeads);
      if (invalid.length)
        throw new Error(`Heads of ${name} must be from 0 to ${numHeads - 1}, got ${invalid}.`);
    }
    return (name, attended) => {
      for (const head of heads[name] ?? []) attended.fill(0, head * headWidth, (head + 1) * headWidth);
    };
  }

  /**
   * Run a translation through the model once more and record what its heads attend to.
   *
   * Returns `maps`, the weights by attention, as `[head][query][key]`, and `logits`, one array per target id. The
   * query of a target id is the token before it: n target ids have the queries start, first, ..., last but one.
   */
  function inspect(model, sourceIds, targetIds, options) {
    return glassformer.runToEnd(inspectInSteps(model, sourceIds, targetIds, options));
  }

  /** `inspect` as a generator that yields after each token. */
  function* inspectInSteps(model, sourceIds, targetIds, { ablated = {} } = {}) {
    const ablate = ablateHeads(model, ablated);
    const rows = new Map(model.attentionNames.map((name) => [name, []]));
    const hook = (name, attended, weights) => {
      ablate(name, attended);
      rows.get(name).push(weights);
    };
    const decoding = new glassformer.CachedDecoding(model, sourceIds, { maxLength: targetIds.length, hook });
    const decoderInputIds = [glassformer.START_ID, ...targetIds.slice(0, -1)];
    const logits = [];
    for (const id of decoderInputIds) {
      logits.push(decoding.step([id]));
      yield;
    }
    const maps = Object.fromEntries([...rows].map(([name, queries]) => [name, toHeads(queries)]));
    return { maps, logits };
  }

  /** Reorder weights from `[query][head][key]` to `[head][query][key]`, with 0 for masked keys. */
  function toHeads(queries) {
    const numKeys = Math.max(...queries.map(([weights]) => weights.length));
    return queries[0].map((_, head) =>
      queries.map((weights) => {
        const row = new Float32Array(numKeys);
        row.set(weights[head]);
        return row;
      }),
    );
  }

  Object.assign(glassformer, { ablateHeads, inspect, inspectInSteps });
})((globalThis.glassformer ??= {}));
