// Answers the vectors with attention.mjs, for Node.js:
//
//     python -m parity_tests export vectors
//     node docs/live/answer_vectors.mjs vectors answers
//     python -m parity_tests score vectors answers
//
// safetensors is: eight bytes that say how long the header is, the header in
// JSON, and then the numbers, little-endian.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attention } from "./attention.mjs";

const READ = { F32: Float32Array, F64: Float64Array, U8: Uint8Array };
const NAMES = { Float32Array: "F32", Float64Array: "F64" };

function load(path) {
  const file = readFileSync(path);
  const length = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + length).toString("utf8"));
  const arrays = {};
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
    if (name === "__metadata__" || !(dtype in READ)) continue;
    const [begin, end] = data_offsets.map((offset) => 8 + length + offset);
    const bytes = Uint8Array.from(file.subarray(begin, end));
    arrays[name] = { shape, data: new READ[dtype](bytes.buffer) };
  }
  return arrays;
}

function save(path, arrays) {
  const header = {};
  const parts = [];
  let offset = 0;
  for (const [name, { shape, data }] of Object.entries(arrays)) {
    const end = offset + data.byteLength;
    const dtype = NAMES[data.constructor.name];
    header[name] = { dtype, shape, data_offsets: [offset, end] };
    parts.push(Buffer.from(data.buffer));
    offset = end;
  }
  let text = JSON.stringify(header);
  text += " ".repeat((8 - (Buffer.byteLength(text) % 8)) % 8);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  writeFileSync(path, Buffer.concat([length, Buffer.from(text), ...parts]));
}

// JSON has no NaN: the index writes it as a text.
const number = (text) => (typeof text === "string" ? Number(text) : text);

const [vectors, answers] = process.argv.slice(2);
const index = JSON.parse(readFileSync(join(vectors, "index.json"), "utf8"));
mkdirSync(answers, { recursive: true });
for (const { id, file, dtype, options, results } of index.cases) {
  // JavaScript has no numbers of 16 bits.
  if (dtype !== "float32" && dtype !== "float64") continue;
  const { query, key, value, attn_mask, dropout_mask } = load(join(vectors, file));
  const isMask = attn_mask?.data instanceof Uint8Array;
  const found = attention(query, key, value, {
    causal: options.is_causal,
    window: options.window,
    scale: number(options.scale),
    softCap: options.soft_cap,
    dropout: options.dropout_p,
    mask: isMask ? attn_mask : null,
    bias: isMask ? null : attn_mask ?? null,
    dropoutMask: dropout_mask ?? null,
  });
  const Kind = dtype === "float32" ? Float32Array : Float64Array;
  const typed = ({ shape, data }) => ({ shape, data: Kind.from(data) });
  const named = {
    output: found.output,
    log_sum_exp: found.logSumExp,
    weights: found.weights,
  };
  const asked = Object.entries(named).filter(([name]) => results.includes(name));
  const answer = asked.map(([name, array]) => [name, typed(array)]);
  save(join(answers, `${id}.safetensors`), Object.fromEntries(answer));
}
