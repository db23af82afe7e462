// What a person sees first: the graph in words, questions to press, and its most connected part.

import { ApiError, ask } from "./api.js";
import { classesOf } from "./classes.js";
import { byId, h, said, show } from "./dom.js";
import { pictureLegend } from "./legend.js";
import { draw, resize } from "./picture.js";
import { START, askAnew } from "./state.js";
import { unionOf } from "./union.js";

/**
 * @typedef {import("./main.js").Page} Page
 * @typedef {{question: string, answer: string | null}} Example
 */

/** The view of the last example: a third of the statements get a wrong relation. */
const WHAT_IF = { method: "rr", level: 30, seed: 1, n: 10 };
const WITH_EXAMPLES =
  "Press a question, or type your own in whole words. Each answer shows the facts that it rests on.";
const WITHOUT = "Type a question in whole words. Each answer shows the facts that it rests on.";
const DRAWN = 14;
/** Statements that are read of the most connected entity, of which those are chosen. */
const READ = 200;
/** Of one relation and direction at most, while others are left. */
const ALIKE = 3;

/** @type {Map<string, Promise<any>>} what was asked of each edition */
const known = new Map();

/**
 * Asks once for each edition.
 * @param {string} what is asked
 * @param {any} graph
 * @param {() => Promise<any>} request
 */
function once(what, graph, request) {
  const key = `${what} ${graph.edition}`;
  const made = known.get(key) ?? request();
  known.set(key, made);
  made.catch(() => known.delete(key));
  return made;
}

/** @param {any} graph */
function introduction(graph) {
  return once("introduction", graph, () => ask("Introduction", { graph: graph.name }));
}

/**
 * Shows the first part of the page for the graph that is chosen.
 * @param {Page} page
 */
export async function render(page) {
  const graph = page.graph;
  byId("first-picture").hidden = !graph;
  if (!graph && !page.graphs.length) {
    byId("about").textContent = "There is no graph yet";
    show(byId("how-to-begin"), "Load one: ", h("code", null, "graph-service load FILE --graph mine"));
  }
  if (!graph || byId("welcome").getAttribute("data-edition") === graph.edition) return;
  byId("welcome").setAttribute("data-edition", graph.edition);
  show(byId("examples"), h("li.quiet", null, "Making questions of the graph …"));
  byId("how-to-begin").textContent = WITH_EXAMPLES;
  show(byId("first-picture"));
  show(byId("first-legend"));
  show(byId("holds"));
  const isShown = () => page.graph?.edition === graph.edition;
  try {
    const data = await introduction(graph);
    if (!isShown()) return;
    const { text, items } = data.graph.introduction;
    byId("about").textContent = text;
    if (items.length) await picture(page, graph, items[0], isShown);
    await words(graph, isShown);
    const rows = await examples(page, "first");
    if (!isShown()) return;
    show(byId("examples"), rows);
    byId("how-to-begin").textContent = rows.length ? WITH_EXAMPLES : WITHOUT;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The page answers questions all the same.
    byId("welcome").removeAttribute("data-edition");
    show(byId("examples"));
  }
}

/** How many questions are offered in place of one that the graph does not answer. */
const MOST_INSTEAD = 3;

/**
 * Returns the example questions of the graph, each a button: all of them, with what it does not say
 * and a view, or in place of a question only those that it answers.
 * @param {Page} page
 * @param {"first" | "instead"} key of the buttons
 * @returns {Promise<HTMLElement[]>}
 */
async function examples(page, key) {
  const graph = page.graph;
  const data = await once("examples", graph, () => ask("Examples", { graph: graph.name }));
  /** @type {Example[]} */
  const questions = data.graph.exampleQuestions;
  const begin = { ...START, graph: page.state.graph };
  /**
   * @param {string} text
   * @param {Partial<import("./state.js").State>} state
   * @param {string} note
   * @param {string} name
   */
  const row = (text, state, note, name) =>
    h(
      "li",
      null,
      h(
        "button.example",
        { type: "button", "data-key": `${key} ${name}`, click: () => page.go(askAnew(begin, state)) },
        said(text),
        note && h("small", null, note),
      ),
    );
  const answered = questions.filter(({ answer }) => answer !== null);
  const shown = key === "instead" ? answered.slice(0, MOST_INSTEAD) : questions;
  const rows = shown.map(({ question, answer }, at) =>
    row(question, { q: question }, answer === null ? "the graph does not say" : "", String(at)),
  );
  if (key === "first" && answered.length) {
    const [{ question }] = answered;
    rows.push(row("What if a third of this were wrong?", { q: question, ...WHAT_IF }, question, "view"));
  }
  return rows;
}

/**
 * Says what the graph is about and could answer, below a question that it does not.
 * @param {Page} page
 */
export function instead(page) {
  const graph = page.graph;
  const about = h("p.quiet");
  const list = h("ul.examples");
  void (async () => {
    try {
      const data = await introduction(graph);
      about.textContent = `The graph has ${data.graph.introduction.text}.`;
      const rows = await examples(page, "instead");
      if (rows.length) about.append(" It answers, for instance:");
      show(list, rows);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  })();
  return h("div.instead", null, about, list);
}

/**
 * Shows the words to ask a graph with; questions are offered without them too.
 * @param {any} graph
 * @param {() => boolean} isShown
 */
async function words(graph, isShown) {
  try {
    const data = await once("holds", graph, () => ask("Holds", { graph: graph.name }));
    if (isShown()) show(byId("holds"), holds(data.graph));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/**
 * Returns the classes of a graph with their sizes, and its relations: the words to ask it with.
 * @param {any} graph
 */
function holds({ classes, relations }) {
  /**
   * @param {string} term
   * @param {readonly string[]} words
   * @param {number} total
   */
  const row = (term, words, total) =>
    words.length
      ? [
          h("dt", null, term),
          h(
            "dd",
            null,
            words.map((word, at) => [at ? ", " : "", said(word)]).flat(),
            total > words.length && ` and ${(total - words.length).toLocaleString("en")} more`,
          ),
        ]
      : [];
  const sizes = (classes?.edges ?? []).map(
    (/** @type {any} */ { count, node }) => `${node.label} (${count.toLocaleString("en")})`,
  );
  const names = (relations?.nodes ?? []).map((/** @type {any} */ { label }) => label);
  return [
    ...row("Kinds of things", sizes, classes?.totalCount ?? 0),
    ...row("What it says of them", names, relations?.totalCount ?? 0),
  ];
}

/**
 * Returns the statements that show best what an entity is joined with: few of one relation, those
 * between entities before texts and numbers.
 * @param {readonly any[]} items
 * @param {string} itemId
 */
function varied(items, itemId) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const rank = (/** @type {any} */ { subject, statement }) => {
    const direction = subject.itemId === itemId ? "out" : "in";
    const key = `${direction} ${statement.property.propertyId}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return Number(count >= ALIKE) * 2 + Number(!statement.value?.item);
  };
  const ranked = items.map((row) => ({ row, rank: rank(row) }));
  return ranked.sort((a, b) => a.rank - b.rank).slice(0, DRAWN).map(({ row }) => row);
}

/**
 * Draws what lies around the most central entity.
 * @param {Page} page
 * @param {any} graph
 * @param {{itemId: string, label: string}} item
 * @param {() => boolean} isShown
 */
async function picture(page, graph, item, isShown) {
  const data = await once("around", graph, () =>
    ask("Around", { item: item.itemId, graph: graph.name, limit: READ }),
  );
  const items = varied(data.base.items, item.itemId);
  const marked = { starts: new Set([item.itemId]), answers: new Set(), path: new Set() };
  const union = unionOf([{ base: items, view: null }], new Map(), marked);
  const classes = await classesOf(union.nodes, graph.name);
  if (!isShown()) return;
  const frame = byId("first-picture");
  const title = `Around ${item.label}`;
  const drawing = draw(union, union, { sel: "", open: "", title, classes, name: "first", room: frame.clientWidth });
  resize(drawing, frame, null);
  show(frame, drawing);
  frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2;
  show(byId("first-legend"), pictureLegend(union, classes));
}

/** @param {Page} page */
export function begin(page) {
  const frame = byId("first-picture");
  const open = (/** @type {EventTarget | null} */ target) => {
    const node = target instanceof Element && target.closest("[data-node]")?.getAttribute("data-node");
    if (node) page.go(askAnew(page.state, { item: node }));
  };
  frame.addEventListener("click", (/** @type {Event} */ event) => open(event.target));
  frame.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open(event.target);
  });
}
