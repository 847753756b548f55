// Fetch a pretrained model: from its folder beside this script or, where the page was opened from a disk and
// browsers let it fetch nothing, from the script that the website keeps beside the folder.
(function (glassformer) {
  const FILES = { model: "model.json", weights: "model.safetensors", tokenizer: "tokenizer.json" };
  const HERE = globalThis.document?.currentScript?.src; // empty where the script stands in the page itself

  /**
   * Fetch what `loadTranslator` makes a translator of: `{ model, weights, tokenizer }`. `onProgress` hears how
   * many bytes have come so far. Throws an Error in words if they do not come.
   */
  async function fetchModel(name, onProgress = () => {}) {
    if (!HERE) throw new Error(`The model ${name} comes with the book's website, and this is no page of it.`);
    const folder = new URL(name, HERE).href;
    const isOnDisk = folder.startsWith("file:");
    return readModel(isOnDisk ? await unpack(name, folder, onProgress) : await download(folder, onProgress));
  }

  /** Read the three files of a model. */
  async function readModel({ model, weights, tokenizer }) {
    return {
      model: await model.text(),
      weights: await weights.arrayBuffer(),
      tokenizer: await tokenizer.text(),
    };
  }

  async function download(folder, onProgress) {
    let numBytes = 0;
    const onBytes = (number) => onProgress((numBytes += number));
    const parts = Object.entries(FILES).map(async ([part, name]) => [
      part,
      await downloadFile(`${folder}/${name}`, onBytes),
    ]);
    return Object.fromEntries(await Promise.all(parts));
  }

  async function downloadFile(address, onBytes) {
    try {
      const response = await fetch(address);
      if (!response.ok) throw new Error(`There is no ${address} (${response.status}).`);
      const parts = [];
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return new Blob(parts);
        parts.push(value);
        onBytes(value.length);
      }
    } catch (error) {
      // What fetch itself throws are TypeErrors, in the words of each browser.
      throw error instanceof TypeError
        ? new Error(`The connection broke off: ${address} did not come.`)
        : error;
    }
  }

  async function unpack(name, folder, onProgress) {
    if (!glassformer.models?.[name]) await addScript(`${folder}.js`);
    const files = Object.entries(FILES).map(([part, file]) => [
      part,
      fromBase64(glassformer.models[name][file]),
    ]);
    onProgress(files.reduce((total, [, blob]) => total + blob.size, 0));
    return Object.fromEntries(files);
  }

  function addScript(address) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.addEventListener("load", resolve);
      script.addEventListener("error", () => reject(new Error(`There is no ${address}.`)));
      script.src = address;
      document.head.append(script);
    });
  }

  function fromBase64(text) {
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let place = 0; place < bytes.length; place++) bytes[place] = characters.charCodeAt(place);
    return new Blob([bytes]);
  }

  Object.assign(glassformer, { fetchModel, readModel, MODEL_FILES: FILES });
})((globalThis.glassformer ??= {}));
