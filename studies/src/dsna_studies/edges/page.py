"""Sections of the page: tables beside published figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..pages import markdown
from .comparison import Scored, compare, half, pairs_table
from .methods import FULL, METHODS, PLAIN
from .published import TABLE_1, TABLE_4, TABLE_5
from .rare.comparison import rare_table
from .runs import LAYOUT, Run

_MARK = ", published (not run here)"
_SCORES = ("ODS", "OIS", "AP")
_BEST = dict.fromkeys((*_SCORES, "R50"), 1)
READING = """\
Scores as BSDS500 counts them: ODS is the best F at one threshold for all photos, OIS at each photo's own, AP the
average precision, R50 the recall at precision one half. Forests of one seed learn from equally many patches of the
training photos. SE votes for its leaves' own masks. +DSNA, +AH and +kernel blend in the masks of the patches in the
leaves: by sparse approximation, by an affine hull, by weights that fall with distance; the settings are those of
EdgeDetector, the same for all. Trees of SE know all training photos; those of the forest whose leaves remember patches
know half of them each, so that others answer honestly. @2: at half and full size. What follows: a second level scores
the pixels of the thinned map anew; it learned from maps by first levels that do not know the photo. +boosted: boosted
trees. +perceptrons: small ones of two hidden layers. +boosted+perceptrons: the mean of both. The paper's weighted and
cost-sensitive splits (WRF, CS-SE) are not run: they gained nothing over single features. Nor is SE+SMOTE: a patch
between two others would need a segmentation between theirs, and there is none. Published figures are quoted from Huang,
Loy and Tang, for the test photos of BSDS500. Seconds a photo: median, on one thread, as the run went; other work on the
machine is in them."""

_RARE = """\
Outlines of training masks in 150 classes (k-means on blurred outlines; fewer classes where there are few masks); the
rarest fifth of the classes is rare. Patches are looked for every eight pixels. Recall is that of what an annotator drew
in the 16 x 16 pixels of patches that are rare by the same drawing, precision that of what is predicted where any
annotator has rare patches; matched as in the scores above. Both methods are compared at the precision that the second
has there at its ODS threshold; counts of all seeds are added up."""


def table(runs: Sequence[Run], stored: pd.DataFrame) -> pd.DataFrame:
    """Means over the seeds of runs on one collection.

    Parameters
    ----------
    runs : sequence of Run
        Any seed stands for all seeds of its method.
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
        mine = of_method(run, stored)
        if len(mine):
            means = mine[["ods", "ois", "ap", "r50"]].mean().set_axis([*_SCORES, "R50"]).to_dict()
            rows[run.method] = means | {
                "ODS, seed by seed": " ".join(f"{ods:.3f}" for ods in mine["ods"]),
                "photos": f"{mine['photos'].min():.0f}",
                "seconds a photo": f"{mine['seconds_a_photo'].mean():.2f}",
            }
    return pd.DataFrame.from_dict(rows, orient="index")


def of_method(run: Run, stored: pd.DataFrame) -> pd.DataFrame:
    """Results of a run and of the same with other seeds, by seed.

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


def main_section(measured: pd.DataFrame, where: str, beside: bool = True) -> list[str]:
    """Our methods, beside Table 1 of the paper where asked for.

    Examples
    --------
    >>> main_section(pd.DataFrame(), "BSDS500 val")[-1]
    'No method has been scored yet.'
    """
    parts = [f"## {where} (Table 1)"]
    if measured.empty:
        return [*parts, "No method has been scored yet."]
    shown = measured
    if beside:
        shown = measured.assign(**{"ODS, published": [TABLE_1.get(name, np.nan) for name in measured.index]})
        for name, ods in TABLE_1.items():
            if name not in METHODS:
                shown.loc[f"{name}{_MARK}", "ODS, published"] = ods
    return [*parts, markdown(shown, _BEST, [FULL])]


def comparison_section(compared: pd.DataFrame, measured: pd.DataFrame) -> list[str]:
    """Pairs of methods on the same photos.

    Parameters
    ----------
    compared : data frame
        As :func:`dsna_studies.edges.comparison.pairs_of` makes it.
    measured : data frame
        As :func:`table` makes it.

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
    slow = [f"{seconds[one.method] / seconds[one.against]:.1f}" for one in compared.itertuples()]
    note = (
        "Means of the seeds that both have. The interval is that of the ODS gained when photos are drawn anew with "
        "replacement, the same for both and for all seeds."
    )
    return ["## Pairs on the same photos", note, markdown(pairs_table(compared).assign(**{"times as slow": slow}))]


def halves_table(scored: Scored) -> pd.DataFrame:
    """Scores of even- and odd-numbered photos where there are second levels, and what is gained over SE at their sizes.

    Parameters
    ----------
    scored : mapping from methods to mappings from seeds to BoundaryScores

    Returns
    -------
    data frame
        Text, a row for each method; empty where there is no second level.

    Examples
    --------
    >>> halves_table({}).empty
    True
    """
    if not any(METHODS[name].rescorer for name in scored):
        return pd.DataFrame()
    rows: dict[str, dict[str, str]] = {}
    for which, parity in (("even", 0), ("odd", 1)):
        some = half(scored, parity)
        base = "SE@2" if "SE@2" in some else PLAIN
        for name in (name for name in METHODS if name in some and METHODS[name].scales == METHODS[base].scales):
            seeds = some[name]
            means = [np.mean([getattr(one, score.lower()) for one in seeds.values()]) for score in _SCORES]
            told = rows.setdefault(name, {})
            told[f"{which}: ODS / OIS / AP"] = " / ".join(f"{mean:.3f}" for mean in means)
            found = compare(some, name, base) if name != base else None
            if found is not None:
                told[f"{which}: ODS over {base}"] = f"{found.gain:+.4f} ({found.low:+.4f} to {found.high:+.4f})"
                told[f"{which}: photos ahead"] = f"{100 * found.best:.0f} %"
    return pd.DataFrame.from_dict(rows, orient="index").fillna("")


def halves_section(halves: pd.DataFrame) -> list[str]:
    """Even- and odd-numbered photos, where there is something to say.

    Parameters
    ----------
    halves : data frame
        As :func:`halves_table` makes it.

    Returns
    -------
    list of str

    Examples
    --------
    >>> halves_section(pd.DataFrame())
    []
    """
    note = (
        "Photos in the order of their names, counted from 0. A trial looked at the even-numbered validation photos "
        "when second levels were designed, so the odd-numbered ones are the fairer half. In brackets where 95 % of the "
        "gains lie if photos are drawn anew; ahead by best F."
    )
    return ["## Even- and odd-numbered photos", note, markdown(halves)] if len(halves) else []


def rare_section(compared: pd.DataFrame) -> list[str]:
    """Pairs of methods where structures are rare.

    Parameters
    ----------
    compared : data frame
        As :func:`dsna_studies.edges.rare.comparison.rare_pairs` makes it.

    Returns
    -------
    list of str

    Examples
    --------
    >>> rare_section(pd.DataFrame())
    []
    """
    return ["## Rare structures", _RARE, markdown(rare_table(compared))] if len(compared) else []


def published_section(measured: pd.DataFrame, where: str) -> list[str]:
    """Our best row among those of Table 4.

    Examples
    --------
    >>> "HED, published" in published_section(pd.DataFrame(), "BSDS500 val")[-1]
    True
    """
    rows = {f"{name}{_MARK}": dict(zip(_SCORES, found, strict=True)) for name, found in TABLE_4.items()}
    ours = {
        f"{name}, ours on {where}": measured.loc[name, list(_SCORES)].to_dict()
        for name in (PLAIN, FULL)
        if name in measured.index
    }
    note = f"Published figures are for the test photos, ours for {where}; they stand side by side, not in a contest."
    return ["## Others (Table 4)", note, markdown(pd.DataFrame.from_dict(ours | rows, orient="index"), bold=list(ours))]


def cross_section(runs: Sequence[Run], stored: pd.DataFrame, beside: bool = True) -> list[str]:
    """Runs that are scored on NYUD, beside Table 5 where asked for.

    Examples
    --------
    >>> print(cross_section([], pd.DataFrame())[1][:31])
    NYUD was not in the data folder
    """
    rows = {}
    for train in ("NYUD", "BSDS500"):
        mine = [run for run in runs if run.train.name == train]
        measured = table(mine, stored) if mine else pd.DataFrame()
        for name in measured.index:
            rows[f"{name} ({train}/NYUD), ours"] = measured.loc[name, list(_SCORES)].to_dict()
    bold = list(rows)
    if beside:
        for (name, train), found in TABLE_5.items():
            rows[f"{name} ({train}/NYUD){_MARK}"] = dict(zip(_SCORES, found, strict=True))
    note = "TRAIN/TEST; photos of 320 x 240 pixels, boundaries matched within 0.011 of the diagonal."
    if not bold:
        note = f"NYUD was not in the data folder (nyud/), so nothing is measured here. {note}"
    shown = [markdown(pd.DataFrame.from_dict(rows, orient="index"), bold=bold)] if rows else []
    return ["## Another collection (Table 5)", note, *shown]
