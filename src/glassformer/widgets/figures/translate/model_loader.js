// Load a translator: fetched on request, or from files that the reader opens or drops.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  /**
   * Make the button, the progress bar and the drop zone. `load(find)` is given an async function that returns the
   * arguments of `loadTranslator`, and resolves to true on success.
   */
  page.makeLoader = ({ model, megabytes, load }) => {
    const { element } = glassformer;
    const button = element(
      "button",
      { type: "button", class: "go" },
      `Load the translator (${megabytes} MB)`,
    );
    const bar = element("progress", { max: megabytes * 1e6, value: 0, "aria-label": "Loaded" });
    button.addEventListener("click", () => fill(() => glassformer.fetchModel(model, onProgress)));
    const drop = makeDropZone((files) => fill(() => glassformer.readModel(sortFiles(files))));
    return element("div", { class: "loader" }, element("div", { class: "own" }, button, bar), drop);

    function onProgress(numBytes) {
      bar.value = numBytes;
    }

    async function fill(find) {
      bar.value = 0;
      bar.hidden = false;
      if (!(await load(async () => find()))) return;
      bar.hidden = true;
      button.textContent = "Load the pretrained translator again";
      button.className = "again";
    }
  };

  function makeDropZone(open) {
    const { element } = glassformer;
    const picker = element("input", { type: "file", multiple: "", accept: ".json,.safetensors" });
    const command = element("code", {}, "glassformer export");
    const words = ["or open or drop your own three files, as written by ", command];
    const zone = element("label", { class: "drop" }, element("span", {}, ...words), picker);
    picker.addEventListener("click", () => (picker.value = "")); // allows opening the same files again
    picker.addEventListener("input", () => open([...picker.files]));
    zone.addEventListener("dragover", (event) => event.preventDefault());
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      open([...event.dataTransfer.files]);
    });
    return zone;
  }

  /** Select the three files of a translator by name. */
  function sortFiles(files) {
    const found = Object.entries(glassformer.MODEL_FILES).map(([part, name]) => {
      return [part, name, files.find((file) => file.name === name)];
    });
    const names = found.map(([, name]) => name);
    const missing = found.filter(([, , file]) => !file).map(([, name]) => name);
    if (!missing.length) return Object.fromEntries(found.map(([part, , file]) => [part, file]));
    throw new Error(`Open three files together: ${names.join(", ")}. Missing: ${missing.join(", ")}.`);
  }
})((globalThis.glassformer ??= {}));
