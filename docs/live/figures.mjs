// The live figures. Each has a still picture in the page, which is right as
// it stands; what moves is computed by attention.mjs.
import {
  addTile,
  dot,
  normalize,
  emptySums,
  scoresOf,
  seesByPosition,
  softmax,
} from "./attention.mjs";

const show = (number) => number.toFixed(2);
/** A number that may be exactly 0, which is a dot. */
const shown = (number) => (number > 0 ? show(number) : "·");

/** 光's query as a point to drag: the weights follow. */
function query(figure) {
  const svg = figure.querySelector("svg");
  const handle = svg.querySelector(".handle");
  const keys = [...svg.querySelectorAll("[data-key]")].map((key) =>
    JSON.parse(key.dataset.key),
  );
  const bars = [...figure.querySelectorAll("[data-bar]")];
  const labels = [...figure.querySelectorAll("[data-weight]")];
  const { x0, y0, unit, bar } = JSON.parse(svg.dataset.frame);
  let at = JSON.parse(handle.dataset.query);

  function move(to) {
    at = to.map((number) => Math.min(1.5, Math.max(-0.5, number)));
    const [x, y] = at;
    handle.setAttribute("cx", x0 + unit * x);
    handle.setAttribute("cy", y0 - unit * y);
    handle.setAttribute("aria-valuenow", show(x));
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
  for (const end of ["pointerup", "pointercancel"]) {
    handle.addEventListener(end, () =>
      handle.removeEventListener("pointermove", dragged),
    );
  }
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
  const scores = JSON.parse(slider.dataset.scores);
  const bars = [...figure.querySelectorAll("rect[data-bar]")];
  const labels = [...figure.querySelectorAll("[data-weight]")];
  const bar = Number(slider.dataset.bar);
  function move() {
    const by = Number(slider.value);
    const weights = softmax(scores.map((score) => score * by));
    weights.forEach((weight, i) => {
      bars[i].setAttribute("width", bar * weight);
      labels[i].textContent = show(weight);
    });
    figure.querySelector("output").textContent = by.toFixed(1);
    figure.dataset.weights = JSON.stringify(weights);
  }
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
      labels[number].textContent = shown(weight);
    });
    figure.dataset.weights = JSON.stringify(weights);
  }
  form.addEventListener("input", move);
  form.addEventListener("submit", (event) => event.preventDefault());
  move();
}

/** A row of scores, gathered tile by tile. */
function tiles(figure) {
  const { back, next, size } = figure.querySelector("form").elements;
  const keys = figure.querySelector("table.keys");
  const below = figure.querySelector("table.steps tbody");
  const output = figure.querySelector("output");
  const row = JSON.parse(keys.dataset.row);
  const scores = row.scores.map((score) => score ?? -Infinity);
  const values = row.values.map((value) => [value]);
  let tile = 0;

  /** What the row has after each tile up to the one that is shown. */
  function gathered(width) {
    const found = [];
    let running = emptySums(1);
    for (let first = 0; first <= tile * width; first += width) {
      const [s, v] = [scores, values].map((a) => a.slice(first, first + width));
      running = addTile(running, s, v);
      found.push({ ...running, output: normalize(running) });
    }
    return found;
  }

  function move() {
    const width = Number(size.value);
    const count = scores.length / width;
    const found = gathered(width);
    showKeys(width, found.flatMap(({ exponentials }) => exponentials));
    below.replaceChildren(
      ...Array.from({ length: count }, (_, number) =>
        stepRow(number, width, found[number], number === tile),
      ),
    );
    // Not disabled: that would take the focus from the button.
    back.ariaDisabled = tile === 0;
    next.ariaDisabled = tile === count - 1;
    output.textContent = output.dataset.words
      .replace("{tile}", tile + 1)
      .replace("{count}", count);
    figure.dataset.weights = JSON.stringify(found);
  }

  function showKeys(width, exponentials) {
    for (const group of keys.querySelectorAll("colgroup[span]")) group.remove();
    for (let first = 0; first < scores.length; first += width) {
      const group = document.createElement("colgroup");
      group.span = width;
      keys.tHead.before(group);
    }
    for (const { cells } of keys.rows) {
      scores.forEach((_, j) => {
        const late = Math.sign(Math.floor(j / width) - tile);
        cells[j + 1].className = ["done", "now", "later"][late + 1];
      });
    }
    scores.forEach((_, j) => {
      keys.rows[2].cells[j + 1].textContent = j in exponentials ? shown(exponentials[j]) : "";
    });
  }

  for (const [button, way] of [[back, -1], [next, 1]]) {
    button.addEventListener("click", () => {
      if (button.ariaDisabled === "true") return;
      tile += way;
      move();
    });
  }
  size.addEventListener("input", () => {
    tile = 0;
    move();
  });
  move();
}

/** What a row has gathered after a tile; empty for a tile to come. */
function stepRow(number, width, step, isNow) {
  const row = document.createElement("tr");
  row.className = isNow ? "now" : step ? "done" : "later";
  const first = number * width;
  const name = document.createElement("th");
  name.textContent = width === 1 ? first : `${first}–${first + width - 1}`;
  row.append(name);
  const numbers = step
    ? [step.factor, step.rowSum, step.numerator[0], step.output[0]]
    : [];
  const rowMax = step ? String(step.rowMax) : "";
  for (const text of [rowMax, ...numbers.map((n) => n.toFixed(3))]) {
    row.insertCell().textContent = text;
  }
  return row;
}

/** What a character of the poem looks at, in each head of a model. */
function maps(figure) {
  const form = figure.querySelector("form");
  const heads = JSON.parse(form.dataset.heads);
  const rows = [...figure.querySelectorAll("[data-row]")];
  const labels = [...figure.querySelectorAll("[data-weight]")];
  function move() {
    const i = Number(form.elements.character.value);
    const { query, key } = heads[form.elements.head.value];
    const scale = 1 / Math.sqrt(key[0].length);
    const weights = softmax(scoresOf(query[i], key, i, { causal: true, scale }));
    weights.forEach((weight, j) => {
      labels[j].textContent = shown(weight);
      labels[j].parentElement.style.setProperty("--weight", weight);
    });
    for (const row of rows) row.setAttribute("y", i);
    figure.dataset.weights = JSON.stringify(weights);
  }
  form.addEventListener("input", move);
  move();
}

const FIGURES = { query, scale, mask, tiles, maps };
for (const figure of document.querySelectorAll("figure.live")) {
  for (const part of figure.querySelectorAll("fieldset")) part.disabled = false;
  FIGURES[figure.dataset.figure]?.(figure);
}
