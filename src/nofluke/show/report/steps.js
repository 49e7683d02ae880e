// The steps of the timeline, unpacked from short text, and what each of them is at a position: looked up, not computed.

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
