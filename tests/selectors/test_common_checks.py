"""scikit-learn's own estimator checks, with no expected failures.

Every strategy, every measure with every task and every option takes part, but not every product of them: the checks
are about the selectors, in which these do not meet. What they find together is tested where they are.
"""

from itertools import cycle, product

import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from certselect import SubsetSelector
from certselect.information.registry import measure_names
from certselect.search import list_strategies
from certselect.selectors import SubsetSelectorCV
from certselect.settings.measuring import CORRECTIONS

TASKS = ["classification", "regression"]  # "auto" is one of them, and the default of the selectors further down
STRATEGIES = ["auto", *list_strategies()]
MEASURES = measure_names()
MEASURED = list(product(MEASURES, TASKS))
assert len(MEASURED) <= len(STRATEGIES), "each must take its turn"
# What the checks ask of a search does not depend on how long it goes on.
SHORT = {"annealing": {"steps": 400}, "genetic": {"population": 12, "generations": 12}}
SELECTORS = [
    SubsetSelector(
        # One table has 30 columns, of which 10 can be chosen in too many ways for an exhaustive search.
        2 if strategy == "exhaustive" else 10,
        strategy=strategy,
        strategy_options=SHORT.get(strategy),
        measure=measure,
        task=task,
        criterion="jmi",
    )
    for strategy, (measure, task) in zip(STRATEGIES, cycle(MEASURED), strict=False)
]
SELECTORS += [
    SubsetSelector(criterion="jmi", measure="plugin", correction="none"),
    SubsetSelector(1, strategy="forward", certify=True, criterion="jmi", measure="plugin", correction="none"),
    SubsetSelector(
        2,
        strategy="floating",
        criterion="mrmr",
        discretize="quantile",
        polish=True,
        measure="plugin",
        correction="none",
    ),
    SubsetSelector(
        1, strategy="backward", criterion="mifs", beta=0.5, discretize="mean_std", measure="plugin", correction="none"
    ),
    SubsetSelector(
        1,
        strategy="relevance",
        criterion="max_relevance",
        integers="numbers",
        bins="sturges",
        measure="plugin",
        correction="none",
    ),
    SubsetSelector(
        None, strategy="forward", costs={0: 1.0}, budget=2.0, criterion="jmi", measure="plugin", correction="none"
    ),
    SubsetSelector(0.5, strategy="forward", criterion="jmi", measure="plugin", correction="none"),
    SubsetSelector("auto", strategy="forward", criterion="max_relevance", measure="plugin", correction="none"),
    SubsetSelector(2, strategy="forward", missing="level", criterion="jmi", measure="plugin", correction="none"),
    *(
        SubsetSelector(2, strategy="forward", missing="pairwise", measure=measure, criterion="jmi")
        for measure in MEASURES
        if measure != "auto"
    ),
    *(
        SubsetSelector(2, strategy="forward", correction=correction, criterion="jmi", measure="plugin")
        for correction in CORRECTIONS
    ),
]
# As scikit-learn checks its own RFECV: with 3 splits, for some of its tables are small.
SELECTORS_CV = [
    SubsetSelectorCV(LogisticRegression(C=1), 5, cv=3, criterion="jmi", measure="plugin", correction="none"),
    SubsetSelectorCV(
        KNeighborsClassifier(1),
        [1, 2],
        cv=3,
        one_standard_error=True,
        strategy="cobra",
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    ),
    SubsetSelectorCV(
        KNeighborsClassifier(1),
        2,
        cv=3,
        criterion=["jmi", "mrmr"],
        bins=[3, 5],
        strategy="forward",
        measure="plugin",
        correction="none",
    ),
    SubsetSelectorCV(
        LinearDiscriminantAnalysis(),
        3,
        cv=3,
        protocol="paper",
        scoring="balanced_accuracy",
        criterion="jmi",
        measure="plugin",
        correction="none",
    ),
]


# The classes of many of these tables are made from the columns.
@pytest.mark.filterwarnings("ignore::certselect.errors.TargetLeakWarning")
@parametrize_with_checks(SELECTORS)
def test_scikit_learn_checks(estimator, check):
    """The assertions are scikit-learn's: a check raises where the estimator falls short of it."""
    check(estimator)


@pytest.mark.filterwarnings("ignore::certselect.selectors.OptimisticScoreWarning")
@parametrize_with_checks(SELECTORS_CV)
def test_scikit_learn_checks_with_a_classifier(estimator, check):
    """As above."""
    check(estimator)
