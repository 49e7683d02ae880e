// The table of events and false alarms at the position of the sliders, and what marks are called.

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
  const { kind, digits, aware, zone } = line.x;
  if (kind === "steps") return thousands(ticks);
  const at = series.place(ticks);
  if (kind === "clock") return number(at, 12);
  const micro = Math.round((at + aheadIn(zone, at)) * 1e3);
  const day = new Date(Math.floor(micro / 1e3));
  if (Number.isNaN(day.getTime())) return String(at);
  const lengths = { day: 10, minute: 16, second: 19, millisecond: 23 };
  const text = (day.toISOString().slice(0, -1) + String(((micro % 1e3) + 1e3) % 1e3).padStart(3, "0")).replace("T", " ");
  return text.slice(0, lengths[digits] || 26) + (aware && !zone && digits !== "day" ? "Z" : "");
}

function delayInWords(value) {
  // as nofluke.text.numbers.show_length
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
    what: (value) => data.nouns[row.j === undefined ? "alarm" : "event"][0] + " " + thousands(value),
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
  const what = (name === "hit" ? ["hit", "hits"] : data.nouns.false)[steps === 1 ? 0 : 1];
  const from = timeInWords(series.since(first));
  const where = steps === 1 ? from : from + " to " + timeInWords(series.since(last));
  const peak = series.score && one ? ", " + (steps === 1 ? "score " : "peak score ") + number(peakOf(first, last, marked.marks)) : "";
  return (steps === 1 ? "" : thousands(steps) + " ") + what + ": " + where + peak + (one ? "" : "; zoom in to tell them apart");
}

function eventInWords([, , first, last, many], marked) {
  if (many > 1) return thousands(many) + " " + data.nouns.event[1] + " from " + timeInWords(series.begin[first]) + " to " + timeInWords(series.begin[last]) + "; zoom in to tell them apart";
  const alarm = marked.nearest[first];
  const unit = data.events.unit === "steps" ? " steps" : data.events.unit === "clock" ? " time units" : "";
  const near = alarm < 0 ? "no " + data.nouns.alarm[0] : data.nouns.alarm[0] + " at " + timeInWords(series.since(alarm)) + ", delay " + delayInWords(delayOf(first, alarm)) + unit;
  const until = series.steps ? " to " + timeInWords(series.end[first]) : "";
  return data.nouns.event[0] + " " + thousands(first + 1) + ": " + timeInWords(series.begin[first]) + until + "\n" + (marked.found[first] ? "found; " : "missed; nearest ") + near;
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
  const several = (many, [one, more]) => thousands(many) + " " + (many === 1 ? one : more);
  const steps = all.reduce((sum, row) => sum + (row.steps || 0), 0);
  const stretches = thousands(count(2)) + (count(2) === 1 ? " stretch" : " stretches");
  const wrong = line.points || line.episodes ? several(count(2), data.nouns.false) : several(steps, ["false step", "false steps"]) + " in " + stretches;
  const counted = several(count(0) + count(1), data.nouns.event) + ": " + thousands(count(0)) + " found, " + thousands(count(1)) + " missed. " + wrong + ".";
  return counted + (rows.length === all.length ? "" : " " + several(rows.length, ["row", "rows"]) + " as filtered.");
}

function rowElement(row, marked) {
  const [name, ...texts] = rowInWords(row, marked);
  const head = made("th", undefined, { scope: "row" });
  head.append(made("button", name, { type: "button", title: "Show it in the timeline" }));
  const element = made("tr", undefined, { "data-outcome": OUTCOMES[row.outcome] });
  element.append(head, ...texts.map((text) => made("td", text)));
  element.addEventListener("click", () => zoomTo(row, marked));
  for (const [event, of] of [["pointerenter", row], ["focusin", row], ["pointerleave", null], ["focusout", null]]) element.addEventListener(event, () => lightMark(of, marked));
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

function offsetAt(ticks) {
  // where times are local, a file says by how much each is ahead of UTC
  if (!line.x.zone || line.x.digits === "day") return "";
  const minutes = aheadIn(line.x.zone, series.place(ticks)) / MINUTE;
  const two = (value) => String(Math.floor(Math.abs(value))).padStart(2, "0");
  return (minutes < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60);
}

function eventsCsv() {
  const marked = marksAt(state.d, state.k);
  const names = { what: "number", outcome: "outcome", from: "from", to: "to", steps: "steps", delay: "delay", alarm: "nearest_alarm", score: "score" };
  const unit = data.events.unit === "clock" ? "" : "_" + data.events.unit;
  const time = (value) => (line.x.kind === "dates" ? timeInWords(value).replace(" ", "T") + offsetAt(value) : series.place(value));
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
