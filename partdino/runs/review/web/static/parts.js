// The list of parts: names, colours, and what becomes of them.

import { make } from "./make.js";
import { hideTip } from "./tip.js";

export class Parts {
  #rows = new Map(); // by part number

  constructor(store) {
    this.store = store;
    this.list = document.getElementById("parts");
    store.addEventListener("review", () => this.show());
    store.addEventListener("look", () => this.#mark());
  }

  show() {
    const { parts } = this.store.state;
    const there = new Set(parts.map(({ part }) => part));
    for (const [number, row] of this.#rows) {
      if (there.has(number)) continue;
      row.element.remove();
      this.#rows.delete(number);
    }
    parts.forEach((part, place) => {
      const row = this.#rows.get(part.part) ?? this.#add(part.part);
      if (this.list.children[place] !== row.element) this.list.insertBefore(row.element, this.list.children[place] ?? null);
      this.#fill(row, part, parts);
    });
    this.#mark();
    hideTip();
  }

  #add(number) {
    const row = { element: make("li") };
    const say = (words) => this.store.sayOfPart(number, words);
    row.select = make("button", { className: "number", title: "Select in every photo" });
    row.name = make("input", { type: "text", maxLength: 200, autocomplete: "off", spellcheck: false });
    row.colour = make("input", { type: "color" });
    row.count = make("span", { className: "count" });
    row.hide = make("button", { textContent: "Hide", title: "Do not draw it; it keeps its place in tables" });
    row.background = make("button", { textContent: "Background", title: "It is no part of the object" });
    row.split = make("button", { textContent: "Split", title: "Cut it in two, in every photo" });
    row.merge = make("select", { title: "Make it a piece of another part: with keys, Enter does it" });
    row.members = make("div", { className: "members" });
    row.select.addEventListener("click", () => this.store.select(number));
    row.name.addEventListener("change", () => say({ name: row.name.value }));
    row.name.addEventListener("keydown", (event) => {
      if (event.key === "Escape") row.name.value = this.store.saidOfPart(number).name ?? "";
      if (event.key === "Enter" || event.key === "Escape") row.name.blur();
    });
    row.colour.addEventListener("change", () => say({ colour: row.colour.value }));
    row.hide.addEventListener("click", () => say({ hidden: !this.store.part(number).hidden }));
    row.background.addEventListener("click", () => say({ background: !this.store.part(number).background }));
    row.split.addEventListener("click", () => this.store.split(number));
    this.#listenToMerge(row.merge, (part) => say({ merged_into: part }));
    const line = make("div", { className: "line" });
    const actions = make("div", { className: "line" });
    line.append(row.select, row.name, row.colour);
    actions.append(row.hide, row.background, row.split, row.merge);
    row.element.append(line, row.count, actions, row.members);
    this.#rows.set(number, row);
    return row;
  }

  /** Keys go through the choices one by one: what is passed on the way is not meant, until Enter. */
  #listenToMerge(select, merge) {
    let byKeys = false;
    select.addEventListener("pointerdown", () => { byKeys = false; });
    select.addEventListener("keydown", ({ key }) => {
      byKeys = true;
      if (key === "Enter" && select.value) merge(Number(select.value));
    });
    select.addEventListener("change", () => { if (!byKeys) merge(Number(select.value)); });
    select.addEventListener("blur", () => {
      byKeys = false;
      select.value = "";
    });
  }

  #fill(row, part, parts) {
    const shown = this.store.run.images.length;
    row.select.textContent = part.part;
    row.select.setAttribute("aria-label", `Select ${part.part}, ${part.name}, in every photo`);
    row.name.placeholder = `part ${part.part}`;
    row.name.setAttribute("aria-label", `Name of part ${part.part}`);
    if (document.activeElement !== row.name) row.name.value = this.store.saidOfPart(part.part).name ?? "";
    row.name.title = row.name.value;
    row.colour.value = part.colour;
    row.colour.setAttribute("aria-label", `Colour of ${part.name}`);
    row.count.textContent = part.background ? "called background" : `in ${part.photos} of ${shown} photos`;
    row.hide.setAttribute("aria-pressed", part.hidden);
    row.background.setAttribute("aria-pressed", part.background);
    row.split.setAttribute("aria-label", `Split ${part.name} in two`);
    row.split.disabled = part.background;
    row.element.classList.toggle("off", part.hidden || part.background);
    row.merge.setAttribute("aria-label", `Merge ${part.name} into another part`);
    row.merge.replaceChildren(make("option", { value: "", textContent: "Merge", selected: true, disabled: true }));
    for (const other of parts)
      if (other.part !== part.part) row.merge.append(make("option", { value: other.part, textContent: other.name }));
    row.merge.disabled = parts.length < 2;
    row.members.replaceChildren(...part.members.filter((member) => member !== part.part).map((member) => this.#member(member)));
  }

  #member(number) {
    const name = this.store.saidOfPart(number).name ?? `part ${number}`;
    const button = make("button", { textContent: `${name} ×`, title: `Take ${name} out again` });
    button.addEventListener("click", () => this.store.sayOfPart(number, { merged_into: null }));
    return button;
  }

  #mark() {
    for (const [number, row] of this.#rows) {
      const selected = number === this.store.selected;
      row.select.setAttribute("aria-pressed", selected);
      row.element.classList.toggle("selected", selected);
    }
  }
}
