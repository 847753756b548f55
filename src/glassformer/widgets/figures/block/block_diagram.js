// Diagram of one block: the path of the word vectors and the parts around it.
(function (glassformer) {
  const figure = (glassformer.blockFigure ??= {});

  const [STREAM, MIDDLE, LEFT, RIGHT] = [40, 130, 72, 188];
  const [TOP, BOTTOM, STEP] = [48, 256, 104];

  /** Draw one block from bottom to top, with the path of the word vectors highlighted. */
  figure.makeBlockDiagram = function () {
    const { element } = glassformer;
    const drawing = element("svg", { class: "drawing", viewBox: "0 0 200 282", "aria-hidden": "true" });

    function draw(parts, depth) {
      const sublayers = [
        ["self-attention", true],
        ["feed-forward", parts.feedForward],
      ];
      const path = sublayers.map(([, on], place) => pathPast(BOTTOM - STEP * place, on && !parts.residual));
      drawing.replaceChildren(
        element("rect", { class: "frame", x: 4, y: TOP - 4, width: 192, height: 216, rx: 8 }),
        element("text", { class: "times", x: 194, y: TOP - 12, "text-anchor": "end" }, `× ${depth}`),
        element("text", { x: STREAM + 10, y: 278 }, "one vector per word"),
        ...sublayers.flatMap(([, on], place) => (on ? branchOrGap(BOTTOM - STEP * place, parts) : [])),
        element("path", { class: "way", d: `M${STREAM} 280V${BOTTOM}${path.join("")}V10` }),
        element("path", { class: "head", d: `M${STREAM} 2l6 11h-12Z` }),
        ...sublayers.flatMap(([name, on], place) => boxes(name, on, BOTTOM - STEP * place, parts)),
        ...(parts.norm === "pre" ? box("norm", "norm", STREAM - 24, TOP - 26, 48, 17) : []),
      );
    }

    return { drawing, draw };
  };

  /** Draw the path past a sublayer: straight on, or through the sublayer without a residual connection. */
  function pathPast(foot, isDetour) {
    const detour = `V${foot - 8}H${MIDDLE}V${foot - 74}H${STREAM}`;
    return `${isDetour ? detour : ""}V${foot - STEP}`;
  }

  /** Draw the branch whose output is added, or the gap that replaces the straight path. */
  function branchOrGap(foot, { residual }) {
    const { element } = glassformer;
    if (!residual) return [element("path", { class: "gap", d: `M${STREAM} ${foot - 16}V${foot - 68}` })];
    const branch = `M${STREAM} ${foot - 8}H${MIDDLE}V${foot - 74}H${STREAM + 17}`;
    const tip = `M${STREAM + 10} ${foot - 74}l9 -5v10Z`;
    return [element("path", { class: "branch", d: branch }), element("path", { class: "tip", d: tip })];
  }

  function boxes(name, on, foot, { residual, norm }) {
    const sublayer = box(on ? "sublayer" : "sublayer off", name, LEFT, foot - 62, RIGHT - LEFT, 26);
    if (!on) return sublayer;
    const plus = residual ? box("plus", "+", STREAM - 9, foot - 83, 18, 18) : [];
    const norms = {
      none: [],
      post: box("norm", "norm", STREAM - 24, foot - 103, 48, 17),
      pre: box("norm", "norm", LEFT, foot - 33, RIGHT - LEFT, 17),
    };
    return [...sublayer, ...plus, ...norms[norm]];
  }

  function box(kind, name, x, y, width, height) {
    const { element } = glassformer;
    return [
      element("rect", { class: kind, x, y, width, height, rx: 5 }),
      element("text", { class: kind, x: x + width / 2, y: y + height / 2 + 5, "text-anchor": "middle" }, name),
    ];
  }
})((globalThis.glassformer ??= {}));
