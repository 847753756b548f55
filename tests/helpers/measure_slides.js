// Walks through a deck, key by key, and returns for each slide what is wrong with it.
async () => {
  const SMALLEST = { text: 20, figure: 11.9 };
  const FEWEST_WORDS = 15;

  const visible = (node) => node.checkVisibility({ visibilityProperty: true });

  /** The size of an element's letters on the screen, whatever enlarges or shrinks them on the way. */
  function size(node) {
    const style = parseFloat(getComputedStyle(node).fontSize) * node.currentCSSZoom;
    if (!(node instanceof SVGElement)) return style;
    const [drawn, shown] = [node.getBBox(), node.getBoundingClientRect()];
    return (style * Math.hypot(shown.width, shown.height)) / Math.hypot(drawn.width, drawn.height);
  }

  function* texts(slide) {
    const walker = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || parent.closest("mjx-container, .heard, .new-word, aside, script, option, sup, sub")) continue;
      if (visible(parent)) yield [walker.currentNode, parent];
    }
  }

  function box(text) {
    const range = document.createRange();
    range.selectNodeContents(text);
    return range.getBoundingClientRect();
  }

  /** Whether a part that scrolls has scrolled an element away. */
  function scrolledAway(node) {
    const part = node.closest("glass-figure .tree");
    return part !== null && node.getBoundingClientRect().bottom > part.getBoundingClientRect().bottom;
  }

  const outside = (rect) =>
    rect.width > 1 && (rect.left < -1 || rect.top < -1 || rect.right > innerWidth + 1 || rect.bottom > innerHeight + 1);

  function faults(slide) {
    const found = [];
    for (const [text, parent] of texts(slide)) {
      const smallest = parent.closest("glass-figure") ? SMALLEST.figure : SMALLEST.text;
      const words = text.data.trim().slice(0, 40);
      if (size(parent) < smallest) found.push(`${size(parent).toFixed(1)} px is too small: ${words}`);
      if (!scrolledAway(parent) && outside(box(text))) found.push(`sticks out: ${words}`);
    }
    for (const part of slide.querySelectorAll("mjx-container, img, pre, .part, glass-figure > .stage")) {
      if (outside(part.getBoundingClientRect())) found.push(`sticks out: ${part.tagName} ${part.className}`);
    }
    for (const formula of slide.querySelectorAll(".part.math > mjx-container > mjx-math")) {
      const [inner, room] = [formula, formula.closest(".part")].map((part) => part.getBoundingClientRect());
      if (inner.width > room.width + 1) found.push("a formula is wider than its place");
    }
    for (const controls of slide.querySelectorAll("glass-figure .controls")) {
      if (!visible(controls) || getComputedStyle(controls).position !== "static") found.push("controls are hidden");
    }
    const parts = [...slide.querySelectorAll("header, .part:not(glass-figure *)")].filter(visible);
    for (const [place, part] of parts.entries()) {
      for (const other of parts.slice(place + 1)) if (overlap(part, other)) found.push(`${part.className} covers ${other.className}`);
    }
    for (const pre of slide.querySelectorAll("pre")) {
      if (pre.scrollWidth > pre.clientWidth + 1) found.push("a line is cut off");
      const lines = pre.textContent.trimEnd().split("\n").length;
      const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(pre);
      const room = [lineHeight, paddingTop, paddingBottom].map(parseFloat);
      if (lines > 1 && pre.clientHeight > (lines + 0.5) * room[0] + room[1] + room[2]) found.push("lines of a table are broken");
    }
    for (const picture of slide.querySelectorAll("img")) {
      const [wide, high] = ["width", "height"].map((side) => Number(picture.getAttribute(side)));
      const scale = Math.min(picture.clientWidth / wide, picture.clientHeight / high);
      if (scale < 0.9) found.push(`a picture is shown at ${scale.toFixed(2)} of its size`);
      if (!picture.alt) found.push("a picture has no words");
    }
    for (const formula of slide.querySelectorAll(".math")) {
      if (!formula.querySelector("mjx-math") || formula.querySelector("mjx-merror")) found.push("a formula is not typeset");
    }
    for (const figure of slide.querySelectorAll("template, glass-figure:not([data-live])")) {
      found.push(`a live figure sleeps: ${(figure.content?.firstElementChild ?? figure).getAttribute("name")}`);
    }
    const notes = slide.querySelector("aside.notes").textContent.trim();
    if (notes.split(/\s+/).length < FEWEST_WORDS) found.push("the speaker has no notes");
    return found;
  }

  function overlap(one, other) {
    const [a, b] = [one, other].map((part) => part.getBoundingClientRect());
    return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  }

  /** Where everything stands that a slide shows now. */
  const places = (slide) =>
    [...slide.querySelectorAll("header, .part:not(glass-figure *)")].filter(visible).map((part) => [part, part.getBoundingClientRect()]);

  /** Presses the key until all of a slide is seen. */
  function* uncover(slide) {
    const steps = [...slide.querySelectorAll(".fragment")];
    for (const [place, step] of steps.entries()) {
      if (steps.slice(place).some((later) => [...later.children].some(visible))) yield "an answer is seen before its key";
      const before = places(slide);
      deck.next();
      if (![...step.children].every(visible)) yield "an answer is not seen after its key";
      for (const [part, old] of before) {
        const now = part.getBoundingClientRect();
        if (["x", "y", "width", "height"].some((side) => Math.abs(now[side] - old[side]) > 0.5)) yield `${part.className || "header"} moves`;
      }
    }
    if (deck.getCurrentSlide() !== slide) yield "a key went on to the next slide";
  }

  const slides = [];
  for (const [place, slide] of deck.getSlides().entries()) {
    deck.slide(place);
    await new Promise(requestAnimationFrame);
    slides.push({ id: slide.id, faults: [...uncover(slide), ...faults(slide)] });
  }
  return slides;
}
