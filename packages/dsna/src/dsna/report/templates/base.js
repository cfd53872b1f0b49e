const report = JSON.parse(document.getElementById("report-data").textContent);
const classes = report.classes;
const Z = 1.96;

/** Create an element with attributes and children (elements or text); text is never parsed as HTML. */
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key === "text") element.textContent = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function svgEl(name, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

/** Text from the user, in its own writing direction. */
const own = (text) => el("bdi", { text });

function number(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en").replace("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

function percent(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const scaled = 100 * value;
  if (scaled === 0 || scaled >= 99.95) return scaled.toFixed(0) + " %";
  return (scaled >= 1 ? scaled.toFixed(1) : String(Number(scaled.toPrecision(2)))) + " %";
}

const plural = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** A share, weight `hit` of `total`, and its Wilson interval; `squares` is the sum of the squared weights. */
function wilson(hit, total, squares) {
  const share = hit / total;
  const z2 = (Z * Z * squares) / (total * total);
  const middle = (share + z2 / 2) / (1 + z2);
  const half = Math.sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2);
  return [share, Math.max(middle - half, 0), Math.min(middle + half, 1)];
}

/** Quote a word for a shell if necessary. */
function quoted(word) {
  const safe = word.startsWith("-") ? "./" + word : word;
  return /^[\w@%+=:,./-]+$/.test(safe) ? safe : "'" + safe.replaceAll("'", "'\"'\"'") + "'";
}

/** A shell command with a button that copies it. */
function commandLine(id) {
  const code = el("code", { id });
  const copy = el("button", { type: "button", text: "Copy" });
  const status = el("span", { class: "hidden", "aria-live": "polite" });
  copy.addEventListener("click", async () => {
    let copied = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      copied = false;
    }
    copy.textContent = copied ? "Copied" : "Selected";
    status.textContent = copied ? "The command was copied." : "The command is selected.";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
  return { box: el("div", { class: "command" }, code, copy, status), code };
}

/** A group of buttons, one of which is pressed. */
function choices(legend, names, onChoose) {
  const buttons = Object.entries(names).map(([key, text]) => {
    const button = el("button", { type: "button", text, "data-choice": key, "aria-pressed": "false" });
    button.addEventListener("click", () => choose(key));
    return button;
  });
  function choose(key) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.choice === key));
    onChoose(key);
  }
  const box = el("fieldset", { class: "choices" }, el("legend", { text: legend }), ...buttons);
  return { box, choose };
}

function row(kind, ...cells) {
  return el("tr", {}, ...cells.map((cell) => (cell instanceof Node ? cell : el(kind, { class: "num", text: cell }))));
}

/** A chart with axes and polylines; coordinates are scaled to 0..1. */
function chart(options) {
  const [width, height, left, bottom] = [460, 240, 52, 40];
  const svg = svgEl("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart", role: "img" });
  svg.setAttribute("aria-label", options.label);
  const x = (share) => left + (width - left - 10) * share;
  const y = (share) => 10 + (height - bottom - 10) * (1 - share);
  for (const [share, text] of options.yTicks) {
    svg.append(svgEl("line", { class: "grid", x1: x(0), x2: x(1), y1: y(share), y2: y(share) }));
    svg.append(svgEl("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, text));
  }
  for (const [share, text] of options.xTicks) {
    svg.append(svgEl("text", { x: x(share), y: y(0) + 16, "text-anchor": "middle" }, text));
  }
  svg.append(svgEl("text", { x: x(0.5), y: height - 4, "text-anchor": "middle" }, options.xName));
  for (const { points, second } of options.lines) {
    const path = points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
    svg.append(svgEl("polyline", { class: second ? "line second" : "line", points: path }));
  }
  if (options.here !== undefined) {
    svg.append(svgEl("line", { class: "here", x1: x(options.here), x2: x(options.here), y1: y(0), y2: y(1) }));
  }
  for (const [a, b, second] of options.dots || []) {
    svg.append(svgEl("circle", { class: second ? "dot second" : "dot", cx: x(a), cy: y(b), r: 5 }));
  }
  for (const [a, b, text, anchor] of options.texts || []) {
    svg.append(svgEl("text", { class: "strong", x: x(a), y: y(b), "text-anchor": anchor || "start" }, text));
  }
  return svg;
}
