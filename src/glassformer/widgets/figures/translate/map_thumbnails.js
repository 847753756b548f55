// A small attention map and a switch for each head of each layer.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  /** Make the maps of one kind of attention. `onPick` and `onSwitch` are called when a head is picked or switched. */
  page.makeMapThumbnails = ({ state, onPick, onSwitch }) => {
    const { element, set, toggle } = glassformer;
    const whole = element("div", { class: "layers" });
    let heads = [];
    return { whole, build, draw };

    function build() {
      const numHeads = page.allHeads(state).length;
      set(whole, { "--heads": numHeads });
      heads = page.namesOf(state, state.kind).flatMap((name, layer) => {
        return page.allHeads(state).map((head) => makeHead(name, layer, head));
      });
      const layers = Array.from({ length: heads.length / numHeads }, (_, layer) => {
        const inside = heads.slice(layer * numHeads, (layer + 1) * numHeads).map((head) => head.whole);
        const label = `layer ${layer + 1}`;
        const group = { class: "layer", role: "group", "aria-label": label };
        return element("div", group, element("p", {}, label), ...inside);
      });
      whole.replaceChildren(...layers);
    }

    function makeHead(name, layer, head) {
      const label = `layer ${layer + 1}, head ${head}`;
      const canvas = element("canvas", { "aria-hidden": "true" });
      const button = element("button", { type: "button", "aria-label": label }, canvas);
      button.addEventListener("click", () => {
        Object.assign(state, { layer, head });
        onPick();
      });
      const power = toggle({
        label: String(head),
        value: !page.isAblated(state, name, head),
        onInput: (isOn) => {
          page.switchHead(state, name, head, isOn);
          onSwitch();
        },
      });
      set(power.firstChild, { "aria-label": `${label} on` });
      return { name, layer, head, canvas, button, whole: element("div", { class: "head" }, button, power) };
    }

    function draw() {
      for (const { name, layer, head, canvas, button, whole } of heads) {
        glassformer.paintMap(canvas, state.result.maps[name][head]);
        const isPicked = layer === state.layer && head === state.head;
        set(button, { "aria-pressed": String(isPicked) });
        whole.classList.toggle("off", page.isAblated(state, name, head));
      }
    }
  };
})((globalThis.glassformer ??= {}));
