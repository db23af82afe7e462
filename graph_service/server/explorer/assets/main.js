// The page that explores: one state, which is the address, and what is drawn from it.

import * as answer from "./answer.js";
import { ApiError, ask, forget } from "./api.js";
import { asked, basisOf, bestPaths, endOf, load, startsOf } from "./asking.js";
import * as details from "./details.js";
import { button, byId, h, show } from "./dom.js";
import * as exporting from "./export.js";
import * as item from "./item.js";
import { LOOKS, pictureLegend, sentenceOf, statusLegend } from "./legend.js";
import * as perturb from "./perturb.js";
import { NARROW_PX, draw, resize } from "./picture.js";
import * as question from "./question.js";
import { connect } from "./server.js";
import { START, asksNothing, readState, writeState } from "./state.js";
import * as tables from "./tables.js";
import { shownOf, unionOf } from "./union.js";
import * as welcome from "./welcome.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./union.js").Picture} Picture
 */

const POINT = `${matchMedia("(hover: none)").matches ? "Press" : "Point at"} a line to read its statement.`;
/** The errors that may be gone when the same is asked again. */
const ASKED_AGAIN = new Set(["EDITION_GONE", "INTERNAL", "STORE_UNAVAILABLE", "TIMEOUT"]);
const ZOOMS = [0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.6, 2];

/** What all parts of the page share. */
export class Page {
  /** @type {State} */
  state = START;
  /** @type {any[]} */
  graphs = [];
  /** @type {import("./asking.js").Answers | null} */
  answers = null;
  /** @type {Picture} */
  picture = { nodes: [], edges: [] };
  /** @type {Picture} what is shown of the picture */
  shown = { nodes: [], edges: [] };
  /** @type {Map<string, string>} labels of relations and classes that filters name */
  names = new Map();
  #asked = "";
  #opened = "";
  /** @type {AbortController | null} */
  #loading = null;
  /** @type {number | null} null to fit the width */
  #zoom = null;

  get graph() {
    return this.graphs.find((one) => one.name === (this.state.graph || this.graphs[0].name));
  }

  /**
   * Goes to a state, which begins an entry of the browser's history.
   * @param {State} state
   * @param {{replace?: boolean}} [how]
   */
  go(state, { replace = false } = {}) {
    const address = writeState(state);
    if (address === (location.hash || "#")) return;
    if (replace) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    void this.update();
  }

  /**
   * Goes to a state and asks it even where it was asked before.
   * @param {State} state
   */
  askAgain(state) {
    forget();
    this.#asked = "";
    history.pushState(null, "", writeState(state));
    void this.update();
  }

  /** Shows what the address says. */
  async update() {
    this.state = readState(location.hash);
    question.render(this);
    document.title = `${this.title()} · graph-service`;
    const begins = asksNothing(this.state) || !this.graphs.length;
    byId("welcome").hidden = !begins;
    if (begins) void welcome.render(this);
    byId("results").hidden = asksNothing(this.state) || !this.answers;
    if (begins) {
      this.#asked = "";
      this.answers = null;
      byId("results").hidden = true;
      return;
    }
    const state = { ...this.state, graph: this.state.graph || this.graph?.name || "" };
    const now = asked(state);
    if (now === this.#asked) {
      this.render();
      return;
    }
    this.#asked = now;
    await this.#load(state);
  }

  /** @param {State} state */
  async #load(state) {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    performance.mark("asked");
    byId("main").setAttribute("aria-busy", "true");
    byId("busy").hidden = false;
    show(byId("problem"));
    try {
      const answers = await load(state, loading.signal, () => {});
      if (loading.signal.aborted) return;
      performance.mark("answered");
      this.answers = answers;
      byId("results").hidden = false;
      this.render();
      performance.mark("drawn");
      this.say(this.#summary());
    } catch (error) {
      if (loading.signal.aborted) return;
      this.#asked = "";
      byId("results").hidden = true;
      show(byId("problem"), this.problem(error), this.#onward());
    } finally {
      if (this.#loading === loading) {
        byId("main").removeAttribute("aria-busy");
        byId("busy").hidden = true;
      }
    }
  }

  /**
   * Returns the graph of the base and the view, with the paths and the answers of some sides.
   * @param {"both" | "base" | "view"} marked
   * @returns {Picture}
   */
  #united(marked) {
    const answers = /** @type {import("./asking.js").Answers} */ (this.answers);
    const { base, view, layers, fates } = answers;
    const sides = [marked !== "view" || !view ? base : null, marked !== "base" ? view : null].filter((side) => side !== null);
    const ends = sides.flatMap((side) => side.paths?.answer?.items ?? bestPaths(side).map(endOf).filter(Boolean));
    const steps = sides.filter((side) => side.paths?.status === "OK").flatMap(basisOf);
    return unionOf(layers, fates, {
      starts: new Set(startsOf(this.state, base)),
      answers: new Set(ends.map((/** @type {any} */ end) => end.itemId)),
      path: new Set(steps.map((/** @type {any} */ step) => step.statement.statementId)),
    });
  }

  /** Draws all parts again. */
  render() {
    if (!this.answers) return;
    const side = this.answers.view ? this.state.show : "both";
    this.picture = this.#united(side);
    this.shown = shownOf(this.picture, side, this.state.fold);
    question.render(this);
    answer.render(this);
    this.#draw();
    tables.render(this);
    perturb.render(this);
    details.render(this);
    item.render(this);
    void exporting.render(this);
    this.#follow();
  }

  /**
   * Returns the picture as it is shown.
   * @param {number} [room] of its frame, in px; what is saved has the same room always
   */
  drawing(room) {
    return draw(this.picture, this.shown, { ...this.#marks(this.title()), room });
  }

  /**
   * Returns the picture of the base and the one of the view, each as a chain from its own answer.
   * @param {number} room
   * @returns {SVGSVGElement[]}
   */
  #sides(room) {
    return /** @type {const} */ (["base", "view"]).map((side) => {
      const whole = this.#united(side);
      const marks = this.#marks(`${this.title()}, ${side}`);
      // What a statement became is in the view, though the view's answer may not have found it.
      const edges = whole.edges.map((edge) => (edge.side === "after" ? { ...edge, inView: true } : edge));
      const shown = shownOf({ ...whole, edges }, side, this.state.fold);
      return draw(whole, shown, { ...marks, name: `arrow-${side}`, room });
    });
  }

  /** @param {string} title */
  #marks(title) {
    const { sel, open, expand } = this.state;
    const classes = this.answers?.classes ?? new Map();
    return { sel, open, title, classes, expanded: expand.map(({ id }) => id) };
  }

  #draw() {
    const frame = byId("picture");
    const nothing = !this.picture.nodes.length;
    byId("picture-part").hidden = nothing;
    byId("side-column").hidden = nothing && !this.answers?.view;
    const isNarrow = frame.clientWidth < NARROW_PX;
    const isPair = isNarrow && this.state.q !== "" && this.state.show === "both" && Boolean(this.answers?.view);
    const drawings = isPair ? this.#sides(frame.clientWidth) : [this.drawing(frame.clientWidth)];
    for (const drawing of drawings) resize(drawing, frame, this.#zoom);
    const { scrollLeft, scrollTop } = frame;
    const isNew = !frame.querySelector("svg");
    show(frame, isPair ? [h("h3", null, "Base"), drawings[0], h("h3", null, "View"), drawings[1]] : drawings);
    if (isNew) {
      frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2;
      // A narrow picture begins with its entity.
      frame.scrollTop = isNarrow ? 0 : (frame.scrollHeight - frame.clientHeight) / 2;
    } else frame.scrollTo(scrollLeft, scrollTop);
    const statuses = new Set(this.shown.edges.map((edge) => edge.status));
    show(
      byId("legend"),
      statusLegend(
        Object.entries(LOOKS).filter(([status]) => statuses.has(/** @type {any} */ (status))),
        this.state.q ? this.shown.nodes : [],
      ),
      pictureLegend(this.shown, this.answers?.classes ?? new Map()),
    );
    this.speak(this.state.sel);
    const drawn = new Set([...frame.querySelectorAll(".edge")].map((edge) => edge.getAttribute("data-edge")));
    const below = this.shown.edges.length - drawn.size;
    const folded = this.picture.edges.length - this.shown.edges.length;
    byId("picture-said").textContent =
      `${this.shown.nodes.length} nodes, ${this.shown.edges.length} statements` +
      (folded ? `; ${folded} not shown` : "") +
      (below > 0 ? `; ${below} of them only in the list below` : "") +
      (frame.scrollWidth > frame.clientWidth + 1 || frame.scrollHeight > frame.clientHeight + 1
        ? "; scroll to see all"
        : "");
  }

  /**
   * Says a statement in a sentence below the picture.
   * @param {string} id of the statement; "" for none
   */
  speak(id) {
    const edge = this.picture.edges.find((one) => one.id === (id || this.state.sel));
    byId("sentence").textContent = edge ? sentenceOf(edge, this.picture.nodes) : POINT;
  }

  /** Brings what was just opened or selected into view. */
  #follow() {
    if (this.state.open !== this.#opened) {
      this.#opened = this.state.open;
      if (this.state.open) byId("item-part").scrollIntoView({ block: "nearest" });
    }
  }

  /** @param {number} by */
  zoom(by) {
    const drawing = /** @type {SVGSVGElement | null} */ (byId("picture").querySelector("svg"));
    if (!drawing) return;
    const now = Number(drawing.getAttribute("width")) / drawing.viewBox.baseVal.width;
    const larger = ZOOMS.filter((one) => one > now + 0.01);
    const smaller = ZOOMS.filter((one) => one < now - 0.01);
    this.#zoom = by === 0 ? null : ((by > 0 ? larger[0] : smaller.at(-1)) ?? now);
    this.#draw();
  }

  title() {
    const { q, item: id } = this.state;
    const label = this.picture.nodes.find((node) => node.id === id)?.label;
    return q || (id ? `Around ${label ?? id}` : "Explorer");
  }

  #summary() {
    const { base, view } = /** @type {import("./asking.js").Answers} */ (this.answers);
    const words = base.paths ? answer.inWords(base) : `${this.title()}.`;
    const count = this.shown.edges.length;
    return count ? `${words} ${count} statements${view ? ", base and view" : ""}.` : words;
  }

  /**
   * Tells those who listen to the page, and shows it for a while.
   * @param {string} text
   */
  say(text) {
    byId("said").textContent = text;
  }

  /** What else could be asked, below an error. */
  #onward() {
    return this.graph ? welcome.instead(this) : button("Choose another graph", () => this.go(START));
  }

  /**
   * @param {unknown} error
   * @returns {HTMLElement}
   */
  problem(error) {
    const told = error instanceof Error ? error : new Error(String(error));
    const hint = told instanceof ApiError ? told.hint : "";
    const code = told instanceof ApiError ? told.code : "";
    return h(
      "div.problem",
      null,
      h("p", null, told.message),
      hint && h("p", null, hint),
      code === "READ_ONLY" &&
        h("p", null, "Views can be stored if the server is started with ", h("code", null, "--writable"), "."),
      ASKED_AGAIN.has(code) && button("Ask again", () => this.askAgain(this.state)),
    );
  }
}

/** @param {Page} page */
function listenToPicture(page) {
  const frame = byId("picture");
  frame.addEventListener("click", (/** @type {Event} */ event) => pick(page, event.target));
  for (const place of [frame, byId("table")]) {
    for (const kind of ["pointerover", "focusin", "pointerleave"]) {
      place.addEventListener(kind, (/** @type {Event} */ event) => page.speak(statementAt(event.target)));
    }
  }
  frame.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const focused = document.activeElement;
    if (!(focused instanceof SVGElement) || !frame.contains(focused)) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pick(page, focused);
    }
    const turn = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!turn) return;
    event.preventDefault();
    const nodes = /** @type {SVGElement[]} */ ([...frame.querySelectorAll("[data-node]")]);
    const next = nodes[(nodes.indexOf(focused) + turn + nodes.length) % nodes.length];
    for (const node of nodes) node.setAttribute("tabindex", node === next ? "0" : "-1");
    next.focus();
  });
}

/**
 * Returns the id of the statement that an element of the picture or of the table is of.
 * @param {EventTarget | null} target
 */
function statementAt(target) {
  if (!(target instanceof Element)) return "";
  const edge = target.closest("[data-edge]")?.getAttribute("data-edge");
  return edge ?? target.closest("[data-row]")?.getAttribute("data-row") ?? "";
}

/**
 * @param {Page} page
 * @param {EventTarget | null} target
 */
function pick(page, target) {
  if (!(target instanceof Element)) return;
  const node = target.closest("[data-node]")?.getAttribute("data-node");
  const edge = target.closest("[data-edge]")?.getAttribute("data-edge");
  if (node) page.go({ ...page.state, open: node });
  else if (edge) page.go({ ...page.state, sel: edge === page.state.sel ? "" : edge });
}

async function begin() {
  const page = new Page();
  connect();
  question.begin(page);
  welcome.begin(page);
  perturb.begin(page);
  details.begin(page);
  exporting.begin(page);
  listenToPicture(page);
  byId("skip").addEventListener("click", (/** @type {Event} */ event) => {
    // What stands behind the # is the state of the page.
    event.preventDefault();
    byId("question").focus();
  });
  byId("larger").addEventListener("click", () => page.zoom(1));
  byId("smaller").addEventListener("click", () => page.zoom(-1));
  byId("fit").addEventListener("click", () => page.zoom(0));
  window.addEventListener("popstate", () => void page.update());
  for (const [id, name] of /** @type {const} */ ([["n", "n"], ["paths-n", "paths"]])) {
    byId(id).addEventListener("change", () => page.go({ ...page.state, [name]: Number(byId(id).value) }));
  }
  try {
    page.graphs = (await ask("Graphs", {}, { fresh: true })).graphs.nodes;
  } catch (error) {
    show(byId("problem"), page.problem(error));
    return;
  }
  await page.update();
}

void begin();
