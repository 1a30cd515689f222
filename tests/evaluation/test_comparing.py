"""compare_algorithms: the paper's p-values, textbook formulas, SciPy and simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from certselect.errors import InvalidInput
from certselect.evaluation import compare_algorithms

# The paper's averages over five classifiers with mRMR (last column of its Table "ssp-be"), in percent.
SEARCHES = ("COBRA", "FS", "BE")
PAPER_AVERAGES = {
    "NCI": (73.67, 69.00, 69.33),
    "DBW": (93.12, 90.31, 90.00),
    "CNA": (88.91, 84.88, 88.90),
    "IAD": (96.64, 96.58, 96.58),
    "MAD": (74.81, 55.82, 54.50),
    "LNG": (76.87, 73.75, 74.37),
    "ARR": (77.75, 78.56, 79.02),
    "DEX": (86.66, 86.00, 85.53),
}
# The p-values printed in its Figure "mrmr-mean".
PAPER_PVALUES = {("FS", "COBRA"): 0.042, ("COBRA", "BE"): 0.078, ("FS", "BE"): 0.965}


def tables(fewest_algorithms=2):
    """Scores with many ties: whole numbers from few."""
    shapes = st.tuples(st.integers(2, 7), st.integers(fewest_algorithms, 5))
    return shapes.flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(0, 4), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        )
    )


def naive_ranks(row):
    """1 for the largest; equals get the mean of the ranks they take up."""
    return [
        Fraction(1 + sum(other > score for other in row))
        + Fraction(sum(other == score for other in row) - 1, 2)
        for score in row
    ]  # fmt: skip


def naive_friedman(scores):
    """The textbook statistic, divided by its correction for ties; None where everything ties."""
    n, g = len(scores), len(scores[0])
    sums = [sum(column) for column in zip(*map(naive_ranks, scores), strict=True)]
    plain = Fraction(12, n * g * (g + 1)) * sum(total**2 for total in sums) - 3 * n * (g + 1)
    tied = sum(row.count(value) ** 3 - row.count(value) for row in scores for value in set(row))
    correction = 1 - Fraction(tied, n * g * (g * g - 1))
    return plain / correction if correction else None


def range_tail(q, g):
    """P(range of g standard normal variates > q), the integral by the trapezoidal rule."""

    def below(x):
        return 0.5 * math.erfc(-x / math.sqrt(2))

    step, total = 0.01, 0.0
    for place in range(-900, 901 + int(q / step)):
        x = place * step
        total += math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * (below(x) - below(x - q)) ** (g - 1)
    return 1 - g * total * step


def naive_nemenyi(scores, one, other):
    g = len(scores[0])
    ranks = [naive_ranks(row) for row in scores]
    distance = abs(sum(row[one] - row[other] for row in ranks))
    middle = Fraction(g + 1, 2)
    variance = sum(2 * sum((rank - middle) ** 2 for rank in row) / (g - 1) for row in ranks)
    return range_tail(math.sqrt(2) * distance / math.sqrt(variance), g)


def test_the_papers_pvalues_to_the_printed_digits():
    comparison = compare_algorithms(list(PAPER_AVERAGES.values()), SEARCHES)
    for pair, printed in PAPER_PVALUES.items():
        assert round(comparison.pairwise[pair], 3) == printed
        assert comparison.pairwise[pair[::-1]] == comparison.pairwise[pair]
    assert comparison.mean_ranks == {"COBRA": 10 / 8, "FS": 19.5 / 8, "BE": 18.5 / 8}
    assert comparison.friedman_pvalue == pytest.approx(0.0297142, abs=1e-7)


def test_without_the_correction_for_ties_they_would_differ():
    scores = [list(row) for row in PAPER_AVERAGES.values()]
    distance, n, g = 9.5, 8, 3  # rank sums of COBRA and FS
    plain = range_tail(distance / math.sqrt(n * g * (g + 1) / 12), g)
    assert round(plain, 3) == 0.046
    assert round(naive_nemenyi(scores, 0, 1), 3) == 0.042


def test_by_hand():
    # Ranks 1 2 3; 1 2 3; 1.5 1.5 3: sums 3.5, 5.5, 9; variances 1, 1, 3/4.
    comparison = compare_algorithms([[3, 2, 1], [9, 8, 7], [5, 5, 0]], ["a", "b", "c"])
    assert comparison.ranks.tolist() == [[1, 2, 3], [1, 2, 3], [1.5, 1.5, 3]]
    assert comparison.friedman_statistic == pytest.approx((2.5**2 + 0.5**2 + 3**2) / 2.75)
    assert comparison.friedman_pvalue == pytest.approx(math.exp(-comparison.friedman_statistic / 2))
    assert comparison.kendall_w == pytest.approx(15.5 / 2.75 / 6)
    assert dict(comparison.effect_sizes) == {("a", "b"): 2 / 3, ("a", "c"): 1.0, ("b", "c"): 1.0}
    assert comparison.effect_sizes["c", "a"] == -1.0
    assert comparison.pairwise["a", "c"] == pytest.approx(range_tail(5.5 / math.sqrt(2.75), 3), abs=1e-8)


def test_full_agreement_is_a_w_of_one():
    assert compare_algorithms([[1, 2, 3, 4]] * 5).kendall_w == pytest.approx(1.0)


@given(tables())
@settings(max_examples=40, deadline=None)
def test_equals_the_slow_twin(scores):
    comparison = compare_algorithms(scores)
    statistic = naive_friedman(scores)
    if statistic is None:
        assert (comparison.friedman_statistic, comparison.friedman_pvalue, comparison.kendall_w) == (0, 1, 0)
        assert set(comparison.pairwise.values()) == {1.0}
        return
    assert comparison.friedman_statistic == pytest.approx(float(statistic), abs=1e-12)
    assert comparison.ranks.tolist() == [naive_ranks(row) for row in scores]
    assert comparison.pairwise["A1", "A2"] == pytest.approx(naive_nemenyi(scores, 0, 1), abs=1e-7)
    wins = sum((row[0] > row[1]) - (row[0] < row[1]) for row in scores)
    assert comparison.effect_sizes["A1", "A2"] == pytest.approx(wins / len(scores))


@given(tables(fewest_algorithms=3).filter(lambda scores: naive_friedman(scores) is not None))
@settings(max_examples=40, deadline=None)
def test_friedman_equals_scipys(scores):
    theirs = friedmanchisquare(*np.array(scores).T)
    ours = compare_algorithms(scores)
    assert ours.friedman_statistic == pytest.approx(theirs.statistic, abs=1e-10)
    assert ours.friedman_pvalue == pytest.approx(theirs.pvalue, abs=1e-12)


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_neither_order_nor_scale_matter(scores, random):
    scores = np.array(scores, dtype=float)
    rows = random.sample(range(len(scores)), len(scores))
    columns = random.sample(range(scores.shape[1]), scores.shape[1])
    names = [f"s{j}" for j in range(scores.shape[1])]
    one = compare_algorithms(scores, names)
    other = compare_algorithms(np.exp(scores[rows][:, columns]), [names[j] for j in columns])
    assert one.friedman_statistic == pytest.approx(other.friedman_statistic, abs=1e-10)
    for pair in one.pairwise:
        assert one.pairwise[pair] == pytest.approx(other.pairwise[pair], abs=1e-9)
        assert one.effect_sizes[pair] == pytest.approx(other.effect_sizes[pair])


def test_the_critical_difference_is_where_the_pvalue_is_alpha():
    comparison = compare_algorithms(list(PAPER_AVERAGES.values()), SEARCHES)
    for pair, pvalue in comparison.pairwise.items():
        apart = abs(comparison.mean_ranks[pair[0]] - comparison.mean_ranks[pair[1]])
        assert comparison.critical_difference(pvalue) == pytest.approx(apart, rel=1e-4)


def test_critical_values_of_the_literature():
    # Demsar (2006), Table 5a, alpha = 0.05: q = 2.343 for three and 2.850 for six classifiers.
    for g, q in ((3, 2.343), (6, 2.850)):
        comparison = compare_algorithms([list(range(g))] * 10)
        assert comparison.critical_difference() == pytest.approx(q * math.sqrt(g * (g + 1) / 60), abs=5e-4)


def test_equal_algorithms_are_told_apart_as_rarely_as_promised():
    rng = np.random.default_rng(0)
    n, g, repeats = 200, 4, 4000  # many data sets: rank sums are whole, which with few moves the level to and fro
    limit = compare_algorithms(rng.random((n, g))).critical_difference(0.05)
    ranks = rng.random((repeats, n, g)).argsort(axis=2).argsort(axis=2).mean(axis=1)
    assert 0.04 < np.mean(np.ptp(ranks, axis=1) >= limit) < 0.06


def test_pairs_are_listed_once_and_found_in_both_orders():
    pairwise = compare_algorithms([[3, 2, 1], [9, 8, 7]], ["a", "b", "c"]).pairwise
    assert list(pairwise) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len(pairwise) == 3
    assert ("c", "a") in pairwise
    for absent in (("a", "a"), ("a", "z"), "ab", "a"):
        with pytest.raises(KeyError):
            pairwise[absent]


def test_scores_are_copied():
    scores = np.array([[1.0, 2.0], [3.0, 4.0]])
    comparison = compare_algorithms(scores)
    scores[:] = 0.0
    assert comparison.scores.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("scores", "names", "words"),
    [
        ([1.0, 2.0], None, "shape"),
        ([[1.0, 2.0]], None, "two data sets"),
        ([[1.0], [2.0]], None, "two algorithms"),
        ([[1.0, 2.0], [1.0, float("nan")]], None, "missing or infinite scores in 1 of 2"),
        ([[1.0, 2.0], [1.0, float("inf")]], None, "missing or infinite scores in 1 of 2"),
        ([["a", "b"], ["c", "d"]], None, "not a table of numbers"),
        ([[1.0, 2.0], [1.0]], None, "not a table of numbers"),
        ([[1.0, 2.0], [3.0, 4.0]], ["a"], "2 different names"),
        ([[1.0, 2.0], [3.0, 4.0]], ["a", "a"], "2 different names"),
        ([[1.0, 2.0], [3.0, 4.0]], "ab", "2 different names"),
    ],
)
def test_refusals(scores, names, words):
    with pytest.raises(InvalidInput, match=words):
        compare_algorithms(scores, names)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1, True, "0.05", float("nan")])
def test_levels_that_are_none(alpha):
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        compare_algorithms([[1.0, 2.0], [3.0, 4.0]]).critical_difference(alpha)
