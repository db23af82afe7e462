// What the marks and colours of a picture mean, and its statements in words.

import { coloured } from "./classes.js";
import { h } from "./dom.js";

/**
 * @typedef {import("./union.js").Edge} Edge
 * @typedef {import("./union.js").Picture} Picture
 */

/** How each status is drawn: by sign, dash, width and colour. */
export const LOOKS = {
  kept: { sign: "", dash: "", width: 1.3, colour: "#6b7280", words: "kept" },
  removed: { sign: "−", dash: "6 4", width: 1.8, colour: "#b3401e", words: "removed" },
  added: { sign: "+", dash: "", width: 2.6, colour: "#2456a6", words: "added" },
  changed: { sign: "≠", dash: "9 3 2 3", width: 2.2, colour: "#7a5b00", words: "changed" },
  unknown: { sign: "?", dash: "1 4", width: 1.3, colour: "#6b7280", words: "not compared" },
};

const SIDES = /** @type {const} */ (["before", "after"]);

/**
 * Returns what a side of a changed statement is called.
 * @param {string} side
 */
export const sideWords = (side) => `${side} the change`;

/**
 * Returns what the marks of nodes and lines mean, as items of a list.
 * @param {[string, (typeof LOOKS)["kept"]][]} looks
 * @param {readonly import("./union.js").Node[]} nodes of a question; around an entity none
 */
export function statusLegend(looks, nodes) {
  const place = (/** @type {boolean} */ shown, /** @type {string} */ kind, /** @type {string} */ words) =>
    shown && h("li", null, h(`span.swatch.${kind}`), words);
  return [
    place(nodes.some((node) => node.start), "start", "of the question"),
    place(nodes.some((node) => node.answer), "in-answer", "in the answer"),
    ...(looks.length > 1 || looks.some(([status]) => status !== "kept")
      ? looks.flatMap(([status, look]) => (status === "changed" ? SIDES : [""]).map((side) =>
          h(`li.line.${status}${side && `.${side}`}`, null, h("span.line"), `${look.sign} ${side ? sideWords(side) : look.words}`.trim())))
      : []),
  ];
}

/**
 * Returns what the colours of a picture mean, as items of a list.
 * @param {Picture} shown
 * @param {ReadonlyMap<string, string>} classes
 */
export function pictureLegend(shown, classes) {
  return coloured(shown.nodes, classes).map((name, kind) =>
    h("li", null, h(`span.swatch.kind.kind-${kind}`), h("bdi", null, name)),
  );
}

/**
 * Returns a statement in words.
 * @param {Edge} edge
 * @param {readonly import("./union.js").Node[]} nodes
 */
export function sentenceOf(edge, nodes) {
  const label = (/** @type {string} */ id) => nodes.find((node) => node.id === id)?.label.trim() || "(no text)";
  const { words } = LOOKS[edge.status];
  const state = edge.status === "kept" ? "" : ` (${words}${edge.side ? `, ${edge.side}` : ""})`;
  return `${label(edge.source)} — ${edge.label}: ${label(edge.target)}${state}`;
}
