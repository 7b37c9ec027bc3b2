// All photos, as many as there are: only those in view are in the page.

import { drawPicture, overlay, partAt } from "./draw.js";
import { hideTip, showTip } from "./tip.js";

const WIDTH = 250; // least width of a cell, in CSS pixels
const CAPTION = 30;
const AHEAD = 2; // rows above and below the view

export class Grid {
  #cells = new Map(); // by id, those in the page
  #order = [];
  #current = 0; // place in the order of the cell that the keyboard is at

  constructor(store, thumbs, open) {
    this.store = store;
    this.thumbs = thumbs;
    this.open = open;
    this.view = document.getElementById("grid");
    this.space = document.getElementById("cells");
    this.view.addEventListener("scroll", () => this.#place());
    new ResizeObserver(() => this.#place()).observe(this.view);
    this.view.addEventListener("keydown", (event) => this.#walk(event));
    store.addEventListener("review", () => this.show(this.filter));
    store.addEventListener("look", () => this.#redraw());
  }

  /** Show the photos of a kind: of "all", "look", "unchecked", "wrong" or "excluded". */
  show(filter) {
    const changed = filter !== this.filter;
    this.filter = filter;
    this.#order = photosOf(this.store, filter);
    this.#current = Math.max(0, Math.min(this.#current, this.#order.length - 1));
    document.getElementById("empty").hidden = this.#order.length > 0;
    if (changed) this.view.scrollTop = 0;
    this.#place();
    this.#redraw();
  }

  get order() { return this.#order; }

  #layout() {
    const width = this.view.clientWidth;
    const columns = Math.max(1, Math.floor(width / WIDTH));
    return { columns, width: width / columns, height: Math.round((width / columns) * 0.75) + CAPTION };
  }

  #place() {
    if (this.view.hidden) return;
    const { columns, width, height } = this.#layout();
    const rows = Math.ceil(this.#order.length / columns);
    this.space.style.height = `${rows * height}px`;
    const top = Math.floor(this.view.scrollTop / height);
    const bottom = Math.ceil((this.view.scrollTop + this.view.clientHeight) / height);
    const first = Math.max(0, top - AHEAD) * columns;
    const shown = this.#order.slice(first, (bottom + AHEAD) * columns);
    const kept = new Set(shown);
    for (const [id, cell] of this.#cells) if (!kept.has(id)) this.#drop(id, cell);
    const inView = this.#order.slice(top * columns, bottom * columns);
    for (const id of inView) if (!this.#cells.has(id)) this.#add(id);
    this.thumbs.prefer(inView);
    shown.forEach((id, offset) => {
      const place = first + offset;
      const { element } = this.#cells.get(id) ?? this.#add(id);
      element.style.width = `${width}px`;
      element.style.height = `${height}px`;
      element.style.transform = `translate(${(place % columns) * width}px, ${Math.floor(place / columns) * height}px)`;
      element.tabIndex = place === this.#current ? 0 : -1;
    });
  }

  #add(id) {
    const element = document.createElement("figure");
    const canvas = document.createElement("canvas");
    const caption = document.createElement("figcaption");
    const open = document.createElement("button");
    const verdict = document.createElement("span");
    open.textContent = this.store.run.images[id];
    open.title = `Open ${open.textContent}`;
    open.tabIndex = -1;
    open.className = "name";
    verdict.className = "mark";
    caption.append(open, verdict);
    element.append(canvas, caption);
    const cell = { element, canvas, verdict, picture: null };
    this.#cells.set(id, cell);
    this.space.append(element);
    open.addEventListener("click", () => this.open(id));
    element.addEventListener("focus", () => { this.#current = this.#order.indexOf(id); });
    this.#listen(cell, id);
    this.#mark(id, cell);
    this.#want(id, cell);
    return cell;
  }

  #want(id, cell) {
    cell.version = this.store.version(id);
    this.thumbs.want(id, cell.version, (picture) => {
      cell.picture = picture;
      cell.element.classList.add(picture ? "loaded" : "lost");
      if (picture) this.#draw(cell);
    });
  }

  #listen(cell, id) {
    const partUnder = (event) => {
      const box = cell.canvas.getBoundingClientRect();
      const [x, y] = [(event.clientX - box.x) / box.width, (event.clientY - box.y) / box.height];
      return cell.picture ? partAt(cell.picture, x, y, this.store) : 0;
    };
    cell.canvas.addEventListener("mousemove", (event) => showTip(event, this.store.part(partUnder(event))));
    cell.canvas.addEventListener("mouseleave", hideTip);
    cell.canvas.addEventListener("dblclick", () => this.open(id));
    cell.canvas.addEventListener("click", (event) => {
      if (event.detail > 1) return; // of a double click
      const part = partUnder(event);
      this.store.select(part || null);
    });
  }

  #drop(id, cell) {
    this.thumbs.forget(id);
    this.#cells.delete(id);
    cell.element.remove();
  }

  #redraw() {
    for (const [id, cell] of this.#cells) {
      this.#mark(id, cell);
      if (cell.version !== this.store.version(id)) this.#want(id, cell);
      else if (cell.picture) this.#draw(cell);
    }
  }

  #mark(id, cell) {
    const verdict = this.store.verdict(id);
    const reasons = this.store.reasons(id).join("; ");
    const mended = this.store.mended(id) ? "mended" : "";
    cell.verdict.textContent = [verdict, mended].filter(Boolean).join(", ");
    cell.element.dataset.verdict = verdict ?? "";
    const name = this.store.run.images[id];
    cell.element.setAttribute("aria-label", [name, verdict, mended, reasons].filter(Boolean).join(", "));
  }

  #draw(cell) {
    const { canvas, picture } = cell;
    const { width, height } = picture;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const layer = overlay(picture, this.store);
    drawPicture(canvas.getContext("2d"), picture, layer, this.store, { x: 0, y: 0, width, height });
  }

  #walk(event) {
    const { columns, height } = this.#layout();
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const id = this.#order[this.#current];
    if (event.key === "Enter" && event.target.tagName !== "BUTTON") this.open(id);
    else if (event.key in steps) {
      const place = this.#current + steps[event.key];
      if (place >= 0 && place < this.#order.length) this.#current = place;
      const top = Math.floor(this.#current / columns) * height;
      const { scrollTop, clientHeight } = this.view;
      if (top < scrollTop) this.view.scrollTop = top;
      else if (top + height > scrollTop + clientHeight) this.view.scrollTop = top + height - clientHeight;
      this.#place();
      this.#cells.get(this.#order[this.#current])?.element.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
  }
}

/** The ids of the photos of a kind, in the order to see them in. */
export function photosOf(store, filter) {
  const all = store.run.images.map((_, id) => id);
  if (filter === "look") return store.state.look_at.map(([id]) => id);
  if (filter === "unchecked") return all.filter((id) => !store.verdict(id));
  if (filter === "all") return all;
  return all.filter((id) => store.verdict(id) === filter);
}
