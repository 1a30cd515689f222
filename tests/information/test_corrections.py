"""Corrections of the bias of few samples: against slow twins, and against known distributions."""

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import digamma

import naive_corrections
from certselect import information_terms
from certselect.information.kernels.compiled import CompiledCounter
from certselect.information.kernels.entropy_sums import CountLogs, count_log_table
from certselect.information.kernels.logarithm import natural_log
from certselect.information.kernels.plain import PlainCounter
from certselect.information.plugin import plugin_terms
from information.coded_by_hand import CORRECTIONS, KINDS, coded, everything, rounded_alike, terms_of

FLOAT64 = np.dtype(np.float64)
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def random_table(seed, m, levels, n_classes, **more):
    rng = np.random.default_rng(seed)
    target = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m - n_classes)])
    return coded([rng.integers(0, size, m).tolist() for size in levels], target, **more)


SHAPES = {
    "few samples": (12, [2, 3, 5, 4], 2),
    "one word and more": (90, [2] * 9 + [5, 17], 3),
    "more levels than bit rows take": (60, [66, 3, 80, 2, 64], 2),
    "as many classes as half the samples": (40, [2, 3, 4], 20),
    "constant among others": (64, [1, 2, 1, 3], 2),
    "one feature, one class": (20, [3], 1),
}


@pytest.fixture(params=SHAPES, ids=lambda name: name.replace(" ", "-"))
def table(request):
    return random_table(5, *SHAPES[request.param])


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("compiled", [False, True])
def test_terms_equal_the_twin(table, correction, compiled):
    columns, target = table.codes.tolist(), table.target.tolist()
    terms = terms_of(table, correction, compiled=compiled)
    relevance, redundancy, conditional = naive_corrections.terms(columns, target, [1] * len(target), correction)
    np.testing.assert_allclose(terms.relevance, relevance, **CLOSE)
    np.testing.assert_allclose(terms.redundancy, redundancy, **CLOSE)
    np.testing.assert_allclose(terms.conditional_redundancy, conditional, **CLOSE)
    np.testing.assert_allclose(terms.entropy, np.diag(redundancy), **CLOSE)
    own, _ = naive_corrections.own_entropies(target, target, [1] * len(target), correction)
    assert terms.target_entropy == pytest.approx(own, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_every_way_to_count_gives_the_same_floats(table, correction):
    plain = terms_of(table, correction)
    for n_jobs in (1, 4):
        assert (everything(terms_of(table, correction, compiled=True, n_jobs=n_jobs)) == everything(plain)).all()
    everyone = np.arange(len(table.codes))
    compiled = terms_of(table, correction, compiled=True)
    for kind in KINDS:
        whole = getattr(plain, kind)
        assert (whole == whole.T).all()
        assert (compiled.pairs.rows(kind, everyone) == whole).all()
        assert (plain.pairs.rows(kind, everyone[::-1]) == whole[::-1]).all()
        narrow = terms_of(table, correction, compiled=True, dtype=np.float32)
        assert rounded_alike(getattr(narrow, kind), whole, correction)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(CORRECTIONS))
def test_order_of_rows_and_names_of_levels_change_nothing(seed, correction):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 40)), int(rng.integers(1, 5))
    columns = rng.integers(0, 5, (n, m))
    target = np.concatenate([[0, 1], rng.integers(0, 3, m - 2)])
    rows, names, labels = rng.permutation(m), rng.permutation(5), rng.permutation(3)
    before = plugin_terms(coded(columns.tolist(), target), correction=correction, dtype=FLOAT64, n_jobs=1)
    shuffled = coded(names[columns][:, rows].tolist(), labels[target][rows])
    after = plugin_terms(shuffled, correction=correction, dtype=FLOAT64, n_jobs=1)
    assert (everything(after) == everything(before)).all()


def test_spare_levels_change_nothing():
    spare = random_table(2, 50, [3, 4, 2], 2, spare_levels=3)
    exact = random_table(2, 50, [3, 4, 2], 2)
    for correction in CORRECTIONS:
        for compiled in (False, True):
            fewer = everything(terms_of(exact, correction, compiled=compiled))
            assert (everything(terms_of(spare, correction, compiled=compiled)) == fewer).all()


def test_miller_madow_adds_half_a_level_per_sample():
    table = random_table(1, 60, [4, 6], 3)
    plain, corrected = terms_of(table, "none"), terms_of(table, "miller_madow")
    np.testing.assert_allclose(corrected.entropy, plain.entropy + (np.array([4, 6]) - 1) / 120, rtol=1e-14)


@pytest.mark.parametrize("correction", ["none", "miller_madow", "grassberger"])
def test_tables_of_phi(correction):
    def phi(c):
        if correction == "grassberger":
            return c * naive_corrections.grassberger_log(c)
        return c * math.log(c) - (0.5 if correction == "miller_madow" else 0.0)

    for m in (1, 2, 3, 15, 1000):
        logs, bits = count_log_table(m, correction)
        assert logs[0] == 0
        for c in range(1, min(m - 1, 50) + 1):
            assert logs[c] / 2.0**bits == pytest.approx(phi(c), rel=1e-14, abs=1e-15)
        everyone = phi(m) if correction != "grassberger" else m * math.log(m)
        assert logs[m] / 2.0**bits == pytest.approx(everyone, rel=1e-14, abs=1e-15)
        # Four sums are put together, each at most phi(m) or, of single samples, m phi(1).
        assert 4 * max(abs(int(logs[-1])), m * abs(int(logs[1]))) <= 2**62


@pytest.mark.parametrize("correction", ["none", "miller_madow", "grassberger"])
def test_phi_computed_is_phi_looked_up(correction):
    counts = np.array([0, 1, 2, 3, 70_000, 70_001, 1_234_567, 3_999_999])
    looked_up, computed = CountLogs(4_000_000, 5, correction), CountLogs(5_000_000, 5, correction)
    assert len(computed.table) < 70_000
    a = looked_up.of(counts) / 2.0**looked_up.fraction_bits
    np.testing.assert_allclose(computed.of(counts) / 2.0**computed.fraction_bits, a, rtol=4e-16, atol=2.0**-33)
    alone = looked_up.of_cells(counts[:, None], counts) / 2.0**looked_up.fraction_bits
    again = computed.of_cells(counts[:, None], counts) / 2.0**computed.fraction_bits
    np.testing.assert_allclose(again, alone, rtol=4e-16, atol=2.0**-33)
    assert (
        computed.of(np.array([5_000_000]))
        == computed.total
        == computed.of_cells(np.array([[5_000_000]]), np.array([5_000_000]))
    )


def test_the_logarithm_is_right():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.random(2000), np.exp(rng.uniform(-600, 600, 2000)), 2.0 ** np.arange(-60, 60), [1.0]])
    np.testing.assert_allclose(natural_log(values), np.log(values), rtol=3e-16, atol=2e-16)


def test_constants_say_nothing_under_any_correction():
    table = coded([[0] * 9, [0, 1, 2] * 3], [0, 1, 1] * 3)
    for correction in CORRECTIONS:
        terms = terms_of(table, correction)
        assert terms.entropy[0] == terms.relevance[0] == 0
        assert (terms.redundancy[0] == 0).all()
        assert (terms.conditional_redundancy[0] == 0).all()


def test_unknown_corrections_are_refused():
    with pytest.raises(ValueError, match=r"correction='jackknife'.*none, miller_madow, grassberger, shrinkage, chance"):
        information_terms([[0], [1]], [0, 1], correction="jackknife", measure="plugin")


def known_pair(strength):
    """A 5 x 5 joint distribution: independent at strength 0, equal variables at 1; and its information."""
    joint = strength * np.eye(5) / 5 + (1 - strength) / 25
    return joint, float((joint[joint > 0] * np.log(joint[joint > 0] * 25)).sum())


def mean_error(strength, m, correction, n_pairs=60):
    """Mean error of I(Xi;Xj) over pairs of columns drawn from a known distribution."""
    joint, true = known_pair(strength)
    rng = np.random.default_rng(11)
    draws = rng.choice(25, size=(n_pairs, m), p=joint.ravel())
    table = coded([*(draws // 5).tolist(), *(draws % 5).tolist()], [0, 1] * (m // 2))
    found = terms_of(table, correction, compiled=True).redundancy
    return float(np.abs(np.diag(found[:n_pairs, n_pairs:]) - true).mean())


@pytest.mark.parametrize("m", [30, 60])
@pytest.mark.parametrize("correction", ["miller_madow", "grassberger", "shrinkage", "chance"])
def test_corrections_bring_few_samples_closer_to_the_truth(m, correction):
    """A quarter of the error less at least, up to 0.25 nats; shrinkage and chance, which expect little, up to 0.07."""
    for strength in (0, 0.2) if correction in ("shrinkage", "chance") else (0, 0.2, 0.4):
        assert mean_error(strength, m, correction) < 0.75 * mean_error(strength, m, "none"), strength


@pytest.mark.parametrize("m", [30, 60])
@pytest.mark.parametrize("correction", ["miller_madow", "grassberger"])
def test_corrections_of_counts_do_no_harm_to_strong_dependence(m, correction):
    """At 0.38 and 0.73 nats, where plain frequencies err least, the gain is smaller but there."""
    for strength in (0.5, 0.7):
        assert mean_error(strength, m, correction) < mean_error(strength, m, "none"), strength


def test_two_hundred_thousand_levels_are_shrunk_without_a_dense_table():
    m = 200_000
    rng = np.random.default_rng(0)
    columns = [rng.permutation(m).tolist(), rng.permutation(m).tolist(), rng.integers(0, 3, m).tolist()]
    table = coded(columns, rng.integers(0, 4, m), dtype=np.uint32)
    terms = {compiled: terms_of(table, "shrinkage", compiled=compiled) for compiled in (False, True)}
    assert (everything(terms[False]) == everything(terms[True])).all()
    # Distinct values are taken for equal frequencies, and their joint tables for chance.
    assert terms[True].entropy[0] == pytest.approx(math.log(m), rel=1e-9)
    assert terms[True].redundancy[0, 1] < 1e-3


def test_small_and_large_tables_agree_whatever_their_cells(monkeypatch):
    table = random_table(8, 120, [40, 3, 50, 2, 7], 3)
    for correction in CORRECTIONS:
        expected = everything(terms_of(table, correction, compiled=True))
        monkeypatch.setattr("certselect.information.kernels.plain._CHUNK", 100)
        monkeypatch.setattr("certselect.information.kernels.cells_plain._CHUNK", 100)
        assert (everything(terms_of(table, correction)) == expected).all()
        monkeypatch.undo()


def test_plain_counters_take_corrections_as_the_compiled_do():
    table = random_table(4, 200, [3, 70, 5], 2)
    for correction in ("miller_madow", "grassberger"):
        slow, fast = PlainCounter(table, FLOAT64, correction), CompiledCounter(table, 2, FLOAT64, correction)
        assert (slow.sums.level == fast.sums.level).all()
        assert (slow.matrix("interaction") == fast.matrix("interaction")).all()


def samples_of(n_rows, shares):
    """Every way n_rows fall into levels of these shares: a column of each, and how likely the counts are."""
    columns, chances = [], []
    for cuts in combinations_with_replacement(range(n_rows + 1), len(shares) - 1):
        counts = np.diff([0, *cuts, n_rows]).tolist()
        columns.append([level for level, count in enumerate(counts) for _ in range(count)])
        ways = math.factorial(n_rows) // math.prod(math.factorial(count) for count in counts)
        chances.append(ways * math.prod(share**count for share, count in zip(shares, counts, strict=True)))
    return columns, np.array(chances)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.2, 0.3, 0.5), (0.25,) * 4, (0.9, 0.1), (0.05, 0.15, 0.8)], ids=str)
@pytest.mark.parametrize("m", [2, 3, 7, 15, 16])
def test_grassbergers_expected_entropy_has_its_closed_form(shares, m):
    """H + ln N - psi(N) - sum p times the integral of t^(N-1) / (1-t) from 0 to 1 - 2p (Schuermann 2004)."""
    columns, chances = samples_of(m, shares)
    found = float(chances @ terms_of(coded(columns, [0] * m), "grassberger").entropy)
    # A sample of one value has no entropy here, where the formula gives it ln N - G(N).
    found += sum(share**m for share in shares) * (math.log(m) - naive_corrections.grassberger_log(m))
    tails = [quad(lambda t: t ** (m - 1) / (1 - t), 0, 1 - 2 * share)[0] for share in shares]
    entropy = -sum(share * math.log(share) for share in shares)
    tail = sum(share * tail for share, tail in zip(shares, tails, strict=True))
    assert found == pytest.approx(entropy + math.log(m) - digamma(m) - tail, rel=1e-10)


def expected_information(m, correction):
    """Of two fair coins that know nothing of each other: the mean over all samples, each as often as it is drawn."""
    expected = 0.0
    for heads in range(m + 1):
        pairs = [(a, b) for a in range(heads + 1) for b in range(m - heads + 1)]
        columns = [[1] * a + [0] * (heads - a) + [1] * b + [0] * (m - heads - b) for a, b in pairs]
        table = coded(columns, [1] * heads + [0] * (m - heads))
        chances = [math.comb(m, heads) * math.comb(heads, a) * math.comb(m - heads, b) / 4**m for a, b in pairs]
        expected += float(np.array(chances) @ terms_of(table, correction).relevance)
    return expected


def expected_by_hand(m):
    """The same of Grassberger's, from the published formula."""
    g = [0.0, *(naive_corrections.grassberger_log(c) for c in range(1, m + 1))]

    def entropy(*counts):
        return 0.0 if max(counts) == m else math.log(m) - math.fsum(c * g[c] for c in counts) / m

    expected = []
    for a, b, c in product(range(m + 1), repeat=3):
        if (d := m - a - b - c) >= 0:
            found = entropy(a + b, c + d) + entropy(a + c, b + d) - entropy(a, b, c, d)
            expected.append(max(found, 0.0) * math.comb(m, a) * math.comb(m - a, b) * math.comb(m - a - b, c) / 4**m)
    return math.fsum(expected)


def test_one_row_more_changes_the_bias_of_grassberger_little():
    """With G(N) in the place of ln N it jumped from odd to even numbers of rows: 0.023, 0.063, 0.020 nats."""
    found = [expected_information(m, "grassberger") for m in (15, 16, 17)]
    assert found == pytest.approx([expected_by_hand(m) for m in (15, 16, 17)], rel=1e-10)
    assert max(found) - min(found) < 0.011


@pytest.mark.parametrize("correction", ["none", "miller_madow", "grassberger"])
@pytest.mark.parametrize("m", [6, 7])
def test_pairs_of_few_rows_left_are_corrected_by_how_many_there_are(m, correction):
    """The rows left out say nothing: beside 40 gaps the terms are those of the m rows alone, for odd and even m."""
    rng = np.random.default_rng(m)
    columns, target = rng.integers(0, 3, (4, m)).tolist(), [0, 1] * (m // 2) + [0] * (m % 2)
    columns.append([1] * m)
    relevance, redundancy, conditional = naive_corrections.terms(columns, target, [1] * m, correction)
    gaps = coded([column + [None] * 40 for column in columns], target + [0, 1] * 20)
    for compiled in (False, True):
        terms = terms_of(gaps, correction, compiled=compiled)
        np.testing.assert_allclose(terms.relevance, relevance, **CLOSE)
        np.testing.assert_allclose(terms.redundancy, redundancy, **CLOSE)
        np.testing.assert_allclose(terms.conditional_redundancy, conditional, **CLOSE)
