// What a state asks of the API, and what comes back, put together.

import { ApiError, ask } from "./api.js";
import { classesOf } from "./classes.js";
import { METHODS, specOf } from "./methods.js";
import { MOST, hasView } from "./state.js";
import { lacking, unionOf } from "./union.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./union.js").Found} Found
 * @typedef {import("./union.js").Fate} Fate
 * @typedef {import("./union.js").Layer} Layer
 *
 * @typedef {object} Side what the base gave, or the view
 * @property {any} paths a PathsResult; null where an entity is looked at
 * @property {any} subgraph a SubgraphResult
 *
 * @typedef {object} Answers
 * @property {Side} base
 * @property {Side | null} view
 * @property {string} viewId
 * @property {any} viewRef as it was asked for
 * @property {Layer[]} layers
 * @property {Map<string, Fate>} fates
 * @property {Map<string, string>} classes of the entities, by their ids
 * @property {Map<string, number>} totals of each expanded entity, how many statements join it to others
 */

/** Statements of one entity that are looked through for what became of some. */
const FATES_FIRST = 500;
const FATES_ITEMS = 100;

/**
 * Returns the input of a question.
 * @param {State} state
 * @param {number} limit
 */
export function inputOf(state, limit) {
  /** @type {Record<string, unknown>} */
  const input = { question: state.q, limit };
  if (state.graph) input.graph = state.graph;
  if (state.from.length) input.itemIds = state.from;
  if (state.out.length) input.excludePropertyIds = state.out;
  if (state.types.length) input.typeIds = state.types;
  return input;
}

/**
 * Returns the view of a state as the API takes it; null for none.
 * @param {State} state
 * @param {import("./methods.js").Aim} aim
 */
export function viewOf(state, aim) {
  if (state.view) return { viewId: state.view };
  if (!state.method) return null;
  const method = METHODS[state.method];
  if (method.aims && !aim.answers.length) {
    throw new ApiError("BAD_INPUT", `${method.words} needs a question that an entity answers.`, "Ask another question, or choose another method.");
  }
  return { spec: specOf(state, aim) };
}

/**
 * Returns what the view of a state aims at.
 * @param {State} state
 * @param {Side | null} side of the base
 * @returns {import("./methods.js").Aim}
 */
export function aimOf(state, side) {
  return { starts: startsOf(state, side), answers: side ? answersOf(side) : [] };
}

/**
 * Returns the paths that answer a question where nothing is computed of them: the best, and those
 * over the same relations that are as good. None where the service is not sure.
 * @param {Side} side
 * @returns {any[]}
 */
export function bestPaths(side) {
  const paths = side.paths?.status === "OK" && !side.paths.answer ? side.paths.items : [];
  return paths.filter((/** @type {any} */ path) => path.score === paths[0].score && wayOf(path) === wayOf(paths[0]));
}

const wayOf = (/** @type {{steps: any[]}} */ { steps }) =>
  steps.map((step) => `${step.reversed ? "<" : ">"}${step.statement.property.propertyId}`).join(" ");

/**
 * Returns the entities that answer a question: at the end of the best path where it is not sure.
 * @param {Side} side
 * @returns {string[]}
 */
function answersOf(side) {
  const items = side.paths?.answer?.items ?? [];
  const paths = [...bestPaths(side), ...(side.paths?.items.slice(0, 1) ?? [])];
  const ends = items.length ? items : paths.map(endOf).filter(Boolean);
  return [...new Set(ends.map((/** @type {any} */ end) => end.itemId))].sort();
}

/**
 * Returns the entity at the end of a path; null where it ends at a literal.
 * @param {{steps: any[]}} path
 * @returns {{itemId: string, label: string} | null}
 */
export function endOf({ steps }) {
  const last = steps.at(-1);
  return (last?.reversed ? last.subject : last?.statement.value?.item) ?? null;
}

/**
 * Returns what a path ends at, in words.
 * @param {{steps: any[]}} path
 */
export function endText(path) {
  return endOf(path)?.label ?? path.steps.at(-1).statement.valueText;
}

/**
 * Returns the steps that an answer rests on: those that it cites, else those of the best paths, or of
 * the nearest one where the service is not sure.
 * @param {Side} side
 * @returns {any[]}
 */
export function basisOf(side) {
  if (side.paths?.answer) return side.paths.answer.basis;
  const best = bestPaths(side);
  const steps = (best.length ? best : (side.paths?.items.slice(0, 1) ?? [])).flatMap((/** @type {any} */ path) => path.steps);
  return [...new Map(steps.map((/** @type {any} */ step) => [step.statement.statementId, step])).values()];
}

/**
 * Returns the entities that a result begins at.
 * @param {State} state
 * @param {Side | null} side
 * @returns {string[]}
 */
export function startsOf(state, side) {
  if (state.item) return [state.item];
  if (state.from.length) return state.from;
  return (side?.subgraph.linked ?? []).map((/** @type {any} */ one) => one.item.itemId);
}

/**
 * Asks all that a state needs.
 * @param {State} state
 * @param {AbortSignal} signal
 * @param {(answers: Answers) => void} early is told the answers before what became of statements
 *   is known
 * @returns {Promise<Answers>}
 */
export async function load(state, signal, early) {
  const answers = state.item ? await around(state, signal) : await question(state, signal);
  const { base, view } = answers;
  answers.layers.push({ base: foundOf(base), view: view && foundOf(view) });
  if (!state.expand.length && answers.view) early(answers);
  for (const one of state.expand) await expand(state, one, answers, signal);
  if (answers.view) await learnFates(state, answers, signal);
  const marked = { starts: new Set(), answers: new Set(), path: new Set() };
  const { nodes } = unionOf(answers.layers, answers.fates, marked);
  answers.classes = await classesOf(nodes, state.graph, signal);
  return answers;
}

/**
 * @param {State} state
 * @param {AbortSignal} signal
 * @returns {Promise<Answers>}
 */
async function question(state, signal) {
  const variables = { paths: inputOf(state, state.paths), subgraph: inputOf(state, state.n) };
  /** @type {import("./methods.js").Aim} */
  let aim = { starts: state.from, answers: [] };
  const method = METHODS[state.method];
  if (method && (method.aims || (state.near && !method.whole && !aim.starts.length))) {
    aim = aimOf(state, sideOf(await ask("Ask", variables, { signal })));
  }
  const view = viewOf(state, aim);
  if (!view) return made(sideOf(await ask("Ask", variables, { signal })), null, null, "");
  const data = await ask("Compare", { ...variables, view }, { signal });
  const [base, other] = [0, 1].map((place) => ({
    paths: data.paths[place].result,
    subgraph: data.subgraph[place].result,
  }));
  return made(base, other, view, data.paths[1].viewId);
}

/**
 * @param {State} state
 * @param {AbortSignal} signal
 * @returns {Promise<Answers>}
 */
async function around(state, signal) {
  const view = viewOf(state, { starts: [state.item], answers: [] });
  const variables = { item: state.item, graph: state.graph || null, limit: state.n };
  const data = view
    ? await ask("AroundView", { ...variables, view }, { signal })
    : await ask("Around", variables, { signal });
  const other = view && { paths: null, subgraph: data.view };
  return made({ paths: null, subgraph: data.base }, other, view, other?.subgraph.provenance.viewId ?? "");
}

/**
 * @param {Side} base
 * @param {Side | null} view
 * @param {any} viewRef
 * @param {string} viewId
 * @returns {Answers}
 */
function made(base, view, viewRef, viewId) {
  return { base, view, viewId, viewRef, layers: [], fates: new Map(), classes: new Map(), totals: new Map() };
}

/**
 * @param {any} data
 * @returns {Side}
 */
function sideOf(data) {
  return { paths: data.paths, subgraph: data.subgraph };
}

/**
 * Returns the statements of a result: those of its subgraph and of its paths.
 * @param {Side} side
 * @returns {Found[]}
 */
function foundOf(side) {
  // Around an entity there is no question to score by.
  if (!side.paths) return side.subgraph.items.map((/** @type {any} */ item) => ({ ...item, score: undefined }));
  const steps = (side.paths?.items ?? []).flatMap((/** @type {any} */ path) =>
    path.steps.map((/** @type {any} */ step) => ({ ...step, score: path.score })),
  );
  return [...side.subgraph.items, ...steps];
}

/**
 * Adds neighbours of an entity by statements that are not drawn: what bears on the question first.
 * @param {State} state
 * @param {import("./state.js").Expansion} one
 * @param {Answers} answers
 * @param {AbortSignal} signal
 */
async function expand(state, one, answers, signal) {
  const drawn = answers.layers.flatMap(({ base, view }) => [...base, ...(view ?? [])]);
  const first = Math.min(one.count + drawn.filter((found) => endsOf(found).includes(one.id)).length, MOST.count);
  const best = { ...inputOf({ ...state, from: [one.id] }, first), maxHops: 1, question: state.q || "?" };
  const shared = { item: one.id, graph: state.graph || null, first, ranked: state.q !== "" };
  const known = new Set(drawn.map((found) => found.statement.statementId));
  /** @param {any} view */
  const side = async (view) => {
    const variables = { ...shared, best: view ? { ...best, view } : best, view };
    const data = await ask("Expand", variables, { signal });
    if (!data.item) return [];
    answers.totals.set(one.id, data.item.neighbours.totalCount);
    return neighbours(one, data, state.out, known);
  };
  const base = await side(null);
  answers.layers.push({ base, view: answers.view && (await side(answers.viewRef)) });
}

/**
 * Returns the ids of a statement's two ends; the second is undefined where it is no entity.
 * @param {Found} found
 * @returns {(string | undefined)[]}
 */
function endsOf(found) {
  return [found.subject.itemId, found.statement.value.item?.itemId];
}

/**
 * @param {import("./state.js").Expansion} one
 * @param {any} data
 * @param {readonly string[]} out
 * @param {ReadonlySet<string>} known statements that are drawn
 * @returns {Found[]}
 */
function neighbours(one, data, out, known) {
  /** @type {Map<string, Found>} */
  const found = new Map();
  for (const item of data.triplets?.items ?? []) {
    const id = item.statement.statementId;
    if (found.size >= one.count) break;
    if (endsOf(item).includes(one.id) && !known.has(id)) found.set(id, item);
  }
  for (const edge of data.item.neighbours.edges) {
    const subject = edge.direction === "OUTGOING" ? data.item : edge.node;
    const id = edge.statement.statementId;
    if (found.size >= one.count) break;
    if (found.has(id) || known.has(id) || out.includes(edge.statement.property.propertyId)) continue;
    found.set(id, { subject, statement: edge.statement, change: edge.change });
  }
  return [...found.values()];
}

/**
 * Finds out whether the view has removed or changed what it did not find, or only did not find it.
 * @param {State} state
 * @param {Answers} answers
 * @param {AbortSignal} signal
 */
async function learnFates(state, answers, signal) {
  const gone = lacking(answers.layers);
  const subjects = [...new Set(gone.map((found) => found.subject.itemId))];
  for (let at = 0; at < subjects.length; at += FATES_ITEMS) {
    const items = subjects.slice(at, at + FATES_ITEMS);
    const variables = {
      items,
      graph: state.graph || null,
      view: answers.viewRef,
      first: FATES_FIRST,
    };
    let data;
    try {
      data = await ask("Fates", variables, { signal });
    } catch (error) {
      // Some views can be asked questions alone; what is not known is shown as not compared.
      if (error instanceof ApiError) return;
      throw error;
    }
    for (const item of data.items) if (item) note(item, gone, answers.fates);
  }
  await learnMoves(state, answers, gone, signal);
}

/** Methods of this page after which a statement may have another subject. */
const MOVING = ["", "tp", "iv"];

/**
 * Finds those whose subject the view has changed: they are at the entity that was their value.
 * @param {State} state
 * @param {Answers} answers
 * @param {readonly Found[]} gone
 * @param {AbortSignal} signal
 */
async function learnMoves(state, answers, gone, signal) {
  if (!MOVING.includes(state.method)) return;
  const left = new Set(
    gone
      .filter((found) => found.statement.value.item && answers.fates.get(found.statement.statementId)?.kind === "removed")
      .map((found) => found.statement.statementId),
  );
  const values = gone.filter((found) => left.has(found.statement.statementId)).map((found) => found.statement.value.item.itemId);
  const items = [...new Set(values)];
  for (let at = 0; at < items.length; at += FATES_ITEMS) {
    const variables = { items: items.slice(at, at + FATES_ITEMS), graph: state.graph || null, view: answers.viewRef, first: FATES_FIRST };
    const data = await ask("Moves", variables, { signal });
    for (const item of data.items) if (item) noteMoves(item, left, answers.fates);
  }
}

/**
 * @param {any} item an entity with its neighbours on the view
 * @param {ReadonlySet<string>} left ids of those that are looked for
 * @param {Map<string, Fate>} fates
 */
function noteMoves(item, left, fates) {
  for (const { direction, node, statement, change } of item.neighbours.edges) {
    const id = change.baseStatement?.statementId;
    if (!left.has(id)) continue;
    const subject = direction === "OUTGOING" ? item : node;
    fates.set(id, { kind: "changed", after: { subject, statement, change } });
  }
}

/**
 * @param {any} item an entity with its statements on the view
 * @param {readonly Found[]} gone
 * @param {Map<string, Fate>} fates
 */
function note(item, gone, fates) {
  const { edges, pageInfo } = item.statements;
  const had = new Map();
  for (const edge of edges) {
    had.set(edge.change.baseStatement?.statementId ?? edge.node.statementId, edge);
  }
  for (const found of gone) {
    if (found.subject.itemId !== item.itemId) continue;
    const id = found.statement.statementId;
    const edge = had.get(id);
    if (!edge) fates.set(id, { kind: pageInfo.hasNextPage ? "unknown" : "removed" });
    else if (!edge.change.baseStatement) fates.set(id, { kind: "kept" });
    else {
      const after = { subject: found.subject, statement: edge.node, change: edge.change };
      fates.set(id, { kind: "changed", after });
    }
  }
}

/** @param {State} state */
export function asked(state) {
  // What these decide is asked anew; all else only shows differently what was asked.
  const { show, sel, open, fold, ...rest } = state;
  return JSON.stringify(hasView(state) ? rest : { ...rest, level: 0, seed: 0, near: false });
}
