// What is wider than the page scrolls by itself; this lets the keyboard reach and scroll it, too.
(() => {
  const WIDE = "mjx-container[display], .pst-scrollable-table-container, .cell_output, .bd-article pre";

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });

  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    for (const element of document.querySelectorAll(WIDE)) resized.observe(element);
  });
})();
