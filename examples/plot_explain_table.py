"""
Why? A table with text, gaps and dates
======================================

Nobody's table is a matrix of numbers. ``TableEncoder`` makes one of it, and explanations come back in the columns and
values that their owner knows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from dsna import CostSensitiveForestClassifier, DSNAClassifier
from dsna.inspection import NeighborhoodDisplay, explain
from dsna.tables import TableEncoder

N_ROWS, N_TREES = 800, 60

# %%
# Loans, some of which were paid back late. Incomes are missing here and there.

rng = np.random.default_rng(0)
loans = pd.DataFrame(
    {
        "customer": [f"C-{i:04d}" for i in range(N_ROWS)],
        "age": rng.integers(18, 80, N_ROWS),
        "income": rng.lognormal(8, 0.5, N_ROWS).round(-1),
        "city": rng.choice(["Bonn", "Oslo", "Rome"], N_ROWS),
        "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, N_ROWS), unit="D"),
    }
)
risk = 6000 / loans["income"] + 2 * (loans["city"] == "Rome") + rng.normal(0, 0.6, N_ROWS)
late = np.where(risk > np.quantile(risk, 0.93), "late", "in time")
loans.loc[rng.random(N_ROWS) < 0.1, "income"] = np.nan
old, new = loans[:-100], loans[-100:]
old_late = late[:-100]

model = make_pipeline(
    TableEncoder(types={"customer": "identifier"}),
    DSNAClassifier(CostSensitiveForestClassifier(N_TREES), random_state=0),
)
model.fit(old, old_late)

# %%
# The case that is most likely late, beside the training rows behind the answer. An asterisk marks what differs.

query = int(model.predict_proba(new)[:, list(model.classes_).index("late")].argmax())
why = explain(model, new, train=old, id="customer")
print(why.report(query=query, largest=4))

# %%
# The same as plots: what each row adds, and where the rows lie around the query.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
why.plot(query=query, ax=left)
NeighborhoodDisplay.from_estimator(model, new, query=query, ax=right)
plt.show()
