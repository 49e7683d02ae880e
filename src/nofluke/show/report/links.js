// Addresses of positions: #threshold=1.4&tolerance=2 follow the sliders, and are read when the page opens or the address changes.

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
  const wanted = inexact.map(([, name, text]) => name + " " + text.slice(0, 40)).join(" and ");
  const note = made("p", "The link asks for " + wanted + ", which the sliders do not have; this is the nearest position.", { id: "linked", class: "warning" });
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
