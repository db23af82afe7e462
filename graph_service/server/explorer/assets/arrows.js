// The lines of a picture and the arrows that they end in.

import { s } from "./dom.js";
import { LOOKS } from "./legend.js";

/** @typedef {import("./union.js").Edge} Edge */

/** How large an arrow is, and one of the answer's path. */
const ARROW = 8;
const BOLD_ARROW = 13;

/**
 * @param {string} name of the picture
 * @param {string} status
 * @param {boolean} onPath
 */
function markerOf(name, status, onPath) {
  return `${name}-${status}${onPath ? "-path" : ""}`;
}

/** @param {string} name */
export function arrows(name) {
  const defs = s("defs");
  for (const [status, look] of Object.entries(LOOKS)) {
    for (const onPath of [false, true]) {
      const size = onPath ? BOLD_ARROW : ARROW;
      const marker = s("marker", {
        id: markerOf(name, status, onPath),
        viewBox: "0 0 8 8",
        refX: 7.5,
        refY: 4,
        markerWidth: size,
        markerHeight: size,
        markerUnits: "userSpaceOnUse",
        orient: "auto",
        class: `arrow ${status}${onPath ? " on-path" : ""}`,
      });
      marker.append(s("path", { d: "M0 0.8 L8 4 L0 7.2 Z", fill: look.colour }));
      defs.append(marker);
    }
  }
  return defs;
}

/**
 * @param {Edge} edge
 * @param {string} d
 * @param {boolean} selected
 * @param {string} name of the picture
 */
export function line(edge, d, selected, name) {
  const look = LOOKS[edge.status];
  const marks = `${edge.onPath ? " on-path" : ""}${selected ? " selected" : ""}`;
  const one = s("g", { class: `edge ${edge.status}${marks}`, "data-edge": edge.id });
  // A wide line that is not seen takes the pointer.
  one.append(
    s("path", { d, fill: "none", stroke: "transparent", "stroke-width": 14, class: "reach" }),
    s("path", {
      d,
      class: "stroke",
      fill: "none",
      stroke: look.colour,
      "stroke-width": look.width + (selected ? 1.6 : 0) + (edge.onPath ? 1.7 : 0),
      "stroke-dasharray": edge.side === "after" ? null : look.dash || null,
      "marker-end": `url(#${markerOf(name, edge.status, edge.onPath)})`,
    }),
  );
  return one;
}
