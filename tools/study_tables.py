"""What the studies say of the results in docs/studies/*.csv.gz, without the pictures, and the sizes of tables.

A file is the `results.csv` of a run, packed: `gzip -9nc results.csv > docs/studies/age.csv.gz`. True ages and angles
are in it, so tables are written by the study's own code; `tools/results_blocks.py` puts them into the pages.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from dsna_studies.age.collections import FaceCollection
from dsna_studies.age.plan import FaceExperiment
from dsna_studies.age.plan import experiments as face_experiments
from dsna_studies.age.protocols import three_subsets
from dsna_studies.age.study import AgeStudy, Options
from dsna_studies.edges.comparison import pairs_table
from dsna_studies.edges.published import TABLE_1
from dsna_studies.edges.rare.comparison import rare_table
from dsna_studies.edges.runs import LAYOUT as EDGES_LAYOUT
from dsna_studies.pages import markdown
from dsna_studies.pictures.experiments import Experiment
from dsna_studies.pictures.jobs import LAYOUT, parse_labels
from dsna_studies.pictures.splits import Split
from dsna_studies.pose.methods import GAP_METHODS, REMOVAL_METHODS, SWEEP_METHODS, TABLE_METHODS
from dsna_studies.pose.page import sections as pose_sections
from dsna_studies.pose.protocols import GAPS
from dsna_studies.results_file import Layout, load_results
from dsna_vision.datasets import PictureSet

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "studies"
_TIMES = "Time on one thread"  # other work on the machine is in them


def stored(study: str, layout: Layout) -> pd.DataFrame:
    """The packed results of a study."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "results.csv")
        path.write_bytes(gzip.decompress((FOLDER / f"{study}.csv.gz").read_bytes()))
        return load_results(path, layout)


def age() -> list[str]:
    """Paragraphs on the ages."""
    results = stored("age", LAYOUT)
    study = AgeStudy(Options(data=Path(), out=Path()))
    study.experiments = [
        one for name in results["collection"].unique() for one in _faces(results[results["collection"] == name])
    ]
    page = study.sections(results)[0]
    return [part for at, part in enumerate(page) if _TIMES not in page[max(at - 1, 0) : at + 1]]


def _faces(results: pd.DataFrame) -> list[FaceExperiment]:
    """The experiments on a collection, as they were planned, from the ages and persons that its results hold."""
    first = results[results["protocol"] == results["protocol"].iloc[0]]
    first = first[first["method"] == first["method"].iloc[0]].sort_values("fold")
    truth = [parse_labels(text) for text in first["truth"]]
    ages, persons = np.concatenate(truth), np.repeat(first["fold"].to_numpy(), first["n"].astype(int))
    if first["protocol"].iloc[0] == "S1, S2, S3":  # the last third is asked about twice
        ages, persons = np.empty(len(ages) * 3 // 4), None
        for split, found in zip(three_subsets(len(ages)), truth, strict=True):
            ages[split.test] = found
    faces = PictureSet([Path("face.jpg")] * len(ages), ages, persons, [None] * len(ages))
    planned = face_experiments([FaceCollection(results["collection"].iloc[0], Path(), faces)])
    checksum = results["checksum"].iloc[0]
    return [replace(one, head=(one.head[0], checksum, *one.head[2:])) for one in planned]


def pose() -> list[str]:
    """Paragraphs on the poses; experiments that the results do not cover are named as unfinished or left out."""
    results = stored("pose", LAYOUT)
    head = tuple(results[list(LAYOUT.key[:3])].iloc[0])

    def planned(kind: str, protocol: str, methods: tuple[str, ...]) -> Experiment:
        mine = results[(results["protocol"] == protocol) & results["method"].isin(methods)]
        folds = sorted(mine["fold"].unique()) or ["not run"]
        splits = [Split(protocol, fold, np.empty(0), np.empty(0)) for fold in folds]
        return Experiment(kind, splits, methods, (*head, protocol))

    there = set(results["protocol"])
    everything = [
        planned("table", "5 folds", TABLE_METHODS),
        planned("persons", "5 person folds", TABLE_METHODS),
        *(planned("removal", name, REMOVAL_METHODS) for name in sorted(there) if name.endswith("removed")),
        *(planned("gap", gap.name, GAP_METHODS) for gap in GAPS if gap.name in there),
        planned("sweep", "5 folds", SWEEP_METHODS),
    ]
    return pose_sections(everything, results)[0]


def edges() -> list[str]:
    """Tables of the study: methods, means over seeds and the range of ODS; pairs; halves of the photos; the rare."""
    results = stored("edges", EDGES_LAYOUT)
    pairs, rare, halves = (pd.read_csv(FOLDER / f"edges_{name}.csv").fillna("") for name in ("pairs", "rare", "halves"))
    second = pairs["method"].str.contains("@2")
    return [
        "# methods, one level",
        _edge_methods(results, results.loc[results["scales"] == "single", "method"]),
        "# methods, two levels",
        _edge_methods(results, halves["method"]),
        "# pairs, one level",
        markdown(pairs_table(pairs[~second])),
        "# pairs, two levels",
        markdown(pairs_table(pairs[second])),
        "# halves",
        markdown(halves.set_index("method").rename_axis(None)),
        "# rare",
        markdown(rare_table(rare)),
    ]


def _edge_methods(results: pd.DataFrame, methods: Iterable[str]) -> str:
    rows = {}
    for name in methods:
        mine = results[results["method"] == name]
        if len(mine) == 0:
            continue
        if len(mine[["train", "test", "settings"]].drop_duplicates()) > 1:
            raise SystemExit(f"edges.csv.gz: {name} was run with several settings. Remedy: keep the lines of one.")
        seeds = sorted(mine["seed"])
        rows[name] = mine[["ods", "ois", "ap", "r50"]].mean().set_axis(["ODS", "OIS", "AP", "R50"]).to_dict() | {
            "ODS, lowest and highest": f"{mine['ods'].min():.4f} to {mine['ods'].max():.4f}" if len(seeds) > 1 else "",
            "seeds": ", ".join(map(str, seeds)),
        }
        if any(one in TABLE_1 for one in methods):
            rows[name]["ODS, published (test photos)"] = f"{TABLE_1[name]:.2f}" if name in TABLE_1 else ""
    found = pd.DataFrame.from_dict(rows, orient="index")
    told = found.columns[(found != "").any()]  # lowest and highest of single seeds are not
    return markdown(found[told], dict.fromkeys(("ODS", "OIS", "AP", "R50"), 1))


def sizes() -> list[str]:
    """Time, memory and accuracy by size of table and method, and in words how ours grows: of benchmarks/sizes.py."""
    found = pd.read_csv(FOLDER / "sizes.csv").sort_values(["columns", "rows"], kind="stable")
    lines = [
        "| rows x columns | | CPU time of fit | of a query | peak memory | model | balanced accuracy |",
        "|---" * 7 + "|",
    ]
    for (columns, rows), of_size in found.groupby(["columns", "rows"]):
        best = of_size["balanced_accuracy"].max()
        for at, one in enumerate(of_size.itertuples()):
            cells = [f"{rows:,} x {columns}" if at == 0 else "", one.method]
            if one.outcome == "fitted":
                score = f"{one.balanced_accuracy:.3f}".removeprefix("0")
                cells += [
                    f"{_digits(one.fit_seconds)} s",
                    f"{_digits(1e6 * one.query_seconds)} us",
                    *(f"{_digits(size / 1e6)} MB" for size in (one.peak_bytes, one.model_bytes)),
                    f"**{score}**" if one.balanced_accuracy == best else score,
                ]
            else:
                cells += [one.outcome, "", "", "", ""]
            lines.append(f"| {' | '.join(cells)} |")
    ours = found[(found["method"] == "DSNA") & (found["columns"] == 20) & (found["rows"] >= 100_000)]
    first, last = ours.iloc[0], ours.iloc[-1]
    decades = np.log(last["rows"] / first["rows"])
    powers = [np.log(last[name] / first[name]) / decades for name in ("fit_seconds", "query_seconds")]
    grown = "From {:,} to {:,} rows, DSNA's time to fit grows as N^{:.2f} and its time of a query as N^{:.2f}."
    return ["# sizes", "\n".join(lines), grown.format(first["rows"], last["rows"], *powers)]


def _digits(value: float) -> str:
    """Two digits that count, or all before the point."""
    text = f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"
    return text.removeprefix("0")


STUDIES: dict[str, Callable[[], list[str]]] = {"age": age, "pose": pose, "edges": edges, "sizes": sizes}


@cache
def sections(study: str) -> dict[str, list[str]]:
    """Paragraphs of a study under each of its headings."""
    found: dict[str, list[str]] = {}
    for part in STUDIES[study]():
        if part.startswith("#"):
            title = part.lstrip("# ")
            found[title] = []
        else:
            found[title].append(part)
    return found


def section(study: str, words: str) -> str:
    """The section with these words in its heading, one level below those of the page; a lone table has none."""
    (title,) = [title for title in sections(study) if words in title]
    parts = sections(study)[title]
    return "\n\n".join(parts if study in ("edges", "sizes") else [f"### {title}", *parts]) + "\n"
