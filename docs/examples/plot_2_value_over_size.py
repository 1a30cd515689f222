"""
Value and bound for every size
==============================

How much each further feature adds, and the most that any subset of that size can be worth.
"""

from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer

from certselect import find_elbow, information_terms, plot_path, value_curve

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
terms = information_terms(X, y)  # measured once, for every size and criterion

# %%
# The quick bound first. With few features and mRMR it leaves room for doubt; from six features on, hardly any.

plot_path(value_curve(terms, range(1, 16), "mrmr", "forward", certify=True))
pyplot.show()

# %%
# The exact method leaves none: every circle is full, and value and bound are one line.

curve = value_curve(terms, range(1, 16), "mrmr", "exact")
ax = plot_path(curve)
elbow = find_elbow(curve)
print(elbow.statement)
if elbow.k is not None:
    ax.axvline(elbow.k, color="grey", linestyle=":")
pyplot.show()
