/** Out-of-bag cases for decisions, each with a weight, a class and probabilities. */
const decideData = report.task === "classification" ? prepared(report.decide) : null;

function prepared(data) {
  const n = data.truth.length;
  const two = classes.length === 2;
  const probability = two
    ? data.probability.map((p) => (data.rare === 1 ? [1 - p, p] : [p, 1 - p]))
    : data.probability;
  const weight = Float64Array.from(data.weight);
  const total = weight.reduce((sum, w) => sum + w, 0);
  const counts = classes.map((_, c) => data.truth.filter((t) => t === c).length);
  const nGroups = data.group.reduce((most, group) => Math.max(most, group + 1), 0) || n;
  return { ...data, n, probability, weight, total, counts, nGroups };
}

/** Class with the lowest expected cost; the first one if costs differ only by rounding. */
function cheapest(probability, costs) {
  let best = 0;
  let lowest = Infinity;
  for (let predicted = 0; predicted < classes.length; predicted++) {
    let cost = 0;
    for (let truth = 0; truth < classes.length; truth++) cost += probability[truth] * costs[truth][predicted];
    if (cost < lowest - 1e-9 * Math.abs(cost)) [best, lowest] = [predicted, cost];
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
  const groupSums = new Float64Array(nGroups);
  for (let i = 0; i < n; i++) groupSums[group.length ? group[i] : i] += weight[i] * (costs[truth[i]][predicted[i]] - mean);
  let variance = 0;
  for (const groupSum of groupSums) variance += groupSum * groupSum;
  return { W, squares, cases, mean, error: Math.sqrt(variance) / total };
}

/** Recall (by rows of the counts) or precision (by columns) as text with its interval, or a note on too few cases. */
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

function shareCell(share) {
  if (!share.range) return el("td", { class: "num" }, el("span", { class: "few", text: share.text }));
  return el("td", { class: "num" }, el("strong", { text: share.text }), el("span", { class: "range-text", text: share.range }));
}

/** Confusion matrix per 1,000 cases, with recalls and precisions. */
function confusionTable(counted) {
  const scale = 1000 / decideData.total;
  const head = row("th", el("th", { scope: "col", text: "True class" }), ...classes.map((name) =>
    el("th", { scope: "col", class: "num" }, "predicted ", own(name))), el("th", { scope: "col", class: "num", text: "Recall" }));
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

/** Sentence about the expected cost. */
function costSentence(counted) {
  const [mean, half] = [1000 * counted.mean, 1000 * Z * counted.error];
  const rarest = decideData.counts[decideData.rare];
  if (rarest < report.fewest) return `Only ${plural(rarest, "case")} of the rarest class: too few to estimate the cost of 1,000 cases.`;
  return `Expected cost of 1,000 cases: ${number(mean, 3)} (95 % interval ${number(Math.max(mean - half, 0), 3)} to ${number(mean + half, 3)}).`;
}

/** Function of a cost matrix: cost of 1,000 cases if decisions are based on given losses. */
function costOf(losses) {
  const { W } = tally(decideData.probability.map((p) => cheapest(p, losses)), losses);
  return (costs) => (1000 / decideData.total) * W.reduce((sum, line, t) => sum + line.reduce((part, w, s) => part + w * costs[t][s], 0), 0);
}

const ownLosses = () => decideData.gain.map((line) => line.map((gain) => -gain));

const predictCommand = (option) => `dsna predict ${quoted(report.model_file)} new.csv -o predicted.csv ${option}`;
const costsOption = (costs) => `--costs ${quoted(JSON.stringify(costs))}`;

/** Two classes: choose costs or a target recall or precision; shows threshold and results. */
function decideTwo(body) {
  const { rare, target_rates: targetRates } = decideData;
  const other = 1 - rare;
  const state = { mode: "costs", ...costsOf(decideData.threshold), target: { recall: 0, precision: 0 } };
  const rareProbability = decideData.probability.map((p) => p[rare]);
  const sorted = sortedByProbability(rareProbability);
  const ownCost = costOf(ownLosses());
  const neverCost = costOf([0, 1].map(() => [0, 1].map((predicted) => Number(predicted === rare))));

  const costs = () => {
    const matrix = [[0, 0], [0, 0]];
    matrix[rare][other] = state.miss;
    matrix[other][rare] = state.alarm;
    return matrix;
  };
  const miss = costControl("miss", "Cost of missing ", classes[rare], state, update);
  const alarm = costControl("alarm", "Cost of a false alarm", "", state, update);
  const lists = { recall: targetRates.filter((target) => target.kind === "recall"), precision: targetRates.filter((target) => target.kind === "precision") };
  for (const kind of ["recall", "precision"]) {
    state.target[kind] = Math.max(0, lists[kind].findIndex((target) => target.minimum === (kind === "recall" ? 0.9 : 0.5)));
  }
  const targetControls = { recall: targetControl("recall"), precision: targetControl("precision") };
  const controls = el("div");
  const verdict = el("p", { class: "verdict", id: "verdict", "aria-live": "polite" });
  const ownVerdict = el("p", { class: "hint", id: "own" });
  if (decideData.threshold !== null) {
    ownVerdict.append(`The decision of this model (${decideData.decision}) predicts `, own(classes[rare]), ` from a probability of ${percent(decideData.threshold)}.`);
  }
  const cost = el("p", { id: "cost" });
  const beside = el("p", { class: "hint", id: "beside" });
  const table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" });
  const curve = el("figure");
  const command = commandLine("command");
  const modes = choices("Decide by", targetRates.length
    ? { costs: "Costs of errors", recall: "Target recall", precision: "Target precision" }
    : { costs: "Costs of errors" }, (mode) => { state.mode = mode; update(); });

  function targetControl(kind) {
    if (!lists[kind].length) return null;
    const input = el("input", { type: "range", id: `target-${kind}`, min: 0, max: lists[kind].length - 1, step: 1, value: state.target[kind] });
    const shown = el("output", { for: `target-${kind}` });
    const show = () => {
      const { minimum, reached } = lists[kind][state.target[kind]];
      shown.textContent = "at least " + percent(minimum) + (reached === null ? "" : `: cannot be reached, ${percent(reached)} at most`);
      input.setAttribute("aria-valuetext", shown.textContent);
    };
    input.addEventListener("input", () => { state.target[kind] = Number(input.value); show(); update(); });
    show();
    return el("div", { class: "control" }, el("div", { class: "head" },
      el("label", { for: `target-${kind}` }, `Target ${kind} of `, own(classes[rare])), shown), input);
  }

  function update() {
    const target = state.mode === "costs" ? null : lists[state.mode][state.target[state.mode]];
    const threshold = target ? target.threshold : state.miss + state.alarm > 0 ? state.alarm / (state.miss + state.alarm) : 0.5;
    const from = rare === 0 ? (p) => p >= threshold - 1e-12 : (p) => p > threshold + 1e-12;
    const predicted = rareProbability.map((p) => (from(p) ? rare : other));
    const counted = tally(predicted, costs());
    controls.replaceChildren(...(target ? [targetControls[state.mode]] : []), miss, alarm);
    verdict.replaceChildren("Predict ", el("b", {}, own(classes[rare])), " from a probability of ",
      el("b", { id: "threshold", text: percent(threshold) }), ".");
    cost.textContent = costSentence(counted);
    const words = [`Cost of 1,000 cases if the class is never predicted: ${number(neverCost(costs()), 3)}; with the decision of this model (${decideData.decision}): ${number(ownCost(costs()), 3)}.`];
    if (target) {
      const { recall, precision } = target;
      words.push(recall.value === null ? "" : `With thresholds learned without the case, recall is ${percent(recall.value)} (${percent(recall.low)} to ${percent(recall.high)})` +
        (precision.value === null ? "." : ` and precision ${percent(precision.value)} (${percent(precision.low)} to ${percent(precision.high)}).`));
    }
    beside.textContent = words.join(" ");
    table.replaceChildren(confusionTable(counted));
    curve.replaceChildren(costCurve(sorted, threshold, costs()),
      el("figcaption", { text: `Expected cost of 1,000 cases by threshold; the line marks the selected threshold${decideData.threshold === null ? "" : ", the dot that of this model"}.` }));
    command.code.textContent = predictCommand(target ? `--decision ${quoted(target.decision)}` : costsOption(costs()));
  }

  body.append(
    el("p", { class: "hint", text: "Enter the costs of errors, or choose the recall or precision that you need. All results below are updated immediately. They are based on out-of-bag probabilities, weighted by the rows that each case represents. Correct predictions cost nothing." }),
    modes.box,
    el("div", { class: "columns" }, el("div", {}, controls, verdict, ownVerdict, cost, beside, table), curve),
    el("h3", { text: "Apply this decision" }), command.box);
  modes.choose("costs");
}

/** Initial costs of a miss and of a false alarm, derived from a threshold. */
function costsOf(threshold) {
  if (threshold === null || !(threshold > 0 && threshold < 1)) return { miss: 10, alarm: 1 };
  const ratio = Number((1 / threshold - 1).toPrecision(3));
  return ratio >= 1 ? { miss: ratio, alarm: 1 } : { miss: 1, alarm: Number((1 / ratio).toPrecision(3)) };
}

/** A slider on a logarithmic scale from 0.1 to 1,000, and a field with the same number. */
function costControl(key, label, name, state, update) {
  const slider = el("input", { type: "range", id: `cost-${key}`, min: -1, max: 3, step: 0.01, value: Math.log10(state[key]) });
  const field = el("input", { type: "number", id: `cost-${key}-field`, min: 0, max: 1e9, step: "any", value: state[key], "aria-label": `${label}${name}` });
  const updateText = () => slider.setAttribute("aria-valuetext", number(state[key], 3));
  slider.addEventListener("input", () => {
    state[key] = Number((10 ** Number(slider.value)).toPrecision(2));
    field.value = state[key];
    updateText();
    update();
  });
  field.addEventListener("input", () => {
    const value = Number(field.value);
    if (field.value === "" || !Number.isFinite(value) || value < 0) return;
    state[key] = value;
    slider.value = Math.log10(Math.max(value, 0.1));
    updateText();
    update();
  });
  updateText();
  return el("div", { class: "control" }, el("div", { class: "head" },
    el("label", { for: `cost-${key}` }, label, ...(name ? [own(name)] : [])), field), slider);
}

/** Sorted probabilities of the rarest class, with the weight of each class at or above them. */
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
  const scaled = (p) => Math.min(Math.max((Math.log(p / (1 - p)) + 7) / 14, 0), 1);
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
  const highest = Math.max(...points.map((point) => point[1]), 1e-12);
  const share = Math.min(Math.max(threshold, 1e-9), 1 - 1e-9);
  return chart({
    label: "Expected cost of 1,000 cases by threshold",
    xName: "threshold of the probability",
    xTicks: [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999].map((p) => [scaled(p), percent(p)]),
    yTicks: [0, 0.5, 1].map((part) => [part, number(part * highest, 3)]),
    lines: [{ points: points.map(([a, b]) => [a, b / highest]) }],
    dots: modelThreshold === null ? [] : [[scaled(modelThreshold), Math.min(costAt(modelThreshold) / highest, 1)]],
    here: scaled(share),
  });
}

/** More than two classes: a cost matrix. */
function decideMany(body) {
  const n = classes.length;
  const costs = classes.map((_, t) => classes.map((_, s) => (t === s ? 0 : t === decideData.rare ? 10 : 1)));
  const head = row("th", el("th", { scope: "col", text: "True class" }),
    ...classes.map((name) => el("th", { scope: "col", class: "num" }, "predicted ", own(name))));
  const lines = costs.map((line, t) => row("td", el("th", { scope: "row" }, own(classes[t])), ...line.map((value, s) => {
    const field = el("input", { type: "number", min: 0, max: 1e9, step: "any", value, "data-cost": `${t},${s}`,
      "aria-label": `Cost of predicting ${classes[s]} if ${classes[t]} is true` });
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
    beside.textContent = `Cost of 1,000 cases with the decision of this model (${decideData.decision}): ${number(ownCost(costs), 3)}.`;
    table.replaceChildren(confusionTable(counted));
    command.code.textContent = predictCommand(costsOption(costs));
  }

  body.append(
    el("p", { class: "hint", text: "Enter the cost of each error. The class with the lowest expected cost is predicted. All results below are updated immediately. They are based on out-of-bag probabilities, weighted by the rows that each case represents." }),
    scroll("Costs", el("table", { class: "figures cost" }, el("caption", { text: "Costs: a row for each true class, a column for each predicted class" }),
      el("thead", {}, head), el("tbody", {}, ...lines))),
    el("h3", { text: "Results" }), cost, beside, table, el("h3", { text: "Apply this decision" }), command.box);
  if (n <= 20) update();
  else body.replaceChildren(el("p", { text: `A cost matrix for ${n} classes is too large for this page: write it to a file and pass it to dsna predict --costs.` }));
}
