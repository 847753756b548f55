// One block: the way of the words, and what stands beside it.
(function (glassformer) {
  const figure = (glassformer.blockFigure ??= {});

  const [STREAM, MIDDLE, LEFT, RIGHT] = [40, 130, 72, 188];
  const [TOP, BOTTOM, STEP] = [48, 256, 104];

  /** The drawing of one block, from its foot to its top; what is lit is the way that the words take. */
  figure.makeBlockDiagram = function () {
    const { element } = glassformer;
    const drawing = element("svg", { class: "drawing", viewBox: "0 0 200 282", "aria-hidden": "true" });

    function draw(parts, depth) {
      const sublayers = [
        ["self-attention", true],
        ["feed-forward", parts.feedForward],
      ];
      const way = sublayers.map(([, on], place) => wayThrough(BOTTOM - STEP * place, on && !parts.residual));
      drawing.replaceChildren(
        element("rect", { class: "frame", x: 4, y: TOP - 4, width: 192, height: 216, rx: 8 }),
        element("text", { class: "times", x: 194, y: TOP - 12, "text-anchor": "end" }, `× ${depth}`),
        element("text", { x: STREAM + 10, y: 278 }, "one vector a word"),
        ...sublayers.flatMap(([, on], place) => (on ? besides(BOTTOM - STEP * place, parts) : [])),
        element("path", { class: "way", d: `M${STREAM} 280V${BOTTOM}${way.join("")}V10` }),
        element("path", { class: "head", d: `M${STREAM} 2l6 11h-12Z` }),
        ...sublayers.flatMap(([name, on], place) => boxes(name, on, BOTTOM - STEP * place, parts)),
        ...(parts.norm === "pre" ? box("norm", "norm", STREAM - 24, TOP - 26, 48, 17) : []),
      );
    }

    return { drawing, draw };
  };

  /** The way of the words from the foot of a sublayer to its top: straight on, or through the sublayer. */
  function wayThrough(foot, isDetour) {
    const detour = `V${foot - 8}H${MIDDLE}V${foot - 74}H${STREAM}`;
    return `${isDetour ? detour : ""}V${foot - STEP}`;
  }

  /** What is not on the way: the branch that is added, or else the gap where the straight path was. */
  function besides(foot, { residual }) {
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
