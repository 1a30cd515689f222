"""
What mRMR cannot see, and JMI can
=================================

Two columns that carry no information by themselves and all of it together: exclusive or, hidden among ten columns of
noise and three that are a little informative.
"""

import numpy as np
from matplotlib import pyplot

from certselect import choose_subset, plot_relevance

rng = np.random.default_rng(0)
rows = 600
noise = rng.integers(0, 2, (rows, 10))
left, right = rng.integers(0, 2, (2, rows))
y = left ^ right
hints = np.array([np.where(rng.random(rows) < 0.6, y, 1 - y) for _ in range(3)]).T
X = np.column_stack([left, right, hints, noise])
names = ["left", "right", *(f"hint {i}" for i in (1, 2, 3)), *(f"noise {i}" for i in range(10))]

figure, axes = pyplot.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, criterion in zip(axes, ("mrmr", "jmi"), strict=True):
    result = choose_subset(X, y, 3, criterion=criterion, strategy="exact", feature_names=names)
    plot_relevance(result, ax=ax)
    ax.set_title(f"{criterion}: {', '.join(result.names)}", loc="left")
pyplot.show()

# %%
# Both answers are proven to be the best under their criterion: the difference is the criterion, not the search. mRMR
# knows relevances and redundancies. JMI counts what a pair carries together, and so finds *left* and *right*, whose
# bars are no longer than those of noise.
