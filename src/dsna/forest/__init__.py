"""CS-RF: cost-sensitive random forests whose nodes learn weighted linear splits."""

from .estimators import CostSensitiveForestClassifier, CostSensitiveForestRegressor

__all__ = ["CostSensitiveForestClassifier", "CostSensitiveForestRegressor"]
