"""Published results of others on Pointing'04, for comparison with ours.

Quoted as facts from Tables 1 and 3 of Huang, Loy and Tang, "Discriminative Sparse Neighbor Approximation for Imbalanced
Learning", and MLD-wJ from Geng and Xia, "Head pose estimation based on multivariate label distribution" (CVPR 2014);
their features differ from ours.

Examples
--------
>>> AVERAGES["RF"], ANGLES["KRF"]["pitch"]
(6.41, 2.51)
"""

from __future__ import annotations

#: Table 1: average of both mean absolute errors, in degrees.
AVERAGES = {"RF": 6.41, "RF+SMOTE": 6.65, "RED-SVM": 6.53, "CS-RF": 4.02, "CS-RF+AH": 4.28, "CS-RF+DSNA": 3.54}
#: Table 3, and MLD-wJ: mean absolute errors in degrees.
ANGLES = {
    "KPLS": {"yaw": 6.56, "pitch": 6.61, "average": 6.59},
    "SLDML": {"yaw": 6.31, "pitch": 6.71, "average": 6.51},
    "Fenzi et al.": {"yaw": 5.94, "pitch": 6.73, "average": 6.34},
    "GLLiM": {"yaw": 5.62, "pitch": 6.68, "average": 6.15},
    "KRF": {"yaw": 5.29, "pitch": 2.51, "average": 3.90},
    "MLD-wJ": {"yaw": 4.24, "pitch": 2.69, "average": 3.465},
    "CS-RF+DSNA": {"yaw": 5.04, "pitch": 2.03, "average": 3.54},
}
