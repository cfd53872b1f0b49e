"""How fast does the report page answer, and how large is it? Measured in a real browser, with 10,000 cases.

    python benchmarks/report_page.py [--cases 10000] [--columns 30] [--repeats 15]

Needs chromium, chromedriver and selenium. Models are fitted on made tables of twice as many rows, of two and of
five classes and of a target; every case is explained on the page. Times are in milliseconds: CPU time of the page's
main thread for an event and the frame that shows its effect, and wall time from the event to its layout.
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
const k = arguments[0];
const start = performance.now();
ACTION;
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


def cpu_seconds(driver: Any) -> float:
    """CPU time of the main thread of the page."""
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "ThreadTime")


def timed(driver: Any, script: str, k: int) -> tuple[float, float]:
    """CPU and wall time of one action, in milliseconds."""
    before = cpu_seconds(driver)
    wall = driver.execute_script(script, k)
    driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))")
    return 1000 * (cpu_seconds(driver) - before), wall


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
                X, y, model = table(kind, 2 * asked.cases, asked.columns)
                start = time.process_time()
                data = collect(model, X, y, about=About(cases=asked.cases))
                collected = time.process_time() - start
                path = folder / "page.html"
                write_report(path, data)
                shown = len(json.dumps(data.plain()["why"], separators=(",", ":")))
                size = path.stat().st_size
                rows = len(data.why.rows.number)
                print(f"\n{kind}: {data.n_cases} cases, {rows} rows shown; collected in {collected:.1f} CPU s")
                parts = f"cases and rows {shown / 1e6:.2f} MB, the rest {(size - shown) / 1e6:.2f} MB"
                print(f"page {size / 1e6:.2f} MB, of which {parts}")
                start = time.perf_counter()
                driver.get(path.as_uri())
                driver.execute_cdp_cmd("Performance.enable", {})
                print(f"{'open the page':<24}{1000 * (time.perf_counter() - start):>9.0f} ms")
                time.sleep(3)  # the texts to search in are made meanwhile
                print(f"{'':<24}{'CPU':>9}{'worst':>9}{'wall':>14}{'worst':>9}")
                for what, action in {**own, **SHARED}.items():
                    script = MEASURE.replace("ACTION", action)
                    times = np.array([timed(driver, script, k) for k in range(asked.repeats)])
                    cpu, wall = np.median(times, axis=0), times.max(axis=0)
                    print(f"{what:<24}{cpu[0]:>9.1f}{wall[0]:>9.1f}{cpu[1]:>14.1f}{wall[1]:>9.1f}")
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
