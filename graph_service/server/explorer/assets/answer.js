// Who was linked, what the answer is and on what it rests, and the best paths; of a view too.

import { basisOf, bestPaths, endOf, endText } from "./asking.js";
import { button, byId, h, percent, said, show } from "./dom.js";
import { entity, idOf } from "./question.js";
import { instead } from "./welcome.js";

/**
 * @typedef {import("./main.js").Page} Page
 * @typedef {import("./asking.js").Side} Side
 */

/** @param {Page} page */
export function render(page) {
  const answers = page.answers;
  if (!answers) return;
  const { base, view } = answers;
  const result = base.paths ?? base.subgraph;
  byId("answer-title").textContent = base.paths ? "Answer" : "Entity";
  show(byId("linked"), page.state.item ? lookedAt(page) : linked(page, result));
  const isEntity = !base.paths && result.status === "OK";
  show(
    byId("answers"),
    isEntity
      ? []
      : view
        ? [side(page, "Base", base, view, "base"), side(page, "View", view, base, "view")]
        : side(page, "Answer", base, null, "base"),
  );
  byId("answers").classList.toggle("two", Boolean(view) && !isEntity);
  show(byId("paths"), base.paths ? paths(page, base, view) : []);
  byId("paths-part").hidden = !base.paths?.items.length && !view?.paths?.items.length;
}

/** @param {Page} page */
function lookedAt(page) {
  const id = page.state.item;
  const label = page.picture.nodes.find((node) => node.id === id)?.label ?? id;
  return h("p.answer", null, h("span.quiet", null, "Around "), entity(page, { itemId: id, label }, "around"), " ", idOf(id));
}

/**
 * @param {Page} page
 * @param {any} result
 */
function linked(page, result) {
  // Below, the answer says it where the status is no answer.
  if (!result.linked.length) return result.status === "OK" ? h("p", null, result.statusText) : [];
  /** @type {any[]} */
  const named = [...new Map(result.linked.map((/** @type {any} */ one) => [`${one.item.itemId} ${one.mention}`, one])).values()];
  return named.map((one, place) => {
    const choose = (/** @type {string} */ id) => {
      const from = named.map((other) => (other === one ? id : other.item.itemId));
      page.go({ ...page.state, from, expand: [], fold: [], sel: "" });
    };
    return h(
      "div.link",
      null,
      one.mention ? h("span", null, "“", said(one.mention), "” is ") : page.state.from.length ? "Chosen: " : "About ",
      entity(page, one.item, `linked ${place}`),
      " ",
      idOf(one.item.itemId),
      one.item.description && h("span.quiet", null, " ", said(one.item.description)),
      one.mention && h("span.quiet", null, one.score < 0.995 ? ` · ${percent(one.score)} sure` : ""),
      one.alternatives.length > 0 &&
        h(
          "details",
          { "data-keep": `others ${place}` },
          h("summary", null, one.alternatives.length === 1 ? "Another of that name" : `${one.alternatives.length} others of that name`),
          h(
            "ul.others",
            null,
            one.alternatives.map((/** @type {any} */ other) =>
              h(
                "li",
                null,
                h("button", { type: "button", click: () => choose(other.itemId) }, said(other.label)),
                " ",
                idOf(other.itemId),
                other.description && h("span.quiet", null, " ", said(other.description)),
              ),
            ),
          ),
        ),
      page.state.from.length > 0 && place === 0 &&
        h("span.quiet", null, " ", button("link again", () => page.go({ ...page.state, from: [] }))),
    );
  });
}

/**
 * @param {Page} page
 * @param {string} title
 * @param {Side} one
 * @param {Side | null} other
 * @param {string} key
 * @returns {HTMLElement}
 */
function side(page, title, one, other, key) {
  const result = one.paths ?? one.subgraph;
  if (result.parts.length) return inParts(page, title, one, other, key);
  const answer = result.answer;
  const isSure = result.status === "OK";
  const subject = !isSure ? "what comes nearest" : (answer?.items.length ?? 0) > 1 ? "these answers" : "this answer";
  const cited = basisOf(one);
  const heading = other ? h("h3", null, title) : null;
  return h(
    "section",
    { class: `side ${key}` },
    heading,
    result.status !== "OK" && h("p.answer.unsure", null, result.statusText),
    answer ? worded(page, answer, key) : result.status === "OK" && ends(page, one, key),
    cited.length > 0 && [
      h(heading ? "h4.minor" : "h3.minor", null, isSure ? "It rests on" : "What comes nearest"),
      h(
        "ol.citations",
        null,
        cited.map((/** @type {any} */ step) => {
          const id = step.statement.statementId;
          return h("li", null, citation(page, step, `${key} cited ${id}`), other && change(page, id));
        }),
      ),
    ],
    answer?.truncated && h("p.quiet", null, "Limits left out statements that may count."),
    result.constraints.length > 0 &&
      h(
        "p.quiet",
        null,
        "The question also says: ",
        result.constraints.map((/** @type {any} */ each, /** @type {number} */ at) => [
          at ? ", " : "",
          said(each.text, "q"),
          ` (${each.met ? "" : "not "}true of ${subject})`,
        ]).flat(),
      ),
    result.interpretation && interpretation(result.interpretation, key),
    !answer && !other && !isSure && instead(page),
  );
}

/**
 * The answers of a text that asks several questions, one after the other.
 * @param {Page} page
 * @param {string} title
 * @param {Side} one
 * @param {Side | null} other
 * @param {string} key
 * @returns {HTMLElement}
 */
function inParts(page, title, one, other, key) {
  return h(
    "section",
    { class: `side ${key}` },
    other && h("h3", null, title),
    partsOf(one).map(({ question, part }, at) => [
      h(other ? "h4" : "h3", null, said(question)),
      side(page, title, part, null, `${key} part ${at}`),
    ]),
  );
}

/**
 * Returns each question of a text, with its own result; "" for the question of a text that asks one.
 * @param {Side} one
 * @returns {{question: string, part: Side}[]}
 */
function partsOf(one) {
  const result = one.paths ?? one.subgraph;
  if (!result.parts.length) return [{ question: "", part: one }];
  return result.parts.map((/** @type {any} */ part) => {
    const items = part.itemIndexes.map((/** @type {number} */ index) => result.items[index]);
    const alone = { ...result, ...part, items, parts: [] };
    return { question: part.question, part: one.paths ? { ...one, paths: alone } : { ...one, subgraph: alone } };
  });
}

/** Returns what is answered, for those who listen to the page. @param {Side} one */
export function inWords(one) {
  return partsOf(one)
    .map(({ question, part }) => {
      const { status, statusText, answer } = part.paths ?? part.subgraph;
      const ends = answer?.text ?? bestPaths(part).map(endText).join(", ");
      const words = status === "OK" && ends ? `The answer is ${ends}.` : statusText;
      return question ? `${question} ${words}` : words;
    })
    .join(" ");
}

/**
 * The query that a question was read as, in words and in code.
 * @param {any} read
 * @param {string} key
 */
function interpretation(read, key) {
  const code = (/** @type {string} */ name, /** @type {string | null} */ text) =>
    text && [
      h("p.quiet", null, name),
      h("pre", { tabindex: 0, "aria-label": `${name} of the query`, role: "group" }, text),
    ];
  return h(
    "details",
    { "data-keep": `interpretation ${key}` },
    h("summary", null, "Read as: ", said(read.text)),
    read.unread.length > 0 && h("p.quiet", null, "Words not read: ", said(read.unread.join(", "))),
    read.ranked.length > 1 && [
      h("p.quiet", null, "The best queries, before conditions"),
      h(
        "ol",
        null,
        read.ranked.map((/** @type {any} */ query) =>
          h("li", null, said(query.text), h("span.quiet", null, ` ${query.score.toFixed(3)}`)),
        ),
      ),
    ],
    code("Cypher", read.cypher),
    code("SPARQL", read.sparql),
  );
}

/**
 * @param {Page} page
 * @param {any} answer
 * @param {string} key
 */
function worded(page, answer, key) {
  const items = answer.items.slice(0, 20);
  const more = answer.items.length - items.length;
  if (!items.length || (answer.kind !== "ENTITIES" && answer.kind !== "SUPERLATIVE")) return h("p.answer", null, said(answer.text));
  return h(
    "p.answer",
    null,
    items.map((/** @type {any} */ item, /** @type {number} */ at) => [
      h("span.listed", null, entity(page, item, `${key} answer ${item.itemId}`), (more > 0 || at < items.length - 1) && h("span.comma", null, ",")),
      " ",
    ]),
    more > 0 && `and ${more} more`,
  );
}

/**
 * What the best paths end at.
 * @param {Page} page
 * @param {Side} one
 * @param {string} key
 */
function ends(page, one, key) {
  const best = bestPaths(one);
  if (!best.length) return null;
  return h(
    "p.answer",
    null,
    best.map((path, at) => {
      const end = endOf(path);
      return [at ? ", " : "", end ? entity(page, end, `${key} answer ${at}`) : said(endText(path))];
    }),
  );
}

/**
 * Returns what the view makes of a statement, as a mark; null for one that both sides have.
 * @param {Page} page
 * @param {string} id of the statement
 */
function change(page, id) {
  const edge = page.picture.edges.find((one) => one.id === id);
  if (edge?.status === "removed") return tag("not in the view");
  if (edge?.status === "added" || edge?.side === "after") return tag("only in the view");
  if (edge?.status !== "changed") return null;
  const partner = page.picture.edges.find((one) => one.id === edge.partner);
  return tag(partner && partner.label !== edge.label ? `in the view: ${partner.label}` : "changed in the view");
}

/**
 * @param {Page} page
 * @param {any} step
 * @param {string} key
 */
function citation(page, step, key) {
  const { statement, subject } = step;
  const select = () => page.go({ ...page.state, sel: statement.statementId });
  return h(
    "button.citation",
    { type: "button", click: select, "data-key": key, title: statement.statementId },
    said(subject.label),
    " ",
    h("span.relation", null, said(statement.property.label)),
    " ",
    said(statement.valueText),
    h("code", null, ` [${shortId(subject.itemId)}]`),
  );
}

/**
 * The best paths; beside a view, with the place that each has there.
 * @param {Page} page
 * @param {Side} base
 * @param {Side | null} view
 */
function paths(page, base, view) {
  // Those of each question, best first; beside a view a row has its place among all.
  const groups = view ? [{ question: "", part: base }] : partsOf(base);
  const rows = groups.flatMap(({ question, part }) => part.paths.items.map((/** @type {any} */ path, /** @type {number} */ at) => ({
    path,
    question: at ? "" : question,
    base: at + 1,
    view: view ? 1 + view.paths.items.findIndex((/** @type {any} */ one) => one.pathId === path.pathId) : 0,
  })));
  for (const [at, path] of (view?.paths.items ?? []).entries()) {
    if (!rows.some((/** @type {any} */ row) => row.path.pathId === path.pathId)) {
      rows.push({ path, question: "", base: 0, view: at + 1 });
    }
  }
  const place = (/** @type {number} */ at) => h("td.number", null, at ? `${at}.` : h("span", null, "–"));
  return h(
    "div.scroll",
    { tabindex: 0, role: "region", "aria-label": "Paths" },
    h(
      "table",
      null,
      h("thead", null, h("tr", null, view
        ? [h("th.number", { scope: "col" }, "Base"), h("th.number", { scope: "col" }, "View")]
        : h("th.number", { scope: "col" }, "Rank"),
        h("th", { scope: "col" }, "Path"), h("th.number", { scope: "col" }, "Score"),
        h("th", { scope: "col" }, "Made of"))),
      h(
        "tbody",
        null,
        rows.map((/** @type {any} */ row) => [
          row.question && h("tr", null, h("th", { scope: "rowgroup", colspan: 4 }, said(row.question))),
          h(
            "tr",
            { class: view && !row.view ? "gone" : !row.base ? "new" : "" },
            view ? [place(row.base), place(row.view)] : place(row.base),
            h("td", null, chain(page, row.path), view && moved(row)),
            h("td.number", null, row.path.score.toFixed(3)),
            h("td.parts", null, parts(row.path.parts)),
          ),
        ]),
      ),
    ),
  );
}

/** @param {{base: number, view: number}} row */
function moved(row) {
  if (!row.view) return tag("only base");
  if (!row.base) return tag("only view");
  const by = row.base - row.view;
  return by ? tag(by > 0 ? `up ${by}` : `down ${-by}`) : null;
}

/**
 * @param {Page} page
 * @param {any} path
 */
function chain(page, path) {
  const first = path.steps[0];
  /** @type {any[]} */
  const parts = [said(startOf(first))];
  for (const [at, step] of path.steps.entries()) {
    const id = step.statement.statementId;
    const arrow = step.reversed ? ["←", ""] : ["", "→"];
    const select = () => page.go({ ...page.state, sel: id });
    parts.push(
      h(
        "button.relation",
        { type: "button", click: select, "data-key": `path ${path.pathId} ${at}` },
        arrow[0],
        said(step.statement.property.label),
        arrow[1],
        step.change.kind !== "UNCHANGED" && ` ${step.change.kind === "ADDED" ? "+" : "≠"}`,
      ),
      said(step.reversed ? step.subject.label : step.statement.valueText),
    );
  }
  return h("span.chain", null, parts.map((part) => [part, " "]));
}

/** @param {any} step */
function startOf(step) {
  return step.reversed ? step.statement.valueText : step.subject.label;
}

/** @param {{name: string, amount: number}[]} parts */
export function parts(parts) {
  return parts
    .map((part) => `${part.amount >= 0 ? "+" : "−"}${Math.abs(part.amount).toFixed(3)} ${part.name.toLowerCase().replaceAll("_", " ")}`)
    .join(" ");
}

/** @param {string} text */
export function tag(text) {
  return h("span.tag", null, text);
}

/** @param {string} id */
export function shortId(id) {
  return id.length > 28 ? `…${id.slice(-27)}` : id;
}
