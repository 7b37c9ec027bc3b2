// Parts drawn over a photo.

// Colours as 0xAABBGGRR, as a canvas has them in memory.
const LINE = 0xe6ffffff; // white, almost opaque
const OPAQUE = 0xff000000;
const FAINT = 0x80000000; // of what is not selected
const THICK_FROM = 800; // longest side in pixels from which lines are two pixels wide

/** The overlay of a label map as a canvas of its size. */
export function overlay(picture, store) {
  const { labels, width, height } = picture;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const parts = new Uint8Array(labels.length);
  const colours = coloursOf(store);
  for (let i = 0; i < labels.length; i++) {
    parts[i] = store.state.drawn[labels[i]];
    pixels[i] = colours[parts[i]];
  }
  const thick = Math.max(width, height) >= THICK_FROM;
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const right = x + 1 < width && parts[i] !== parts[i + 1];
      const below = y + 1 < height && parts[i] !== parts[i + width];
      if (right || below) pixels[i] = LINE;
      if (right && thick) pixels[i + 1] = LINE;
      if (below && thick) pixels[i + width] = LINE;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Draw a photo, grey where it is gone, and its overlay into the area of a context. */
export function drawPicture(context, picture, layer, store, area) {
  const { x, y, width, height } = area;
  context.globalAlpha = 1;
  if (picture.photo) context.drawImage(picture.photo, x, y, width, height);
  else {
    context.fillStyle = "#808080";
    context.fillRect(x, y, width, height);
  }
  if (store.bare) return;
  context.globalAlpha = store.opacity;
  context.drawImage(layer, x, y, width, height);
  context.globalAlpha = 1;
}

/** The part at a place of an element that shows a picture (its share of width and height). */
export function partAt(picture, shareX, shareY, store) {
  const x = Math.floor(shareX * picture.width);
  const y = Math.floor(shareY * picture.height);
  if (x < 0 || y < 0 || x >= picture.width || y >= picture.height) return 0;
  return store.state.lookup[picture.labels[y * picture.width + x]];
}

function coloursOf(store) {
  const colours = new Uint32Array(256);
  colours[0] = store.selected ? FAINT : 0;
  for (const { part, colour } of store.state.parts) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    const faint = store.selected && store.selected !== part;
    // What is not selected is dark, with a breath of its colour.
    colours[part] = faint
      ? FAINT | ((blue >> 2) << 16) | ((green >> 2) << 8) | (red >> 2)
      : OPAQUE | (blue << 16) | (green << 8) | red;
  }
  return colours;
}
