/** Regression: errors by weight of rare targets. */
function decideBalance(body) {
  const { points, chosen, names } = report.decide;
  const modelIndex = points.findIndex((point) => point.balance === chosen);
  const slider = el("input", { type: "range", id: "balance", min: 0, max: points.length - 1, step: 1, value: modelIndex });
  const shown = el("output", { for: "balance" });
  const verdict = el("p", { class: "verdict", id: "verdict", "aria-live": "polite" });
  const figure = el("figure");
  const table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Errors by range of the target" });
  const command = commandLine("command");
  const value = (estimate) => (estimate.value === null ? "too few to say" : number(estimate.value, 3));
  const range = (estimate) => (estimate.value === null ? "" : `${number(estimate.low, 3)} to ${number(estimate.high, 3)}`);

  function cell(estimate, before) {
    if (estimate.value === null) return el("td", { class: "num" }, el("span", { class: "few", text: "too few to say" }));
    const change = before && before.value ? estimate.value / before.value - 1 : 0;
    if (before) return el("td", { class: "num", text: `${change >= 0 ? "+" : "−"}${percent(Math.abs(change))}` });
    const words = range(estimate);
    return el("td", { class: "num" }, el("strong", { text: value(estimate) }), el("span", { class: "range-text", text: words }));
  }

  function update() {
    const selected = points[Number(slider.value)];
    const mark = selected.balance === chosen ? " (as in this model)" : "";
    shown.textContent = number(selected.balance) + mark;
    slider.setAttribute("aria-valuetext", shown.textContent);
    verdict.replaceChildren("At balance ", el("b", { id: "balance-value", text: number(selected.balance) }), ", the mean error is ",
      el("b", { text: value(selected.overall) }), " over all rows and ", el("b", { text: value(selected.rare) }), " over rare targets.");
    figure.replaceChildren(curve(selected), el("figcaption", {}, el("span", { class: "key fill" }), " all rows ",
      el("span", { class: "key rare" }), " rare targets; the line marks the selected balance, dots that of this model"));
    const head = row("th", el("th", { scope: "col", text: "Target" }), el("th", { scope: "col", class: "num", text: "Cases" }),
      el("th", { scope: "col", class: "num", text: `At ${number(selected.balance)}` }), el("th", { scope: "col", class: "num", text: `Change from ${number(points[0].balance)}` }));
    const lines = names.map((name, r) => row("td", el("th", { scope: "row", text: name }), selected.ranges[r].cases.toLocaleString("en"),
      cell(selected.ranges[r]), cell(selected.ranges[r], points[0].ranges[r])));
    table.replaceChildren(el("table", { class: "figures" }, el("caption", { text: "Mean absolute error by range of the target" }),
      el("thead", {}, head), el("tbody", {}, ...lines)));
    command.code.textContent = `dsna train ${quoted(report.data_file)} --target ${quoted(report.target)} --balance ${selected.balance} -o ${quoted(report.model_file)}`;
  }

  function curve(selected) {
    const ends = points.flatMap((point) => [point.overall.value, point.rare.value]).filter((end) => end !== null);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const [bottom, top] = [low - 0.1 * (high - low || 1), high + 0.1 * (high - low || 1)];
    const y = (end) => (end - bottom) / (top - bottom);
    const line = (key, second) => ({ second, points: points.filter((p) => p[key].value !== null).map((p) => [p.balance, y(p[key].value)]) });
    const modelPoint = points[modelIndex];
    const dots = [["overall", false], ["rare", true]].filter(([key]) => modelPoint[key].value !== null).map(([key, second]) => [modelPoint.balance, y(modelPoint[key].value), second]);
    return chart({
      label: "Mean absolute error over all rows and over rare targets, by balance",
      xName: "balance: how much rare targets count",
      xTicks: [0, 0.5, 1].map((tick) => [tick, String(tick)]),
      yTicks: [0, 0.5, 1].map((part) => [part, number(bottom + part * (top - bottom), 3)]),
      lines: [line("overall", false), line("rare", true)],
      dots,
      here: selected.balance,
    });
  }

  slider.addEventListener("input", update);
  body.append(
    el("p", { class: "hint", text: "A higher balance gives rare targets more weight: usually their error falls and the error over all rows rises. All figures are out of bag, with the blend and the decision of this model. They can differ slightly from those above, because distances are measured in the metric of all trees." }),
    el("div", { class: "columns" }, el("div", {}, el("div", { class: "control" },
      el("div", { class: "head" }, el("label", { for: "balance", text: "Balance" }), shown), slider), verdict), figure), table,
    el("h3", { text: "Train with this balance" }), command.box);
  update();
}
