// A leaderboard: sorting, filtering, and the numbers of single cells. Nothing is computed here: every number was evaluated beforehand.

function openBoard(data) {
// numbers as they are written everywhere else
const dash = "–";
function share(value) {
  if (value === null) return "undefined";
  if (Number.isInteger(value)) return String(value);
  for (let digits = 3; digits < 7; digits++) {
    const text = value.toFixed(digits);
    if (!Number.isInteger(Number(text))) return text;
  }
  return value.toExponential(2);
}
function number(value) {
  if (value === null) return dash;
  if (Number.isInteger(value)) return value.toLocaleString("en-GB");
  return String(Number(value.toPrecision(4)));
}
function power(digits, exponent) {
  return digits + "e-" + String(-exponent).padStart(2, "0");
}
function pvalue(value, log10) {
  if (value === null) return dash;
  if (value < 1e-300) {
    if (log10 === null || log10 === undefined) return "< 1e-300";
    const digits = (10 ** (log10 - Math.floor(log10))).toFixed(1);
    return digits === "10.0" ? power("1.0", Math.floor(log10) + 1) : power(digits, Math.floor(log10));
  }
  if (value < 0.001) return value.toExponential(1).replace(/e-(\d)$/, "e-0$1");
  return String(Number(value.toPrecision(value < 0.9995 ? 2 : 4)));
}

// the table
function sortBy(head, index) {
  const board = head.closest("table"), body = one("tbody", board), was = head.getAttribute("aria-sort");
  const up = was ? was === "descending" : head.dataset.first === "up";
  for (const other of all("th[aria-sort]", board)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => row.cells[index].dataset.v;
  const compare = (a, b) => {
    if (key(a) === "" || key(b) === "") return (key(a) === "") - (key(b) === ""); // what is undefined comes last
    const order = isNaN(key(a)) || isNaN(key(b)) ? key(a).localeCompare(key(b), undefined, { numeric: true }) : key(a) - key(b);
    return up ? order : -order;
  };
  body.append(...[...body.rows].sort(compare));
}
function filter() {
  const part = one("#find").value.toLowerCase(), verdict = one("#only").value, best = one("#best").checked;
  let count = 0;
  const rows = one("#board tbody").rows;
  for (const row of all(".board tbody tr")) {
    row.hidden = !(
      row.dataset.name.toLowerCase().includes(part) && (!verdict || row.dataset.verdict === verdict) && (!best || "best" in row.dataset)
    );
  }
  for (const row of rows) count += !row.hidden;
  one("#count").textContent = count === rows.length ? "" : count + " of " + rows.length + " detectors";
}

// one cell of a map
function at(column, row) {
  const values = data.cells[column];
  if (!values) return null;
  if (values.text) return data.texts[values.text[row]];
  if (values.list) return values.list[row].map((place) => data.texts[place]);
  return values.number[row];
}
function told(i, j) {
  const group = data.groups[data.group_of[j]];
  const place = data.detectors[i] + " on " + data.columns[j] + (group === data.columns[j] ? "" : " (" + group + ")");
  if (data.kind === "groups") {
    const counts = data.words.map((word, k) => (data.signs[word] || word) + " " + number(data.counts[i][j][k])).reverse().join(", ");
    return place + ": " + counts + ".";
  }
  const row = data.rows[i][j];
  if (row < 0) return place + ": missing. " + why(i, j);
  return place + ": " + (data.signs[data.words[data.codes[i][j]]] || "missing") + ", F1 " + share(at("f1", row)) + ", chance " + share(at("f1_at_chance", row)) + ".";
}
const why = (i, j) => data.texts[data.reasons[i + "," + j]] || "It was not evaluated.";

function table(heads, rows) {
  const element = made("table"), head = element.createTHead().insertRow();
  for (const text of heads) head.append(made("th", text, { scope: "col" }));
  const body = element.createTBody();
  for (const [name, ...cells] of rows) {
    const row = body.insertRow();
    row.append(made("th", name, { scope: "row" }), ...cells.map((text) => made("td", text)));
  }
  const box = made("div", undefined, { class: "scroll" });
  box.append(element);
  return box;
}
function facts(pairs) {
  const list = made("dl", undefined, { class: "how" });
  for (const [name, value] of pairs) list.append(made("dt", name), made("dd", value));
  return list;
}
const LABELS = {
  n: "steps", threshold: "alarms from a score of", tolerance: "tolerance", count_events: "events are counted as", near_events: "steps near an event",
  near_predictions: "steps near an alarm", false_alarms: "false alarms", delay: "median delay (steps, or seconds where there is a clock)", null: "null", doubts: "doubts about the null",
};
function verdictOf(word, reason) {
  const said = made("p", undefined, { class: "answer", "data-verdict": word });
  said.append(made("strong", data.signs[word]), " " + reason);
  return said;
}
const SAID = ["f1", "f1_at_chance", "verdict", "reason", "notes", "n_events", "n_predictions", "holds", "seed", "n_resamples"];
function numbersOf(i, j) {
  const group = data.groups[data.group_of[j]];
  const where = made("p", group && group !== data.columns[j] ? "Group: " + group : "", { class: "lead" });
  const value = data.values[i][j];
  if (data.kind === "groups") {
    const counts = data.words.map((word, k) => [data.signs[word] || word, number(data.counts[i][j][k])]).reverse();
    return [facts([...counts, ["F1 of sums, corrected for chance", share(value)]])];
  }
  const row = data.rows[i][j];
  if (row < 0) return [where, made("p", "There is no result: " + why(i, j), { class: "warning" })];
  const count = (side) => at(side + "_hits", row) + " of " + at(side === "precision" ? "n_predictions" : "n_events", row);
  const chance = (side) => number(at(side + "_expected", row)) + " ± " + number(at(side + "_std", row));
  const p = (side) => pvalue(at(side + "_pvalue", row), at(side + "_log10_pvalue", row));
  const measures = ["precision", "recall"].map((side) => [
    side, share(at(side, row)), count(side), chance(side), p(side), at(side + "_method", row),
  ]);
  measures.push(["F1", share(at("f1", row)), "", share(at("f1_at_chance", row)), "", ""]);
  const shown = [where, verdictOf(at("verdict", row), at("reason", row)), table(["", "value", "hits", "chance’s hits", "p", "method"], measures)];
  const names = Object.keys(data.cells);
  const metrics = names.filter((name) => names.includes(name + "_verdict"));
  if (metrics.length) {
    const line = (name) => [name, number(at(name, row)), number(at(name + "_expected", row)) + " ± " + number(at(name + "_std", row)), pvalue(at(name + "_pvalue", row)), data.signs[at(name + "_verdict", row)]];
    shown.push(table(["", "value", "chance", "p", "verdict"], metrics.map(line)));
  }
  const other = names.filter((name) => !SAID.includes(name) && !["precision", "recall", ...metrics].some((m) => name === m || name.startsWith(m + "_")));
  const text = (content) => (typeof content === "number" || content === null ? number(content) : String(content));
  const rest = [["F1 corrected for chance", share(value)], ...other.map((name) => [LABELS[name] || name.replaceAll("_", " "), text(at(name, row))])];
  if (at("holds", row) === 0) rest.push(["null", "does not hold for these data"]);
  if (at("n_resamples", row) > 0) rest.push(["resamples", number(at("n_resamples", row))], ["seed", String(at("seed", row))]);
  shown.push(facts(rest));
  const notes = at("notes", row) || [];
  if (notes.length) {
    const list = made("ul", undefined, { class: "sentences" });
    list.append(...notes.map((note) => made("li", note)));
    shown.push(list);
  }
  return shown;
}

// the dialog; arrow keys go on to the next cell
let turn = null;
function open(title, content, onArrow) {
  one("#cell-title").textContent = title;
  one("#cell-body").replaceChildren(...content);
  turn = onArrow;
  if (!one("#cell").open) one("#cell").showModal();
}
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

// a place that moves over rows and columns by keys and pointer
function grid(box, size, seek, mark, tell) {
  const place = { i: 0, j: 0 };
  const go = (i, j) => {
    place.i = Math.min(Math.max(i, 0), size[0] - 1);
    place.j = Math.min(Math.max(j, 0), size[1] - 1);
    mark(place.i, place.j);
  };
  const show = () => tell(place.i, place.j, (key) => { go(place.i + STEPS[key][0], place.j + STEPS[key][1]); show(); });
  box.addEventListener("focus", () => { if (box.matches(":focus-visible")) mark(place.i, place.j); });
  box.addEventListener("keydown", (event) => {
    const far = { Home: [place.i, 0], End: [place.i, size[1] - 1], PageUp: [0, place.j], PageDown: [size[0] - 1, place.j] }[event.key];
    if (event.key in STEPS) go(place.i + STEPS[event.key][0], place.j + STEPS[event.key][1]);
    else if (far) go(...far);
    else if (event.key === "Enter" || event.key === " ") show();
    else return;
    event.preventDefault();
  });
  box.addEventListener("pointermove", (event) => { const found = seek(event); if (found) go(...found); });
  box.addEventListener("click", (event) => { const found = seek(event); if (found) { go(...found); show(); } });
}

function startMap(figure) {
  const box = one(".grid", figure), svg = one("svg", box), inner = one("svg", svg), cursor = one(".cursor", svg);
  const size = [data.detectors.length, data.columns.length];
  const seek = (event) => {
    const area = inner.getBoundingClientRect();
    const i = Math.floor(((event.clientY - area.top) / area.height) * size[0]), j = Math.floor(((event.clientX - area.left) / area.width) * size[1]);
    return i < 0 || j < 0 || i >= size[0] || j >= size[1] ? null : [i, j];
  };
  const mark = (i, j) => {
    const top = Number(inner.getAttribute("y")), tall = Number(inner.getAttribute("height")) / size[0], wide = 100 / size[1];
    for (const [name, value] of [["x", wide * j + "%"], ["width", wide + "%"], ["y", top + tall * i], ["visibility", "visible"]]) cursor.setAttribute(name, value);
    const x = (j / size[1]) * svg.clientWidth, end = ((j + 1) / size[1]) * svg.clientWidth;
    if (x < box.scrollLeft) box.scrollLeft = x;
    else if (end > box.scrollLeft + box.clientWidth) box.scrollLeft = end - box.clientWidth;
    one("#at").textContent = told(i, j);
  };
  grid(box, size, seek, mark, (i, j, more) => open(data.detectors[i] + " on " + data.columns[j], numbersOf(i, j), more));
}
function zoom(by) {
  for (const box of all("#map .grid")) {
    const svg = one("svg", box), least = parseFloat(box.style.getPropertyValue("--least"));
    const wide = Math.max(svg.clientWidth * by, Math.min(least, box.clientWidth) / 4);
    svg.style.width = by < 1 && wide <= box.clientWidth ? "" : Math.min(wide, data.columns.length * 40) + "px";
    svg.style.minWidth = svg.style.width ? "0" : "";
  }
}

function difference(measure, i, j) {
  const matrix = data.pairs[measure], value = matrix.difference[i][j], corrected = matrix.corrected[i][j];
  if (value === null) return ["untold", dash];
  const text = (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2).replace(/^0/, "");
  if (corrected === null || corrected > data.alpha) return ["untold", text];
  return value > 0 !== data.lower.includes(measure) ? ["up", "▲" + text] : ["down", "▼" + text];
}
function startPairs() {
  const names = { f1: "F1", precision: "precision", recall: "recall" }, n = data.detectors.length, choice = one("#measure");
  const measures = Object.keys(data.pairs), rows = [...one("#pairs-table tbody").rows];
  for (const measure of measures) choice.append(made("option", names[measure] || measure, { value: measure }));
  choice.value = data.rank_by;
  choice.addEventListener("change", () => {
    rows.forEach((row, i) => [...row.cells].slice(1).forEach((cell, j) => {
      if (i !== j) [cell.className, cell.textContent] = difference(choice.value, i, j);
    }));
  });
  const seek = (event) => {
    const cell = event.target.closest("tbody td");
    return cell && !cell.classList.contains("same") ? [cell.parentNode.rowIndex - 1, cell.cellIndex - 1] : null;
  };
  const mark = (i, j) => {
    for (const cell of all("#pairs-table .here")) cell.classList.remove("here");
    rows[i].cells[j + 1].classList.add("here");
    rows[i].cells[j + 1].scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const number = (measure, name, i, j) => data.pairs[measure][name][i][j];
  const signed = (value) => (value === null ? dash : (value < 0 ? "−" : "+") + share(Math.abs(value)));
  grid(one("#pairs .grid"), [n, n], seek, mark, (i, j, more) => {
    const lines = measures.map((m) => [
      names[m] || m, signed(number(m, "difference", i, j)),
      number(m, "low", i, j) === null ? dash : signed(number(m, "low", i, j)) + " to " + signed(number(m, "high", i, j)),
      pvalue(number(m, "pvalue", i, j)), pvalue(number(m, "corrected", i, j)),
    ]);
    const content = i === j ? made("p", "A detector does not differ from itself.") : table(["", "difference", "interval", "p", "corrected"], lines);
    open(data.detectors[i] + " minus " + data.detectors[j], [content], more);
  });
}

function start() {
  for (const form of all(".filters")) form.hidden = false;
  all(".board thead tr:last-child th").forEach((head) => {
    const index = head.cellIndex;
    const button = made("button", head.textContent, { type: "button", "aria-label": "Sort by " + head.dataset.called });
    head.dataset.columns ||= head.dataset.called; // of a file
    head.replaceChildren(button);
    button.addEventListener("click", () => sortBy(head, index));
  });
  for (const name of ["find", "only", "best"]) one("#" + name).addEventListener("input", filter);
  const figures = { verdict: one("#map-verdict"), value: one("#map-value") };
  figures.value.hidden = true;
  for (const radio of all("[name=show]")) {
    radio.addEventListener("change", () => { for (const name in figures) figures[name].hidden = name !== radio.value; });
  }
  for (const button of all("[data-zoom]")) button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
  for (const figure of Object.values(figures)) startMap(figure);
  one("#at").hidden = false;
  if (data.pairs) startPairs();
  const dialog = one("#cell");
  one("#close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("keydown", (event) => { if (turn && event.key in STEPS) { turn(event.key); event.preventDefault(); } });
  startStill(data.figures);
  let closed = [];
  onPrint((printing) => {
    // nothing on paper can be opened
    if (printing) closed = all("details:not([open], .many)");
    for (const element of closed) element.open = printing;
  });
  addDownloads(one("main"));
  document.documentElement.dataset.ready = "yes";
}
start();
}
opened(openBoard);
