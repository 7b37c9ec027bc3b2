// An element of the page. Names are set as properties: they are text, whatever they hold.

export function make(tag, properties = {}) {
  return Object.assign(document.createElement(tag), properties);
}
