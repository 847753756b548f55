// Fetch a pretrained model from its folder beside this script. A page opened from the file system may not fetch
// files, so the website also keeps each model as a script.
(function (glassformer) {
  const FILES = { model: "model.json", weights: "model.safetensors", tokenizer: "tokenizer.json" };
  const HERE = globalThis.document?.currentScript?.src; // undefined for an inline script

  /**
   * Fetch the arguments of `loadTranslator`: `{ model, weights, tokenizer }`. `onProgress` is called with the
   * number of bytes received so far. Throws an Error if the download fails.
   */
  async function fetchModel(name, onProgress = () => {}) {
    if (!HERE) throw new Error(`The model ${name} is only available on the book's website.`);
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
      if (!response.ok) throw new Error(`Could not fetch ${address} (status ${response.status}).`);
      const parts = [];
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return new Blob(parts);
        parts.push(value);
        onBytes(value.length);
      }
    } catch (error) {
      // fetch throws TypeErrors, with a message of the browser's own.
      throw error instanceof TypeError
        ? new Error(`The connection was lost while fetching ${address}.`)
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
      script.addEventListener("error", () => reject(new Error(`Could not load ${address}.`)));
      script.src = address;
      document.head.append(script);
    });
  }

  function fromBase64(text) {
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
    return new Blob([bytes]);
  }

  Object.assign(glassformer, { fetchModel, readModel, MODEL_FILES: FILES });
})((globalThis.glassformer ??= {}));
