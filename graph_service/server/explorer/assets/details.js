// What was cut and why, how scores were made, and what was read: as the result says it.

import { parts } from "./answer.js";
import { button, byId, h, said, show, whole } from "./dom.js";
import { ask } from "./api.js";

/** @typedef {import("./main.js").Page} Page */

/** @type {Record<string, string>} */
const REASONS = {
  HUB: "it has too many statements to walk through",
  LIMIT: "there were more than a limit allows",
  MASS: "PageRank gave it too little weight",
  TOKEN_BUDGET: "the text would have been too long",
  DEADLINE: "the time ran out",
  MIN_SCORE: "it scored less than asked for",
  WORK_BUDGET: "looking at more would have cost too much",
  DUPLICATE: "what stayed says the same",
  PARALLEL: "one statement of each subject and value is kept",
};
/** @type {Record<string, string>} */
const CUTS = {
  EDGES: "statements of the region",
  NODES: "entities of the region",
  HUBS: "entities of many statements",
  EMBEDDED: "texts compared with the question",
  ITEMS: "results",
  PATHS: "paths looked at",
  STATEMENTS: "statements",
  ENTITIES: "entities",
  SEQUENCES: "sequences of relations",
  PASSAGES: "passages",
};

/** @param {Page} page */
export function render(page) {
  const { answers } = page;
  if (!answers) return;
  const sides = [answers.base, ...(answers.view ? [answers.view] : [])];
  show(byId("cuts"), sides.map((side, at) => cuts(side, sides.length > 1 ? ["Base", "View"][at] : "")));
  show(byId("scores"), scores(page));
  show(byId("read"), read(page));
  filters(page);
}

/**
 * @param {import("./asking.js").Side} side
 * @param {string} title
 */
function cuts(side, title) {
  const results = [["Paths", side.paths], ["Subgraph", side.subgraph]].filter(([, result]) => result);
  return h(
    "div",
    null,
    title && h("h3", null, title),
    results.map(([name, result]) =>
      h(
        "div",
        null,
        h(title ? "h4.minor" : "h3.minor", null, name),
        result.truncated.length
          ? h("ul", null, result.truncated.map((/** @type {any} */ cut) => h("li", null, cutText(cut))))
          : h("p.quiet", null, "Nothing was cut."),
      ),
    ),
  );
}

/** @param {any} cut */
export function cutText(cut) {
  if (cut.reason === "STORE_AWAY") {
    return `The store does not answer: answered from memory, as the store was ${whole(cut.limit)} s before`;
  }
  const of = cut.total === null ? "" : ` of ${whole(cut.total)}`;
  return `${whole(cut.kept)}${of} ${CUTS[cut.what] ?? cut.what} kept: ${REASONS[cut.reason] ?? cut.reason} (limit ${whole(cut.limit)})`;
}

/** @param {Page} page */
function scores(page) {
  const { base, view } = /** @type {import("./asking.js").Answers} */ (page.answers);
  const selected = [base, view].flatMap((side, at) =>
    (side?.subgraph.items ?? [])
      .filter((/** @type {any} */ item) => item.statement.statementId === page.state.sel)
      .map((/** @type {any} */ item) => ({ item, where: ["base", "view"][at] })),
  );
  const { objective, gap } = base.subgraph;
  return [
    objective !== null && objective !== undefined &&
      h("p", null, `The subgraph's statements are worth ${objective.toFixed(3)} in all` +
        (gap === null ? "." : `; the best one is worth at most ${(100 * gap).toFixed(1)} % more.`)),
    h("p.quiet", null, "A path's score is the sum of its parts; the table of paths lists them. " +
      "A statement's score comes from the prizes of its subject, relation and value."),
    selected.map(({ item, where }) =>
      h("p", null, `Selected, in the ${where}: ${item.score.toFixed(3)}; prizes ${item.prizes.map((/** @type {number} */ one) => one.toFixed(3)).join(", ")}`)),
    base.paths?.items.length > 0 && h("p", null, "Best path: ", parts(base.paths.items[0].parts)),
  ];
}

/** @param {Page} page */
function read(page) {
  const { base, view } = /** @type {import("./asking.js").Answers} */ (page.answers);
  const { provenance, timings, resultId } = base.subgraph;
  const rows = [
    ["Edition", provenance.edition],
    ["Statements' fingerprint", provenance.edgesFingerprint],
    ["Preset", provenance.preset],
    ["Embedder", provenance.embedder],
    ["Version", provenance.version],
    ["Result", resultId],
    ...(view ? [["View", view.subgraph.provenance.viewId ?? ""]] : []),
    ["Time", timings.map((/** @type {any} */ one) => `${one.stage} ${one.milliseconds.toFixed(0)} ms`).join(", ")],
  ];
  return [
    h("dl.pairs.tall", null, rows.map((row) => h("div", null, h("dt", null, row[0]), h("dd", null, said(String(row[1])))))),
    h("details", { "data-keep": "parameters" }, h("summary", null, "All parameters"),
      h("dl.pairs.tall", null, provenance.parameters.map((/** @type {any} */ one) =>
        h("div", null, h("dt", null, said(one.name)), h("dd", null, said(one.text)))))),
  ];
}

/**
 * Relations to leave out, and classes to keep to.
 * @param {Page} page
 */
function filters(page) {
  const { state } = page;
  /** @type {Map<string, {label: string, count: number}>} */
  const met = new Map();
  for (const edge of page.picture.edges) {
    const known = met.get(edge.property) ?? { label: edge.label, count: 0 };
    met.set(edge.property, { ...known, count: known.count + 1 });
  }
  for (const id of state.out) if (!met.has(id)) met.set(id, { label: page.names.get(id) ?? id, count: 0 });
  for (const [id, one] of met) page.names.set(id, one.label);
  const listed = [...met].sort((a, b) => b[1].count - a[1].count || (a[0] < b[0] ? -1 : 1));
  const toggle = (/** @type {string} */ id) =>
    page.go({ ...state, out: state.out.includes(id) ? state.out.filter((one) => one !== id) : [...state.out, id] });
  show(
    byId("relations"),
    listed.map(([id, one]) =>
      h("label.check", null,
        h("input", { type: "checkbox", checked: !state.out.includes(id), change: () => toggle(id), "data-key": `relation ${id}` }),
        " ", said(one.label), h("span.quiet", null, one.count ? ` ${one.count}` : " left out"))),
  );
  show(
    byId("types"),
    state.types.map((id) =>
      h("span.chip", null, said(page.names.get(id) ?? id), button("×", () => page.go({ ...state, types: state.types.filter((one) => one !== id) }), { "aria-label": `Do not keep to ${page.names.get(id) ?? id}` }))),
  );
  choose(byId("n"), state.n);
  choose(byId("paths-n"), state.paths);
  byId("filters-part").hidden = Boolean(state.item) && !met.size;
  byId("type-form").hidden = Boolean(state.item);
}

/**
 * @param {HTMLSelectElement} select
 * @param {number} value which becomes a choice where it is none
 */
function choose(select, value) {
  if (![...select.options].some((one) => Number(one.value) === value)) {
    select.append(h("option", null, value));
  }
  select.value = String(value);
}

/** @param {Page} page */
export function begin(page) {
  byId("type-form").addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    const field = byId("type");
    const query = field.value.trim();
    if (!query) return;
    try {
      const data = await ask("Search", { query, graph: page.graph?.name ?? "", prefix: false, first: 1 });
      const found = data.searchItems.edges[0]?.node;
      if (!found) {
        page.say(`The graph names nothing ${query}.`);
        return;
      }
      page.names.set(found.itemId, found.label);
      field.value = "";
      page.go({ ...page.state, types: [...new Set([...page.state.types, found.itemId])] });
    } catch (error) {
      page.say(String(error));
    }
  });
}
