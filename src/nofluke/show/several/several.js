// Choosing a detector: its body and its data stand in a template, and are opened in place of the overview.
// The address says which: #detector=name. Other keys in it belong to the page of the detector.

(() => {
  const overview = document.getElementById("overview");
  const place = document.getElementById("one");
  const links = [...document.querySelectorAll("#which a")];
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
    place.querySelectorAll(".js-plotly-plot").forEach((plot) => Plotly.purge(plot));
    place.replaceChildren();
    window.page = null;
  }

  function open(name) {
    place.append(templates.get(name).content.cloneNode(true));
    const data = place.querySelector('script[type="application/json"]');
    data.remove();
    window.page = openPage(JSON.parse(data.textContent));
  }

  function show() {
    const name = asked(location.href);
    if (name === shown) return;
    const before = shown;
    shown = name;
    close();
    overview.hidden = name !== null;
    place.hidden = name === null;
    for (const link of links) {
      if (asked(link.href) === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = name === null ? title : name + " – " + title;
    if (name !== null) open(name);
    // a reader who listens is where a reader who looks is
    const heading = (name === null ? overview : place).querySelector("h1");
    const link = name === null ? [...overview.querySelectorAll("a")].find((one) => asked(one.href) === before) : null;
    heading.tabIndex = -1;
    scrollTo(0, 0);
    (link || heading).focus();
  }

  document.getElementById("which").hidden = false;
  addEventListener("hashchange", show);
  show();
  document.documentElement.dataset.ready = "yes";
})();
