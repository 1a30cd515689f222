"""scikit-learn's own estimator checks, for every strategy, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from certselect import SubsetSelector
from certselect.search import STRATEGIES

SELECTORS = [SubsetSelector(strategy=strategy) for strategy in STRATEGIES]
SELECTORS += [
    SubsetSelector(),
    SubsetSelector(1, strategy="forward", certify=True),
    SubsetSelector(2, strategy="floating", criterion="mrmr", discretize="quantile", polish=True),
    SubsetSelector(1, strategy="backward", criterion="mifs", beta=0.5, discretize="mean_std"),
    SubsetSelector(1, strategy="relevance", criterion="max_relevance", integers="numbers", bins="sturges"),
    SubsetSelector(None, strategy="forward", costs={0: 1.0}, budget=2.0),
]


@parametrize_with_checks(SELECTORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_is_checked(strategy):
    assert any(selector.strategy == strategy for selector in SELECTORS)
