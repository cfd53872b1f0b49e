"""CS-RF: cost-sensitive random forests whose nodes learn weighted linear splits."""

from .classifier import CostSensitiveForestClassifier
from .regressor import CostSensitiveForestRegressor

__all__ = ["CostSensitiveForestClassifier", "CostSensitiveForestRegressor"]
