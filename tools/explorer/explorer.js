// The page: a view is a line of words, what the module answers, and how that is drawn. The state is in the URL.
//
// Everything shown is an answer of tcq (wasi.js); nothing is known here but how to draw it (grid.js).
"use strict";

const byId = (id) => document.getElementById(id);
const views = {
  map: { prompt: "tcq table ", draw: drawMap, examples: [
    "wgmma.m64n24k16.f32.bf16.bf16 D", "wgmma.m64n64k16.f32.bf16.bf16 B desc=0x4000004000010000",
    "wgmma.m64n8k8.f32.tf32.tf32 A a=regs", "tcgen05.mma.cta_group::1.kind::f16 D m=64 n=64", "tcgen05.ld.16x64b.x4 D"] },
  word: { prompt: "tcq decode ", draw: drawWord, examples: [
    "wgmma.desc 0x4000004000010000 mnemonic=wgmma.m64n64k16.f32.bf16.bf16 matrix=B", "wgmma.desc 0x0010000002001000",
    "tcgen05.idesc.f16 0x08420490", "tcgen05.desc 0x4000404000010040"] },
  tmem: { prompt: "tcq tmem ", draw: drawPlan, examples: [
    "d=256 d/even=128 d/odd=128 scales=32 scales/a=0+4 scales/b=16+8", "a=256 b=256 free=a c=128"] },
  ask: { prompt: "tcq ", draw: drawText, examples: [
    "help", "explain hang", "errata 'FP8'", "describe wgmma.m64n8k32.f32.e4m3.e4m3", "layout B bf16 K 64 64", "check"] },
};
let ask = null;
let view = "map";
let left = null;
let right = null;

// Words as a shell splits them, as far as quotes go.
function wordsOf(line) {
  return [...line.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

// The answer as JSON, or null and the command's own sentence shown.
function askedJson(words) {
  const answer = ask([...words, "--json"]);
  byId("complaint").textContent = answer.complaint.replace(/^tcq: /, "").trim();
  if (answer.text === "") return null;
  return JSON.parse(answer.text);
}

// ---- Maps: elements on the left, places on the right ------------------------------------------------

function elementOf(item) {
  return item.row !== undefined ? [item.row, item.col] : [item.tmem_lane, item.tmem_column];
}

function placeOf(item, unit) {
  if (item.byte !== undefined) return [Math.floor(item.byte / 128), Math.floor((item.byte % 128) / unit.bytes)];
  if (item.thread !== undefined) return [item.thread, item.register * unit.parts + (item.part ?? 0)];
  return [item.tmem_lane, item.tmem_column * unit.parts + Math.floor((item.low_bit ?? 0) / unit.bits)];
}

function hueOf(item) {
  if (item.byte !== undefined) return Math.floor(item.byte / 4) % 32;
  return item.thread ?? item.tmem_lane;
}

function labelOf(item) {
  if (item.byte !== undefined) return String(item.byte);
  if (item.thread !== undefined) return `${item.thread}:${item.register}${item.part > 0 ? "." + item.part : ""}`;
  return `${item.tmem_lane}:${item.tmem_column}${item.low_bit > 0 ? "." + item.low_bit : ""}`;
}

function sentence(item) {
  const name = item.row !== undefined ? `[${item.row}][${item.col}]` : `lane ${item.tmem_lane}, column ${item.tmem_column}`;
  if (item.byte !== undefined)
    return `${name} = byte ${item.byte}: row ${Math.floor(item.byte / 128)} of 128 bytes, chunk ${Math.floor(item.byte % 128 / 16)}, bank ${Math.floor(item.byte / 4) % 32}`;
  if (item.thread !== undefined)
    return `${name} = thread ${item.thread}, register ${item.register}${item.part === undefined ? "" : `, part ${item.part}`} (warp ${item.thread >> 5}, lane ${item.thread & 31})`;
  return `${name} = lane ${item.tmem_lane}, column ${item.tmem_column}, bit ${item.low_bit ?? 0}${item.cta == null ? "" : `, CTA ${item.cta}`}`;
}

// How many pieces a register, a column or a row of banks is divided into by what was answered.
function unitOf(items) {
  const least = (values) => values.reduce((a, b) => (b > 0 && b < a ? b : a), 32);
  const bits = least(items.map((item) => item.low_bit ?? 32));
  const parts = items.reduce((most, item) => Math.max(most, (item.part ?? 0) + 1), 1);
  const taken = [...new Set(items.map((item) => item.byte ?? 0))].sort((a, b) => a - b);
  const gap = taken.reduce((most, byte, i) => (i > 0 ? Math.min(most, byte - taken[i - 1]) : most), 16);
  return { bits, parts: items[0].low_bit !== undefined ? 32 / bits : parts, bytes: gap };
}

// Rows from the first that is used.
function showGrid(grid, name, items, at, titles) {
  const places = items.map(at);
  const low = places.reduce((least, [row]) => Math.min(least, row), Infinity);
  const rows = places.reduce((most, [row]) => Math.max(most, row), 0) - low + 1;
  const columns = places.reduce((most, [, column]) => Math.max(most, column), 0) + 1;
  grid.firstRow = low;
  byId(name).textContent = titles;
  grid.of = new Map();
  const cells = items.map((item, i) => {
    const cell = { row: places[i][0] - low, column: places[i][1], hue: hueOf(item), label: name === "left-name" ? labelOf(item) : elementOf(item).join(",") };
    const key = cell.row + ":" + cell.column;
    if (!grid.of.has(key)) grid.of.set(key, []);
    grid.of.get(key).push(item);
    item[name] = cell;
    return cell;
  });
  grid.show(cells, rows, columns);
}

function drawItems(items) {
  byId("pictures").hidden = items.length === 0;
  if (items.length === 0) return;
  const unit = unitOf(items);
  const one = items[0];
  showGrid(left, "left-name", items, elementOf, one.row !== undefined ? "the matrix: rows and columns" : "Tensor Memory: lanes and columns");
  showGrid(right, "right-name", items, (item) => placeOf(item, unit),
           one.byte !== undefined ? `shared memory: rows of 128 bytes; ${16 / unit.bytes} columns are a chunk of 16 bytes, the colour is the bank`
             : one.thread !== undefined ? "registers: threads and their registers" + (unit.parts > 1 ? `, ${unit.parts} parts each` : "")
               : "Tensor Memory: lanes and columns" + (unit.parts > 1 ? `, ${unit.parts} parts each` : ""));
}

function lightUp(grid, cell) {
  const items = cell === null ? [] : grid.of?.get(cell.join(":")) ?? [];
  left.mark(items.map((item) => item["left-name"]), grid !== left);
  right.mark(items.map((item) => item["right-name"]), grid !== right);
  byId("here").textContent = items.length === 0 ? "" : items.slice(0, 3).map(sentence).join("   ");
}

function drawMap(words) {
  const items = askedJson(["table", ...words]);
  if (!Array.isArray(items)) return drawItems([]);
  drawItems(items);
  lightUp(left, [0, 0]);
}

// ---- Words of fields ---------------------------------------------------------------------------------

function svgNode(name, attributes, text = "") {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.textContent = text;
  return node;
}

// Two rows of 32 bits, the high ones first, a colour for each field.
function drawRuler(word, fields) {
  const rows = fields.some((field) => field.end > 32) || word >> 32n > 0n ? 2 : 1;
  const svg = svgNode("svg", { viewBox: `0 0 640 ${rows * 44}`, role: "img", "font-family": "monospace", "font-size": 10, "text-anchor": "middle" });
  for (let bit = 0; bit < rows * 32; ++bit) {
    const [x, y] = [(31 - bit % 32) * 20, (rows - 1 - Math.floor(bit / 32)) * 44];
    const field = fields.findIndex(({ low, end }) => bit >= low && bit < end);
    const fill = field < 0 ? css("--unread") : colour(field * 5 % 32);
    svg.append(svgNode("rect", { x: x + 0.5, y: y + 12, width: 19, height: 18, fill }));
    svg.append(svgNode("text", { x: x + 10, y: y + 25, fill: css("--ink") }, String(word >> BigInt(bit) & 1n)));
    svg.append(svgNode("text", { x: x + 10, y: y + 9, fill: css("--dim"), "font-size": 8 }, String(bit)));
    if (field >= 0 && bit === fields[field].low) svg.append(svgNode("text", { x: x + 19, y: y + 40, fill: css("--ink"), "text-anchor": "end" }, fields[field].name));
  }
  byId("ruler").replaceChildren(svg);
}

function withField(word, { low, end }, code) {
  const mask = (1n << BigInt(end - low)) - 1n;
  return word & ~(mask << BigInt(low)) | (code & mask) << BigInt(low);
}

function changeField(words, word, field, text) {
  if (!/^(\d+|0x[0-9a-f]+)$/i.test(text)) {
    byId("complaint").textContent = `'${text}' is no code of ${field.name}: expected a decimal or 0x number`;
    return;
  }
  const digits = words[1].replace(/^0x/i, "").length;
  words[1] = "0x" + withField(word, field, BigInt(text)).toString(16).padStart(digits, "0");
  byId("words").value = words.join(" ");
  answer();
  document.querySelector(`[data-field="${field.name}"]`)?.focus();
}

function drawFields(words, word, decoded) {
  const table = document.createElement("table");
  table.innerHTML = "<tr><th>bits</th><th>field</th><th>code</th><th>value</th></tr>";
  for (const field of decoded.fields) {
    const row = table.insertRow();
    row.insertCell().textContent = `[${field.low},${field.end})`;
    row.insertCell().textContent = field.name;
    const box = document.createElement("input");
    Object.assign(box, { type: "text", value: field.code, inputMode: "numeric" });
    box.dataset.field = field.name;
    box.setAttribute("aria-label", field.name);
    box.addEventListener("change", () => changeField(words, word, field, box.value));
    box.addEventListener("keydown", (event) => {
      const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      changeField(words, word, field, String(Math.max(0, Math.min(field.code + by, 2 ** (field.end - field.low) - 1))));
    });
    row.insertCell().append(box);
    row.insertCell().textContent = field.value;
  }
  byId("fields").replaceChildren(table);
}

function drawWord(words) {
  const decoded = askedJson(["decode", ...words]);
  if (!decoded?.fields) return;
  const word = BigInt(decoded.word);
  drawRuler(word, decoded.fields);
  drawFields(words, word, decoded);
  byId("text").textContent = [...decoded.lints.map((lint) => "lint: " + lint), ...decoded.notes.map((note) => "note: " + note)].join("\n");
  const key = (name) => words.find((item) => item.startsWith(name + "="))?.slice(name.length + 1);
  if (key("mnemonic") === undefined || key("matrix") === undefined) return;
  const rest = words.slice(2).filter((item) => !/^(mnemonic|matrix)=/.test(item));
  const read = askedJson(["table", key("mnemonic"), key("matrix"), "desc=" + decoded.word, ...rest]);
  if (!Array.isArray(read)) return;
  drawItems(read);
  lightUp(left, [0, 0]);
}

// ---- Tensor Memory and everything else -----------------------------------------------------------------

function drawPlan(words) {
  const plan = askedJson(["tmem", ...words]);
  byId("text").textContent = ask(["tmem", ...words]).text;
  if (!plan?.allocations) return;
  const svg = svgNode("svg", { viewBox: "0 0 1024 96", role: "img", "font-family": "monospace", "font-size": 13 });
  const bar = (start, columns, y, height, fill, name) => {
    const node = svgNode("g", {});
    node.append(svgNode("title", {}, `${name}: [${start},${start + columns})`));
    node.append(svgNode("rect", { x: 2 * start + 0.5, y, width: 2 * columns - 1, height, fill }));
    if (name.length * 8 < 2 * columns) node.append(svgNode("text", { x: 2 * start + 5, y: y + height / 2 + 5, fill: css("--ink") }, name));
    svg.append(node);
  };
  svg.append(svgNode("rect", { x: 0, y: 20, width: 1024, height: 68, fill: css("--unread") }));
  for (let column = 0; column < 512; column += 64) svg.append(svgNode("text", { x: 2 * column, y: 13, fill: css("--dim") }, String(column)));
  plan.allocations.filter((one) => !one.freed).forEach((one, i) => {
    bar(one.start, one.columns, 20, 32, colour(i * 7 % 32), one.name);
    one.parts.forEach((part, j) => bar(part.start, part.columns, 55, 32, colour((i * 7 + j * 3 + 2) % 32), part.name));
  });
  byId("ruler").replaceChildren(svg);
}

function drawText(words) {
  const lines = byId("input").value;
  const answer = ask(words, lines === "" || lines.endsWith("\n") ? lines : lines + "\n");
  byId("complaint").textContent = answer.complaint.trim();
  byId("text").textContent = answer.text + (answer.status === 0 ? "" : `\nstatus ${answer.status}`);
}

// ---- The page ------------------------------------------------------------------------------------------

function clear() {
  byId("pictures").hidden = true;
  for (const id of ["complaint", "here", "text"]) byId(id).textContent = "";
  for (const id of ["ruler", "fields"]) byId(id).replaceChildren();
}

function answer() {
  clear();
  const line = byId("words").value;
  const state = new URLSearchParams({ view, words: line });
  if (view === "ask" && byId("input").value !== "") state.set("input", byId("input").value);
  history.replaceState(null, "", "#" + state);
  try {
    views[view].draw(wordsOf(line));
  } catch (error) {
    byId("complaint").textContent = `internal error of the page, please report it with the question: ${error.message}`;
  }
}

function choose(name, line, input = "") {
  view = name;
  for (const tab of document.querySelectorAll("[data-view]")) tab.setAttribute("aria-selected", tab.dataset.view === name);
  byId("prompt").textContent = views[name].prompt;
  byId("words").value = line ?? views[name].examples[0];
  byId("input").hidden = name !== "ask";
  byId("input").value = input;
  byId("examples").replaceChildren(...views[name].examples.map((example) => {
    const link = document.createElement("a");
    link.href = "#" + new URLSearchParams({ view: name, words: example });
    link.textContent = example;
    return link;
  }));
  answer();
}

function fromUrl() {
  const state = new URLSearchParams(location.hash.slice(1));
  const name = state.get("view");
  choose(Object.hasOwn(views, name) ? name : "map", state.get("words"), state.get("input") ?? "");
}

// The module, unpacked while it is compiled. A loop: Uint8Array.from() with a function takes ten times as long.
function moduleIn(base64) {
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "Content-Type": "application/wasm" } });
}

async function start() {
  ask = asker(await WebAssembly.compileStreaming(moduleIn(byId("wasm").textContent)));
  left = new Grid(byId("left"), (cell) => lightUp(left, cell));
  right = new Grid(byId("right"), (cell) => lightUp(right, cell));
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    answer();
  });
  for (const tab of document.querySelectorAll("[data-view]")) tab.addEventListener("click", () => choose(tab.dataset.view));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", answer);
  addEventListener("hashchange", fromUrl);
  fromUrl();
  // Since navigation began, reading the page among it: a frame later the answer is on the screen.
  requestAnimationFrame(() => setTimeout(() => {
    document.body.dataset.firstAnswerMs = Math.round(performance.now());
  }));
}

start().catch((error) => {
  byId("complaint").textContent = `this browser cannot run the module: ${error.message}`;
});
