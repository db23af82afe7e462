// Draws a graph as SVG. Its attributes are those of a light page, so that the file stands by itself;
// the style sheet of the page says otherwise where it is dark.

import { arrows, line } from "./arrows.js";
import { CHAIN_WIDTH, chainOf } from "./chain.js";
import { coloured } from "./classes.js";
import { BEND, CLEARANCE, around, bent, loop, round } from "./curves.js";
import { s } from "./dom.js";
import { ROW_LABEL, hubOf, rowCourse } from "./fan.js";
import { BOLD, HEIGHT, folded, order, placesOf, short, widestOf, widthOf } from "./layout.js";
import { LOOKS } from "./legend.js";

/**
 * @typedef {import("./union.js").Picture} Picture
 * @typedef {import("./union.js").Edge} Edge
 * @typedef {import("./layout.js").Place} Place
 * @typedef {import("./curves.js").Point} Point
 * @typedef {import("./curves.js").Box} Box
 */

const PAPER = "#ffffff";
const INK = "#1c2430";
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const MARGIN = 28;
const NARROW_MARGIN = 4;
const LABEL_HEIGHT = 17;
const LABEL_SIZE = 13;
/** The smallest that a picture is shown by itself: its labels have 12 px then. */
const LEAST_SCALE = 12 / LABEL_SIZE;
/** A frame that is narrower has its pictures from the top to the bottom. */
export const NARROW_PX = 560;
/** The border of a frame, which a picture has no room in. */
const BORDER = 2;
/** What colours nodes have by their class, the classes of most nodes first. */
const FILLS = ["#fdebd8", "#dff3e3", "#efe4fa", "#fbf2c4", "#d9f0f3", "#fae0e7"];
/** What stands beside a chain. */
const CHAIN_MARGIN = 3;
/** Where on its line a label may stand, and how far above or below it, best first. */
const SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8];
const STANDS = [0, -12, 12, -24, 24].flatMap((aside) => SHARES.map((share) => [share, aside]));
/** What floating point leaves of an overlap of nothing, in square px. */
const LEAST_OVER = 1e-6;
/** With more edges than this, only the labels of what is selected are drawn. */
export const MOST_LABELS = 90;

/**
 * Returns the picture of what is shown. Places are those of the whole, so that nothing moves when
 * less is shown. Where there is little room, it is a list of one entity's neighbours, or a chain.
 * @param {Picture} whole
 * @param {Picture} shown
 * @param {{sel: string, open: string, title: string, classes: ReadonlyMap<string, string>, name?: string, room?: number, expanded?: readonly string[]}} marked
 *   what is selected and open, and the classes of entities; the name is for a second picture of a
 *   page, room is the width of its frame in px, and a chain shows all neighbours of what is expanded
 * @returns {SVGSVGElement}
 */
export function draw(whole, shown, marked) {
  const room = marked.room ?? Infinity;
  const isFan = hubOf(shown.edges) !== null;
  const isChain = room < NARROW_PX && !isFan;
  const most = (room - BORDER) / LEAST_SCALE;
  const isNarrow = room < NARROW_PX || (isFan && boxOf([...placesOf(whole, false, most).values()], MARGIN).width > most);
  const chain = isChain ? chainOf(shown, marked.expanded ?? [], (edge) => changeOf(edge, whole.edges)) : null;
  const wordsOf = (/** @type {Edge} */ edge) => chain?.words.get(edge.id) ?? signed(edge);
  const places = chain?.places ?? placesOf(whole, isNarrow, most - 2 * MARGIN);
  const box = chain ? chainBox([...places.values()]) : boxOf(isNarrow ? drawnPlaces(whole, places) : [...places.values()], isNarrow ? NARROW_MARGIN : MARGIN);
  const dense = !chain && shown.edges.length > MOST_LABELS;
  const svg = s("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `${box.x} ${box.y} ${box.width} ${box.height}`,
    width: box.width,
    height: box.height,
    role: "group",
    "aria-label": marked.title,
    "font-family": FONT,
    class: (chain || isNarrow) && "tall",
  });
  const name = marked.name ?? "arrow";
  svg.append(s("title", null, marked.title), arrows(name));
  const lines = s("g", { class: "lines" });
  const labels = s("g", { class: "labels", "font-size": LABEL_SIZE });
  const edges = [...(chain?.edges ?? shown.edges)].sort((a, b) => order(a.id, b.id));
  /** @type {Box[]} */
  const taken = shown.nodes.flatMap((node) => {
    const place = places.get(node.id);
    return place ? [boxAt(place, widthOfNode(node, place), place.scale * HEIGHT)] : [];
  });
  const standing = new Map(
    shown.nodes.flatMap((node) => {
      const place = places.get(node.id);
      if (!place) return [];
      const [width, height] = [widthOfNode(node, place), place.scale * HEIGHT];
      return [[node.id, boxAt(place, width + 2 * CLEARANCE, height + 2 * CLEARANCE)]];
    }),
  );
  for (const [edge, bend] of bent(edges)) {
    const [from, to] = [places.get(edge.source), places.get(edge.target)];
    if (!from || !to) continue;
    const selected = edge.id === marked.sel;
    const isMarked =
      selected ||
      (marked.sel !== "" && edge.partner === marked.sel) ||
      (marked.open !== "" && (edge.source === marked.open || edge.target === marked.open));
    const isAlone = edges.every((other) => other === edge || !joinsSame(other, edge));
    const rowLines = isNarrow && ((/** @type {string} */ text) => folded(text, ROW_LABEL, isAlone ? 2 : 1));
    const others = [...standing].filter(([id]) => id !== edge.source && id !== edge.target).map(([, box]) => box);
    const course =
      chain?.courses.get(edge.id) ??
      (edge.source === edge.target
        ? loop(from)
        : (rowOf(edge, from, to, bend, rowLines) ?? around(from, to, bend, others, box, dense)));
    lines.append(line(edge, course.d, selected, name));
    const isRow = !chain && from.row !== "" && to.row !== "";
    const words = isRow && rowLines ? rowLines(wordsOf(edge)) : [wordsOf(edge)];
    if (!dense || isMarked) labels.append(...label(edge, words, free(edge, words, course.at, taken, box), selected));
  }
  const boxes = s("g", { class: "nodes", "font-size": 13 });
  const colours = coloured(whole.nodes, marked.classes);
  const nodes = [...shown.nodes].sort((a, b) => order(a.id, b.id));
  nodes.forEach((node, index) => {
    const place = places.get(node.id);
    const kind = colours.indexOf(marked.classes.get(node.id) ?? "");
    if (place) boxes.append(nodeOf(node, place, node.id === marked.open, index, kind));
  });
  svg.append(lines, labels, boxes);
  return /** @type {SVGSVGElement} */ (svg);
}

/**
 * Returns the course of an edge between the middle of a fan and one of its rows; null for others.
 * @param {Edge} edge
 * @param {Place} from
 * @param {Place} to
 * @param {number} bend
 * @param {false | ((text: string) => string[])} rowLines of a label, where rows stand below the hub
 */
function rowOf(edge, from, to, bend, rowLines) {
  const toLeaf = from.row === "hub";
  const [hub, leaf] = toLeaf ? [from, to] : [to, from];
  if (hub.row !== "hub" || leaf.row !== "row") return null;
  const line = (bend / BEND) * (edge.source <= edge.target ? 1 : -1);
  const words = rowLines ? rowLines(signed(edge)) : [signed(edge)];
  return rowCourse(hub, leaf, { toLeaf, onPath: edge.onPath, line, width: widthOfLabel(edge, words), narrow: rowLines !== false });
}

/**
 * @param {Edge} a
 * @param {Edge} b
 */
function joinsSame(a, b) {
  return (a.source === b.source && a.target === b.target) || (a.source === b.target && a.target === b.source);
}

/**
 * @param {Place[]} places
 * @param {number} margin at the left and the right
 */
function boxOf(places, margin) {
  if (!places.length) return { x: 0, y: 0, width: 120, height: 80 };
  const left = Math.min(...places.map((place) => place.x - place.width / 2)) - margin;
  const right = Math.max(...places.map((place) => place.x + place.width / 2)) + margin;
  const top = Math.min(...places.map((place) => place.y)) - HEIGHT / 2 - MARGIN - 14;
  const bottom = Math.max(...places.map((place) => place.y)) + HEIGHT / 2 + MARGIN;
  const [x, y] = [Math.floor(left), Math.floor(top)];
  return { x, y, width: Math.ceil(right) - x, height: Math.ceil(bottom) - y };
}

/**
 * Returns the places of nodes, as wide as they are drawn.
 * @param {Picture} whole
 * @param {ReadonlyMap<string, Place>} places
 */
function drawnPlaces(whole, places) {
  return whole.nodes.flatMap((node) => {
    const place = places.get(node.id);
    return place ? [{ ...place, width: widthOfNode(node, place) }] : [];
  });
}

/** @param {Place[]} places */
function chainBox(places) {
  const box = boxOf(places, CHAIN_MARGIN);
  const [above, below] = [MARGIN + 14 - CHAIN_MARGIN, MARGIN - 8];
  return { x: box.x, y: box.y + above, width: Math.max(box.width, CHAIN_WIDTH + 2 * CHAIN_MARGIN), height: box.height - above - below };
}

/**
 * Makes a picture as large as its frame has room for, but not so small that it can't be read.
 * @param {SVGSVGElement} drawing
 * @param {HTMLElement} frame
 * @param {number | null} zoom in place of what fits
 */
export function resize(drawing, frame, zoom) {
  const wide = Number(drawing.getAttribute("width"));
  const scale = zoom ?? Math.max(LEAST_SCALE, Math.min(1, (frame.clientWidth - BORDER) / wide));
  drawing.setAttribute("width", String(Math.ceil(wide * scale)));
  drawing.setAttribute("height", String(Math.ceil(Number(drawing.getAttribute("height")) * scale)));
}

/**
 * Returns a place for the label of an edge: the first, from the middle on, where nothing else is.
 * @param {Edge} edge
 * @param {readonly string[]} words of each line
 * @param {(share: number) => Point} along
 * @param {Box[]} taken what is there; the label's box is added
 * @param {Box} paper of the picture
 * @returns {Point}
 */
function free(edge, words, along, taken, paper) {
  const width = widthOfLabel(edge, words) + 8;
  const height = words.length * LABEL_HEIGHT;
  let best = boxAt(along(0.5), width, height);
  let least = Infinity;
  for (const [share, aside] of STANDS) {
    const { x, y } = along(share);
    const box = boxAt({ x, y: y + aside }, width, height);
    const outside = box.width * box.height - overlap(box, paper);
    const over = taken.reduce((sum, other) => sum + overlap(box, other), outside);
    if (over < least) [best, least] = [box, over];
    if (over < LEAST_OVER) break;
  }
  taken.push(best);
  return { x: best.x + width / 2, y: best.y + height / 2 };
}

/**
 * @param {Edge} edge
 * @param {readonly string[]} words of each line
 */
function widthOfLabel(edge, words) {
  return (edge.onPath ? BOLD : 1) * widestOf(words);
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

/**
 * Returns the label of an edge; of one that the view changed, what it became.
 * @param {Edge} edge
 * @param {readonly Edge[]} edges of the base and the view
 */
function changeOf(edge, edges) {
  const partner = edge.side && edges.find((other) => other.id === edge.partner);
  if (!partner || partner.label === edge.label) return signed(edge);
  return edge.side === "before" ? `${signed(edge)}, in the view ${partner.label}` : `${signed(edge)}, was ${partner.label}`;
}

/** @param {Edge} edge */
function signed(edge) {
  const { sign } = LOOKS[edge.status];
  return sign ? `${sign} ${short(edge.label)}` : short(edge.label);
}

/**
 * Returns the label of an edge, and the paper below it that hides its line.
 * @param {Edge} edge
 * @param {readonly string[]} words of each line
 * @param {Point} middle
 * @param {boolean} selected
 */
function label(edge, words, middle, selected) {
  const look = LOOKS[edge.status];
  const paper = boxAt(middle, widthOfLabel(edge, words) + 8, words.length * LABEL_HEIGHT - 2);
  const text = s(
    "text",
    {
      x: round(middle.x),
      y: round(middle.y + 4 - ((words.length - 1) * LABEL_HEIGHT) / 2),
      class: `edge-label ${edge.status}${edge.onPath ? " on-path" : ""}${selected ? " selected" : ""}`,
      "data-edge": edge.id,
      "text-anchor": "middle",
      fill: edge.status === "kept" ? "#4b5563" : look.colour,
      "font-weight": selected || edge.onPath ? 700 : null,
    },
    words.length === 1
      ? words[0]
      : words.map((line, at) => s("tspan", { x: round(middle.x), dy: at && LABEL_HEIGHT }, at ? ` ${line}` : line)),
    words.at(-1)?.endsWith("…") && s("title", null, edge.label),
  );
  const { x, y, width, height } = paper;
  return [s("rect", { x: round(x), y: round(y), width: round(width), height, fill: PAPER, class: "paper", "data-edge": edge.id }), text];
}

/** @param {import("./union.js").Node} node */
function isBold(node) {
  return node.start || node.answer || node.onPath;
}

/**
 * @param {import("./union.js").Node} node
 * @param {Place} place
 */
function widthOfNode(node, place) {
  return (isBold(node) ? BOLD : 1) * place.scale * widthOf(short(node.label)) + 24;
}

/**
 * @param {import("./union.js").Node} node
 * @param {Place} place
 * @param {boolean} open
 * @param {number} index
 * @param {number} kind which colour it has by its class; -1 for none
 */
function nodeOf(node, place, open, index, kind) {
  const kinds = [
    node.literal && "literal",
    kind >= 0 && `kind-${kind}`,
    node.onPath && "on-path",
    node.start && "start",
    node.answer && "in-answer",
    open && "open",
  ];
  const words = short(node.label);
  const bold = isBold(node);
  const width = widthOfNode(node, place);
  const height = place.scale * HEIGHT;
  const what = node.start ? ", of the question" : node.answer ? ", in the answer" : "";
  const label = node.label.trim() || "(no text)";
  // A name must begin with what is seen, which may be shortened.
  const spoken = words === label.replace(/\s+/g, " ") ? label : `${words} ${label}`;
  /** @type {Record<string, string | number>} */
  const acts = node.literal
    ? {}
    : {
        role: "button",
        tabindex: index === 0 ? 0 : -1,
        "aria-label": `${spoken}${what}`,
        "data-node": node.id,
        "data-key": `node ${node.id}`,
      };
  const group = s("g", { class: ["node", ...kinds].filter(Boolean).join(" "), ...acts });
  group.append(
    s("rect", {
      x: round(place.x - width / 2),
      y: round(place.y - height / 2),
      width: round(width),
      height: round(height),
      rx: node.literal ? 3 : round(height / 2),
      fill: node.start ? "#2456a6" : node.answer ? "#dbe7fb" : kind >= 0 ? FILLS[kind] : PAPER,
      stroke: bold ? "#2456a6" : node.literal ? "#9ca3af" : "#6b7280",
      "stroke-width": open ? 3 : bold ? 2.4 : 1.2,
      "stroke-dasharray": node.literal ? "2 2" : null,
    }),
    s(
      "text",
      {
        x: place.x,
        y: round(place.y + 4.5 * place.scale),
        "text-anchor": "middle",
        "font-size": place.scale > 1 ? round(13 * place.scale) : null,
        fill: node.start ? "#ffffff" : INK,
        "font-weight": bold ? 600 : null,
      },
      words,
    ),
    s("title", null, node.label.trim() ? node.label : "(no text)"),
  );
  return group;
}
