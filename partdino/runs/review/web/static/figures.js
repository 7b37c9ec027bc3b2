// Figures for a paper: a photo with its parts, and the legend.

import { getFigure } from "./api.js";
import { drawPicture } from "./draw.js";

const ROW = 28; // of the legend, as all of these in its units
const CHIP = 18;
const LETTER = 9; // no letter is wider on average
const MARGIN = 8;

/** Save a photo with its parts as they are drawn, at the size that they are loaded in. */
export async function saveFigure(store, id, picture, layer) {
  const { width, height } = picture;
  const canvas = new OffscreenCanvas(width, height);
  drawPicture(canvas.getContext("2d"), picture, layer, store, { x: 0, y: 0, width, height });
  save(await canvas.convertToBlob({ type: "image/png" }), `${stem(store, id)}.parts.png`);
}

/** Save a photo with its parts as shapes. */
export async function saveDrawing(store, id) {
  try {
    const figure = await getFigure(id, store.opacity);
    if (figure) save(figure, `${stem(store, id)}.parts.svg`);
    else store.say("The photo is gone, or is another one than was labelled.");
  } catch (error) {
    store.say(`Not saved: ${error.message}`);
  }
}

const stem = (store, id) => store.run.images[id].replace(/\.[^./]*$/, "").replaceAll("/", "_");

/** Save the colours and names of the parts that are drawn. */
export function saveLegend(store) {
  const parts = store.state.parts.filter((part) => !part.background && !part.hidden);
  const document_ = document.implementation.createDocument("http://www.w3.org/2000/svg", "svg");
  const svg = document_.documentElement;
  const longest = Math.max(0, ...parts.map(({ name }) => name.length));
  setAll(svg, {
    width: 2 * MARGIN + ROW + LETTER * longest, height: 2 * MARGIN + ROW * parts.length,
    "font-family": "sans-serif", "font-size": 15,
  });
  parts.forEach(({ name, colour }, place) => {
    const top = MARGIN + ROW * place;
    const chip = document_.createElementNS(svg.namespaceURI, "rect");
    setAll(chip, { x: MARGIN, y: top + (ROW - CHIP) / 2, width: CHIP, height: CHIP, rx: 3, fill: colour });
    const text = document_.createElementNS(svg.namespaceURI, "text");
    setAll(text, { x: MARGIN + ROW, y: top + ROW / 2, "dominant-baseline": "central" });
    text.textContent = name;
    svg.append(chip, text);
  });
  const content = new XMLSerializer().serializeToString(document_);
  save(new Blob([content], { type: "image/svg+xml" }), `${store.run.title}.legend.svg`);
}

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // when it is surely written
}
