"""Pictures of the README and of the first pages, from data that scikit-learn ships.

python tools/pictures.py            # docs/rare_cases.png
python tools/pictures.py --browser  # also docs/start/report_page.png: the page of `dsna demo` in Debian's chromium
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from dsna import DSNAClassifier

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def rare_cases(path: Path) -> None:
    """Twenty eights among other digits: what is found of new ones, and the training pictures behind one of them."""
    X, digit = load_digits(return_X_y=True)
    y = np.where(digit == 8, "eight", "other")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    keep = np.setdiff1d(np.arange(len(y_train)), np.flatnonzero(y_train == "eight")[20:])
    X_train, y_train = X_train[keep], y_train[keep]
    usual = RandomForestClassifier(random_state=0).fit(X_train, y_train).predict(X_test)
    model = DSNAClassifier(random_state=0).fit(X_train, y_train)
    ours, eight = model.predict(X_test), y_test == "eight"

    fig = plt.figure(figsize=(10, 2.6), layout="constrained")
    left, right = fig.subfigures(1, 2, width_ratios=[1, 2.1])
    ax = left.subplots()
    names = ["random forest", "dsna"]
    found = [np.sum(eight & (said == "eight")) for said in (usual, ours)]
    alarms = [np.sum(~eight & (said == "eight")) for said in (usual, ours)]
    ax.barh(names, found, 0.5, color=["#6f8299", "#c2410c"])
    notes = [f"{a} found, {b} false alarms" for a, b in zip(found, alarms, strict=True)]
    for place, note in enumerate(notes):
        ax.text(1, place + 0.3, note, fontsize=9, va="bottom")
    ax.set(xlim=(0, eight.sum()), xlabel=f"of {eight.sum()} new eights", ylim=(-0.4, 1.6))
    ax.spines[["top", "right"]].set_visible(False)

    missed = np.flatnonzero(eight & (ours == "eight") & (usual == "other"))
    query = X_test[[missed[model.predict_proba(X_test[missed])[:, 0].argmax()]]]
    rows = model.explain(query).frame(largest=5)
    axes = right.subplots(1, 6)
    axes[0].imshow(query.reshape(8, 8), cmap="Oranges")
    axes[0].set_title("a new\neight", fontsize=9)
    for ax, row in zip(axes[1:], rows.itertuples(), strict=True):
        ax.imshow(X_train[row.row].reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{y_train[row.row]}\nweight {row.weight:.2f}", fontsize=9)
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    right.suptitle("why this picture is called an eight: the training pictures behind the answer", fontsize=10)
    fig.savefig(path, dpi=110)


def report_page(path: Path) -> None:
    """The section of the page of `dsna demo` in which costs are moved."""
    sys.path.insert(0, str(ROOT / "packages" / "dsna"))
    from tests.report.browser import browser

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "dsna", "demo"], check=True, cwd=folder)
        with browser(folder / "profile") as driver:
            driver.set_window_size(1000, 1300)
            driver.get((folder / "dsna-demo" / "report.html").as_uri())
            driver.find_element("css selector", "#decide").screenshot(str(path))


if __name__ == "__main__":
    rare_cases(DOCS / "rare_cases.png")
    if "--browser" in sys.argv:
        report_page(DOCS / "start" / "report_page.png")
