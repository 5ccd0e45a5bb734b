// The pages that teach come before the page that lists every function.
var Scorer = {
  score: ([docname, title, anchor, description, score]) =>
    docname === "api" ? score - 1000 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
