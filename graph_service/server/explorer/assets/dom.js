// Elements made by the DOM alone: no text is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | null | undefined | false | readonly Child[]} Child
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes
 */

/**
 * Returns an element. `name` may end with classes: "p.note". A function is a listener.
 * @param {string} name
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  return /** @type {HTMLElement} */ (fill(element, attributes, children));
}

/**
 * Returns an element of SVG.
 * @param {string} name
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function s(name, attributes, ...children) {
  return /** @type {SVGElement} */ (fill(document.createElementNS(SVG, name), attributes, children));
}

/**
 * @param {Element} element
 * @param {Attributes | null | undefined} attributes
 * @param {readonly Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {readonly Child[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Puts children in place of those that an element has, and keeps the focus where it was: elements
 * that may have it are known by their attribute data-key.
 * @param {Element} element
 * @param {...Child} children
 */
export function show(element, ...children) {
  const focused = element.contains(document.activeElement)
    ? document.activeElement?.getAttribute("data-key")
    : null;
  element.replaceChildren();
  fill(element, null, children);
  if (focused) {
    const again = element.querySelector(`[data-key="${CSS.escape(focused)}"]`);
    if (again instanceof HTMLElement || again instanceof SVGElement) {
      again.focus({ preventScroll: true });
    }
  }
}

/**
 * Returns the element of an id, which the page has.
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element;
}

/** @param {number} value */
export function whole(value) {
  return value.toLocaleString("en");
}

/** @param {number} share */
export function percent(share) {
  return `${Math.round(100 * share)} %`;
}

/**
 * A text for a person: an empty one is said to be, and its direction is kept to itself.
 * @param {string} text
 * @param {string} [name] the element
 * @returns {HTMLElement}
 */
export function said(text, name = "bdi") {
  return text.trim() ? h(name, null, text) : h(`${name}.empty`, null, "(no text)");
}

/**
 * A button.
 * @param {string} text
 * @param {() => void} press
 * @param {Attributes} [attributes]
 */
export function button(text, press, attributes = {}) {
  return h("button", { type: "button", ...attributes, click: press }, text);
}

/**
 * The address of an entity at its source; none for an id that no web page stands at.
 * @param {string} id
 * @returns {string}
 */
export function sourceOf(id) {
  if (/^[QL][1-9]\d*$/.test(id)) return `https://www.wikidata.org/wiki/${id}`;
  if (/^P[1-9]\d*$/.test(id)) return `https://www.wikidata.org/wiki/Property:${id}`;
  return /^https?:\/\/[^\s]+$/.test(id) ? id : "";
}

/**
 * A link to another host, which a person follows.
 * @param {string} address
 * @param {string} text
 */
export function outward(address, text) {
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, text);
}
