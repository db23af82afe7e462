// Of which class each entity of a picture is: colours and the legend come of it.

import { ApiError, ask } from "./api.js";
import { order } from "./layout.js";

/** @typedef {import("./union.js").Node} Node */

/** Relations that say it, of Wikidata and of RDF. */
const INSTANCE_OF = ["P31", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"];
const ITEMS = 100;
/** Colours that a picture has for classes; entities of others stay white. */
export const MOST_CLASSES = 6;

/**
 * Returns the label of the class of each entity that has one.
 * @param {readonly Node[]} nodes
 * @param {string} graph
 * @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, string>>}
 */
export async function classesOf(nodes, graph, signal) {
  const ids = nodes.filter((node) => !node.literal).map((node) => node.id);
  /** @type {Map<string, string>} */
  const classes = new Map();
  for (let at = 0; at < ids.length; at += ITEMS) {
    try {
      const variables = { items: ids.slice(at, at + ITEMS), graph: graph || null, properties: INSTANCE_OF };
      const data = await ask("Classes", variables, signal ? { signal } : {});
      for (const item of data.items) {
        const first = item?.statements.edges[0];
        if (first) classes.set(item.itemId, first.node.valueText);
      }
    } catch (error) {
      // A picture without colours is a picture all the same.
      if (!(error instanceof ApiError)) throw error;
      return classes;
    }
  }
  return classes;
}

/**
 * Returns the classes that have a colour, those of most nodes first.
 * @param {readonly Node[]} nodes
 * @param {ReadonlyMap<string, string>} classes
 * @returns {string[]}
 */
export function coloured(nodes, classes) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const node of nodes) {
    const name = classes.get(node.id);
    if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const names = [...counts].sort((a, b) => b[1] - a[1] || order(a[0], b[0])).map(([name]) => name);
  return names.slice(0, MOST_CLASSES);
}
