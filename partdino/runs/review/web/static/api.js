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

const whole = (large) => (large ? "&whole" : "");

/** A photo as a bitmap and its label map as bytes; the photo is null where it is gone. */
export async function getPicture(session, id, large, signal) {
  const [photo, labels] = await Promise.all([
    getBitmap(`/api/images/${id}/photo.jpg?s=${session}${whole(large)}`, signal).catch((error) => {
      if (error.status === 404) return null;
      throw error;
    }),
    getBitmap(`/api/images/${id}/labels.png?s=${session}${whole(large)}`, signal),
  ]);
  const { width, height } = labels;
  return { photo, labels: bytesOf(labels), width, height };
}

export const exampleAddress = (session, id, part) =>
  `/api/images/${id}/example.jpg?s=${session}&members=${part.members}&colour=${part.colour.slice(1)}`;

async function getBitmap(path, signal) {
  const blob = await (await ask(path, { signal })).blob();
  // As the bytes are: labels are no colours.
  return createImageBitmap(blob, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
}

/** The grey values of a bitmap, which is let go: of a large photo it has 100 MB. */
function bytesOf(bitmap) {
  const { width, height } = bitmap;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  const { data } = context.getImageData(0, 0, width, height);
  canvas.width = canvas.height = 0;
  const labels = new Uint8Array(width * height);
  for (let i = 0; i < labels.length; i++) labels[i] = data[4 * i];
  return labels;
}
