// The table of the photos: sorted by any column, filtered and coloured by one of the user's own.

import { make } from "./make.js";

const MOST_VALUES = 12; // that are told apart by colour

export class Table {
  #table = null;
  #by = null; // the column that is sorted by, as photos are in their order at first
  #down = false;
  #wanted = ""; // "column value", JSON

  /** `load` gets the table, `open` shows a photo, and no more than `most` rows are in the page at once. */
  constructor(store, { load, open, most }) {
    Object.assign(this, { store, load, open, most });
    this.place = document.getElementById("table");
    this.filter = document.getElementById("table-filter");
    this.count = document.getElementById("table-count");
    this.body = document.getElementById("table-rows");
    this.filter.addEventListener("change", () => {
      this.#wanted = this.filter.value;
      this.#draw();
    });
    store.addEventListener("review", () => this.show());
  }

  async show() {
    if (this.place.hidden || this.#table?.revision === this.store.state.revision) return;
    try {
      const table = await this.load();
      if (table.revision < this.#table?.revision) return; // a later answer was quicker
      this.#table = table;
    } catch (error) {
      this.store.say(error.message);
      return;
    }
    this.#fillFilter();
    this.#draw();
  }

  #own() {
    return this.#table.columns.flatMap((column, at) => {
      if (!column.own) return [];
      const values = [...new Set(this.#table.rows.map((row) => row[at]).filter((value) => value !== null))].sort();
      return [{ at, name: column.name, values }];
    });
  }

  #fillFilter() {
    this.filter.replaceChildren(make("option", { value: "", textContent: "all photos" }));
    for (const { at, name, values } of this.#own()) {
      if (values.length > MOST_VALUES) continue;
      const group = make("optgroup", { label: name });
      for (const value of values)
        group.append(make("option", { value: JSON.stringify([at, value]), textContent: `${name}: ${value}` }));
      this.filter.append(group);
    }
    this.filter.value = this.#wanted;
    if (this.filter.selectedIndex < 0) this.#wanted = this.filter.value = "";
    document.getElementById("table-filter-label").hidden = this.filter.options.length < 2;
  }

  /** The photos' ids, filtered and sorted: what is absent comes last. */
  #order() {
    const { rows, columns } = this.#table;
    let ids = rows.map((_, id) => id);
    if (this.#wanted) {
      const [at, value] = JSON.parse(this.#wanted);
      ids = ids.filter((id) => rows[id][at] === value);
    }
    const at = this.#by;
    if (at === null || at >= columns.length) return ids;
    const compare = columns[at].number ? (a, b) => a - b : (a, b) => a.localeCompare(b);
    return ids.sort((first, second) => {
      const [a, b] = [rows[first][at], rows[second][at]];
      if (a === null || b === null) return (a === null) - (b === null);
      return this.#down ? compare(b, a) : compare(a, b);
    });
  }

  #draw() {
    const order = this.#order();
    const shown = order.slice(0, this.most);
    this.count.textContent = shown.length < order.length
      ? `${shown.length} of ${order.length} photos shown: sort, or filter`
      : `${order.length} photos`;
    const table = make("table");
    const colours = this.#colours();
    const head = make("tr");
    this.#table.columns.forEach((column, at) => head.append(this.#heading(column, at)));
    const rows = shown.map((id) => this.#row(id, order, colours));
    const [header, body] = [make("thead"), make("tbody")];
    header.append(head);
    body.append(...rows);
    table.append(header, body);
    const focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.at : null;
    this.body.replaceChildren(table);
    if (focused) this.body.querySelector(`thead button[data-at="${focused}"]`)?.focus();
  }

  #heading(column, at) {
    const heading = make("th", { scope: "col" });
    const sorted = this.#by === at;
    heading.setAttribute("aria-sort", sorted ? (this.#down ? "descending" : "ascending") : "none");
    const arrow = sorted ? (this.#down ? " ▼" : " ▲") : "";
    const button = make("button", { textContent: column.name + arrow, title: "Sort by this" });
    button.dataset.at = at;
    button.addEventListener("click", () => {
      // The largest first: they are what one looks for.
      this.#down = sorted ? !this.#down : column.number;
      this.#by = at;
      this.#draw();
    });
    heading.append(button);
    return heading;
  }

  #row(id, order, colours) {
    const row = make("tr");
    this.#table.rows[id].forEach((value, at) => {
      const cell = make("td", { className: this.#table.columns[at].number ? "numeric" : "" });
      if (at === 0) {
        const button = make("button", { textContent: value, title: `Open ${value}` });
        button.addEventListener("click", () => this.open(id, order));
        cell.append(button);
      } else {
        const colour = colours.get(at)?.get(value);
        if (colour) {
          const chip = make("span", { className: "chip" });
          chip.style.background = colour;
          cell.append(chip, "\u00a0"); // one line
        }
        const { digits } = this.#table.columns[at];
        cell.append(digits && value !== null ? value.toFixed(digits) : value ?? "");
      }
      row.append(cell);
    });
    return row;
  }

  /** Colours of the values of the user's columns that have few, evenly around the circle. */
  #colours() {
    return new Map(this.#own().filter(({ at, values }) => values.length <= MOST_VALUES && !this.#table.columns[at].number)
      .map(({ at, values }) => [at, new Map(values.map((value, i) => [value, `hsl(${Math.round(i * 360 / values.length)} 65% 50%)`]))]));
  }
}
