"""Common methods for rare classes and labels, as scikit-learn estimators to compare with.

Division by class priors and tuned thresholds after the fit; coded classes and class weights for boosting libraries;
rows weighted by the rarity of their labels; resampling before the fit: SMOTE for classes (needs imbalanced-learn),
oversampling and SMOGN for labels; repeated fits with new seeds; intervals of quantile forests and of crepes; ordinal
regression (RED-SVM, OHRank); a forest that clusters targets (KRF); kernel PLS.
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
