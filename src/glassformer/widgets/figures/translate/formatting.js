// Tokens and numbers, as the translator's page spells them.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  page.show = (number) => glassformer.show(number, 2);
  page.percent = (share) => (share < 0.005 ? "under 1 %" : `${Math.round(100 * share)} %`);
  page.plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

  /** A token without the mark of a word's beginning, unless it is nothing else. */
  page.bare = (piece) => piece.replace(/^▁(?=.)/, "");

  /** The parts of a token that is shown with its mark. */
  page.spell = (piece) => {
    const bare = page.bare(piece);
    return bare === piece ? [piece] : [glassformer.element("span", { class: "blank" }, "▁"), bare];
  };
})((globalThis.glassformer ??= {}));
