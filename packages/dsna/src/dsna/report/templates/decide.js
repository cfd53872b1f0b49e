/** Out-of-bag cases to decide on: n cases, each with a weight, a class and probabilities. */
const decideData = report.task === "classification" ? prepared(report.decide) : null;

function prepared(given) {
  const n = given.truth.length;
  const two = classes.length === 2;
  const probability = two
    ? given.probability.map((p) => (given.rare === 1 ? [1 - p, p] : [p, 1 - p]))
    : given.probability;
  const weight = Float64Array.from(given.weight);
  const total = weight.reduce((sum, w) => sum + w, 0);
  const counts = classes.map((_, c) => given.truth.filter((t) => t === c).length);
  const nGroups = given.group.reduce((most, group) => Math.max(most, group + 1), 0) || n;
  return { ...given, n, probability, weight, total, counts, nGroups };
}

/** The class of least expected cost; of classes that differ only by rounding, the first. */
function cheapest(probability, costs) {
  let best = 0;
  let least = Infinity;
  for (let said = 0; said < classes.length; said++) {
    let cost = 0;
    for (let truth = 0; truth < classes.length; truth++) cost += probability[truth] * costs[truth][said];
    if (cost < least - 1e-9 * Math.abs(cost)) [best, least] = [said, cost];
  }
  return best;
}

/** Weights, squared weights and cases by class and prediction, and the mean cost with its standard error. */
function tally(predicted, costs) {
  const { n, truth, weight, total, group, nGroups } = decideData;
  const zeros = () => classes.map(() => new Float64Array(classes.length));
  const [W, squares, cases] = [zeros(), zeros(), zeros()];
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const [t, s, w] = [truth[i], predicted[i], weight[i]];
    W[t][s] += w;
    squares[t][s] += w * w;
    cases[t][s] += 1;
    sum += w * costs[t][s];
  }
  const mean = sum / total;
  const parts = new Float64Array(nGroups);
  for (let i = 0; i < n; i++) parts[group.length ? group[i] : i] += weight[i] * (costs[truth[i]][predicted[i]] - mean);
  let variance = 0;
  for (const part of parts) variance += part * part;
  return { W, squares, cases, mean, error: Math.sqrt(variance) / total };
}

/** A recall (by rows of the counts) or a precision (by columns), as text with its range; too few cases say so. */
function shareOf(counted, c, byRow) {
  const at = (matrix, k) => (byRow ? matrix[c][k] : matrix[k][c]);
  let [total, squares, n] = [0, 0, 0];
  for (let k = 0; k < classes.length; k++) {
    total += at(counted.W, k);
    squares += at(counted.squares, k);
    n += at(counted.cases, k);
  }
  if (n < report.fewest) return { text: "too few to say", range: "", n };
  const [share, low, high] = wilson(counted.W[c][c], total, squares);
  return { text: percent(share), range: `${percent(low).replace(" %", "")} to ${percent(high)}`, n };
}

function shareCell(found) {
  if (!found.range) return el("td", { class: "num" }, el("span", { class: "few", text: found.text }));
  return el("td", { class: "num" }, el("strong", { text: found.text }), el("span", { class: "range-text", text: found.range }));
}

/** The confusion matrix per 1,000 cases with recalls and precisions. */
function confusionTable(counted) {
  const scale = 1000 / decideData.total;
  const head = row("th", el("th", { scope: "col", text: "True class" }), ...classes.map((name) =>
    el("th", { scope: "col", class: "num" }, "said ", own(name))), el("th", { scope: "col", class: "num", text: "Recall" }));
  const body = classes.map((name, t) =>
    row("td", el("th", { scope: "row" }, own(name)), ...classes.map((_, s) =>
      el("td", { class: `num ${t === s ? "right" : "wrong"}`, text: number(counted.W[t][s] * scale, 3) })),
    shareCell(shareOf(counted, t, true))));
  const precision = row("td", el("th", { scope: "row", text: "Precision" }),
    ...classes.map((_, s) => shareCell(shareOf(counted, s, false))), el("td"));
  const caption = `Per 1,000 cases, from ${plural(decideData.n, "out-of-bag case")}`;
  return el("table", { class: "figures confusion" }, el("caption", { text: caption }),
    el("thead", {}, head), el("tbody", {}, ...body, precision));
}

/** What cases cost, in a sentence. */
function costSentence(counted) {
  const [mean, half] = [1000 * counted.mean, 1000 * Z * counted.error];
  const rarest = decideData.counts[decideData.rare];
  if (rarest < report.fewest) return `Only ${plural(rarest, "case")} of the rarest class: too few to say what 1,000 cases cost.`;
  return `Expected cost of 1,000 cases: ${number(mean, 3)}, with 95 % certainty between ${number(Math.max(mean - half, 0), 3)} and ${number(mean + half, 3)}.`;
}

/** A function of costs: what 1,000 cases cost, decided once and for all by given losses. */
function costOf(losses) {
  const { W } = tally(decideData.probability.map((p) => cheapest(p, losses)), losses);
  return (costs) => (1000 / decideData.total) * W.reduce((sum, line, t) => sum + line.reduce((part, w, s) => part + w * costs[t][s], 0), 0);
}

const ownLosses = () => decideData.gain.map((line) => line.map((gain) => -gain));

const predictCommand = (option) => `dsna predict ${quoted(report.model_file)} new.csv -o predicted.csv ${option}`;
const costsOption = (costs) => `--costs ${quoted(JSON.stringify(costs))}`;

/** Two classes: costs or a wished recall or precision, a threshold, and what follows. */
function decideTwo(body) {
  const { rare, wishes } = decideData;
  const other = 1 - rare;
  const state = { mode: "costs", ...costsOf(decideData.threshold), wish: { recall: 0, precision: 0 } };
  const rareProbability = decideData.probability.map((p) => p[rare]);
  const sorted = sortedByProbability(rareProbability);
  const ownCost = costOf(ownLosses());
  const neverCost = costOf([0, 1].map(() => [0, 1].map((said) => Number(said === rare))));

  const costs = () => {
    const matrix = [[0, 0], [0, 0]];
    matrix[rare][other] = state.miss;
    matrix[other][rare] = state.alarm;
    return matrix;
  };
  const miss = costControl("miss", "Cost of a missed ", classes[rare], state, update);
  const alarm = costControl("alarm", "Cost of a false alarm", "", state, update);
  const lists = { recall: wishes.filter((w) => w.kind === "recall"), precision: wishes.filter((w) => w.kind === "precision") };
  for (const kind of ["recall", "precision"]) {
    state.wish[kind] = Math.max(0, lists[kind].findIndex((w) => w.least === (kind === "recall" ? 0.9 : 0.5)));
  }
  const wishes_ = { recall: wishControl("recall"), precision: wishControl("precision") };
  const controls = el("div");
  const verdict = el("p", { class: "verdict", id: "verdict", "aria-live": "polite" });
  const ownVerdict = el("p", { class: "hint", id: "own" });
  if (decideData.threshold !== null) {
    ownVerdict.append(`This model's own decision (${decideData.decision}) says `, own(classes[rare]), ` from a probability of ${percent(decideData.threshold)} on.`);
  }
  const cost = el("p", { id: "cost" });
  const beside = el("p", { class: "hint", id: "beside" });
  const table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" });
  const curve = el("figure");
  const command = commandLine("command");
  const modes = choices("Decide by", wishes.length
    ? { costs: "What mistakes cost", recall: "A wished recall", precision: "A wished precision" }
    : { costs: "What mistakes cost" }, (mode) => { state.mode = mode; update(); });

  function wishControl(kind) {
    if (!lists[kind].length) return null;
    const input = el("input", { type: "range", id: `wish-${kind}`, min: 0, max: lists[kind].length - 1, step: 1, value: state.wish[kind] });
    const shown = el("output", { for: `wish-${kind}` });
    const show = () => {
      const { least, most } = lists[kind][state.wish[kind]];
      shown.textContent = "at least " + percent(least) + (most === null ? "" : `: cannot be reached, ${percent(most)} at most`);
      input.setAttribute("aria-valuetext", shown.textContent);
    };
    input.addEventListener("input", () => { state.wish[kind] = Number(input.value); show(); update(); });
    show();
    return el("div", { class: "control" }, el("div", { class: "head" },
      el("label", { for: `wish-${kind}` }, `Wished ${kind} of `, own(classes[rare])), shown), input);
  }

  function update() {
    const wish = state.mode === "costs" ? null : lists[state.mode][state.wish[state.mode]];
    const threshold = wish ? wish.threshold : state.miss + state.alarm > 0 ? state.alarm / (state.miss + state.alarm) : 0.5;
    const from = rare === 0 ? (p) => p >= threshold - 1e-12 : (p) => p > threshold + 1e-12;
    const predicted = rareProbability.map((p) => (from(p) ? rare : other));
    const counted = tally(predicted, costs());
    controls.replaceChildren(...(wish ? [wishes_[state.mode]] : []), miss, alarm);
    verdict.replaceChildren("Say ", el("b", {}, own(classes[rare])), " from a probability of ",
      el("b", { id: "threshold", text: percent(threshold) }), " on.");
    cost.textContent = costSentence(counted);
    const words = [`Never saying so would cost ${number(neverCost(costs()), 3)}, the model's own decision (${decideData.decision}) ${number(ownCost(costs()), 3)}.`];
    if (wish) {
      const { recall, precision } = wish;
      words.push(recall.value === null ? "" : `With thresholds chosen without the case, recall is ${percent(recall.value)} (${percent(recall.low)} to ${percent(recall.high)})` +
        (precision.value === null ? "." : ` and precision ${percent(precision.value)} (${percent(precision.low)} to ${percent(precision.high)}).`));
    }
    beside.textContent = words.join(" ");
    table.replaceChildren(confusionTable(counted));
    curve.replaceChildren(costCurve(sorted, threshold, costs()),
      el("figcaption", { text: `Expected cost of 1,000 cases by threshold; the line marks the threshold above${decideData.threshold === null ? "" : ", the dot that of this model"}.` }));
    command.code.textContent = predictCommand(wish ? `--decision ${quoted(wish.decision)}` : costsOption(costs()));
  }

  body.append(
    el("p", { class: "hint", text: "Say what mistakes cost, or which recall or precision you need. Everything below follows at once, from out-of-bag probabilities in which each case counts for the rows that it stands for. The cost of a right answer is zero." }),
    modes.box,
    el("div", { class: "columns" }, el("div", {}, controls, verdict, ownVerdict, cost, beside, table), curve),
    el("h3", { text: "Apply this decision" }), command.box);
  modes.choose("costs");
}

/** Costs of a miss and of a false alarm that a threshold serves, which the page opens with. */
function costsOf(threshold) {
  if (threshold === null || !(threshold > 0 && threshold < 1)) return { miss: 10, alarm: 1 };
  const ratio = Number((1 / threshold - 1).toPrecision(3));
  return ratio >= 1 ? { miss: ratio, alarm: 1 } : { miss: 1, alarm: Number((1 / ratio).toPrecision(3)) };
}

/** A slider on a logarithmic scale from 0.1 to 1,000 and a field for the same number. */
function costControl(key, label, name, state, update) {
  const slider = el("input", { type: "range", id: `cost-${key}`, min: -1, max: 3, step: 0.01, value: Math.log10(state[key]) });
  const field = el("input", { type: "number", id: `cost-${key}-field`, min: 0, max: 1e9, step: "any", value: state[key], "aria-label": `${label}${name}` });
  const say = () => slider.setAttribute("aria-valuetext", number(state[key], 3));
  slider.addEventListener("input", () => {
    state[key] = Number((10 ** Number(slider.value)).toPrecision(2));
    field.value = state[key];
    say();
    update();
  });
  field.addEventListener("input", () => {
    const value = Number(field.value);
    if (field.value === "" || !Number.isFinite(value) || value < 0) return;
    state[key] = value;
    slider.value = Math.log10(Math.max(value, 0.1));
    say();
    update();
  });
  say();
  return el("div", { class: "control" }, el("div", { class: "head" },
    el("label", { for: `cost-${key}` }, label, ...(name ? [own(name)] : [])), field), slider);
}

/** Probabilities of the rarest class in rising order, with the weight of each class at or above. */
function sortedByProbability(probability) {
  const order = [...probability.keys()].sort((a, b) => probability[a] - probability[b]);
  const values = order.map((i) => probability[i]);
  const above = [new Float64Array(values.length + 1), new Float64Array(values.length + 1)];
  for (let k = values.length - 1; k >= 0; k--) {
    const i = order[k];
    for (const rare of [0, 1]) {
      above[rare][k] = above[rare][k + 1] + ((decideData.truth[i] === decideData.rare) === Boolean(rare) ? decideData.weight[i] : 0);
    }
  }
  return { values, above };
}

function costCurve({ values, above }, threshold, costs) {
  const { rare, total, threshold: modelThreshold } = decideData;
  const place = (p) => Math.min(Math.max((Math.log(p / (1 - p)) + 7) / 14, 0), 1);
  const costAt = (p) => {
    let [low, high] = [0, values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] > p) high = middle;
      else low = middle + 1;
    }
    const missed = above[1][0] - above[1][low];
    return (1000 * (missed * costs[rare][1 - rare] + above[0][low] * costs[1 - rare][rare])) / total;
  };
  const points = [];
  for (let step = 0; step <= 80; step++) {
    const odds = Math.exp(-7 + (14 * step) / 80);
    points.push([step / 80, costAt(odds / (1 + odds))]);
  }
  const most = Math.max(...points.map((point) => point[1]), 1e-12);
  const share = Math.min(Math.max(threshold, 1e-9), 1 - 1e-9);
  return chart({
    label: "Expected cost of 1,000 cases by threshold",
    xName: "threshold of the probability",
    xTicks: [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999].map((p) => [place(p), percent(p)]),
    yTicks: [0, 0.5, 1].map((part) => [part, number(part * most, 3)]),
    lines: [{ points: points.map(([a, b]) => [a, b / most]) }],
    dots: modelThreshold === null ? [] : [[place(modelThreshold), Math.min(costAt(modelThreshold) / most, 1)]],
    here: place(share),
  });
}

/** Several classes: a matrix of costs. */
function decideMany(body) {
  const n = classes.length;
  const costs = classes.map((_, t) => classes.map((_, s) => (t === s ? 0 : t === decideData.rare ? 10 : 1)));
  const head = row("th", el("th", { scope: "col", text: "True class" }),
    ...classes.map((name) => el("th", { scope: "col", class: "num" }, "said ", own(name))));
  const lines = costs.map((line, t) => row("td", el("th", { scope: "row" }, own(classes[t])), ...line.map((value, s) => {
    const field = el("input", { type: "number", min: 0, max: 1e9, step: "any", value, "data-cost": `${t},${s}`,
      "aria-label": `Cost of saying ${classes[s]} where ${classes[t]} is true` });
    field.addEventListener("input", () => {
      const cost = Number(field.value);
      if (field.value === "" || !Number.isFinite(cost) || cost < 0) return;
      costs[t][s] = cost;
      update();
    });
    return el("td", { class: "num" }, field);
  })));
  const scroll = (label, ...children) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
  const cost = el("p", { class: "verdict", id: "cost", "aria-live": "polite" });
  const beside = el("p", { class: "hint", id: "beside" });
  const table = scroll("Confusion matrix");
  const command = commandLine("command");
  const ownCost = costOf(ownLosses());

  function update() {
    const predicted = decideData.probability.map((p) => cheapest(p, costs));
    const counted = tally(predicted, costs);
    cost.textContent = costSentence(counted);
    beside.textContent = `The model's own decision (${decideData.decision}) would cost ${number(ownCost(costs), 3)}.`;
    table.replaceChildren(confusionTable(counted));
    command.code.textContent = predictCommand(costsOption(costs));
  }

  body.append(
    el("p", { class: "hint", text: "Say what each mistake costs. The class of least expected cost is predicted; everything below follows at once, from out-of-bag probabilities in which each case counts for the rows that it stands for." }),
    scroll("Costs", el("table", { class: "figures cost" }, el("caption", { text: "Costs: a line for each true class, a column for each prediction" }),
      el("thead", {}, head), el("tbody", {}, ...lines))),
    el("h3", { text: "What follows" }), cost, beside, table, el("h3", { text: "Apply this decision" }), command.box);
  if (n <= 20) update();
  else body.replaceChildren(el("p", { text: `${n} classes are too many for a matrix on a page: write it to a file, and pass it to dsna predict --costs.` }));
}
