// How a translator comes into the page: fetched when asked for, or from files that the reader opens or drops.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  /**
   * Make the button, the bar and the place for files. `load(find)` takes a promise of what `loadTranslator`
   * needs and gives one of whether it was loaded.
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
    const words = ["or open your own: the three files that ", command, " writes, here or dropped here"];
    const zone = element("label", { class: "drop" }, element("span", {}, ...words), picker);
    picker.addEventListener("click", () => (picker.value = "")); // the same files may be opened again
    picker.addEventListener("input", () => open([...picker.files]));
    zone.addEventListener("dragover", (event) => event.preventDefault());
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      open([...event.dataTransfer.files]);
    });
    return zone;
  }

  /** Of the files that a reader opened, those of a translator, by what they are for. */
  function sortFiles(files) {
    const found = Object.entries(glassformer.MODEL_FILES).map(([part, name]) => {
      return [part, name, files.find((file) => file.name === name)];
    });
    const names = found.map(([, name]) => name);
    const missing = found.filter(([, , file]) => !file).map(([, name]) => name);
    if (!missing.length) return Object.fromEntries(found.map(([part, , file]) => [part, file]));
    throw new Error(`Open three files at once: ${names.join(", ")}. Missing: ${missing.join(", ")}.`);
  }
})((globalThis.glassformer ??= {}));
