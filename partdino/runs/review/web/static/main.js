// The page of `partdino review`: puts its pieces together.

import { getTable } from "./api.js";
import { Examples } from "./examples.js";
import { Exports } from "./exports.js";
import { saveLegend } from "./figures.js";
import { Grid, photosOf } from "./grid.js";
import { Parts } from "./parts.js";
import { Store } from "./store.js";
import { Table } from "./table.js";
import { Thumbs } from "./thumbs.js";
import { Viewer } from "./viewer.js";

const SAID_FOR = 6000; // ms that a message stays
const ROWS = 500; // of the table, in the page at once

const element = (id) => document.getElementById(id);

async function begin() {
  history.replaceState(null, "", "/"); // the token is in the cookie now, and nobody's to see
  const store = await Store.open();
  const viewer = new Viewer(store);
  const grid = new Grid(store, new Thumbs(store.run.session), (id) => viewer.open(id, grid.order));
  const examples = new Examples(store, (id) => viewer.open(id, photosOf(store, "all")));
  const parts = new Parts(store);
  document.title = `${store.run.title} · Part-DINO review`;
  element("title").textContent = store.run.title;
  const table = new Table(store, { load: getTable, open: (id, order) => viewer.open(id, order), most: ROWS });
  new Exports();
  buttons(store, grid, viewer, { examples, table });
  keys(store, viewer);
  store.addEventListener("message", (event) => say(event.detail));
  store.addEventListener("review", () => tellCounts(store));
  tellCounts(store);
  parts.show();
  grid.show("all");
}

function buttons(store, grid, viewer, { examples, table }) {
  element("undo").addEventListener("click", () => store.undo());
  element("redo").addEventListener("click", () => store.redo());
  element("save-legend").addEventListener("click", () => saveLegend(store));
  element("help").addEventListener("click", () => element("keys").showModal());
  element("filter").addEventListener("change", (event) => grid.show(event.target.value));
  element("opacity").addEventListener("input", (event) => store.look({ opacity: event.target.value / 100 }));
  element("check").addEventListener("click", () => {
    const doubtful = photosOf(store, "look");
    const order = [...new Set([...doubtful, ...photosOf(store, "all")])].filter((id) => !store.verdict(id));
    if (order.length) viewer.open(order[0], order);
    else say("All photos are checked.");
  });
  const views = {
    photos: { place: "grid", show: () => grid.show(grid.filter) },
    parts: { place: "examples", show: () => examples.show() },
    table: { place: "table", show: () => table.show() },
  };
  const show = (chosen) => {
    for (const [view, { place }] of Object.entries(views)) {
      element(`view-${view}`).setAttribute("aria-pressed", view === chosen);
      element(place).hidden = view !== chosen;
    }
    element("filter-label").hidden = chosen !== "photos";
    views[chosen].show();
  };
  for (const view of Object.keys(views)) element(`view-${view}`).addEventListener("click", () => show(view));
}

function keys(store, viewer) {
  const typing = (event) => event.target.matches("input[type=text], select");
  addEventListener("keydown", (event) => {
    if (typing(event)) return;
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey) {
      if (key === "z" && !event.shiftKey) store.undo();
      else if (key === "y" || key === "z") store.redo();
      else return;
    } else if (key === "h") {
      if (!store.bare) store.look({ bare: true });
    } else if (key === "q" && !viewer.isOpen) element("check").click();
    else if (key === "e" && !viewer.isOpen) element("export").click();
    else if (/^[1-9]$/.test(key)) {
      const part = store.part(Number(key));
      if (part) store.select(part.part);
    } else return;
    event.preventDefault();
  });
  const unhide = () => { if (store.bare) store.look({ bare: false }); };
  addEventListener("keyup", (event) => { if (event.key.toLowerCase() === "h") unhide(); });
  addEventListener("blur", unhide);
}

function tellCounts(store) {
  const { length } = store.run.images;
  element("count").textContent = `${store.checked} of ${length} checked`;
  document.body.dataset.revision = store.state.revision; // what is shown by now: pages are driven in tests
  element("undo").disabled = !store.canUndo;
  element("redo").disabled = !store.canRedo;
}

let silence;
function say(message) {
  const status = element("status");
  // In an open dialog, which makes the rest of the page inert.
  (document.querySelector("dialog[open]") ?? document.body).append(status);
  status.textContent = message;
  clearTimeout(silence);
  silence = setTimeout(() => { status.textContent = ""; }, SAID_FOR);
}

begin().catch((error) => say(error.message));
