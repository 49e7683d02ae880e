// What all pages share: unpacking, charts out of descriptions (kit/figure.py says what is in one), and hints for the pointer.

const one = (query, root = document) => root.querySelector(query);
const all = (query, root = document) => [...root.querySelectorAll(query)];
const quiet = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function made(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text; // text, never markup: names come from the data
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

async function inflated(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i); // a function for each letter takes ten times as long
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}
const unpackedJson = async (text) => JSON.parse(new TextDecoder().decode(await inflated(text)));

function opened(start) {
  // the numbers of the page, handed to what brings it to life; a browser that cannot unpack them keeps the page as it is
  if (typeof DecompressionStream === "undefined") {
    const note = made("p", "This browser is too old to move the sliders and to sort. All numbers and figures here are as evaluated.", { class: "warning" });
    one("main").prepend(note);
    for (const hidden of all(".plot > noscript")) hidden.parentElement.innerHTML = hidden.textContent;
    document.documentElement.classList.remove("opening");
    return;
  }
  // what is seen first is painted first: what stands below is laid out, and numbers are unpacked, after that
  const painted = document.hidden ? Promise.resolve() : new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
  painted.then(async () => {
    document.documentElement.classList.remove("opening");
    start(await unpackedJson(document.getElementById("data").textContent));
  });
}

// figures that stay as they are
function drawStill(figures, printing) {
  for (const [id, described] of Object.entries(figures)) {
    const box = document.getElementById(id);
    if (!box || !box.clientWidth) continue;
    const { tell } = described;
    const size = printing ? { width: box.closest(".three") ? 325 : 680, height: box.clientHeight } : undefined;
    drawChart(box, { ...described, size, tell: tell && { ...tell, text: (i) => tell.texts[i] } });
    pointable(box);
  }
}

function onPrint(draw, listening) {
  // paper is white, and narrower than most windows
  for (const [name, printing] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(name, () => {
      document.documentElement.classList.toggle("printing", printing);
      draw(printing);
    }, listening);
  }
}

function startStill(figures) {
  drawStill(figures);
  onPrint((printing) => drawStill(figures, printing));
  let width = document.body.clientWidth;
  new ResizeObserver(() => {
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    requestAnimationFrame(() => drawStill(figures));
  }).observe(document.body);
}

// ---- ticks: steps of 1, 2 or 5, or the divisions of calendars and clocks

function goodStep(length, most) {
  const rough = length / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return (([1, 2, 5].find((n) => n * power >= rough * (1 - 1e-9)) || 10) * power);
}

function numberTicks([low, high], most = 6, whole = false) {
  const half = high / 2 - low / 2; // the whole may be more than a float holds
  if (!(half > 0 && Number.isFinite(half))) return [];
  const step = Math.max(goodStep(half, most / 2), whole ? 1 : 0);
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  if (!(last - first <= 2 * most)) return [];
  const place = Math.floor(Math.log10(step) + 1e-9);
  const long = step < 1e-4 || Math.max(-low, high) >= 1e7;
  const text = (value) => {
    if (!long) return Number(value.toFixed(Math.max(-place, 0))).toLocaleString("en-US", { maximumFractionDigits: 10 });
    if (value === 0) return "0";
    const digits = Math.min(Math.max(Math.floor(Math.log10(Math.abs(value)) + 1e-9) - place, 0), 15);
    return String(value.toExponential(digits)).replace(/\.?0+e/, "e").replace("e+", "e");
  };
  // floats may be so coarse here that the last multiple lies beyond the axis
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step).filter((at) => at >= low - 1e-9 * step && at <= high + 1e-9 * step).map((at) => [at, text(at + 0).replace("-", "−")]);
}

const [SECOND, MINUTE, HOUR, DAY] = [1e3, 6e4, 36e5, 864e5];
const CLOCK = [...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND), ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE), ...[1, 2, 3, 6, 12].map((n) => n * HOUR), ...[1, 2, 7, 14].map((n) => n * DAY)];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// milliseconds by which local time is ahead of UTC
const aheadIn = (zone, at) => (zone ? (zone.findLast(([since]) => since <= at) || zone[0])[1] : 0);

function dateTicks([from, to], most = 8, zone = null) {
  const [low, high] = [from, to].map((at) => at + aheadIn(zone, at));
  const utc = (at) => at - aheadIn(zone, at - aheadIn(zone, at));
  if (!(high - low >= SECOND) || Math.max(-low, high) > 8e15) return [];
  const step = CLOCK.find((length) => (high - low) / length <= most);
  const places = [];
  let unit = "year";
  if (step) {
    const origin = step >= 7 * DAY ? 4 * DAY : 0; // weeks begin on Mondays, and the first day of 1970 was a Thursday
    for (let i = Math.ceil((low - origin) / step); i * step + origin <= high; i++) places.push(i * step + origin);
    unit = step >= DAY ? "day" : step >= MINUTE ? "minute" : "second";
  } else {
    const length = (high - low) / (30.44 * DAY);
    const months = [1, 2, 3, 6].find((n) => length / n <= most);
    const every = months || 12 * Math.max(goodStep(length / 12, most), 1);
    if (months) unit = "month";
    const begin = new Date(low).getUTCFullYear() * 12 + new Date(low).getUTCMonth();
    for (let m = Math.ceil(begin / every) * every; ; m += every) {
      const date = new Date(0);
      date.setUTCFullYear(Math.floor(m / 12), m % 12, 1);
      if (!(date.getTime() <= high)) break;
      if (date.getTime() >= low) places.push(date.getTime());
    }
  }
  let before = "";
  return places.map((at) => {
    const date = new Date(at);
    const [year, month, day] = [date.getUTCFullYear(), MONTHS[date.getUTCMonth()], date.getUTCDate()];
    if (unit === "year") return [utc(at), String(year)];
    const [short, full] = unit === "month" ? [month, String(year)] : unit === "day" ? [day + " " + month, String(year)]
      : [date.toISOString().slice(11, unit === "minute" ? 16 : 19), day + " " + month + " " + year];
    const text = full === before ? short : short + "\n" + full;
    before = full;
    return [utc(at), text];
  });
}

// ---- charts

const SHAPES = "http://www.w3.org/2000/svg";
const pen = made("canvas").getContext("2d");
const wideOf = (text) => Math.max(...text.split("\n").map((line) => pen.measureText(line).width)); // pixels of a label

function shape(tag, attributes, ...children) {
  const element = document.createElementNS(SHAPES, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  element.append(...children);
  return element;
}

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
const listed = (values) => (Array.isArray(values) ? values : [values]);

function rangeOf(axis, layers, name) {
  // as kit/figure.py has it
  if (axis.range) return axis.range;
  let [low, high] = [Infinity, -Infinity];
  for (const layer of layers) {
    const half = name === "x" ? Math.max(...listed(layer.width || 0), 0) / 2 : 0;
    for (const part of name === "x" ? ["x"] : ["y", "low", "high"]) {
      if (layer[part] === undefined) continue;
      for (const value of listed(layer[part])) if (known(value)) [low, high] = [Math.min(low, value - half), Math.max(high, value + half)];
    }
  }
  if (low > high) [low, high] = [0, 1];
  if (axis.zero) return [0, high > 0 ? 1.12 * high : 1];
  const pad = Math.max(0.04 * (high - low), axis.whole ? 0.8 : 0) || 0.06 * Math.abs(high) || 0.5;
  return [low - pad, high + pad];
}

function ticksOf(axis, range, most) {
  if (axis.ticks) return axis.ticks[0].map((at, i) => [at, axis.ticks[1][i]]).filter(([at]) => at >= range[0] && at <= range[1]);
  return axis.kind === "dates" ? dateTicks(range, most, axis.zone) : numberTicks(range, most, axis.whole);
}

function thinned(ticks, place, keep) {
  // as many labels as there is room for
  let [end, kept] = [-Infinity, []];
  for (const tick of ticks) {
    const wide = wideOf(tick[1]);
    const begin = place(tick[0]) - wide / 2;
    if (begin < end + 4 && tick[0] !== keep) continue;
    while (kept.length && begin < end + 4) { // the one to keep comes first
      kept.pop();
      const last = kept[kept.length - 1];
      end = last ? place(last[0]) + wideOf(last[1]) / 2 : -Infinity;
    }
    kept.push(tick);
    end = begin + wide;
  }
  return kept;
}

const LAYERS = {
  line: ({ name, x, y, dots }, sx, sy) => {
    let [path, pen, points] = ["", false, ""];
    x.forEach((at, i) => {
      if (!known(at) || !known(y[i])) { pen = false; return; }
      const place = sx(at).toFixed(1) + " " + sy(y[i]).toFixed(1);
      path += (pen ? "L" : "M" + place + "L") + place; // one on its own is a dot, since ends are round
      pen = true;
      if (dots) points += "M" + place + "h0";
    });
    return [shape("path", { class: "line " + name, d: path }), ...(dots ? [shape("path", { class: "dots " + name, d: points })] : [])];
  },
  area: ({ name, x, low, high }, sx, sy) => {
    const there = x.map((_, i) => i).filter((i) => known(low[i]) && known(high[i]));
    const points = (side, order) => order.map((i) => sx(x[i]).toFixed(1) + " " + sy(side[i]).toFixed(1));
    return there.length ? [shape("path", { class: "fill " + name, d: "M" + [...points(high, there), ...points(low, [...there].reverse())].join("L") + "z" })] : [];
  },
  bars: ({ name, x, y, width }, sx, sy) => {
    const half = x.map((_, i) => (Array.isArray(width) ? width[i] : width) / 2);
    const thin = x.length > 0 && sx(x[0] + half[0]) - sx(x[0] - half[0]) < 3;
    const path = x.map((at, i) => (y[i] > 0 ? "M" + sx(at - half[i]).toFixed(1) + " " + sy(0) + "V" + sy(y[i]).toFixed(1) + "H" + sx(at + half[i]).toFixed(1) + "V" + sy(0) + "z" : ""));
    return [shape("path", { class: "bars " + name + (thin ? " thin" : ""), d: path.join("") })];
  },
  rule: ({ name, x, y }, sx, sy, [left, top, right, bottom]) => {
    const d = x === undefined ? "M" + left + " " + sy(y) + "H" + right : "M" + sx(x) + " " + top + "V" + bottom;
    return known(x ?? y) ? [shape("path", { class: "line " + name, d })] : [];
  },
  ring: ({ name, x, y }, sx, sy) => (known(x) && known(y) ? [shape("circle", { class: "ring " + (name || ""), cx: sx(x), cy: sy(y), r: 7 })] : []),
  boxes: ({ name, spans, low, high, least = 1 }, sx, sy, [left, , right] = [-Infinity, 0, Infinity]) => {
    const path = spans.map(([a, b]) => {
      const [from, to] = [Math.max(sx(a), left), Math.min(sx(b), right)]; // never beyond the axis
      const wide = Math.max(to - from, least);
      return "M" + ((from + to - wide) / 2).toFixed(1) + " " + sy(low).toFixed(1) + "V" + sy(high).toFixed(1) + "h" + wide.toFixed(1) + "V" + sy(low).toFixed(1) + "z";
    });
    return [shape("path", { class: "fill " + name, d: path.join("") })];
  },
  cells: ({ values, remains }, sx, sy) => {
    const [levels, crosses] = [new Map(), []];
    const box = (i, j) => "M" + (sx(j - 0.5) + 0.5) + " " + (sy(i - 0.5) - 0.5) + "H" + (sx(j + 0.5) - 0.5) + "V" + (sy(i + 0.5) + 0.5) + "H" + (sx(j - 0.5) + 0.5) + "z";
    values.forEach((row, i) => row.forEach((value, j) => {
      if (value === null) crosses.push("M" + (sx(j) - 3) + " " + (sy(i) - 3) + "l6 6m0 -6l-6 6");
      else levels.set(Math.round(32 * value), (levels.get(Math.round(32 * value)) || "") + box(i, j));
    }));
    const is = (i, j) => Boolean(remains[i]?.[j]);
    let edges = "";
    for (let i = 0; i <= values.length; i++) {
      for (let j = 0; j <= values[0].length; j++) {
        if (is(i, j) !== is(i - 1, j)) edges += "M" + sx(j - 0.5) + " " + sy(i - 0.5) + "H" + sx(j + 0.5);
        if (is(i, j) !== is(i, j - 1)) edges += "M" + sx(j - 0.5) + " " + sy(i - 0.5) + "V" + sy(i + 0.5);
      }
    }
    return [
      ...[...levels].map(([level, d]) => shape("path", { class: "fill warm", d, "fill-opacity": 0.06 + (0.94 * level) / 32 })),
      shape("path", { class: "line cross", d: crosses.join("") }), shape("path", { class: "line edge", d: edges }),
    ];
  },
};

function drawChart(box, chart) {
  // draws, and keeps on the element what was drawn and where, for whoever points at it or asks
  const panels = chart.panels || [{ y: chart.y, layers: chart.layers, room: [0, 1] }];
  pen.font = "11px " + getComputedStyle(box).fontFamily;
  const { width, height } = chart.size || { width: box.clientWidth, height: box.clientHeight };
  const xRange = rangeOf(chart.x, panels.flatMap((panel) => panel.layers), "x");
  const laid = panels.map((panel) => {
    const range = rangeOf(panel.y, panel.layers, "y");
    const short = (found) => (width < 480 && panel.y.beside ? found.map(([at, text]) => [at, text.length > 15 ? text.slice(0, 8) + "…" + text.slice(-6) : text]) : found);
    return { ...panel, range, ticks: short(ticksOf(panel.y, range, Math.max(Math.round(((panel.room[1] - panel.room[0]) * height) / 45), 2))) };
  });
  const letters = Math.max(...laid.flatMap((panel) => panel.ticks.map(([, text]) => wideOf(text))), 12);
  const left = Math.round(letters + (laid.some((panel) => panel.y.title) ? 30 : 12));
  const small = width < 480; // there a verdict is its sign, and names are short
  const beside = laid.flatMap((panel) => (panel.y.beside ? panel.y.beside[0].map((at, i) => ({ panel, at, text: small ? panel.y.beside[1][i].split(" ")[0] : panel.y.beside[1][i], ink: panel.y.beside[2][i] })) : []));
  const right = width - Math.max(chart.right || 10, ...beside.map(({ text }) => 14 + 6.6 * text.length));
  const sx = (value) => left + ((value / 2 - xRange[0] / 2) / (xRange[1] / 2 - xRange[0] / 2)) * (right - left);
  const ticks = thinned(ticksOf(chart.x, xRange, Math.max(Math.round((right - left) / 70), 4)), sx, chart.x.keep);
  const lines = Math.max(...ticks.map(([, text]) => text.split("\n").length), 1);
  const [top, bottom] = [8, height - 8 - 12 * lines - (chart.x.title ? 17 : 0)];
  const svg = shape("svg", { class: "chart", width, height, viewBox: "0 0 " + width + " " + height, "aria-hidden": "true" });
  const letterAt = (x, y, text, more) => shape("text", { x, y, ...more }, text);
  for (const band of chart.bands || []) {
    svg.append(...LAYERS.boxes({ ...band, low: 0, high: 1, least: 0.5 }, sx, (y) => bottom + y * (top - bottom), [left, top, right]));
  }
  for (const panel of laid) {
    const [low, high] = [bottom + panel.room[0] * (top - bottom), bottom + panel.room[1] * (top - bottom)];
    const sy = (value) => low + ((value / 2 - panel.range[0] / 2) / (panel.range[1] / 2 - panel.range[0] / 2)) * (high - low);
    Object.assign(panel, { sy, low, high });
    const grid = panel.y.grid === false ? "" : panel.ticks.map(([at]) => "M" + left + " " + sy(at) + "H" + right).join("");
    const upright = chart.x.grid === false ? "" : ticks.map(([at]) => "M" + sx(at).toFixed(1) + " " + low + "V" + high).join("");
    svg.append(shape("path", { class: "grid", d: grid + upright }));
    svg.append(shape("g", { class: "yticks" }, ...panel.ticks.map(([at, text]) => letterAt(left - 6, sy(at) + 4, text, { class: "y" }))));
    if (panel.y.title) svg.append(letterAt(0, 0, panel.y.title, { class: "x", transform: "translate(11 " + (low + high) / 2 + ") rotate(-90)" }));
    for (const layer of panel.layers) svg.append(...LAYERS[layer.kind](layer, sx, sy, [left, high, right, low]));
  }
  const labels = ticks.flatMap(([at, text]) => text.split("\n").map((line, i) => letterAt(sx(at).toFixed(1), bottom + 15 + 12 * i, line, { class: "x" })));
  svg.append(shape("g", { class: "xticks" }, ...labels));
  if (chart.x.title) svg.append(letterAt((left + right) / 2, height - 5, chart.x.title, { class: "x" }));
  if (chart.scale) svg.append(...chart.scale(right, top, bottom));
  for (const { panel, at, text, ink } of beside) svg.append(letterAt(right + 8, panel.sy(at) + 4, text, { class: "beside", style: "fill: var(--" + ink + ")" }));
  const cross = shape("path", { class: "crosshair", visibility: "hidden" });
  svg.append(cross);
  box.replaceChildren(svg);
  box.chart = { ...chart, panels: laid, layers: laid.flatMap((panel) => panel.layers), range: xRange, sx, left, right, top, bottom, cross };
  return box.chart;
}

// ---- what is under the pointer: one hint for the page, and a line through the figure

const hint = made("div", undefined, { class: "hint", role: "status", "aria-hidden": "true", hidden: "" });

function nearestTo(box, event) {
  // the place that a figure tells about, from anywhere in it: by x, or where it is a cloud of points or a map, by both
  const { tell, sx, panels } = box.chart;
  const area = box.getBoundingClientRect();
  const [px, py] = [event.clientX - area.left, event.clientY - area.top];
  let [best, least] = [-1, Infinity];
  tell.x.forEach((at, i) => {
    if (!known(at)) return;
    const up = tell.y ? (known(tell.y[i]) ? panels[0].sy(tell.y[i]) - py : Infinity) : 0;
    const far = tell.rows ? Math.abs(up) : Math.hypot(sx(at) - px, up);
    if (far < least) [best, least] = [i, far];
  });
  return best;
}

function showHint(text, x, y) {
  if (!hint.isConnected) document.body.append(hint);
  hint.textContent = text;
  hint.hidden = false;
  const { offsetWidth: wide, offsetHeight: tall } = hint;
  hint.style.left = Math.max(Math.min(x + 14, document.documentElement.clientWidth - wide - 4), 4) + "px";
  hint.style.top = (y - tall - 12 > 4 ? y - tall - 12 : y + 18) + "px";
}

function hideHint(box) {
  hint.hidden = true;
  box?.chart?.cross.setAttribute("visibility", "hidden");
}

function pointable(box, choose) {
  // once for a place, whatever is drawn there later
  if (box.pointed) return;
  box.pointed = true;
  const point = (event) => {
    const { tell, sx, cross, top, bottom } = box.chart || {};
    if (!tell) return hideHint(box);
    const i = nearestTo(box, event);
    if (i < 0) return hideHint(box);
    const level = tell.y && known(tell.y[i]) ? box.chart.panels[0].sy(tell.y[i]) : null;
    const across = level === null ? "" : "M" + box.chart.left + " " + level + "H" + box.chart.right;
    cross.setAttribute("d", (tell.rows ? "" : "M" + sx(tell.x[i]) + " " + top + "V" + bottom) + across);
    cross.setAttribute("visibility", "visible");
    showHint(tell.text(i), event.clientX, event.clientY);
  };
  box.addEventListener("pointermove", point);
  box.addEventListener("pointerleave", () => hideHint(box));
  if (choose) box.addEventListener("click", (event) => {
    const i = box.chart?.tell ? nearestTo(box, event) : -1;
    if (i >= 0) choose(i);
  });
}
