// What views can be made on this page: the methods, what each takes, and the specification they make.

/**
 * @typedef {import("./state.js").State} State
 * @typedef {{starts: readonly string[], answers: readonly string[]}} Aim the question's entities, and
 *   those that answer it
 *
 * @typedef {object} Option a number, or a box to tick where it has no bounds
 * @property {string} words
 * @property {number} start
 * @property {{least: number, most: number}} [bounds]
 * @property {(value: number) => Record<string, unknown>} give what it says in a specification
 *
 * @typedef {object} Method
 * @property {string} name in the API
 * @property {string} words
 * @property {string} about what it does, in a sentence
 * @property {string} group
 * @property {readonly string[]} takes names of its options
 * @property {boolean} [aims] whether it aims at the answers of a question
 * @property {boolean} [whole] whether it has no part of the graph to keep to
 * @property {Record<string, unknown>} [fixed] of its specification
 */

/** @type {Record<string, Option>} */
export const OPTIONS = {
  count: {
    words: "Chains", start: 3, bounds: { least: 1, most: 100 }, give: (count) => ({ count }),
  },
  draw: {
    words: "a statement may be drawn twice, as in OKGQA's code", start: 0, give: () => ({ sampling: "OKGQA" }),
  },
  nth: {
    words: "Least likely relation: the first, second ...", start: 1, bounds: { least: 1, most: 1000 }, give: (nth) => ({ nth }),
  },
  scorer: {
    words: "likely by the trained scorer, not by counts", start: 0, give: () => ({ scorer: "trained" }),
  },
  control: {
    words: "as many beside the paths instead, to compare", start: 0, give: () => ({ control: true }),
  },
  atoms: {
    words: "Statements of a rule's body", start: 2, bounds: { least: 1, most: 2 }, give: (ruleAtoms) => ({ ruleAtoms }),
  },
  support: {
    words: "Cases of a rule, at least", start: 10, bounds: { least: 1, most: 100_000 },
    give: (ruleSupport) => ({ ruleSupport }),
  },
  confidence: {
    words: "Confidence of a rule, at least, in %", start: 50, bounds: { least: 0, most: 100 },
    give: (percent) => ({ ruleConfidence: percent / 100 }),
  },
  hops: {
    words: "Steps around them", start: 2, bounds: { least: 0, most: 4 }, give: (hops) => ({ hops }),
  },
  pruned: {
    words: "of these only what PageRank keeps, as OKGQA does", start: 0, give: () => ({ pruned: true }),
  },
};

const REMOVE = "Remove statements";
const CHANGE = "Change statements";
const ADD = "Add statements";
const NAME = "Change names";

/** @type {Record<string, Method>} */
export const METHODS = {
  ed: {
    name: "EDGE_DELETION", words: "Edge deletion", group: REMOVE, takes: ["draw"],
    about: "Statements are removed.",
  },
  pd: {
    name: "PATH_DELETION", words: "Path deletion", group: REMOVE, takes: ["control"], aims: true, whole: true,
    about: "Statements on the shortest paths from the question's entities to the answer are removed. At 100 % no such path is left.",
  },
  rd: {
    name: "RULE_DELETION", words: "Rule deletion", group: REMOVE, takes: ["atoms", "support", "confidence"],
    about: "Statements are removed that others still imply: the graph's rules could restore them.",
  },
  st: {
    name: "STALE", words: "Out of date", group: REMOVE, takes: [],
    about: "The newest value of a relation is removed, and deprecated statements return: the graph as it was before its last updates.",
  },
  rs: {
    name: "RELATION_SWAPPING", words: "Relation swapping", group: CHANGE, takes: ["draw"],
    about: "Pairs of statements exchange their relations.",
  },
  rr: {
    name: "RELATION_REPLACEMENT", words: "Relation replacement", group: CHANGE, takes: ["nth", "draw", "scorer"],
    about: "A statement gets the relation that is least likely between its two entities.",
  },
  rp: {
    name: "RELATION_REPLACEMENT", words: "Plausible replacement", group: CHANGE, takes: [],
    fixed: { replacement: "PLAUSIBLE" },
    about: "A statement gets a relation that joins entities of the same types, so that it looks right.",
  },
  er: {
    name: "EDGE_REWIRING", words: "Edge rewiring", group: CHANGE, takes: ["draw"],
    about: "A statement gets another value, far from its subject.",
  },
  tp: {
    name: "TYPE_PRESERVING", words: "Same-type replacement", group: CHANGE, takes: [],
    about: "The subject or the value becomes another entity of the same type.",
  },
  iv: {
    name: "INVERSION", words: "Inversion", group: CHANGE, takes: [],
    about: "Subject and value change places.",
  },
  co: {
    name: "CONTRADICTION", words: "Contradiction", group: ADD, takes: [],
    about: "A false statement is added beside a true one: another value of the same type.",
  },
  in: {
    name: "INSERTION", words: "Insertion at random", group: ADD, takes: [],
    about: "False statements are added anywhere.",
  },
  ic: {
    name: "INSERTION", words: "Insertion of false chains", group: ADD, takes: ["count"], aims: true, whole: true,
    about: "Chains of false statements are added that lead from the question's entities to a wrong answer.",
  },
  ns: {
    name: "NAMES", words: "Misspelt names", group: NAME, takes: [], fixed: { naming: "SLIPS" },
    about: "Each label and alias of an entity has a slip of one letter.",
  },
  nx: {
    name: "NAMES", words: "Swapped names", group: NAME, takes: [], fixed: { naming: "SWAPPED" },
    about: "Two entities of the same type exchange their names.",
  },
  nn: {
    name: "NAMES", words: "Swapped namesakes", group: NAME, takes: [], fixed: { naming: "NAMESAKES" },
    about: "Two entities that share a name exchange all their names.",
  },
  ng: {
    name: "NAMES", words: "No names", group: NAME, takes: [], fixed: { naming: "GONE" },
    about: "Entities are called by their ids.",
  },
};

/**
 * Returns whether a method says how many statements change, and not which share.
 * @param {string} key
 */
export function counts(key) {
  return METHODS[key].takes.includes("count");
}

/**
 * Returns the names of the options that a method takes in a state.
 * @param {string} key
 * @param {boolean} near
 */
export function optionsOf(key, near) {
  const method = METHODS[key];
  // Names change before a question is linked: nothing is pruned around it yet.
  const scope = method.group === NAME ? ["hops"] : ["hops", "pruned"];
  return [...(near && !method.whole ? scope : []), ...method.takes];
}

/**
 * Returns a view's specification as the API takes it.
 * @param {State} state with a method
 * @param {Aim} aim
 */
export function specOf(state, aim) {
  const method = METHODS[state.method];
  const given = (/** @type {string} */ name) => OPTIONS[name].give(state.options[name] ?? OPTIONS[name].start);
  /** @type {Record<string, any>} */
  const spec = { method: method.name, ...method.fixed };
  if (counts(state.method)) Object.assign(spec, given("count"));
  else spec.level = state.level / 100;
  spec.randomSeed = state.seed;
  if (method.aims) Object.assign(spec, { itemIds: aim.starts, answerIds: aim.answers });
  const pruned = state.near && state.options.pruned && method.group !== NAME;
  for (const name of method.takes) {
    // A pruned part is a graph of its own, which no scorer was trained on.
    if (name in state.options && name !== "count" && !(pruned && name === "scorer")) Object.assign(spec, given(name));
  }
  if (state.near && !method.whole && aim.starts.length) {
    spec.scope = { aroundItemIds: aim.starts, ...given("hops"), ...(pruned ? given("pruned") : {}) };
  }
  return spec;
}
