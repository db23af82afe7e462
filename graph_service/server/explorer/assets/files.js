// Files that a person takes away.

import { h } from "./dom.js";

/**
 * The same rule as `spreadsheet` of `graph_service/text/visible.py`: no text is computed.
 * @param {readonly (readonly (string | number | null)[])[]} lines
 */
export function csvOf(lines) {
  const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const quoted = (/** @type {string | number | null} */ value) => {
    const text = String(value ?? "");
    const guarded = /^[=+\-@\t\r]/.test(text) && !isNumber.test(text) ? `'${text}` : text;
    return `"${guarded.replaceAll('"', '""')}"`;
  };
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
