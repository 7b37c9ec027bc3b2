// Mending one photo: a region, what a lasso encloses, or what a brush has passed over is given to
// another part or to background.

import { getPieces } from "./api.js";
import { make } from "./make.js";

const FAR = 0.02; // of the canvas, that an arrow key moves the cross
const NEAR = 0.004; // with shift
const CROSS = 9; // CSS pixels
const NOT_GIVEN = -1;
const BRUSH = { size: 0.05, least: 0.005, most: 0.4, by: 1.25 }; // widths, of the photo's longest side

const element = (id) => document.getElementById(id);

export class Mender {
  on = false;
  #target = 0; // the part that pixels are given to, 0 = background
  #tool = "piece"; // or "lasso", "brush"
  #all = false; // whether a lasso or a brush takes background, too
  #brush = BRUSH.size;
  #pieces = null;
  #loading = null; // what is asked for
  #place = null; // of the cross, in pixels of the pieces
  #corners = []; // of the lasso, or where the brush has been
  #mask = null; // of the piece under the cross
  #key = null; // what the mask was made for
  #layer = null;

  /** `viewer` has `id`, `shape()` (of the photo on the canvas), `redraw()` and `canvas`. */
  constructor(store, viewer) {
    this.store = store;
    this.viewer = viewer;
    const press = {
      mend: () => this.toggle(),
      lasso: () => this.#setTool("lasso"),
      brush: () => this.#setTool("brush"),
      "brush-smaller": () => this.resize(-1),
      "brush-larger": () => this.resize(1),
      "lasso-all": () => this.#setAll(!this.#all),
      "mend-undo": () => store.undo(),
      "mend-redo": () => store.redo(),
      unmend: () => store.sayMended(viewer.id, null),
      "mend-done": () => this.toggle(),
    };
    for (const [id, action] of Object.entries(press))
      element(id).addEventListener("click", (event) => {
        action();
        if (event.detail) viewer.canvas.focus(); // clicked with the mouse: Enter is the cross's again
      });
    element("mend-target").addEventListener("change", (event) => this.#aim(Number(event.target.value)));
  }

  toggle() {
    if (!this.on && this.store.run.without_pieces.includes(this.viewer.id)) {
      this.store.say("Nothing is kept to mend this photo by: it was labelled with --no-review or before version 0.2. Label again to mend it.");
      return;
    }
    this.on = !this.on;
    this.#corners = [];
    this.refresh();
    this.viewer.canvas.focus();
  }

  /** Another photo is shown, or none. */
  leave() {
    this.#pieces = this.#loading = this.#place = this.#mask = this.#key = null;
    this.#corners = [];
  }

  refresh() {
    element("mending").hidden = !this.on;
    element("mend").setAttribute("aria-pressed", this.on);
    element("mend").disabled = this.viewer.id === null;
    if (!this.on || this.viewer.id === null) return this.viewer.redraw();
    const parts = this.store.state.parts.filter((part) => !part.background);
    if (this.#target && !parts.some(({ part }) => part === this.#target)) this.#target = 0;
    const choices = [{ part: 0, name: "background" }, ...parts];
    element("mend-target").replaceChildren(...choices.map(({ part, name }) =>
      make("option", { value: part, textContent: `${part} ${name}`, selected: part === this.#target })));
    for (const tool of ["lasso", "brush"]) element(tool).setAttribute("aria-pressed", this.#tool === tool);
    element("brush-size").hidden = this.#tool !== "brush";
    element("lasso-all").setAttribute("aria-pressed", this.#all);
    element("lasso-all").disabled = !this.draws;
    element("mend-undo").disabled = !this.store.canUndo;
    element("mend-redo").disabled = !this.store.canRedo;
    element("unmend").disabled = !this.store.mended(this.viewer.id);
    this.#load();
    this.#look(true);
  }

  async #load() {
    const { id } = this.viewer;
    const wanted = `${id} ${this.store.state.version}`;
    if (this.#loading === wanted) return;
    this.#loading = wanted;
    try {
      const pieces = await getPieces(this.store.run.session, id, this.store.version(id));
      if (this.#loading !== wanted) return;
      this.#pieces = pieces;
      this.#place ??= [pieces.width / 2, pieces.height / 2];
      this.#look(true);
    } catch (error) {
      this.#loading = null;
      this.store.say(error.message);
    }
  }

  /** Handle a key of an open photo; whether it was one of ours. */
  key(event) {
    if (event.key.toLowerCase() === "m") this.toggle();
    else if (!this.on || (event.target.matches("select") && event.key !== "Escape")) return false;
    else if (/^[0-9]$/.test(event.key)) this.#aim(Number(event.key));
    else if (event.key.toLowerCase() === "l") this.#setTool("lasso");
    else if (event.key.toLowerCase() === "r") this.#setTool("brush");
    else if (event.key === "[" || event.key === "]") this.resize(event.key === "[" ? -1 : 1);
    else if (event.key.toLowerCase() === "b") this.#setAll(!this.#all);
    else if (event.key === "Escape" && this.#corners.length) this.#setCorners([]);
    else if (event.key === "Escape") this.toggle();
    else if (event.key.startsWith("Arrow")) this.#walk(event.key.slice(5), event.shiftKey ? NEAR : FAR);
    else if (event.key === "Enter" && event.target === this.viewer.canvas) this.#enter();
    else if (event.key.toLowerCase() === "g") this.#close();
    else if (event.key === "Backspace") this.#setCorners(this.#corners.slice(0, -1));
    else return false;
    return true;
  }

  /** The pointer is at a share of the photo's width and height. */
  point(shareX, shareY) {
    if (!this.on || !this.#pieces) return;
    this.#place = [shareX * this.#pieces.width, shareY * this.#pieces.height];
    this.#look();
  }

  click() {
    if (!this.draws) this.#giveMask();
  }

  /** Whether a press draws, and does not move the photo. */
  get draws() { return this.on && this.#tool !== "piece"; }

  /** Whether the wheel is the brush's. */
  get brushes() { return this.on && this.#tool === "brush"; }

  /** Make the brush larger, or smaller where `steps` is below 0. */
  resize(steps) {
    this.#brush = Math.min(BRUSH.most, Math.max(BRUSH.least, this.#brush * BRUSH.by ** steps));
    this.viewer.redraw();
  }

  drawFrom() { this.#setCorners(this.#place ? [this.#place] : []); }
  drawTo() { if (this.#place) this.#setCorners([...this.#corners, this.#place]); }
  drawEnd() { this.#close(); }

  #aim(target) {
    if (target && (this.store.part(target)?.background ?? true)) {
      this.store.say(`There is no part ${target}.`);
      return;
    }
    this.#target = target;
    this.refresh();
  }

  /** Take a tool, or put it away. */
  #setTool(tool) {
    this.#tool = this.#tool === tool ? "piece" : tool;
    this.#corners = [];
    this.refresh();
  }

  #setAll(all) {
    this.#all = all;
    this.refresh();
  }

  #setCorners(corners) {
    this.#corners = corners;
    this.viewer.redraw();
  }

  #walk(direction, step) {
    if (!this.#pieces) return;
    const { width, height } = this.#pieces;
    const shape = this.viewer.shape();
    const by = [step * this.viewer.canvas.width / shape.width * width, step * this.viewer.canvas.height / shape.height * height];
    const [x, y] = this.#place;
    const signs = { Left: [-1, 0], Right: [1, 0], Up: [0, -1], Down: [0, 1] }[direction];
    this.#place = [within(x + signs[0] * by[0], width), within(y + signs[1] * by[1], height)];
    this.#look();
  }

  #enter() {
    if (this.draws && this.#place) this.#setCorners([...this.#corners, this.#place]);
    else this.#giveMask();
  }

  /** The part, after merges, that a pixel of the pieces shows. */
  #shows(given, i) {
    const label = given[i] === NOT_GIVEN ? this.#pieces.labels[i] : given[i];
    return this.store.state.lookup[label];
  }

  #given() {
    const { width, height, name } = this.#pieces;
    const given = new Int16Array(width * height).fill(NOT_GIVEN);
    const said = this.store.mended(this.viewer.id);
    if (said?.pieces !== name) return given; // of another label map
    for (const [part, runs] of Object.entries(said.given)) {
      for (let i = 0, end = 0; i < runs.length; i += 2) {
        const start = end + runs[i];
        end = start + runs[i + 1];
        given.fill(Number(part), start, end);
      }
    }
    return given;
  }

  /** Find the piece under the cross: what of its region shows the same part. */
  #look(anew = false) {
    if (!this.on) return;
    if (!this.#pieces || !this.#place) return this.viewer.redraw();
    const { width, height, regions } = this.#pieces;
    const [x, y] = this.#place.map(Math.floor);
    const inside = x >= 0 && y >= 0 && x < width && y < height;
    const given = inside ? this.#given() : null;
    const at = y * width + x;
    const part = inside ? this.#shows(given, at) : null;
    const key = inside ? `${regions[at]} ${part}` : null;
    if (anew || key !== this.#key) {
      this.#key = key;
      this.#mask = key && regions.map((region, i) => region === regions[at] && this.#shows(given, i) === part);
      this.#layer = key && part !== this.#target ? this.#paint() : null; // where a click would do something
      element("piece").textContent = key ? `${this.#name(part)} to ${this.#name(this.#target)}` : "";
    }
    this.viewer.redraw();
  }

  #name(part) { return part ? this.store.part(part).name : "background"; }

  #paint() {
    const { width, height } = this.#pieces;
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    const colour = this.#target ? this.store.part(this.#target).colour : "#000000";
    const [red, green, blue] = [1, 3, 5].map((from) => parseInt(colour.slice(from, from + 2), 16));
    for (let i = 0; i < this.#mask.length; i++) {
      if (!this.#mask[i]) continue;
      const edge = [i - 1, i + 1, i - width, i + width].some((next) => !this.#mask[next]);
      image.data.set(edge ? [255, 255, 255, 255] : [red, green, blue, 190], 4 * i);
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }

  #giveMask() {
    if (this.#mask) this.#give(this.#mask);
  }

  #close() {
    const corners = this.#corners;
    this.#corners = [];
    if (corners.length < (this.#tool === "lasso" ? 3 : 1) || !this.#pieces) return this.viewer.redraw();
    const { width, height } = this.#pieces;
    const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    if (this.#tool === "lasso") {
      context.beginPath();
      for (const [x, y] of corners) context.lineTo(x, y);
      context.fill();
    } else stroke(context, corners, this.#brush * Math.max(width, height));
    const { data } = context.getImageData(0, 0, width, height);
    // Around a part there is background, which is not meant, unless that is said.
    const given = this.#given();
    this.#give(this.#pieces.regions.map((_, i) => data[4 * i + 3] >= 128 && (this.#all || this.#shows(given, i) > 0)));
  }

  #give(mask) {
    const given = this.#given();
    const { lookup } = this.store.state;
    for (let i = 0; i < given.length; i++) {
      // What has that part anyway need not be given it.
      if (mask[i]) given[i] = lookup[this.#pieces.labels[i]] === this.#target ? NOT_GIVEN : this.#target;
    }
    const { width, height, name } = this.#pieces;
    const runs = runsOf(given);
    const said = Object.keys(runs).length ? { pieces: name, size: [height, width], given: runs } : null;
    this.store.sayMended(this.viewer.id, said);
  }

  /** Draw what is aimed at over a photo. */
  draw(context) {
    if (!this.on || !this.#pieces || !this.#place) return;
    const { x, y, width, height } = this.viewer.shape();
    const to = ([across, down]) => [x + across / this.#pieces.width * width, y + down / this.#pieces.height * height];
    if (this.#layer && !this.draws) {
      context.imageSmoothingEnabled = false;
      context.drawImage(this.#layer, x, y, width, height);
    }
    const [atX, atY] = to(this.#place);
    if (this.brushes) {
      this.#drawBrush(context, this.#corners.map(to), [atX, atY], this.#brush * Math.max(width, height));
      return;
    }
    const arm = CROSS * devicePixelRatio;
    const cross = [[[atX - arm, atY], [atX + arm, atY]], [[atX, atY - arm], [atX, atY + arm]]];
    // Black under white: seen on any photo.
    for (const [colour, thick] of [["#000", 4], ["#fff", 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = thick * devicePixelRatio;
      context.beginPath();
      for (const [from, end] of cross) {
        context.moveTo(...from);
        context.lineTo(...end);
      }
      this.#corners.map(to).forEach((corner, i) => context[i ? "lineTo" : "moveTo"](...corner));
      context.stroke();
    }
  }

  /** Draw where the brush has been, in the colour that is given, and how large it is. */
  #drawBrush(context, been, at, size) {
    if (been.length) {
      context.globalAlpha = 0.7;
      context.strokeStyle = context.fillStyle = this.#target ? this.store.part(this.#target).colour : "#000";
      stroke(context, been, size);
      context.globalAlpha = 1;
    }
    for (const [colour, thick] of [["#000", 4], ["#fff", 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = thick * devicePixelRatio;
      context.beginPath();
      context.arc(...at, size / 2, 0, 2 * Math.PI);
      context.stroke();
    }
  }
}

/** Draw along places with a round brush. */
function stroke(context, places, size) {
  context.lineCap = context.lineJoin = "round";
  context.lineWidth = size;
  context.beginPath();
  context.moveTo(...places[0]);
  context.lineTo(places[0][0] + 0.01, places[0][1]); // one place alone is a dot
  for (const place of places.slice(1)) context.lineTo(...place);
  context.stroke();
}

/** By part, as review.json has it: how many pixels come between a run and the one before, how many it has. */
function runsOf(given) {
  const runs = {};
  const ends = {};
  for (let i = 0; i < given.length;) {
    const part = given[i];
    const start = i;
    while (i < given.length && given[i] === part) i++;
    if (part === NOT_GIVEN) continue;
    (runs[part] ??= []).push(start - (ends[part] ?? 0), i - start);
    ends[part] = i;
  }
  return runs;
}

const within = (value, size) => Math.min(size - 0.5, Math.max(0.5, value));
