"""
Pipelines and grid search
=========================

Scaling, columns and models are steps of a scikit-learn pipeline; settings of the forest and of the neighbours are
reached by name. ``tune="oob"`` does without a search.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dsna import Approximation, CostSensitiveForestClassifier, DSNAClassifier
from dsna.model_selection import StratifiedRareKFold, rare_first_split

N_ROWS, N_TREES = 400, 20

# %%
# A split and folds that keep rare rows on both sides.

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X[:N_ROWS], y[:N_ROWS].map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = rare_first_split(X, y, test_size=0.3, random_state=0)

model = make_pipeline(
    StandardScaler(),
    DSNAClassifier(CostSensitiveForestClassifier(N_TREES), Approximation(), random_state=0),
)
grid = {
    "dsnaclassifier__forest__min_samples_leaf": [2, 8],
    "dsnaclassifier__approximation__lam": [0.001, 0.01, 0.1],
}
folds = StratifiedRareKFold(3, shuffle=True, random_state=0)
search = GridSearchCV(model, grid, scoring="balanced_accuracy", cv=folds).fit(X_train, y_train)
print("found:", search.best_params_)
print(f"on new rows: {search.score(X_test, y_test):.3f}")

# %%
# Settings matter little here, as on most tables: the defaults are meant to be left alone.

results = search.cv_results_
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.errorbar(results["mean_test_score"], range(6), xerr=results["std_test_score"], fmt="o")
ax.set_yticks(
    range(6), [", ".join(f"{key.split('__')[-1]}={value}" for key, value in one.items()) for one in results["params"]]
)
ax.set_xlabel("balanced accuracy, three folds")

# %%
# The same choice out of bag: one fit, no folds.

tuned = DSNAClassifier(CostSensitiveForestClassifier(N_TREES), tune="oob", random_state=0).fit(X_train, y_train)
print(
    f"tune='oob' chose lam={tuned.approximation_.lam:g}; out of bag {tuned.oob_balanced_accuracy_:.3f}, "
    f"on new rows {(tuned.predict(X_test) == y_test).mean():.3f} right"
)
plt.show()
