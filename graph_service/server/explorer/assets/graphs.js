// The page of graphs: what the store holds, loads under way, views with their figures and changes.

import { ask } from "./api.js";
import { button, byId, h, percent, said, show, whole } from "./dom.js";
import { METHOD_WORDS, changed, deviation, nameOf } from "./figures.js";
import { head, moment, number, pairs, problem } from "./listing.js";
import { connect } from "./server.js";

const CHANGES = 50;
/** @type {Record<string, string>} */
const SIGNS = {
  REMOVED: "− removed",
  RELATION_CHANGED: "≠ relation changed",
  VALUE_CHANGED: "≠ value changed",
  HEAD_CHANGED: "≠ subject changed",
  RANK_CHANGED: "≠ rank changed",
  ADDED: "+ added",
};
/** @type {(string | null)[]} the cursors by which pages of changes were asked for */
let cursors = [null];
let shownView = "";

/** @param {Record<string, string>} asked */
function address(asked) {
  return `#${new URLSearchParams(asked)}`;
}

async function update() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const graph = asked.get("graph") ?? "";
  const view = asked.get("view") ?? "";
  byId("busy").hidden = false;
  show(byId("problem"));
  try {
    const { nodes } = (await ask("Graphs", {}, { fresh: true })).graphs;
    graphs(nodes, graph);
    const chosen = graph || (nodes.length === 1 ? nodes[0].name : "");
    byId("graph-part").hidden = byId("views-part").hidden = !chosen;
    byId("view-part").hidden = !chosen || !view;
    if (chosen) {
      details(await ask("GraphDetails", { graph: chosen }, { fresh: true }));
      await views(chosen, view);
    }
    if (chosen && view) await oneView(chosen, view);
  } catch (error) {
    show(byId("problem"), problem(error));
  } finally {
    byId("busy").hidden = true;
  }
}

/**
 * @param {any[]} nodes
 * @param {string} chosen
 */
function graphs(nodes, chosen) {
  if (!nodes.length) {
    show(byId("graphs"), h("p", null, "The store holds no graph yet. Load one: ", h("code", null, "graph-service load FILE --graph mine")));
    return;
  }
  show(
    byId("graphs"),
    h(
      "table",
      null,
      head(["Graph", "Edition", "#Entities", "#Statements", "#Relations", "Published", "Load under way"]),
      h(
        "tbody",
        null,
        nodes.map((one) =>
          h(
            "tr",
            { "aria-current": one.name === chosen ? "true" : null },
            h("th", { scope: "row" }, h("a", { href: address({ graph: one.name }), "data-key": `graph ${one.name}` }, said(one.name))),
            h("td", null, said(one.edition)),
            number(one.items),
            number(one.statements),
            number(one.properties),
            h("td", null, moment(one.publishedAt)),
            h("td", null, one.unfinishedLoad ? `${one.unfinishedLoad.edition}: ${whole(one.unfinishedLoad.statements)} statements` : "none"),
          ),
        ),
      ),
    ),
  );
}

/** @param {any} data */
function details({ graph, passageSets }) {
  byId("graph-title").textContent = graph.name;
  const load = graph.unfinishedLoad;
  const rows = [
    ["Source", graph.source],
    ["Edition", graph.edition],
    ["Statements with a literal", whole(graph.literals)],
    ["Fingerprint of statements", graph.edgesFingerprint],
    ["Fingerprint of all", graph.contentFingerprint],
    ["Written by", `graph-service ${graph.toolVersion}`],
    ...passageSets.map((/** @type {any} */ one) => ["Passages", `${whole(one.passages)} from ${one.source}${one.published ? "" : " (not published)"}`]),
    ...(load ? [["Load under way", `${load.edition} from ${load.source} by ${load.owner}, since ${load.startedAt}, ${whole(load.statements)} statements; reserved until ${load.leaseExpiresAt}`]] : []),
  ];
  show(
    byId("graph"),
    pairs(rows),
    h("p", null, h("a", { href: `./#${new URLSearchParams({ graph: graph.name })}` }, "Ask it")),
    named("Options of the load", graph.options),
    named("Report of the load", graph.report),
  );
}

/**
 * @param {string} title
 * @param {{name: string, text: string}[]} values
 */
function named(title, values) {
  const told = values.filter((one) => !["null", "[]", "{}", ""].includes(one.text));
  return h("details", null, h("summary", null, title), pairs(told.map((one) => [one.name, one.text])));
}

/**
 * @param {string} graph
 * @param {string} chosen
 */
async function views(graph, chosen) {
  /** @type {any[]} */
  const found = [];
  for (let after = null; ; ) {
    /** @type {any} */
    const page = (await ask("Views", { graph, after }, { fresh: true })).views;
    found.push(...page.nodes);
    if (!page.pageInfo.hasNextPage) break;
    after = page.pageInfo.endCursor;
  }
  if (!found.length) {
    show(byId("views"), h("p.quiet", null, "No view of this graph is stored."));
    return;
  }
  show(
    byId("views"),
    h(
      "table",
      null,
      head(["View", "Method", "#Level", "#Seed", "State", "#Changes", "#Plausibility", "#Clustering", "#Degrees", "Made"]),
      h(
        "tbody",
        null,
        found.map((view) => {
          const { counts, levelReached } = view.report;
          const far = view.deviation;
          const changes = counts && changed(counts) + counts.removed + counts.added;
          const state = view.state === "RUNNING" ? `${Math.round(100 * view.progress)} % made` : view.state.toLowerCase();
          return h(
            "tr",
            { "aria-current": view.viewId === chosen || view.name === chosen ? "true" : null },
            h("th", { scope: "row" }, h("a", { href: address({ graph, view: view.viewId }), "data-key": `view ${view.viewId}` }, said(view.name ?? view.viewId.slice(0, 12)))),
            h("td", null, METHOD_WORDS[view.method] ?? view.method),
            h("td.number", null, levelReached === null ? "–" : percent(levelReached)),
            h("td.number", null, view.spec.randomSeed),
            h("td", null, view.stale ? `${state}, stale` : state),
            h("td.number", null, changes === null ? "–" : whole(changes)),
            ...["ats", "sc2d", "sd2"].map((name) => h("td.number", null, far ? far[name].toFixed(3) : "–")),
            h("td", null, moment(view.createdAt)),
          );
        }),
      ),
    ),
  );
}

/**
 * @param {string} graph
 * @param {string} reference
 */
async function oneView(graph, reference) {
  if (shownView !== reference) cursors = [null];
  shownView = reference;
  const { view } = await ask("ViewDetails", { view: reference, graph }, { fresh: true });
  if (!view) {
    byId("view-title").textContent = "No such view";
    show(byId("view"), h("p", null, "The graph has no view of that id or name."));
    return;
  }
  byId("view-title").textContent = nameOf(view);
  const after = cursors[cursors.length - 1];
  const variables = { view: reference, graph, first: CHANGES, after };
  const page = view.state === "DONE" && !view.stale ? (await ask("ViewChanges", variables)).view.diff : null;
  show(
    byId("view"),
    view.note && h("p", null, said(view.note)),
    view.error && h("p", null, said(view.error)),
    view.stale && h("p", null, "The statements of its base have changed since it was made: make it anew."),
    deviation(view),
    view.report.notes.map((/** @type {string} */ note) => h("p.quiet", null, said(note))),
    h("p", null, h("a", { href: `./#${new URLSearchParams({ graph, view: view.viewId })}` }, "Ask the base and this view")),
    page && changes(page, () => void oneView(graph, reference)),
  );
}

/**
 * @param {any} page
 * @param {() => void} again
 */
function changes(page, again) {
  const from = (cursors.length - 1) * CHANGES;
  const turn = (/** @type {boolean} */ forward) => {
    cursors = forward ? [...cursors, page.pageInfo.endCursor] : cursors.slice(0, -1);
    again();
  };
  return h(
    "div",
    null,
    h(
      "p.pager",
      null,
      h("strong", null, page.totalCount ? `Changes ${whole(from + 1)} to ${whole(from + page.nodes.length)} of ${whole(page.totalCount)}` : "It changes nothing."),
      cursors.length > 1 && button("Previous", () => turn(false), { "data-key": "previous" }),
      page.pageInfo.hasNextPage && button("Next", () => turn(true), { "data-key": "next" }),
    ),
    page.nodes.length > 0 &&
      h(
        "div.scroll",
        { role: "region", tabindex: 0, "aria-label": "Changes" },
        h(
          "table",
          null,
          head(["Change", "Entity", "In words"]),
          h(
            "tbody",
            null,
            page.nodes.map((/** @type {any} */ one) =>
              h("tr", { class: one.kind.toLowerCase() }, h("td.change", null, SIGNS[one.kind]), h("td", null, said(one.subject.label)), h("td", null, said(one.words))),
            ),
          ),
        ),
      ),
  );
}

connect();
window.addEventListener("hashchange", () => void update());
void update();
