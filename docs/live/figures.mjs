// The live figures. Each has a still picture in the page, which is right as
// it stands; what moves is computed by attention.mjs.
import { dot, seesByPosition, softmax } from "./attention.mjs";

const show = (number) => number.toFixed(2);

/** 光's query as a point to drag: the weights follow. */
function query(figure) {
  const svg = figure.querySelector("svg");
  const handle = svg.querySelector(".handle");
  const keys = [...svg.querySelectorAll("[data-key]")].map((key) =>
    JSON.parse(key.dataset.key),
  );
  const bars = [...svg.querySelectorAll("[data-bar]")];
  const labels = [...svg.querySelectorAll("[data-weight]")];
  const { x0, y0, unit, bar } = JSON.parse(svg.dataset.frame);
  let at = JSON.parse(handle.dataset.query);

  function move(to) {
    at = to.map((number) => Math.min(1.5, Math.max(-0.5, number)));
    const [x, y] = at;
    handle.setAttribute("cx", x0 + unit * x);
    handle.setAttribute("cy", y0 - unit * y);
    handle.setAttribute("aria-valuetext", `${show(x)}, ${show(y)}`);
    const weights = softmax(keys.map((key) => dot(at, key)));
    weights.forEach((weight, i) => {
      bars[i].setAttribute("width", bar * weight);
      labels[i].textContent = show(weight);
    });
    figure.dataset.weights = JSON.stringify(weights);
  }

  function dragged(event) {
    const place = svg.createSVGPoint();
    [place.x, place.y] = [event.clientX, event.clientY];
    const { x, y } = place.matrixTransform(svg.getScreenCTM().inverse());
    move([(x - x0) / unit, (y0 - y) / unit]);
  }

  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener("pointermove", dragged);
  });
  handle.addEventListener("pointerup", () =>
    handle.removeEventListener("pointermove", dragged),
  );
  handle.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.5 : 0.1;
    const steps = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, step],
      ArrowDown: [0, -step],
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    move(at.map((number, i) => number + steps[event.key][i]));
  });
  handle.setAttribute("tabindex", "0");
  move(at);
}

/** The scale as a slider: how sharp the weights of four scores are. */
function scale(figure) {
  const slider = figure.querySelector("input");
  const svg = figure.querySelector("svg");
  const scores = JSON.parse(svg.dataset.scores);
  const bars = [...svg.querySelectorAll("[data-bar]")];
  const labels = [...svg.querySelectorAll("[data-weight]")];
  const bar = Number(svg.dataset.bar);
  function move() {
    const by = Number(slider.value);
    const weights = softmax(scores.map((score) => score * by));
    weights.forEach((weight, i) => {
      bars[i].setAttribute("width", bar * weight);
      labels[i].textContent = show(weight);
    });
    figure.querySelector("output").textContent = `× ${by.toFixed(1)}`;
    figure.dataset.weights = JSON.stringify(weights);
  }
  slider.disabled = false;
  slider.addEventListener("input", move);
  move();
}

/** Corner, window and padding as switches over a matrix of weights. */
function mask(figure) {
  const form = figure.querySelector("form");
  const cells = [...figure.querySelectorAll("[data-cell]")];
  const labels = [...figure.querySelectorAll("[data-weight]")];
  const places = cells.map((cell) => cell.dataset.cell.split(" ").map(Number));
  const L = 1 + Math.max(...places.map(([i]) => i));
  const S = 1 + Math.max(...places.map(([, j]) => j));
  function move() {
    const { causal, right, left, hidden } = form.elements;
    const shift = right.checked ? S - L : 0;
    const options = {
      causal: causal.checked,
      window: [Number(left.value), -1],
    };
    const weights = Array.from({ length: L }, (_, i) =>
      softmax(
        Array.from({ length: S }, (_, j) => {
          const seen = seesByPosition(i + shift, j, options);
          return seen && j < S - Number(hidden.value) ? 0 : -Infinity;
        }),
      ),
    );
    places.forEach(([i, j], number) => {
      const weight = weights[i][j];
      cells[number].setAttribute("fill-opacity", weight);
      labels[number].textContent = weight > 0 ? show(weight) : "·";
    });
    figure.dataset.weights = JSON.stringify(weights);
  }
  for (const control of form.elements) control.disabled = false;
  form.addEventListener("input", move);
  form.addEventListener("submit", (event) => event.preventDefault());
  move();
}

const FIGURES = { query, scale, mask };
for (const figure of document.querySelectorAll("figure.live")) {
  FIGURES[figure.dataset.figure]?.(figure);
}
