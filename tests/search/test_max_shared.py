"""No two selected features share more than `max_shared`: all subsets are listed and compared, by every criterion."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest

from certselect import (
    SubsetProblem,
    certify,
    choose_subset,
    information_terms,
    relax,
    select,
    selection_path,
    subset_problem,
    verify,
)
from certselect.certificate import certificate_of
from certselect.criteria import list_criteria
from certselect.criteria.stepwise import StepwiseCriterion
from certselect.errors import FewerFeaturesWarning, InvalidInput
from certselect.search import list_strategies
from naive import entropy, information

QUICK = {
    "annealing": {"steps": 300},
    "genetic": {"population": 8, "generations": 4},
    "cobra": {"draws": 20},
    "soss": {"draws": 20},
}
QUADRATIC = [name for name, found in list_criteria().items() if not isinstance(found, StepwiseCriterion)]
STEPWISE = [name for name, found in list_criteria().items() if isinstance(found, StepwiseCriterion)]
pytestmark = pytest.mark.filterwarnings("ignore::certselect.errors.FewerFeaturesWarning")


def table(seed, n=7, m=80):
    """Columns that repeat one of three with more or less noise; the target depends on all three."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 3, (m, 3))
    columns = []
    for _ in range(n):
        noise = rng.choice([0.02, 0.1, 0.3, 0.8])
        columns.append(np.where(rng.random(m) < noise, rng.integers(0, 3, m), base[:, rng.integers(3)]))
    return np.column_stack(columns), (base.sum(axis=1) + rng.integers(0, 2, m)) % 3


class Twin:
    """Shares of counts, by plain loops, and every subset that they and other constraints allow."""

    def __init__(self, X, most, groups=()):
        n = X.shape[1]
        self.most, self.groups = most, groups
        entropies = [entropy(X[:, i]) for i in range(n)]
        self.share = {
            (i, j): information(X[:, i], X[:, j]) / min(entropies[i], entropies[j])
            for i, j in itertools.combinations(range(n), 2)
        }

    def allows(self, subset):
        together = {frozenset(pair) for group in self.groups for pair in itertools.combinations(group, 2)}
        return all(
            frozenset(pair) in together or self.share[pair] <= self.most
            for pair in itertools.combinations(sorted(subset), 2)
        )

    def allowed(self, problem, k):
        """The subsets of the candidates that hold to everything; `problem` has no limit on shares."""
        asked = problem.constraints
        return [
            subset
            for subset in itertools.combinations(problem.candidates.tolist(), k)
            if self.allows(subset) and (asked is None or asked.allows(subset))
        ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", QUADRATIC)
def test_exact_is_the_best_allowed_subset_and_every_bound_holds(criterion, seed):
    X, y = table(seed)
    terms, most = information_terms(X, y, measure="plugin", correction="none"), [0.1, 0.3, 0.6, 0.9][seed]
    twin = Twin(X, most)
    for k in (2, 4):
        plain, problem = (subset_problem(terms, k, criterion, max_shared=limit) for limit in (None, most))
        allowed = twin.allowed(plain, k)
        if not allowed:
            continue
        best = max(map(plain.value, allowed))
        found = select(problem, "exact")
        assert found.status == "proven optimal"
        assert found.objective == best == plain.value(found.indices)  # bit for bit the value without a limit
        assert twin.allows(found.indices.tolist())
        assert found.upper_bound >= best
        assert certify(problem, found).upper_bound >= best
        bound = certificate_of(problem, found.indices, relax(problem).multipliers).bound
        assert bound >= best
        for name in list_strategies():
            other = select(problem, name, random_state=0, strategy_options=QUICK.get(name), polish=True)
            assert twin.allows(other.indices.tolist())
            assert len(other.indices) == k
            assert other.objective <= best
            assert other.objective == plain.value(other.indices)


@pytest.mark.parametrize("criterion", STEPWISE)
def test_stepwise_criteria_keep_to_it(criterion):
    X, y = table(5, m=200)
    terms, twin = information_terms(X, y, measure="plugin", correction="none"), Twin(X, 0.3)
    for strategy in ("forward", "floating"):
        found = select(subset_problem(terms, 3, criterion, max_shared=0.3), strategy)
        assert twin.allows(found.indices.tolist())


def test_a_limit_that_nothing_reaches_changes_nothing():
    X, y = table(1)
    terms = information_terms(X, y, measure="plugin", correction="none")
    for strategy in list_strategies():
        options = {"random_state": 0, "strategy_options": QUICK.get(strategy)}
        free, limited = (
            select(subset_problem(terms, 3, max_shared=most, criterion="jmi"), strategy, **options)
            for most in (None, 1.0)
        )
        assert free.indices.tolist() == limited.indices.tolist()
        assert free.objective == limited.objective
        assert free.scores == limited.scores


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "constraints",
    [
        {"include": [0]},
        {"exclude": [1]},
        {"feature_groups": [[0, 3]]},
        {"feature_groups": {"at_most_one": [[0, 1, 2]], "all_or_none": [[4, 5]]}},
        {"costs": [1, 2, 3, 1, 2, 3, 1], "budget": 7},
        {"include": [6], "feature_groups": [[1, 2, 5]], "costs": [1, 2, 3, 1, 2, 3, 1], "budget": 11},
    ],
    ids=str,
)
def test_with_every_other_constraint(constraints, seed):
    X, y = table(10 + seed)
    terms, most = information_terms(X, y, measure="plugin", correction="none"), [0.2, 0.5][seed % 2]
    groups = constraints.get("feature_groups", [])
    twin = Twin(X, most, groups if isinstance(groups, list) else groups["all_or_none"])
    for k in (2, 3, 4):
        try:
            plain = subset_problem(terms, k, "jmi", **constraints)
        except InvalidInput:
            continue
        allowed = twin.allowed(plain, k)
        if not allowed:
            beyond = constraints.keys() - {"exclude"}
            with pytest.raises(InvalidInput) if beyond else pytest.warns(FewerFeaturesWarning):
                select(subset_problem(terms, k, "jmi", **constraints, max_shared=most), "exact")
            continue
        problem = subset_problem(terms, k, "jmi", **constraints, max_shared=most)
        best = max(map(plain.value, allowed))
        found = select(problem, "exact")
        assert found.objective == best
        assert found.status == "proven optimal"
        for strategy in ("forward", "cobra", "backward", "floating", "relevance", "annealing"):
            try:
                other = select(problem, strategy, random_state=0, certify=True, strategy_options=QUICK.get(strategy))
            except InvalidInput:  # a heuristic need not find the only ones
                continue
            assert tuple(sorted(other.indices.tolist())) in allowed
            assert other.upper_bound >= best


def test_any_size_within_a_budget():
    X, y = table(3)
    terms, twin = information_terms(X, y, measure="plugin", correction="none"), Twin(X, 0.3)
    asked = {"costs": [1, 2, 3, 1, 2, 3, 1], "budget": 9}
    found = select(subset_problem(terms, None, "d1", **asked, max_shared=0.3), "exact")
    best = max(
        plain.value(subset)
        for k in range(1, 8)
        if k in subset_problem(terms, None, "d1", **asked).allowed_sizes
        for plain in [subset_problem(terms, k, "d1", **asked)]
        for subset in twin.allowed(plain, k)
    )
    assert found.objective == best


def test_fewer_features_where_no_more_share_little_enough():
    base = np.arange(90) % 3
    rng = np.random.default_rng(0)
    noisy = [np.where(rng.random(90) < 0.05, rng.integers(0, 3, 90), base) for _ in range(4)]
    X = np.column_stack([*noisy, rng.integers(0, 2, 90)])
    terms = information_terms(X, base, measure="plugin", correction="none")
    with pytest.warns(FewerFeaturesWarning, match=r"Asked for 3 .* no more than 2 .*max_shared=0.5"):
        found = select(subset_problem(terms, 3, max_shared=0.5, criterion="jmi"), "exact")
    assert (found.k, len(found.indices), found.status) == (2, 2, "proven optimal")
    with pytest.warns(FewerFeaturesWarning):
        assert len(select(subset_problem(terms, 3, max_shared=0.5, criterion="jmi"), "forward").indices) == 2
    with pytest.raises(InvalidInput, match=r"'x0', 'x1' to include, which share .* max_shared=0.5"):
        subset_problem(terms, 3, max_shared=0.5, include=[0, 1], criterion="jmi")
    both = subset_problem(
        terms, 3, max_shared=0.5, feature_groups=[[0, 1]], criterion="jmi"
    )  # what the user puts together may
    assert sorted(select(both, "exact").indices.tolist()) == [0, 1, 4]


def test_path_results_files_and_explanations(tmp_path):
    X, y = table(2, n=9, m=300)
    twin = Twin(X, 0.4)
    for found in selection_path(
        information_terms(X, y, measure="plugin", correction="none"),
        [1, 2, 3],
        strategy="forward",
        max_shared=0.4,
        criterion="jmi",
    ):
        assert twin.allows(found.indices.tolist())
        alone = select(
            subset_problem(
                information_terms(X, y, measure="plugin", correction="none"), found.k, max_shared=0.4, criterion="jmi"
            ),
            "forward",
        )
        assert alone.indices.tolist() == found.indices.tolist()
    result = choose_subset(
        X, y, 3, strategy="exact", max_shared=0.4, criterion="jmi", measure="plugin", correction="none"
    )
    assert verify(result, X, y).constraints == "respecting max_shared=0.4"
    assert "that respect max_shared=0.4 score" in result.statement
    assert not result.selection.constrained  # by anything else
    result.save(tmp_path / "r.json")
    assert verify(tmp_path / "r.json", X, y).holds
    assert pickle.loads(pickle.dumps(result)).explain().equals(result.explain())
    # A subset that shares more is a false claim.
    free = choose_subset(X, y, 3, strategy="exact", criterion="jmi", measure="plugin", correction="none")
    assert not twin.allows(free.indices.tolist())
    claim = free.to_dict()
    claim["settings"]["constraints"]["max_shared"] = 0.4
    assert verify(claim, X, y).verdict == "false claim"
    del claim["settings"]["constraints"]["max_shared"]  # as in files of earlier versions, which had no limit
    assert verify(claim, X, y).holds


def test_numbers_share_by_their_correlation():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = np.column_stack([x, x + 0.1 * rng.normal(size=300), rng.normal(size=300)])
    y = x + X[:, 2] * 0.2 + rng.normal(size=300)
    for measure in ("gaussian_copula", "neighbors"):
        terms = information_terms(X, y, measure=measure)
        found = select(subset_problem(terms, 2, "jmi", max_shared=0.9), "exact")
        assert 2 in found.indices.tolist()


def test_a_matrix_of_ones_own_has_no_shares():
    with pytest.raises(InvalidInput, match="with a matrix of your own"):
        SubsetProblem.from_matrix(np.eye(3), 2, max_shared=0.9)


def test_certify_refuses_a_subset_that_shares_too_much():
    X, y = table(2, n=9, m=300)
    problem = subset_problem(
        information_terms(X, y, measure="plugin", correction="none"), 3, max_shared=0.4, criterion="jmi"
    )
    free = select(
        subset_problem(information_terms(X, y, measure="plugin", correction="none"), 3, criterion="jmi"), "exact"
    )
    with pytest.raises(InvalidInput, match="constraints do not allow"):
        certify(problem, replace(free, certificate=None))
