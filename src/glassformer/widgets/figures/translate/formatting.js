// Formatting of tokens and numbers.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  page.show = (number) => glassformer.show(number, 2);
  page.percent = (share) => (share < 0.005 ? "under 1%" : `${Math.round(100 * share)}%`);
  page.plural = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

  /** Remove the word-start mark from a token, unless there is nothing else. */
  page.bare = (piece) => piece.replace(/^▁(?=.)/, "");

  /** Split a token into its styled word-start mark and the rest. */
  page.spell = (piece) => {
    const bare = page.bare(piece);
    return bare === piece ? [piece] : [glassformer.element("span", { class: "blank" }, "▁"), bare];
  };
})((globalThis.glassformer ??= {}));
