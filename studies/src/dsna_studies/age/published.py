"""Figures that others have published, to stand beside those measured; facts with their sources, never our own."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Published:
    """A published mean absolute error.

    Parameters
    ----------
    data : str
        What it was measured on.
    method : str
        As our tables name it, where they have it.
    mae : float
    source : str
        Table in which Huang, Loy and Tang quote or report it, or the work that reports it.

    Examples
    --------
    >>> Published("FG-NET", "RF", 5.28, "Table 1").mae
    5.28
    """

    data: str
    method: str
    mae: float
    source: str


_TABLE_1 = {"RF": 5.28, "RF+SMOTE": 5.39, "RED-SVM": 5.24, "CS-RF": 4.81, "CS-RF+AH": 4.89, "CS-RF+DSNA": 4.10}
_TABLE_2 = {
    "FG-NET": {
        "RUN": 5.33,
        "MTWGP": 4.83,
        "BIF": 4.77,
        "CPNN": 4.76,
        "CSOHR": 4.70,
        "CA-SVR": 4.67,
        "Choi et al.": 4.66,
        "MidFea-NS": 4.62,
        "Han et al.": 4.60,
        "RealAdaBoost": 4.49,
        "OHRank": 4.48,
        "lsRCA": 4.38,
    },
    "MORPH": {"KPLS": 4.04, "KCCA": 3.98, "MSCNN": 3.63, "CS-RF+DSNA": 3.54},
}
#: Figures of others that the paper does not quote: "Human age estimation using enhanced bio-inspired features (EBIF)".
_OTHERS = (("EBIF", 3.17, "El Dib and El-Saban 2010"),)
#: Tables 1 and 2 of "Discriminative Sparse Neighbor Approximation for Imbalanced Learning" (Huang, Loy and Tang).
PUBLISHED: tuple[Published, ...] = (
    *(Published("FG-NET", method, mae, "Table 1") for method, mae in _TABLE_1.items()),
    *(Published(data, method, mae, "Table 2") for data, found in _TABLE_2.items() for method, mae in found.items()),
    *(Published("FG-NET", method, mae, source) for method, mae, source in _OTHERS),
)


def beside_published(measured: pd.DataFrame, data: str) -> pd.DataFrame:
    """Measured errors with a column of published ones; methods that were only published follow.

    Parameters
    ----------
    measured : data frame
        Methods in rows, scores in columns.
    data : str
        What they were measured on.

    Returns
    -------
    data frame
        With the column "MAE, published (not run here)"; values say which table of the paper they stand in.

    Examples
    --------
    >>> import pandas as pd
    >>> table = beside_published(pd.DataFrame({"MAE": [5.5]}, index=["RF"]), "FG-NET")
    >>> [table.loc[name].fillna("").astype(str).tolist() for name in ("RF", "lsRCA")]
    [['5.5', '5.28 (Table 1)'], ['', '4.38 (Table 2)']]
    """
    said = {one.method: f"{one.mae:.2f} ({one.source})" for one in PUBLISHED if one.data == data}
    order = [*measured.index, *(method for method in said if method not in measured.index)]
    table = measured.reindex(order)
    return table.assign(**{COLUMN: [said.get(method, "") for method in order]})


COLUMN = "MAE, published (not run here)"
