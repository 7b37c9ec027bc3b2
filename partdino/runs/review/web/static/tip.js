// What the pointer is on. Names are text, whatever they hold.

const tip = document.getElementById("tip");

export function showTip(event, part) {
  tip.hidden = !part;
  if (!part) return;
  tip.textContent = part.name;
  // Inside a dialog, or it would lie below it.
  (document.querySelector("dialog[open]") ?? document.body).append(tip);
  const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4);
  const y = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4);
  tip.style.transform = `translate(${x}px, ${y}px)`;
}

export function hideTip() {
  tip.hidden = true;
}
