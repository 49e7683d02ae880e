// Buttons below figures (PNG, SVG) and tables (CSV). Nothing in here knows the page: what it finds in a body, it offers.

const KEY_ROW = 22;
const TITLE_ROW = 30;
const SHEET = 12; // white around a figure
const DRAWN = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "visibility", "display",
  "vector-effect", "font-family", "font-size", "font-weight", "text-anchor", "writing-mode", "dominant-baseline",
];

const words = (element) => (element ? element.textContent.replace(/\s+/g, " ").trim() : "");
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => "&#" + letter.charCodeAt(0) + ";");

function save(blob, name) {
  const link = made("a", undefined, { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function fileName(parts, ending) {
  // letters and digits of any language; nothing that a file system could take for something else
  const plain = parts.map((part) => part.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60));
  return (plain.filter(Boolean).join("-") || "nofluke") + "." + ending;
}

function onPaper(work) {
  // in the colours of paper, whatever the screen has: nothing is painted in between
  const root = document.documentElement;
  const was = root.classList.contains("printing");
  root.classList.add("printing");
  try {
    return work();
  } finally {
    root.classList.toggle("printing", was);
  }
}

function resolved(svg) {
  // a copy that needs no style sheet
  const copy = svg.cloneNode(true);
  const elements = (root) => [root, ...all("*", root)];
  const { paddingLeft, paddingTop, paddingRight, paddingBottom } = getComputedStyle(svg);
  const [left, top, right, bottom] = [paddingLeft, paddingTop, paddingRight, paddingBottom].map(parseFloat);
  const { width, height } = svg.getBoundingClientRect();
  const originals = elements(svg);
  elements(copy).forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    element.removeAttribute("style");
    for (const name of DRAWN) element.setAttribute(name, style.getPropertyValue(name));
  });
  for (const [name, value] of [["x", left], ["y", top], ["width", width - left - right], ["height", height - top - bottom], ["overflow", "visible"]]) {
    copy.setAttribute(name, value);
  }
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

const drawn = (figure) => onPaper(() => resolved(figure.querySelector("svg")));

function keyOf(figure, width, font, top) {
  // the list of marks above the figures of a section, as a row of its own or several
  const items = [...(figure.closest("section")?.querySelectorAll(".key li:not([hidden]), .keys li") || [])];
  const pen = made("canvas").getContext("2d");
  pen.font = "12px " + font;
  let [x, y] = [0, top];
  const parts = items.map((item) => {
    const mark = item.querySelector(".swatch");
    const style = mark ? getComputedStyle(mark) : getComputedStyle(item, "::before");
    const wide = 30 + pen.measureText(words(item)).width + 16;
    if (x && x + wide > width) [x, y] = [0, y + KEY_ROW];
    const line = parseFloat(style.borderTopWidth);
    const dash = { dashed: "5 3", dotted: "2 3" }[style.borderTopStyle] || "none";
    const shape = line
      ? `<line x1="${x}" x2="${x + 22}" y1="${y + 10}" y2="${y + 10}" stroke="${style.borderTopColor}" stroke-width="${line}" stroke-dasharray="${dash}"/>`
      : `<rect x="${x}" y="${y + 4}" width="22" height="12" fill="${style.backgroundColor}"/>`;
    const text = `<text x="${x + 28}" y="${y + 14}" font-size="12">${escaped(words(item))}</text>`;
    x += wide;
    return shape + text;
  });
  return { text: parts.join(""), height: items.length ? y + KEY_ROW - top : 0 };
}

async function picture(figure, title) {
  // title and key above the figure, on white
  const font = getComputedStyle(document.body).fontFamily.replaceAll('"', "'");
  const { text, width, height } = await drawn(figure);
  const key = onPaper(() => keyOf(figure, width, font, TITLE_ROW));
  const top = TITLE_ROW + key.height;
  const [wide, tall] = [Math.ceil(width + 2 * SHEET), Math.ceil(top + height + 2 * SHEET)];
  return {
    wide, tall,
    svg: `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${wide}" height="${tall}" viewBox="${-SHEET} ${-SHEET} ${wide} ${tall}" font-family="${font}" fill="#222222">` +
      `<rect x="${-SHEET}" y="${-SHEET}" width="${wide}" height="${tall}" fill="#ffffff"/>` +
      `<text y="16" font-size="15" font-weight="600">${escaped(title)}</text>${key.text}<svg y="${top}" width="${width}" height="${height}" overflow="visible">${text}</svg></svg>`,
  };
}

async function rasterised({ svg, wide, tall }) {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
  await image.decode();
  const canvas = made("canvas", undefined, { width: 2 * wide, height: 2 * tall });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function plain(cell) {
  // without marks beside a name; numbers as programs read them
  const copy = cell.cloneNode(true);
  copy.querySelectorAll(".mark, .star").forEach((mark) => mark.remove());
  return cell.tagName === "TH" ? words(copy) : words(copy).replace(/−(?=\d)/g, "-").replace(/\d{1,3}(,\d{3})+(?!\d)/g, (number) => number.replaceAll(",", ""));
}

function csvOf(table) {
  const field = (text) => (/[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  const heads = [...(table.tHead ? table.tHead.rows[table.tHead.rows.length - 1].cells : [])];
  const names = heads.map((head) => (head.dataset.columns || plain(head)).split("|"));
  const numbers = (text, many) => [...text.replace(/[[\],]/g, " ").replace(/< /g, "<").trim().split(/\s+/), ...Array(many).fill("")].slice(0, many);
  const cells = (row) => [...row.cells].flatMap((cell, i) => {
    const many = names[i] ? names[i].length : 1; // what one cell shows, as columns of their own
    return [...(many > 1 ? numbers(plain(cell), many) : [plain(cell)]), ...Array(cell.colSpan - 1).fill("")];
  });
  const ends = (row) => {
    // intervals along a row are two rows
    const [name, ...values] = row;
    const both = values.map((value) => value.split(" to "));
    if (!both.some((pair) => pair.length === 2 && pair.every((end) => Number.isFinite(Number(end))))) return [row];
    return [["low", 0], ["high", 1]].map(([end, i]) => [name + ", " + end, ...both.map((pair) => (pair.length === 2 ? pair[i] : pair[0]))]);
  };
  const body = [...table.tBodies].flatMap((part) => [...part.rows]).filter((row) => !row.hidden).map(cells).flatMap(ends);
  return [...(heads.length ? [names.flat()] : []), ...body].map((row) => row.map(field).join(",") + "\n").join("");
}

function addDownloads(root) {
  const head = words((root.parentElement || root).querySelector("h1")); // of several pages in one document, its own
  const button = (text, what, act) => {
    const element = made("button", text, { type: "button", "aria-label": "Download " + what + " as " + text });
    element.addEventListener("click", act);
    return element;
  };
  const row = (...buttons) => {
    const element = made("div", undefined, { class: "downloads" });
    element.append(...buttons);
    return element;
  };
  const named = (element, own) => [words(element.closest("section")?.querySelector("h2")), own].filter(Boolean);
  for (const figure of all("figure", root)) {
    const names = named(figure, words(figure.querySelector("h3")));
    const title = names.join(": ");
    figure.append(row(
      button("PNG", title, async () => save(await rasterised(await picture(figure, title)), fileName([head, ...names], "png"))),
      button("SVG", title, async () => save(new Blob([(await picture(figure, title)).svg], { type: "image/svg+xml" }), fileName([head, ...names], "svg"))),
    ));
  }
  for (const table of all("table:not([data-csv])", root)) {
    const names = named(table, words(table.caption));
    const csv = row(button("CSV", names.join(": "), () => save(new Blob([csvOf(table)], { type: "text/csv" }), fileName([head, ...names], "csv"))));
    const box = table.closest(".scroll");
    if (box) box.after(csv);
    else {
      // side by side with others: both stay together
      const both = made("div", undefined, { class: "tabled" });
      table.replaceWith(both);
      both.append(table, csv);
    }
  }
}
