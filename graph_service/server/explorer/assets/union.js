// What the base and the view gave, as one graph: each statement once, with what became of it.

import { order } from "./layout.js";

/**
 * @typedef {"kept" | "removed" | "added" | "changed" | "unknown"} Status
 *
 * @typedef {object} Node
 * @property {string} id the entity's; of a literal "=" and its text
 * @property {string} label
 * @property {boolean} literal
 * @property {boolean} start whether the question is about it
 * @property {boolean} answer whether it is in the answer
 * @property {boolean} onPath whether the best path leads over it
 * @property {number} stage
 *
 * @typedef {object} Edge
 * @property {string} id the statement's
 * @property {string} source the subject
 * @property {string} target
 * @property {string} property
 * @property {string} label of the property
 * @property {Status} status
 * @property {"" | "before" | "after"} side of a changed one
 * @property {string} partner the other side of a changed one
 * @property {boolean} inBase whether the base's result has it
 * @property {boolean} inView
 * @property {number | null} baseScore
 * @property {number | null} viewScore
 * @property {string} rank
 * @property {boolean} onPath whether it is a step of the best path
 * @property {number} stage
 *
 * @typedef {{nodes: Node[], edges: Edge[]}} Picture
 *
 * @typedef {object} Found a statement that was found
 * @property {{itemId: string, label: string}} subject
 * @property {any} statement
 * @property {{kind: string, baseStatement: any}} change
 * @property {number} [score]
 *
 * @typedef {{base: Found[], view: Found[] | null}} Layer what is added at one stage
 *
 * @typedef {{kind: "kept" | "removed" | "unknown"} | {kind: "changed", after: Found}} Fate
 */

/** In the order in which changes are stepped through. */
export const STATUSES = /** @type {const} */ (["removed", "changed", "added", "kept", "unknown"]);

/**
 * Returns the statements that the base has found and the view has not, with their subjects.
 * @param {readonly Layer[]} layers
 * @returns {Found[]}
 */
export function lacking(layers) {
  const met = new Set();
  /** @type {Map<string, Found>} */
  const base = new Map();
  for (const layer of layers) {
    for (const found of layer.view ?? []) {
      met.add(found.statement.statementId);
      if (found.change.baseStatement) met.add(found.change.baseStatement.statementId);
    }
    for (const found of layer.base) base.set(found.statement.statementId, found);
  }
  return [...base.values()].filter((found) => !met.has(found.statement.statementId));
}

/**
 * Returns the graph of all layers.
 * @param {readonly Layer[]} layers
 * @param {ReadonlyMap<string, Fate>} fates what became of the statements that are lacking
 * @param {{starts: ReadonlySet<string>, answers: ReadonlySet<string>, path: ReadonlySet<string>}} marked
 *   ids of entities, and of the statements of the best path
 * @returns {Picture}
 */
export function unionOf(layers, fates, marked) {
  /** @type {Map<string, Node>} */
  const nodes = new Map();
  /** @type {Map<string, Edge>} */
  const edges = new Map();
  const compared = layers.some((layer) => layer.view !== null);

  /**
   * @param {string} id
   * @param {string} label
   * @param {boolean} literal
   * @param {number} stage
   */
  function node(id, label, literal, stage) {
    if (!nodes.has(id)) {
      const [start, answer] = [marked.starts.has(id), marked.answers.has(id)];
      nodes.set(id, { id, label, literal, start, answer, onPath: false, stage });
    }
    return id;
  }

  /**
   * @param {Found["subject"]} subject
   * @param {any} statement
   * @param {number} stage
   * @returns {Edge}
   */
  function edge(subject, statement, stage) {
    const before = edges.get(statement.statementId);
    if (before) return before;
    const item = statement.value?.item;
    const made = /** @type {Edge} */ ({
      id: statement.statementId,
      source: node(subject.itemId, subject.label, false, stage),
      target: item
        ? node(item.itemId, item.label, false, stage)
        : node(`=${statement.valueText}`, statement.valueText, true, stage),
      property: statement.property.propertyId,
      label: statement.property.label,
      status: "kept",
      side: "",
      partner: "",
      inBase: false,
      inView: false,
      baseScore: null,
      viewScore: null,
      rank: statement.rank,
      onPath: marked.path.has(statement.statementId),
      stage,
    });
    if (made.onPath) {
      for (const id of [made.source, made.target]) /** @type {Node} */ (nodes.get(id)).onPath = true;
    }
    edges.set(made.id, made);
    return made;
  }

  /**
   * @param {Found} found of the view, changed
   * @param {number} stage
   */
  function changed(found, stage) {
    const after = edge(found.subject, found.statement, stage);
    const { baseStatement } = found.change;
    const before = edge(baseStatement.subject, baseStatement, stage);
    Object.assign(after, { status: "changed", side: "after", partner: before.id });
    Object.assign(before, { status: "changed", side: "before", partner: after.id });
    return after;
  }

  const stages = layers.length;
  layers.forEach((layer, index) => {
    for (const found of layer.base) {
      const one = edge(found.subject, found.statement, index);
      one.inBase = true;
      one.baseScore = best(one.baseScore, found.score);
    }
  });
  layers.forEach((layer, index) => {
    for (const found of layer.view ?? []) {
      // What only the view has is placed after all of the base's, which it must not move.
      const stage = stages + index;
      const one = found.change.baseStatement
        ? changed(found, stage)
        : edge(found.subject, found.statement, stage);
      if (found.change.kind === "ADDED") one.status = "added";
      one.inView = true;
      one.viewScore = best(one.viewScore, found.score);
    }
  });
  if (compared) {
    for (const found of lacking(layers)) {
      const fate = fates.get(found.statement.statementId) ?? { kind: "unknown" };
      if (fate.kind === "changed") changed(fate.after, 2 * stages);
      else edge(found.subject, found.statement, 0).status = fate.kind;
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

/**
 * Returns the part that is shown: of one side, or without what is folded away.
 * @param {Picture} picture
 * @param {"both" | "base" | "view"} show
 * @param {readonly string[]} fold
 * @returns {Picture}
 */
export function shownOf(picture, show, fold) {
  let edges = picture.edges.filter((one) =>
    show === "both" ? true : show === "base" ? one.inBase : one.inView,
  );
  for (const id of fold) {
    const elsewhere = new Set(
      edges.filter((one) => one.source !== id && one.target !== id).flatMap((one) => [one.source, one.target]),
    );
    const stays = (/** @type {string} */ other) => other === id || elsewhere.has(other) || starts(picture, other);
    edges = edges.filter((one) => stays(one.source) && stays(one.target));
  }
  const used = new Set(edges.flatMap((one) => [one.source, one.target]));
  for (const one of picture.nodes) if (one.start || fold.includes(one.id)) used.add(one.id);
  return { nodes: picture.nodes.filter((one) => used.has(one.id)), edges };
}

/**
 * Returns edges in the order of their table: changes first where there are any, then by score.
 * @param {readonly Edge[]} edges
 * @returns {Edge[]}
 */
export function ranked(edges) {
  const score = (/** @type {Edge} */ one) => Math.max(one.baseScore ?? -9, one.viewScore ?? -9);
  return [...edges].sort(
    (a, b) =>
      STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status) ||
      order(pairOf(a), pairOf(b)) * Number(a.status === "changed") ||
      score(b) - score(a) ||
      order(a.id, b.id),
  );
}

/** @param {Edge} one */
function pairOf(one) {
  return one.side === "after" ? `${one.partner}2` : `${one.id}1`;
}

/**
 * @param {Picture} picture
 * @param {string} id
 */
function starts(picture, id) {
  return picture.nodes.some((one) => one.id === id && one.start);
}

/**
 * @param {number | null} known
 * @param {number | undefined} score
 */
function best(known, score) {
  if (score === undefined) return known;
  return known === null ? score : Math.max(known, score);
}
