// Choosing a detector: its body and its data stand in a template, and are opened in place of the overview.
// The address says which: #detector=name. Other keys in it belong to the page of the detector.

function openSeveral(still) {

const overview = document.getElementById("overview");
const place = document.getElementById("one");
const links = all("#detectors a");
const templates = new Map([...document.querySelectorAll("template[data-detector]")].map((one) => [one.dataset.detector, one]));
const title = document.title;
let shown = null;

function asked(address) {
  const name = new URLSearchParams(new URL(address).hash.slice(1)).get("detector");
  return templates.has(name) ? name : null;
}

function close() {
  if (!window.page) return;
  window.page.close();
  place.replaceChildren();
  window.page = null;
}

async function open(name) {
  const body = templates.get(name).content.cloneNode(true);
  const packed = body.querySelector('script[type="text/plain"]');
  packed.remove();
  const data = await unpackedJson(packed.textContent);
  if (shown !== name) return; // another one was chosen meanwhile
  place.append(body);
  window.page = openPage(data);
}

async function show() {
  const name = asked(location.href);
  if (name === shown) return;
  const before = shown;
  shown = name;
  close();
  overview.hidden = name !== null;
  place.hidden = name === null;
  for (const link of links) {
    if (asked(link.href) !== name) {
      link.removeAttribute("aria-current");
      continue;
    }
    link.setAttribute("aria-current", "page");
    link.scrollIntoView({ block: "nearest", inline: "center" });
  }
  document.title = name === null ? title : name + " – " + title;
  scrollTo(0, 0);
  if (name === null) drawStill(still.figures); // which may have been out of sight
  else await open(name);
  if (shown !== name) return;
  // a reader who listens goes where a reader who looks is
  const heading = (name === null ? overview : place).querySelector("h1");
  const link = name === null ? [...overview.querySelectorAll("a")].find((one) => asked(one.href) === before) : null;
  heading.tabIndex = -1;
  (link || heading).focus({ preventScroll: link === null });
}

for (const id of ["detectors", "choose"]) document.getElementById(id).hidden = false; // which is of use with scripts alone
startStill(still.figures);
addDownloads(overview);
addEventListener("hashchange", show);
show().then(() => { document.documentElement.dataset.ready = "yes"; });
}
opened(openSeveral);
