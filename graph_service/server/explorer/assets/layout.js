// Where the nodes of a picture stand. A function of the picture alone: no clock, no chance.

import { Fan, hubOf } from "./fan.js";

/**
 * @typedef {import("./union.js").Picture} Picture
 * @typedef {{x: number, y: number, width: number, scale: number, row: "hub" | "row" | ""}} Place
 *   a place may be the middle of a fan, or a row of it
 * @typedef {Place & {index: number, fx?: number, fy?: number, vx: number, vy: number, gaps: Map<Body, number>}} Body
 *   with the room that the labels of its edges need beside it
 */

export const HEIGHT = 26;
export const MOST_CHARACTERS = 26;
/** How much wider the label of a node of the question or the answer is. */
export const BOLD = 1.12;
/** From the left to the right of a picture that is narrow, in px. */
const NARROW_ROOM = 314;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const GAP_X = 22;
const GAP_Y = 46;
/** Between the labels that the sides of a frame have pushed together. */
const LEAST_GAP = 14;
/** What an edge has beside its label: the arrow, and a bit of line at both sides. */
const LABEL_GAP = 34;
/** How much larger than others a node of many statements is, at most, and of how many. */
const MOST_LARGER = 0.3;
const MANY = 12;

/**
 * Returns how large each node is drawn, by the statements that it has in the picture.
 * @param {Picture} picture
 * @returns {Map<string, number>}
 */
export function scalesOf(picture) {
  /** @type {Map<string, number>} */
  const degrees = new Map();
  for (const { source, target } of picture.edges) {
    for (const id of new Set([source, target])) degrees.set(id, (degrees.get(id) ?? 0) + 1);
  }
  const scale = (/** @type {number} */ degree) => 1 + (MOST_LARGER * Math.min(degree - 1, MANY)) / MANY;
  return new Map(picture.nodes.map((node) => [node.id, scale(Math.max(1, degrees.get(node.id) ?? 1))]));
}

/**
 * Returns the label that a picture has room for.
 * @param {string} label
 */
export function short(label) {
  const letters = [...label.trim().replace(/\s+/g, " ")];
  if (!letters.length) return "(no text)";
  if (letters.length <= MOST_CHARACTERS) return letters.join("");
  return `${letters.slice(0, MOST_CHARACTERS - 1).join("").trimEnd()}…`;
}

/**
 * Returns the width of a text of 13 px, in px: by kinds of letters, since measuring would depend
 * on the fonts of the machine.
 * @param {string} text
 */
export function widthOf(text) {
  let width = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    if (code >= 0x1100 && !(code >= 0x2010 && code <= 0x2027)) width += 13.5;
    else if ("ilj.,:;'|!() ftr".includes(letter)) width += 4.4;
    else if ("mwMW@%".includes(letter)) width += 11.4;
    else if (letter >= "A" && letter <= "Z") width += 9;
    else width += 7.3;
  }
  return width;
}

/**
 * Returns a text that is at most so many px wide.
 * @param {string} text
 * @param {number} width
 */
export function cut(text, width) {
  if (widthOf(text) <= width) return text;
  let letters = [...text];
  while (letters.length > 1 && widthOf(`${letters.join("")}…`) > width) letters = letters.slice(0, -1);
  return `${letters.join("").trimEnd()}…`;
}

/**
 * Returns the lines of a text, broken between words; the last one is cut where it is too wide.
 * @param {string} text
 * @param {number} width
 * @param {number} most lines
 * @returns {string[]}
 */
export function folded(text, width, most) {
  const words = text.split(" ");
  let count = words.length;
  while (count > 1 && widthOf(words.slice(0, count).join(" ")) > width) count -= 1;
  const [first, rest] = [words.slice(0, count).join(" "), words.slice(count).join(" ")];
  if (most === 1 || !rest || widthOf(first) > width) return [cut(text, width)];
  return [first, ...folded(rest, width, most - 1)];
}

/** @param {readonly string[]} lines */
export function widestOf(lines) {
  return Math.max(...lines.map(widthOf));
}

/** Places of pictures that were drawn last: most clicks change what is marked, and no place. */
const kept = /** @type {Map<string, Map<string, Place>>} */ (new Map());
const KEPT = 8;

/**
 * Returns the place of each node of a picture.
 * @param {Picture} picture
 * @param {boolean} narrow whether it is shown from the top to the bottom
 * @param {number} room from left to right, in px; Infinity for any
 * @returns {Map<string, Place>}
 */
export function placesOf(picture, narrow, room) {
  const key = JSON.stringify([
    narrow,
    room,
    picture.nodes.map((node) => [node.id, node.label, node.stage]),
    picture.edges.map((edge) => [edge.id, edge.source, edge.target, edge.stage]),
  ]);
  const places = kept.get(key) ?? settled(picture, narrow, room);
  kept.delete(key);
  kept.set(key, places);
  if (kept.size > KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
  return places;
}

/**
 * Returns the place of each node. Nodes of a stage are placed around those of the stages before,
 * which stay where they are: nothing moves when a view is laid over a graph or a node is expanded.
 * @param {Picture} picture
 * @param {boolean} narrow
 * @param {number} room
 * @returns {Map<string, Place>}
 */
function settled(picture, narrow, room) {
  /** @type {Map<string, Body>} */
  const bodies = new Map();
  const nodes = [...picture.nodes].sort((a, b) => a.stage - b.stage || order(a.id, b.id));
  const edges = [...picture.edges].sort((a, b) => order(a.id, b.id));
  const stages = [...new Set(nodes.map((node) => node.stage))];
  // What is added later changes the size of nothing that stands.
  const first = { nodes, edges: edges.filter((edge) => edge.stage === stages[0]) };
  const scales = scalesOf(first);
  const hub = hubOf(first.edges);
  /** @type {Fan | null} */
  let fan = null;
  for (const stage of stages) {
    const added = nodes.filter((node) => node.stage === stage);
    added.forEach((node, index) => {
      const scale = scales.get(node.id) ?? 1;
      const width = scale * widthOf(short(node.label)) + 24;
      bodies.set(node.id, { ...begin(node.id, index, edges, bodies), width, scale });
    });
    // Edges of later stages must not draw these nodes.
    const known = edges.filter((edge) => edge.stage <= stage);
    if (hub !== null) {
      fan = inRows(fan, hub, added, known, bodies, narrow);
      besideRows(fan, added, known, bodies);
    }
    const free = added.filter((node) => bodies.get(node.id)?.fx === undefined);
    if (free.length) settle([...bodies.values()], links(known, bodies), free.length, narrow, room);
    for (const body of bodies.values()) {
      body.fx = body.x = Math.round(body.x);
      body.fy = body.y = Math.round(body.y);
    }
  }
  return new Map([...bodies].map(([id, { x, y, width, scale, row }]) => [id, { x, y, width, scale, row }]));
}

/**
 * Places the neighbours of the middle of a fan, each in a row of it.
 * @param {Fan | null} fan null before its first rows
 * @param {string} hub
 * @param {readonly {id: string}[]} added
 * @param {readonly import("./union.js").Edge[]} edges
 * @param {Map<string, Body>} bodies
 * @param {boolean} narrow
 * @returns {Fan}
 */
function inRows(fan, hub, added, edges, bodies, narrow) {
  const middle = /** @type {Body} */ (bodies.get(hub));
  const stand = (/** @type {Body} */ body, /** @type {{x: number, y: number}} */ { x, y }) =>
    Object.assign(body, { x, y, fx: x, fy: y, row: body === middle ? "hub" : "row" });
  const leaves = added.filter(({ id }) =>
    edges.some(({ source, target }) => id !== hub && ((source === id && target === hub) || (source === hub && target === id))),
  );
  if (fan) {
    for (const { id } of leaves) {
      const body = /** @type {Body} */ (bodies.get(id));
      stand(body, fan.add(body.width));
    }
    return fan;
  }
  stand(middle, { x: 0, y: 0 });
  const made = new Fan(hub, middle, narrow);
  const rows = leaves.map(({ id }) => ({ id, width: /** @type {Body} */ (bodies.get(id)).width }));
  for (const [id, place] of made.begin(rows, edges)) stand(/** @type {Body} */ (bodies.get(id)), place);
  return made;
}

/**
 * Places those nodes beside the rows that hang on one of them, or on another that stands there.
 * @param {Fan} fan
 * @param {readonly {id: string}[]} added
 * @param {readonly import("./union.js").Edge[]} edges
 * @param {Map<string, Body>} bodies
 */
function besideRows(fan, added, edges, bodies) {
  let free = added.map(({ id }) => id);
  for (let before = Infinity; free.length < before; ) {
    before = free.length;
    free = free.filter((id) => {
      const body = /** @type {Body} */ (bodies.get(id));
      if (body.fx !== undefined) return false;
      for (const edge of edges) {
        const other = edge.source === id ? edge.target : edge.target === id ? edge.source : fan.hub;
        const near = other === fan.hub ? undefined : bodies.get(other);
        if (near?.fx === undefined) continue;
        const { x, y } = fan.beside(body.width, near, widthOf(short(edge.label)) + LABEL_GAP);
        Object.assign(body, { x, y, fx: x, fy: y });
        return false;
      }
      return true;
    });
  }
}

/**
 * @param {string} id
 * @param {number} index
 * @param {readonly {source: string, target: string}[]} edges
 * @param {Map<string, Body>} bodies
 * @returns {Body}
 */
function begin(id, index, edges, bodies) {
  let near = null;
  for (const edge of edges) {
    const other = edge.source === id ? edge.target : edge.target === id ? edge.source : "";
    const body = bodies.get(other);
    if (body?.fx !== undefined) {
      near = body;
      break;
    }
  }
  const radius = near ? 90 : 40 * Math.sqrt(0.5 + index);
  // Away from the middle, so that what is added does not cross what is there.
  const turn = near ? Math.atan2(near.y, near.x) + 0.35 * ((index % 7) - 3) : index * GOLDEN;
  const x = (near?.x ?? 0) + 1.5 * radius * Math.cos(turn);
  const y = (near?.y ?? 0) + radius * Math.sin(turn);
  return { x, y, vx: 0, vy: 0, width: 0, scale: 1, index: 0, row: "", gaps: new Map() };
}

/**
 * Returns the pairs that edges join, and notes how far apart the labels keep them.
 * @param {readonly {source: string, target: string, label: string}[]} edges
 * @param {Map<string, Body>} bodies
 */
function links(edges, bodies) {
  const found = [];
  const seen = new Set();
  for (const edge of edges) {
    const source = bodies.get(edge.source);
    const target = bodies.get(edge.target);
    const pair = [edge.source, edge.target].sort().join("\n");
    if (!source || !target || source === target) continue;
    const gap = Math.max(source.gaps.get(target) ?? 0, widthOf(short(edge.label)) + LABEL_GAP);
    source.gaps.set(target, gap);
    target.gaps.set(source, gap);
    if (seen.has(pair)) continue;
    seen.add(pair);
    found.push({ source, target });
  }
  return found;
}

/**
 * @param {Body[]} bodies
 * @param {{source: Body, target: Body}[]} linked
 * @param {number} moved
 * @param {boolean} narrow
 * @param {number} room
 */
function settle(bodies, linked, moved, narrow, room) {
  const sides = narrow ? walls(bodies, NARROW_ROOM) : Number.isFinite(room) ? walls(bodies, room) : null;
  const ticks = moved > 150 ? 120 : moved > 60 ? 200 : 300;
  const link = d3
    .forceLink(linked)
    .distance((/** @type {any} */ one) => 95 + (one.source.width + one.target.width) / 2.6)
    .iterations(2);
  d3.forceSimulation(bodies)
    .stop()
    .alphaDecay(1 - Math.pow(0.001, 1 / ticks))
    .force("link", link)
    .force("charge", d3.forceManyBody().strength(-1300).distanceMax(700))
    .force("x", d3.forceX(0).strength(0.05))
    .force("y", d3.forceY(0).strength(narrow ? 0.03 : 0.11))
    .force("apart", apart(narrow))
    .force("walls", sides)
    .tick(ticks);
  if (!sides) return;
  // What the sides hold back has room above and below alone.
  const upright = apart(true, true);
  upright.initialize(bodies);
  for (let tick = 0; tick < ticks; tick += 1) {
    sides();
    upright();
  }
}

/**
 * A force that keeps labels between the sides of a frame.
 * @param {Body[]} bodies
 * @param {number} room between the sides, in px
 */
function walls(bodies, room) {
  return () => {
    for (const body of bodies) {
      const most = Math.max(0, room - body.width * BOLD) / 2;
      if (body.fx === undefined) body.x = Math.max(-most, Math.min(most, body.x));
    }
  };
}

/**
 * A force that keeps labels, which are boxes, apart.
 * @param {boolean} narrow whether there is room from the top to the bottom alone
 * @param {boolean} tight whether they may stand close
 */
function apart(narrow, tight = false) {
  const reach = HEIGHT + (tight ? LEAST_GAP : GAP_Y);
  /** @type {Body[]} */
  let bodies = [];
  const force = () => {
    for (let i = 0; i < bodies.length; i += 1) {
      const a = bodies[i];
      for (let j = i + 1; j < bodies.length; j += 1) {
        const b = bodies[j];
        // Most pairs are far from each other; 300 nodes have 45,000 pairs.
        if (Math.abs(b.y - a.y) < reach) push(a, b, narrow, tight);
      }
    }
  };
  force.initialize = (/** @type {Body[]} */ given) => {
    bodies = given;
  };
  return force;
}

/**
 * @param {Body} a
 * @param {Body} b
 * @param {boolean} narrow
 * @param {boolean} tight
 */
function push(a, b, narrow, tight) {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const overX = (a.width + b.width) / 2 + (tight ? LEAST_GAP : Math.max(GAP_X, a.gaps.get(b) ?? 0)) - Math.abs(dx);
  const overY = HEIGHT + (tight ? LEAST_GAP : GAP_Y) - Math.abs(dy);
  if (overX <= 0 || overY <= 0) return;
  const free = (a.fx === undefined ? 1 : 0) + (b.fx === undefined ? 1 : 0);
  if (!free) return;
  const aside = !narrow && overX < overY;
  const amount = (0.7 * (aside ? overX : overY)) / free;
  const sign = (aside ? dx : dy) < 0 ? -1 : 1;
  const name = aside ? "x" : "y";
  if (a.fx === undefined) a[name] -= sign * amount;
  if (b.fx === undefined) b[name] += sign * amount;
}

/**
 * Orders ids by their code units, as no locale changes.
 * @param {string} a
 * @param {string} b
 */
export function order(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
