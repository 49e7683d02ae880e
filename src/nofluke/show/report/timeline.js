// The timeline: the visible steps, thinned to the pixels there are; nothing that is flagged disappears, and no line crosses a gap.

const MOST_DRAWN = 1e300; // scores are drawn up to here, so that an axis has a length
const LANES = ["hit", "false", "found", "missed"];
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
  draggable(document.getElementById("timeline"));
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

function windows(row, pixel) {
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
  return bands;
}

function unwatched(pixel) {
  // steps that are left out, and stretches of time that were not watched
  const bands = (line.away || []).filter(([x0, x1]) => x1 > view[0] && x0 < view[1] && x1 - x0 >= pixel / 2);
  if (series.closed) bands.push(...alarmSpans(1, series.closed, pixel));
  return bands.map(([x0, x1]) => [x0, x1]);
}

function drawTimeline() {
  if (!series || !view) return; // not unpacked yet
  const box = document.getElementById("timeline");
  const size = sizeOf(box);
  const pixels = Math.max(size.width - 110, 100);
  const pixel = (view[1] - view[0]) / pixels;
  const marked = marksAt(state.d, state.k);
  const counts = (j) => !series.eventsCounted || series.eventsCounted[marked.row * series.events + j];
  const titles = { hit: "hits", false: data.nouns.false[1], found: data.nouns.event[1] + " found", missed: data.nouns.event[1] + " missed" };
  const spans = {
    hit: alarmSpans(HIT, marked.marks, pixel),
    false: alarmSpans(FALSE, marked.marks, pixel),
    found: eventSpans((j) => marked.found[j] === 1, pixel),
    missed: eventSpans((j) => counts(j) && marked.found[j] === 0, pixel),
  };
  const lanes = LANES.map((name, i) => ({ kind: "boxes", name: i % 2 ? "missed" : "found", lane: name, title: titles[name], spans: spans[name], low: 3.12 - i, high: 3.88 - i, least: 2 }));
  if (lit) lanes.push({ kind: "boxes", name: "lit", spans: [lit.span], low: lit.low, high: lit.high, least: 6 });
  const bands = windows(marked.row, pixel);
  one("#time .k-window").hidden = bands.length === 0;
  const panels = [{
    y: { range: [0, 4], ticks: [[3.5, 2.5, 1.5, 0.5], LANES.map((name) => titles[name])], grid: false }, room: series.score ? [0, 0.34] : [0, 1], layers: lanes,
  }];
  if (series.score) panels.unshift(scorePanel(pixels));
  const { kind } = line.x;
  drawChart(box, {
    size, panels, bands: [{ name: "window", spans: bands }, { name: "away", spans: unwatched(pixel) }], marked,
    x: { range: drawnRange(pixels), kind: kind === "dates" ? "dates" : "number", whole: kind === "steps", zone: line.x.zone, title: kind === "dates" ? line.x.zone_name || "" : kind === "steps" ? "step" : "time" },
  });
}

function scorePanel(pixels) {
  const drawn = scoreLine(pixels);
  const cut = data.thresholds[state.k].value;
  const threshold = cut === null ? null : Math.min(Math.max(cut, -MOST_DRAWN), MOST_DRAWN);
  const [bottom, top] = [...drawn.y, threshold].reduce(([a, b], v) => (v === null ? [a, b] : [Math.min(a, v), Math.max(b, v)]), [Infinity, -Infinity]);
  const [low, high] = bottom <= top ? [bottom, top] : [0, 1];
  // an axis must be long enough for numbers of its size to differ, or nothing is drawn at all
  const least = Math.max(1e-9 * Math.max(Math.abs(low), Math.abs(high)), 1e-290);
  const pad = high === low ? Math.abs(high) * 0.06 || 1 : Math.max((high - low) * 0.06, least);
  const rule = threshold === null ? [] : [{ kind: "rule", name: "cut", y: threshold }];
  return { y: { title: "score", range: [low - pad, high + pad] }, room: [0.4, 1], layers: [{ kind: "line", name: "score", ...drawn, dots: drawn.x.length < 120 }, ...rule] };
}

function drawnRange(pixels) {
  const pad = line.points ? (3 * (view[1] - view[0])) / pixels : 0; // a mark at the very end has a width, too
  return [view[0] - series.half - pad, view[1] - series.half + pad];
}

// ---- pointing and dragging

let lit = null; // the mark that belongs to the row under the pointer

function laneAt(chart, y) {
  const panel = chart.panels[chart.panels.length - 1];
  return y < panel.high || y > panel.low ? null : panel.layers.find((lane) => lane.lane && y >= panel.sy(lane.high) - 4 && y <= panel.sy(lane.low) + 4) || null;
}

function markAt(chart, lane, x) {
  // the mark of a lane that is nearest, within a finger's reach
  let [best, least] = [null, 12];
  for (const span of lane.spans) {
    const far = Math.max(chart.sx(span[0]) - x, x - chart.sx(span[1]), 0);
    if (far < least) [best, least] = [span, far];
  }
  return best;
}

function stepAt(x) {
  // the step whose time is nearest
  const i = firstWhere(series.n, (at) => series.at(at) >= x);
  return i > 0 && (i === series.n || x - series.at(i - 1) < series.at(i) - x) ? i - 1 : i;
}

function pointAt(box, event) {
  const { chart } = box;
  if (!chart?.marked) return;
  const area = box.getBoundingClientRect();
  const [x, y] = [event.clientX - area.left, event.clientY - area.top];
  const value = chart.range[0] + ((x - chart.left) / (chart.right - chart.left)) * (chart.range[1] - chart.range[0]);
  const lane = laneAt(chart, y);
  const mark = lane && markAt(chart, lane, x);
  lightRow(lane, mark);
  if (x < chart.left || x > chart.right || series.n === 0) return hideHint(box);
  const i = stepAt(value);
  const at = mark ? Math.min(Math.max(x, chart.sx(mark[0])), Math.max(chart.sx(mark[1]), chart.sx(mark[0]))) : series.score ? chart.sx(series.at(i)) : x;
  chart.cross.setAttribute("d", "M" + at + " " + chart.top + "V" + chart.bottom);
  chart.cross.setAttribute("visibility", "visible");
  if (mark) showHint(LANES.indexOf(lane.lane) < 2 ? alarmInWords(lane.lane, mark, chart.marked) : eventInWords(mark, chart.marked), event.clientX, event.clientY);
  else if (series.score) showHint(timeInWords(series.since(i)) + ": score " + (Number.isNaN(series.score(i)) ? "missing" : number(series.score(i))), event.clientX, event.clientY);
  else showHint(timeInWords(Math.round((value - line.x.first) / line.x.scale)), event.clientX, event.clientY);
}

function draggable(box) {
  // the pointer moves the steps along; with Shift it chooses a stretch. On a telephone, buttons do
  box.dataset.drag = "";
  let from = null;
  const place = (event) => Math.min(Math.max(event.clientX - box.getBoundingClientRect().left, box.chart.left), box.chart.right);
  const length = () => (box.chart.range[1] - box.chart.range[0]) / (box.chart.right - box.chart.left);
  box.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    from = { x: place(event), view: [...view], zoom: event.shiftKey };
    box.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  box.addEventListener("pointermove", (event) => {
    if (!from) return pointAt(box, event);
    const moved = (place(event) - from.x) * length();
    hideHint(box);
    if (!from.zoom) setView(from.view[0] - moved, from.view[1] - moved);
    else {
      const ends = [from.x, place(event)];
      box.chart.cross.setAttribute("d", ends.map((x) => "M" + x + " " + box.chart.top + "V" + box.chart.bottom).join(""));
      box.chart.cross.setAttribute("visibility", "visible");
    }
  });
  const end = (event) => {
    const begun = from;
    from = null;
    if (!begun?.zoom || Math.abs(place(event) - begun.x) < 4) return;
    const [a, b] = [begun.x, place(event)].sort((one, other) => one - other).map((x) => box.chart.range[0] + (x - box.chart.left) * length() + series.half);
    setView(a, b);
  };
  box.addEventListener("pointerup", end);
  box.addEventListener("pointercancel", () => { from = null; });
  box.addEventListener("pointerleave", () => { hideHint(box); lightRow(null, null); });
}

function lightRow(lane, mark) {
  // the row of the mark under the pointer
  const is = (row) => mark && (LANES.indexOf(lane.lane) >= 2 ? row.j !== undefined && row.j >= mark[2] && row.j <= mark[3] : row.j === undefined && row.first <= mark[3] && row.last >= mark[2]);
  all("#events-table tbody tr").forEach((element, i) => element.toggleAttribute("data-lit", Boolean(tableRows[i] && is(tableRows[i]))));
}

function lightMark(row, marked) {
  // the mark of the row under the pointer
  const lane = row && (row.j === undefined ? 1 : marked.found[row.j] ? 2 : 3);
  lit = row ? { span: row.j === undefined ? [series.at(row.first) - series.half, series.at(row.last) + series.half] : eventEnds(row.j), low: 3.02 - lane, high: 3.98 - lane } : null;
  drawTimeline();
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
