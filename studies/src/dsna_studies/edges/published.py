"""Results that Huang, Loy and Tang report or quote, for comparison with ours."""

from __future__ import annotations

#: Table 1, edge detection: ODS.
TABLE_1 = {"SE": 0.75, "SE+SMOTE": 0.75, "WRF": 0.75, "CS-SE": 0.76, "CS-SE+AH": 0.76, "CS-SE+DSNA": 0.78}
#: Table 4, BSDS500 test: ODS, OIS, AP.
TABLE_4 = {
    "ISCRA": (0.72, 0.75, 0.46),
    "gPb-owt-ucm": (0.73, 0.76, 0.73),
    "Sketch Tokens": (0.73, 0.75, 0.78),
    "SCG": (0.74, 0.76, 0.77),
    "PMI+sPb": (0.74, 0.77, 0.78),
    "SE": (0.75, 0.77, 0.80),
    "OEF": (0.75, 0.77, 0.82),
    "SE+multi-ucm": (0.75, 0.78, 0.76),
    "DeepNet": (0.74, 0.76, 0.76),
    "N4-Fields": (0.75, 0.77, 0.78),
    "DeepEdge": (0.75, 0.77, 0.81),
    "DeepContour": (0.76, 0.78, 0.80),
    "HFL": (0.77, 0.79, 0.80),
    "HED": (0.78, 0.80, 0.83),
    "CS-SE+DSNA": (0.77, 0.79, 0.81),
}
#: Table 5, NYUD: ODS, OIS, AP by training collection.
TABLE_5 = {
    ("gPb", "NYUD"): (0.51, 0.52, 0.37),
    ("SCG", "NYUD"): (0.55, 0.57, 0.46),
    ("SE", "NYUD"): (0.60, 0.61, 0.56),
    ("CS-SE+DSNA", "NYUD"): (0.62, 0.63, 0.60),
    ("SE", "BSDS500"): (0.55, 0.57, 0.46),
    ("DeepContour", "BSDS500"): (0.55, 0.57, 0.49),
    ("CS-SE+DSNA", "BSDS500"): (0.57, 0.58, 0.51),
}
