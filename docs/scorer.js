// How search orders what it finds; Sphinx puts this into its own script. Sphinx's weights, except for score.
var Scorer = {
  // headings that contain the query come first, then pages that answer questions; measurements come last
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    if (kind === "title") return score + 20;
    if (kind !== "text") return score;
    if (/^(faq|tutorial|howto)/.test(docname)) return score + 1;
    return /^reference\/(benchmarks|versions)/.test(docname) ? score - 1 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
