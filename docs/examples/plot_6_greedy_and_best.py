"""
What greedy searches lose
=========================

The exact method says what the best subset is worth, so that other searches can be measured against it.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_wine

from certselect import information_terms, select, subset_problem

terms = information_terms(*load_wine(return_X_y=True))
sizes = range(2, 13)
searches = {"relevance": "s:", "forward": "o-", "backward": "^--"}
lost = {name: [] for name in searches}
for k in sizes:
    problem = subset_problem(terms, k=k, criterion="mrmr")
    best = select(problem, "exact").objective
    for name, losses in lost.items():
        losses.append(100 * (1 - select(problem, name).objective / best))

figure, ax = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
for name, style in searches.items():
    ax.plot(sizes, lost[name], style, label=name)
ax.set(xlabel="number of features", ylabel="below the best (%)", xticks=sizes)
ax.legend(frameon=False)
pyplot.show()

# %%
# Greedy searches are often right and never know it. Single swaps afterwards (`polish=True`) mend most of the rest:

polished = [select(subset_problem(terms, k=k, criterion="mrmr"), "forward", polish=True).objective for k in sizes]
best = [select(subset_problem(terms, k=k, criterion="mrmr"), "exact").objective for k in sizes]
print(int(np.isclose(polished, best, rtol=1e-12).sum()), "of", len(best), "sizes are now the best")
