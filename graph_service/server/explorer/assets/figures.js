// What both pages say of a view.

import { h, percent, whole } from "./dom.js";
import { METHODS } from "./methods.js";

/** @type {Record<string, string>} */
export const METHOD_WORDS = {
  ...Object.fromEntries(Object.values(METHODS).map((method) => [method.name, method.words])),
  // Of two that the API gives one name, what holds for both.
  RELATION_REPLACEMENT: "Relation replacement",
  INSERTION: "Insertion",
  WITHHOLDING: "Withholding",
  CUSTOM: "Custom changes",
};

/** @param {{relationChanged: number, valueChanged: number, headChanged: number}} counts */
export function changed({ relationChanged, valueChanged, headChanged }) {
  return relationChanged + valueChanged + headChanged;
}

/** @param {any} view */
export function nameOf(view) {
  const level = view.spec.level === null ? (view.spec.count ?? "") : percent(view.spec.level);
  const what = `${METHOD_WORDS[view.method] ?? view.method} ${level}, seed ${view.spec.randomSeed}`;
  const state = view.state === "DONE" ? (view.stale ? " (stale)" : "") : ` (${view.state.toLowerCase()})`;
  return `${view.name ? `${view.name}: ` : ""}${what}${state}`;
}

/** @param {any} view */
export function deviation(view) {
  const { report, deviation: far } = view;
  const counts = report.counts;
  /** @type {(string | null)[][]} */
  const rows = [];
  if (report.levelReached !== null) {
    rows.push(["Level reached", percent(report.levelReached), `of ${whole(report.scopeEdges)} statements that may change`]);
  }
  if (counts) {
    const all = counts.removed + changed(counts) + counts.added;
    rows.push(["Statements changed", whole(all), `${whole(counts.removed)} removed, ${whole(changed(counts))} changed, ${whole(counts.added)} added`]);
  }
  if (far) {
    rows.push(
      ["Plausibility (ATS)", far.ats.toFixed(3), `of its statements; the base has ${far.atsBase.toFixed(3)}`],
      ["Clustering (SC2D)", far.sc2d.toFixed(3), "how alike; 1 is the base"],
      ["Degrees (SD2)", far.sd2.toFixed(3), "how alike; 1 is the base"],
    );
  }
  return h(
    "table.figures",
    null,
    h("caption", null, "How far the view is from its base"),
    h("tbody", null, rows.map(([name, value, words]) =>
      h("tr", null, h("th", { scope: "row" }, name), h("td.number", null, value), h("td.quiet", null, words)))),
  );
}
