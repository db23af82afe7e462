// The page of experiments: what the server's folder of experiments holds, curves and tables of one.

import { ask } from "./api.js";
import { drawChart, lookOf } from "./chart.js";
import { byId, h, s, said, show, whole } from "./dom.js";
import { csvOf, save, svgOf } from "./files.js";
import { head, moment, number, pairs, problem } from "./listing.js";
import { SCORES } from "./score_names.js";
import { connect } from "./server.js";

/**
 * @typedef {{value: number, low: number | null, high: number | null}} Mean
 * @typedef {{graph: string, method: string, level: number | null, count: number | null,
 *   strategy: string | null, preset: string, answerer: string}} Condition
 * @typedef {{condition: Condition, points: {level: number, mean: Mean}[], area: Mean,
 *   crossing: number | null}} Curve
 */

/** @type {Record<string, string>} */
const STATES = { RUNNING: "no report yet", REPORTED: "reported", DAMAGED: "damaged" };
/** @type {Record<string, string>} */
const FATES = { kept: "all kept", changed: "some changed", lost: "some lost" };

/** @type {any} the experiment that is shown, with its figures */
let shown = null;
/** @type {Curve[]} the curves that are drawn */
let drawn = [];
/** @type {(narrow: boolean) => SVGSVGElement[]} draws them */
let charts = () => [];
const NARROW_PX = 480;

/** @param {Record<string, string>} asked */
function address(asked) {
  return `#${new URLSearchParams(Object.entries(asked).filter(([, value]) => value))}`;
}

function asked() {
  const given = new URLSearchParams(location.hash.slice(1));
  const text = (/** @type {string} */ name) => given.get(name) ?? "";
  return { name: text("name"), score: text("score"), graph: text("graph"), by: text("by") };
}

async function update() {
  const { name, score } = asked();
  byId("busy").hidden = false;
  show(byId("problem"));
  try {
    const { experiments } = await ask("Experiments", {}, { fresh: true });
    const chosen = name || (experiments?.length === 1 ? experiments[0].name : "");
    list(experiments, chosen);
    const one = experiments?.find((/** @type {any} */ each) => each.name === chosen);
    byId("one").hidden = !one;
    document.title = `${one ? one.title || one.name : "Experiments"} · graph-service`;
    if (name && !one && experiments) throw new Error(`There is no experiment ${name} in the folder.`);
    if (one) await showOne(one, one.scores.includes(score) ? score : (one.scores[0] ?? ""));
  } catch (error) {
    show(byId("problem"), problem(error));
  } finally {
    byId("busy").hidden = true;
  }
}

/**
 * @param {any[] | null} found
 * @param {string} chosen
 */
function list(found, chosen) {
  if (!found?.length) {
    const call = found ? "graph-service experiment run PLAN.yaml --out DIR/NAME" : "graph-service serve --experiments DIR";
    show(
      byId("experiments"),
      h("p", null, found ? "The folder holds no experiment yet. Run one: " : "This server shows no folder of experiments. Start it with one: ", h("code", null, call)),
    );
    return;
  }
  const row = (/** @type {any} */ one) =>
    h(
      "tr",
      { "aria-current": one.name === chosen ? "true" : null },
      h("th", { scope: "row" }, h("a", { href: address({ name: one.name }), "data-key": `experiment ${one.name}` }, said(one.title || one.name))),
      h("td", null, one.state === "DAMAGED" ? h("strong", null, STATES[one.state]) : STATES[one.state]),
      h("td", null, h("code", null, said(one.name))),
      h("td", null, said(one.graphs.map((/** @type {any} */ graph) => graph.name).join(", ") || "–")),
      h("td", null, said(one.answerers.join(", ") || "–")),
      number(one.answers),
      h("td", null, moment(one.updatedAt)),
    );
  show(
    byId("experiments"),
    h("table", null, head(["Experiment", "State", "Folder", "Graphs", "Answers by", "#Answers", "Changed"]), h("tbody", null, found.map(row))),
  );
}

/**
 * @param {any} one
 * @param {string} score
 */
async function showOne(one, score) {
  byId("one-title").textContent = one.title || one.name;
  const graphs = one.graphs.map((/** @type {any} */ graph) => [
    `Graph ${graph.name}`, `edges ${graph.edgesFingerprint.slice(0, 16)}`,
  ]);
  show(
    byId("about"),
    one.problem && h("div.problem", null, h("p", null, said(`Its files are damaged: ${one.problem}.`)), h("p", null, "Make the report again: ", h("code", null, "graph-service experiment report PLAN.yaml --out DIR"))),
    one.state === "RUNNING" && h("div.problem", null, h("p", null, `It has ${whole(one.answers)} answers and no report. When the run has ended, make one: `, h("code", null, "graph-service experiment report PLAN.yaml --out DIR"))),
    one.title && pairs([...graphs, ["Questions", one.questions.join(", ")], ["Answers by", one.answerers.join(", ")], ["Run by", `graph-service ${one.toolVersion}`]]),
  );
  byId("figures-part").hidden = one.state !== "REPORTED";
  if (one.state !== "REPORTED") return;
  const { experiment } = await ask("ExperimentFigures", { name: one.name, score }, { fresh: true });
  if (!experiment) throw new Error(`There is no experiment ${one.name} any more.`);
  shown = { ...experiment, name: one.name, score };
  byId("plan").textContent = JSON.stringify(JSON.parse(experiment.plan), null, 2);
  choices(one, score);
  figures();
}

/** @param {Condition} condition */
const own = (condition) => condition.graph === byId("graph").value && condition.answerer === byId("by").value;

/**
 * @param {any} one
 * @param {string} score
 */
function choices(one, score) {
  const wanted = asked();
  /** @type {Condition[]} */
  const conditions = shown.rows.map((/** @type {any} */ row) => row.condition);
  const graphs = [...new Set(conditions.map((each) => each.graph))];
  const graph = graphs.includes(wanted.graph) ? wanted.graph : graphs[0];
  const there = [...new Set(conditions.filter((each) => each.graph === graph).map((each) => each.answerer))];
  fill("score", one.scores, score, (name) => SCORES[name] ?? name);
  fill("graph", graphs, graph);
  fill("by", there, there.includes(wanted.by) ? wanted.by : there[0]);
  byId("graph-choice").hidden = graphs.length < 2;
  byId("by-choice").hidden = there.length < 2;
}

/**
 * @param {string} id
 * @param {string[]} values
 * @param {string} chosen
 * @param {(value: string) => string} [words]
 */
function fill(id, values, chosen, words = (value) => value) {
  show(byId(id), values.map((value) => h("option", { value }, words(value))));
  byId(id).value = chosen;
}

function figures() {
  drawn = shown.curves.filter((/** @type {Curve} */ curve) => own(curve.condition));
  const rows = shown.rows.filter((/** @type {any} */ row) => own(row.condition));
  const nothing = rows.find((/** @type {any} */ row) => row.condition.method === "no-knowledge")?.mean ?? null;
  const words = SCORES[shown.score] ?? shown.score;
  const methods = [...new Set(drawn.map((curve) => curve.condition.method))];
  const panels = [...new Set(drawn.map((curve) => panelOf(curve.condition)))];
  byId("curves-title").textContent = `${words[0].toUpperCase()}${words.slice(1)} by level`;
  byId("curves-said").textContent = drawn.length
    ? "The level is the share of the graph's edges that a method changes. 0 % is the graph itself; the band is the 95 % interval."
    : "The plan has no method with levels for these answers, so there is no curve.";
  const narrow = byId("figures-part").clientWidth < NARROW_PX;
  charts = (isNarrow) => panels.map((panel) => chart(panel, words, methods, nothing?.value ?? null, isNarrow));
  show(byId("charts"), charts(narrow));
  show(byId("chart-legend"), nothing && drawn.length ? h("li", null, h("span.line.dashed"), `without knowledge: ${mean(nothing)}`) : []);
  show(byId("points"), drawn.length ? points(methods, panels.length > 1) : []);
  show(byId("rows"), table(rows));
  for (const [by, id] of [["fate", "fates"], ["kind", "kinds"]]) {
    const parts = shown.parts.filter((/** @type {any} */ part) => part.by === by && own(part.condition));
    byId(`${id}-part`).hidden = !parts.length;
    show(byId(id), parts.length ? partTable(parts) : []);
  }
}

/** @param {Condition} condition */
function panelOf(condition) {
  const strategy = (condition.strategy ?? "").toLowerCase();
  return ["default", ""].includes(condition.preset) ? strategy : `${strategy}, ${condition.preset}`;
}

/**
 * @param {string} panel
 * @param {string} words
 * @param {string[]} methods
 * @param {number | null} nothing
 * @param {boolean} narrow
 */
function chart(panel, words, methods, nothing, narrow) {
  const curves = drawn.filter((curve) => panelOf(curve.condition) === panel);
  const lines = curves.map((curve) => ({
    name: curve.condition.method,
    look: methods.indexOf(curve.condition.method),
    points: curve.points.map(({ level, mean: { value, low, high } }) => ({ x: level, y: value, low: low ?? value, high: high ?? value })),
  }));
  const about = `${words} over the level, by ${panel}: ${lines.map((line) => line.name).join(", ")}. The table below has the numbers.`;
  return drawChart({ title: panel, about, xTitle: "level", lines, nothing, narrow });
}

/**
 * The table of the pictures: a row a line, a column a level.
 * @param {string[]} methods
 * @param {boolean} many whether there are several panels
 */
function points(methods, many) {
  const levels = [...new Set(drawn.flatMap((curve) => curve.points.map((point) => point.level)))].sort((a, b) => a - b);
  const row = (/** @type {Curve} */ curve) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, swatch(methods.indexOf(curve.condition.method)), said(curve.condition.method)),
      many && h("td", null, panelOf(curve.condition)),
      levels.map((level) => stacked(curve.points.find((point) => point.level === level)?.mean)),
      stacked(curve.area),
      h("td.number", null, curve.crossing === null ? "never" : level(curve.crossing)),
    );
  return h(
    "table",
    null,
    head(["Method", ...(many ? ["Retrieval"] : []), ...levels.map((each) => `#${level(each)}`), "#Area", "#Worse than without knowledge from"]),
    h("tbody", null, drawn.map(row)),
  );
}

/** @param {number} look */
function swatch(look) {
  const { colour, dash, mark, name } = lookOf(look);
  return s(
    "svg",
    { width: 30, height: 12, viewBox: "-15 -6 30 12", class: `chart key ${name}`, "aria-hidden": "true" },
    s("path", { d: "M-15 0H15", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash || null, class: "stroke" }),
    s("path", { d: mark, fill: colour, class: "mark" }),
  );
}

/** @param {any[]} rows */
function table(rows) {
  const presets = new Set(rows.map((row) => panelOf(row.condition))).size > 2;
  return h(
    "table",
    null,
    head(["Method", "Level", ...(presets ? ["Retrieval"] : []), "#Mean", "#Questions", "#To the base", "#p", "#d", "#To no knowledge", "#p"]),
    h(
      "tbody",
      null,
      rows.map(({ condition, mean: value, questions, toBase, toNothing }) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, said(condition.method)),
          h("td", null, amount(condition)),
          presets && h("td", null, panelOf(condition) || "–"),
          h("td.number", null, mean(value)),
          number(questions),
          h("td.number", null, difference(toBase)),
          h("td.number", null, p(toBase)),
          h("td.number", null, typeof toBase?.effect === "number" ? toBase.effect.toFixed(2).replace("-", "−") : "–"),
          h("td.number", null, difference(toNothing)),
          h("td.number", null, p(toNothing)),
        ),
      ),
    ),
  );
}

/** @param {any[]} parts */
function partTable(parts) {
  return h(
    "table",
    null,
    head(["Method", "Level", "Retrieval", "Part", "#Mean", "#Answers", "#To the base"]),
    h(
      "tbody",
      null,
      parts.map((one) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, said(one.condition.method)),
          h("td", null, amount(one.condition)),
          h("td", null, panelOf(one.condition)),
          h("td", null, said(FATES[one.part] ?? one.part)),
          h("td.number", null, mean(one.mean)),
          number(one.answers),
          h("td.number", null, difference(one.toBase)),
        ),
      ),
    ),
  );
}

/** @param {Condition} condition */
function amount(condition) {
  if (condition.level !== null) return level(condition.level);
  return condition.count === null ? "–" : `${whole(condition.count)} edges`;
}

/** @param {number} share */
function level(share) {
  return `${Math.round(1000 * share) / 10} %`;
}

/** @param {number} value */
function three(value) {
  const text = Math.abs(value).toFixed(3);
  return Number(text) && value < 0 ? `−${text}` : text;
}

/** @param {Mean | undefined} value */
function mean(value) {
  if (!value) return "–";
  return value.low === null || value.high === null ? three(value.value) : `${three(value.value)} (${three(value.low)} to ${three(value.high)})`;
}

/** @param {Mean | undefined} value */
function stacked(value) {
  const words = mean(value);
  const at = words.indexOf(" (");
  if (at < 0) return h("td.number", null, words);
  return h("td.number", null, words.slice(0, at), h("small.interval", null, words.slice(at + 2, -1)));
}

/** @param {any} one */
function difference(one) {
  if (!one) return "–";
  const text = mean(one.mean);
  return one.mean.value > 0 && !text.startsWith("0.000") ? `+${text}` : text;
}

/** @param {any} one */
function p(one) {
  const value = one?.adjustedP ?? one?.p ?? null;
  if (value === null) return "–";
  return value < 0.001 ? "< .001" : value.toFixed(3).replace(/^0/, "");
}

function csv() {
  const columns = ["method", "strategy", "preset", "level", "mean", "low", "high"];
  const lines = drawn.flatMap(({ condition, points: places }) =>
    places.map((point) => [condition.method, (condition.strategy ?? "").toLowerCase(), condition.preset, point.level, point.mean.value, point.mean.low, point.mean.high]),
  );
  return csvOf([columns, ...lines]);
}

/** Returns all charts as one picture, one under the other. */
function picture() {
  const all = charts(false);
  const size = (/** @type {SVGSVGElement} */ one) => one.viewBox.baseVal;
  const width = Math.max(...all.map((one) => size(one).width));
  const height = all.reduce((sum, one) => sum + size(one).height, 0);
  const whole = s("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height });
  let y = 0;
  for (const one of all) {
    one.setAttribute("y", String(y));
    y += size(one).height;
    whole.append(one);
  }
  return whole;
}

function begin() {
  byId("choices").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  byId("choices").addEventListener("change", () => {
    const [score, graph, by] = ["score", "graph", "by"].map((id) => byId(id).value);
    location.hash = address({ name: shown.name, score, graph, by });
  });
  byId("take-svg").addEventListener("click", () => save("svg", "image/svg+xml", svgOf(picture())));
  byId("take-csv").addEventListener("click", () => save("csv", "text/csv", csv()));
  byId("copy-link").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      byId("said").textContent = "The address is copied.";
    } catch {
      byId("said").textContent = "The browser does not let this page copy: copy the address yourself.";
    }
  });
  connect();
  window.addEventListener("hashchange", () => void update());
  void update();
}

begin();
