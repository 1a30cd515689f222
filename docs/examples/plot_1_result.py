"""
A subset, and why this one
==========================

Eight of thirty measurements that tell malignant tumours from benign ones: how informative they are, what they
share, and how far from the best eight they can be.
"""

from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer

from certselect import choose_subset, plot_certificate, plot_redundancy, plot_relevance

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
result = choose_subset(X, y, 8, random_state=0)
print(result)

# %%
# Relevance is the information of a single measurement about the kind of tumour, in nats. The black marks are what
# chance alone would give a column with as many levels: here every bar is far above it. Three measurements with long
# bars were left out.

plot_relevance(result)
pyplot.show()

# %%
# The next picture shows why. Rows and columns are measurements, those left out in slanted letters, and similar ones
# stand side by side. *mean radius*, *mean area* and *mean perimeter* share most of their information with their *worst*
# counterparts, which are chosen.

plot_redundancy(result, runners_up=4)
pyplot.show()

# %%
# No eight measurements score more than the black line. What lies between the bar and the line is all that a better
# search could gain.

plot_certificate(result)
pyplot.show()

# %%
# The same in words, for every measurement:

reasons = result.explanation
for feature in ("mean radius", "worst radius", "symmetry error"):
    print(f"{feature}: {reasons['why'][reasons['feature'].index(feature)]}")
