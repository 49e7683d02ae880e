// The timeline: columns of steps or of times, thinned once more to the pixels there are; nothing that is flagged disappears.

const line = data.timeline;
const NO_EVENT = 255;
const MOST_DRAWN = 1e300; // scores are drawn up to here, so that an axis has a length
const LANES = ["hit", "false", "found", "missed"];

function unpacked(text, kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new kind(bytes.buffer);
}

function places(x, columns, per, points) {
  // where columns stand on the axis: stretches of steps side by side, or instants
  const stamps = x.each && unpacked(x.each, Float64Array);
  const gap = stamps ? (stamps[stamps.length - 1] - stamps[0]) / Math.max(stamps.length - 1, 1) || 1 : x.step;
  const half = per === 1 && !points ? gap / 2 : 0; // a step is drawn around its time, a column of many from its first to its last
  const at = (column) => {
    if (!stamps) return x.first + column * x.step;
    return column < stamps.length ? stamps[column] : stamps[stamps.length - 1] + gap * (column - stamps.length + 1);
  };
  const columnAt = (value) => {
    if (!stamps) return (value - x.first) / x.step;
    let [from, to] = [0, stamps.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (stamps[middle] < value) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  const end = (to) => (points ? at(to - 1) : at(to)); // of a run of columns up to this one
  const between = (low, high) => {
    const from = Math.max(Math.floor(columnAt(low)), 0);
    const to = Math.min(Math.ceil(columnAt(high)) + (points ? 1 : 0), columns);
    if (to > from || points) return [from, Math.max(to, from)];
    const only = Math.max(Math.min(from, columns - 1), 0);
    return [only, only + 1];
  };
  return { columns, per, gap, half, points, at, end, between };
}

const lanes = Object.fromEntries(LANES.map((name) => [name, unpacked(line[name], Uint8Array)]));
const closed = line.closed && unpacked(line.closed, Uint8Array);
const high = line.scores && unpacked(line.scores.high, Float64Array);
const low = line.scores && (line.scores.low ? unpacked(line.scores.low, Float64Array) : high);
const gaps = new Set(line.gaps);
const steps = places(line.x, line.columns, line.per, line.points);
const events = line.events ? places(line.events.x, line.events.columns, 1, true) : steps;
const placesOf = { hit: steps, false: steps, found: events, missed: events };
const whole = line.span || [steps.at(0), steps.at(line.columns)];
const leastView = line.least || 8 * steps.gap;
let view = [...whole];

// where lags are on a slider, every cell has a row of marks; else every tolerance has one, with levels for the thresholds
const row = () => (data.column === "lag" ? state.d * data.thresholds.length + state.k : state.d);
const level = () => (data.column === "lag" ? 0 : state.k);

function flagged(name, column) {
  const marked = lanes[name][row() * placesOf[name].columns + column];
  return name === "missed" ? marked !== NO_EVENT && marked <= level() : marked > level() && marked !== NO_EVENT;
}

function spans(is, where, from, to, pixel) {
  // runs of flagged columns; those less than a pixel apart are one
  const found = [];
  for (let i = from; i < to; i++) {
    if (!is(i)) continue;
    const last = found[found.length - 1];
    if (last && (where.points ? where.at(i) - where.end(last[1]) < pixel : i === last[1] || where.at(i) - where.at(last[1]) < pixel)) last[1] = i + 1;
    else found.push([i, i + 1]);
  }
  return found;
}

function boxes(found, where, bottom, top) {
  const x = [];
  const y = [];
  for (const [from, to] of found) {
    const [x0, x1] = [where.at(from) - where.half, where.half ? where.at(to - 1) + where.half : where.end(to)];
    x.push(x0, x1, x1, x0, null);
    y.push(bottom, bottom, top, top, null);
  }
  return { x, y };
}

function scoreLine(from, to, pixels) {
  const x = [];
  const y = [];
  const width = Math.max(Math.floor((to - from) / pixels), 1);
  const single = width === 1 && line.per === 1;
  for (let i = from; i < to; i += width) {
    let [least, most] = [Infinity, -Infinity];
    let broken = false; // nobody watched right before these columns
    for (let j = i; j < Math.min(i + width, to); j++) {
      if (gaps.has(j) && j > from) broken = true;
      if (low[j] < least) least = low[j];
      if (high[j] > most) most = high[j];
    }
    if (broken) {
      x.push(steps.at(i));
      y.push(null);
    }
    if (least > most) {
      x.push(steps.at(i));
      y.push(null);
    } else if (single) {
      x.push(steps.at(i));
      y.push(most);
    } else {
      x.push(steps.at(i), steps.at(i));
      y.push(least, most);
    }
  }
  return { x, y };
}

function windows(pixels, c) {
  // one shape for windows that overlap: translucent ones on top of each other would look like something else
  const { early, late, in: unit } = line.windows[row()];
  const reach = unit === "steps" ? 0 : Math.max(Math.abs(early), Math.abs(late));
  const [from, to] = events.between(view[0] - reach, view[1] + reach);
  const bands = [];
  for (let i = from; i < to; i++) {
    if (lanes.missed[row() * events.columns + i] === NO_EVENT) continue;
    if (unit === "steps" && (i + late / line.per < 0 || i - early / line.per > line.columns - 1)) continue;
    const inSteps = (count) => events.at(Math.min(Math.max(i + count / line.per, 0), line.columns - 1));
    const x0 = (unit === "steps" ? inSteps(-early) : events.at(i) - early) - events.half;
    const x1 = (unit === "steps" ? inSteps(late) : events.at(i) + late) + events.half;
    const last = bands[bands.length - 1];
    if (last && x0 <= last[1]) last[1] = x1;
    else bands.push([x0, x1]);
  }
  const pixel = (view[1] - view[0]) / pixels;
  if (bands.length > 200) return [];
  return bands.filter(([x0, x1]) => x1 - x0 >= 4 * pixel).map(([x0, x1]) => (
    { type: "rect", x0, x1, y0: 0, y1: 1, yref: "paper", line: { width: 0 }, fillcolor: c.band, layer: "below" }
  ));
}

function unwatched(pixel, c) {
  // steps that are left out, and stretches of time in which nobody watched
  const bands = (line.away || []).filter(([x0, x1]) => x1 > view[0] && x0 < view[1] && x1 - x0 >= pixel / 2);
  if (closed) {
    for (const [a, b] of spans((column) => closed[column] > 0, steps, ...steps.between(...view), pixel)) {
      bands.push([steps.at(a) - steps.half, steps.at(b - 1) + (steps.half || steps.gap)]);
    }
  }
  return bands.map(([x0, x1]) => (
    { type: "rect", x0, x1, y0: 0, y1: 1, yref: "paper", line: { width: 0 }, fillcolor: c.line, opacity: 0.6, layer: "below" }
  ));
}

function drawTimeline() {
  const c = colours();
  const pixels = Math.max(sizeOf("timeline").width - 110, 100);
  const pixel = (view[1] - view[0]) / pixels;
  const [from, to] = steps.between(...view);
  const shade = { hit: c.good, false: c.bad, found: c.good, missed: c.bad };
  const names = { hit: "hits", false: "false alarms", found: data.noun + "s found", missed: data.noun + "s missed" };
  const traces = LANES.map((name, i) => {
    const where = placesOf[name];
    const found = spans((column) => flagged(name, column), where, ...where.between(...view), pixel);
    return {
      ...boxes(found, where, 3.12 - i, 3.88 - i), name: names[name], yaxis: "y2",
      mode: "lines", fill: "toself", fillcolor: shade[name], line: { color: shade[name], width: where.points ? 2 : 1 }, hoverinfo: "skip",
    };
  });
  const shapes = [...windows(pixels, c), ...unwatched(pixel, c)];
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
      type: line.x.kind === "dates" ? "date" : "linear", range: drawnRange(pixels), fixedrange: false, anchor: "y2",
      ...(line.x.kind === "dates" ? {} : { tickformat: ",~r" }), ...(line.x.kind === "steps" ? { tickformat: ",d", ...wholeTicks(to - from) } : {}), nticks: pixels < 500 ? 4 : 8,
    }),
    axis(high ? "score" : "", { range: [bottom - pad, top + pad], domain: high ? [0.4, 1] : [0.99, 1], visible: Boolean(high), nticks: 6 }),
    {
      margin: { l: 88, r: 10, t: 8, b: 40 }, dragmode: pixels < 400 ? false : "pan", shapes,
      yaxis2: axis("", { range: [0, 4], domain: high ? [0, 0.34] : [0, 1], tickvals: [0.5, 1.5, 2.5, 3.5], ticktext: LANES.map((name) => names[name]).reverse(), showgrid: false }),
    },
  );
}

function drawnRange(pixels) {
  const pad = line.points ? (3 * (view[1] - view[0])) / pixels : 0; // a mark at the very end has a width, too
  return [view[0] - steps.half - pad, view[1] - steps.half + pad];
}

function axisNumber(value) {
  return typeof value === "string" ? Date.parse(value.replace(" ", "T") + (value.includes(":") ? "Z" : "")) : value;
}

function zoomTimeline(event) {
  const range = event["xaxis.range"] || [event["xaxis.range[0]"], event["xaxis.range[1]"]];
  if (range[0] === undefined) return;
  setView(axisNumber(range[0]) + steps.half, axisNumber(range[1]) + steps.half);
}

function setView(from, to) {
  const longest = whole[1] - whole[0];
  const width = Math.min(Math.max(to - from, leastView), longest);
  const start = Math.min(Math.max(from, whole[0]), whole[1] - width);
  view = [start, start + width];
  drawTimeline();
}

function moveTimeline(move) {
  const [from, to] = view;
  const width = to - from;
  const changes = { earlier: [-0.5, -0.5], later: [0.5, 0.5], in: [0.25, -0.25], out: [-0.5, 0.5] };
  if (move === "all") setView(...whole);
  else setView(from + changes[move][0] * width, to + changes[move][1] * width);
}
