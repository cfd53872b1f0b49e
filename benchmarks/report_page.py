"""How fast does the report page answer, and how large is it? Measured in a real browser, with 10,000 cases.

    python benchmarks/report_page.py [--cases 10000] [--columns 30] [--repeats 15]

Needs chromium, chromedriver and selenium. Models are fitted on made tables of four times as many rows, of two and of
five classes and of a target; every case is explained on the page. A time is from the event to the layout that shows its
effect, in milliseconds of wall time: the median and the worst of the repeats.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from selenium import webdriver
from sklearn.datasets import make_classification, make_regression

import dsna.base
from dsna import DSNAClassifier, DSNARegressor
from dsna.report import About, collect, write_report

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1200,1000",
)  # fmt: skip
#: What a user does, as JavaScript with the number of the repeat in `k`, by task.
SHARED = {
    "show all cases": "document.querySelector('[data-choice=all]').click()",
    "filter: worst errors": "document.querySelector('[data-choice=worst]').click()",
    "sort": "document.querySelectorAll('th button.sort')[1 + k % 5].click()",
    "search": "put('#search', ['row 1', '2', '0.5', 'class'][k % 4])",
    "clear the search": "put('#search', '')",
    "next page": "document.querySelectorAll('.pager button')[1].click()",
    "open a case": "document.querySelectorAll('[data-open]')[k % 15].click()",
    "turn the theme": "document.getElementById('theme').click()",
}
OWN = {
    "two classes": {"move a cost": "put('#cost-miss', -1 + 0.2 * k)"},
    "five classes": {"change a cost": "put('[data-cost=\"1,0\"]', 1 + k)"},
    "a target": {"move the balance": "put('#balance', k % 11)"},
}
MEASURE = """
const put = (selector, value) => {
  const e = document.querySelector(selector);
  e.value = value;
  e.dispatchEvent(new Event("input", {bubbles: true}));
};
const act = new Function("k", "put", arguments[0]);
const start = performance.now();
act(arguments[1], put);
document.body.getBoundingClientRect();
return performance.now() - start;
"""


def table(kind: str, n: int, columns: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """Rows, classes or targets, and a model that is fitted on them."""
    if kind == "a target":
        X, y = make_regression(n, columns, n_informative=8, noise=10.0, random_state=0)
        y = np.exp(y / np.std(y))
        return X, y, DSNARegressor(trend=None, random_state=0, n_jobs=1).fit(X, y)
    n_classes = 2 if kind == "two classes" else 5
    shares = [0.97] if n_classes == 2 else [0.6, 0.2, 0.1, 0.07]
    made = {"n_informative": 8, "n_classes": n_classes, "weights": shares, "flip_y": 0.02, "random_state": 0}
    X, code = make_classification(n, columns, **made)
    return X, code, DSNAClassifier(random_state=0, n_jobs=1).fit(X, code)


def browser(folder: Path) -> Any:
    """A driver of chromium with an empty profile."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def without_policy(path: Path) -> None:
    """Let the benchmark's own script in: the page's policy allows none but its own."""
    page = path.read_text("utf-8")
    start = page.index('<meta http-equiv="Content-Security-Policy"')
    path.write_text(page[:start] + page[page.index(">", start) + 1 :], "utf-8")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=15)
    asked = parser.parse_args()
    dsna.base._OOB_ROWS = asked.cases  # as many cases as are wanted, in place of 3,000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        driver = browser(folder)
        try:
            for kind, own in OWN.items():
                X, y, model = table(kind, 4 * asked.cases, asked.columns)
                start = time.process_time()
                data = collect(model, X, y, about=About(cases=asked.cases))
                collected = time.process_time() - start
                path = folder / "page.html"
                write_report(path, data)
                shown = len(json.dumps(data.plain()["why"], separators=(",", ":")))
                size = path.stat().st_size
                print(
                    f"\n{kind}: {data.n_cases} cases, {len(data.why.rows.number)} rows shown; collected in {collected:.1f} CPU s"
                )
                print(
                    f"page {size / 1e6:.2f} MB, of which cases and rows {shown / 1e6:.2f} MB, the rest {(size - shown) / 1e6:.2f} MB"
                )
                without_policy(path)
                start = time.perf_counter()
                driver.get(path.as_uri())
                print(f"{'open the page':<24}{1000 * (time.perf_counter() - start):>9.0f} ms")
                for what, action in {**own, **SHARED}.items():
                    times = [driver.execute_script(MEASURE, action, k) for k in range(asked.repeats)]
                    print(f"{what:<24}{np.median(times):>9.1f} ms median{max(times):>9.1f} ms worst")
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
