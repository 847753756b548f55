// Layout of the encoder-decoder diagram: boxes and paths.
(function (glassformer) {
  const WIDTH = 324;
  const HEIGHT = 448;
  const LEFT = { encoder: 2, decoder: 178 }; // left edges of the stacks
  const STACK = 144; // width of a stack
  const INSET = 13; // of boxes inside a layer
  const BYPASS = 6; // offset of the residual path
  const PRONG = 11; // distance below an attention sublayer at which its inputs branch

  const isNorm = ({ kind }) => ["norm", "add", "add & norm"].includes(kind);
  const attends = ({ kind }) => kind.endsWith("attention");
  const inLayer = ({ sublayer }) => sublayer !== undefined;

  /** Compute positions of boxes, frames around layers, and paths with the index of their target box. */
  glassformer.layOutTransformer = function (boxes) {
    const order = boxes.map((box, index) => ({ box, index }));
    const stacks = Object.keys(LEFT).map((name) => order.filter(({ box }) => box.stack === name));
    const stretch = stretchOf(stacks[1].map(({ box }) => box));
    const places = [];
    for (const stack of stacks) {
      let bottom = HEIGHT - 1;
      stack.forEach(({ box, index }, place) => {
        const before = stack[place - 1]?.box;
        const height = heightOf(box);
        bottom -= before ? gap(before, box) * stretch : 0;
        const inset = inLayer(box) ? INSET : 0;
        const x = LEFT[box.stack] + inset;
        places[index] = { x, y: bottom - height, width: STACK - 2 * inset, height };
        bottom -= height;
      });
    }
    return {
      width: WIDTH,
      height: HEIGHT,
      places,
      frames: stacks.map((stack) => frame(stack, places)),
      paths: [...stacks.flatMap((stack) => pathsOf(stack, places)), ...memoryPaths(order, places)],
    };
  };

  const heightOf = (box) => (isNorm(box) ? 17 : 24);

  /** Compute the gap below a box: larger where paths branch. */
  function gap(before, box) {
    if (!inLayer(box)) return inLayer(before) ? 25 : 10;
    const starts = before.sublayer !== box.sublayer;
    const parts = attends(box) && box.kind !== "cross-attention" ? 7 : 0;
    const first = inLayer(before) ? 11 : 21;
    return (starts ? first : 9) + parts;
  }

  /** Compute the factor that stretches the gaps to fill the height. */
  function stretchOf(stack) {
    const heights = stack.map(heightOf).reduce((left, right) => left + right, 0);
    const gaps = stack.slice(1).map((box, place) => gap(stack[place], box));
    return (HEIGHT - 13 - heights) / gaps.reduce((left, right) => left + right, 0);
  }

  const middle = ({ x, width }) => x + width / 2;
  const foot = ({ y, height }) => y + height;
  const waist = ({ y, height }) => y + height / 2;

  function frame(stack, places) {
    const inside = stack.filter(({ box }) => inLayer(box));
    const [first, last] = [inside[0], inside.at(-1)];
    const y = places[last.index].y - 6;
    const bottom = branchBelow(first, places) + 5;
    return { x: LEFT[first.box.stack], y, width: STACK, height: bottom - y, layers: first.box.layers };
  }

  /** Compute the height at which the residual path branches off. */
  function branchBelow({ box, index }, places) {
    return foot(places[index]) + (attends(box) && box.kind !== "cross-attention" ? PRONG + 6 : 6);
  }

  function pathsOf(stack, places) {
    return stack.flatMap((here, number) => {
      const before = stack[number - 1];
      if (!before) return [];
      const place = places[here.index];
      const start = [middle(place), places[before.index].y];
      const straight = [start, [middle(place), foot(place)]];
      if (here.box.kind === "cross-attention") return [{ to: here.index, role: "query", points: straight }];
      if (attends(here.box)) return prongs(here.index, place, start);
      const paths = [{ to: here.index, points: straight }];
      if (here.box.kind.startsWith("add")) paths.push(around(here, stack, places));
      if (number === stack.length - 1 && here.box.stack === "decoder") {
        paths.push({
          points: [
            [middle(place), place.y],
            [middle(place), place.y - 12],
          ],
        });
      }
      return paths;
    });
  }

  /** Branch one path into queries, keys and values. */
  function prongs(to, place, start) {
    const parting = [start[0], foot(place) + PRONG];
    const three = ["query", "key", "value"].map((role, number) => {
      const x = middle(place) + (number - 1) * 36;
      return { to, role, points: [parting, ...(number === 1 ? [] : [[x, parting[1]]]), [x, foot(place)]] };
    });
    return [{ to, points: [start, parting], isOpen: true }, ...three];
  }

  function around({ box, index }, stack, places) {
    const first = stack.find((other) => other.box.sublayer === box.sublayer);
    const side = LEFT[box.stack] + BYPASS;
    const start = branchBelow(first, places);
    const end = waist(places[index]);
    return {
      to: index,
      points: [
        [middle(places[index]), start],
        [side, start],
        [side, end],
        [places[index].x, end],
      ],
    };
  }

  /** Connect the memory to the keys and values of cross-attention. */
  function memoryPaths(order, places) {
    const memory = places[order.find(({ box }) => box.kind === "memory").index];
    const { index } = order.find(({ box }) => box.kind === "cross-attention");
    return ["key", "value"].map((role, number) => {
      const x = memory.x + STACK + 19 - 8 * number;
      const y = waist(places[index]) + (number ? 5 : -5);
      const start = waist(memory) + (number ? 4 : -4);
      return {
        to: index,
        role,
        points: [
          [memory.x + STACK, start],
          [x, start],
          [x, y],
          [places[index].x, y],
        ],
      };
    });
  }
})((globalThis.glassformer ??= {}));
