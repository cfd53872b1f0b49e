"""Sections of the page: tables with published figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..pages import markdown
from .comparison import Scored, compare, every_second_photo, pairs_table
from .methods import FULL, METHODS, PLAIN
from .published import TABLE_1, TABLE_4, TABLE_5
from .rare.comparison import rare_table
from .runs import LAYOUT, Run

_MARK = ", published (not run here)"
_SCORES = ("ODS", "OIS", "AP")
_BEST = dict.fromkeys((*_SCORES, "R50"), 1)
READING = """\
Scores as BSDS500 counts them: ODS is the best F at one threshold for all photos, OIS at each photo's own, AP the
average precision, R50 the recall at a precision of one half. Forests of one seed learn from equal numbers of patches
of the training photos. SE votes with the masks of its leaves. +DSNA, +AH and +kernel blend in the masks of the
patches in the leaves: by sparse approximation, by an affine hull, or with weights that decrease with distance; the
settings are those of EdgeDetector, the same for all. Trees of SE learn from all training photos; those of the forest
with patches in its leaves learn from half of them each, so that every photo has trees that have not seen it. @2: at
half and full size. Suffixes after @2 name a second level, which rescores the pixels of the thinned map; it learned
from maps by first levels trained without the photo. +boosted: boosted trees. +perceptrons: small perceptrons with two
hidden layers. +boosted+perceptrons: the mean of both. The paper's weighted and cost-sensitive splits (WRF, CS-SE) are
not run, as they gained nothing over single features. Nor is SE+SMOTE: a patch interpolated between two others would
need an interpolated segmentation. Published figures are quoted from Huang, Loy and Tang, for the test photos of
BSDS500. Seconds a photo: median on one thread during the run, affected by other work on the machine."""

_RARE = """\
Outlines of training masks are divided into 150 classes (k-means on blurred outlines; fewer classes if there are few
masks), of which the rarest fifth is called rare. Patches are searched for on a grid of eight pixels. Recall counts
the boundaries that an annotator drew in the 16 x 16 pixels of patches that are rare in the same drawing; precision
counts predicted pixels in the rare patches of any annotator, matched as in the scores above. Both methods are
compared at the precision of the second at its ODS threshold; counts are summed over seeds."""


def table(runs: Sequence[Run], stored: pd.DataFrame) -> pd.DataFrame:
    """Average the scores of runs on one collection over seeds.

    Parameters
    ----------
    runs : sequence of Run
        Runs, one for each method, which stands for all seeds.
    stored : data frame
        All results.

    Returns
    -------
    data frame
        Methods in rows; ODS, OIS, AP, R50, the spread of ODS, seeds, photos and seconds a photo in columns.

    Examples
    --------
    >>> table([], pd.DataFrame(columns=LAYOUT.columns)).empty
    True
    """
    rows = {}
    for run in runs:
        method_results = of_method(run, stored)
        if len(method_results):
            means = method_results[["ods", "ois", "ap", "r50"]].mean().set_axis([*_SCORES, "R50"]).to_dict()
            rows[run.method] = means | {
                "ODS, seed by seed": " ".join(f"{ods:.3f}" for ods in method_results["ods"]),
                "photos": f"{method_results['photos'].min():.0f}",
                "seconds a photo": f"{method_results['seconds_a_photo'].mean():.2f}",
            }
    return pd.DataFrame.from_dict(rows, orient="index")


def of_method(run: Run, stored: pd.DataFrame) -> pd.DataFrame:
    """Results of a run with all seeds, ordered by seed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> keys = [("BSDS500", "BSDS500 val", "single", "0f", seed, "SE") for seed in (1, 0)]
    >>> stored = pd.DataFrame(keys, columns=LAYOUT.key)
    >>> of_method(SimpleNamespace(key=keys[0]), stored)["seed"].tolist()
    [0, 1]
    """
    key = dict(zip(LAYOUT.key, run.key, strict=True))
    del key["seed"]
    return stored[np.logical_and.reduce([stored[name] == value for name, value in key.items()])].sort_values("seed")


def main_section(measured: pd.DataFrame, test_name: str, with_published: bool = True) -> list[str]:
    """Write a section on our methods, optionally with Table 1 of the paper.

    Examples
    --------
    >>> main_section(pd.DataFrame(), "BSDS500 val")[-1]
    'No method has been scored yet.'
    """
    paragraphs = [f"## {test_name} (Table 1)"]
    if measured.empty:
        return [*paragraphs, "No method has been scored yet."]
    scores_shown = measured
    if with_published:
        scores_shown = measured.assign(**{"ODS, published": [TABLE_1.get(name, np.nan) for name in measured.index]})
        for name, ods in TABLE_1.items():
            if name not in METHODS:
                scores_shown.loc[f"{name}{_MARK}", "ODS, published"] = ods
    return [*paragraphs, markdown(scores_shown, _BEST, [FULL])]


def comparison_section(compared: pd.DataFrame, measured: pd.DataFrame) -> list[str]:
    """Write a section on pairs of methods on the same photos.

    Parameters
    ----------
    compared : data frame
        Result of :func:`dsna_studies.edges.comparison.pairs_of`.
    measured : data frame
        Result of :func:`table`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> comparison_section(pd.DataFrame(), pd.DataFrame())
    []
    """
    if compared.empty:
        return []
    seconds = measured["seconds a photo"].astype(float)
    slowdowns = [f"{seconds[pair.method] / seconds[pair.against]:.1f}" for pair in compared.itertuples()]
    note = (
        "Means over the seeds that both methods have. The interval of the gain in ODS is a bootstrap over photos, with "
        "the same samples for both methods and all seeds."
    )
    return ["## Pairs on the same photos", note, markdown(pairs_table(compared).assign(**{"times as slow": slowdowns}))]


def halves_table(scored: Scored) -> pd.DataFrame:
    """Compute scores and gains on even- and odd-numbered photos, if there are second levels.

    Parameters
    ----------
    scored : mapping from methods to mappings from seeds to BoundaryScores

    Returns
    -------
    data frame
        Text, with a row for each method; empty without second levels.

    Examples
    --------
    >>> halves_table({}).empty
    True
    """
    if not any(METHODS[name].rescorer for name in scored):
        return pd.DataFrame()
    rows: dict[str, dict[str, str]] = {}
    for half_name, parity in (("even", 0), ("odd", 1)):
        half_scores = every_second_photo(scored, parity)
        base = "SE@2" if "SE@2" in half_scores else PLAIN
        for name in (name for name in METHODS if name in half_scores and METHODS[name].scales == METHODS[base].scales):
            seeds = half_scores[name]
            means = [
                np.mean([getattr(seed_scores, score.lower()) for seed_scores in seeds.values()]) for score in _SCORES
            ]
            row = rows.setdefault(name, {})
            row[f"{half_name}: ODS / OIS / AP"] = " / ".join(f"{mean:.3f}" for mean in means)
            gain = compare(half_scores, name, base) if name != base else None
            if gain is not None:
                row[f"{half_name}: ODS over {base}"] = f"{gain.gain:+.4f} ({gain.low:+.4f} to {gain.high:+.4f})"
                row[f"{half_name}: photos ahead"] = f"{100 * gain.best:.0f} %"
    return pd.DataFrame.from_dict(rows, orient="index").fillna("")


def halves_section(halves: pd.DataFrame) -> list[str]:
    """Write a section on even- and odd-numbered photos, unless the table is empty.

    Parameters
    ----------
    halves : data frame
        Result of :func:`halves_table`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> halves_section(pd.DataFrame())
    []
    """
    note = (
        "Photos are numbered from 0 in the order of their names. The even-numbered validation photos were used in "
        "designing the second levels, so the odd-numbered ones are the fairer half. In brackets: bootstrap intervals "
        "of 95 % over photos; photos ahead are those with a higher best F."
    )
    return ["## Even- and odd-numbered photos", note, markdown(halves)] if len(halves) else []


def rare_section(compared: pd.DataFrame) -> list[str]:
    """Write a section on pairs of methods on rare structures.

    Parameters
    ----------
    compared : data frame
        Result of :func:`dsna_studies.edges.rare.comparison.rare_pairs`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> rare_section(pd.DataFrame())
    []
    """
    return ["## Rare structures", _RARE, markdown(rare_table(compared))] if len(compared) else []


def published_section(measured: pd.DataFrame, test_name: str) -> list[str]:
    """Write a section with our methods among those of Table 4.

    Examples
    --------
    >>> "HED, published" in published_section(pd.DataFrame(), "BSDS500 val")[-1]
    True
    """
    rows = {f"{name}{_MARK}": dict(zip(_SCORES, scores, strict=True)) for name, scores in TABLE_4.items()}
    ours = {
        f"{name}, ours on {test_name}": measured.loc[name, list(_SCORES)].to_dict()
        for name in (PLAIN, FULL)
        if name in measured.index
    }
    note = f"Published figures are for the test photos, ours for {test_name}; the two are not directly comparable."
    return ["## Others (Table 4)", note, markdown(pd.DataFrame.from_dict(ours | rows, orient="index"), bold=list(ours))]


def cross_section(runs: Sequence[Run], stored: pd.DataFrame, with_published: bool = True) -> list[str]:
    """Write a section on runs scored on NYUD, optionally with Table 5 of the paper.

    Examples
    --------
    >>> print(cross_section([], pd.DataFrame())[1][:31])
    NYUD was not in the data folder
    """
    rows = {}
    for train in ("NYUD", "BSDS500"):
        trained_runs = [run for run in runs if run.train.name == train]
        measured = table(trained_runs, stored) if trained_runs else pd.DataFrame()
        for name in measured.index:
            rows[f"{name} ({train}/NYUD), ours"] = measured.loc[name, list(_SCORES)].to_dict()
    bold = list(rows)
    if with_published:
        for (name, train), scores in TABLE_5.items():
            rows[f"{name} ({train}/NYUD){_MARK}"] = dict(zip(_SCORES, scores, strict=True))
    note = "TRAIN/TEST; photos of 320 x 240 pixels, boundaries matched within 0.011 of the diagonal."
    if not bold:
        note = f"NYUD was not in the data folder (nyud/), so nothing is measured here. {note}"
    tables = [markdown(pd.DataFrame.from_dict(rows, orient="index"), bold=bold)] if rows else []
    return ["## Another collection (Table 5)", note, *tables]
