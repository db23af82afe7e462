// The calls that give what the page shows: GraphQL, Python, the command line.

import { documentOf } from "./api.js";
import { inputOf, viewOf } from "./asking.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./methods.js").Aim} Aim
 * @typedef {{name: string, text: string}} Call
 */

/** What the fields of a specification are called in Python, and on the command line. */
/** @type {Record<string, [string, string]>} */
const FIELDS = {
  level: ["level", "--level"],
  count: ["count", "--count"],
  randomSeed: ["random_seed", "--random-seed"],
  sampling: ["sampling", "--sampling"],
  scorer: ["scorer", "--scorer"],
  replacement: ["replacement", "--replacement"],
  nth: ["nth", "--nth"],
  itemIds: ["entity_ids", "--entity"],
  answerIds: ["answer_ids", "--answer"],
  control: ["control", "--control"],
  ruleAtoms: ["rule_atoms", "--rule-atoms"],
  ruleSupport: ["rule_support", "--rule-support"],
  ruleConfidence: ["rule_confidence", "--rule-confidence"],
  naming: ["naming", "--naming"],
  aroundItemIds: ["around_entity_ids", "--around-entity"],
  hops: ["hops", "--hops"],
  pruned: ["pruned", "--pruned"],
};
/** @type {Record<string, string>} */
const ENUMS = { sampling: "Sampling", replacement: "Replacement", naming: "Naming" };

/**
 * Returns the calls.
 * @param {State} state with the name of its graph
 * @param {Aim} aim of a view
 * @param {string} origin of the server
 * @returns {Promise<Call[]>}
 */
export async function callsOf(state, aim, origin) {
  return [
    { name: "GraphQL", text: await graphql(state, aim) },
    { name: "Python", text: python(state, aim, origin) },
    { name: "Command line", text: commandLine(state, aim) },
  ];
}

/**
 * @param {State} state
 * @param {Aim} aim
 */
async function graphql(state, aim) {
  const view = viewOf(state, aim);
  const name = state.item ? (view ? "AroundView" : "Around") : view ? "Compare" : "Ask";
  const variables = state.item
    ? { item: state.item, graph: state.graph || null, limit: state.n, ...(view && { view }) }
    : { paths: inputOf(state, state.paths), subgraph: inputOf(state, state.n), ...(view && { view }) };
  return `${await documentOf(name)}\n\n# Variables:\n${JSON.stringify(variables, null, 2)}`;
}

/**
 * @param {State} state
 * @param {Aim} aim
 * @param {string} origin
 */
function python(state, aim, origin) {
  const spec = state.method ? viewOf(state, aim)?.spec : null;
  const lines = ["from graph_service.client import Client"];
  if (spec) {
    const names = ["Method", ...Object.keys(ENUMS).filter((name) => name in spec).map((name) => ENUMS[name]), ...(spec.scope ? ["Scope"] : []), "ViewSpec"];
    lines.push(`from graph_service.model.view_spec import ${names.sort().join(", ")}`);
  }
  lines.push("");
  const view = spec ? `ViewSpec(${pythonFields(spec)})` : state.view && text(state.view);
  if (view) lines.push(`view = ${view}`);
  const graph = state.graph ? `, graph=${text(state.graph)}` : "";
  lines.push(`with Client.connect(${text(origin)}) as client:`);
  if (state.item) {
    const call = (/** @type {string} */ more) =>
      `client.neighbourhood(${text(state.item)}${graph}, limit=${state.n}${more})`;
    lines.push(`    base = ${call("")}`);
    if (view) lines.push(`    perturbed = ${call(", view=view")}`);
  } else {
    const options = [graph.slice(2)];
    if (state.from.length) options.push(`entity_ids=${list(state.from)}`);
    if (state.out.length) options.push(`exclude_relation_ids=${list(state.out)}`);
    if (state.types.length) options.push(`type_ids=${list(state.types)}`);
    const shared = options.filter(Boolean).map((one) => `, ${one}`).join("");
    lines.push(`    question = ${text(state.q)}`);
    for (const [name, limit] of [["paths", state.paths], ["subgraph", state.n]]) {
      lines.push(`    ${name} = client.${name}(question, limit=${limit}${shared})`);
      if (view) lines.push(`    ${name}_of_view = client.${name}(question, limit=${limit}${shared}, view=view)`);
    }
  }
  return lines.join("\n");
}

/**
 * Returns the arguments of a specification as Python writes them.
 * @param {Record<string, any>} spec
 * @returns {string}
 */
function pythonFields(spec) {
  const written = Object.entries(spec).map(([name, value]) => {
    if (name === "method") return `Method.${value}`;
    if (name === "scope") return `scope=Scope(${pythonFields(value)})`;
    const kind = ENUMS[name];
    const said = kind ? `${kind}.${value}` : Array.isArray(value) ? tuple(value) : value === true ? "True" : typeof value === "string" ? text(value) : value;
    return `${FIELDS[name][0]}=${said}`;
  });
  return written.join(", ");
}

/**
 * Returns a specification as options of the command line.
 * @param {Record<string, any>} spec
 * @returns {string}
 */
function shellFields({ method, scope, ...spec }) {
  const written = Object.entries({ ...spec, ...scope }).flatMap(([name, value]) => {
    const option = FIELDS[name][1];
    if (value === true) return [option];
    const values = Array.isArray(value) ? value : [name in ENUMS ? value.toLowerCase() : String(value)];
    return values.map((one) => `${option} ${shell(one)}`);
  });
  return [`--method ${wordOf(method)}`, ...written].join(" ");
}

/** @param {string} method as the API names it */
function wordOf(method) {
  return method.toLowerCase().replaceAll("_", "-");
}

/**
 * @param {State} state
 * @param {Aim} aim
 */
function commandLine(state, aim) {
  const graph = state.graph ? ` --graph ${shell(state.graph)}` : "";
  const store = ' --store "$GRAPH_SERVICE_STORE"';
  const options = [
    ...state.from.map((id) => `--entity ${shell(id)}`),
    ...state.out.map((id) => `--exclude-relation ${shell(id)}`),
    ...state.types.map((id) => `--type ${shell(id)}`),
  ];
  const lines = [];
  let view = state.view;
  const spec = state.method ? viewOf(state, aim)?.spec : null;
  if (spec) {
    const { method, level, randomSeed, ...more } = spec;
    if (Object.keys(more).length) {
      view = `looked-at-${hashOf(JSON.stringify(spec))}`;
      lines.push(`graph-service view create ${shellFields(spec)} --name ${view}${graph}${store}`);
    } else view = `${wordOf(method)}:${level}:${randomSeed}`;
  }
  if (state.item) {
    const call = `graph-service item ${shell(state.item)} --limit ${state.n}${graph}${store}`;
    return [...lines, call, ...(view ? [`${call} --view ${shell(view)}`] : [])].join("\n");
  }
  const shared = options.map((one) => ` ${one}`).join("") + graph + store;
  for (const [strategy, limit] of [["paths", state.paths], ["subgraph", state.n]]) {
    const call = `graph-service retrieve ${shell(state.q)} --strategy ${strategy} --limit ${limit}${shared}`;
    lines.push(call);
    if (view) lines.push(`${call} --view ${shell(view)}`);
  }
  return lines.join("\n");
}

/**
 * Returns eight digits that tell texts apart (FNV-1a), as no two views have one name.
 * @param {string} text
 */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}

/**
 * A text as Python writes it: what JSON writes is read alike.
 * @param {string} value
 */
function text(value) {
  return JSON.stringify(value);
}

/** @param {readonly string[]} values */
function list(values) {
  return `[${values.map(text).join(", ")}]`;
}

/** @param {readonly string[]} values */
function tuple(values) {
  return `(${values.map((value) => `${text(value)},`).join(" ")})`;
}

/** @param {string} value */
export function shell(value) {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'"'"'`)}'`;
}
