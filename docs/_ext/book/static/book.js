// Hovering a name shows it on both sides.
for (const block of document.querySelectorAll(".sides")) {
  const names = [...block.querySelectorAll("span.n, span.nf, span.nc")];
  const mark = (text, on) => {
    for (const name of names) {
      if (name.textContent === text) name.classList.toggle("same", on);
    }
  };
  for (const name of names) {
    name.addEventListener("mouseenter", () => mark(name.textContent, true));
    name.addEventListener("mouseleave", () => mark(name.textContent, false));
  }
}
