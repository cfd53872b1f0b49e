"""What others do about rare classes and labels, as plain scikit-learn estimators to compare with.

Class priors divided out and thresholds tuned after the fit; classes and their weights for boosting libraries; rows
weighted by how rare their labels are; rows resampled before fitting: SMOTE for classes (needs imbalanced-learn),
oversampling and SMOGN for labels; fits that fail by chance tried again; intervals of quantile forests and of crepes;
ordered labels by counting thresholds (RED-SVM, OHRank); a forest that clusters targets (KRF); kernel PLS.
"""

from .deciding import DecidedLater, PriorsDivided, TunedThresholds
from .intervals import ConformalForest, QuantileIntervals
from .kernel_pls import KernelPLS
from .kmeans_forest import KMeansForestRegressor
from .ordinal import REDSVM, OHRank
from .resampling import Resampled, oversample_rare, smote
from .restarting import Restarted
from .smogn import smogn
from .weighting import Coded, DensityWeighted

__all__ = [
    "REDSVM",
    "Coded",
    "ConformalForest",
    "DecidedLater",
    "DensityWeighted",
    "KMeansForestRegressor",
    "KernelPLS",
    "OHRank",
    "PriorsDivided",
    "QuantileIntervals",
    "Resampled",
    "Restarted",
    "TunedThresholds",
    "oversample_rare",
    "smogn",
    "smote",
]
