// Lays a view over the graph: a stored one, or one that sliders make; its figures and its making.

import { ask } from "./api.js";
import { button, byId, h, percent, show } from "./dom.js";
import { METHOD_WORDS, deviation, nameOf } from "./figures.js";
import { LOOKS } from "./legend.js";
import { METHODS, OPTIONS, counts, optionsOf } from "./methods.js";
import { hasView } from "./state.js";
import { ranked } from "./union.js";
import { aimOf, viewOf } from "./asking.js";

/** @typedef {import("./main.js").Page} Page */

const POLL_MS = 700;

/** @type {any[]} */
let views = [];
let viewsOf = "";
/** @type {any} the view whose figures are shown */
let figured = null;
let timer = 0;

/** @param {Page} page */
export function begin(page) {
  for (const id of ["method", "level", "seed", "near", "options"]) {
    byId(id).addEventListener("change", () => inline(page));
  }
  byId("level").addEventListener("input", () => levelText());
  byId("stored").addEventListener("change", () => {
    page.go({ ...page.state, view: byId("stored").value, method: "", sel: "" });
  });
  byId("view-off").addEventListener("click", () => {
    page.go({ ...page.state, view: "", method: "", show: "both", sel: "" });
  });
  for (const radio of document.querySelectorAll("input[name=show]")) {
    radio.addEventListener("change", () => {
      page.go({ ...page.state, show: /** @type {any} */ (/** @type {HTMLInputElement} */ (radio).value) });
    });
  }
  byId("next-change").addEventListener("click", () => step(page, 1));
  byId("previous-change").addEventListener("click", () => step(page, -1));
}

/** @param {Page} page */
function inline(page) {
  const method = byId("method").value;
  page.go({
    ...page.state,
    view: "",
    method,
    level: Number(byId("level").value),
    seed: Math.max(0, Math.min(1_000_000, Math.floor(Number(byId("seed").value) || 0))),
    near: byId("near").checked,
    options: method ? given(optionsOf(method, byId("near").checked)) : {},
    sel: "",
  });
}

/**
 * Returns the options that are shown and differ from how they begin.
 * @param {string[]} taken
 */
function given(taken) {
  /** @type {Record<string, number>} */
  const found = {};
  for (const field of byId("options").querySelectorAll("input")) {
    const { start, bounds } = OPTIONS[field.name];
    const wanted = bounds ? Math.floor(Number(field.value)) || 0 : Number(field.checked);
    const value = bounds ? Math.max(bounds.least, Math.min(bounds.most, wanted)) : wanted;
    if (taken.includes(field.name) && value !== start) found[field.name] = value;
  }
  return found;
}

/** @param {Page} page */
function methods(page) {
  const { answers, state } = page;
  const aims = !answers || aimOf(state, answers.base).answers.length > 0;
  const groups = new Map(Object.values(METHODS).map((method) => [method.group, /** @type {HTMLElement[]} */ ([])]));
  for (const [value, { words, group, aims: aimed }] of Object.entries(METHODS)) {
    groups.get(group)?.push(h("option", { value, disabled: Boolean(aimed) && !aims }, words));
  }
  show(
    byId("method"),
    h("option", { value: "" }, "no view"),
    [...groups].map(([label, listed]) => h("optgroup", { label }, listed)),
  );
}

/** @param {Page} page */
function options({ state }) {
  const { method, near } = state;
  show(
    byId("options"),
    optionsOf(method, near).map((name) => {
      const { words, start, bounds } = OPTIONS[name];
      const value = state.options[name] ?? start;
      const id = `option-${name}`;
      return bounds
        ? [
            h("label", { for: id }, words),
            h("input", { id, name, type: "number", min: bounds.least, max: bounds.most, step: 1, value, "data-key": id }),
          ]
        : h("label.check.wide", null, h("input", { id, name, type: "checkbox", checked: value === 1, "data-key": id }), words);
    }),
  );
}

function levelText() {
  byId("level-said").value = `${byId("level").value} %`;
}

/** @param {Page} page */
export function render(page) {
  const { state } = page;
  methods(page);
  byId("method").value = state.method;
  const method = METHODS[state.method];
  byId("making").hidden = !method;
  byId("method-about").textContent = method?.about ?? "";
  byId("level-row").hidden = !method || counts(state.method);
  byId("near-row").hidden = !method || Boolean(method.whole);
  if (method) options(page);
  else show(byId("options"));
  byId("level").value = String(state.level);
  byId("seed").value = String(state.seed);
  byId("near").checked = state.near;
  byId("level-said").value = `${state.level} %`;
  const isOn = hasView(state);
  byId("view-off").hidden = !isOn;
  byId("sides").hidden = !isOn || !page.answers?.view;
  const chosen = /** @type {HTMLInputElement | null} */ (document.querySelector(`input[name=show][value=${state.show}]`));
  if (chosen) chosen.checked = true;
  void listViews(page);
  stored(page);
  changes(page);
  void figures(page);
}

/** @param {Page} page */
async function listViews(page) {
  const graph = page.graph?.name;
  if (!graph || viewsOf === graph) return;
  viewsOf = graph;
  try {
    views = (await ask("Views", { graph, after: null }, { fresh: true })).views.nodes;
  } catch {
    views = [];
  }
  stored(page);
}

/** @param {Page} page */
function stored(page) {
  const { view } = page.state;
  const known = views.some((one) => one.viewId === view || one.name === view);
  show(
    byId("stored"),
    h("option", { value: "" }, views.length ? "none" : "none is stored"),
    !known && view && h("option", { value: view }, view),
    views.map((one) => h("option", { value: one.viewId, disabled: one.state !== "DONE" }, nameOf(one))),
  );
  byId("stored").value = views.find((one) => one.name === view)?.viewId ?? view;
}

/** @param {Page} page */
function changesOf(page) {
  const shown = ranked(page.shown.edges).filter((edge) => edge.status !== "kept" && edge.status !== "unknown");
  // A changed statement is one change: its other side is marked with it.
  const after = new Set(shown.filter((edge) => edge.side === "after").map((edge) => edge.partner));
  return shown.filter((edge) => edge.side !== "before" || !after.has(edge.id));
}

/**
 * @param {readonly import("./union.js").Edge[]} listed
 * @param {string} id of a statement, on either side of a change
 */
function placeOf(listed, id) {
  return listed.findIndex((edge) => edge.id === id || (id !== "" && edge.partner === id));
}

/** @param {Page} page */
function changes(page) {
  const box = byId("changes");
  if (!page.answers?.view) {
    box.hidden = true;
    return;
  }
  box.hidden = false;
  const counts = new Map();
  for (const edge of page.picture.edges) {
    if (edge.side !== "before") counts.set(edge.status, (counts.get(edge.status) ?? 0) + 1);
  }
  const listed = changesOf(page);
  const at = placeOf(listed, page.state.sel);
  const words = Object.entries(LOOKS)
    .filter(([status]) => counts.get(status))
    .map(([status, look]) => `${look.sign}${look.sign ? " " : ""}${counts.get(status)} ${look.words}`);
  byId("changes-said").textContent = words.join(" · ");
  byId("change-at").textContent = at < 0 ? `${listed.length} to step through` : `${at + 1} of ${listed.length}`;
  byId("next-change").disabled = byId("previous-change").disabled = !listed.length;
}

/**
 * @param {Page} page
 * @param {1 | -1} by
 */
function step(page, by) {
  const listed = changesOf(page);
  const at = placeOf(listed, page.state.sel);
  const next = at < 0 ? (by > 0 ? 0 : listed.length - 1) : (at + by + listed.length) % listed.length;
  page.go({ ...page.state, sel: listed[next].id }, { replace: true });
}

/**
 * The figures of a view that is stored; how to store one that is not.
 * @param {Page} page
 */
async function figures(page) {
  const id = page.answers?.view ? page.answers.viewId : "";
  const box = byId("figures");
  if (!id) {
    clearTimeout(timer);
    show(box);
    return;
  }
  if (figured?.viewId !== id) {
    figured = views.find((one) => one.viewId === id) ?? null;
    if (!figured && page.state.view) await readView(page, page.state.view);
  }
  draw(page);
}

/**
 * @param {Page} page
 * @param {string} reference
 */
async function readView(page, reference) {
  try {
    const variables = { view: reference, graph: page.graph?.name ?? null };
    figured = (await ask("ViewDetails", variables, { fresh: true })).view;
  } catch (error) {
    page.say(error instanceof Error ? error.message : String(error));
  }
}

/** @param {Page} page */
function draw(page) {
  const box = byId("figures");
  if (!figured || figured.viewId !== page.answers?.viewId) {
    show(
      box,
      h("p.quiet", null, "This view is computed for this page alone. Stored, it gets a name, its deviation is measured, and its whole list of changes can be read."),
      button("Store and measure it", () => void store(page), { "data-key": "store" }),
    );
    return;
  }
  if (figured.state === "RUNNING") {
    show(
      box,
      h("p", null, "Being made: ", h("progress", { max: 1, value: figured.progress, "aria-label": "Making of the view" }), ` ${percent(figured.progress)}`),
      button("Cancel", () => void cancel(page), { "data-key": "cancel" }),
    );
    clearTimeout(timer);
    timer = window.setTimeout(() => void poll(page), POLL_MS);
    return;
  }
  if (figured.state !== "DONE") {
    show(box, h("p", null, figured.state === "FAILED" ? `It failed: ${figured.error}` : "Its making was cancelled."));
    return;
  }
  show(box, deviation(figured), graphLink(page));
}

/** @param {Page} page */
function graphLink(page) {
  const asked = new URLSearchParams({ graph: page.graph?.name ?? "", view: figured.viewId });
  return h("p", null, h("a", { href: `graphs#${asked}` }, "All changes of this view"));
}

/** @param {Page} page */
async function store(page) {
  const view = viewOf(page.state, aimOf(page.state, page.answers?.base ?? null));
  const input = { graph: page.graph?.name, spec: view?.spec, wait: false };
  try {
    figured = (await ask("MakeView", { input })).createView.view;
    viewsOf = "";
    draw(page);
    page.say("The view is being made.");
  } catch (error) {
    show(byId("figures"), page.problem(error));
  }
}

/** @param {Page} page */
async function poll(page) {
  const id = figured.viewId;
  await readView(page, id);
  if (page.answers?.viewId !== id) return;
  draw(page);
  if (figured?.state === "DONE") {
    page.say("The view is stored.");
    viewsOf = "";
    void listViews(page);
  }
}

/** @param {Page} page */
async function cancel(page) {
  try {
    const input = { reference: figured.viewId, graph: figured.graph };
    figured = (await ask("CancelView", { input })).cancelJob.view;
    draw(page);
    page.say("The making of the view was cancelled.");
  } catch (error) {
    show(byId("figures"), page.problem(error));
  }
}

/** @param {Page} page */
export function viewName(page) {
  if (figured && figured.viewId === page.answers?.viewId) return nameOf(figured);
  const { state } = page;
  if (!state.method) return state.view;
  const amount = counts(state.method) ? (state.options.count ?? OPTIONS.count.start) : `${state.level} %`;
  return `${METHODS[state.method].words} ${amount}, seed ${state.seed}`;
}
