// Draws a graph as SVG. Its attributes are those of a light page, so that the file stands by itself;
// the style sheet of the page says otherwise where it is dark.

import { s } from "./dom.js";
import { HEIGHT, MOST_CHARACTERS, order, placesOf, short, widthOf } from "./layout.js";

/**
 * @typedef {import("./union.js").Picture} Picture
 * @typedef {import("./union.js").Edge} Edge
 * @typedef {import("./layout.js").Place} Place
 * @typedef {{x: number, y: number}} Point
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/** How each status is drawn: by sign, dash, width and colour. */
export const LOOKS = {
  kept: { sign: "", dash: "", width: 1.3, colour: "#6b7280", words: "kept" },
  removed: { sign: "−", dash: "6 4", width: 1.8, colour: "#b3401e", words: "removed" },
  added: { sign: "+", dash: "", width: 2.6, colour: "#2456a6", words: "added" },
  changed: { sign: "≠", dash: "9 3 2 3", width: 2.2, colour: "#7a5b00", words: "changed" },
  unknown: { sign: "?", dash: "1 4", width: 1.3, colour: "#6b7280", words: "not compared" },
};
const PAPER = "#ffffff";
const INK = "#1c2430";
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const MARGIN = 28;
const LABEL_HEIGHT = 15;
/** Where on its line a label may stand, best first. */
const SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73];
/** With more edges than this, only the labels of what is selected are drawn. */
export const MOST_LABELS = 90;

/**
 * Returns the picture of what is shown. Places are those of the whole, so that nothing moves when
 * less is shown.
 * @param {Picture} whole
 * @param {Picture} shown
 * @param {{sel: string, open: string, title: string}} marked
 * @returns {SVGSVGElement}
 */
export function draw(whole, shown, marked) {
  const places = placesOf(whole);
  const box = boxOf([...places.values()]);
  const dense = shown.edges.length > MOST_LABELS;
  const svg = s("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `${box.x} ${box.y} ${box.width} ${box.height}`,
    width: box.width,
    height: box.height,
    role: "group",
    "aria-label": marked.title,
    "font-family": FONT,
  });
  svg.append(s("title", null, marked.title), arrows());
  const lines = s("g", { class: "lines" });
  const labels = s("g", { class: "labels", "font-size": 11.5 });
  const edges = [...shown.edges].sort((a, b) => order(a.id, b.id));
  /** @type {Box[]} */
  const taken = shown.nodes.flatMap((node) => {
    const place = places.get(node.id);
    return place ? [boxAt(place, place.width, HEIGHT)] : [];
  });
  for (const [edge, bend] of bent(edges)) {
    const [from, to] = [places.get(edge.source), places.get(edge.target)];
    if (!from || !to) continue;
    const selected = edge.id === marked.sel;
    const isMarked =
      selected ||
      (marked.sel !== "" && edge.partner === marked.sel) ||
      (marked.open !== "" && (edge.source === marked.open || edge.target === marked.open));
    const course = edge.source === edge.target ? loop(from) : curve(from, to, bend);
    lines.append(line(edge, course.d, selected));
    if (!dense || isMarked) labels.append(label(edge, free(edge, course.at, taken), selected));
  }
  const boxes = s("g", { class: "nodes", "font-size": 13 });
  const nodes = [...shown.nodes].sort((a, b) => order(a.id, b.id));
  nodes.forEach((node, index) => {
    const place = places.get(node.id);
    if (place) boxes.append(nodeOf(node, place, node.id === marked.open, index));
  });
  svg.append(lines, labels, boxes);
  return /** @type {SVGSVGElement} */ (svg);
}

/** @param {Place[]} places */
function boxOf(places) {
  if (!places.length) return { x: 0, y: 0, width: 120, height: 80 };
  const left = Math.min(...places.map((place) => place.x - place.width / 2)) - MARGIN;
  const right = Math.max(...places.map((place) => place.x + place.width / 2)) + MARGIN;
  const top = Math.min(...places.map((place) => place.y)) - HEIGHT / 2 - MARGIN - 14;
  const bottom = Math.max(...places.map((place) => place.y)) + HEIGHT / 2 + MARGIN;
  const [x, y] = [Math.floor(left), Math.floor(top)];
  return { x, y, width: Math.ceil(right) - x, height: Math.ceil(bottom) - y };
}

function arrows() {
  const defs = s("defs");
  for (const [status, look] of Object.entries(LOOKS)) {
    const marker = s("marker", {
      id: `arrow-${status}`,
      viewBox: "0 0 8 8",
      refX: 7.5,
      refY: 4,
      markerWidth: 8,
      markerHeight: 8,
      markerUnits: "userSpaceOnUse",
      orient: "auto",
      class: `arrow ${status}`,
    });
    marker.append(s("path", { d: "M0 0.8 L8 4 L0 7.2 Z", fill: look.colour }));
    defs.append(marker);
  }
  return defs;
}

/**
 * Yields each edge with how far it is bent, so that edges between the same nodes stay apart.
 * @param {Edge[]} edges
 * @returns {Iterable<[Edge, number]>}
 */
function* bent(edges) {
  /** @type {Map<string, Edge[]>} */
  const pairs = new Map();
  for (const edge of edges) {
    const pair = [edge.source, edge.target].sort(order).join("\n");
    pairs.set(pair, [...(pairs.get(pair) ?? []), edge]);
  }
  for (const group of pairs.values()) {
    for (const [index, edge] of group.entries()) {
      const side = edge.source <= edge.target ? 1 : -1;
      yield [edge, group.length === 1 ? 0 : side * (index - (group.length - 1) / 2) * 44];
    }
  }
}

/**
 * @param {Place} from
 * @param {Place} to
 * @param {number} bend
 */
function curve(from, to, bend) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const control = {
    x: (from.x + to.x) / 2 - (dy / length) * bend,
    y: (from.y + to.y) / 2 + (dx / length) * bend,
  };
  const begin = leave(from, control, 0);
  const end = leave(to, control, 3);
  const along = (/** @type {number} */ t) => ({
    x: (1 - t) ** 2 * begin.x + 2 * t * (1 - t) * control.x + t ** 2 * end.x,
    y: (1 - t) ** 2 * begin.y + 2 * t * (1 - t) * control.y + t ** 2 * end.y,
  });
  const d = bend
    ? `M${xy(begin)} Q${xy(control)} ${xy(end)}`
    : `M${xy(begin)} L${xy(end)}`;
  return { d, at: along };
}

/** @param {Place} place */
function loop(place) {
  const { x, y } = place;
  const top = y - HEIGHT / 2;
  const d = `M${xy({ x: x - 14, y: top })} C${xy({ x: x - 34, y: top - 34 })} ${xy({ x: x + 34, y: top - 34 })} ${xy({ x: x + 14, y: top - 3 })}`;
  return { d, at: () => ({ x, y: top - 26 }) };
}

/**
 * Returns where a line from the middle of a box to a point leaves the box.
 * @param {Place} place
 * @param {Point} point
 * @param {number} gap
 * @returns {Point}
 */
function leave(place, point, gap) {
  const [dx, dy] = [point.x - place.x, point.y - place.y];
  if (!dx && !dy) return place;
  const share = Math.min(
    (place.width / 2 + gap) / Math.max(Math.abs(dx), 1e-6),
    (HEIGHT / 2 + gap) / Math.max(Math.abs(dy), 1e-6),
    1,
  );
  return { x: place.x + dx * share, y: place.y + dy * share };
}

/** @param {Point} point */
function xy(point) {
  return `${round(point.x)} ${round(point.y)}`;
}

/** @param {number} value */
function round(value) {
  return Math.round(10 * value) / 10 + 0;
}

/**
 * @param {Edge} edge
 * @param {string} d
 * @param {boolean} selected
 */
function line(edge, d, selected) {
  const look = LOOKS[edge.status];
  const one = s("g", { class: `edge ${edge.status}${selected ? " selected" : ""}`, "data-edge": edge.id });
  // A wide line that is not seen takes the pointer.
  one.append(
    s("path", { d, fill: "none", stroke: "transparent", "stroke-width": 14, class: "reach" }),
    s("path", {
      d,
      class: "stroke",
      fill: "none",
      stroke: look.colour,
      "stroke-width": selected ? look.width + 1.6 : look.width,
      "stroke-dasharray": edge.side === "after" ? null : look.dash || null,
      "marker-end": `url(#arrow-${edge.status})`,
    }),
  );
  return one;
}

/**
 * Returns a place for the label of an edge: the first, from the middle on, where nothing else is.
 * @param {Edge} edge
 * @param {(share: number) => Point} along
 * @param {Box[]} taken what is there; the label's box is added
 * @returns {Point}
 */
function free(edge, along, taken) {
  const width = 0.9 * widthOf(wordsOf(edge)) + 4;
  let best = boxAt(along(0.5), width, LABEL_HEIGHT);
  let least = Infinity;
  for (const share of SHARES) {
    const box = boxAt(along(share), width, LABEL_HEIGHT);
    const over = taken.reduce((sum, other) => sum + overlap(box, other), 0);
    if (over < least) [best, least] = [box, over];
    if (!over) break;
  }
  taken.push(best);
  return { x: best.x + width / 2, y: best.y + LABEL_HEIGHT / 2 };
}

/**
 * @param {Point} middle
 * @param {number} width
 * @param {number} height
 * @returns {Box}
 */
function boxAt(middle, width, height) {
  return { x: middle.x - width / 2, y: middle.y - height / 2, width, height };
}

/**
 * @param {Box} a
 * @param {Box} b
 */
function overlap(a, b) {
  const x = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const y = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return x > 0 && y > 0 ? x * y : 0;
}

/** @param {Edge} edge */
function wordsOf(edge) {
  const { sign } = LOOKS[edge.status];
  return sign ? `${sign} ${short(edge.label)}` : short(edge.label);
}

/**
 * @param {Edge} edge
 * @param {Point} middle
 * @param {boolean} selected
 */
function label(edge, middle, selected) {
  const look = LOOKS[edge.status];
  const words = wordsOf(edge);
  return s(
    "text",
    {
      x: round(middle.x),
      y: round(middle.y + 4),
      class: `edge-label ${edge.status}${selected ? " selected" : ""}`,
      "data-edge": edge.id,
      "text-anchor": "middle",
      fill: edge.status === "kept" ? "#4b5563" : look.colour,
      stroke: PAPER,
      "stroke-width": 4,
      "stroke-linejoin": "round",
      "paint-order": "stroke",
      "font-weight": selected ? 700 : null,
    },
    words,
    edge.label.length > MOST_CHARACTERS && s("title", null, edge.label),
  );
}

/**
 * @param {import("./union.js").Node} node
 * @param {Place} place
 * @param {boolean} open
 * @param {number} index
 */
function nodeOf(node, place, open, index) {
  const kinds = [node.literal && "literal", node.start && "start", node.answer && "in-answer", open && "open"];
  const words = short(node.label);
  const width = (node.start || node.answer ? 1.12 : 1) * widthOf(words) + 24;
  const what = node.start ? ", of the question" : node.answer ? ", in the answer" : "";
  /** @type {Record<string, string | number>} */
  const acts = node.literal
    ? {}
    : {
        role: "button",
        tabindex: index === 0 ? 0 : -1,
        "aria-label": `${node.label.trim() || "(no text)"}${what}`,
        "data-node": node.id,
        "data-key": `node ${node.id}`,
      };
  const group = s("g", { class: ["node", ...kinds].filter(Boolean).join(" "), ...acts });
  group.append(
    s("rect", {
      x: round(place.x - width / 2),
      y: place.y - HEIGHT / 2,
      width: round(width),
      height: HEIGHT,
      rx: node.literal ? 3 : HEIGHT / 2,
      fill: node.start ? "#2456a6" : node.answer ? "#dbe7fb" : PAPER,
      stroke: node.literal ? "#9ca3af" : node.start || node.answer ? "#2456a6" : "#6b7280",
      "stroke-width": open ? 3 : node.answer ? 2 : 1.2,
      "stroke-dasharray": node.literal ? "2 2" : null,
    }),
    s(
      "text",
      {
        x: place.x,
        y: place.y + 4.5,
        "text-anchor": "middle",
        fill: node.start ? "#ffffff" : INK,
        "font-weight": node.start || node.answer ? 600 : null,
      },
      words,
    ),
    s("title", null, node.label.trim() ? node.label : "(no text)"),
  );
  return group;
}
