// A picture of one entity and its neighbours: rows at both sides of it, or below where it is narrow.

import { BOLD, HEIGHT, order, short, widthOf } from "./layout.js";
import { xy } from "./curves.js";

/**
 * @typedef {import("./union.js").Edge} Edge
 * @typedef {import("./union.js").Node} Node
 * @typedef {import("./layout.js").Place} Place
 * @typedef {import("./curves.js").Point} Point
 */

/** With fewer neighbours a picture is no list yet, and with more its rows are too many to read. */
const LEAVES = { least: 9, most: 40 };
const PITCH = 40;
/** The widest label of a row that stands below; what is wider is cut. */
export const ROW_LABEL = 84;
/** The widest label that moves the rows outwards. */
const WIDEST_LABEL = 125;
/** How far apart the lines of one row end at it, and the labels of those that have no room beside. */
const LINES = 18;
/** What stands between a row and its label: the arrow, which is larger on the answer's path. */
const LABEL_GAP = 14;
const BOLD_LABEL_GAP = 20;
const CORNER = 9;
const INDENT = 16;
/** How far apart the lines leave the hub, from its middle on: those of the farthest rows first. */
const RAIL = { first: 6, gap: 6, last: 60 };
/** From the middle of the hub to the rows nearest to it. */
const BESIDE = 32;

/**
 * Returns the entity that all edges of a picture begin or end at; null if its neighbours are too
 * few or too many for rows.
 * @param {readonly Edge[]} edges
 * @returns {string | null}
 */
export function hubOf(edges) {
  const [first] = edges;
  if (!first) return null;
  const hub = [first.source, first.target].find((id) => edges.every((edge) => edge.source === id || edge.target === id));
  if (hub === undefined) return null;
  const leaves = new Set(edges.flatMap((edge) => [edge.source, edge.target]));
  const count = leaves.size - 1;
  return count >= LEAVES.least && count <= LEAVES.most ? hub : null;
}

/** The rows of a fan: where the next one of each side goes. */
export class Fan {
  /**
   * @param {string} hub
   * @param {Place} place of the hub
   * @param {boolean} narrow whether all rows stand below it
   */
  constructor(hub, place, narrow) {
    this.hub = hub;
    this.narrow = narrow;
    this.half = place.width / 2;
    this.height = place.scale * HEIGHT;
    this.inner = 0;
    this.rows = { left: 0, right: 0 };
    /** How far the rows reach, and what stands beside them. */
    this.reach = { left: 0, right: 0 };
    /** @type {{left: number[], right: number[]}} */
    this.outside = { left: [], right: [] };
  }

  /**
   * Returns the places of the first neighbours, in the order of their relations.
   * @param {readonly {id: string, width: number}[]} leaves
   * @param {readonly Edge[]} edges
   * @returns {Map<string, Point & {side: number}>}
   */
  begin(leaves, edges) {
    /** @type {Map<string, string>} */
    const relations = new Map();
    for (const edge of edges) {
      const [leaf, way] = edge.source === this.hub ? [edge.target, "1"] : [edge.source, "2"];
      const name = `${edge.label}\n${way}`;
      if (name < (relations.get(leaf) ?? "\uffff")) relations.set(leaf, name);
    }
    const label = Math.max(...edges.map((edge) => (edge.onPath ? BOLD : 1) * widthOf(short(edge.label))));
    const room = Math.min(label, this.narrow ? ROW_LABEL : WIDEST_LABEL) + gapOf(edges) + (this.narrow ? 10 : 22);
    this.inner = this.narrow ? INDENT + room - this.half : Math.max(this.half + 30, railOf(this.half, 0) + room);
    const sorted = [...leaves].sort(
      (a, b) => order(relations.get(a.id) ?? "", relations.get(b.id) ?? "") || order(a.id, b.id),
    );
    const perSide = this.narrow ? sorted.length : Math.ceil(sorted.length / 2);
    /** @type {Map<string, Point & {side: number}>} */
    const places = new Map();
    for (const [name, sign] of /** @type {const} */ ([["left", -1], ["right", 1]])) {
      const part = this.narrow ? (sign < 0 ? [] : sorted) : sign < 0 ? sorted.slice(0, perSide) : sorted.slice(perSide);
      part.forEach((leaf, index) => {
        const y = this.narrow ? this.#below(index) : this.#beside(index, part.length);
        places.set(leaf.id, this.#at(leaf.width, sign, y));
        this.rows[name] = y + PITCH;
      });
    }
    return places;
  }

  /**
   * Returns the place of a neighbour that is added later: below the rows that there are.
   * @param {number} width
   */
  add(width) {
    const side = this.narrow || this.rows.right <= this.rows.left ? "right" : "left";
    const y = this.rows[side];
    this.rows[side] += PITCH;
    return this.#at(width, side === "left" ? -1 : 1, y);
  }

  /**
   * Returns the place of a node that hangs on a row: beside the rows, as near to it as there is room.
   * @param {number} width
   * @param {Point} near the row
   * @param {number} gap for the label between them
   */
  beside(width, near, gap) {
    const side = near.x < 0 ? "left" : "right";
    const taken = this.outside[side];
    let y = near.y;
    for (let step = 1; taken.some((other) => Math.abs(other - y) < PITCH); step += 1) {
      y = near.y + (step % 2 ? 1 : -1) * Math.ceil(step / 2) * PITCH;
    }
    taken.push(y);
    const x = this.reach[side] + gap + width / 2;
    return { x: Math.round(side === "left" ? -x : x), y: Math.round(y) };
  }

  /** @param {number} index */
  #below(index) {
    return this.height / 2 + 34 + index * PITCH;
  }

  /**
   * @param {number} index
   * @param {number} count
   */
  #beside(index, count) {
    const upper = Math.floor(count / 2);
    const from = this.height / 2 + BESIDE;
    return index < upper ? -from - (upper - 1 - index) * PITCH : from + (index - upper) * PITCH;
  }

  /**
   * @param {number} width
   * @param {number} side
   * @param {number} y
   */
  #at(width, side, y) {
    const name = side < 0 ? "left" : "right";
    this.reach[name] = Math.max(this.reach[name], this.inner + width);
    return { x: Math.round(side * (this.inner + width / 2)), y: Math.round(y), side };
  }
}

/**
 * Returns the course of an edge between the middle of a fan and one of its rows, and where its label
 * may stand: first beside the row.
 * @param {Place} hub
 * @param {Place} leaf
 * @param {{toLeaf: boolean, onPath: boolean, line: number, width: number, narrow: boolean}} edge
 *   which line of its row it is, counted from the middle one, and how wide its label is
 */
export function rowCourse(hub, leaf, { toLeaf, onPath, line, width, narrow }) {
  const side = Math.sign(leaf.x - hub.x) || 1;
  const most = HEIGHT / 2;
  const offset = Math.max(-most, Math.min(most, line * LINES));
  const outer = { x: leaf.x - side * (leaf.width / 2 + (toLeaf ? 3 : 0)), y: leaf.y + offset };
  const down = Math.sign(leaf.y - hub.y) || 1;
  const edge = hub.y + down * ((hub.scale * HEIGHT) / 2 + (toLeaf ? 0 : 3));
  // The farther the row, the nearer to the middle it leaves: no two lines cross.
  const far = (Math.abs(leaf.y + offset - hub.y) - (hub.scale * HEIGHT) / 2 - BESIDE) / PITCH;
  const x = narrow ? hub.x - hub.width / 2 + INDENT : hub.x + side * railOf(hub.width / 2, far);
  const inner = { x, y: edge };
  const at = (/** @type {number} */ share) => ({
    x: outer.x - side * (width / 2 + gapOf([{ onPath }]) + (narrow ? 0 : 450) * Math.abs(share - 0.5)),
    y: narrow ? leaf.y + line * LINES : outer.y,
  });
  // Rows below stand on one line that turns to each of them; those beside have a line each.
  const points = [inner, { x, y: outer.y - down * CORNER }, { x, y: outer.y }, { x: x + side * CORNER, y: outer.y }, outer];
  const [first, ...rest] = (toLeaf ? points : points.reverse()).map(xy);
  return { d: `M${first} L${rest[0]} Q${rest[1]} ${rest[2]} L${rest[3]}`, at };
}

/**
 * Returns how far from the middle of the hub the line of a row leaves it.
 * @param {number} half of the hub's width
 * @param {number} far how many rows stand between
 */
function railOf(half, far) {
  return Math.max(RAIL.first, Math.min(half - INDENT, RAIL.last) - RAIL.gap * far);
}

/** @param {readonly {onPath: boolean}[]} edges */
function gapOf(edges) {
  return edges.some((edge) => edge.onPath) ? BOLD_LABEL_GAP : LABEL_GAP;
}
