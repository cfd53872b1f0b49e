"""What others do about rare classes and labels, as plain scikit-learn estimators to compare with.

Class priors divided out of a forest's probabilities; rows weighted by how rare their labels are; rows resampled before
fitting: SMOTE for classes (needs imbalanced-learn), oversampling and SMOGN for labels; fits that fail by chance tried
again; ordered labels by counting thresholds (RED-SVM, OHRank); a forest that clusters targets (KRF); kernel PLS.
"""

from .kernel_pls import KernelPLS
from .kmeans_forest import KMeansForestRegressor
from .ordinal import REDSVM, OHRank
from .resampling import Resampled, oversample_rare, smote
from .restarting import Restarted
from .smogn import smogn
from .weighting import DensityWeighted, PriorCorrectedForest

__all__ = [
    "REDSVM",
    "DensityWeighted",
    "KMeansForestRegressor",
    "KernelPLS",
    "OHRank",
    "PriorCorrectedForest",
    "Resampled",
    "Restarted",
    "oversample_rare",
    "smogn",
    "smote",
]
