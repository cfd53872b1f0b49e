"""
Probabilities that mean what they say
=====================================

Class weights make a forest find rare cases, and ruin its probabilities. Ours stay those of the table, whatever the
decision is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score

from dsna import CostSensitiveForestClassifier, DSNAClassifier
from dsna.inspection import plot_reliability

N_ROWS, N_TREES = 5000, 60

# %%
# One row in ten is positive, and some cannot be told by any model.

X, y = make_classification(N_ROWS, 10, n_informative=5, weights=[0.9], flip_y=0.05, class_sep=0.4, random_state=1)
train, test = slice(0, N_ROWS // 3), slice(N_ROWS // 3, None)

models = {
    "dsna": DSNAClassifier(CostSensitiveForestClassifier(N_TREES), random_state=0),
    "forest, class weights": RandomForestClassifier(
        N_TREES, min_samples_leaf=5, class_weight="balanced", random_state=0
    ),
    "boosting, class weights": HistGradientBoostingClassifier(class_weight="balanced", random_state=0),
}
for name, model in models.items():
    model.fit(X[train], y[train])
    print(f"{name:>24}: balanced accuracy {balanced_accuracy_score(y[test], model.predict(X[test])):.3f}")

# %%
# All three treat the two classes alike when they decide. Points on the diagonal are probabilities that come true.

plot_reliability(models, X[test], y[test])
plt.show()
