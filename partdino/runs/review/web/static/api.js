// What the server is asked. Everything is of this site; the cookie goes along by itself.

export class Refused extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The server does not answer. Is partdino review still running?");
  }
  if (answer.ok || answer.status === 409) return answer;
  const reason = answer.headers.get("Content-Type")?.startsWith("application/json")
    ? (await answer.json()).error
    : await answer.text();
  throw new Refused(answer.status, reason);
}

export const getRun = async () => (await ask("/api/run")).json();

/** The review, or null where it is the revision that was seen. */
export async function getReview(seen) {
  const answer = await ask(`/api/review?seen=${seen}`);
  return answer.status === 204 ? null : answer.json();
}

/** The state after changes, and whether they were made: not where another window was first. */
export async function sendChanges(seen, changes) {
  const answer = await ask("/api/review", {
    method: "PATCH",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ seen, changes }),
  });
  return { state: await answer.json(), made: answer.status === 200 };
}

/** What can be saved of the review. */
export const getKinds = async () => (await ask("/api/downloads")).json();

/** Have a file made: its name, its size, and what was warned of. */
export async function makeDownload(kind, photos) {
  const body = JSON.stringify({ kind, photos });
  return (await ask("/api/downloads", { method: "POST", headers: { "Content-Type": "application/json" }, body })).json();
}

/** How many photos are done for what is being made. */
export const getProgress = async () => (await ask("/api/downloads/progress")).json();

export const DOWNLOAD = "/api/downloads/latest";

const whole = (large) => (large ? "&whole" : "");

/** How many objects a photo shows by now. */
export const getObjects = async (id) => (await ask(`/api/images/${id}/objects`)).json();

/** The table of the photos, of one revision. */
export const getTable = async () => (await ask("/api/table")).json();

/** The parts of the run beside, by the numbers of those that they are like. */
export const getBeside = async () => (await ask("/api/beside")).json();

/** The labels of a photo in the run beside, as bytes. */
export async function getLabelsBeside(session, id) {
  const labels = await getBitmap(`/api/images/${id}/beside.png?s=${session}`);
  const { width, height } = labels;
  return { labels: bytesOf(labels), width, height };
}

/** What is to be said to cut a part in two. */
export const getHalves = async (part) => (await ask(`/api/parts/${part}/halves`)).json();

/** What a photo can be mended by: bytes of its size, and the name of these very pieces. */
export async function getPieces(session, id, version) {
  const answer = await ask(`/api/images/${id}/pieces.png?s=${session}&v=${version}`);
  if (answer.status === 204) throw new Refused(204, "Nothing is kept to mend this photo by: label again.");
  const { data, width, height } = pixelsOf(await toBitmap(answer));
  const regions = new Uint16Array(width * height);
  const labels = new Uint8Array(width * height);
  for (let i = 0; i < regions.length; i++) {
    regions[i] = data[4 * i] + 256 * data[4 * i + 1];
    labels[i] = data[4 * i + 2];
  }
  return { regions, labels, width, height, name: answer.headers.get("Pieces") };
}

/** A photo as a bitmap and its label map as bytes; the photo is null where it is gone. */
export async function getPicture(session, id, version, large, signal) {
  const [photo, labels] = await Promise.all([
    getBitmap(`/api/images/${id}/photo.jpg?s=${session}${whole(large)}`, signal),
    getBitmap(`/api/images/${id}/labels.png?s=${session}&v=${version}${whole(large)}`, signal),
  ]);
  const { width, height } = labels;
  return { photo, labels: bytesOf(labels), width, height, version };
}

export const exampleAddress = (session, id, version, part) =>
  `/api/images/${id}/example.jpg?s=${session}&v=${version}&members=${part.members}&colour=${part.colour.slice(1)}`;

/** A photo with its parts as an SVG; null where the photo is gone. */
export async function getFigure(id, opacity) {
  const answer = await ask(`/api/images/${id}/figure.svg?opacity=${opacity}`);
  return answer.status === 204 ? null : answer.blob();
}

/** A picture; null where there is none. */
async function getBitmap(path, signal) {
  const answer = await ask(path, { signal });
  return answer.status === 204 ? null : toBitmap(answer);
}

// As the bytes are: labels are no colours.
const toBitmap = async (answer) =>
  createImageBitmap(await answer.blob(), { colorSpaceConversion: "none", premultiplyAlpha: "none" });

/** The grey values of a bitmap. */
function bytesOf(bitmap) {
  const { data, width, height } = pixelsOf(bitmap);
  const labels = new Uint8Array(width * height);
  for (let i = 0; i < labels.length; i++) labels[i] = data[4 * i];
  return labels;
}

/** The pixels of a bitmap, which is let go: of a large photo it has 100 MB. */
function pixelsOf(bitmap) {
  const { width, height } = bitmap;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  const pixels = context.getImageData(0, 0, width, height);
  canvas.width = canvas.height = 0;
  return pixels;
}
