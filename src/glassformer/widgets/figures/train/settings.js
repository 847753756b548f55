// The settings of the next run: the parts to remove, the depth, the width and the seed.
(function (glassformer) {
  const DEPTHS = { "1 + 1": 1, "3 + 3": 3 };
  const WIDTHS = ["32", "16"];
  const STEPS = 500;
  const SLOW = 40; // seconds of the shorter run from which the smaller width is chosen
  const OF_LOOKS = 1.25; // with its tests, a run takes so much longer than its steps
  const DEEPER = 2.8; // and with three layers instead of one, so much longer (measured)

  /** Make the settings. `read()` returns those of the changed run; `lock(isLocked)` disables all controls. */
  glassformer.trainFigure.settings = function (parts) {
    const { element, choice } = glassformer;
    const reasons = element("ul", { class: "reasons" });
    const switches = parts.map((part) => ({ part, ...checkbox(part.label, explain) }));
    const depth = choice({ label: "layers", options: Object.keys(DEPTHS), value: "1 + 1", onInput: () => {} });
    const width = choice({ label: "width", options: WIDTHS, value: "32", onInput: () => {} });
    const seed = numberField("seed", 1);
    const another = element("button", { type: "button" }, "Another seed");
    another.addEventListener("click", () => (seed.input.value = 1 + Number(seed.input.value || 0)));
    const speed = element("p", { class: "note speed" });
    const removals = element(
      "fieldset",
      {},
      element("legend", {}, "Train it, and beside it one without…"),
      element("div", { class: "switches" }, ...switches.map(({ whole }) => whole)),
      reasons,
    );
    const sizes = element(
      "fieldset",
      { class: "controls", "aria-label": "Size and seed" },
      ...[depth, width].map(({ label, input }) => element("div", { class: "control" }, label, input)),
      seed.whole,
      another,
    );
    explain();

    /** Say for each removed part what it is for. */
    function explain() {
      const removed = switches.filter(({ input }) => input.checked).map(({ part }) => part);
      reasons.replaceChildren(
        ...removed.map(({ label, reason, section }) =>
          element(
            "li",
            {},
            element("strong", {}, `${label}: `),
            `${reason} `,
            element("a", { href: section, "aria-label": `Read more about ${label}` }, "Read more"),
          ),
        ),
      );
      if (!removed.length) {
        reasons.append(element("li", { class: "note" }, "Remove a part, and this line says what it is for."));
      }
    }

    function read() {
      return {
        without: switches.filter(({ input }) => input.checked).map(({ part }) => part.name),
        numLayers: DEPTHS[depth.input.value],
        width: Number(width.input.value),
        seed: Math.trunc(Number(seed.input.value)) || 1,
      };
    }

    function lock(isLocked) {
      removals.disabled = isLocked;
      sizes.disabled = isLocked;
    }

    /** Choose the width by the milliseconds of a measured step, and say what to expect. */
    function takeSpeed(milliseconds) {
      const seconds = (STEPS * milliseconds * OF_LOOKS) / 1000;
      const isSlow = seconds > SLOW;
      if (isSlow) width.input.value = "16";
      const about = (number) => `${Math.max(1, Math.round(number))} s`;
      speed.textContent =
        `Measured on this device: a run of 500 steps should take about ${about(seconds)} with 1 + 1 layers and ` +
        `${about(DEEPER * seconds)} with 3 + 3, at width 32.` +
        (isSlow ? " That is long, so the width is set to 16." : "");
    }

    return { parts: [removals, sizes, speed], read, lock, takeSpeed };
  };

  function checkbox(label, onInput) {
    const { element } = glassformer;
    const input = element("input", { type: "checkbox" });
    input.addEventListener("input", onInput);
    return { input, whole: element("label", { class: "switch" }, input, label) };
  }

  function numberField(label, value) {
    const { element } = glassformer;
    const input = element("input", { type: "number", min: 1, step: 1, value });
    return { input, whole: element("label", { class: "control" }, label, input) };
  }
})((globalThis.glassformer ??= {}));
