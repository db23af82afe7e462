// Draws scores over levels as SVG: a line a method, its interval as a band. Attributes are those of
// a light page, so that the file stands by itself; the style sheet says otherwise where it is dark.

import { s } from "./dom.js";
import { widthOf } from "./layout.js";

/**
 * @typedef {{x: number, y: number, low: number, high: number}} Point
 * @typedef {{name: string, look: number, points: Point[]}} Line
 * @typedef {object} Chart
 * @property {string} title
 * @property {string} about what it shows, for who does not see it
 * @property {string} xTitle
 * @property {Line[]} lines
 * @property {number | null} nothing the height of answers without knowledge
 * @property {boolean} narrow whether there is little room
 */

/** Lines are told apart by mark and dash as well as by colour. */
const COLOURS = ["#0b5fa5", "#b5480e", "#00795b", "#a23b7d", "#8a6100", "#2f6f91", "#3f4752"];
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "12 4", "4 2", "1 4"];
const MARKS = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
  "M-3.6 -3.6H3.6V3.6H-3.6Z",
  "M0 -4.6L4.4 3.4H-4.4Z",
  "M0 -5L4.4 0L0 5L-4.4 0Z",
  "M0 4.6L4.4 -3.4H-4.4Z",
  "M-1.6 -4.4H1.6V-1.6H4.4V1.6H1.6V4.4H-1.6V1.6H-4.4V-1.6H-1.6Z",
  "M-4.4 -1.4L0 -4.8L4.4 -1.4L2.7 3.9H-2.7Z",
];
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const PLOT = { left: 44, top: 34, height: 190 };
const WIDTHS = { narrow: 150, wide: 300 };
const HEIGHT = PLOT.top + PLOT.height + 48;
const LABEL_GAP = 15;
const TICK_GAP = 36;

/** @param {number} look */
export function lookOf(look) {
  const place = look % COLOURS.length;
  return { colour: COLOURS[place], dash: DASHES[place], mark: MARKS[place], name: `series-${place}` };
}

/**
 * Returns the picture of a chart. Heights are shares, from 0 to 1.
 * @param {Chart} chart
 * @returns {SVGSVGElement}
 */
export function drawChart({ title, about, xTitle, lines, nothing, narrow }) {
  const right = PLOT.left + (narrow ? WIDTHS.narrow : WIDTHS.wide);
  const most = Math.max(0.01, ...lines.flatMap((line) => line.points.map((point) => point.x)));
  const x = (/** @type {number} */ value) => round(PLOT.left + (value / most) * (right - PLOT.left));
  const y = (/** @type {number} */ value) =>
    round(PLOT.top + (1 - Math.max(0, Math.min(1, value))) * PLOT.height);
  const names = lines.map((line) => line.name);
  const width = Math.ceil(right + 24 + Math.max(40, ...names.map((name) => 1.02 * widthOf(name))));
  const svg = s("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${HEIGHT}`,
    width,
    height: HEIGHT,
    role: "img",
    "aria-label": about,
    "font-family": FONT,
    "font-size": 12,
    class: "chart",
  });
  svg.append(
    s("title", null, about),
    s("text", { x: PLOT.left, y: 18, fill: "#1c2430", class: "ink", "font-size": 13.5, "font-weight": 600 }, title),
    axes(right, x, y, ticksOf(lines, x), xTitle),
  );
  if (nothing !== null) {
    svg.append(
      s("path", {
        d: `M${PLOT.left} ${y(nothing)}H${right}`, stroke: "#565f6d", "stroke-width": 1.2,
        "stroke-dasharray": "4 4", fill: "none", class: "quiet-line",
      }),
    );
  }
  for (const line of lines) svg.append(band(line, x, y));
  for (const line of lines) svg.append(curve(line, x, y));
  svg.append(...labels(lines, y, right + 10));
  return /** @type {SVGSVGElement} */ (svg);
}

/**
 * @param {number} right end of the plot
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 * @param {number[]} levels
 * @param {string} xTitle
 */
function axes(right, x, y, levels, xTitle) {
  const bottom = PLOT.top + PLOT.height;
  const words = { fill: "#565f6d", class: "quiet-ink" };
  return s(
    "g",
    null,
    [0, 0.25, 0.5, 0.75, 1].map((value) => [
      s("path", { d: `M${PLOT.left} ${y(value)}H${right}`, stroke: value ? "#e3e6ea" : "#6b7280", class: value ? "grid-line" : "axis-line" }),
      s("text", { x: PLOT.left - 8, y: y(value) + 4, "text-anchor": "end", ...words }, String(value)),
    ]),
    levels.map((value) => [
      s("path", { d: `M${x(value)} ${bottom}v4`, stroke: "#6b7280", class: "axis-line" }),
      s("text", { x: x(value), y: bottom + 18, "text-anchor": "middle", ...words }, percentOf(value)),
    ]),
    s("text", { x: (PLOT.left + right) / 2, y: bottom + 38, "text-anchor": "middle", ...words }, xTitle),
  );
}

/**
 * Returns the levels that have room for their number.
 * @param {Line[]} lines
 * @param {(value: number) => number} x
 */
function ticksOf(lines, x) {
  const levels = [...new Set(lines.flatMap((line) => line.points.map((point) => point.x)))].sort((a, b) => a - b);
  /** @type {number[]} */
  const kept = [];
  for (const level of levels) {
    if (!kept.length || x(level) - x(kept[kept.length - 1]) >= TICK_GAP) kept.push(level);
  }
  return kept;
}

/** @param {number} value */
function percentOf(value) {
  return `${round(100 * value)} %`;
}

/**
 * @param {Line} line
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 */
function band(line, x, y) {
  const above = line.points.map((point) => `${x(point.x)} ${y(point.high)}`);
  const below = line.points.map((point) => `${x(point.x)} ${y(point.low)}`).reverse();
  const look = lookOf(line.look);
  return s("path", {
    d: `M${[...above, ...below].join("L")}Z`, fill: look.colour, "fill-opacity": 0.1, class: `band ${look.name}`,
  });
}

/**
 * @param {Line} line
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 */
function curve(line, x, y) {
  const look = lookOf(line.look);
  const places = line.points.map((point) => `${x(point.x)} ${y(point.y)}`);
  return s(
    "g",
    { class: `line ${look.name}` },
    s("path", {
      d: `M${places.join("L")}`, fill: "none", stroke: look.colour, "stroke-width": 2,
      "stroke-dasharray": look.dash || null, class: "stroke",
    }),
    places.map((place) => s("path", { d: look.mark, transform: `translate(${place})`, fill: look.colour, class: "mark" })),
  );
}

/**
 * Returns the name of each line beside its end, one under the other where ends meet.
 * @param {Line[]} lines
 * @param {(value: number) => number} y
 * @param {number} left
 */
function labels(lines, y, left) {
  const wanted = lines
    .map((line) => ({ line, at: y(line.points[line.points.length - 1].y) }))
    .sort((a, b) => a.at - b.at || a.line.look - b.line.look);
  let last = -Infinity;
  for (const one of wanted) last = one.at = Math.max(one.at, last + LABEL_GAP);
  const over = Math.max(0, last - (PLOT.top + PLOT.height + 6));
  return wanted.map(({ line, at }) => {
    const look = lookOf(line.look);
    return s(
      "text",
      { x: left, y: round(at - over + 4), fill: look.colour, class: `name ${look.name}`, "font-weight": 600 },
      line.name,
    );
  });
}

/** @param {number} value */
function round(value) {
  return Math.round(10 * value) / 10 + 0;
}
