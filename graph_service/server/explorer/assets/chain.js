// A picture for a phone: the path from the answer down to the question, and what hangs on it.

import { xy } from "./curves.js";
import { BOLD, HEIGHT, cut, order, short, widthOf } from "./layout.js";
import { ranked } from "./union.js";

/**
 * @typedef {import("./union.js").Picture} Picture
 * @typedef {import("./union.js").Edge} Edge
 * @typedef {import("./layout.js").Place} Place
 * @typedef {import("./curves.js").Point} Point
 *
 * @typedef {object} Chain
 * @property {Map<string, Place>} places of the nodes that are drawn
 * @property {Edge[]} edges that are drawn
 * @property {Map<string, {d: string, at: (share: number) => Point}>} courses of those edges
 * @property {Map<string, string>} words of those edges, cut where a chain ends
 */

/** Neighbours that hang on a node at most: of a path few, so that it stays in sight. */
const MOST_NEIGHBOURS = { path: 3, other: 12 };
const DEEPEST = 3;
/** Lines from the left of a node: down the path, and to the neighbours below it. */
const PATH_X = 16;
const LINE_GAP = 9;
const OUT_X = 16;
const IN_X = 30;
const NEIGHBOUR_X = 44;
const LABEL_GAP = 10;
const CORNER = 9;
/** From the end of what is above to the middle of a label, and from there to the middle of a node. */
const TO_LABEL = 15;
const TO_NODE = 24;
const LABEL_LINE = 18;
/** How wide a chain is at least: its labels end there. */
export const CHAIN_WIDTH = 300;

/**
 * Returns the picture as a chain.
 * @param {Picture} picture
 * @param {readonly string[]} expanded entities whose neighbours are all shown
 * @param {(edge: Edge) => string} wordsOf
 * @returns {Chain}
 */
export function chainOf(picture, expanded, wordsOf) {
  const chain = new Drawing(picture, expanded, wordsOf);
  chain.draw(trunkOf(picture));
  return chain;
}

/**
 * Returns the nodes from the answer down to the entity of the question; without a path those of the
 * question, and without a question the node of most statements.
 * @param {Picture} picture
 * @returns {string[]}
 */
export function trunkOf({ nodes, edges }) {
  const sorted = [...nodes].sort((a, b) => order(a.id, b.id));
  const starts = sorted.filter((node) => node.start).map((node) => node.id);
  const steps = edges.filter((edge) => edge.onPath);
  const ids = sorted.filter((node) => steps.some((step) => step.source === node.id || step.target === node.id));
  const degree = (/** @type {string} */ id) => steps.filter((step) => step.source === id || step.target === id).length;
  const top = ids.find((node) => node.answer) ?? ids.find((node) => !node.start && degree(node.id) === 1);
  const path = top ? longest(top.id, steps, new Set(starts)) : [];
  const others = starts.filter((id) => !path.includes(id));
  if (path.length + others.length) return [...path, ...others];
  const count = (/** @type {string} */ id) => edges.filter((edge) => edge.source === id || edge.target === id).length;
  return sorted.map((node) => node.id).sort((a, b) => count(b) - count(a) || order(a, b)).slice(0, 1);
}

/**
 * Returns the way along steps to the entity of the question that is farthest, or to the farthest node.
 * @param {string} from
 * @param {readonly Edge[]} steps
 * @param {ReadonlySet<string>} starts
 */
function longest(from, steps, starts) {
  /** @type {Map<string, string[]>} */
  const ways = new Map([[from, [from]]]);
  for (const [id, way] of ways) {
    for (const step of steps) {
      const next = step.source === id ? step.target : step.target === id ? step.source : "";
      if (next && !ways.has(next)) ways.set(next, [...way, next]);
    }
  }
  const all = [...ways.values()];
  const ending = all.filter((way) => starts.has(/** @type {string} */ (way.at(-1))));
  return (ending.length ? ending : all).reduce((best, way) => (way.length > best.length ? way : best));
}

/** A chain while it is drawn, from the top to the bottom. */
class Drawing {
  /**
   * @param {Picture} picture
   * @param {readonly string[]} expanded
   * @param {(edge: Edge) => string} wordsOf
   */
  constructor(picture, expanded, wordsOf) {
    this.nodes = new Map(picture.nodes.map((node) => [node.id, node]));
    this.ranked = ranked(picture.edges).sort((a, b) => Number(b.onPath) - Number(a.onPath));
    this.expanded = new Set(expanded);
    this.wordsOf = wordsOf;
    this.hasPath = picture.edges.some((edge) => edge.onPath);
    /** @type {Map<string, Place>} */
    this.places = new Map();
    /** @type {Edge[]} */
    this.edges = [];
    /** @type {Map<string, {d: string, at: (share: number) => Point}>} */
    this.courses = new Map();
    /** @type {Map<string, string>} */
    this.words = new Map();
    this.y = 0;
  }

  /** @param {readonly string[]} trunk */
  draw(trunk) {
    const heads = new Set(trunk);
    trunk.forEach((id, index) => {
      const above = trunk[index - 1];
      const steps = above ? this.#between(above, id) : [];
      this.#joined(above, id, steps);
      this.#below(id, heads, 1);
    });
  }

  /**
   * Returns the edges between two nodes that are worth a line each: the step of the path, what
   * changed, and other relations.
   * @param {string} a
   * @param {string} b
   */
  #between(a, b) {
    const all = this.ranked.filter(
      (edge) => (edge.source === a && edge.target === b) || (edge.source === b && edge.target === a),
    );
    return all.filter(
      (edge, index) =>
        edge.status !== "kept" || all.findIndex((other) => this.wordsOf(other) === this.wordsOf(edge)) === index,
    );
  }

  /**
   * Places a node of the trunk below the one above it.
   * @param {string | undefined} above
   * @param {string} id
   * @param {readonly Edge[]} steps
   */
  #joined(above, id, steps) {
    const upper = above === undefined ? undefined : this.places.get(above);
    const from = this.y;
    if (upper) this.y += steps.length ? TO_LABEL + (steps.length - 1) * LABEL_LINE + TO_NODE + 6 : TO_NODE + 12;
    const place = this.#stand(id, 0);
    const top = place.y - HEIGHT / 2;
    steps.forEach((edge, index) => {
      if (!upper) return;
      const x = PATH_X + index * LINE_GAP;
      const bottom = upper.y + HEIGHT / 2;
      const up = edge.target === above;
      const d = up ? `M${xy({ x, y: top })} L${xy({ x, y: bottom + 3 })}` : `M${xy({ x, y: bottom })} L${xy({ x, y: top - 3 })}`;
      const left = PATH_X + (steps.length - 1) * LINE_GAP + LABEL_GAP;
      this.#line(edge, d, left, from + TO_LABEL + 3 + index * LABEL_LINE);
    });
  }

  /**
   * Places the neighbours of a node below it, those to which its statements lead last: their line
   * passes the others at the left. Farther from the path only what changed is placed.
   * @param {string} id
   * @param {ReadonlySet<string>} heads
   * @param {number} depth
   */
  #below(id, heads, depth) {
    if (depth > DEEPEST) return;
    const hasAll = depth === 1 || !this.hasPath || this.expanded.has(id);
    const most = this.expanded.has(id) ? Infinity : this.hasPath ? MOST_NEIGHBOURS.path : MOST_NEIGHBOURS.other;
    /** @type {Map<string, Edge>} */
    const neighbours = new Map();
    const first = this.ranked.filter((edge) => this.expanded.has(edge.source) || this.expanded.has(edge.target));
    for (const edge of [...first, ...this.ranked]) {
      const other = edge.source === id ? edge.target : edge.target === id ? edge.source : id;
      if (heads.has(other) || this.places.has(other) || neighbours.has(other)) continue;
      if (!hasAll && edge.status === "kept") continue;
      if (neighbours.size < most) neighbours.set(other, edge);
    }
    // They are placed at once, so that none of them hangs on another.
    const taken = new Set([...heads, ...neighbours.keys()]);
    const parent = /** @type {Place} */ (this.places.get(id));
    const left = parent.x - parent.width / 2 + (heads.has(id) ? PATH_X : 0);
    const bottom = parent.y + HEIGHT / 2;
    for (const inward of [true, false]) {
      for (const [other, edge] of neighbours) {
        if ((edge.target === id) !== inward) continue;
        const label = this.y + TO_LABEL;
        this.y = label + TO_NODE - HEIGHT / 2;
        const place = this.#stand(other, left + NEIGHBOUR_X);
        const x = left + (inward ? IN_X : OUT_X);
        const end = { x: left + NEIGHBOUR_X - (inward ? 0 : 3), y: place.y };
        const turn = [{ x, y: place.y - CORNER }, { x, y: place.y }, { x: x + Math.min(CORNER, end.x - x), y: place.y }];
        const d = inward
          ? `M${xy(end)} L${xy(turn[2])} Q${xy(turn[1])} ${xy(turn[0])} L${xy({ x, y: bottom + 3 })}`
          : `M${xy({ x, y: bottom })} L${xy(turn[0])} Q${xy(turn[1])} ${xy(turn[2])} L${xy(end)}`;
        this.#line(edge, d, left + NEIGHBOUR_X + 4, label);
        this.#below(other, taken, depth + 1);
      }
    }
  }

  /**
   * @param {string} id
   * @param {number} left
   */
  #stand(id, left) {
    const node = this.nodes.get(id);
    const bold = node && (node.start || node.answer || node.onPath) ? BOLD : 1;
    const width = bold * widthOf(short(node?.label ?? id)) + 24;
    const place = { x: left + width / 2, y: this.y + HEIGHT / 2, width, scale: 1, row: /** @type {const} */ ("row") };
    this.places.set(id, place);
    this.y = place.y + HEIGHT / 2;
    return place;
  }

  /**
   * @param {Edge} edge
   * @param {string} d
   * @param {number} left where its label begins
   * @param {number} y of its middle
   */
  #line(edge, d, left, y) {
    const larger = edge.onPath ? BOLD : 1;
    const words = cut(this.wordsOf(edge), (CHAIN_WIDTH - left) / larger);
    const width = larger * widthOf(words);
    this.edges.push(edge);
    this.words.set(edge.id, words);
    this.courses.set(edge.id, { d, at: () => ({ x: left + width / 2, y }) });
  }
}
