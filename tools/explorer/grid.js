// A grid of cells on a canvas: drawn once, marked as the mouse or the arrow keys go over it.
"use strict";

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A colour for each of `count` hues; shades tell 32 x 4 threads apart.
function colour(index) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const lightness = (dark ? 30 : 84) + (dark ? 1 : -1) * 5 * (Math.floor(index / 32) % 4);
  return `hsl(${Math.round((index % 32) * 360 / 32)} 62% ${lightness}%)`;
}

class Grid {
  // `entered` is called with [row, column] or null.
  constructor(canvas, entered) {
    this.canvas = canvas;
    this.entered = entered;
    canvas.addEventListener("pointermove", (event) => entered(this.cellAt(event)));
    canvas.addEventListener("pointerdown", (event) => entered(this.cellAt(event)));
    canvas.addEventListener("keydown", (event) => this.step(event));
    this.show([], 0, 0);
  }

  // cells: {row, column, label, hue}; the picture fits the width if its cells stay readable.
  show(cells, rows, columns) {
    this.cells = cells;
    this.rows = rows;
    this.columns = columns;
    this.marked = [];
    this.at = null;
    const longest = cells.reduce((most, cell) => Math.max(most, cell.label.length), 1);
    const room = this.canvas.parentElement.clientWidth - 34;
    const full = longest * 6.2 + 6;
    this.width = Math.max(columns > 0 && room / columns >= full ? Math.min(room / columns, 64) : full, 6);
    this.height = 17;
    this.lay();
  }

  lay() {
    const scale = window.devicePixelRatio || 1;
    const width = Math.ceil(34 + this.columns * this.width);
    const height = 16 + this.rows * this.height;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.min(width * scale, 16000);
    this.canvas.height = Math.min(height * scale, 16000);
    this.pen = this.canvas.getContext("2d");
    this.pen.scale(this.canvas.width / width, this.canvas.height / height);
    this.draw();
  }

  draw() {
    const pen = this.pen;
    pen.font = "10px monospace";
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    pen.fillStyle = css("--dim");
    const apart = Math.max(1, Math.ceil(20 / this.width));
    for (let column = 0; column < this.columns; column += apart)
      pen.fillText(column, 34 + (column + 0.5) * this.width, 8);
    for (let row = 0; row < this.rows; ++row)
      pen.fillText(this.firstRow ? row + this.firstRow : row, 17, 16 + (row + 0.5) * this.height);
    pen.fillStyle = css("--unread");
    pen.fillRect(34, 16, this.columns * this.width, this.rows * this.height);
    for (const cell of this.cells) this.drawCell(cell, false);
  }

  drawCell(cell, marked) {
    const [x, y] = [34 + cell.column * this.width, 16 + cell.row * this.height];
    this.pen.fillStyle = marked ? css("--mark") : colour(cell.hue);
    this.pen.fillRect(x + 0.5, y + 0.5, this.width - 1, this.height - 1);
    this.pen.fillStyle = marked ? css("--paper") : css("--ink");
    this.pen.fillText(cell.label, x + this.width / 2, y + this.height / 2 + 0.5);
  }

  mark(cells, follow) {
    for (const cell of this.marked) this.drawCell(cell, false);
    this.marked = cells;
    for (const cell of cells) this.drawCell(cell, true);
    if (!follow || cells.length === 0) return;
    const frame = this.canvas.parentElement;
    const [x, y] = [34 + cells[0].column * this.width, 16 + cells[0].row * this.height];
    if (x < frame.scrollLeft || x + this.width > frame.scrollLeft + frame.clientWidth) frame.scrollLeft = x - frame.clientWidth / 2;
    if (y < frame.scrollTop || y + this.height > frame.scrollTop + frame.clientHeight) frame.scrollTop = y - frame.clientHeight / 2;
  }

  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - 34) / this.width);
    const row = Math.floor((event.clientY - box.top - 16) / this.height);
    const inside = row >= 0 && row < this.rows && column >= 0 && column < this.columns;
    this.at = inside ? [row, column] : this.at;
    return inside ? [row, column] : null;
  }

  step(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const by = steps[event.key];
    if (by === undefined || this.rows === 0) return;
    event.preventDefault();
    const [row, column] = this.at === null ? [0, 0] : [this.at[0] + by[0], this.at[1] + by[1]];
    this.at = [Math.max(0, Math.min(row, this.rows - 1)), Math.max(0, Math.min(column, this.columns - 1))];
    this.entered(this.at);
  }
}
