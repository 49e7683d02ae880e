// The timeline: columns of steps, thinned once more to the pixels there are; nothing that is flagged disappears.

const line = data.timeline;
const NO_EVENT = 255;
const MOST_DRAWN = 1e300; // scores are drawn up to here, so that an axis has a length
const LANES = ["hit", "false", "found", "missed"];
let view = [0, line.columns];

function unpacked(text, kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new kind(bytes.buffer);
}

const lanes = Object.fromEntries(LANES.map((name) => [name, unpacked(line[name], Uint8Array)]));
const closed = line.closed && unpacked(line.closed, Uint8Array);
const high = line.scores && unpacked(line.scores.high, Float64Array);
const low = line.scores && (line.scores.low ? unpacked(line.scores.low, Float64Array) : high);
const gaps = new Set(line.gaps);
const stamps = line.x.each && unpacked(line.x.each, Float64Array);
const gap = stamps ? (stamps[stamps.length - 1] - stamps[0]) / Math.max(stamps.length - 1, 1) || 1 : line.x.step;
const half = line.per === 1 ? gap / 2 : 0; // a step is drawn around its time, a column of many from its first to its last

function at(column) {
  if (!stamps) return line.x.first + column * line.x.step;
  return column < stamps.length ? stamps[column] : stamps[stamps.length - 1] + gap * (column - stamps.length + 1);
}

function columnAt(x) {
  if (!stamps) return (x - line.x.first) / line.x.step;
  let [from, to] = [0, stamps.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (stamps[middle] < x) from = middle + 1;
    else to = middle;
  }
  return from;
}

function flagged(name, column) {
  const level = lanes[name][state.d * line.columns + column];
  return name === "missed" ? level !== NO_EVENT && level <= state.k : level > state.k && level !== NO_EVENT;
}

function spans(is, from, to, pixels) {
  // runs of flagged columns; those less than a pixel apart are one
  const apart = Math.max((to - from) / pixels, 1);
  const found = [];
  for (let i = from; i < to; i++) {
    if (!is(i)) continue;
    const last = found[found.length - 1];
    if (last && i - last[1] < apart) last[1] = i + 1;
    else found.push([i, i + 1]);
  }
  return found;
}

function boxes(found, bottom, top) {
  const x = [];
  const y = [];
  for (const [from, to] of found) {
    const [x0, x1] = [at(from) - half, line.per === 1 ? at(to - 1) + half : at(to)];
    x.push(x0, x1, x1, x0, null);
    y.push(bottom, bottom, top, top, null);
  }
  return { x, y };
}

function scoreLine(from, to, pixels) {
  const x = [];
  const y = [];
  const width = Math.max(Math.floor((to - from) / pixels), 1);
  const whole = width === 1 && line.per === 1;
  for (let i = from; i < to; i += width) {
    let [least, most] = [Infinity, -Infinity];
    let broken = false; // nobody watched right before these columns
    for (let j = i; j < Math.min(i + width, to); j++) {
      if (gaps.has(j) && j > from) broken = true;
      if (low[j] < least) least = low[j];
      if (high[j] > most) most = high[j];
    }
    if (broken) {
      x.push(at(i));
      y.push(null);
    }
    if (least > most) {
      x.push(at(i));
      y.push(null);
    } else if (whole) {
      x.push(at(i));
      y.push(most);
    } else {
      x.push(at(i), at(i));
      y.push(least, most);
    }
  }
  return { x, y };
}

function windows(from, to, pixels, c) {
  // one shape for windows that overlap: translucent ones on top of each other would look like something else
  const { early, late, in: unit } = line.windows[state.d];
  const bands = [];
  for (let i = from; i < to; i++) {
    if (lanes.missed[state.d * line.columns + i] === NO_EVENT) continue;
    if (unit === "steps" && (i + late / line.per < 0 || i - early / line.per > line.columns - 1)) continue;
    const inSteps = (steps) => at(Math.min(Math.max(i + steps / line.per, 0), line.columns - 1));
    const x0 = (unit === "steps" ? inSteps(-early) : at(i) - early) - half;
    const x1 = (unit === "steps" ? inSteps(late) : at(i) + late) + half;
    const last = bands[bands.length - 1];
    if (last && x0 <= last[1]) last[1] = x1;
    else bands.push([x0, x1]);
  }
  const pixel = (at(to) - at(from)) / pixels;
  if (bands.length > 200) return [];
  return bands.filter(([x0, x1]) => x1 - x0 >= 4 * pixel).map(([x0, x1]) => (
    { type: "rect", x0, x1, y0: 0, y1: 1, yref: "paper", line: { width: 0 }, fillcolor: c.band, layer: "below" }
  ));
}

function timelineView() {
  const from = Math.max(Math.floor(view[0]), 0);
  const to = Math.min(Math.ceil(view[1]), line.columns);
  return to > from ? [from, to] : [Math.min(from, line.columns - 1), Math.min(from, line.columns - 1) + 1];
}

function drawTimeline() {
  const c = colours();
  const [from, to] = timelineView();
  const pixels = Math.max(sizeOf("timeline").width - 110, 100);
  const shade = { hit: c.good, false: c.bad, found: c.good, missed: c.bad };
  const names = { hit: "hits", false: "false alarms", found: data.noun + "s found", missed: data.noun + "s missed" };
  const traces = LANES.map((name, i) => ({
    ...boxes(spans((column) => flagged(name, column), from, to, pixels), 3.12 - i, 3.88 - i), name: names[name], yaxis: "y2",
    mode: "lines", fill: "toself", fillcolor: shade[name], line: { color: shade[name], width: 1 }, hoverinfo: "skip",
  }));
  const shapes = windows(from, to, pixels, c);
  if (closed) {
    for (const [a, b] of spans((column) => closed[column] > 0, from, to, pixels)) {
      shapes.push({ type: "rect", x0: at(a) - half, x1: at(b - 1) + (half || gap), y0: 0, y1: 1, yref: "paper", line: { width: 0 }, fillcolor: c.line, opacity: 0.6, layer: "below" });
    }
  }
  const cut = data.thresholds[state.k].value;
  const threshold = cut === null ? null : Math.min(Math.max(cut, -MOST_DRAWN), MOST_DRAWN);
  if (high) {
    const drawn = scoreLine(from, to, pixels);
    const few = drawn.x.length < 120;
    traces.unshift({ ...drawn, mode: few ? "lines+markers" : "lines", line: { color: c.soft, width: 1 }, marker: { size: 4, color: c.soft }, connectgaps: false, hovertemplate: "%{x}: %{y:.4g}<extra></extra>" });
    if (threshold !== null) {
      shapes.push({ type: "line", x0: 0, x1: 1, xref: "paper", y0: threshold, y1: threshold, line: { color: c.ink, width: 1.5, dash: "dash" } });
    }
  }
  const values = high ? traces[0].y.filter((value) => value !== null) : [];
  if (high && threshold !== null) values.push(threshold);
  const [bottom, top] = values.length ? values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]) : [0, 1];
  // an axis must be long enough for numbers of its size to differ, or nothing is drawn at all
  const least = Math.max(1e-9 * Math.max(Math.abs(bottom), Math.abs(top)), 1e-290);
  const pad = top === bottom ? Math.abs(top) * 0.06 || 1 : Math.max((top - bottom) * 0.06, least);
  draw(
    "timeline",
    traces,
    axis(line.x.kind === "dates" ? "" : line.x.kind === "steps" ? "step" : "time", {
      type: line.x.kind === "dates" ? "date" : "linear", range: [at(from) - half, (line.per === 1 ? at(to - 1) : at(to)) + half], fixedrange: false, anchor: "y2",
      ...(line.x.kind === "dates" ? {} : { tickformat: ",~r" }), ...(line.x.kind === "steps" ? { tickformat: ",d", ...wholeTicks(to - from) } : {}), nticks: pixels < 500 ? 4 : 8,
    }),
    axis(high ? "score" : "", { range: [bottom - pad, top + pad], domain: high ? [0.4, 1] : [0.99, 1], visible: Boolean(high), nticks: 6 }),
    {
      margin: { l: 88, r: 10, t: 8, b: 40 }, dragmode: pixels < 400 ? false : "pan", shapes,
      yaxis2: axis("", { range: [0, 4], domain: high ? [0, 0.34] : [0, 1], tickvals: [0.5, 1.5, 2.5, 3.5], ticktext: LANES.map((name) => names[name]).reverse(), showgrid: false }),
    },
  );
}

function axisNumber(value) {
  return typeof value === "string" ? Date.parse(value.replace(" ", "T") + (value.includes(":") ? "Z" : "")) : value;
}

function zoomTimeline(event) {
  const range = event["xaxis.range"] || [event["xaxis.range[0]"], event["xaxis.range[1]"]];
  if (range[0] === undefined) return;
  setView(columnAt(axisNumber(range[0])), columnAt(axisNumber(range[1])));
}

function setView(from, to) {
  const width = Math.min(Math.max(to - from, 8), line.columns);
  const start = Math.min(Math.max(from, 0), line.columns - width);
  view = [start, start + width];
  drawTimeline();
}

function moveTimeline(move) {
  const [from, to] = view;
  const width = to - from;
  const changes = { earlier: [-0.5, -0.5], later: [0.5, 0.5], in: [0.25, -0.25], out: [-0.5, 0.5] };
  if (move === "all") setView(0, line.columns);
  else setView(from + changes[move][0] * width, to + changes[move][1] * width);
}
