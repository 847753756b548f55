// Helpers of the engine's tests in the page.

globalThis.bytesOf = async (name) => (await fetch(name)).arrayBuffer();
globalThis.textOf = async (name) => (await fetch(name)).text();

globalThis.filesIn = async (folder) => ({
  model: await textOf(`${folder}/model.json`),
  weights: await bytesOf(`${folder}/model.safetensors`),
  tokenizer: await textOf(`${folder}/tokenizer.json`),
});

globalThis.loadModel = async (folder) => {
  const { readConfiguration, readSafetensors, Transformer } = glassformer;
  const config = readConfiguration(await textOf(`${folder}/model.json`));
  return new Transformer(config, readSafetensors(await bytesOf(`${folder}/model.safetensors`)));
};

/** Compute the largest differences between the results of `inspect` and those of Python. */
globalThis.worstDifferences = async (model, pairs, heads, name) => {
  const expected = glassformer.readSafetensors(await bytesOf(name));
  const worst = { logits: 0, maps: 0 };
  const compare = (kind, computed, expected) => {
    let place = 0;
    for (const row of computed) {
      for (const number of row) {
        const difference = Math.abs(number - expected[place++]);
        if (!(difference <= worst[kind])) worst[kind] = difference; // NaN, too
      }
    }
    if (place !== expected.length) throw new Error(`${place} numbers, not ${expected.length}`);
  };
  pairs.forEach(([source, target], number) => {
    const { maps, logits } = glassformer.inspect(model, source, target, { ablated: heads });
    compare("logits", logits, expected.get(`${number}.logits`).values);
    for (const name of model.attentionNames) {
      compare("maps", maps[name].flat(), expected.get(`${number}.${name}`).values);
    }
  });
  return worst;
};
