// A report: sliders, text, figures, timeline, table of events, and addresses. Every number was computed beforehand: this only
// looks up the cell of the two sliders. All of it stands in one function: what it defines belongs to one page, until closing.abort().

function openPage(data) {
"use strict";

// ---- state, sliders and text

const closing = new AbortController();
const listening = { signal: closing.signal };
const state = { d: data.chosen[0], k: data.chosen[1] };
const sliders = { d: document.getElementById("tolerance"), k: document.getElementById("threshold") };
const cellAt = (d, k) => data.cells[d][k];

function shown(d, k) {
  const cell = cellAt(d, k);
  return {
    ...cell.text,
    precision: cell.precision.text,
    recall: cell.recall.text,
    row: data.rows[d],
    column: data.columns[k],
    threshold: data.thresholds[k].label,
    tolerance: data.tolerances[d].label,
  };
}

function showText() {
  const values = shown(state.d, state.k);
  for (const element of document.querySelectorAll("[data-text]")) {
    const value = element.dataset.text.split(".").reduce((part, name) => part[name], values);
    if (element.textContent !== value) element.textContent = value;
  }
  const cell = cellAt(state.d, state.k);
  for (const element of document.querySelectorAll("[data-verdict]")) {
    element.dataset.verdict = cell.verdict;
    element.toggleAttribute("data-doubtful", cell.doubtful);
  }
  for (const table of document.querySelectorAll("[data-matrix]")) {
    const matrix = cell.matrices[table.dataset.matrix];
    table.querySelectorAll("tbody td").forEach((entry, i) => {
      entry.textContent = matrix.entries[i];
      entry.className = matrix.readable[i] ? "read" : "unread";
    });
  }
  document.getElementById("strip-stays").hidden = state.d === data.chosen[0] && state.k === data.chosen[1];
  sliders.d.value = state.d;
  sliders.k.value = state.k;
  sliders.d.setAttribute("aria-valuetext", values.tolerance);
  sliders.k.setAttribute("aria-valuetext", values.threshold + ", " + values.predictions + " " + data.alarm + "s");
}

let waiting = false;
function show() {
  showText();
  if (waiting) return;
  waiting = true; // many moves of a slider, one drawing
  requestAnimationFrame(() => {
    waiting = false;
    drawAll();
  });
}

function select(d, k) {
  state.d = d;
  state.k = k;
  document.getElementById("linked")?.remove();
  followLink();
  show();
}

function start() {
  sliders.d.max = data.tolerances.length - 1;
  sliders.k.max = data.thresholds.length - 1;
  sliders.d.addEventListener("input", () => select(Number(sliders.d.value), state.k));
  sliders.k.addEventListener("input", () => select(state.d, Number(sliders.k.value)));
  document.getElementById("reset").addEventListener("click", () => select(data.chosen[0], data.chosen[1]));
  for (const button of document.querySelectorAll("[data-move]")) {
    button.addEventListener("click", () => moveTimeline(button.dataset.move));
  }
  showText();
  reserve();
  drawAll();
  listen();
  startMenu();
  addDownloads(document.getElementById("how").parentElement);
  startLinks();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll, listening);
  // paper is white, and narrower than most windows
  addEventListener("beforeprint", () => forPaper(true), listening);
  addEventListener("afterprint", () => forPaper(false), listening);
  openSeries().then(() => {
    if (closing.signal.aborted) return;
    openTimeline();
    openEvents();
    document.documentElement.dataset.ready = "yes";
  });
  return { state, select, setView, forPaper, marksAt, eventsCsv, get series() { return series; }, get view() { return view; }, close: () => closing.abort() };
}

function forPaper(printing) {
  document.documentElement.classList.toggle("printing", printing);
  drawAll(printing);
}

// ---- figures: descriptions with references into the payload become charts at the position of the sliders

let paper = false; // whether a page is being printed

function sizeOf(box) {
  if (!paper) return { width: box.clientWidth, height: box.clientHeight };
  if (box.id === "timeline") return { width: 680, height: 230 };
  if (box.closest(".hero")) return { width: 180, height: 170 };
  return { width: box.closest(".three") ? 262 : 325, height: 190 }; // three beside each other are made smaller by the style sheet
}

const partOf = (of, path) => path.split(".").reduce((part, name) => part[name], of);

function lookedUp(ref, along) {
  // as kit/figure.py does, at the position of the sliders
  if (ref === "#d" || ref === "#k") return state[ref[1]];
  if (ref.startsWith("@")) {
    const [whole, at] = ref.slice(1).split("#");
    const [name, ...path] = whole.split(".");
    const found = path.length ? data[name].map((item) => partOf(item, path.join("."))) : data[name];
    return at ? found[state[at]] : found;
  }
  if (ref.startsWith("=")) return partOf(cellAt(state.d, state.k), ref.slice(1));
  if (along === "at") return partOf(cellAt(state.d, state.k), ref);
  if (along === "all") return data.cells.map((row) => row.map((cell) => partOf(cell, ref)));
  return (along === "k" ? data.cells[state.d] : data.cells.map((row) => row[state.k])).map((cell) => partOf(cell, ref));
}

function valuesOf(layer, along) {
  return Object.fromEntries(Object.entries(layer).map(([name, value]) => [name, typeof value === "string" && name !== "kind" && name !== "name" ? lookedUp(value, along) : value]));
}

function tellOf({ tell, along }) {
  if (!tell) return null;
  const written = (value) => (typeof value === "number" ? String(Number(value.toPrecision(4))) : value === null ? "undefined" : String(value));
  const filled = (pick) => tell.text.replace(/\{([^}]+)\}/g, (_, ref) => written(pick(ref)));
  if (along === "all") {
    // every cell of a map, row by row
    const many = data.thresholds.length;
    const cells = data.cells.flat();
    const own = (ref, i) => (ref.startsWith("@tolerances") ? lookedUp(ref)[Math.floor(i / many)] : ref.startsWith("@") ? lookedUp(ref)[i % many] : partOf(cells[i], ref));
    return { x: cells.map((_, i) => i % many), y: cells.map((_, i) => Math.floor(i / many)), text: (i) => filled((ref) => own(ref, i)) };
  }
  const at = (ref) => (typeof ref === "string" ? lookedUp(ref, along) : ref);
  return { x: at(tell.x), ...(tell.y ? { y: at(tell.y) } : {}), text: (i) => (tell.texts ? tell.texts[i] : filled((ref) => at(ref)[i])) };
}

function drawFigure(id) {
  const described = data.figures[id];
  const box = document.getElementById(id);
  const map = described.pick === "dk";
  drawChart(box, {
    ...described, size: sizeOf(box), layers: described.layers.map((layer) => valuesOf(layer, described.along)), tell: tellOf(described),
    ...(map ? { right: 62, scale: heatScale } : {}),
  });
}

function heatScale(right, top, bottom) {
  // from p = 1 to the smallest p on either map: whoever compares them sees the same colours
  const smallest = Math.max(Math.min(0.05, ...data.cells.flat().flatMap((cell) => ["precision", "recall"].map((side) => (cell[side].of ? cell[side].p : 1)))), 1e-16);
  const boxes = Array.from({ length: 8 }, (_, i) => shape("rect", { class: "fill warm", x: right + 10, width: 10, y: bottom - ((i + 1) / 8) * (bottom - top), height: (bottom - top) / 8, "fill-opacity": 0.06 + (0.94 * i) / 7 }));
  const text = smallest <= 1e-16 ? "≤ 1e−16" : smallest < 1e-3 ? smallest.toExponential(0).replace("-", "−") : String(Number(smallest.toPrecision(1)));
  return [...boxes, shape("text", { x: right + 23, y: bottom }, "p = 1"), shape("text", { x: right + 23, y: top + 9 }, text)];
}

function drawAll(printing) {
  if (closing.signal.aborted) return; // another page may stand here by now
  paper = printing === true;
  drawTimeline();
  drawEvents();
  Object.keys(data.figures).forEach(drawFigure);
}

function listen() {
  const choices = { k: (i) => select(state.d, i), d: (i) => select(i, state.k), dk: (i) => select(Math.floor(i / data.thresholds.length), i % data.thresholds.length) };
  for (const [id, { pick }] of Object.entries(data.figures)) {
    const box = document.getElementById(id);
    if (pick) box.dataset.pick = pick;
    pointable(box, choices[pick]);
  }
  let width = document.body.clientWidth;
  const resized = new ResizeObserver(() => {
    if (document.body.clientWidth === width || paper) return;
    width = document.body.clientWidth;
    requestAnimationFrame(() => { reserve(); drawAll(); });
  });
  resized.observe(document.body);
  closing.signal.addEventListener("abort", () => resized.disconnect());
}

function reserve() {
  // room for the longest text of any position, so that the sliders stay where they are
  const hero = one(".hero");
  hero.style.minHeight = "";
  const long = (cell) => cell.text.reason.length + cell.text.which.length + cell.text.notes.length + cell.text.precision_sentence.length + cell.text.recall_sentence.length;
  const places = data.cells.flatMap((row, d) => row.map((cell, k) => [d, k, long(cell)])).sort((a, b) => b[2] - a[2]).slice(0, 4);
  const [d, k] = [state.d, state.k];
  let tallest = 0;
  for (const [row, column] of places) {
    [state.d, state.k] = [row, column];
    showText();
    tallest = Math.max(tallest, hero.offsetHeight);
  }
  [state.d, state.k] = [d, k];
  showText();
  hero.style.minHeight = Math.max(tallest, hero.offsetHeight) + "px";
}

function startMenu() {
  // the address belongs to the sliders, so that the menu leaves it alone
  for (const link of all(".menu a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const target = document.getElementById(link.dataset.to);
      (link.dataset.to === "verdict" ? one(".hero") : target).scrollIntoView({ behavior: quiet() ? "auto" : "smooth", block: "start" });
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
    });
  }
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) for (const link of all(".menu a")) link.toggleAttribute("aria-current", link.dataset.to === entry.target.id);
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const link of all(".menu a")) seen.observe(document.getElementById(link.dataset.to));
  closing.signal.addEventListener("abort", () => seen.disconnect());
}

// ---- the steps of the timeline, unpacked from short text, and what each of them is at a position: looked up, not computed

const line = data.timeline;
const KINDS = { u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };
const [HIT, FALSE] = [1, 2]; // what an alarm is
const MISSING = 65535; // the code of a score that is not there
let series = null; // until it is unpacked

async function unpacked(packed) {
  if (!packed) return null;
  const planes = new Uint8Array(await inflated(packed.z)); // all first bytes, then all second ones
  const size = KINDS[packed.kind].BYTES_PER_ELEMENT;
  const many = planes.length / size;
  const flat = new Uint8Array(planes.length);
  for (let byte = 0; byte < size; byte++) for (let i = 0; i < many; i++) flat[i * size + byte] = planes[byte * many + i];
  const values = new KINDS[packed.kind](flat.buffer);
  if (packed.from === undefined) return values;
  let sum = packed.from; // ascending ones were packed as differences
  return Float64Array.from(values, (more) => (sum += more));
}

async function openSeries() {
  const { events, finders, counted } = line;
  const wanted = [
    line.x.each, line.levels, line.closed, line.scores && (line.scores.exact || line.scores.codes), events.begin, events.end, events.first,
    events.last, events.steps, finders.base, finders.starts, finders.lengths, counted && counted.events, counted && counted.alarms,
  ];
  const [each, levels, closed, scores, begin, end, first, last, steps, base, starts, lengths, eventsCounted, alarmsCounted] = await Promise.all(wanted.map(unpacked));
  const { x, n } = line;
  const since = each ? (i) => each[i] : (i) => i * x.step;
  const place = (ticks) => x.first + ticks * x.scale;
  series = {
    n, levels, closed, begin, end, first, last, steps, eventsCounted, alarmsCounted, since, place,
    events: events.n,
    at: (i) => place(since(i)),
    step: x.step * x.scale,
    half: line.points ? 0 : (x.step * x.scale) / 2, // a step is drawn around its time
    score: scores && scoreReader(scores),
    finders: (row, j) => {
      const from = base[j] + starts[row * events.n + j];
      return [from, from + lengths[row * events.n + j]];
    },
    breaks: new Set(line.gaps), // steps behind a gap
  };
  // the first step at or after each event
  series.behind = Int32Array.from(begin, (at) => firstWhere(n, (i) => since(i) >= at));
}

function scoreReader(scores) {
  const { sign } = line;
  if (line.scores.exact) return (i) => sign * scores[i];
  const values = new Float64Array(MISSING + 1).fill(NaN);
  let code = 0;
  for (const [low, high, many] of line.scores.bands) {
    // never beyond its band, whose ends are scores themselves: a rounded score stays on its side of every threshold
    for (let i = 0; i < many; i++) values[code++] = sign * (low === high ? low : Math.min(Math.max(low + (high - low) * (i / (many - 1)), low), high));
  }
  return (i) => values[scores[i]];
}

function firstWhere(length, is) {
  // the first of so many for which it is true, and for all behind it
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (is(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

// where lags are on a slider, every cell has windows of its own; else every tolerance, and levels tell the thresholds apart
const rowOfCell = (d, k) => (data.column === "lag" ? d * data.thresholds.length + k : d);
const levelOfCell = (k) => (data.column === "lag" ? 0 : k);

let lastAsked = {}; // the last position that was asked for
function marksAt(d, k) {
  if (lastAsked.d === d && lastAsked.k === k) return lastAsked;
  const [row, level] = [rowOfCell(d, k), levelOfCell(k)];
  const { n, levels, alarmsCounted } = series;
  const near = lastAsked.row === row ? lastAsked.near : nearEvents(row);
  const marks = new Uint8Array(n);
  const steps = [];
  for (let i = 0; i < n; i++) {
    if (levels[i] <= level) continue;
    steps.push(i);
    if (!alarmsCounted || alarmsCounted[row * n + i]) marks[i] = near[i] ? HIT : FALSE;
  }
  if (line.episodes) {
    for (const [from, to] of runsOf(marks, (mark) => mark > 0)) {
      let hit = false;
      for (let i = from; i <= to; i++) hit ||= marks[i] === HIT;
      if (hit) for (let i = from; i <= to; i++) marks[i] &&= HIT; // an episode is a hit as a whole
    }
  }
  const alarms = Int32Array.from(steps);
  lastAsked = { d, k, row, level, near, marks, alarms, ...eventsAt(row, alarms), best: lastAsked.row === row ? lastAsked.best : null };
  return lastAsked;
}

function nearEvents(row) {
  const near = new Uint8Array(series.n);
  let done = 0; // windows ascend: what is filled already need not be filled again
  for (let j = 0; j < series.events; j++) {
    const [from, to] = series.finders(row, j);
    if (to > done) near.fill(1, Math.max(from, done), to);
    done = Math.max(done, to);
  }
  return near;
}

function runsOf(marks, is) {
  // [first, last, steps] of steps that follow one another among those that count; alarms at their own times stand alone
  const found = [];
  let run = null;
  for (let i = 0; i < series.n; i++) {
    if (series.closed && series.closed[i]) continue;
    if (!is(marks[i])) run = null;
    else if (run && !line.points) {
      run[1] = i;
      run[2]++;
    } else found.push((run = [i, i, 1]));
  }
  return found;
}

function eventsAt(row, alarms) {
  // which events are found, and the alarm that each is told with: of a range, the first that finds it; else the nearest
  const many = series.events;
  const found = new Uint8Array(many);
  const nearest = new Int32Array(many).fill(-1);
  const after = (step) => firstWhere(alarms.length, (a) => alarms[a] >= step);
  for (let j = 0; j < many && alarms.length; j++) {
    let [from, to] = series.finders(row, j);
    const first = after(from);
    const inside = to > from && first < alarms.length && alarms[first] < to;
    found[j] = inside && (!series.eventsCounted || series.eventsCounted[row * many + j]) ? 1 : 0;
    if (inside && line.events.delay === "first") {
      nearest[j] = alarms[first];
      continue;
    }
    if (!inside) [from, to] = [0, series.n];
    const begin = delayFrom(j);
    const own = Math.max(series.behind[j], 0);
    const earlier = after(Math.min(own, to)) - 1;
    const later = after(Math.max(own, from));
    const lead = earlier >= 0 && alarms[earlier] >= from ? begin - series.since(alarms[earlier]) : Infinity;
    const lag = later < alarms.length && alarms[later] < to ? series.since(alarms[later]) - begin : Infinity;
    nearest[j] = alarms[lead <= lag + line.x.slack ? earlier : later];
  }
  return { found, nearest };
}

// before the first step nobody could have raised an alarm
const delayFrom = (j) => (line.events.delay === "first" && line.x.kind !== "steps" ? Math.max(series.begin[j], 0) : series.begin[j]);
const delayOf = (j, alarm) => (alarm < 0 ? null : (series.since(alarm) - delayFrom(j)) / line.x.per_unit + 0);

function bestScores(marked) {
  // the most anomalous score in each event's window, for all events in one walk, since windows ascend
  if (marked.best || !series.score) return marked.best;
  const best = new Float64Array(series.events).fill(NaN);
  const queue = new Int32Array(series.n); // steps that may still be the best, from the best one down
  let [head, tail, next] = [0, 0, 0];
  const height = (i) => line.sign * series.score(i);
  for (let j = 0; j < series.events; j++) {
    const [from, to] = series.finders(marked.row, j);
    for (next = Math.max(next, from); next < to; next++) {
      if (Number.isNaN(height(next)) || (series.closed && series.closed[next])) continue;
      while (tail > head && height(queue[tail - 1]) <= height(next)) tail--;
      queue[tail++] = next;
    }
    while (head < tail && queue[head] < from) head++;
    if (head < tail && to > from && queue[head] < to) best[j] = series.score(queue[head]);
  }
  marked.best = best;
  return best;
}

function peakOf(from, to, marks) {
  let best = null;
  for (let i = from; i <= to; i++) {
    const score = series.score(i);
    if (marks[i] && (best === null || line.sign * score > line.sign * best)) best = score;
  }
  return best;
}

// ---- the timeline: the visible steps, thinned to the pixels there are; nothing that is flagged disappears, and no line crosses a gap

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
  const titles = { hit: "hits", false: "false alarms", found: data.noun + "s found", missed: data.noun + "s missed" };
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
    x: { range: drawnRange(pixels), kind: kind === "dates" ? "dates" : "number", whole: kind === "steps", title: kind === "dates" ? "" : kind === "steps" ? "step" : "time" },
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

// ---- the table of events and false alarms at the position of the sliders, and what marks are called

const ROWS_AT_FIRST = 20;
const MORE_ROWS = 200;
const OUTCOMES = ["found", "missed", "false", "not counted"];
const columnsOfEvents = Object.keys(data.events.columns);
const sorting = { by: "from", down: false };
let tableRows = []; // what is shown and what more there is, in order
let tableOf = ""; // the position that the rows are of
let shownRows = ROWS_AT_FIRST;

const number = (value, digits) => {
  const short = Number(value.toPrecision(digits || 4));
  return String(Number.isFinite(short) ? short : value); // the largest floats round to infinity
};
const thousands = (value) => value.toLocaleString("en-US");

function timeInWords(ticks) {
  const { kind, digits, aware } = line.x;
  if (kind === "steps") return thousands(ticks);
  const at = series.place(ticks);
  if (kind === "clock") return number(at, 12);
  const micro = Math.round(at * 1e3);
  const day = new Date(Math.floor(micro / 1e3));
  if (Number.isNaN(day.getTime())) return String(at);
  const lengths = { day: 10, minute: 16, second: 19, millisecond: 23 };
  const text = (day.toISOString().slice(0, -1) + String(((micro % 1e3) + 1e3) % 1e3).padStart(3, "0")).replace("T", " ");
  return text.slice(0, lengths[digits] || 26) + (aware && digits !== "day" ? "Z" : "");
}

function delayInWords(value) {
  // as nofluke.text.units.show_length
  if (data.events.unit !== "seconds") return number(value);
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]];
  const size = Math.abs(value);
  if (size === 0) return "0" + (units.find((unit) => unit[0] <= data.events.step) || units[3])[1];
  let unit = units.find((one) => size >= one[0]) || units[6];
  const tenth = Math.round((value / unit[0]) * 10) / 10;
  if (Math.abs(tenth * unit[0] - value) > 1e-12 * size) unit = units.find((one) => size >= (one[0] > 1 ? 2 : 1) * one[0]) || units[6];
  const many = value / unit[0];
  return (Math.abs(many) >= 100 ? many.toFixed(0) : number(many, 3)) + unit[1];
}

function rowsAt(marked) {
  const rows = [];
  for (let j = 0; j < series.events; j++) {
    const counts = !series.eventsCounted || series.eventsCounted[marked.row * series.events + j];
    rows.push({ outcome: !counts ? 3 : marked.found[j] ? 0 : 1, from: series.begin[j], j });
  }
  let i = 0;
  for (const [first, last, steps] of runsOf(marked.marks, (mark) => mark === FALSE)) {
    rows.push({ outcome: 2, from: series.since(first), i: i++, first, last, steps });
  }
  return rows;
}

// the value of a row in a column: what is sorted by, and what a CSV file holds; null where there is none
const VALUES = {
  what: (row) => (row.j === undefined ? row.i + 1 : row.j + 1),
  outcome: (row) => row.outcome,
  from: (row) => row.from,
  to: (row) => (row.j === undefined ? series.since(row.last) : series.steps ? series.end[row.j] : null),
  steps: (row) => (row.j === undefined ? row.steps : series.steps ? series.steps[row.j] : null),
  delay: (row, marked) => (row.j === undefined ? null : delayOf(row.j, marked.nearest[row.j])),
  alarm: (row, marked) => (row.j === undefined || marked.nearest[row.j] < 0 ? null : series.since(marked.nearest[row.j])),
  score: (row, marked) => {
    const best = row.j === undefined ? peakOf(row.first, row.last, marked.marks) : bestScores(marked)[row.j];
    return best === null || Number.isNaN(best) ? null : best;
  },
};

function rowInWords(row, marked) {
  const words = {
    what: (value) => (row.j === undefined ? "alarm " : data.noun + " ") + thousands(value),
    outcome: (value) => OUTCOMES[value],
    from: timeInWords,
    to: (value) => (row.steps === 1 ? "" : timeInWords(value)),
    steps: thousands,
    delay: delayInWords,
    alarm: timeInWords,
    score: (value) => number(value),
  };
  return columnsOfEvents.map((name) => {
    const value = VALUES[name](row, marked);
    return value === null ? "" : words[name](value);
  });
}

function alarmInWords(name, [, , first, last, steps], marked) {
  const one = steps === 1 || last - first + 1 === steps; // side by side, not only near on the screen
  const what = (name === "hit" ? "hit" : "false alarm") + (steps === 1 ? "" : "s");
  const from = timeInWords(series.since(first));
  const where = steps === 1 ? from : from + " to " + timeInWords(series.since(last));
  const peak = series.score && one ? ", " + (steps === 1 ? "score " : "peak score ") + number(peakOf(first, last, marked.marks)) : "";
  return (steps === 1 ? "" : thousands(steps) + " ") + what + ": " + where + peak + (one ? "" : "; zoom in to tell them apart");
}

function eventInWords([, , first, last, many], marked) {
  if (many > 1) return thousands(many) + " " + data.noun + "s from " + timeInWords(series.begin[first]) + " to " + timeInWords(series.begin[last]) + "; zoom in to tell them apart";
  const alarm = marked.nearest[first];
  const unit = data.events.unit === "steps" ? " steps" : data.events.unit === "clock" ? " time units" : "";
  const near = alarm < 0 ? "no alarm" : "alarm at " + timeInWords(series.since(alarm)) + ", delay " + delayInWords(delayOf(first, alarm)) + unit;
  const until = series.steps ? " to " + timeInWords(series.end[first]) : "";
  return data.noun + " " + thousands(first + 1) + ": " + timeInWords(series.begin[first]) + until + "\n" + (marked.found[first] ? "found; " : "missed; nearest ") + near;
}

function sortRows(rows, marked) {
  const value = VALUES[sorting.by];
  const turn = sorting.down ? -1 : 1;
  const keys = new Map(rows.map((row) => [row, value(row, marked)]));
  rows.sort((one, other) => {
    const [a, b] = [keys.get(one), keys.get(other)];
    if (a === b) return one.from - other.from;
    return a === null ? 1 : b === null ? -1 : turn * (a - b); // what has no value comes last
  });
}

function drawEvents(anew) {
  if (!series) return;
  const position = state.d + " " + state.k;
  if (!anew && position === tableOf) return;
  tableOf = position;
  const marked = marksAt(state.d, state.k);
  const [kind, text] = [document.getElementById("events-kind").value, document.getElementById("events-text").value.trim().toLowerCase()];
  const all = rowsAt(marked);
  tableRows = all.filter((row) => !kind || OUTCOMES[row.outcome] === kind);
  if (text) tableRows = tableRows.filter((row) => rowInWords(row, marked).some((cell) => cell.toLowerCase().includes(text)));
  sortRows(tableRows, marked);
  for (const head of document.querySelectorAll("#events-table [data-column]")) {
    if (head.dataset.column === sorting.by) head.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  const body = document.querySelector("#events-table tbody");
  body.replaceChildren(...tableRows.slice(0, shownRows).map((row) => rowElement(row, marked)));
  document.getElementById("events-count").textContent = countInWords(all, tableRows);
  const more = document.getElementById("events-more");
  more.hidden = tableRows.length <= shownRows;
  document.getElementById("events-shown").textContent = more.hidden ? "" : thousands(shownRows) + " of " + thousands(tableRows.length) + " rows.";
  more.textContent = "Show " + thousands(Math.min(MORE_ROWS, tableRows.length - shownRows)) + " more of " + thousands(tableRows.length);
}

function countInWords(all, rows) {
  const count = (outcome) => all.reduce((sum, row) => sum + (row.outcome === outcome), 0);
  const several = (many, what) => thousands(many) + " " + what + (many === 1 ? "" : "s");
  const steps = all.reduce((sum, row) => sum + (row.steps || 0), 0);
  const stretches = thousands(count(2)) + (count(2) === 1 ? " stretch" : " stretches");
  const wrong = line.points || line.episodes ? several(count(2), "false alarm") : several(steps, "false step") + " in " + stretches;
  const counted = several(count(0) + count(1), data.noun) + ": " + thousands(count(0)) + " found, " + thousands(count(1)) + " missed. " + wrong + ".";
  return counted + (rows.length === all.length ? "" : " " + several(rows.length, "row") + " as filtered.");
}

function rowElement(row, marked) {
  const element = document.createElement("tr");
  element.dataset.outcome = OUTCOMES[row.outcome];
  rowInWords(row, marked).forEach((text, i) => {
    const cell = document.createElement(i ? "td" : "th");
    if (i) cell.textContent = text;
    else {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.title = "Show it in the timeline";
      cell.scope = "row";
      cell.append(button);
    }
    element.append(cell);
  });
  element.addEventListener("click", () => zoomTo(row, marked));
  for (const [name, of] of [["pointerenter", row], ["focusin", row], ["pointerleave", null], ["focusout", null]]) element.addEventListener(name, () => lightMark(of, marked));
  return element;
}

function zoomTo(row, marked) {
  // the mark with its window, and as much again to both sides
  let [x0, x1] = row.j === undefined ? [series.at(row.first), series.at(row.last)] : eventEnds(row.j);
  if (row.j !== undefined && marked.nearest[row.j] >= 0 && marked.found[row.j]) {
    const alarm = series.at(marked.nearest[row.j]);
    [x0, x1] = [Math.min(x0, alarm), Math.max(x1, alarm)];
  }
  const reach = line.windows[marked.row];
  const wide = Math.max(Math.abs(reach.early), Math.abs(reach.late)) * (reach.in === "steps" ? series.step : 1);
  const room = Math.max(2 * wide, x1 - x0, line.points ? (whole[1] - whole[0]) / 500 : 10 * series.step);
  setView(x0 - room + series.half, x1 + room + series.half);
  document.getElementById("time").scrollIntoView({ behavior: quiet() ? "auto" : "smooth", block: "start" });
}

function eventsCsv() {
  const marked = marksAt(state.d, state.k);
  const names = { what: "number", outcome: "outcome", from: "from", to: "to", steps: "steps", delay: "delay", alarm: "nearest_alarm", score: "score" };
  const unit = data.events.unit === "clock" ? "" : "_" + data.events.unit;
  const time = (value) => (line.x.kind === "dates" ? timeInWords(value).replace(" ", "T") : series.place(value));
  const write = { what: (value) => value, outcome: (value) => OUTCOMES[value], from: time, to: time, alarm: time };
  const heads = ["kind", ...columnsOfEvents.map((name) => names[name] + (name === "delay" ? unit : ""))];
  const lines = tableRows.map((row) => [row.j === undefined ? "alarm" : data.noun, ...columnsOfEvents.map((name) => {
    const value = VALUES[name](row, marked);
    return value === null ? "" : (write[name] || ((one) => one))(value);
  })]);
  return [heads, ...lines].map((cells) => cells.join(",")).join("\r\n") + "\r\n";
}

function openEvents() {
  const anew = (change) => () => {
    change();
    drawEvents(true);
  };
  const restart = anew(() => { shownRows = ROWS_AT_FIRST; });
  document.getElementById("events-kind").addEventListener("change", restart);
  let typing = null;
  document.getElementById("events-text").addEventListener("input", () => {
    clearTimeout(typing); // many letters, one search
    typing = setTimeout(restart, 150);
  });
  document.getElementById("events-more").addEventListener("click", anew(() => { shownRows += MORE_ROWS; }));
  for (const head of document.querySelectorAll("#events-table [data-column]")) {
    head.querySelector("button").addEventListener("click", anew(() => {
      sorting.down = sorting.by === head.dataset.column && !sorting.down;
      sorting.by = head.dataset.column;
    }));
  }
  document.getElementById("events-csv").addEventListener("click", () => save(new Blob([eventsCsv()], { type: "text/csv" }), "events.csv"));
  document.querySelector("#events .tools").hidden = false;
  drawEvents(true);
}

// ---- addresses of positions: #threshold=1.4&tolerance=2 follow the sliders, and are read when the page opens or the address changes

const UNITS = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9, d: 86400e9, w: 604800e9 };
const COLUMN = data.column === "lag" ? "lag" : "threshold";
const WRITE_AFTER = 200; // milliseconds: browsers refuse to write as often as a slider moves
let written = ""; // our part of the address, as we left it
let writing = null;

function lengthIn(unit, text) {
  // a length as a number of its unit; null for what is none
  if (unit !== "ns" || Number(text) === 0) return text.trim() && Number.isFinite(Number(text)) ? Number(text) : null;
  const minus = text.startsWith("-") ? -1 : 1;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([a-zµ]+)/g)];
  const whole = parts.map((part) => part[0]).join("") === text.replace(/^-/, "") && parts.length;
  if (!whole || parts.some((part) => !(part[2] in UNITS))) return null;
  return minus * parts.reduce((sum, part) => sum + Number(part[1]) * UNITS[part[2]], 0);
}

function nearest(items, distance) {
  const each = items.map((item, i) => (distance(item, i) === null ? Infinity : distance(item, i)));
  const least = Math.min(...each);
  return least === Infinity ? null : { at: each.indexOf(least), exact: least === 0 };
}

function thresholdText(k) {
  // as few digits as tell it from the others
  const { value } = data.thresholds[k];
  if (value === null) return null;
  for (let digits = 4; digits < 17; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    const others = data.thresholds.map((other) => (other.value === null ? Infinity : Math.abs(other.value - Number(text))));
    if (others.filter((far) => far <= others[k]).length === 1) return text;
  }
  return String(value);
}

function columnAt(text) {
  if (COLUMN === "lag") {
    const length = lengthIn(data.thresholds[0].unit, text);
    return length === null ? null : nearest(data.thresholds, (lag) => Math.abs(lag.length - length));
  }
  const value = text.trim() ? Number(text) : NaN;
  if (!data.movable || !Number.isFinite(value)) return null;
  return nearest(data.thresholds, (one, k) => (one.value === null ? null : Number(thresholdText(k)) === value ? 0 : Math.abs(one.value - value)));
}

function toleranceAt(text) {
  const { unit } = data.tolerances[0];
  const [early, late] = text.split("..").map((side) => lengthIn(unit, side));
  const other = text.includes("..") ? late : early;
  if (early === null || other === null) return null;
  return nearest(data.tolerances, (one) => Math.abs(one.early - early) + Math.abs(one.late - other));
}

const asked = () => new URLSearchParams(location.hash.slice(1));
const ours = (params) => [params.get(COLUMN), params.get("tolerance")].join("&");

function linkOf(params) {
  const evaluated = state.d === data.chosen[0] && state.k === data.chosen[1];
  const column = COLUMN === "lag" ? data.thresholds[state.k].link : thresholdText(state.k);
  params.delete(COLUMN);
  params.delete("tolerance");
  if (evaluated) return params;
  if (data.movable && column !== null) params.set(COLUMN, column);
  params.set("tolerance", data.tolerances[state.d].link);
  return params;
}

function write(params) {
  clearTimeout(writing);
  writing = null;
  written = ours(params);
  const text = params.toString();
  if (text === location.hash.slice(1)) return;
  try {
    history.replaceState(history.state, "", text ? "#" + text : location.pathname + location.search);
  } catch {
    // a page in a frame may have no address of its own
  }
}

function followLink() {
  clearTimeout(writing);
  writing = setTimeout(() => write(linkOf(asked())), WRITE_AFTER);
}

function readLink() {
  // what the address asks for; where there is no such position the nearest one, with a word about it
  const params = asked();
  const [column, tolerance] = [params.get(COLUMN), params.get("tolerance")];
  const k = column === null ? null : columnAt(column);
  const d = tolerance === null ? null : toleranceAt(tolerance);
  const inexact = [[k, COLUMN, column], [d, "tolerance", tolerance]].filter(([found]) => found && !found.exact);
  select(d ? d.at : data.chosen[0], k ? k.at : data.chosen[1]);
  document.getElementById("linked")?.remove();
  if (!inexact.length) return;
  const note = document.createElement("p");
  note.id = "linked";
  note.className = "warning";
  note.textContent = "The link asks for " + inexact.map(([, name, text]) => name + " " + text.slice(0, 40)).join(" and ") + ", which the sliders do not have; this is the nearest position.";
  document.getElementById("verdict").append(note);
}

async function copyLink(button) {
  write(linkOf(asked()));
  const was = button.textContent;
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy the address above"; // of the browser: it is the link
  }
  setTimeout(() => { button.textContent = was; }, 2000);
}

function startLinks() {
  const copy = document.getElementById("copy");
  copy.addEventListener("click", () => copyLink(copy));
  if (["", "&"].includes(ours(asked())) === false) readLink();
  addEventListener("hashchange", () => { if (ours(asked()) !== written) readLink(); }, listening);
  closing.signal.addEventListener("abort", () => {
    clearTimeout(writing);
    if (ours(asked()) !== written) return; // whoever closes the page has asked for another position
    const params = asked();
    params.delete(COLUMN);
    params.delete("tolerance");
    write(params);
  });
}

return start();
}
