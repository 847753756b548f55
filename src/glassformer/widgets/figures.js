// What all live figures share: how a figure starts, and the parts that it is built from.
//
// A figure's own script says `glassformer.figures.push(["name", start])`, before or after this one. `start`
// gets an empty element and the data that Python wrote, and builds the figure there.
(function (glassformer) {
  if (glassformer.element) return; // a notebook brings this script along with each figure

  const starts = new Map();
  const waiting = glassformer.figures ?? [];

  class GlassFigure extends HTMLElement {
    connectedCallback() {
      this.start();
    }

    start() {
      const name = this.getAttribute("name");
      if (!starts.has(name) || this.dataset.live !== undefined) return;
      const data = JSON.parse(this.querySelector("script[type='application/json']").textContent);
      const stage = element("div", { class: "stage" });
      // JupyterLab takes the arrow keys for itself, unless what has the focus says that they are its own.
      stage.addEventListener("focusin", ({ target }) => set(target, { "data-lm-suppress-shortcuts": "true" }));
      this.append(stage);
      starts.get(name)(stage, data);
      this.dataset.live = "";
    }
  }

  function announce(name, start) {
    starts.set(name, start);
    for (const figure of document.querySelectorAll(`glass-figure[name="${name}"]`)) figure.start?.();
  }

  // ---- Building ----

  const SVG = new Set(["svg", "g", "rect", "circle", "line", "path", "polyline", "polygon", "text"]);

  /** Make an element. Text among the children stays text, whatever it holds. */
  function element(tag, attributes = {}, ...children) {
    const made = SVG.has(tag)
      ? document.createElementNS("http://www.w3.org/2000/svg", tag)
      : document.createElement(tag);
    set(made, attributes);
    made.append(...children);
    return made;
  }

  /** Change attributes; those that begin with "--" are properties of the style. */
  function set(changed, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("--")) changed.style.setProperty(name, value);
      else changed.setAttribute(name, value);
    }
  }

  let made = 0;

  /** A slider with its name and its value. `show` turns the number into words. */
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

  /** A choice among a few, of which one holds. */
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

  /** A switch that is on or off. */
  function toggle({ label, value, onInput }) {
    const input = element("input", { type: "checkbox" });
    input.checked = value;
    input.addEventListener("input", () => onInput(input.checked));
    return element("label", { class: "switch" }, input, label);
  }

  /** A sentence about what is shown, read aloud once the reader's hand has come to rest. */
  function summary() {
    const seen = element("p", { class: "summary" });
    const heard = element("p", { class: "heard", role: "status" });
    let timer;
    const say = (sentence) => {
      if (seen.textContent === sentence) return;
      clearTimeout(timer);
      if (seen.textContent) timer = setTimeout(() => (heard.textContent = sentence), 400);
      seen.textContent = sentence;
    };
    return { parts: [seen, heard], say };
  }

  /** A question to be answered before the figure is touched; the answer stays in the page. */
  function prediction({ question, answers, right, because }) {
    const verdict = element("p", { class: "verdict", role: "status" });
    const buttons = answers.map((answer) => element("button", { type: "button" }, answer));
    const answered = (chosen) => {
      buttons.forEach((button, place) => {
        set(button, { "aria-pressed": String(place === chosen) });
        button.classList.toggle("right", place === right);
      });
      verdict.textContent = `${chosen === right ? "Right" : `No: ${answers[right]}`}. ${because}`;
    };
    buttons.forEach((button, place) => button.addEventListener("click", () => answered(place)));
    return element(
      "div",
      { class: "prediction", role: "group", "aria-label": "Predict first" },
      element("p", {}, element("strong", {}, "Predict first. "), question),
      element("div", { class: "answers" }, ...buttons),
      verdict,
    );
  }

  /** A number as the book writes it: a real minus, and ∞ where the format has ended. */
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
  glassformer.figures = { push: (...figures) => figures.forEach(([name, start]) => announce(name, start)) };
  glassformer.figures.push(...waiting);
  customElements.define("glass-figure", GlassFigure);
})((globalThis.glassformer ??= {}));
