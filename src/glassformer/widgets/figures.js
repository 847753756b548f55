// Shared by all live figures: starting a figure, and building blocks.
//
// A figure's script calls `glassformer.figures.push(["name", start])`, before or after this script runs. `start` is
// given an empty element and the data from Python, and builds the figure inside the element.
(function (glassformer) {
  if (glassformer.element) return; // a notebook includes this script with each figure

  const starts = new Map();
  const pending = glassformer.figures ?? [];

  class GlassFigure extends HTMLElement {
    connectedCallback() {
      this.start();
    }

    start() {
      const name = this.getAttribute("name");
      if (!starts.has(name) || this.dataset.live !== undefined) return;
      const data = JSON.parse(this.querySelector("script[type='application/json']").textContent);
      const stage = element("div", { class: "stage" });
      // Without this attribute on the focused element, JupyterLab handles the arrow keys itself.
      stage.addEventListener("focusin", ({ target }) => set(target, { "data-lm-suppress-shortcuts": "true" }));
      this.append(stage);
      starts.get(name)(stage, data);
      this.dataset.live = "";
    }
  }

  function register(name, start) {
    starts.set(name, start);
    for (const figure of document.querySelectorAll(`glass-figure[name="${name}"]`)) figure.start?.();
  }

  // ---- Building ----

  const SVG = new Set(["svg", "g", "rect", "circle", "line", "path", "polyline", "polygon", "text"]);

  /** Make an element. Strings among the children become text nodes. */
  function element(tag, attributes = {}, ...children) {
    const made = SVG.has(tag)
      ? document.createElementNS("http://www.w3.org/2000/svg", tag)
      : document.createElement(tag);
    set(made, attributes);
    made.append(...children);
    return made;
  }

  /** Set attributes; names that begin with "--" are CSS custom properties. */
  function set(changed, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("--")) changed.style.setProperty(name, value);
      else changed.setAttribute(name, value);
    }
  }

  let made = 0;

  /** Make a slider with its label and output. `show` formats the value. */
  function slider({ label, min, max, step, value, show = String, onInput }) {
    const id = `glass-${(made += 1)}`;
    const input = element("input", { type: "range", id, min, max, step, value });
    const output = element("output", { for: id });
    const update = () => {
      output.textContent = show(input.valueAsNumber);
      set(input, { "aria-valuetext": output.textContent });
    };
    input.addEventListener("input", () => {
      update();
      onInput(input.valueAsNumber);
    });
    update();
    return { label: element("label", { for: id }, label), input, output };
  }

  /** Make a drop-down list. */
  function choice({ label, options, value, onInput }) {
    const id = `glass-${(made += 1)}`;
    const select = element(
      "select",
      { id },
      ...options.map((option) => element("option", { value: option }, option)),
    );
    select.value = value;
    select.addEventListener("input", () => onInput(select.value));
    return { label: element("label", { for: id }, label), input: select };
  }

  /** Make a checkbox. */
  function toggle({ label, value, onInput }) {
    const input = element("input", { type: "checkbox" });
    input.checked = value;
    input.addEventListener("input", () => onInput(input.checked));
    return element("label", { class: "switch" }, input, label);
  }

  /** Make a one-sentence summary of the figure, announced to screen readers once changes pause. */
  function summary() {
    const visible = element("p", { class: "summary" });
    const announced = element("p", { class: "heard", role: "status" });
    let timer;
    const say = (sentence) => {
      if (visible.textContent === sentence) return;
      clearTimeout(timer);
      if (visible.textContent) timer = setTimeout(() => (announced.textContent = sentence), 400);
      visible.textContent = sentence;
    };
    return { parts: [visible, announced], say };
  }

  /** Make a question for the reader to answer before using the figure. The answer is not stored. */
  function prediction({ question, answers, right, because }) {
    const verdict = element("p", { class: "verdict", role: "status" });
    const buttons = answers.map((answer) => element("button", { type: "button" }, answer));
    const answer = (chosen) => {
      buttons.forEach((button, place) => {
        set(button, { "aria-pressed": String(place === chosen) });
        button.classList.toggle("right", place === right);
      });
      verdict.textContent = `${chosen === right ? "Right" : `No: ${answers[right]}`}. ${because}`;
    };
    buttons.forEach((button, place) => button.addEventListener("click", () => answer(place)));
    return element(
      "div",
      { class: "prediction", role: "group", "aria-label": "Predict first" },
      element("p", {}, element("strong", {}, "Predict first. "), question),
      element("div", { class: "answers" }, ...buttons),
      verdict,
    );
  }

  /** Format a number with a typographic minus sign and ∞. */
  function show(number, digits = 2) {
    if (Number.isNaN(number)) return "NaN";
    if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
    const fixed = Math.abs(number) >= 1e6 ? number.toExponential(2) : number.toFixed(digits);
    return (Number(fixed) === 0 ? fixed.replace("-", "") : fixed).replaceAll("-", "−");
  }

  /** Paint an attention map, one pixel per weight: the larger, the darker. */
  function paintMap(canvas, map) {
    Object.assign(canvas, { width: map[0].length, height: map.length });
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    map.flatMap((row) => [...row]).forEach((weight, place) => {
      image.data.set([122, 85, 208, 255 * (0.07 + 0.93 * weight)], 4 * place);
    });
    context.putImageData(image, 0, 0);
  }

  Object.assign(glassformer, { element, set, slider, choice, toggle, summary, prediction, show, paintMap });
  glassformer.figures = { push: (...figures) => figures.forEach(([name, start]) => register(name, start)) };
  glassformer.figures.push(...pending);
  customElements.define("glass-figure", GlassFigure);
})((globalThis.glassformer ??= {}));
