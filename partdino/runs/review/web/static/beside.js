// The open photo with the parts of another run, beside it: what is like a part has its colour.

import { getBeside, getLabelsBeside } from "./api.js";
import { drawPicture, overlay, partAt } from "./draw.js";
import { make } from "./make.js";
import { hideTip, showTip } from "./tip.js";

const element = (id) => document.getElementById(id);

export class Beside {
  #parts = null; // what the server says of them
  #picture = null; // labels of the photo that is open
  #layer = null;
  #wanted = null; // which photo

  /** `viewer` has `id`, `shape()`, `redraw()` and `resize()`. */
  constructor(store, viewer) {
    this.store = store;
    this.viewer = viewer;
    this.there = store.run.beside !== null;
    this.on = this.there;
    this.canvas = element("other");
    element("compare").hidden = !this.there;
    element("compare").addEventListener("click", () => this.#toggle());
    this.canvas.addEventListener("mousemove", (event) => showTip(event, this.#partUnder(event)));
    this.canvas.addEventListener("mouseleave", hideTip);
    this.canvas.addEventListener("click", (event) => {
      const part = this.#partUnder(event)?.part;
      if (part && store.part(part)) store.select(part);
    });
    this.#show();
  }

  /** Another photo is open, or what is said of this one has changed. */
  async load() {
    this.#show();
    const { id } = this.viewer;
    if (!this.on || id === null) return;
    const { revision } = this.store.state;
    const wanted = `${id} ${revision}`;
    if (this.#wanted === wanted) return this.#paint();
    this.#wanted = wanted;
    try {
      const there = this.store.run.shared.includes(id);
      const known = this.#picture?.id === id ? this.#picture : null;
      const [parts, picture] = await Promise.all([
        this.#parts?.revision === revision ? this.#parts : getBeside(),
        known ?? (there ? getLabelsBeside(this.store.run.session, id) : null),
      ]);
      if (this.#wanted !== wanted) return;
      this.#parts = parts;
      this.#picture = picture && { ...picture, id };
      this.#legend(there);
      this.#paint();
      this.canvas.dataset.revision = parts.revision; // what is shown by now: pages are driven in tests
    } catch (error) {
      this.#wanted = null;
      this.store.say(error.message);
    }
  }

  leave() {
    this.#picture = this.#layer = this.#wanted = null;
    delete this.canvas.dataset.revision;
  }

  /** Draw it where the photo lies on its own canvas. */
  draw(photo) {
    if (!this.on) return;
    const ratio = devicePixelRatio;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    if (!this.#layer || !photo) return;
    drawPicture(this.canvas.getContext("2d"), { photo }, this.#layer, this.store, this.viewer.shape());
  }

  #toggle() {
    this.on = !this.on;
    this.load();
    this.viewer.resize();
  }

  #show() {
    element("compare").setAttribute("aria-pressed", this.on);
    this.canvas.hidden = element("beside").hidden = !this.on;
  }

  #paint() {
    const look = { state: this.#parts, selected: this.store.selected };
    this.#layer = this.#picture && this.#parts && overlay(this.#picture, look);
    this.viewer.redraw();
  }

  #legend(there) {
    const title = make("strong", { textContent: this.store.run.beside });
    if (!there) return element("beside").replaceChildren(title, " has no such photo");
    const parts = this.#parts.parts.map(({ part, name, colour, overlap }) => {
      const entry = make("span", { className: "like" });
      const chip = make("span", { className: "chip" });
      chip.style.background = colour;
      const like = overlap === null ? "like none" : `like ${this.store.part(part).name}, ${Math.round(100 * overlap)} %`;
      entry.append(chip, `${name}: ${like}`);
      return entry;
    });
    element("beside").replaceChildren(title, ...parts);
  }

  #partUnder(event) {
    if (!this.#picture || !this.#parts) return null;
    const box = this.canvas.getBoundingClientRect();
    const { x, y, width, height } = this.viewer.shape();
    const at = [(event.clientX - box.x) * devicePixelRatio - x, (event.clientY - box.y) * devicePixelRatio - y];
    const part = partAt(this.#picture, at[0] / width, at[1] / height, { state: this.#parts });
    return this.#parts.parts.find((each) => each.part === part) ?? null;
  }
}
