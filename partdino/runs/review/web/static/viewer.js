// One photo, at any size up to its own resolution and beyond, and the queue of those to check.

import { getObjects, getPicture } from "./api.js";
import { Beside } from "./beside.js";
import { drawPicture, overlay, partAt } from "./draw.js";
import { saveDrawing, saveFigure } from "./figures.js";
import { Mender } from "./mend.js";
import { hideTip, showTip } from "./tip.js";

const STEP = 1.25;
const LARGEST = 16; // screen pixels for a photo's one
const MOVED = 4; // CSS pixels from which a press is no click

const element = (id) => document.getElementById(id);

export class Viewer {
  #order = [];
  #id = null;
  #picture = null;
  #layer = null;
  #drawn = null; // what the layer was drawn for
  #view = { scale: 1, x: 0, y: 0 }; // screen pixels
  #fitted = true;
  #loading = null;
  #wanted = null; // which photo with which labels
  #press = null;
  #objects = null; // how many the photo shows, once they are counted
  #counted = null; // for which photo and revision

  constructor(store) {
    this.store = store;
    this.dialog = element("viewer");
    this.canvas = element("whole");
    this.mender = new Mender(store, this);
    this.beside = new Beside(store, this);
    this.#buttons();
    this.#pointer();
    this.dialog.addEventListener("keydown", (event) => this.#key(event));
    this.dialog.addEventListener("close", () => this.#leave());
    new ResizeObserver(() => this.#resize()).observe(this.canvas);
    store.addEventListener("review", () => this.#refresh());
    store.addEventListener("look", () => this.#refresh());
  }

  /** Open a photo; `order` is what next and previous go through. */
  open(id, order) {
    this.#order = order;
    if (!this.dialog.open) this.dialog.showModal();
    this.canvas.focus();
    this.#show(id);
  }

  get isOpen() { return this.dialog.open; }
  get id() { return this.#id; }

  /** Where the photo lies on the canvas, in screen pixels. */
  shape() {
    const { scale, x, y } = this.#view;
    return { x, y, width: (this.#picture?.width ?? 0) * scale, height: (this.#picture?.height ?? 0) * scale };
  }

  redraw() { if (this.isOpen) this.#draw(); }
  resize() { this.#resize(); }

  async #show(id) {
    this.#id = id;
    this.#drop();
    this.mender.leave();
    this.beside.leave();
    if (this.store.run.without_pieces.includes(id)) this.mender.on = false;
    this.#fitted = true;
    this.#objects = this.#counted = null;
    this.#describe();
    this.#count();
    this.mender.refresh();
    await this.#load();
  }

  /** Load the photo and its labels as they are now; what is shown stays until they are there. */
  async #load() {
    const id = this.#id;
    const version = this.store.version(id);
    this.#wanted = `${id} ${version}`;
    this.#loading?.abort();
    this.#loading = new AbortController();
    try {
      const picture = await getPicture(this.store.run.session, id, version, true, this.#loading.signal);
      if (this.#wanted !== `${id} ${version}`) return;
      this.#drop();
      this.#picture = picture;
      this.#refresh();
      this.mender.refresh();
      this.canvas.dataset.version = version; // what is shown by now: pages are driven in tests
    } catch (error) {
      if (error.name !== "AbortError") this.store.say(error.message);
    }
  }

  #leave() {
    this.#loading?.abort();
    this.#id = this.#wanted = null;
    this.#drop();
    this.mender.on = false;
    this.mender.leave();
    this.mender.refresh();
    this.beside.leave();
    hideTip();
  }

  /** Let go of a photo at once: a large one has some 300 MB. */
  #drop() {
    this.#picture?.photo?.close();
    if (this.#layer) this.#layer.width = this.#layer.height = 0;
    this.#picture = this.#layer = this.#drawn = null;
  }

  #refresh() {
    if (!this.isOpen) return;
    this.#describe();
    this.#count();
    if (this.mender.on) this.mender.refresh();
    if (this.#picture && this.#wanted !== `${this.#id} ${this.store.version(this.#id)}`) {
      this.#load();
      return;
    }
    const wanted = `${this.store.state.revision} ${this.store.selected}`;
    if (this.#picture && this.#drawn !== wanted) {
      this.#layer = overlay(this.#picture, this.store);
      this.#drawn = wanted;
    }
    this.beside.load();
    this.#resize();
  }

  #describe() {
    const verdict = this.store.verdict(this.#id);
    element("photo-name").textContent = this.store.run.images[this.#id];
    const counted = this.#objects === null ? "" : `${this.#objects} ${this.#objects === 1 ? "object" : "objects"}`;
    element("verdict").textContent = [verdict ?? "not checked", this.store.mended(this.#id) && "mended", counted].filter(Boolean).join(", ");
    element("reasons").textContent = this.store.reasons(this.#id).join("; ");
    for (const [button, said] of [["fine", "fine"], ["wrong", "wrong"], ["exclude", "excluded"]])
      element(button).setAttribute("aria-pressed", verdict === said);
    element("viewer-count").textContent = `${this.store.checked} of ${this.store.run.images.length} checked`;
  }

  /** Say how many objects the photo shows, where the run tells them apart. */
  async #count() {
    const id = this.#id;
    const wanted = `${id} ${this.store.state.revision}`;
    if (!this.store.run.tells_objects || this.#counted === wanted) return;
    this.#counted = wanted;
    try {
      const objects = await getObjects(id);
      if (this.#counted !== wanted || this.#id !== id) return;
      this.#objects = objects;
      this.#describe();
    } catch (error) {
      this.store.say(error.message);
    }
  }

  #resize() {
    if (!this.isOpen) return;
    const ratio = devicePixelRatio;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    if (this.#fitted) this.#fit();
    this.#draw();
  }

  #fit() {
    if (!this.#picture) return;
    const { width, height } = this.#picture;
    const scale = Math.min(this.canvas.width / width, this.canvas.height / height);
    this.#view = {
      scale,
      x: (this.canvas.width - width * scale) / 2,
      y: (this.canvas.height - height * scale) / 2,
    };
    this.#fitted = true;
  }

  /** Zoom so that the place of the canvas stays where it is. */
  #zoom(scale, x = this.canvas.width / 2, y = this.canvas.height / 2) {
    if (!this.#picture) return;
    const least = Math.min(this.canvas.width / this.#picture.width, this.canvas.height / this.#picture.height, 1);
    scale = Math.min(LARGEST, Math.max(least, scale));
    const by = scale / this.#view.scale;
    this.#view = { scale, x: x - (x - this.#view.x) * by, y: y - (y - this.#view.y) * by };
    this.#fitted = false;
    this.#draw();
  }

  #draw() {
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    element("zoom").textContent = this.#picture ? `${Math.round(this.#view.scale * 100)} %` : "";
    this.canvas.toggleAttribute("aria-busy", !this.#picture);
    this.beside.draw(this.#picture?.photo);
    if (!this.#layer) return;
    const { scale, x, y } = this.#view;
    context.imageSmoothingEnabled = scale < 2; // beyond, one wants to see the pixels
    const area = { x, y, width: this.#picture.width * scale, height: this.#picture.height * scale };
    drawPicture(context, this.#picture, this.#layer, this.store, area);
    this.mender.draw(context);
  }

  #buttons() {
    const press = {
      "zoom-in": () => this.#zoom(this.#view.scale * STEP),
      "zoom-out": () => this.#zoom(this.#view.scale / STEP),
      "zoom-own": () => this.#zoom(1),
      "zoom-fit": () => { this.#fit(); this.#draw(); },
      fine: () => this.#judge("fine"),
      wrong: () => this.#judge("wrong"),
      exclude: () => this.#judge("excluded"),
      next: () => this.#go(1),
      previous: () => this.#go(-1),
      close: () => this.dialog.close(),
      "save-drawing": () => { if (this.#layer) saveDrawing(this.store, this.#id); },
      "save-figure": () => { if (this.#layer) saveFigure(this.store, this.#id, this.#picture, this.#layer); },
    };
    for (const [id, action] of Object.entries(press)) element(id).addEventListener("click", action);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.mender.key(event)) {
      event.preventDefault();
      event.stopPropagation(); // digits mean something else on the page
      return;
    }
    const buttons = {
      f: "fine", w: "wrong", x: "exclude", n: "next", p: "previous", ArrowRight: "next",
      ArrowLeft: "previous", "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", 0: "zoom-fit", o: "zoom-own",
      s: "save-figure", d: "save-drawing", c: "compare",
    };
    const button = buttons[event.key];
    if (!button || element(button).hidden) return;
    element(button).click();
    event.preventDefault();
  }

  async #judge(verdict) {
    const id = this.#id;
    this.#go(1);
    await this.store.sayOfPhoto(id, verdict);
    if (this.store.checked === this.store.run.images.length) this.store.say("All photos are checked.");
  }

  #go(step) {
    const place = this.#order.indexOf(this.#id) + step;
    if (place >= 0 && place < this.#order.length) this.#show(this.#order[place]);
    else this.store.say(step > 0 ? "This is the last photo." : "This is the first photo.");
  }

  #pointer() {
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [(event.clientX - box.x) * devicePixelRatio, (event.clientY - box.y) * devicePixelRatio];
    };
    const shareAt = (event) => {
      const [x, y] = at(event);
      const shape = this.shape();
      return [(x - shape.x) / shape.width, (y - shape.y) / shape.height];
    };
    const partUnder = (event) => (this.#picture ? partAt(this.#picture, ...shareAt(event), this.store) : 0);
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (this.mender.brushes && !event.ctrlKey) this.mender.resize(Math.sign(-event.deltaY));
      else this.#zoom(this.#view.scale * STEP ** Math.sign(-event.deltaY), ...at(event));
    }, { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.#press = { start: at(event), view: { ...this.#view }, moved: false };
      this.mender.point(...shareAt(event));
      if (this.mender.draws) this.mender.drawFrom();
    });
    this.canvas.addEventListener("pointermove", (event) => {
      // While mending, the toolbar says it, and the tip would cover what is aimed at.
      showTip(event, this.mender.on ? null : this.store.part(partUnder(event)));
      this.mender.point(...shareAt(event));
      if (!this.#press) return;
      if (this.mender.draws) {
        this.mender.drawTo();
        return;
      }
      const [x, y] = at(event);
      const [byX, byY] = [x - this.#press.start[0], y - this.#press.start[1]];
      this.#press.moved ||= Math.hypot(byX, byY) > MOVED;
      if (!this.#press.moved) return;
      this.#view = { ...this.#view, x: this.#press.view.x + byX, y: this.#press.view.y + byY };
      this.#fitted = false;
      this.#draw();
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (this.#press && this.mender.draws) this.mender.drawEnd();
      else if (this.#press && !this.#press.moved) {
        if (this.mender.on) this.mender.click();
        else this.store.select(partUnder(event) || null);
      }
      this.#press = null;
    });
    this.canvas.addEventListener("pointercancel", () => { this.#press = null; });
    this.canvas.addEventListener("pointerleave", hideTip);
  }
}
