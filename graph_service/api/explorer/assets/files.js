// Files that a person takes away.

import { h } from "./dom.js";

/** @param {readonly (readonly (string | number | null)[])[]} lines */
export function csvOf(lines) {
  const quoted = (/** @type {string | number | null} */ value) => `"${String(value ?? "").replaceAll('"', '""')}"`;
  return lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}

/** @param {Element} drawing */
export function svgOf(drawing) {
  return `${new XMLSerializer().serializeToString(drawing)}\n`;
}

/**
 * @param {string} kind
 * @param {string} type
 * @param {string} text
 */
export function save(kind, type, text) {
  saveBlob(kind, new Blob([text], { type: `${type};charset=utf-8` }));
}

/**
 * @param {string} kind
 * @param {Blob} blob
 */
export function saveBlob(kind, blob) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: `graph-service.${kind}` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
