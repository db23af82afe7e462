// An entity: its statements with ranks, qualifiers and references, and how one walks on from it.

import { ask } from "./api.js";
import { tag } from "./answer.js";
import { button, byId, h, said, show, whole } from "./dom.js";
import { entity, idOf } from "./question.js";
import { MOST, askAnew } from "./state.js";

/**
 * @typedef {import("./main.js").Page} Page
 * @typedef {{key: string, item: any, edges: any[], next: string | null, total: number}} Listed
 */

const FIRST = 40;
const STEP = 8;
/** @type {Listed | null} */
let listed = null;
/** @type {AbortController | null} */
let reading = null;

/** @param {Page} page */
export function render(page) {
  const { open } = page.state;
  const part = byId("item-part");
  part.hidden = !open;
  if (!open) return;
  const key = JSON.stringify([open, page.graph?.name, page.answers?.viewRef]);
  if (listed?.key !== key) {
    listed = null;
    show(byId("item"), h("p.quiet", null, "Reading its statements …"));
    void read(page, key, null);
    return;
  }
  draw(page, listed);
}

/**
 * @param {Page} page
 * @param {string} key
 * @param {string | null} after
 */
async function read(page, key, after) {
  reading?.abort();
  reading = new AbortController();
  const variables = {
    item: page.state.open,
    graph: page.graph?.name ?? null,
    view: page.answers?.viewRef ?? null,
    first: FIRST,
    after,
  };
  try {
    const { item } = await ask("ItemStatements", variables, { signal: reading.signal });
    if (!item) {
      show(byId("item"), h("p", null, "The graph has no entity ", h("code", null, page.state.open), "."));
      return;
    }
    const before = after && listed?.key === key ? listed.edges : [];
    const { pageInfo, edges, totalCount } = item.statements;
    const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    listed = { key, item, edges: [...before, ...edges], next, total: totalCount };
    page.render();
  } catch (error) {
    if (!reading.signal.aborted) show(byId("item"), page.problem(error));
  }
}

/**
 * @param {Page} page
 * @param {Listed} listed
 */
function draw(page, { key, item, edges, next, total }) {
  show(
    byId("item"),
    h(
      "header.item-head",
      null,
      h("h3", { id: "item-name", tabindex: -1 }, said(item.label)),
      idOf(item.itemId),
      item.description && h("p.quiet", null, said(item.description)),
      item.aliases.length > 0 && h("p.quiet", null, "Also: ", said(item.aliases.slice(0, 8).join(", "))),
      walk(page, item),
    ),
    h("p.quiet", null, `${whole(total)} statements${edges.length < total ? `, ${edges.length} shown` : ""}`),
    h("ul.statements", null, edges.map((edge) => statement(page, edge))),
    next && h("p", null, button("More statements", () => void read(page, key, next), { "data-key": "more statements" })),
  );
}

/**
 * @param {Page} page
 * @param {any} item
 */
function walk(page, item) {
  const { state } = page;
  const id = item.itemId;
  const known = state.expand.find((one) => one.id === id);
  const total = page.answers?.totals.get(id) ?? Infinity;
  const others = state.expand.filter((one) => one.id !== id);
  const count = Math.min((known?.count ?? 0) + STEP, MOST.count);
  const folded = state.fold.includes(id);
  const isDrawn = page.picture.nodes.some((node) => node.id === id);
  return h(
    "p.actions",
    null,
    (!known || (known.count < total && known.count < MOST.count)) &&
      button(
        known ? `Add ${STEP} more neighbours` : "Add its best neighbours",
        () => page.go({ ...state, expand: [...others, { id, count }], fold: state.fold.filter((one) => one !== id) }),
        { "data-key": "expand" },
      ),
    known && button("Take them away", () => page.go({ ...state, expand: others }), { "data-key": "collapse" }),
    isDrawn &&
      button(
        folded ? "Unfold" : "Fold its neighbours",
        () => page.go({ ...state, fold: folded ? state.fold.filter((one) => one !== id) : [...state.fold, id] }),
        { "data-key": "fold" },
      ),
    id !== state.item &&
      button("Look around it", () => page.go(askAnew(state, { item: id, open: id })), { "data-key": "around it" }),
    button("Close", () => page.go({ ...state, open: "" }), { "data-key": "close item" }),
  );
}

/**
 * @param {Page} page
 * @param {any} edge
 */
function statement(page, { node, change }) {
  const id = node.statementId;
  const isDrawn = page.picture.edges.some((one) => one.id === id);
  const value = node.value.item
    ? entity(page, node.value.item, `value ${id}`)
    : said(node.valueText);
  const sign = { UNCHANGED: "", ADDED: "+ added", RELATION_CHANGED: "≠ relation changed", VALUE_CHANGED: "≠ value changed", HEAD_CHANGED: "≠ subject changed", RANK_CHANGED: "≠ rank changed" };
  const changed = sign[/** @type {keyof typeof sign} */ (change.kind)];
  const was = change.baseStatement;
  return h(
    "li",
    { class: node.rank.toLowerCase() },
    h("span.relation", null, said(node.property.label)),
    " ",
    value,
    node.rank !== "NORMAL" && tag(node.rank.toLowerCase()),
    changed && tag(changed),
    isDrawn && button("show", () => page.go({ ...page.state, sel: id }), { "data-key": `show ${id}`, class: "plain", "aria-label": `Show ${node.property.label} in the picture` }),
    was && h("div.quiet", null, "the base says: ", change.kind === "HEAD_CHANGED" && [said(was.subject.label), " "], said(was.property.label), " ", said(was.valueText)),
    node.qualifiers.length > 0 && pairs(node.qualifiers),
    node.references.length > 0 &&
      h(
        "details.references",
        null,
        h("summary", null, `${node.references.length} reference${node.references.length > 1 ? "s" : ""}`),
        node.references.map((/** @type {any} */ one) => pairs(one.parts)),
      ),
  );
}

/** @param {any[]} given */
function pairs(given) {
  return h(
    "dl.pairs",
    null,
    given.map((one) => h("div", null, h("dt", null, said(one.property.label)), h("dd", null, said(one.valueText)))),
  );
}
