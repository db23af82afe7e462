// Where a person chooses a graph and asks: the form, its completion, and what the graph is.

import { ask } from "./api.js";
import { byId, h, outward, said, show, sourceOf, whole } from "./dom.js";
import { START, askAnew } from "./state.js";

/**
 * @typedef {import("./main.js").Page} Page
 * @typedef {{itemId: string, label: string, description: string | null}} Item
 */

const WAIT_MS = 140;
const SUGGESTED = 8;

/** @type {Item[]} */
let suggested = [];
let active = -1;
let timer = 0;
/** @type {AbortController | null} */
let searching = null;

/** @param {Page} page */
export function begin(page) {
  const field = byId("question");
  byId("ask").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const item = suggested[active];
    close();
    if (item) page.go(askAnew(page.state, { item: item.itemId }));
    else if (field.value.trim()) page.askAgain(askAnew(page.state, { q: field.value.trim() }));
  });
  byId("graph").addEventListener("change", () => {
    // Views, relations and entities are those of a graph.
    page.go({ ...START, graph: byId("graph").value, q: page.state.q });
  });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => suggest(page), WAIT_MS);
  });
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") close();
    if (!suggested.length || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    active = ((active + 1 + step + suggested.length + 1) % (suggested.length + 1)) - 1;
    mark();
  });
  field.addEventListener("blur", () => setTimeout(close, 200));
}

/**
 * Shows what is asked, and of which graph.
 * @param {Page} page
 */
export function render(page) {
  const field = byId("question");
  const { state, graphs } = page;
  const select = byId("graph");
  show(
    select,
    graphs.map((graph) => h("option", { value: graph.name }, graph.name)),
  );
  select.value = page.graph?.name ?? "";
  byId("graph-choice").hidden = graphs.length < 2;
  if (document.activeElement !== field || !field.value) {
    const named = state.item && page.answers ? labelOf(page, state.item) : state.item;
    field.value = state.q || named;
  }
  show(byId("facts"), facts(page));
}

/** @param {Page} page */
function facts(page) {
  const graph = page.graph;
  if (!graph) return [page.graphs.length ? "" : "The store holds no graph yet."];
  const date = graph.publishedAt.slice(0, 10);
  const parts = [
    h("strong", null, said(graph.name)),
    `${whole(graph.items)} entities`,
    `${whole(graph.statements)} statements`,
    `${whole(graph.properties)} relations`,
    h("span", null, "from ", said(fileOf(graph.source))),
    h("span", null, "published ", h("time", { datetime: graph.publishedAt }, date)),
  ];
  return parts.map((part) => h("li", null, part));
}

/** @param {string} source */
export function fileOf(source) {
  return /^https?:/.test(source) ? source : (source.split("/").pop() ?? source);
}

/**
 * @param {Page} page
 * @param {string} id
 */
function labelOf(page, id) {
  return page.picture.nodes.find((node) => node.id === id)?.label ?? id;
}

/** @param {Page} page */
async function suggest(page) {
  const field = byId("question");
  const query = field.value.trim();
  searching?.abort();
  if (query.length < 2 || !page.graph) return close();
  searching = new AbortController();
  try {
    const variables = {
      query: query.slice(0, 200),
      graph: page.graph.name,
      prefix: true,
      first: SUGGESTED,
    };
    const data = await ask("Search", variables, { signal: searching.signal });
    if (field.value.trim() !== query || document.activeElement !== field) return;
    suggested = data.searchItems.edges.map((/** @type {any} */ edge) => edge.node);
    active = -1;
    list(page);
  } catch {
    // Completion is a help: a question that can't be answered says why.
    close();
  }
}

/** @param {Page} page */
function list(page) {
  const box = byId("suggestions");
  show(
    box,
    suggested.map((item, index) =>
      h(
        "li",
        {
          id: `suggestion-${index}`,
          role: "option",
          "aria-selected": "false",
          mousedown: (event) => event.preventDefault(),
          click: () => {
            close();
            page.go(askAnew(page.state, { item: item.itemId }));
          },
        },
        said(item.label, "strong"),
        " ",
        h("code", null, item.itemId),
        item.description && h("small", null, said(item.description)),
      ),
    ),
  );
  box.hidden = !suggested.length;
  byId("question").setAttribute("aria-expanded", String(suggested.length > 0));
}

function mark() {
  const field = byId("question");
  for (const [index, option] of [...byId("suggestions").children].entries()) {
    option.setAttribute("aria-selected", String(index === active));
  }
  if (active < 0) field.removeAttribute("aria-activedescendant");
  else field.setAttribute("aria-activedescendant", `suggestion-${active}`);
}

function close() {
  suggested = [];
  active = -1;
  const field = byId("question");
  byId("suggestions").hidden = true;
  field.setAttribute("aria-expanded", "false");
  field.removeAttribute("aria-activedescendant");
}

/**
 * An entity: a button that opens it, its id, and its page at the source.
 * @param {Page} page
 * @param {{itemId: string, label: string}} item
 * @param {string} key of this button among all that are shown
 */
export function entity(page, item, key) {
  const open = () => page.go({ ...page.state, open: item.itemId });
  return h("button.entity", { type: "button", click: open, "data-key": key }, said(item.label));
}

/** @param {string} id */
export function idOf(id) {
  const address = sourceOf(id);
  const text = id.length > 40 ? `…${id.slice(-39)}` : id;
  return h("code", { title: id }, address ? outward(address, text) : text);
}
