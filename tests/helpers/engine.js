// What the engine's tests do in the page.

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

/** How far what `inspect` gives for each pair of sentences is from what Python gave. */
globalThis.worstDifferences = async (model, pairs, heads, name) => {
  const expected = glassformer.readSafetensors(await bytesOf(name));
  const worst = { logits: 0, maps: 0 };
  const compare = (kind, computed, wanted) => {
    let place = 0;
    for (const row of computed) {
      for (const number of row) {
        const difference = Math.abs(number - wanted[place++]);
        if (!(difference <= worst[kind])) worst[kind] = difference; // NaN, too
      }
    }
    if (place !== wanted.length) throw new Error(`${place} numbers, not ${wanted.length}`);
  };
  pairs.forEach(([source, target], number) => {
    const { maps, logits } = glassformer.inspect(model, source, target, { switchedOff: heads });
    compare("logits", logits, expected.get(`${number}.logits`).values);
    for (const name of model.attentionNames) {
      compare("maps", maps[name].flat(), expected.get(`${number}.${name}`).values);
    }
  });
  return worst;
};
