/** Regression: what more weight for rare targets gains and costs. */
function decideBalance(body) {
  const { points, chosen, names } = report.decide;
  const at = points.findIndex((point) => point.balance === chosen);
  const slider = el("input", { type: "range", id: "balance", min: 0, max: points.length - 1, step: 1, value: at });
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
    const here = points[Number(slider.value)];
    const mark = here.balance === chosen ? " (as in this model)" : "";
    shown.textContent = number(here.balance) + mark;
    slider.setAttribute("aria-valuetext", shown.textContent);
    verdict.replaceChildren("At balance ", el("b", { id: "balance-value", text: number(here.balance) }), ", the mean error is ",
      el("b", { text: value(here.overall) }), " over all rows and ", el("b", { text: value(here.rare) }), " over rare targets.");
    figure.replaceChildren(curve(here), el("figcaption", {}, el("span", { class: "key fill" }), " all rows ",
      el("span", { class: "key rare" }), " rare targets; the line marks the balance above, dots that of this model"));
    const head = row("th", el("th", { scope: "col", text: "Target" }), el("th", { scope: "col", class: "num", text: "Cases" }),
      el("th", { scope: "col", class: "num", text: `At ${number(here.balance)}` }), el("th", { scope: "col", class: "num", text: `Against ${number(points[0].balance)}` }));
    const lines = names.map((name, r) => row("td", el("th", { scope: "row", text: name }), here.ranges[r].cases.toLocaleString("en"),
      cell(here.ranges[r]), cell(here.ranges[r], points[0].ranges[r])));
    table.replaceChildren(el("table", { class: "figures" }, el("caption", { text: "Mean absolute error by range of the target" }),
      el("thead", {}, head), el("tbody", {}, ...lines)));
    command.code.textContent = `dsna train ${quoted(report.data_file)} --target ${quoted(report.target)} --balance ${here.balance} -o ${quoted(report.model_file)}`;
  }

  function curve(here) {
    const ends = points.flatMap((point) => [point.overall.value, point.rare.value]).filter((end) => end !== null);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const [bottom, top] = [low - 0.1 * (high - low || 1), high + 0.1 * (high - low || 1)];
    const y = (end) => (end - bottom) / (top - bottom);
    const line = (key, second) => ({ second, points: points.filter((p) => p[key].value !== null).map((p) => [p.balance, y(p[key].value)]) });
    const own_ = points[at];
    const dots = [["overall", false], ["rare", true]].filter(([key]) => own_[key].value !== null).map(([key, second]) => [own_.balance, y(own_[key].value), second]);
    return chart({
      label: "Mean absolute error over all rows and over rare targets, by balance",
      xName: "balance: how much rare targets count",
      xTicks: [0, 0.5, 1].map((tick) => [tick, String(tick)]),
      yTicks: [0, 0.5, 1].map((part) => [part, number(bottom + part * (top - bottom), 3)]),
      lines: [line("overall", false), line("rare", true)],
      dots,
      here: here.balance,
    });
  }

  slider.addEventListener("input", update);
  body.append(
    el("p", { class: "hint", text: "More balance gives rare targets more weight: as a rule their error falls and that over all rows rises, but not on every table. All figures are out of bag, with the blend and the decision of this model. They can differ slightly from those above, because distances are measured in the metric of all trees." }),
    el("div", { class: "columns" }, el("div", {}, el("div", { class: "control" },
      el("div", { class: "head" }, el("label", { for: "balance", text: "Balance" }), shown), slider), verdict), figure), table,
    el("h3", { text: "Train with this balance" }), command.box);
  update();
}
