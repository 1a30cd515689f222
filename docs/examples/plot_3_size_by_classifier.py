"""
How many features does a classifier need?
=========================================

Sizes and two criteria, compared by cross-validation. In every split features are chosen on the training rows alone.
"""

from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certselect import SubsetSelectorCV, plot_sizes

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
classifier = make_pipeline(StandardScaler(), LogisticRegression())
selector = SubsetSelectorCV(classifier, sizes=10, criterion=["jmi", "mrmr"], strategy="forward").fit(X, y)
plot_sizes(selector)
pyplot.show()

# %%
# The curve is flat at the end, and its top is partly luck. The smallest size within one standard error of the best
# is a steadier choice.

selector.set_params(one_standard_error=True).fit(X, y)
print(selector.n_features_, list(selector.get_feature_names_out()))
plot_sizes(selector)
pyplot.show()
