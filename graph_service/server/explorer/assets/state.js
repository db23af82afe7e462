// All that decides what the page shows, and the address that holds it: both ways, without the DOM.
// It stands behind the #, so that no question gets into the log of a server or a proxy.

import { METHODS, OPTIONS, optionsOf } from "./methods.js";

/**
 * @typedef {object} Expansion
 * @property {string} id the entity
 * @property {number} count how many statements of it are added
 *
 * @typedef {object} State
 * @property {string} graph "" for the only one
 * @property {string} q the question; "" where an entity is looked at
 * @property {string} item the entity that is looked at
 * @property {string[]} from the entities that the question is about, in place of linking
 * @property {number} n statements of the subgraph at most
 * @property {number} paths paths at most
 * @property {string[]} out relations that are left out
 * @property {string[]} types classes whose instances alone may be found
 * @property {Expansion[]} expand
 * @property {string[]} fold entities whose neighbours are folded away
 * @property {string} view a stored view, by its id
 * @property {string} method of an inline view; "" for none
 * @property {number} level of it, in percent
 * @property {number} seed of it
 * @property {boolean} near whether it changes only what lies around the question's entities
 * @property {Record<string, number>} options of its method, where they are not as they begin
 * @property {"both" | "base" | "view"} show
 * @property {string} sel the statement that is selected
 * @property {string} open the entity whose statements are listed
 */

export const MOST = { n: 300, paths: 50, count: 300, seed: 1_000_000 };

/** @type {Readonly<State>} */
export const START = Object.freeze({
  graph: "",
  q: "",
  item: "",
  from: [],
  n: 30,
  paths: 5,
  out: [],
  types: [],
  expand: [],
  fold: [],
  view: "",
  method: "",
  level: 30,
  seed: 1,
  near: false,
  options: {},
  show: "both",
  sel: "",
  open: "",
});

/**
 * Returns the state of an address. What it can't read has the value it begins with.
 * @param {string} hash with or without #
 * @returns {State}
 */
export function readState(hash) {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  const text = (/** @type {string} */ name) => asked.get(name) ?? "";
  const several = (/** @type {string} */ name) => [...new Set(asked.getAll(name).filter(Boolean))];
  const shown = text("show");
  const method = text("view") || !Object.hasOwn(METHODS, text("m")) ? "" : text("m");
  const near = text("near") === "1";
  return {
    graph: text("graph"),
    q: text("q"),
    item: text("item"),
    from: several("from"),
    n: number(text("n"), 1, MOST.n, START.n),
    paths: number(text("paths"), 1, MOST.paths, START.paths),
    out: several("out"),
    types: several("type"),
    expand: expansions(asked.getAll("x")),
    fold: several("fold"),
    view: text("view"),
    method,
    level: number(text("level"), 1, 100, START.level),
    seed: number(text("seed"), 0, MOST.seed, START.seed),
    near,
    options: method ? options(asked.getAll("o"), optionsOf(method, near)) : {},
    show: shown === "base" || shown === "view" ? shown : "both",
    sel: text("sel"),
    open: text("open"),
  };
}

/**
 * Returns the address of a state, from # on. What has the value it begins with is left out.
 * @param {State} state
 * @returns {string}
 */
export function writeState(state) {
  const asked = new URLSearchParams();
  /** @type {[string, string | number | boolean | readonly string[]][]} */
  const parts = [
    ["graph", state.graph],
    ["q", state.q],
    ["item", state.item],
    ["from", state.from],
    ["n", state.n === START.n ? "" : state.n],
    ["paths", state.paths === START.paths ? "" : state.paths],
    ["out", state.out],
    ["type", state.types],
    ["x", state.expand.map((one) => `${one.count}*${one.id}`)],
    ["fold", state.fold],
    ["view", state.view],
    ["m", state.view ? "" : state.method],
    ["level", state.level === START.level ? "" : state.level],
    ["seed", state.seed === START.seed ? "" : state.seed],
    ["near", state.near ? 1 : ""],
    ["o", state.view ? [] : Object.keys(state.options).sort().map((name) => `${name}:${state.options[name]}`)],
    ["show", state.show === "both" ? "" : state.show],
    ["sel", state.sel],
    ["open", state.open],
  ];
  for (const [name, value] of parts) {
    for (const one of Array.isArray(value) ? value : [String(value)]) {
      if (one) asked.append(name, one);
    }
  }
  const text = asked.toString();
  return text ? `#${text}` : "#";
}

/**
 * Returns a state that asks something else: nothing of what was looked at before stays.
 * @param {State} state
 * @param {Partial<State>} asked
 * @returns {State}
 */
export function askAnew(state, asked) {
  const gone = { q: "", item: "", from: [], expand: [], fold: [], sel: "", open: "" };
  return { ...state, ...gone, ...asked };
}

/** @param {State} state */
export function hasView(state) {
  return state.view !== "" || state.method !== "";
}

/** @param {State} state */
export function asksNothing(state) {
  return state.q.trim() === "" && state.item === "";
}

/**
 * @param {string} text
 * @param {number} least
 * @param {number} most
 * @param {number} otherwise
 */
function number(text, least, most, otherwise) {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? value : otherwise;
}

/**
 * @param {string[]} texts
 * @returns {Expansion[]}
 */
function expansions(texts) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const text of texts) {
    const match = /^(\d{1,3})\*(.+)$/s.exec(text);
    const count = match ? Number(match[1]) : 0;
    if (match && count >= 1 && count <= MOST.count) found.set(match[2], count);
  }
  return [...found].map(([id, count]) => ({ id, count }));
}

/**
 * Returns the options that are given and differ from how they begin.
 * @param {string[]} texts such as nth:2
 * @param {string[]} taken names of those that may be given
 */
function options(texts, taken) {
  /** @type {Record<string, number>} */
  const found = {};
  for (const text of texts) {
    const [name, value] = text.split(":");
    if (!taken.includes(name)) continue;
    const { start, bounds } = OPTIONS[name];
    const read = number(value ?? "", bounds?.least ?? 0, bounds?.most ?? 1, start);
    if (read !== start) found[name] = read;
  }
  return found;
}
