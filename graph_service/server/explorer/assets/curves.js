// The lines of a picture: apart from each other, and around nodes that are not theirs.

import { HEIGHT, order } from "./layout.js";
import { routed } from "./route.js";

/**
 * @typedef {import("./union.js").Edge} Edge
 * @typedef {import("./layout.js").Place} Place
 * @typedef {{x: number, y: number}} Point
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/** How far an edge may be bent so that it leads around nodes, least first. */
const DETOURS = [0, 36, -36, 72, -72, 110, -110, 150, -150, 200, -200, 260, -260, 340, -340];
/** Where between its ends an edge is bent most. */
const TURNS = [0.5, 0.25, 0.75];
/** How far edges between the same nodes are bent apart. */
export const BEND = 44;
/** How far it stays from their boxes. */
export const CLEARANCE = 5;
const SAMPLES = 40;

/**
 * Yields each edge with how far it is bent, so that edges between the same nodes stay apart.
 * @param {Edge[]} edges
 * @returns {Iterable<[Edge, number]>}
 */
export function* bent(edges) {
  /** @type {Map<string, Edge[]>} */
  const pairs = new Map();
  for (const edge of edges) {
    const pair = [edge.source, edge.target].sort(order).join("\n");
    pairs.set(pair, [...(pairs.get(pair) ?? []), edge]);
  }
  for (const group of pairs.values()) {
    for (const [index, edge] of group.entries()) {
      const side = edge.source <= edge.target ? 1 : -1;
      yield [edge, group.length === 1 ? 0 : side * (index - (group.length - 1) / 2) * BEND];
    }
  }
}

/**
 * Returns the course of an edge that runs under no third node and stays in the picture, if one is
 * found: the least bent, or else a way with corners.
 * @param {Place} from
 * @param {Place} to
 * @param {number} bend that keeps it apart from edges between the same nodes
 * @param {readonly Box[]} others
 * @param {Box} paper of the picture
 * @param {boolean} quick whether a way with corners would take too long, as in a dense picture
 */
export function around(from, to, bend, others, paper, quick) {
  let best = curve(from, to, bend);
  let least = Infinity;
  for (const detour of DETOURS) {
    for (const turn of detour ? TURNS : [0.5]) {
      const course = curve(from, to, bend + detour, turn);
      const under = crossed(course.at, others, paper);
      if (under < least) [best, least] = [course, under];
      if (!under) return best;
    }
  }
  return quick ? best : (routed(from, to, others, paper) ?? best);
}

/**
 * Returns how many points of a course lie in boxes, which count twice, or beside the paper.
 * @param {(share: number) => Point} at
 * @param {readonly Box[]} boxes
 * @param {Box} paper
 */
function crossed(at, boxes, paper) {
  let count = 0;
  for (let step = 1; step < SAMPLES; step += 1) {
    const point = at(step / SAMPLES);
    if (boxes.some((box) => holds(box, point))) count += 2;
    else if (!holds(paper, point)) count += 1;
  }
  return count;
}

/**
 * @param {Box} box
 * @param {Point} point
 */
export function holds(box, { x, y }) {
  return x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
}

/**
 * @param {Place} from
 * @param {Place} to
 * @param {number} bend
 * @param {number} [turn] where between them it is bent most, from 0 to 1
 */
function curve(from, to, bend, turn = 0.5) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const control = {
    x: from.x + dx * turn - (dy / length) * bend,
    y: from.y + dy * turn + (dx / length) * bend,
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
export function loop(place) {
  const { x, y } = place;
  const top = y - (place.scale * HEIGHT) / 2;
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
export function leave(place, point, gap) {
  const [dx, dy] = [point.x - place.x, point.y - place.y];
  if (!dx && !dy) return place;
  const share = Math.min(
    (place.width / 2 + gap) / Math.max(Math.abs(dx), 1e-6),
    ((place.scale * HEIGHT) / 2 + gap) / Math.max(Math.abs(dy), 1e-6),
    1,
  );
  return { x: place.x + dx * share, y: place.y + dy * share };
}

/** @param {Point} point */
export function xy(point) {
  return `${round(point.x)} ${round(point.y)}`;
}

/** @param {number} value */
export function round(value) {
  return Math.round(10 * value) / 10 + 0;
}
