"""Pictures of the report as SVG, coloured by the page's style sheet so that they follow its theme.

Every picture either repeats the content of a table or sentence, or has a label for screen readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .data import Bar, Estimate, Reliability

_RANGE = (150.0, 18.0)
_SPARK = (90.0, 20.0)
_HISTOGRAM = (640.0, 190.0)
_SQUARE = 230.0
_MARGIN = 34.0


def _svg(width: float, height: float, inner: str, label: str | None, kind: str) -> str:
    accessibility = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'{accessibility} focusable="false">{inner}</svg>'
    )


def range_mark(estimate: Estimate, low: float, high: float, zero: bool = False) -> str:
    """A dot with its interval on a scale from ``low`` to ``high``; only the scale if there are too few cases.

    Examples
    --------
    >>> "circle" in range_mark(Estimate(value=0.5, low=0.4, high=0.6, cases=30), 0.0, 1.0)
    True
    """
    width, height = _RANGE
    middle = height / 2

    def x(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return 5.0 + (width - 10.0) * min(max(share, 0.0), 1.0)

    inner = f'<line class="track" x1="5" x2="{width - 5:g}" y1="{middle:g}" y2="{middle:g}"/>'
    if zero and low < 0.0 < high:
        inner += f'<line class="axis" x1="{x(0.0):.1f}" x2="{x(0.0):.1f}" y1="2" y2="{height - 2:g}"/>'
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        ends = f'x1="{x(estimate.low):.1f}" x2="{x(estimate.high):.1f}"'
        inner += f'<line class="range" {ends} y1="{middle:g}" y2="{middle:g}"/>'
        inner += f'<circle class="dot" cx="{x(estimate.value):.1f}" cy="{middle:g}" r="4"/>'
    return _svg(width, height, inner, None, "mark")


def spark(counts: Sequence[int]) -> str:
    """A small histogram.

    Examples
    --------
    >>> spark([1, 2]).count("<rect")
    2
    """
    width, height = _SPARK
    tallest, step = max([*counts, 1]), width / max(len(counts), 1)
    bars = "".join(
        f'<rect x="{k * step:.1f}" y="{height - height * count / tallest:.1f}" width="{max(step - 1.5, 1.0):.1f}" '
        f'height="{height * count / tallest:.1f}"/>'
        for k, count in enumerate(counts)
    )
    return _svg(width, height, bars, None, "spark")


def bar(rows: float, max_rows: float, rare: float) -> str:
    """A horizontal bar of a class.

    Examples
    --------
    >>> 'class="rare"' in bar(5, 10, 1.0)
    True
    """
    width, height = 320.0, 16.0
    length = max(width * rows / max_rows if max_rows > 0 else 0.0, 1.5)
    inner = f'<rect class="track" width="{width:g}" height="{height:g}" rx="3"/>'
    inner += f'<rect class="{"rare" if rare > 0.5 else "fill"}" width="{length:.1f}" height="{height:g}" rx="3"/>'
    return _svg(width, height, inner, None, "bar")


def weight_bar(share: float, negative: bool) -> str:
    """A bar for a weight relative to the largest one; negative weights have another colour.

    Examples
    --------
    >>> 'class="rare" width="36.0"' in weight_bar(0.5, True)
    True
    """
    inner = '<rect class="track" width="72" height="6" rx="2"/>'
    inner += f'<rect class="{"rare" if negative else "fill"}" width="{72 * share:.1f}" height="6" rx="2"/>'
    return _svg(72, 6, inner, None, "bar")


def histogram(bars: Sequence[Bar], label: str) -> str:
    """A histogram of the target, with the rare rows of each bin on top in another colour.

    Examples
    --------
    >>> histogram([Bar(name="0 to 1", rows=4, rare=0.5)], "ages").count("<rect")
    2
    """
    width, height = _HISTOGRAM
    left, bottom = 44.0, 24.0
    tallest = max([bin_.rows for bin_ in bars] + [1])
    step = (width - left) / max(len(bars), 1)
    plot_height = height - bottom - 10.0
    inner = ""
    for share in (0.0, 0.5, 1.0):
        y = 10.0 + plot_height * (1.0 - share)
        inner += f'<line class="grid" x1="{left:g}" x2="{width:g}" y1="{y:.1f}" y2="{y:.1f}"/>'
        inner += f'<text x="{left - 6:g}" y="{y + 4:.1f}" text-anchor="end">{share * tallest:,.0f}</text>'
    for k, bin_ in enumerate(bars):
        bar_height = plot_height * bin_.rows / tallest
        rare_height = plot_height * bin_.rows * bin_.rare / tallest
        x, bar_width = left + k * step + 0.75, max(step - 1.5, 1.0)
        bar_top = 10.0 + plot_height - bar_height
        common_part = ("fill", bar_top + rare_height, bar_height - rare_height)
        rare_part = ("rare", bar_top, rare_height)
        for css_class, top, part_height in (common_part, rare_part):
            if part_height > 0:
                title = f"<title>{escape(bin_.name)}: {bin_.rows:,.0f} rows</title>"
                geometry = f'x="{x:.1f}" y="{top:.1f}" width="{bar_width:.1f}" height="{part_height:.1f}"'
                inner += f'<rect class="{css_class}" {geometry}>{title}</rect>'
    ends = (bars[0].name.split(" to ")[0], bars[-1].name.split(" to ")[-1]) if bars else ("", "")
    inner += f'<text x="{left:g}" y="{height - 6:g}">{escape(ends[0])}</text>'
    inner += f'<text x="{width:g}" y="{height - 6:g}" text-anchor="end">{escape(ends[1])}</text>'
    return _svg(width, height, inner, label, "chart")


def reliability(curve: Reliability) -> str:
    """A reliability diagram: observed share of a class against its predicted probability.

    Examples
    --------
    >>> "predicted" in reliability(Reliability(name="yes", bins=()))
    True
    """
    size, margin = _SQUARE, _MARGIN
    extent = size - margin - 10.0

    def x(value: float) -> float:
        return margin + extent * value

    def y(value: float) -> float:
        return 10.0 + extent * (1.0 - value)

    inner = ""
    for tick in (0.0, 0.5, 1.0):
        inner += f'<line class="grid" x1="{x(0):.1f}" x2="{x(1):.1f}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        inner += f'<text x="{margin - 5:g}" y="{y(tick) + 4:.1f}" text-anchor="end">{100 * tick:.0f}&#8239;%</text>'
        anchor = "start" if tick == 0.0 else "end" if tick == 1.0 else "middle"
        inner += f'<text x="{x(tick):.1f}" y="{y(0) + 15:.1f}" text-anchor="{anchor}">{100 * tick:.0f}&#8239;%</text>'
    inner += f'<line class="axis dashed" x1="{x(0):.1f}" y1="{y(0):.1f}" x2="{x(1):.1f}" y2="{y(1):.1f}"/>'
    points = []
    for bin_ in curve.bins:
        observed = bin_.came_true
        if observed.value is None or observed.low is None or observed.high is None:
            continue
        px = x(bin_.probability)
        inner += (
            f'<line class="range" x1="{px:.1f}" x2="{px:.1f}" y1="{y(observed.low):.1f}" y2="{y(observed.high):.1f}"/>'
        )
        points.append(f"{px:.1f},{y(observed.value):.1f}")
        title = (
            f"<title>{bin_.probability:.1%} predicted, {observed.value:.1%} came true, {observed.cases} cases</title>"
        )
        inner += f'<circle class="dot" cx="{px:.1f}" cy="{y(observed.value):.1f}" r="4">{title}</circle>'
    inner += f'<polyline class="line" points="{" ".join(points)}"/>'
    label = f"Reliability of {curve.name}: observed share against predicted probability"
    return _svg(size, size, inner, label, "chart square")
