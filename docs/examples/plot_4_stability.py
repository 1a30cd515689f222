"""
Would another sample give the same features?
============================================

Features are chosen again on thirty random halves of the rows, and once more where there is nothing to find.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer

from certselect import plot_stability, selection_stability

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
settings = {"criterion": "mrmr", "strategy": "forward", "n_resamples": 30, "random_state": 0}
plot_stability(selection_stability(X, y, 6, **settings))
pyplot.show()

# %%
# The target shuffled: nothing can be found, and what is chosen changes from sample to sample. Bars lie near the
# dashed line, which is what choosing at random would give.

shuffled = np.random.default_rng(0).permutation(y)
plot_stability(selection_stability(X, shuffled, 6, **settings))
pyplot.show()
