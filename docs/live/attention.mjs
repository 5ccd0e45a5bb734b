// Attention in plain loops, for the figures of the book and for whoever
// writes a version in another language: no library, no typed cleverness.
//
// An array is { shape, data }: the sizes of its axes, and its numbers row by
// row. Everything is computed in float64, JavaScript's only kind of number.

/** Softmax of one row of scores; a row of -Infinity gives zeros. */
export function softmax(scores) {
  const rowMax = Math.max(...scores);
  if (rowMax === -Infinity) return scores.map(() => 0);
  const exponentials = scores.map((score) => Math.exp(score - rowMax));
  const sum = exponentials.reduce((total, power) => total + power, 0);
  return exponentials.map((power) => power / sum);
}

/** log Σ exp of one row of scores; -Infinity for a row of -Infinity. */
export function logSumExp(scores) {
  const rowMax = Math.max(...scores);
  if (rowMax === -Infinity) return -Infinity;
  const sum = scores.reduce((sum, s) => sum + Math.exp(s - rowMax), 0);
  return rowMax + Math.log(sum);
}

/** Σ aᵢ bᵢ. */
export function dot(a, b) {
  return a.reduce((sum, number, i) => sum + number * b[i], 0);
}

/** Whether query i sees key j by their positions alone. */
export function seesByPosition(i, j, { causal = false, window = null } = {}) {
  if (causal && j > i) return false;
  const [left, right] = window ?? [-1, -1];
  return (left < 0 || j >= i - left) && (right < 0 || j <= i + right);
}

/**
 * The scores of one query against all keys, -Infinity where it sees nothing.
 *
 * `mask(j)` says whether key j is seen, `bias(j)` what is added to its score.
 */
export function scoresOf(query, keys, i, options = {}) {
  const { scale, softCap = null, mask = () => true, bias = () => 0 } = options;
  return keys.map((key, j) => {
    if (!seesByPosition(i, j, options) || !mask(j) || bias(j) === -Infinity) {
      return -Infinity;
    }
    const score = dot(query, key) * scale;
    const capped = softCap === null ? score : softCap * Math.tanh(score / softCap);
    return capped + bias(j);
  });
}

/** Σ weightⱼ valueⱼ, a row as wide as the values. */
export function weightedSum(weights, values, width) {
  return Array.from({ length: width }, (_, e) =>
    weights.reduce((sum, weight, j) => sum + weight * values[j][e], 0),
  );
}

/** What a row has gathered before its first tile of keys. */
export function emptySums(width) {
  return { rowMax: -Infinity, rowSum: 0, numerator: Array(width).fill(0) };
}

/**
 * What a row has gathered, and a tile more: its scores, and a row of values
 * for each. `exponentials` are the tile's; `factor` brought the old sums from the
 * old maximum to the new one.
 */
export function addTile(running, scores, values) {
  const rowMax = Math.max(running.rowMax, ...scores);
  // -Infinity - (-Infinity) is NaN.
  const finite = rowMax === -Infinity ? 0 : rowMax;
  const factor = Math.exp(running.rowMax - finite);
  const exponentials = scores.map((score) => Math.exp(score - finite));
  const sum = exponentials.reduce((total, power) => total + power, 0);
  const added = weightedSum(exponentials, values, running.numerator.length);
  return {
    rowMax,
    rowSum: running.rowSum * factor + sum,
    numerator: running.numerator.map((old, e) => old * factor + added[e]),
    factor,
    exponentials,
  };
}

/** The output of what a row has gathered; zeros if it has seen no key. */
export function normalize({ rowMax, rowSum, numerator }) {
  return numerator.map((sum) => (rowMax === -Infinity ? 0 : sum / rowSum));
}

/**
 * Attention of query (..., H, L, D) over key (..., G, S, D) and value
 * (..., G, S, E): { output, weights, logSumExp }, each an array, the weights
 * as they are before dropout.
 *
 * `mask` is an array of 0 and 1 or `bias` one of numbers, either
 * broadcasting to (..., H, L, S); `groups` lets query head h read the key
 * and value head h / (H / G); `dropoutMask` says which weights dropout keeps, and
 * `dropout` how likely it is that one goes.
 */
export function attention(query, key, value, options = {}) {
  const { causal = false, window = null, softCap = null } = options;
  const { mask = null, bias = null, dropoutMask = null, dropout = 0 } = options;
  const [L, D] = query.shape.slice(-2);
  const [S, E] = value.shape.slice(-2);
  const scale = options.scale ?? (D > 0 ? 1 / Math.sqrt(D) : 1);
  const shape = headsOf(query, key, value);
  const found = { output: [], weights: [], logSumExp: [] };
  for (const place of placesOf(shape)) {
    const [q, k, v] = [query, key, value].map((a) => matrixAt(a, place, shape));
    for (let i = 0; i < L; i++) {
      const at = (array) => (j) => numberAt(array, [...place, i, j]);
      const scores = scoresOf(q[i], k, i, {
        causal,
        window,
        softCap,
        scale,
        mask: mask === null ? undefined : at(mask),
        bias: bias === null ? undefined : at(bias),
      });
      const weights = softmax(scores);
      const kept = weights.map((weight, j) => {
        if (dropout === 1 || (dropoutMask !== null && !at(dropoutMask)(j))) return 0;
        return weight / (1 - dropout);
      });
      found.weights.push(...weights);
      found.output.push(...weightedSum(kept, v, E));
      found.logSumExp.push(logSumExp(scores));
    }
  }
  return {
    output: { shape: [...shape, L, E], data: found.output },
    weights: { shape: [...shape, L, S], data: found.weights },
    logSumExp: { shape: [...shape, L], data: found.logSumExp },
  };
}

/** The axes before the last two: batch axes broadcast, and query's heads. */
function headsOf(...arrays) {
  const rank = Math.max(...arrays.map((array) => array.shape.length)) - 2;
  const axes = arrays.map((array) => padded(array.shape.slice(0, -2), rank));
  return Array.from({ length: rank }, (_, axis) => {
    const sizes = axes.map((own) => own[axis]);
    // The last of them are the heads: those of query, which groups share.
    return axis === rank - 1 ? sizes[0] : sizes.find((size) => size !== 1) ?? 1;
  });
}

/** A list of sizes with ones before it. */
function padded(sizes, rank) {
  return [...Array(rank - sizes.length).fill(1), ...sizes];
}

/** Every index into axes of these sizes, the last one running fastest. */
function placesOf(shape) {
  return shape.reduce(
    (places, size) =>
      places.flatMap((place) =>
        Array.from({ length: size }, (_, number) => [...place, number]),
      ),
    [[]],
  );
}

/** The matrix of an array that belongs to a head of query, as rows. */
function matrixAt(array, place, shape) {
  const [rows, columns] = array.shape.slice(-2);
  const own = array.shape.slice(0, -2);
  let start = 0;
  own.forEach((size, axis) => {
    const full = axis + shape.length - own.length;
    const isHeads = axis === own.length - 1;
    // Query head h of H reads head h / (H / G) of G.
    const group = isHeads ? Math.floor((place[full] * size) / shape[full]) : place[full];
    start = start * size + (size === 1 ? 0 : group);
  });
  start *= rows * columns;
  return Array.from({ length: rows }, (_, row) => {
    const first = start + row * columns;
    return Array.from(array.data.slice(first, first + columns));
  });
}

/** One number of an array that broadcasts. */
function numberAt(array, index) {
  const own = index.slice(index.length - array.shape.length);
  const place = array.shape.reduce(
    (start, size, axis) => start * size + (size === 1 ? 0 : own[axis]),
    0,
  );
  return array.data[place];
}
