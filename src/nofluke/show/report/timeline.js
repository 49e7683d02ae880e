// The timeline: the visible steps, thinned to the pixels there are; nothing that is flagged disappears, and no line crosses a gap.

const MOST_DRAWN = 1e300; // scores are drawn up to here, so that an axis has a length
const LANES = ["hit", "false", "found", "missed"];
const NAME_EVERY = 24; // pixels between the places of a long mark that tell its name
const LEAST_WINDOW = 4; // pixels that the tolerance around an event takes where it is drawn
let view = null; // from and to, once the steps are there
let whole = null;
let leastView = 0;

function openTimeline() {
  const { at, n, step } = series;
  whole = line.span || [at(0), at(n - 1) + step];
  leastView = line.least || 8 * step;
  view = [...whole];
  drawTimeline();
  document.getElementById("timeline").on("plotly_relayout", zoomTimeline);
}

function visible(from, to) {
  // steps whose marks reach into a stretch of the axis
  const { at, n, half } = series;
  return [firstWhere(n, (i) => at(i) + half >= from), firstWhere(n, (i) => at(i) - half > to)];
}

function alarmSpans(mark, marks, pixel) {
  // [x0, x1, first, last, steps]: steps side by side, or less than a pixel apart, are one; but for a gap between them
  const { at, half, breaks } = series;
  const [from, to] = visible(...view);
  const found = [];
  for (let i = from; i < to; i++) {
    if (marks[i] !== mark) continue;
    const x = at(i);
    const last = found[found.length - 1];
    if (last && ((last[3] === i - 1 && !line.points && !breaks.has(i)) || x - half - last[1] < pixel)) {
      last[1] = x + half;
      last[3] = i;
      last[4]++;
    } else found.push([x - half, x + half, i, i, 1]);
  }
  return found;
}

const eventEnds = (j) => {
  // where an event is drawn: on its steps, or at its own time
  const { first, last, at, half, place, begin } = series;
  return first ? [at(first[j]) - half, at(last[j]) + half] : [place(begin[j]), place(begin[j])];
};

function eventSpans(is, pixel) {
  const from = firstWhere(series.events, (j) => eventEnds(j)[1] >= view[0] - series.half);
  const found = [];
  for (let j = from; j < series.events; j++) {
    const [x0, x1] = eventEnds(j);
    if (x0 > view[1]) break;
    if (!is(j)) continue;
    const last = found[found.length - 1];
    if (last && x0 - last[1] < pixel) {
      last[1] = Math.max(last[1], x1);
      last[3] = j;
      last[4]++;
    } else found.push([x0, x1, j, j, 1]);
  }
  return found;
}

function boxes(spans, bottom, top) {
  const [x, y] = [[], []];
  for (const [x0, x1] of spans) {
    x.push(x0, x1, x1, x0, null);
    y.push(bottom, bottom, top, top, null);
  }
  return { x, y };
}

function scoreLine(pixels) {
  // of each pixel the smallest and the largest score; broken at gaps, and at steps without a score or that do not count
  const { at, n, score, closed, breaks } = series;
  const pixel = (view[1] - view[0]) / pixels;
  const [x, y] = [[], []];
  let [begin, least, most, last] = [null, Infinity, -Infinity, null];
  const put = (value, place) => {
    x.push(place);
    y.push(value);
  };
  const flush = () => {
    if (begin === null) return;
    put(least, begin);
    if (most > least) put(most, begin);
    begin = null;
    [least, most] = [Infinity, -Infinity];
  };
  const cut = (place) => {
    flush();
    const alone = y.length && y[y.length - 1] !== null && (y.length === 1 || y[y.length - 2] === null);
    if (alone) put(y[y.length - 1], last + pixel); // a line needs a length to be seen
    if (y.length && y[y.length - 1] !== null) put(null, place);
  };
  const [from, to] = visible(...view);
  for (let i = Math.max(from - 1, 0); i < Math.min(to + 1, n); i++) {
    const place = at(i);
    const value = closed && closed[i] ? NaN : Math.min(Math.max(score(i), -MOST_DRAWN), MOST_DRAWN);
    if (Number.isNaN(value) || breaks.has(i)) cut(place);
    if (Number.isNaN(value)) continue;
    if (begin !== null && place - begin >= pixel) flush();
    if (begin === null) begin = place;
    least = Math.min(least, value);
    most = Math.max(most, value);
    last = place;
  }
  cut(last);
  if (y.length) {
    x.pop(); // the line ends where its last step is
    y.pop();
  }
  return { x, y };
}

function windows(row, pixel, c) {
  // one shape for windows that overlap: translucent ones on top of each other would look like something else
  const { early, late, in: unit } = line.windows[row];
  const { place, begin, end, at, half, first } = series;
  const wide = first ? half : 0; // that of a step, where events are steps
  // all or none: the few that happen to overlap, or lie around long ranges, would look special
  if ((early + late) * (unit === "steps" ? series.step : 1) + 2 * wide < LEAST_WINDOW * pixel) return [];
  const bands = [];
  for (let j = 0; j < series.events; j++) {
    if (series.eventsCounted && !series.eventsCounted[row * series.events + j]) continue;
    let [x0, x1] = [place(begin[j]) - early, place(end[j]) + late];
    if (unit === "steps") {
      const [from, to] = series.finders(row, j);
      if (to <= from) continue;
      [x0, x1] = [at(from), at(to - 1)];
    }
    if (x1 + wide < view[0] - half) continue;
    if (x0 - wide > view[1]) break;
    const previous = bands[bands.length - 1];
    if (previous && x0 - wide - previous[1] < pixel / 4) previous[1] = Math.max(previous[1], x1 + wide);
    else bands.push([x0 - wide, x1 + wide]);
  }
  return bands.map(([x0, x1]) => (
    { type: "rect", x0, x1, y0: 0, y1: 1, yref: "paper", line: { width: 0 }, fillcolor: c.band, layer: "below" }
  ));
}

function unwatched(pixel, c) {
  // steps that are left out, and stretches of time that were not watched
  const bands = (line.away || []).filter(([x0, x1]) => x1 > view[0] && x0 < view[1] && x1 - x0 >= pixel / 2);
  if (series.closed) bands.push(...alarmSpans(1, series.closed, pixel));
  return bands.map(([x0, x1]) => (
    { type: "rect", x0, x1, y0: 0, y1: 1, yref: "paper", line: { width: 0 }, fillcolor: c.line, opacity: 0.6, layer: "below" }
  ));
}

function names(spans, height, tell, pixel) {
  // places that show, when one points at them, what the mark there is
  const made = { x: [], y: [], text: [] };
  for (const span of spans) {
    const [x0, x1] = [Math.max(span[0], view[0] - series.half), Math.min(span[1], view[1])];
    const many = Math.max(Math.ceil((x1 - x0) / (NAME_EVERY * pixel)), 1);
    const text = tell(span);
    for (let i = 0; i < many; i++) {
      made.x.push(x0 + ((i + 0.5) / many) * (x1 - x0));
      made.y.push(height);
      made.text.push(text);
    }
  }
  return made;
}

function drawTimeline() {
  if (!series || !view) return; // not unpacked yet
  const c = colours();
  const pixels = Math.max(sizeOf("timeline").width - 110, 100);
  const pixel = (view[1] - view[0]) / pixels;
  const marked = marksAt(state.d, state.k);
  const counts = (j) => !series.eventsCounted || series.eventsCounted[marked.row * series.events + j];
  const shade = { hit: c.good, false: c.bad, found: c.good, missed: c.bad };
  const titles = { hit: "hits", false: "false alarms", found: data.noun + "s found", missed: data.noun + "s missed" };
  const spans = {
    hit: alarmSpans(HIT, marked.marks, pixel),
    false: alarmSpans(FALSE, marked.marks, pixel),
    found: eventSpans((j) => marked.found[j] === 1, pixel),
    missed: eventSpans((j) => counts(j) && marked.found[j] === 0, pixel),
  };
  const instants = { hit: line.points, false: line.points, found: !series.first, missed: !series.first };
  const traces = LANES.map((name, i) => ({
    ...boxes(spans[name], 3.12 - i, 3.88 - i), name: titles[name], yaxis: "y2",
    mode: "lines", fill: "toself", fillcolor: shade[name], line: { color: shade[name], width: instants[name] ? 2 : 1 }, hoverinfo: "skip",
  }));
  const told = LANES.map((name, i) => ({
    ...names(spans[name], 3.5 - i, (span) => (i < 2 ? alarmInWords(name, span, marked) : eventInWords(span, marked)), pixel),
    name: titles[name] + ", in words", yaxis: "y2", mode: "markers", marker: { size: 12, color: shade[name], opacity: 0 }, hovertemplate: "%{text}<extra></extra>",
  }));
  const bands = windows(marked.row, pixel, c);
  document.querySelector("#time .k-window").hidden = bands.length === 0;
  const shapes = [...bands, ...unwatched(pixel, c)];
  const cut = data.thresholds[state.k].value;
  const threshold = cut === null ? null : Math.min(Math.max(cut, -MOST_DRAWN), MOST_DRAWN);
  if (series.score) {
    const drawn = scoreLine(pixels);
    const few = drawn.x.length < 120;
    traces.unshift({ ...drawn, mode: few ? "lines+markers" : "lines", line: { color: c.soft, width: 1 }, marker: { size: 4, color: c.soft }, connectgaps: false, hovertemplate: "%{x}: %{y:.4g}<extra></extra>" });
    if (threshold !== null) {
      shapes.push({ type: "line", x0: 0, x1: 1, xref: "paper", y0: threshold, y1: threshold, line: { color: c.ink, width: 1.5, dash: "dash" } });
    }
  }
  const values = series.score ? traces[0].y.filter((value) => value !== null) : [];
  if (series.score && threshold !== null) values.push(threshold);
  const [bottom, top] = values.length ? values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]) : [0, 1];
  // an axis must be long enough for numbers of its size to differ, or nothing is drawn at all
  const least = Math.max(1e-9 * Math.max(Math.abs(bottom), Math.abs(top)), 1e-290);
  const pad = top === bottom ? Math.abs(top) * 0.06 || 1 : Math.max((top - bottom) * 0.06, least);
  const { kind } = line.x;
  draw(
    "timeline",
    [...traces, ...told],
    axis(kind === "dates" ? "" : kind === "steps" ? "step" : "time", {
      type: kind === "dates" ? "date" : "linear", range: drawnRange(pixels), fixedrange: false, anchor: "y2",
      ...(kind === "dates" ? {} : { tickformat: ",~r" }), ...(kind === "steps" ? { tickformat: ",d", ...wholeTicks(view[1] - view[0]) } : {}), nticks: pixels < 500 ? 4 : 8,
    }),
    axis(series.score ? "score" : "", { range: [bottom - pad, top + pad], domain: series.score ? [0.4, 1] : [0.99, 1], visible: Boolean(series.score), nticks: 6 }),
    {
      margin: { l: 88, r: 10, t: 8, b: 40 }, dragmode: pixels < 400 ? false : "pan", shapes,
      yaxis2: axis("", { range: [0, 4], domain: series.score ? [0, 0.34] : [0, 1], tickvals: [0.5, 1.5, 2.5, 3.5], ticktext: LANES.map((name) => titles[name]).reverse(), showgrid: false }),
    },
  );
}

function drawnRange(pixels) {
  const pad = line.points ? (3 * (view[1] - view[0])) / pixels : 0; // a mark at the very end has a width, too
  return [view[0] - series.half - pad, view[1] - series.half + pad];
}

function axisNumber(value) {
  return typeof value === "string" ? Date.parse(value.replace(" ", "T") + (value.includes(":") ? "Z" : "")) : value;
}

function zoomTimeline(event) {
  const range = event["xaxis.range"] || [event["xaxis.range[0]"], event["xaxis.range[1]"]];
  if (range[0] === undefined) return;
  setView(axisNumber(range[0]) + series.half, axisNumber(range[1]) + series.half);
}

function setView(from, to) {
  const longest = whole[1] - whole[0];
  const width = Math.min(Math.max(to - from, leastView), longest);
  const middle = (from + to) / 2; // stays where it is, as far as the ends allow
  const start = Math.min(Math.max(middle - width / 2, whole[0]), whole[1] - width);
  view = [start, start + width];
  drawTimeline();
}

function moveTimeline(move) {
  if (!view) return;
  const [from, to] = view;
  const width = to - from;
  const changes = { earlier: [-0.5, -0.5], later: [0.5, 0.5], in: [0.25, -0.25], out: [-0.5, 0.5] };
  if (move === "all") setView(...whole);
  else setView(from + changes[move][0] * width, to + changes[move][1] * width);
}
