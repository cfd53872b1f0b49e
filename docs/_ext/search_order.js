// Order of search results: sphinx's own scores, and pages that say how to do something before studies and reference.
var Scorer = {
  score: ([page, title, anchor, description, score]) => score + (/^(start|howto|understand)\/|^glossary$/.test(page) ? 3 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
