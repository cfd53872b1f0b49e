"""The page as text: escaped, small, strict, self-contained."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from dsna._utils.atomic import FileError
from dsna.report import About, collect, render_report, write_report

from .small_reports import CLOSING, LONG, SCRIPT, report, targets, three_classes

NAMES = ("two", "three", "targets", "mixed")


class Elements(HTMLParser):
    """Elements of a page with their attributes, and the text inside each script and style."""

    def __init__(self, page):
        super().__init__()
        self.found, self.inside, self.open = [], {}, False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.open = True

    def handle_endtag(self, tag):
        self.open = False

    def handle_data(self, data):
        if self.open:
            tag, attributes = self.found[-1]
            key = (tag, attributes.get("type"))
            self.inside[key] = self.inside.get(key, "") + data


@pytest.fixture(scope="module")
def pages():
    return {name: render_report(report(name)) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_there_is_one_script_one_style_and_a_policy_that_lets_only_these_in(pages, name):
    read = Elements(pages[name])
    policy = next(a["content"] for tag, a in read.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        digest = base64.b64encode(hashlib.sha256(read.inside[tag, None].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert [a.get("type") for tag, a in read.found if tag == "script"] == ["application/json", None]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_fetched_and_nothing_is_run_from_attributes(pages, name):
    for tag, attributes in Elements(pages[name]).found:
        assert tag not in ("img", "link", "iframe", "object", "embed", "base", "form")
        for key, value in attributes.items():
            assert not key.startswith("on")
            assert key not in ("src", "style", "srcset", "action")
            assert key != "href" or value.startswith("#")
    script = Elements(pages[name]).inside["script", None]
    assert not re.search(
        r"\beval\b|\bFunction\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|fetch\(|XMLHttp", script
    )


def test_hostile_text_is_escaped_and_bounded(pages):
    page = pages["mixed"]
    assert SCRIPT not in page
    assert page.count("</script>") == 2
    assert LONG not in page
    assert LONG[:300] in page
    assert "\x00" not in page
    assert "\u202e" not in page
    held = json.loads(Elements(page).inside["script", "application/json"])
    assert held["target"] == CLOSING
    assert held["why"]["rows"]["names"][0] == SCRIPT


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_small(pages, name):
    page = pages[name]
    shown = len(json.dumps(report(name).plain()["why"]))
    assert len(page.encode()) - shown < 250_000
    assert len(page.encode()) < 1_000_000


def test_figures_are_rounded_once_and_as_the_commands_do():
    X, y, model = three_classes()
    scores = [{"method": "ours", "metric": "R2", "mean": 0.82649, "low": 0.73449, "high": 0.9}]
    about = About(scores_from="Made on the moon.")
    page = render_report(collect(model, X, y, scores=scores, about=about))
    assert "<strong>0.826</strong>" in page  # and not 0.827, of 0.8265
    assert "0.734 to 0.900" in page
    assert "Made on the moon." in page
    assert "All figures, except the comparison with other methods, are" in page
    alone = render_report(collect(model, X, y))
    assert "All figures are based on" in alone
    assert "cross-validation" not in alone


def test_the_card_of_r2_is_written_as_the_command_writes_it(pages):
    model = targets()[2]
    assert re.search(rf'<dd class="big">\s*{model.oob_score_:.3f}\s*</dd>', pages["targets"])


def test_too_few_cases_are_said(pages):
    assert "too few to say" in pages["targets"]


def test_reports_are_written_whole_where_they_can_be(tmp_path):
    write_report(tmp_path / "page.html", report("three"))
    assert (tmp_path / "page.html").read_text("utf-8") == render_report(report("three"))
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(FileError, match="there is no folder"):
        write_report(tmp_path / "nowhere" / "page.html", report("three"))


def test_the_same_model_makes_the_same_page():
    X, y, model = three_classes()
    assert render_report(collect(model, X, y)) == render_report(collect(model, X, y))
