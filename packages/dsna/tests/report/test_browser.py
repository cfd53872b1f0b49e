"""The page in a real browser: no error, no request, and everything that can be clicked works."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from dsna.report import write_report

from .browser import browser, complaints_of, requests_of
from .small_reports import ARABIC, CLOSING, EMOJI, FORMULA, PICTURE, SCRIPT, report, three_classes, two_classes

NAMES = ("two", "three", "targets", "mixed")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name in NAMES:
        write_report(folder / f"{name}.html", report(name))
    return folder


@pytest.fixture
def page(driver, pages, request):
    """The page that the test names, opened; afterwards nothing may have gone wrong."""
    path = pages / f"{request.param}.html"
    driver.get("about:blank")
    requests_of(driver)  # those of the browser's own first page
    driver.get(path.as_uri())
    yield driver
    assert complaints_of(driver) == []
    assert set(requests_of(driver)) <= {path.as_uri()}
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert driver.execute_script("return window.hacked") is None


def on(name):
    return pytest.mark.parametrize("page", [name], indirect=True)


def texts(driver, selector):
    return driver.execute_script("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)", selector)


def text(driver, selector):
    return texts(driver, selector)[0]


def click(driver, selector, number=0):
    driver.execute_script(
        "const e = document.querySelectorAll(arguments[0])[arguments[1]]; e.scrollIntoView({block: 'center'})",
        selector,
        number,
    )
    driver.find_elements("css selector", selector)[number].click()


def put(driver, selector, value):
    """Move a slider, or fill a field, as a user does."""
    driver.execute_script(
        "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('input', {bubbles: true}))",
        selector,
        value,
    )


def confusion_on(driver):
    """Counts per 1,000 cases that the page shows."""
    lines = driver.execute_script(
        "return [...document.querySelectorAll('.confusion tbody tr')].slice(0, -1)"
        ".map(r => [...r.querySelectorAll('td.right, td.wrong')].map(c => c.innerText))"
    )
    return np.array([[float(cell.replace(",", "")) for cell in line] for line in lines])


def expected_confusion(model, y, decision):
    view = model.with_decision(decision)
    truth, weight = y[model.oob_rows_], model._oob_weight
    return 1000 / weight.sum() * confusion_matrix(truth, view.oob_prediction_, sample_weight=weight)


@pytest.mark.parametrize("page", NAMES, indirect=True)
def test_pages_open_without_a_complaint(page):
    assert len(page.find_elements("css selector", "main section")) == 5
    assert len(texts(page, "#cases tbody tr")) > 0
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")


@on("two")
def test_costs_decide_as_the_model_would(page):
    _, y, model = two_classes()
    for miss, alarm in ((20, 1), (3, 2)):
        put(page, "#cost-miss-field", miss)
        put(page, "#cost-alarm-field", alarm)
        costs = [[0, alarm], [miss, 0]]
        expected = expected_confusion(model, y, costs)
        np.testing.assert_allclose(confusion_on(page), expected, rtol=0.02, atol=0.5)
        words = shlex.split(text(page, "#command"))
        assert words[:4] == ["dsna", "predict", "my model.dsna", "new.csv"]
        assert json.loads(words[words.index("--costs") + 1]) == costs
        mean = float(np.sum(np.array(costs) * expected))
        shown = [float(number.replace(",", "")) for number in re.findall(r"[\d,.]*\d", text(page, "#cost"))]
        assert shown[1] == pytest.approx(mean, rel=0.03)
        assert shown[3] < shown[1] < shown[4]
    assert float(text(page, "#threshold").split()[0]) == pytest.approx(40.0)


@on("two")
def test_the_page_opens_at_the_models_own_decision(page):
    _, y, model = two_classes()
    least = 100 * model.decision_threshold_.probability
    assert float(text(page, "#threshold").split()[0]) == pytest.approx(least, rel=0.02)
    assert f"predicts {model.decision_threshold_.rare_class} from a probability of" in text(page, "#own")
    np.testing.assert_allclose(confusion_on(page), expected_confusion(model, y, "balanced"), rtol=0.05, atol=2.0)
    assert len(page.find_elements("css selector", "#decide svg.chart circle.dot")) == 1


@on("two")
def test_a_wish_that_cannot_be_reached_says_so(page):
    wishes = [one for one in report("two").decide.target_rates if one.kind == "precision"]
    click(page, "[data-choice=precision]")
    for number, wish in enumerate(wishes):
        put(page, "#target-precision", number)
        assert ("cannot be reached" in text(page, "output[for=target-precision]")) == (wish.reached is not None)


@on("two")
def test_sliders_and_wishes_follow_at_once(page):
    before = text(page, "#threshold")
    put(page, "#cost-miss", 2)
    assert page.execute_script("return document.getElementById('cost-miss-field').value") == "100"
    assert text(page, "#threshold") != before
    click(page, "[data-choice=recall]")
    wishes = [one for one in report("two").decide.target_rates if one.kind == "recall"]
    assert f"--decision '{wishes[5].decision}'" in text(page, "#command")
    put(page, "#target-recall", 7)
    assert f"--decision '{wishes[7].decision}'" in text(page, "#command")
    threshold = float(text(page, "#threshold").split()[0])
    assert threshold == pytest.approx(100 * wishes[7].threshold, rel=0.06)
    assert "recall is" in text(page, "#beside")
    click(page, "[data-choice=precision]")
    assert "--decision 'precision>=.5'" in text(page, "#command")


@on("three")
def test_a_matrix_of_costs_decides_as_the_model_would(page):
    _, y, model = three_classes()
    put(page, "[data-cost='2,0']", 50)
    put(page, "[data-cost='0,1']", 4)
    costs = [[0, 4, 1], [1, 0, 1], [50, 10, 0]]
    np.testing.assert_allclose(confusion_on(page), expected_confusion(model, y, costs), rtol=0.02, atol=0.5)
    words = shlex.split(text(page, "#command"))
    assert json.loads(words[words.index("--costs") + 1]) == costs


@on("targets")
def test_the_balance_moves_errors_and_command(page):
    decide = report("targets").decide
    put(page, "#balance", 0)
    assert text(page, "#balance-value") == "0"
    assert f"{decide.points[0].overall.value:.3g}" in text(page, "#verdict")
    words = shlex.split(text(page, "#command"))
    assert words == ["dsna", "train", "it's.csv", "--target", "y", "--balance", "0", "-o", "my model.dsna"]


@on("targets")
def test_cases_sort_filter_and_search(page):
    click(page, "[data-choice=all]")
    assert text(page, "#count").startswith("400 cases")
    for _ in range(2):
        click(page, "th[data-key=error] button")
    assert page.execute_script("return document.querySelector('th[data-key=error]').getAttribute('aria-sort')") == (
        "descending"
    )
    errors = [abs(float(cell.replace("−", "-"))) for cell in texts(page, "#cases tbody td:nth-child(4)")]
    assert errors == sorted(errors, reverse=True)
    first = texts(page, "#cases tbody th")[0]
    click(page, ".pager button", 1)
    assert texts(page, "#cases tbody th")[0] != first
    click(page, "[data-choice=missed]")
    assert all("rare" in cell for cell in texts(page, "#cases tbody td:nth-child(2)"))
    click(page, "[data-choice=all]")
    number = report("targets").why.rows.number[report("targets").why.cases.row[7]]
    page.find_element("css selector", "#search").send_keys(f"row {number}")
    assert f"row {number}" in texts(page, "#cases tbody th")
    page.find_element("css selector", "#search").send_keys(" nothing like that")
    assert "No matching case" in text(page, "#cases tbody")


@on("three")
def test_a_case_shows_the_rows_that_it_is_made_of(page):
    click(page, "[data-choice=all]")
    why = report("three").why
    click(page, "[data-open]", 3)
    case = int(page.find_elements("css selector", "[data-open]")[3].get_attribute("data-open"))
    assert texts(page, ".beside thead th") == [
        "Column",
        "This case",
        *(why.rows.id[k] for k in why.cases.neighbors[case]),
    ]
    own = texts(page, ".beside tbody tr:nth-child(3) td")
    assert float(own[0].replace("−", "-")) == pytest.approx(why.rows.cells[why.cases.row[case]][0], rel=1e-4)
    assert page.execute_script("return document.activeElement.tagName") == "H3"
    marked = len(texts(page, ".beside td.differs"))
    assert marked > 0
    lines = len(texts(page, ".beside tbody tr"))
    click(page, "#only")
    assert 2 < len(texts(page, ".beside tbody tr")) <= lines
    assert "Plain averaging" in text(page, "#detail")


@on("two")
def test_a_suspect_leads_to_its_neighbours(page):
    doubts = report("two").suspects.doubts
    assert doubts
    click(page, "[data-case]")
    rows = report("two").why
    assert rows.rows.id[rows.cases.row[doubts[0].case]] in text(page, "#detail h3")


@on("three")
def test_the_theme_turns_and_stays(page):
    back = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(back)
    click(page, "#theme")
    assert page.execute_script(back) != light
    assert text(page, "#theme") == "Light theme"
    page.refresh()
    assert page.execute_script(back) != light
    click(page, "#theme")
    assert page.execute_script(back) == light


@on("mixed")
def test_hostile_names_and_values_are_text(page):
    click(page, "[data-choice=all]")
    click(page, "[data-open]", 0)
    assert len(page.find_elements("css selector", "img, iframe, object, link")) == 0
    assert len(page.find_elements("css selector", "script")) == 2
    assert text(page, "h1") == SCRIPT
    names = texts(page, ".beside tbody th")
    for name in (SCRIPT, CLOSING, EMOJI, ARABIC, PICTURE):
        assert name in names
    page.find_element("css selector", "#search").send_keys(FORMULA[:12])
    assert 0 < len(texts(page, "#cases tbody tr")) < 400
    assert shlex.split(text(page, "#command"))[2] == "./-x'y.dsna"


@on("mixed")
def test_the_page_fits_a_phone(page):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    click(page, "[data-choice=all]")
    click(page, "[data-open]", 0)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 390
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@on("two")
def test_keys_and_readers_find_their_way(page):
    unnamed = page.execute_script(
        "return [...document.querySelectorAll('input, button, select')].filter(e =>"
        " !(e.labels && e.labels.length) && !e.getAttribute('aria-label') && !e.textContent.trim()).length"
    )
    assert unnamed == 0
    assert page.execute_script("return [...document.querySelectorAll('table')].every(t => t.caption)")
    assert page.execute_script("return document.querySelectorAll('header, nav, main, footer').length") == 4
    page.execute_script("document.querySelector('.skip').focus()")
    assert page.execute_script("return document.activeElement.getBoundingClientRect().left") >= 0
    page.find_element("css selector", "[data-open]").send_keys("\n")
    assert text(page, "#detail h3").startswith("Prediction for")
