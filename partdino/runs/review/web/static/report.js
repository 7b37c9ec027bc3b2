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

/** Draw a photo as the review does, in place of its two pictures. */
async function enliven(place, report) {
  const [photo, parts] = place.querySelectorAll("img");
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
  place.replaceChildren(canvas);
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
  line.append(label, " A click on a part selects it in every photo; H, held, hides the overlay.");
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
new Table(report, { load: async () => report.table, open, most: Infinity }).show();
const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    enliven(target, report);
  }
}, { rootMargin: "50%" });
for (const place of document.querySelectorAll(".photo")) seen.observe(place);
