// What a person takes away: files of the picture and of its statements, and the calls.

import { callsOf } from "./calls.js";
import { button, byId, h, show } from "./dom.js";
import { csvOf, save, saveBlob, svgOf } from "./files.js";
import { ranked } from "./union.js";
import { aimOf } from "./asking.js";
import { foundIn, wordsOf } from "./tables.js";
import { viewName } from "./perturb.js";

/** @typedef {import("./main.js").Page} Page */

const SCALE = 2;
const MOST_PIXELS = 8000;
const STYLE = `body{font:15px/1.5 system-ui,sans-serif;color:#1c2430;max-width:70rem;margin:2rem auto;padding:0 1rem}
svg{max-width:100%;height:auto}table{border-collapse:collapse;font-size:14px}th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ddd}`;

/** @param {Page} page */
export function begin(page) {
  byId("copy-link").addEventListener("click", () => void copy(page, location.href, "The address"));
  /** @type {[string, () => void | Promise<void>][]} */
  const files = [
    ["svg", () => save("svg", "image/svg+xml", svgText(page))],
    ["png", () => png(page)],
    ["html", () => save("html", "text/html", htmlText(page))],
    ["csv", () => save("csv", "text/csv", csvText(page))],
    ["json", () => save("json", "application/json", jsonText(page))],
  ];
  for (const [kind, make] of files) byId(`take-${kind}`).addEventListener("click", () => void make());
}

/** @param {Page} page */
export async function render(page) {
  const state = { ...page.state, graph: page.graph?.name ?? "" };
  const aim = aimOf(state, page.answers?.base ?? null);
  const calls = await callsOf(state, aim, new URL(".", location.href).href.replace(/\/$/, ""));
  show(
    byId("calls"),
    calls.map((call) =>
      h(
        "details",
        { "data-keep": `call ${call.name}` },
        h("summary", null, call.name),
        h("pre", { tabindex: 0, "aria-label": call.name, role: "region" }, call.text),
        button("Copy", () => void copy(page, call.text, call.name), { "data-key": `copy ${call.name}` }),
      ),
    ),
  );
}

/**
 * @param {Page} page
 * @param {string} text
 * @param {string} what
 */
async function copy(page, text, what) {
  try {
    await navigator.clipboard.writeText(text);
    page.say(`${what} is copied.`);
  } catch {
    page.say("The browser does not let this page copy: select the text and copy it yourself.");
  }
}

/** @param {Page} page */
export function svgText(page) {
  return svgOf(page.drawing());
}

/** @param {Page} page */
async function png(page) {
  const drawing = page.drawing();
  const [width, height] = ["width", "height"].map((name) => Number(drawing.getAttribute(name)));
  const scale = Math.min(SCALE, MOST_PIXELS / Math.max(width, height));
  const address = URL.createObjectURL(new Blob([svgText(page)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    brush.fillStyle = "#ffffff";
    brush.fillRect(0, 0, canvas.width, canvas.height);
    brush.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      if (blob) saveBlob("png", blob);
    }, "image/png");
  } finally {
    URL.revokeObjectURL(address);
  }
}

/**
 * Returns the rows of the table, with ids.
 * @param {Page} page
 */
function rows(page) {
  const labels = new Map(page.picture.nodes.map((node) => [node.id, node]));
  return ranked(page.shown.edges).map((edge) => {
    const target = labels.get(edge.target);
    return {
      statementId: edge.id,
      subjectId: edge.source,
      subject: labels.get(edge.source)?.label ?? "",
      propertyId: edge.property,
      property: edge.label,
      valueId: target?.literal ? "" : edge.target,
      value: target?.label ?? "",
      rank: edge.rank.toLowerCase(),
      change: page.answers?.view ? wordsOf(edge) : "",
      foundIn: page.answers?.view ? foundIn(edge) : "base",
      scoreBase: edge.baseScore,
      scoreView: edge.viewScore,
    };
  });
}

/** @param {Page} page */
export function csvText(page) {
  const listed = rows(page);
  const names = Object.keys(listed[0] ?? { statementId: "" });
  return csvOf([names, ...listed.map((row) => Object.values(row))]);
}

/** @param {Page} page */
export function jsonText(page) {
  const { base, view } = /** @type {import("./asking.js").Answers} */ (page.answers);
  const said = {
    question: page.state.q,
    item: page.state.item || null,
    provenance: base.subgraph.provenance,
    view: view ? { id: page.answers?.viewId, asked: page.answers?.viewRef } : null,
    answer: base.paths?.answer ?? null,
    answerOfView: view?.paths?.answer ?? null,
    statements: rows(page),
  };
  return `${JSON.stringify(said, null, 2)}\n`;
}

/**
 * Returns a page that stands by itself: it loads nothing and runs nothing.
 * @param {Page} page
 */
export function htmlText(page) {
  const { base, view } = /** @type {import("./asking.js").Answers} */ (page.answers);
  const made = document.implementation.createHTMLDocument(page.title());
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  made.documentElement.lang = "en";
  made.head.prepend(
    h("meta", { charset: "utf-8" }),
    h("meta", { "http-equiv": "Content-Security-Policy", content: policy }),
  );
  const list = rows(page);
  const { provenance } = base.subgraph;
  const answer = (/** @type {any} */ side) => side?.paths?.answer?.text ?? side?.paths?.items[0]?.text ?? "";
  made.body.append(
    h("h1", null, page.title()),
    view ? h("p", null, `View: ${viewName(page)}`) : "",
    base.paths ? h("p", null, h("strong", null, view ? "Answer of the base: " : "Answer: "), h("bdi", null, answer(base))) : "",
    view?.paths ? h("p", null, h("strong", null, "Answer of the view: "), h("bdi", null, answer(view))) : "",
    page.drawing(),
    h("table", null,
      h("thead", null, h("tr", null, ["Subject", "Relation", "Value", "Change", "Found in", "Statement"].map((name) => h("th", null, name)))),
      h("tbody", null, list.map((row) => h("tr", null,
        [row.subject, row.property, row.value, row.change, row.foundIn, row.statementId].map((text) => h("td", null, h("bdi", null, text))))))),
    h("p", null, `${provenance.edition}, ${provenance.preset}, ${provenance.embedder}, graph-service ${provenance.version}`),
  );
  // This page's own policy lets no script make a style, so it is put into the text.
  const text = made.documentElement.outerHTML.replace("</head>", `<style>${STYLE}</style></head>`);
  return `<!doctype html>\n${text}\n`;
}
