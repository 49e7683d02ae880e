// State, sliders and text.

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
  for (const element of all("[data-text]")) {
    const value = element.dataset.text.split(".").reduce((part, name) => part[name], values);
    if (element.textContent !== value) element.textContent = value;
  }
  const cell = cellAt(state.d, state.k);
  for (const element of all("[data-verdict]")) {
    element.dataset.verdict = cell.verdict;
    element.toggleAttribute("data-doubtful", cell.doubtful);
  }
  for (const table of all("[data-matrix]")) {
    const matrix = cell.matrices[table.dataset.matrix];
    all("tbody td", table).forEach((entry, i) => {
      entry.textContent = matrix.entries[i];
      entry.className = matrix.readable[i] ? "read" : "unread";
    });
  }
  document.getElementById("strip-stays").hidden = state.d === data.chosen[0] && state.k === data.chosen[1];
  sliders.d.value = state.d;
  sliders.k.value = state.k;
  sliders.d.setAttribute("aria-valuetext", values.tolerance);
  sliders.k.setAttribute("aria-valuetext", values.threshold + ", " + values.predictions + " " + data.nouns.prediction[1]);
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
  for (const button of all("[data-move]")) button.addEventListener("click", () => moveTimeline(button.dataset.move));
  showText();
  reserve();
  drawAll();
  listen();
  startMenu();
  addDownloads(document.getElementById("how").parentElement);
  startLinks();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll, listening);
  onPrint(drawAll, listening);
  openSeries().then(() => {
    if (closing.signal.aborted) return;
    openTimeline();
    openEvents();
    document.documentElement.dataset.ready = "yes";
  });
  return { state, select, setView, marksAt, eventsCsv, get series() { return series; }, get view() { return view; }, close: () => closing.abort() };
}
