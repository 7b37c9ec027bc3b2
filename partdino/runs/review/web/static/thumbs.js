// Small pictures of photos, loaded when they are asked for: the last ones asked for come first.

import { getPicture } from "./api.js";

const KEPT = 300; // of some 400 kB each
const AT_ONCE = 6; // what browsers open to one server

export class Thumbs {
  #session;
  #kept = new Map(); // by id, the least recently used first
  #wanted = new Map(); // by id: who is told
  #loading = 0;

  constructor(session) {
    this.#session = session;
  }

  /** Tell the picture of a photo, at once where it is kept; null where it cannot be had. */
  want(id, version, tell) {
    const picture = this.#kept.get(id);
    if (picture?.version !== version) {
      this.#wanted.set(id, { version, tell });
      this.#next();
      return;
    }
    this.#kept.delete(id);
    this.#kept.set(id, picture);
    tell(picture);
  }

  /** Load these before what else is wanted, the first of them first. */
  prefer(ids) {
    for (const id of [...ids].reverse()) {
      const wanted = this.#wanted.get(id);
      if (!wanted) continue;
      this.#wanted.delete(id);
      this.#wanted.set(id, wanted);
    }
  }

  /** What was scrolled away is not loaded any more. */
  forget(id) {
    this.#wanted.delete(id);
  }

  #next() {
    while (this.#loading < AT_ONCE && this.#wanted.size) {
      const [id, { version, tell }] = [...this.#wanted].at(-1);
      this.#wanted.delete(id);
      this.#loading++;
      this.#load(id, version, tell);
    }
  }

  async #load(id, version, tell) {
    let picture = null;
    try {
      picture = await getPicture(this.#session, id, version, false);
      this.#keep(id, picture);
    } catch {
      // Shown as one that cannot be had; asked for again when it comes into view again.
    }
    this.#loading--;
    tell(picture);
    this.#next();
  }

  #keep(id, picture) {
    this.#kept.get(id)?.photo?.close();
    this.#kept.delete(id);
    this.#kept.set(id, picture);
    if (this.#kept.size <= KEPT) return;
    const [oldest, { photo }] = this.#kept.entries().next().value;
    this.#kept.delete(oldest);
    photo?.close();
  }
}
