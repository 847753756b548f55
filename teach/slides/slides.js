// How a deck starts: the engine, and the live figures, each when its slide is shown for the first time.
(function () {
  const LARGEST = 1.6;
  const SMALLEST = 0.95;
  const STEP = 0.05;

  /** Wake the figures of a slide. They slept in templates, since some measure the room that they have. */
  function wake(slide) {
    for (const template of slide.querySelectorAll("template")) {
      const figure = template.content.firstElementChild;
      template.replaceWith(figure);
      fit(figure, figure.closest(".body"));
    }
  }

  /** Draw a figure as large as its slide has room for it. */
  function fit(figure, room) {
    for (let zoom = LARGEST; zoom >= SMALLEST; zoom -= STEP) {
      figure.style.zoom = zoom;
      if (room.scrollHeight <= room.clientHeight && room.scrollWidth <= room.clientWidth) return;
    }
  }

  const deck = new Reveal({
    width: 1280,
    height: 720,
    margin: 0,
    center: false,
    hash: true,
    transition: "none",
    slideNumber: "c/t",
    controls: false,
    pdfMaxPagesPerSlide: 1,
    pdfSeparateFragments: false,
    // In a figure, keys belong to the figure.
    keyboardCondition: () => !document.activeElement?.closest("glass-figure"),
    plugins: [RevealNotes],
  });

  // Escape gives them back, and does not reach the engine, which would show all slides.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !document.activeElement?.closest("glass-figure")) return;
    event.stopImmediatePropagation();
    document.activeElement.blur();
  });

  deck.on("ready", ({ currentSlide }) => wake(currentSlide));
  deck.on("slidechanged", ({ currentSlide }) => wake(currentSlide));
  deck.on("pdf-ready", () => {
    wake(document);
    document.documentElement.dataset.printable = "";
  });
  globalThis.deck = deck;
  addEventListener("DOMContentLoaded", () => MathJax.startup.promise.then(() => deck.initialize()));
})();
