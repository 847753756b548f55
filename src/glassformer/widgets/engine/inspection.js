// Look inside a model while it runs, and switch off parts of it (`inspection.py`).
(function (glassformer) {
  /**
   * Make an `atHeads` that replaces what some heads attended to by zeros. `heads` lists them, counted from 0,
   * under the names of their attentions: `{ "encoder.layers.1.self_attention": [0, 3] }`.
   */
  function silenceHeads(model, heads) {
    const { num_heads: numHeads, d_model: width } = model.config;
    const headWidth = width / numHeads;
    for (const [name, numbers] of Object.entries(heads)) {
      if (!model.attentionNames.includes(name)) {
        throw new Error(`There is no attention ${name}, only ${model.attentionNames.join(", ")}.`);
      }
      const outside = numbers.filter((head) => !Number.isInteger(head) || head < 0 || head >= numHeads);
      if (outside.length)
        throw new Error(`Heads of ${name} must be from 0 to ${numHeads - 1}, got ${outside}.`);
    }
    return (name, attended) => {
      for (const head of heads[name] ?? []) attended.fill(0, head * headWidth, (head + 1) * headWidth);
    };
  }

  /** All heads that look at the source, as `silenceHeads` takes them. */
  function crossHeads(model) {
    const names = model.attentionNames.filter((name) => name.endsWith("cross_attention"));
    const all = Array.from({ length: model.config.num_heads }, (_, head) => head);
    return Object.fromEntries(names.map((name) => [name, all]));
  }

  /**
   * Run a translation through the model once more, and keep what the heads look at.
   *
   * Returned are `maps`, the weights by the name of their attention, `[head][query][key]`, and `logits`, one
   * array for each of the target ids. The query of a target id is the token before it: a target of n ids has
   * the queries, and in self-attention the keys, start, first, ... up to the last but one.
   */
  function inspect(model, sourceIds, targetIds, options) {
    return glassformer.finish(inspecting(model, sourceIds, targetIds, options));
  }

  /** The same as a generator, for a page that shall not freeze: it yields after each token. */
  function* inspecting(model, sourceIds, targetIds, { switchedOff = {} } = {}) {
    const silence = silenceHeads(model, switchedOff);
    const rows = new Map(model.attentionNames.map((name) => [name, []]));
    const atHeads = (name, attended, weights) => {
      silence(name, attended);
      rows.get(name).push(weights);
    };
    const cache = new glassformer.KeyValueCache(model, sourceIds, { maxLength: targetIds.length, atHeads });
    const lastIds = [glassformer.START_ID, ...targetIds.slice(0, -1)];
    const logits = [];
    for (const id of lastIds) {
      logits.push(cache.step([id]));
      yield;
    }
    const maps = Object.fromEntries([...rows].map(([name, queries]) => [name, headByHead(queries)]));
    return { maps, logits };
  }

  /** From query, head, key to head, query, key: what a query may not look at has the weight 0. */
  function headByHead(queries) {
    const numKeys = Math.max(...queries.map(([weights]) => weights.length));
    return queries[0].map((_, head) =>
      queries.map((weights) => {
        const row = new Float32Array(numKeys);
        row.set(weights[head]);
        return row;
      }),
    );
  }

  Object.assign(glassformer, { silenceHeads, crossHeads, inspect, inspecting });
})((globalThis.glassformer ??= {}));
