// What the page knows, and the only place that changes it. Whoever shows it listens to "review"
// (what is said has changed) and "look" (what is selected, or how the overlay is drawn).

import { getHalves, getReview, getRun, sendChanges } from "./api.js";

const ASK_EVERY = 2000; // ms, for what other windows have changed

export class Store extends EventTarget {
  selected = null; // a part's number
  opacity = 0.6;
  bare = false; // the overlay is hidden while a key is held
  #done = []; // changes with their inverses, for undo
  #undone = [];
  #pending = Promise.resolve(); // one change after another
  #trouble = null;

  static async open() {
    const store = new Store();
    store.run = await getRun();
    store.#remember();
    store.#take(await getReview(-1));
    setInterval(() => store.#askForNews(), ASK_EVERY);
    return store;
  }

  get canUndo() { return this.#done.length > 0; }
  get canRedo() { return this.#undone.length > 0; }
  get checked() { return this.run.images.filter((name) => this.state.said.photos[name]).length; }

  part(number) { return this.state.parts.find((part) => part.part === number); }
  saidOfPart(number) { return this.state.said.parts[number] ?? {}; }
  verdict(id) { return this.state.said.photos[this.run.images[id]] ?? null; }
  mended(id) { return this.state.said.mended[this.run.images[id]] ?? null; }
  /** A word for what the labels of a photo depend on. */
  version(id) { return this.state.versions[id] ?? this.state.version; }
  reasons(id) { return this.#reasons.get(id) ?? []; }

  /** Say more of a part: null takes a word back. */
  sayOfPart(number, words) {
    return this.#change(() => [{ part: number, said: without({ ...this.saidOfPart(number), ...words }) }]);
  }

  sayOfPhoto(id, verdict) {
    return this.#change(() => [{ photo: this.run.images[id], said: verdict }]);
  }

  /** Say what pixels of a photo were given: null takes all back. */
  sayMended(id, said) {
    return this.#change(() => [{ mended: this.run.images[id], said }]);
  }

  /** Cut a part in two by its small clusters: all photos follow. */
  split(number) {
    return this.#change(async () => {
      this.say(`Cutting ${this.part(number).name} in two …`); // of thousands of photos it takes seconds
      const { split, said } = await getHalves(number);
      this.say(`${this.part(number).name} is cut in two: the new part has number ${split}.`);
      return [{ split, said }];
    });
  }

  undo() { return this.#move(this.#done, this.#undone); }
  redo() { return this.#move(this.#undone, this.#done); }

  select(number) {
    this.selected = number === this.selected ? null : number;
    this.#tell("look");
  }

  look(how) {
    Object.assign(this, how);
    this.#tell("look");
  }

  say(message) { this.dispatchEvent(new CustomEvent("message", { detail: message })); }

  #reasons = new Map();

  /** Take up what this window has done before it was loaded again. */
  #remember() {
    try {
      const [done, undone] = JSON.parse(sessionStorage.getItem(this.run.session)) ?? [[], []];
      this.#done = done;
      this.#undone = undone;
    } catch { /* the browser keeps nothing: undo begins anew */ }
  }

  #keep() {
    try {
      sessionStorage.setItem(this.run.session, JSON.stringify([this.#done, this.#undone]));
    } catch {
      sessionStorage.removeItem(this.run.session); // more than it keeps
    }
  }

  #change(make) {
    return this.#queue(async () => {
      const changes = await make();
      const inverse = this.#inverse(changes);
      if (JSON.stringify(changes) === JSON.stringify(inverse)) return;
      if (await this.#send(changes)) {
        this.#done.push(inverse);
        this.#undone = [];
      }
    });
  }

  #move(from, to) {
    return this.#queue(async () => {
      const changes = from.pop();
      if (!changes) return;
      const inverse = this.#inverse(changes);
      if (await this.#send(changes)) to.push(inverse);
      else from.push(changes);
    });
  }

  #inverse(changes) {
    const { said } = this.state;
    const kept = { part: said.parts, photo: said.photos, split: said.splits, mended: said.mended };
    return changes.map((change) => {
      const kind = Object.keys(kept).find((each) => each in change);
      return { [kind]: change[kind], said: kept[kind][change[kind]] ?? null };
    });
  }

  #queue(work) {
    this.#pending = this.#pending.then(async () => {
      try {
        await work();
      } catch (error) {
        this.say(`Not saved: ${error.message}`);
      }
      this.#keep();
      this.#tell("review"); // also where nothing has changed: fields show what is kept
    });
    return this.#pending;
  }

  async #send(changes) {
    const { state, made } = await sendChanges(this.state.revision, changes);
    this.#take(state);
    if (!made) this.say("Another window has changed the review meanwhile: look, and do it again.");
    return made;
  }

  async #askForNews() {
    if (document.hidden) return;
    await this.#queueQuietly(async () => {
      try {
        const state = await getReview(this.state.revision);
        if (state) {
          this.#take(state);
          this.say("Another window has changed the review.");
          this.#tell("review");
        } else if (this.#trouble) this.say("The server answers again.");
        this.#trouble = null;
      } catch (error) {
        if (this.#trouble !== error.message) this.say(error.message);
        this.#trouble = error.message;
      }
    });
  }

  #queueQuietly(work) {
    this.#pending = this.#pending.then(work);
    return this.#pending;
  }

  #take(state) {
    // After a change, mended photos are told of that were changed.
    if ("since" in state) {
      const mended = { ...this.state.said.mended, ...state.said.mended };
      state.said.mended = Object.fromEntries(Object.entries(mended).filter(([, said]) => said));
    }
    this.state = state;
    this.#reasons = new Map(state.look_at);
    if (this.part(this.selected)?.background ?? true) this.selected = null;
  }

  #tell(what) { this.dispatchEvent(new Event(what)); }
}

/** What is said, without words that say nothing; null where none is left. */
function without(said) {
  const kept = Object.entries(said).filter(([, value]) => value !== null && value !== false && value !== "");
  return kept.length ? Object.fromEntries(kept) : null;
}
