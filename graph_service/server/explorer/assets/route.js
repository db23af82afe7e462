// A way around nodes for a line that no single curve leads around them.

import { holds, leave, xy } from "./curves.js";

/**
 * @typedef {import("./layout.js").Place} Place
 * @typedef {import("./curves.js").Point} Point
 * @typedef {import("./curves.js").Box} Box
 */

const CELL = 9;
const CORNER = 12;
/** How far apart the points are at which a straight line is checked. */
const STEP = 3;
/** The neighbours of a cell, straight ones first. */
const NEXT = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, -1], [-1, 1], [-1, -1]];

/**
 * Returns the shortest way between two nodes over a grid, with round corners; null if there is none.
 * @param {Place} from
 * @param {Place} to
 * @param {readonly Box[]} others what it must not cross
 * @param {Box} paper of the picture
 * @returns {{d: string, at: (share: number) => Point} | null}
 */
export function routed(from, to, others, paper) {
  const cells = search(from, to, others, paper);
  if (!cells) return null;
  const middle = straightened([from, ...cells, to], others);
  const points = [leave(from, middle[1], 0), ...middle.slice(1, -1), leave(to, /** @type {Point} */ (middle.at(-2)), 3)];
  return { d: rounded(points), at: (share) => along(points, share) };
}

/**
 * Returns the cells of the shortest way, found in widening circles.
 * @param {Place} from
 * @param {Place} to
 * @param {readonly Box[]} others
 * @param {Box} paper
 * @returns {Point[] | null}
 */
function search(from, to, others, paper) {
  const [columns, rows] = [Math.ceil(paper.width / CELL), Math.ceil(paper.height / CELL)];
  const middle = (/** @type {number} */ cell) => ({
    x: paper.x + ((cell % columns) + 0.5) * CELL,
    y: paper.y + (Math.floor(cell / columns) + 0.5) * CELL,
  });
  const cellOf = (/** @type {Point} */ { x, y }) =>
    Math.floor((y - paper.y) / CELL) * columns + Math.floor((x - paper.x) / CELL);
  const closed = new Set();
  for (const box of others) {
    const [left, right] = [box.x - paper.x, box.x + box.width - paper.x].map((x) => Math.round(x / CELL));
    const [top, bottom] = [box.y - paper.y, box.y + box.height - paper.y].map((y) => Math.round(y / CELL));
    for (let row = top; row < bottom; row += 1) {
      for (let column = left; column < right; column += 1) closed.add(row * columns + column);
    }
  }
  const [first, last] = [cellOf(from), cellOf(to)];
  const before = new Map([[first, -1]]);
  for (const cell of before.keys()) {
    if (cell === last) break;
    for (const [right, down] of NEXT) {
      const column = (cell % columns) + right;
      const row = Math.floor(cell / columns) + down;
      const next = row * columns + column;
      const isOut = column < 0 || column >= columns || row < 0 || row >= rows;
      if (!isOut && !closed.has(next) && !before.has(next)) before.set(next, cell);
    }
  }
  if (!before.has(last)) return null;
  const way = [];
  for (let cell = last; cell !== -1; cell = /** @type {number} */ (before.get(cell))) way.unshift(middle(cell));
  return way;
}

/**
 * Returns the points of a way at which it has to turn.
 * @param {readonly Point[]} way
 * @param {readonly Box[]} others
 */
function straightened(way, others) {
  const points = [way[0]];
  let here = 0;
  while (here < way.length - 1) {
    let there = way.length - 1;
    while (there > here + 1 && !isClear(way[here], way[there], others)) there -= 1;
    points.push(way[there]);
    here = there;
  }
  return points;
}

/**
 * @param {Point} a
 * @param {Point} b
 * @param {readonly Box[]} others
 */
function isClear(a, b, others) {
  const steps = Math.ceil(Math.hypot(b.x - a.x, b.y - a.y) / STEP);
  for (let step = 0; step <= steps; step += 1) {
    const point = between(a, b, step / (steps || 1));
    if (others.some((box) => holds(box, point))) return false;
  }
  return true;
}

/**
 * @param {Point} a
 * @param {Point} b
 * @param {number} share
 */
function between(a, b, share) {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
}

/** @param {readonly Point[]} points */
function rounded(points) {
  let d = `M${xy(points[0])}`;
  for (let index = 1; index < points.length - 1; index += 1) {
    const [before, corner, after] = points.slice(index - 1, index + 2);
    const cut = (/** @type {Point} */ other) => {
      const length = Math.hypot(other.x - corner.x, other.y - corner.y) || 1;
      return between(corner, other, Math.min(CORNER, length / 2) / length);
    };
    d += ` L${xy(cut(before))} Q${xy(corner)} ${xy(cut(after))}`;
  }
  return `${d} L${xy(/** @type {Point} */ (points.at(-1)))}`;
}

/**
 * Returns the point at a share of the whole length.
 * @param {readonly Point[]} points
 * @param {number} share
 */
function along(points, share) {
  const lengths = points.slice(1).map((point, index) => Math.hypot(point.x - points[index].x, point.y - points[index].y));
  let left = share * lengths.reduce((sum, length) => sum + length, 0);
  for (const [index, length] of lengths.entries()) {
    if (left <= length && length) return between(points[index], points[index + 1], left / length);
    left -= length;
  }
  return /** @type {Point} */ (points.at(-1));
}
