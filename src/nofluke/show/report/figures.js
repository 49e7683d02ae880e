// The figures: lines and bars of what lies in the cells.

const SIDES = ["precision", "recall"];
const MOST_NINES = 16; // p below 1e-16 have one colour
let paper = false; // whether a page is being printed

function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["paper", "ink", "soft", "line", "tint", "band", "cold", "observed", "chance", "good", "bad"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
}

function sizeOf(id) {
  const box = document.getElementById(id);
  if (!paper) return { width: box.clientWidth, height: box.clientHeight };
  if (id === "timeline") return { width: 680, height: 230 };
  return { width: box.closest(".three") ? 262 : 325, height: 190 }; // three beside each other are made smaller by the style sheet
}

function axis(title, more) {
  const c = colours();
  return {
    title: { text: title, font: { size: 12, color: c.soft }, standoff: 6 },
    tickfont: { size: 11, color: c.soft },
    gridcolor: c.line, linecolor: c.line, zeroline: false, fixedrange: true, automargin: true, ...more,
  };
}

function wholeTicks(length) {
  // whole numbers only: half ones would be written as the next whole one
  return length <= 8 ? { tick0: 0, dtick: 1 } : {};
}

function draw(id, traces, xaxis, yaxis, more) {
  const c = colours();
  const layout = {
    ...sizeOf(id), paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "closest",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: c.ink },
    margin: { l: 48, r: 10, t: 8, b: 40 }, dragmode: false, hoverlabel: { bgcolor: c.tint, bordercolor: c.line, font: { color: c.ink } },
    xaxis, yaxis, ...more,
  };
  document.querySelector("#" + id + " > .static")?.remove(); // in its place
  return Plotly.react(id, traces, layout, { displayModeBar: false, displaylogo: false, showTips: false, doubleClick: false });
}

function valueRange(name) {
  // the same for all slider positions, so that heights can be compared
  const seen = data.cells.flat().flatMap((cell) => [cell[name].value, share(cell[name], "high"), share(cell[name], "mean")]);
  const most = Math.max(...seen.map((value) => value || 0));
  return [0, most > 0 ? Math.min(1.12 * Math.max(most, 0.01), 1.04) : 1.04];
}

function positionRange() {
  const at = data.thresholds.map((threshold) => threshold.position);
  const pad = 0.03 * (Math.max(...at) - Math.min(...at)) || 0.5;
  const [least, most] = data.column === "lag" ? [-Infinity, Infinity] : [-0.03, 1.03]; // quantiles
  return [Math.max(Math.min(...at) - pad, least), Math.min(Math.max(...at) + pad, most)];
}

const columnLabel = (k) => (data.column === "lag" ? "lag: " : "") + data.thresholds[k].label;
const share = (side, name) => (side.of ? side[name] / side.of : null);
const ring = (x, y, c) => ({
  x: [x], y: [y], mode: "markers", hoverinfo: "skip", cliponaxis: false, marker: { size: 15, color: "rgba(0,0,0,0)", line: { color: c.ink, width: 2 } },
});

function drawByThreshold(name) {
  const c = colours();
  const cells = data.cells[state.d].map((cell) => cell[name]);
  const x = data.thresholds.map((threshold) => threshold.position);
  const line = (of, more) => ({ x, y: cells.map((side) => share(side, of)), mode: "lines", hoverinfo: "skip", ...more });
  const lines = x.length > 1 ? "lines+markers" : "markers";
  draw(
    "threshold-" + name,
    [
      line("low", { line: { width: 0 } }),
      line("high", { line: { width: 0 }, fill: "tonexty", fillcolor: c.band }),
      line("mean", { line: { color: c.chance, dash: "dash", width: 2 } }),
      { ...line("band", { line: { color: c.ink, dash: "dot", width: 1.5 } }), y: cells.map((s) => (s.band === null || !s.of || s.band > s.of ? null : s.band / s.of)) },
      {
        x, y: cells.map((side) => side.value), mode: lines, line: { color: c.observed, width: 2.5 }, marker: { size: 5, color: c.observed },
        text: data.thresholds.map((_, k) => columnLabel(k) + "<br>" + name + " " + cells[k].text.value + ", p " + cells[k].text.p),
        hovertemplate: "%{text}<extra></extra>",
      },
      ring(x[state.k], cells[state.k].value, c),
    ],
    axis(data.axis.curve, { range: positionRange(), showticklabels: data.movable, nticks: 6 }),
    axis("", { range: valueRange(name) }),
  );
}

function drawCurve() {
  const c = colours();
  const cells = data.cells[state.d];
  const x = cells.map((cell) => cell.recall.value);
  const y = cells.map((cell) => cell.precision.value);
  draw(
    "curve",
    [
      {
        x: cells.map((cell) => share(cell.recall, "mean")), y: cells.map((cell) => share(cell.precision, "mean")), mode: "lines+markers",
        line: { color: c.chance, dash: "dash", width: 2 }, marker: { size: 4, color: c.chance }, hoverinfo: "skip",
      },
      {
        x, y, mode: "lines+markers", line: { color: c.observed, width: 2.5 }, marker: { size: 5, color: c.observed },
        text: data.thresholds.map((t, k) => t.label + "<br>precision " + cells[k].precision.text.value + ", recall " + cells[k].recall.text.value),
        hovertemplate: "%{text}<extra></extra>",
      },
      ring(x[state.k], y[state.k], c),
    ],
    axis("recall", { range: [-0.03, 1.04] }),
    axis("precision", { range: valueRange("precision") }),
  );
}

function drawByTolerance(name) {
  const c = colours();
  const cells = data.cells.map((row) => row[state.k][name]);
  const x = cells.map((_, d) => d);
  const names = data.tolerances.map((t) => t.short.replace(" / ", "<br>"));
  const room = (sizeOf("tolerance-" + name).width - 60) / x.length;
  const every = Math.ceil((7 * Math.max(...names.map((text) => Math.max(...text.split("<br>").map((part) => part.length)))) + 4) / room);
  const ticks = x.filter((d) => (d - data.chosen[0]) % every === 0); // the evaluated one has a tick
  draw(
    "tolerance-" + name,
    [
      {
        x, y: cells.map((side) => share(side, "mean")), type: "bar", width: 0.7, marker: { color: c.band, line: { color: c.chance, width: x.map((d) => (d === state.d ? 2.5 : 1)) } },
        text: cells.map((side) => "chance " + side.text.chance_share), textposition: "none", hovertemplate: "%{text}<extra></extra>",
      },
      {
        x, y: cells.map((side) => side.value), mode: "lines+markers", line: { color: c.observed, width: 2.5 }, marker: { size: 7, color: c.observed },
        text: cells.map((side) => name + " " + side.text.value + ", p " + side.text.p), hovertemplate: "%{text}<extra></extra>",
      },
      ring(state.d, cells[state.d].value, c),
    ],
    axis(data.axis.tolerance, { tickvals: ticks, ticktext: ticks.map((d) => names[d]), range: [-0.6, x.length - 0.4], tickangle: 0 }),
    axis("", { range: valueRange(name) }),
  );
}

function drawNull(name) {
  const c = colours();
  const side = cellAt(state.d, state.k)[name];
  const { first, step, chance, binomial } = side.law;
  const x = chance.map((_, i) => first + i * step);
  const top = Math.max(...chance, ...binomial) * 1.12;
  const range = nullRange(x, side.hits);
  const fine = chance.length > 80 || (range[1] - range[0]) / step > 150; // bars too thin for their outlines
  draw(
    "null-" + name,
    [
      fine
        ? { x, y: chance, mode: "lines", line: { color: c.chance, width: 1.5 }, fill: "tozeroy", fillcolor: c.band, hovertemplate: "P(%{x} hits) = %{y:.3g}<extra></extra>" }
        : { x, y: chance, type: "bar", width: step, marker: { color: c.band, line: { color: c.chance, width: 1 } }, hovertemplate: "P(%{x} hits) = %{y:.3g}<extra></extra>" },
      { x, y: binomial, mode: "lines", line: { color: c.ink, dash: "dash", width: 1.5, shape: fine ? "linear" : "hvh" }, hoverinfo: "skip" },
      { x: [side.hits, side.hits], y: [0, top / 1.05], mode: "lines", line: { color: c.observed, width: 3 }, hovertemplate: "observed " + side.hits + "<extra></extra>" },
    ],
    axis("hits", { range, tickformat: ",d", ...wholeTicks(range[1] - range[0]) }),
    axis("probability", { range: [0, top], tickformat: ".2~g", nticks: 5 }),
  );
}

function nullRange(x, hits) {
  const low = Math.min(x[0], hits);
  const high = Math.max(x[x.length - 1], hits);
  const pad = Math.max((high - low) * 0.04, 0.8);
  return [low - pad, high + pad];
}

function outline(name) {
  // around cells that stay significant: the sides between such a cell and one that is none
  const rows = data.cells.length;
  const columns = data.thresholds.length;
  const is = (d, k) => d >= 0 && k >= 0 && d < rows && k < columns && data.cells[d][k][name].remains;
  const x = [];
  const y = [];
  const side = (x0, y0, x1, y1) => { x.push(x0, x1, null); y.push(y0, y1, null); };
  for (let d = 0; d < rows; d++) {
    for (let k = 0; k < columns; k++) {
      if (!is(d, k)) continue;
      if (!is(d - 1, k)) side(k - 0.5, d - 0.5, k + 0.5, d - 0.5);
      if (!is(d + 1, k)) side(k - 0.5, d + 0.5, k + 0.5, d + 0.5);
      if (!is(d, k - 1)) side(k - 0.5, d - 0.5, k - 0.5, d + 0.5);
      if (!is(d, k + 1)) side(k + 0.5, d - 0.5, k + 0.5, d + 0.5);
    }
  }
  return { x, y };
}

const nines = (p) => Math.min(-Math.log10(Math.max(p, 1e-300)), MOST_NINES) + 0; // no negative zero

function heatScale() {
  // from 1 to the smallest p on either map: whoever compares them sees the same colours
  const smallest = Math.min(0.05, ...data.cells.flat().flatMap((cell) => SIDES.map((name) => (cell[name].of ? cell[name].p : 1))));
  const top = nines(smallest);
  const powers = Array.from({ length: 5 }, (_, i) => 10 ** (-i * Math.ceil(top / 4)));
  const ticks = (top < 2 ? [1, 0.5, 0.2, 0.1, 0.05, 0.02] : powers).filter((p) => nines(p) <= top + 1e-9 && p > 1e-17);
  const text = (p) => (smallest < 1e-16 && p < 2e-16 ? "≤ " : "") + (p < 9e-4 ? "1e" + Math.round(Math.log10(p)) : String(Number(p.toPrecision(2))));
  return { zmin: 0, zmax: top, tickvals: ticks.map(nines), ticktext: ticks.map(text) };
}

function undefinedCells(name, c) {
  const x = [];
  const y = [];
  data.cells.forEach((row, d) => row.forEach((cell, k) => { if (!cell[name].of) { x.push(k); y.push(d); } }));
  return { x, y, mode: "markers", hoverinfo: "skip", marker: { size: 6, symbol: "x-thin", color: c.soft, line: { color: c.soft, width: 1 } } };
}

function drawHeat(name) {
  const c = colours();
  const { zmin, zmax, tickvals, ticktext } = heatScale();
  const z = data.cells.map((row) => row.map((cell) => (cell[name].of ? nines(cell[name].p) : null)));
  const text = data.cells.map((row, d) => row.map((cell, k) =>
    "tolerance " + data.tolerances[d].label + "<br>" + columnLabel(k) + "<br>" +
    (cell[name].of ? "p " + cell[name].text.p + ", corrected " + cell[name].text.corrected : name + " is undefined")));
  const every = Math.ceil(data.thresholds.length / (sizeOf("heat-" + name).width < 420 ? 5 : 8));
  const ticks = data.thresholds.map((_, k) => k).filter((k) => (k - data.chosen[1]) % every === 0); // the evaluated one has a tick
  draw(
    "heat-" + name,
    [
      {
        z, text, type: "heatmap", zmin, zmax, colorscale: [[0, c.cold], [1, c.chance]], xgap: 1, ygap: 1, hovertemplate: "%{text}<extra></extra>",
        colorbar: { title: { text: "p", font: { size: 12, color: c.soft } }, tickvals, ticktext, thickness: 10, outlinewidth: 0, tickfont: { size: 11, color: c.soft }, xpad: 4 },
      },
      undefinedCells(name, c),
      { ...outline(name), mode: "lines", line: { color: c.ink, width: 1.5 }, hoverinfo: "skip" },
      { x: [state.k], y: [state.d], mode: "markers", hoverinfo: "skip", marker: { size: 12, symbol: "circle-open", color: c.observed, line: { width: 3 } } },
    ],
    axis(data.axis.map, { tickvals: ticks, ticktext: ticks.map((k) => data.thresholds[k].short), showgrid: false, tickangle: 0, range: [-0.6, data.thresholds.length - 0.4] }),
    axis(data.axis.tolerance, { tickvals: data.tolerances.map((_, d) => d), ticktext: data.tolerances.map((t) => t.short), showgrid: false, range: [-0.6, data.tolerances.length - 0.4] }),
  );
}

function drawLag() {
  if (!data.lags.length) return; // they are on a slider
  const c = colours();
  const { lag } = cellAt(state.d, state.k);
  const line = (name, more) => ({ x: data.lags, y: lag[name], mode: "lines+markers", marker: { size: 5, color: more.color }, line: { width: 2.5, ...more }, hovertemplate: "shift %{x}: %{y} hits<extra></extra>" });
  draw(
    "lag",
    [line("precision", { color: c.observed }), line("recall", { color: c.chance, dash: "dash" })],
    axis(data.lag_title, data.lags.every(Number.isInteger) ? wholeTicks(2 * data.lags[data.lags.length - 1]) : {}),
    axis("hits", { rangemode: "tozero", ...wholeTicks(Math.max(...lag.precision, ...lag.recall)) }),
    { shapes: [{ type: "line", x0: 0, x1: 0, y0: 0, y1: 1, yref: "y domain", line: { color: c.soft, width: 1, dash: "dot" } }] },
  );
}

function drawDelay() {
  const c = colours();
  const { at, counts, unit, step } = cellAt(state.d, state.k).delay;
  const span = at.length ? at[at.length - 1] - at[0] : 0;
  // as wide as a step where that can be seen, and never into the next bar
  const width = 0.85 * Math.min(Math.max(step, span / 50), ...at.slice(1).map((value, i) => value - at[i]));
  draw(
    "delay",
    [{ x: at, y: counts, type: "bar", width, marker: { color: c.good }, hovertemplate: "%{x} " + unit + ": %{y} " + data.noun + "s<extra></extra>" }],
    axis("delay in " + unit + "; negative is early", at.length ? { nticks: 9, ...(at.every(Number.isInteger) ? wholeTicks(span + 2 * width) : {}) } : { showticklabels: false }),
    axis(data.noun + "s", { rangemode: "tozero", tickformat: ",d", nticks: 6, ...wholeTicks(Math.max(...counts, 0)) }),
  );
}

function drawMetric({ value, perfect, edges, heights, height, text }, i) {
  const c = colours();
  const at = heights.map((_, j) => (edges[j] + edges[j + 1]) / 2);
  const top = Math.max(...heights, 0.01) * 1.12;
  const ends = [...edges, ...(value === null ? [] : [value])];
  const low = Math.min(...ends);
  const high = Math.max(...ends);
  // a value near the perfect one should be seen to be near it
  const range = perfect !== null && high > perfect - 0.15 * Math.max(Math.abs(perfect), 1) ? [low, Math.max(high, perfect)] : [low, high];
  const pad = 0.04 * (range[1] - range[0]) || 0.05;
  const observed = { x: [value, value], y: [0, top / 1.05], mode: "lines", line: { color: c.observed, width: 3 }, hovertemplate: "observed " + text + "<extra></extra>" };
  draw(
    "metric-" + i,
    [
      {
        x: at, y: heights, type: "bar", width: at.map((_, j) => edges[j + 1] - edges[j]), marker: { color: c.band, line: { color: c.chance, width: 1 } },
        text: at.map((_, j) => edges[j].toPrecision(3) + " to " + edges[j + 1].toPrecision(3)), textposition: "none", hovertemplate: "%{text}: %{y:.1%} of chance<extra></extra>",
      },
      ...(value === null ? [] : [observed]),
    ],
    axis("", ends.length ? { range: [range[0] - pad, range[1] + pad], nticks: 6 } : { showticklabels: false }),
    axis(height, { range: [0, top], tickformat: ".2~g", nticks: 5 }),
  );
}

function drawAll(printing) {
  if (closing.signal.aborted) return; // another page may stand here by now
  paper = printing === true;
  drawTimeline();
  drawEvents();
  for (const name of SIDES) {
    drawByThreshold(name);
    drawByTolerance(name);
    drawNull(name);
    drawHeat(name);
  }
  drawCurve();
  drawLag();
  drawDelay();
  data.metrics.forEach(drawMetric);
}

function listen() {
  const on = (id, choose) => document.getElementById(id).on("plotly_click", (event) => choose(event.points[0]));
  for (const name of SIDES) {
    on("heat-" + name, (point) => select(Math.round(point.y), Math.round(point.x)));
    on("threshold-" + name, (point) => select(state.d, point.pointNumber));
    on("tolerance-" + name, (point) => select(point.pointNumber, state.k));
  }
  on("curve", (point) => select(state.d, point.pointNumber));
  let width = document.body.clientWidth;
  const resized = new ResizeObserver(() => {
    if (document.body.clientWidth === width || paper) return;
    width = document.body.clientWidth;
    requestAnimationFrame(() => drawAll());
  });
  resized.observe(document.body);
  closing.signal.addEventListener("abort", () => resized.disconnect());
}
