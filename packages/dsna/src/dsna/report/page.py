"""The report as one HTML file: no request to any network, no plotting library, a strict content-security policy."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._utils.atomic import check_outputs, write_atomically
from .._utils.optional import import_extra
from ..inspection.figures import written
from . import svg
from .data import Estimate, ReportData, Score

_SCRIPTS = ("base.js", "decide.js", "balance.js", "cases.js", "start.js")
#: Letters that could end a script element, or that JavaScript once took for ends of lines.
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def write_report(path: str | os.PathLike[str], data: ReportData) -> None:
    """Write a report to a file, whole or not at all.

    Parameters
    ----------
    path : path of the HTML file, in a folder that is there
    data : ReportData
        As :func:`collect` returns it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_wine
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.report import collect, write_report
    >>> X, y = load_wine(return_X_y=True)
    >>> model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "page.html", collect(model, X, y))
    ...     (Path(folder) / "page.html").stat().st_size < 1e6
    True
    """
    check_outputs(files=[path])
    write_atomically(Path(path), render_report(data).encode("utf-8", "replace"))


def render_report(data: ReportData) -> str:
    """The page as a string.

    Parameters
    ----------
    data : ReportData

    Returns
    -------
    str
    """
    jinja2 = import_extra("jinja2", "report")
    made = environment(str(__package__))
    made.filters.update(
        share_range=_share_range, number_range=_number_range, score_range=_score_range, as_estimate=_score_estimate
    )
    made.globals["errors_scale"] = _scale
    folder = files(__package__) / "templates"
    style = page_style()
    script = '"use strict";\n(() => {\n' + "".join((folder / name).read_text("utf-8") for name in _SCRIPTS) + "})();\n"
    page: str = made.get_template("page.html").render(
        data=data,
        embedded=jinja2.utils.markupsafe.Markup(embedded_json(_for_script(data))),
        style=jinja2.utils.markupsafe.Markup(style),
        script=jinja2.utils.markupsafe.Markup(script),
        policy=policy(style, script),
    )
    return page


def environment(package: str) -> Any:
    """Where templates of a package are found and filled in: every value is escaped, every name must be there.

    Examples
    --------
    >>> environment("dsna.report").from_string("{{ name }} {{ 0.5|share }}").render(name="<b>")
    '&lt;b&gt; 50.0 %'
    """
    jinja2 = import_extra("jinja2", "report")
    folder = files(package) / "templates"
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(share=as_share, number=as_number, score=written)
    made.globals.update({name: _drawn(jinja2, getattr(svg, name)) for name in _DRAWN})
    return made


def page_style() -> str:
    """The style sheet that all pages share.

    Examples
    --------
    >>> "prefers-color-scheme: dark" in page_style()
    True
    """
    return (files(__package__) / "templates" / "page.css").read_text("utf-8")


_DRAWN = ("range_mark", "spark", "bar", "weight_bar", "histogram", "reliability")


def _drawn(jinja2: Any, draw: Any) -> Any:
    return lambda *args: jinja2.utils.markupsafe.Markup(draw(*args))


def _for_script(data: ReportData) -> dict[str, Any]:
    """What the page's script needs; the rest of the data is in its HTML."""
    plain = data.plain()
    kept = ("task", "model_file", "data_file", "classes", "fewest", "decide", "why")
    return {"target": plain["data"]["target"], **{name: plain[name] for name in kept}}


def embedded_json(value: Any) -> str:
    r"""JSON that can stand inside a script element.

    Examples
    --------
    >>> embedded_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return "".join(_ESCAPES.get(letter, letter) for letter in text) if any(c in text for c in _ESCAPES) else text


def policy(style: str, script: str) -> str:
    """A content-security policy that lets this style and this script in, and nothing else.

    Examples
    --------
    >>> policy("", "").split("; ")[0]
    "default-src 'none'"
    """
    hashes = [b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii") for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; base-uri 'none'; "
        "form-action 'none'"
    )


def as_share(value: float | None) -> str:
    """A share in per cent, for a reader.

    Examples
    --------
    >>> as_share(0.9781), as_share(0.00042), as_share(1), as_share(None)
    ('97.8 %', '0.042 %', '100 %', '–')
    """
    if value is None:
        return "–"
    percent = 100.0 * value
    if percent == 0 or abs(percent) >= 99.95:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if abs(percent) >= 1 else f"{percent:.2g} %"


def as_number(value: float | None) -> str:
    """A number for a reader: four significant digits, thousands apart.

    Examples
    --------
    >>> as_number(44.7625), as_number(12345.6), as_number(-3), as_number(None)
    ('44.76', '12,346', '−3', '–')
    """
    if value is None:
        return "–"
    text = f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
    return text.replace("-", "−")


def _share_range(estimate: Estimate) -> str:
    return f"{as_share(estimate.low)} to {as_share(estimate.high)}".replace(" % to", " to")


def _number_range(estimate: Estimate) -> str:
    return f"{as_number(estimate.low)} to {as_number(estimate.high)}"


def _score_range(one: Estimate | Score) -> str:
    return f"{written(one.low)} to {written(one.high)}" if one.low is not None and one.high is not None else ""


def _score_estimate(score: Score) -> Estimate:
    return Estimate(value=score.mean, low=score.low, high=score.high, cases=0)


def _scale(estimates: list[Estimate]) -> tuple[float, float]:
    """Ends of a scale that holds all ranges and zero."""
    ends = [end for one in estimates for end in (one.low, one.high) if end is not None]
    return min([*ends, 0.0]), max([*ends, 0.0])
