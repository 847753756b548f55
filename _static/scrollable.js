// What is wider than the page scrolls by itself; this lets the keyboard reach and scroll it, too.
(() => {
  const WIDE = "mjx-container[display], .pst-scrollable-table-container, .cell_output, .bd-article pre";

  function letFocus() {
    for (const element of document.querySelectorAll(WIDE)) {
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    }
  }

  window.addEventListener("load", () => {
    const typeset = window.MathJax?.startup?.promise ?? Promise.resolve();
    typeset.then(letFocus);
    window.addEventListener("resize", letFocus);
  });
})();
