// The table of a picture: each statement a row. What is selected in one is selected in the other.

import { byId, h, said, show } from "./dom.js";
import { LOOKS, sideWords } from "./legend.js";
import { entity } from "./question.js";
import { ranked } from "./union.js";

/**
 * @typedef {import("./main.js").Page} Page
 * @typedef {import("./union.js").Edge} Edge
 */

const PAGE = 100;
const NO_VALUE = "–";
let rowsShown = PAGE;
let of = "";

/** @param {Page} page */
export function render(page) {
  const edges = ranked(page.shown.edges);
  const compared = Boolean(page.answers?.view);
  const scored = edges.some((edge) => scoreOf(edge) !== NO_VALUE);
  const whose = JSON.stringify([page.state.q, page.state.item, page.state.graph]);
  if (whose !== of) rowsShown = PAGE;
  of = whose;
  const chosen = edges.findIndex((edge) => edge.id === page.state.sel);
  rowsShown = Math.max(rowsShown, chosen + 1);
  const labels = new Map(page.picture.nodes.map((node) => [node.id, node]));
  const more = edges.length - rowsShown;
  show(
    byId("table"),
    h(
      "table",
      null,
      h("caption", null, `${edges.length} statements of the picture`),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          ["Subject", "Relation", "Value"].map((name) => h("th", { scope: "col" }, name)),
          compared && ["Change", "Found in"].map((name) => h("th", { scope: "col" }, name)),
          scored && h("th.number", { scope: "col" }, "Score"),
        ),
      ),
      h("tbody", null, edges.slice(0, rowsShown).map((edge) => row(page, edge, labels, compared, scored))),
    ),
    more > 0 &&
      h(
        "p",
        null,
        h(
          "button",
          {
            type: "button",
            "data-key": "more rows",
            click: () => {
              rowsShown += PAGE;
              render(page);
            },
          },
          `Show ${Math.min(more, PAGE)} more of ${more}`,
        ),
      ),
  );
}

/**
 * @param {Page} page
 * @param {Edge} edge
 * @param {Map<string, import("./union.js").Node>} labels
 * @param {boolean} compared whether a view stands beside the base
 * @param {boolean} scored whether any statement has a score
 */
function row(page, edge, labels, compared, scored) {
  const selected = edge.id === page.state.sel;
  const select = () => page.go({ ...page.state, sel: selected ? "" : edge.id });
  const look = LOOKS[edge.status];
  const cell = (/** @type {string} */ id) => {
    const node = labels.get(id);
    if (!node || node.literal) return h("td", null, said(node?.label ?? id));
    const key = `row ${edge.id} ${id}`;
    return h("td", null, entity(page, { itemId: node.id, label: node.label }, key));
  };
  return h(
    "tr",
    { class: edge.status, "aria-current": selected ? "true" : null, "data-row": edge.id },
    cell(edge.source),
    h(
      "td",
      null,
      h(
        "button.relation",
        { type: "button", "aria-pressed": String(selected), click: select, "data-key": `row ${edge.id}` },
        said(edge.label),
      ),
    ),
    cell(edge.target),
    compared && [
      h("td.change", { "data-name": "Change" }, look.sign && `${look.sign} `, wordsOf(edge)),
      h("td", { "data-name": "Found in" }, foundIn(edge)),
    ],
    scored &&
      h(scoreOf(edge) === NO_VALUE ? "td.number.none" : "td.number", { "data-name": "Score" }, scoreOf(edge)),
  );
}

/** @param {Edge} edge */
export function wordsOf(edge) {
  return edge.status === "changed" ? sideWords(edge.side) : LOOKS[edge.status].words;
}

/** @param {Edge} edge */
export function foundIn(edge) {
  if (edge.inBase && edge.inView) return "both";
  return edge.inBase ? "base" : edge.inView ? "view" : NO_VALUE;
}

/** @param {Edge} edge */
export function scoreOf(edge) {
  const text = (/** @type {number | null} */ score) => (score === null ? NO_VALUE : score.toFixed(3));
  if (edge.viewScore === null || edge.viewScore === edge.baseScore) return text(edge.baseScore);
  return edge.baseScore === null ? text(edge.viewScore) : `${text(edge.baseScore)} → ${text(edge.viewScore)}`;
}
