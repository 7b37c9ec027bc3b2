// The report, where scripts may run: parts are named and selected, the table is sorted and filtered.

import { drawPicture, overlay, partAt } from "./draw.js";
import { make } from "./make.js";
import { Table } from "./table.js";
import { hideTip, showTip } from "./tip.js";

class Report extends EventTarget {
  selected = null; // a part's number
  opacity = 0.6;
  bare = false; // the overlay is hidden while a key is held

  constructor({ parts, table }) {
    super();
    const numbers = Uint8Array.from({ length: 256 }, (_, label) => label);
    this.state = { parts, revision: 0, lookup: numbers, drawn: numbers };
    this.parts = parts;
    this.table = { ...table, revision: 0 };
  }

  part(number) { return this.parts.find((part) => part.part === number); }
  say() { /* nothing is loaded that could fail */ }

  look(how) {
    Object.assign(this, how);
    this.dispatchEvent(new Event("look"));
  }

  select(number) { this.look({ selected: number === this.selected ? null : number }); }
}

/** The parts of a photo as bytes, from a picture in which each has a colour of its own. */
async function labelsOf(image, parts) {
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const numbers = new Map(parts.map(({ part, marked }) => [parseInt(marked.slice(1), 16), part]));
  const labels = new Uint8Array(width * height);
  for (let i = 0; i < labels.length; i++) {
    if (data[4 * i + 3]) labels[i] = numbers.get((data[4 * i] << 16) | (data[4 * i + 1] << 8) | data[4 * i + 2]) ?? 0;
  }
  return { labels, width, height };
}

/** A photo and its parts, two pictures, drawn as the review does; `forget` when it is not shown any more. */
async function enlivened([photo, parts], report) {
  const [picture] = await Promise.all([labelsOf(parts, report.parts), photo.decode()]);
  picture.photo = photo;
  const { width, height } = picture;
  const canvas = make("canvas", { width, height, role: "img", ariaLabel: photo.alt });
  const draw = () => {
    const area = { x: 0, y: 0, width, height };
    drawPicture(canvas.getContext("2d"), picture, overlay(picture, report), report, area);
  };
  const partUnder = (event) => {
    const box = canvas.getBoundingClientRect();
    return partAt(picture, (event.clientX - box.x) / box.width, (event.clientY - box.y) / box.height, report);
  };
  canvas.addEventListener("mousemove", (event) => showTip(event, report.part(partUnder(event))));
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("click", (event) => report.select(partUnder(event) || null));
  report.addEventListener("look", draw);
  draw();
  return { canvas, forget: () => report.removeEventListener("look", draw) };
}

/** One photo, as large as the file has it, in a dialog that its name opens. */
class Enlarged {
  #figures = [...document.querySelectorAll("figure")].filter((figure) => figure.querySelector("template"));
  #dialog = make("dialog", { ariaLabel: "One photo" });
  #name = make("b");
  #place = make("div", { className: "enlarged" });
  #shown = null; // its place among the figures
  #forget = () => {};

  constructor(report) {
    this.report = report;
    this.#figures.forEach((figure, index) => {
      const caption = figure.querySelector("figcaption");
      const button = make("button", { title: "Enlarge" });
      button.append(...caption.childNodes);
      button.addEventListener("click", () => this.show(index));
      caption.append(button);
    });
    const own = this.#button("Own size (O)", () => {
      own.setAttribute("aria-pressed", this.#place.classList.toggle("own"));
    });
    own.setAttribute("aria-pressed", false);
    const line = make("p");
    line.append(
      this.#button("Previous (←)", () => this.show(this.#shown - 1)), this.#button("Next (→)", () => this.show(this.#shown + 1)),
      own, this.#button("Close (Esc)", () => this.#dialog.close()), this.#name,
    );
    this.#dialog.append(line, this.#place);
    this.#dialog.addEventListener("keydown", ({ key }) => {
      if (key === "ArrowLeft") this.show(this.#shown - 1);
      if (key === "ArrowRight") this.show(this.#shown + 1);
      if (key.toLowerCase() === "o") own.click();
    });
    this.#dialog.addEventListener("close", () => this.#leave());
    document.querySelector("main").append(this.#dialog);
  }

  async show(index) {
    const figure = this.#figures[index];
    if (!figure) return;
    this.#shown = index;
    this.#name.textContent = figure.querySelector("figcaption").textContent;
    if (!this.#dialog.open) this.#dialog.showModal();
    const pictures = document.importNode(figure.querySelector("template").content, true).children;
    const { canvas, forget } = await enlivened([...pictures], this.report);
    if (this.#shown !== index) return forget(); // another one was asked for meanwhile
    this.#leave();
    this.#shown = index;
    this.#forget = forget;
    this.#place.replaceChildren(canvas);
  }

  #leave() {
    this.#forget();
    this.#shown = null;
    hideTip();
    this.#place.replaceChildren();
  }

  #button(textContent, press) {
    const button = make("button", { textContent });
    button.addEventListener("click", press);
    return button;
  }
}

/** Make the names in the legend buttons that select a part, with a slider beside them. */
function legend(report) {
  const list = document.querySelector(".legend");
  const entries = [...list.querySelectorAll("li")].map((entry) => {
    const button = make("button");
    button.append(...entry.childNodes);
    button.addEventListener("click", () => report.select(Number(entry.dataset.part)));
    entry.append(button);
    return [button, Number(entry.dataset.part)];
  });
  const mark = () => entries.forEach(([button, part]) => button.setAttribute("aria-pressed", part === report.selected));
  report.addEventListener("look", mark);
  mark();
  const slider = make("input", { type: "range", min: 0, max: 100, value: 100 * report.opacity });
  slider.addEventListener("input", () => report.look({ opacity: slider.value / 100 }));
  const label = make("label", { textContent: "Overlay " });
  label.append(slider);
  const line = make("p", { className: "look" });
  line.append(label, " A click on a part selects it in every photo, one on a name enlarges the photo; H, held, hides the overlay.");
  list.after(line);
}

function keys(report) {
  const hide = (bare) => { if (report.bare !== bare) report.look({ bare }); };
  addEventListener("keydown", ({ key }) => { if (key.toLowerCase() === "h") hide(true); });
  addEventListener("keyup", ({ key }) => { if (key.toLowerCase() === "h") hide(false); });
  addEventListener("blur", () => hide(false));
}

const report = new Report(JSON.parse(document.getElementById("data").textContent));
const open = (id) => document.getElementById(`photo-${id}`)?.scrollIntoView({ block: "center" });
legend(report);
keys(report);
new Enlarged(report);
new Table(report, { load: async () => report.table, open, most: Infinity }).show();
const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    enlivened(target.querySelectorAll("img"), report).then(({ canvas }) => target.replaceChildren(canvas));
  }
}, { rootMargin: "50%" });
for (const place of document.querySelectorAll(".photo")) seen.observe(place);
