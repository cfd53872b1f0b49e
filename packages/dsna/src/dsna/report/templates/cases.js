/** Cases and the training rows behind their predictions. */
const PAGE = 20;
const DIFFERS = 0.5;
const classification = report.task === "classification";
const { rows, cases } = report.why;
const labelOf = (label) => (classification ? classes[label] : number(label));
const truthOf = (i) => rows.label[cases.row[i]];
const errorOf = (i) => cases.predicted[i] - truthOf(i);

/** Columns of the table of cases: name, sort key, text, and whether they are numeric. */
const caseColumns = [
  { key: "case", name: "Case", sort: (i) => rows.number[cases.row[i]] },
  { key: "truth", name: "True", sort: truthOf, text: (i) => labelOf(truthOf(i)) },
  { key: "predicted", name: "Predicted", sort: (i) => cases.predicted[i], text: (i) => labelOf(cases.predicted[i]) },
  ...(classification
    ? [
      { key: "likelihood", name: "Probability of the true class", sort: (i) => cases.likelihood[i], text: (i) => percent(cases.likelihood[i]), numeric: true },
      { key: "confidence", name: "Of the prediction", sort: (i) => cases.confidence[i], text: (i) => percent(cases.confidence[i]), numeric: true },
    ]
    : [
      { key: "error", name: "Error", sort: (i) => Math.abs(errorOf(i)), text: (i) => (errorOf(i) > 0 ? "+" : "") + number(errorOf(i), 3), numeric: true },
      { key: "likelihood", name: "Surprise", sort: (i) => cases.likelihood[i], text: (i) => number(cases.likelihood[i], 2), numeric: true },
    ]),
  { key: "plain", name: "Plain average", sort: (i) => cases.plain[i], text: (i) => labelOf(cases.plain[i]) },
];
if (!classification) for (const column of caseColumns) if (column.key !== "case") column.numeric = true;

/** Filters of cases, with their sort order. */
const caseFilters = {
  all: { name: "All", keep: () => true, by: "case", down: false },
  worst: classification
    ? { name: "Worst errors", keep: (i) => !cases.correct[i], by: "confidence", down: true }
    : { name: "Worst errors", keep: (i) => !cases.correct[i], by: "error", down: true },
  surprising: { name: "Most surprising", keep: () => true, by: "likelihood", down: !classification },
  found: { name: "Rare, found", keep: (i) => cases.rare[i] && cases.correct[i], by: "likelihood", down: classification },
  missed: { name: "Rare, missed", keep: (i) => cases.rare[i] && !cases.correct[i], by: "likelihood", down: !classification },
};

function whySection(body) {
  const allCases = [...cases.row.keys()];
  const state = { filter: "all", by: "case", down: false, words: "", page: 0, chosen: -1 };
  const texts = new Array(allCases.length);
  const keys = new Float64Array(allCases.length);
  let listed = allCases;
  const search = el("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false" });
  const count = el("p", { class: "count", id: "count", "aria-live": "polite" });
  const head = el("tr");
  const lines = el("tbody");
  const back = el("button", { type: "button", class: "quiet", text: "Previous" });
  const next = el("button", { type: "button", class: "quiet", text: "Next" });
  const position = el("span", { class: "count" });
  const detail = el("div", { id: "detail", hidden: true });
  const filters = choices("Show", Object.fromEntries(Object.entries(caseFilters).map(([key, filter]) => [key, filter.name])), (key) => {
    const { by, down } = caseFilters[key];
    Object.assign(state, { filter: key, by, down, page: 0 });
    list();
  });

  function searchable(i) {
    const row = cases.row[i];
    texts[i] ??= [rows.id[row], ...caseColumns.slice(1).map((column) => column.text(i)), ...rows.cells[row]].join("\n").toLowerCase();
    return texts[i];
  }

  /** Prepare the texts for the search in small batches, so that the page stays responsive. */
  function prepareSearch(from = 0) {
    const to = Math.min(from + 250, allCases.length);
    for (let i = from; i < to; i++) searchable(i);
    if (to < allCases.length) setTimeout(prepareSearch, 10, to);
  }

  function list() {
    const column = caseColumns.find((candidate) => candidate.key === state.by);
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    listed = allCases.filter((i) => caseFilters[state.filter].keep(i) && words.every((word) => searchable(i).includes(word)));
    for (const i of listed) keys[i] = column.sort(i);
    const sign = state.down ? -1 : 1;
    listed.sort((a, b) => sign * (keys[a] - keys[b]) || a - b);
    show();
  }

  function show() {
    const first = state.page * PAGE;
    const shown = listed.slice(first, first + PAGE);
    count.textContent = `${plural(listed.length, "case")}${listed.length < allCases.length ? ` of ${allCases.length.toLocaleString("en")}` : ""}`;
    for (const cell of head.children) {
      const sorted = cell.dataset.key === state.by;
      cell.setAttribute("aria-sort", sorted ? (state.down ? "descending" : "ascending") : "none");
    }
    lines.replaceChildren(...shown.map((i) => {
      const open = el("button", { type: "button", class: "link", "data-open": i }, own(rows.id[cases.row[i]]));
      open.addEventListener("click", () => choose(i));
      const cells = caseColumns.slice(1).map((column) => el("td", { class: column.numeric ? "num" : false }, own(column.text(i))));
      if (cases.rare[i]) cells[0].append(" ", el("span", { class: "tag", text: "rare" }));
      return el("tr", { class: i === state.chosen ? "chosen" : false }, el("th", { scope: "row" }, open), ...cells);
    }));
    if (!shown.length) lines.append(el("tr", {}, el("td", { colspan: caseColumns.length, text: "No matching case. Clear the search, or choose another filter." })));
    position.textContent = listed.length ? `${first + 1} to ${first + shown.length}` : "";
    back.disabled = state.page === 0;
    next.disabled = first + PAGE >= listed.length;
  }

  function choose(i, jump = true) {
    state.chosen = i;
    show();
    detail.hidden = false;
    const title = el("h3", { tabindex: "-1" }, "Prediction for ", own(rows.id[cases.row[i]]));
    detail.replaceChildren(title, ...caseDetail(i));
    if (jump) {
      title.focus({ preventScroll: true });
      detail.scrollIntoView({ block: "nearest" });
    }
  }

  for (const column of caseColumns) {
    const sort = el("button", { type: "button", class: "sort", text: column.name });
    sort.addEventListener("click", () => {
      Object.assign(state, { down: state.by === column.key ? !state.down : false, by: column.key, page: 0 });
      list();
    });
    head.append(el("th", { scope: "col", "data-key": column.key, class: column.numeric ? "num" : false }, sort));
  }
  search.addEventListener("input", () => { Object.assign(state, { words: search.value, page: 0 }); list(); });
  back.addEventListener("click", () => { state.page -= 1; show(); });
  next.addEventListener("click", () => { state.page += 1; show(); });
  for (const button of document.querySelectorAll("[data-case]")) {
    button.addEventListener("click", () => {
      search.value = "";
      Object.assign(state, { words: "", page: 0 });
      filters.choose("all");
      choose(Number(button.dataset.case));
    });
  }
  const table = el("table", { id: "cases", class: "figures" }, el("caption", { class: "hidden", text: "Cases; choose a case to see the training rows behind it" }), el("thead", {}, head), lines);
  body.append(el("div", { class: "toolbar" }, filters.box, el("div", {}, el("label", { for: "search", text: "Search in all columns" }), search)),
    count, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Cases" }, table),
    el("div", { class: "pager" }, back, next, position), detail);
  filters.choose(allCases.some(caseFilters.worst.keep) ? "worst" : "all");
  setTimeout(prepareSearch, 300);
}

/** Details of a case: its prediction, and its neighbours side by side. */
function caseDetail(i) {
  const neighbors = cases.neighbors[i];
  const size = cases.weight[i].reduce((sum, w) => sum + Math.abs(w), 0);
  const prediction = el("p", { class: "verdict" }, "Predicted ", el("b", {}, own(labelOf(cases.predicted[i]))),
    classification ? ` (probability ${percent(cases.confidence[i])})` : "", ", true ", el("b", {}, own(labelOf(truthOf(i)))),
    classification ? ` (${percent(cases.likelihood[i])}). ` : `: off by ${number(errorOf(i), 3)}. `,
    "Plain averaging of all neighbours predicts ", el("b", {}, own(labelOf(cases.plain[i]))),
    classification ? ` (${percent(cases.share[i])} of their votes).` : ".");
  const weightShown = classification ? `${percent(size)} of the probability` : `a total weight of ${number(size, 2)}`;
  const basis = el("p", { class: "hint", text: `Based on ${plural(cases.n_neighbors[i], "training row")}; ${neighbors.length === cases.n_neighbors[i] ? "all" : `the ${neighbors.length}`} ${classification ? "that contribute most to the decision" : "with the largest weights"} ${neighbors.length === 1 ? "is" : "are"} shown, with ${weightShown}. Values that differ from those of the case are marked ≠; numbers differ if they are more than half a standard deviation of the column apart.` });
  const onlyDiffering = el("input", { type: "checkbox", id: "only" });
  const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The case beside its neighbours" });
  const fill = () => box.replaceChildren(besideTable(i, neighbors, onlyDiffering.checked));
  onlyDiffering.addEventListener("change", fill);
  fill();
  return [prediction, basis, el("p", {}, onlyDiffering, " ", el("label", { for: "only", text: "Only columns that differ" })), box];
}

function besideTable(i, neighbors, onlyDiffering) {
  const caseRow = cases.row[i];
  const largest = Math.max(...cases.weight[i].map(Math.abs), 1e-12);
  const head = el("tr", {}, el("th", { scope: "col", text: "Column" }), el("th", { scope: "col", class: "own", text: "This case" }),
    ...neighbors.map((k) => el("th", { scope: "col" }, own(rows.id[k]))));
  const label = el("tr", { class: "head" }, el("th", { scope: "row" }, own(report.target)), el("td", { class: "own" }, own(labelOf(rows.label[caseRow]))),
    ...neighbors.map((k) => el("td", { class: classification && rows.label[k] !== rows.label[caseRow] ? "differs" : false }, own(labelOf(rows.label[k])))));
  const weight = el("tr", { class: "head last-head" }, el("th", { scope: "row", text: "Weight" }), el("td", { class: "own" }),
    ...cases.weight[i].map((w) => el("td", {}, number(w, 2), weightBar(Math.abs(w) / largest, w < 0))));
  const lines = rows.names.map((name, c) => {
    const value = rows.cells[caseRow][c];
    const isDifferent = neighbors.map((k) => differs(value, rows.cells[k][c], c));
    if (onlyDiffering && !isDifferent.some(Boolean)) return null;
    return el("tr", {}, el("th", { scope: "row" }, own(name)), cellOf(value, "own"),
      ...neighbors.map((k, j) => cellOf(rows.cells[k][c], isDifferent[j] ? "differs" : false)));
  });
  return el("table", { class: "beside" }, el("caption", { class: "hidden", text: "The case and its neighbours, column by column" }),
    el("thead", {}, head), el("tbody", {}, label, weight, ...lines.filter(Boolean)));
}

function weightBar(share, negative) {
  const svg = svgEl("svg", { class: "bar", width: 72, height: 6, "aria-hidden": "true" });
  svg.append(svgEl("rect", { class: "track", width: 72, height: 6, rx: 2 }),
    svgEl("rect", { class: negative ? "rare" : "fill", width: 72 * share, height: 6, rx: 2 }));
  return svg;
}

function cellOf(value, kind) {
  if (value === null) return el("td", { class: kind ? `${kind} missing` : "missing", text: "missing" });
  return el("td", { class: kind }, own(typeof value === "number" ? number(value, 6) : value));
}

/** Whether two cells of a column differ: numbers and dates by more than half a standard deviation, other cells if unequal. */
function differs(first, second, column) {
  if (first === null || second === null) return first !== second;
  const spread = rows.spread[column];
  const [a, b] = rows.kinds[column] === "date" ? [Date.parse(first), Date.parse(second)] : [first, second];
  if (typeof a === "number" && typeof b === "number" && Number.isFinite(a) && Number.isFinite(b) && spread !== null) {
    return Math.abs(a - b) > DIFFERS * spread && a !== b;
  }
  return String(first) !== String(second);
}
