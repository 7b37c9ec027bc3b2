// Saving what was found and said: a report, measurements, files for other tools.

import { DOWNLOAD, getKinds, getProgress, makeDownload } from "./api.js";
import { make } from "./make.js";

const ASK_EVERY = 500; // ms, how far it is

const element = (id) => document.getElementById(id);

export class Exports {
  #kinds = [];

  constructor() {
    this.dialog = element("exports");
    this.kind = element("export-kind");
    this.photos = element("export-photos");
    this.said = element("export-said");
    element("export").addEventListener("click", () => this.#open());
    element("export-close").addEventListener("click", () => this.dialog.close());
    element("export-save").addEventListener("click", () => this.#save());
    this.kind.addEventListener("change", () => this.#choose());
  }

  async #open() {
    if (!this.dialog.open) this.dialog.showModal();
    try {
      if (!this.#kinds.length) this.#fill(await getKinds());
    } catch (error) {
      this.said.textContent = error.message;
    }
  }

  #fill(kinds) {
    this.#kinds = kinds;
    const groups = { "To read": [], "For other tools": [] };
    for (const { kind, help, photos } of kinds) {
      if (photos === "never") groups["To read"].push(make("option", { value: kind, textContent: help }));
      else groups["For other tools"].push(make("option", { value: kind, textContent: `${help} (${kind})` }));
    }
    this.kind.replaceChildren(...Object.entries(groups).map(([label, options]) => {
      const group = make("optgroup", { label });
      group.append(...options);
      return group;
    }));
    this.#choose();
  }

  #choose() {
    const { photos } = this.#kinds.find(({ kind }) => kind === this.kind.value);
    element("export-photos-label").hidden = photos === "never";
    this.photos.disabled = photos === "always";
    if (photos === "always") this.photos.checked = true;
    this.said.textContent = "";
  }

  async #save() {
    element("export-save").disabled = true;
    this.said.textContent = "Reading the photos …";
    const asking = setInterval(() => this.#tellProgress(), ASK_EVERY);
    let words;
    try {
      const { name, bytes, warnings } = await makeDownload(this.kind.value, this.photos.checked);
      make("a", { href: DOWNLOAD, download: name }).click();
      words = [`${name}, ${Math.ceil(bytes / 1000).toLocaleString("en")} kB, is in the folder that your browser saves to.`, ...warnings].join("\n");
    } catch (error) {
      words = `Not saved: ${error.message}`;
    }
    clearInterval(asking);
    element("export-save").disabled = false;
    this.said.textContent = words;
  }

  async #tellProgress() {
    try {
      const { done, total } = await getProgress();
      if (element("export-save").disabled && total) this.said.textContent = `${done} of ${total} photos`;
    } catch { /* what has made it says so */ }
  }
}
