// The theme's buttons for printing and for the full screen say what to call; this calls it.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-call]");
  if (button) window[button.dataset.call]();
});
