"""The report as a single HTML file without network requests, with a strict content-security policy."""

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
#: Characters that could end a script element, or that older JavaScript treats as line ends.
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def write_report(path: str | os.PathLike[str], data: ReportData) -> None:
    """Write a report to a file; on failure, no partial file is left.

    Parameters
    ----------
    path : path of the HTML file, in an existing folder
    data : ReportData
        Result of :func:`collect`.

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
    """Render the page as a string.

    Parameters
    ----------
    data : ReportData

    Returns
    -------
    str
    """
    jinja2 = import_extra("jinja2", "report")
    templates = environment(str(__package__))
    templates.filters.update(
        share_range=_share_range, number_range=_number_range, score_range=_score_range, as_estimate=_score_estimate
    )
    templates.globals["errors_scale"] = _scale
    folder = files(__package__) / "templates"
    style = page_style()
    script = '"use strict";\n(() => {\n' + "".join((folder / name).read_text("utf-8") for name in _SCRIPTS) + "})();\n"
    page: str = templates.get_template("page.html").render(
        data=data,
        embedded=jinja2.utils.markupsafe.Markup(embedded_json(_for_script(data))),
        style=jinja2.utils.markupsafe.Markup(style),
        script=jinja2.utils.markupsafe.Markup(script),
        policy=policy(style, script),
    )
    return page


def environment(package: str) -> Any:
    """Environment for the templates of a package: values are escaped, undefined names are errors.

    Examples
    --------
    >>> environment("dsna.report").from_string("{{ name }} {{ 0.5|share }}").render(name="<b>")
    '&lt;b&gt; 50.0 %'
    """
    jinja2 = import_extra("jinja2", "report")
    folder = files(package) / "templates"
    templates = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(share=as_share, number=as_number, score=written)
    templates.globals.update({name: _as_markup(jinja2, getattr(svg, name)) for name in _PICTURES})
    return templates


def page_style() -> str:
    """Style sheet of all pages.

    Examples
    --------
    >>> "prefers-color-scheme: dark" in page_style()
    True
    """
    return (files(__package__) / "templates" / "page.css").read_text("utf-8")


_PICTURES = ("range_mark", "spark", "bar", "weight_bar", "histogram", "reliability")


def _as_markup(jinja2: Any, draw: Any) -> Any:
    return lambda *args: jinja2.utils.markupsafe.Markup(draw(*args))


def _for_script(data: ReportData) -> dict[str, Any]:
    """Data for the script of the page; all other data is in the HTML."""
    plain = data.plain()
    names = ("task", "model_file", "data_file", "classes", "fewest", "decide", "why")
    return {"target": plain["data"]["target"], **{name: plain[name] for name in names}}


def embedded_json(value: Any) -> str:
    r"""Serialize a value to JSON that is safe inside a script element.

    Examples
    --------
    >>> embedded_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return "".join(_ESCAPES.get(letter, letter) for letter in text) if any(c in text for c in _ESCAPES) else text


def policy(style: str, script: str) -> str:
    """Content-security policy that allows this style and this script only.

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
    """Format a share in per cent.

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
    """Format a number with four significant digits and thousands separators.

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


def _score_range(score: Estimate | Score) -> str:
    return f"{written(score.low)} to {written(score.high)}" if score.low is not None and score.high is not None else ""


def _score_estimate(score: Score) -> Estimate:
    return Estimate(value=score.mean, low=score.low, high=score.high, cases=0)


def _scale(estimates: list[Estimate]) -> tuple[float, float]:
    """Ends of a scale that contains all intervals and zero."""
    ends = [end for estimate in estimates for end in (estimate.low, estimate.high) if end is not None]
    return min([*ends, 0.0]), max([*ends, 0.0])
