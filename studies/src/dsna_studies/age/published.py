"""Published results of others, for comparison with ours, quoted with their sources."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Published:
    """A published mean absolute error.

    Parameters
    ----------
    data : str
        Collection that it was measured on.
    method : str
        Name as in our tables, if it is there.
    mae : float
    source : str
        Table in which Huang, Loy and Tang quote or report it, or the publication that reports it.

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
    *(Published(data, method, mae, "Table 2") for data, errors in _TABLE_2.items() for method, mae in errors.items()),
    *(Published("FG-NET", method, mae, source) for method, mae, source in _OTHERS),
)


def beside_published(measured: pd.DataFrame, data: str) -> pd.DataFrame:
    """Add a column of published errors to measured ones, and rows for methods that were only published.

    Parameters
    ----------
    measured : data frame
        Methods in rows, scores in columns.
    data : str
        Collection that they were measured on.

    Returns
    -------
    data frame
        With the column "MAE, published (not run here)", whose values name the table of the paper.

    Examples
    --------
    >>> import pandas as pd
    >>> table = beside_published(pd.DataFrame({"MAE": [5.5]}, index=["RF"]), "FG-NET")
    >>> [table.loc[name].fillna("").astype(str).tolist() for name in ("RF", "lsRCA")]
    [['5.5', '5.28 (Table 1)'], ['', '4.38 (Table 2)']]
    """
    published = {entry.method: f"{entry.mae:.2f} ({entry.source})" for entry in PUBLISHED if entry.data == data}
    order = [*measured.index, *(method for method in published if method not in measured.index)]
    table = measured.reindex(order)
    return table.assign(**{COLUMN: [published.get(method, "") for method in order]})


COLUMN = "MAE, published (not run here)"
