// Figures: descriptions with references into the payload become charts at the position of the sliders.

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
  if (document.body.clientWidth < 960) return; // there figures stand between the text and the sliders, which stay at the top
  const long = (cell) => cell.text.reason.length + cell.text.precision_sentence.length + cell.text.recall_sentence.length;
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
