// What the pages of lists share: heads of tables, moments, problems.

import { ApiError } from "./api.js";
import { h, said, whole } from "./dom.js";

/** @param {unknown} error */
export function problem(error) {
  const hint = error instanceof ApiError ? error.hint : "";
  const message = error instanceof Error ? error.message : String(error);
  return h("div.problem", null, h("p", null, message), hint && h("p", null, hint));
}

/** @param {string[][]} rows */
export function pairs(rows) {
  return h("dl.pairs.tall", null, rows.map(([name, text]) => h("div", null, h("dt", null, said(name)), h("dd", null, said(text)))));
}

/** @param {string[]} names those of numbers begin with # */
export function head(names) {
  const cell = (/** @type {string} */ name) =>
    name.startsWith("#") ? h("th.number", { scope: "col" }, name.slice(1)) : h("th", { scope: "col" }, name);
  return h("thead", null, h("tr", null, names.map(cell)));
}

/** @param {number} value */
export function number(value) {
  return h("td.number", null, whole(value));
}

/** @param {string} text */
export function moment(text) {
  return h("time", { datetime: text }, `${text.slice(0, 10)} ${text.slice(11, 16)}`);
}
