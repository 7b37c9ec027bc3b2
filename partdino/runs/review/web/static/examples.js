// Each part up close: its most typical examples, then the least typical ones.

import { exampleAddress } from "./api.js";
import { make } from "./make.js";

export class Examples {
  constructor(store, open) {
    this.store = store;
    this.open = open;
    this.place = document.getElementById("examples");
    store.addEventListener("review", () => this.show());
    // What browsers take for near is some screens away, and those in view would have to wait.
    this.inView = new IntersectionObserver((seen) => this.#load(seen), { root: this.place, rootMargin: "50%" });
  }

  #load(seen) {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      target.src = target.dataset.src;
      this.inView.unobserve(target);
    }
  }

  show() {
    if (this.place.hidden) return;
    const { parts, version, versions } = this.store.state;
    const shown = JSON.stringify([parts, version, versions]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.inView.disconnect();
    this.place.replaceChildren(...this.store.state.parts.filter((part) => !part.background).map((part) => this.#part(part)));
  }

  #part(part) {
    const section = make("article");
    const heading = make("h2");
    const chip = make("span", { className: "chip" });
    chip.style.background = part.colour;
    heading.append(chip, part.name);
    section.append(heading, this.#row("most typical", part, part.typical));
    if (part.odd.length) section.append(this.#row("least typical", part, part.odd));
    return section;
  }

  #row(title, part, ids) {
    const row = make("div", { className: "examples" });
    row.append(make("h3", { textContent: ids.length ? title : "in no photo" }));
    for (const id of ids) {
      const name = this.store.run.images[id];
      const button = make("button", { title: name });
      const picture = make("img", { alt: `${part.name} in ${name}`, width: 120, height: 120 });
      picture.dataset.src = exampleAddress(this.store.run.session, id, this.store.version(id), part);
      this.inView.observe(picture);
      button.append(picture);
      button.addEventListener("click", () => this.open(id));
      row.append(button);
    }
    return row;
  }
}
