"""Criteria with a pair term of their own: the same answers as plain loops, in every function, file and command."""

import os
import pickle
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csc_array

import certselect
from as_before import counted
from certselect import (
    Criterion,
    PairTerm,
    SubsetSelector,
    choose_subset,
    information_terms,
    load_result,
    register_criterion,
    select,
    selection_path,
    stop_at_chance,
    subset_problem,
    verify,
)
from certselect.criteria import SameWeight, averaged, known
from certselect.errors import InvalidInput
from certselect.search import list_strategies
from command_line import in_process
from streamed import in_blocks, streamed_terms


def charge(redundancy, conditional_redundancy, a=0.25):
    """Twice what is shared, and redundancy within classes as far as something is shared."""
    shared = redundancy - conditional_redundancy
    ratio = np.maximum(shared, 0.0) / np.maximum(redundancy, 1e-300)
    return 2.0 * shared + conditional_redundancy * np.minimum(1.0, ratio / a)


def with_everything(
    redundancy, conditional_redundancy, interaction, relevance_i, relevance_j, entropy_i, entropy_j, target_entropy
):
    together = (entropy_i + 0.1 * relevance_i) + (entropy_j + 0.1 * relevance_j)
    return redundancy / (0.1 + together) + conditional_redundancy * 0.5 - np.abs(interaction) / (1.0 + target_entropy)


def of_singles(relevance_i, relevance_j):
    return relevance_i * relevance_j


@dataclass(frozen=True)
class Share:
    part: float

    def __call__(self, redundancy, entropy_i, entropy_j):
        return self.part * redundancy / np.maximum(np.minimum(entropy_i, entropy_j), 1e-300)


CHARGE = Criterion("charge", PairTerm("charge", charge), averaged, "sum I(Xi;C) - 1/(k-1) sum charge")
EVERYTHING = Criterion("everything", PairTerm("everything", with_everything), SameWeight(0.3), "a test")
SHARE = Criterion("share", PairTerm("share", Share(0.5)), averaged, "a test")
SINGLES = Criterion("singles", PairTerm("singles", of_singles), SameWeight(0.2), "a test")
ALL = [CHARGE, EVERYTHING, SHARE, SINGLES]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(known._registry, "_registered", dict(known._registry._registered))
    for criterion in ALL:
        register_criterion(criterion)


def table(m=120, n=9, seed=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, m)
    X = rng.integers(0, 4, (m, n))
    X[:, : n // 2] = (X[:, : n // 2] + y[:, None]) % 4
    X[:, 1] = np.where(rng.random(m) < 0.7, X[:, 0], X[:, 1])
    X[:, 2] = (X[:, 3] + y) % 4
    X[:, n - 1] = 2  # constant
    return X, y


def by_hand(terms, criterion, i, j):
    values = {
        "redundancy": terms.redundancy[i, j],
        "conditional_redundancy": terms.conditional_redundancy[i, j],
        "interaction": terms.interaction[i, j],
        "relevance_i": terms.relevance[i],
        "relevance_j": terms.relevance[j],
        "entropy_i": terms.entropy[i],
        "entropy_j": terms.entropy[j],
        "target_entropy": terms.target_entropy,
    }
    return float(criterion.pair.made(**{name: values[name] for name in criterion.pair.takes}))


def value_by_hand(terms, criterion, subset):
    pairs = sum(by_hand(terms, criterion, i, j) for i, j in combinations(subset, 2))
    return sum(terms.relevance[i] for i in subset) - criterion.weight(len(subset)) * pairs


@pytest.mark.parametrize("criterion", ALL, ids=lambda criterion: criterion.name)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"correction": "chance"},
        {"correction": "miller_madow"},
        {"sparse": True},
        {"weights": True},
        {"dtype": "float32"},
        {"measure": "gaussian_copula"},
        {"measure": "neighbors"},
    ],
    ids=str,
)
def test_values_are_those_of_plain_loops(criterion, settings):
    X, y = table()
    given = dict(settings)
    if given.pop("sparse", False):
        X = csc_array(X)
    if given.pop("weights", False):
        given["sample_weight"] = np.random.default_rng(0).integers(1, 4, len(y))
    if given.get("measure"):
        X = X + np.random.default_rng(1).random(X.shape)
        if not {"entropy_i", "entropy_j", "target_entropy"}.isdisjoint(criterion.pair.takes):
            with pytest.raises(InvalidInput, match="have no entropy to divide by"):
                subset_problem(information_terms(X, y, **counted(given)), 3, criterion).value([0, 1])
            return
    terms = information_terms(X, y, **counted(given))
    problem = subset_problem(terms, 3, criterion)
    close = pytest.approx if given.get("dtype") is None else lambda value: pytest.approx(value, rel=1e-5, abs=1e-6)
    for subset in combinations(range(5), 3):
        assert problem.value(subset) == close(value_by_hand(terms, criterion, subset))
    rows = np.array([problem.pair_row(i) for i in range(terms.n_features)])
    whole = subset_problem(information_terms(X, y, **counted(given)), 3, criterion).pair_matrix
    assert rows.dtype == whole.dtype == (np.float64 if criterion is SINGLES else terms.redundancy.dtype)
    assert np.array_equal(rows, whole)
    assert np.array_equal(whole, whole.T)
    assert np.isfinite(whole).all()


def test_pairs_are_the_same_floats_in_blocks():
    X, y = table(m=300)
    columns = pa.table({**{f"x{i}": column for i, column in enumerate(X.T)}, "y": y})
    streamed = streamed_terms(lambda: iter(in_blocks(columns, [40, 7])), measure="plugin", correction="none")
    whole = information_terms(columns, "y", measure="plugin", correction="none")
    for criterion in ALL:
        assert np.array_equal(streamed.pair_matrix(criterion.pair), whole.pair_matrix(criterion.pair))
        assert np.array_equal(streamed.pair_row(criterion.pair, 2), whole.pair_row(criterion.pair, 2))


def test_duplicates_tie_and_columns_may_stand_in_any_order():
    X, y = table()
    X = np.hstack([X, X[:, [0, 4]]])
    order = np.random.default_rng(0).permutation(X.shape[1])
    terms, permuted = (
        information_terms(X, y, measure="plugin", correction="none"),
        information_terms(X[:, order], y, measure="plugin", correction="none"),
    )
    for criterion in ALL:
        matrix = terms.pair_matrix(criterion.pair)
        assert np.array_equal(matrix[np.ix_(order, order)], permuted.pair_matrix(criterion.pair))
        others = [1, 2, 3, 5, 6, 7]
        assert np.array_equal(matrix[0, others], matrix[9, others])
        assert np.array_equal(matrix[4, others], matrix[10, others])


@pytest.mark.parametrize("criterion", ALL, ids=lambda criterion: criterion.name)
def test_all_searches_and_proofs_work(criterion):
    X, y = table()
    terms = information_terms(X, y, measure="plugin", correction="none")
    problem = subset_problem(terms, 3, criterion.name)
    best = max(combinations(range(8), 3), key=lambda subset: value_by_hand(terms, criterion, subset))
    worth = value_by_hand(terms, criterion, best)
    for name in list_strategies():
        found = select(problem, name, random_state=0, certify=True, polish=True)
        assert found.objective <= worth + 1e-12
        assert found.upper_bound >= worth - 1e-12
        if name in ("exact", "exhaustive"):
            assert found.status == "proven optimal"
            assert found.objective == pytest.approx(worth, rel=1e-12)
    path = selection_path(terms, [1, 2, 3], criterion.name, "exact")
    assert path[-1].objective == pytest.approx(worth, rel=1e-12)
    assert select(problem, "forward", certify="tight").upper_bound >= worth - 1e-12
    limited = subset_problem(
        terms, 4, criterion, include=[0], exclude=[1], feature_groups=[[2, 5]], costs=[1.0] * 9, budget=5
    )
    answers = [select(limited, name).objective for name in ("exact", "exhaustive")]
    assert answers[0] == pytest.approx(answers[1], rel=1e-12)


def test_answers_are_explained_saved_verified_and_pickled(tmp_path):
    X, y = table()
    result = choose_subset(X, y, 3, criterion="charge", strategy="exact", measure="plugin", correction="none")
    pickled = pickle.loads(pickle.dumps(result))
    assert str(pickled.explanation) == str(result.explanation)
    worth, problem = np.array(result.explanation["worth"]), subset_problem(result.terms, 3, CHARGE)
    chosen = result.selection.indices.tolist()
    for i in chosen:
        rest = [j for j in chosen if j != i]
        assert worth[i] == pytest.approx(problem.value(chosen) - problem.value(rest), rel=1e-12)
    result.save(tmp_path / "result.json")
    read = load_result(tmp_path / "result.json")
    assert verify(read, X, y).holds


def test_selectors_and_chance_take_it():
    X, y = table()
    selector = SubsetSelector(3, criterion="charge", strategy="exact", measure="plugin", correction="none").fit(X, y)
    given = SubsetSelector(3, criterion=CHARGE, strategy="exact", measure="plugin", correction="none").fit(X, y)
    assert selector.indices_.tolist() == given.indices_.tolist()
    assert pickle.loads(pickle.dumps(selector)).indices_.tolist() == selector.indices_.tolist()
    X[:, 5] = np.where(np.random.default_rng(0).random(len(y)) < 0.7, y, X[:, 5])
    assert (
        1
        <= stop_at_chance(
            X, y, criterion="charge", n_permutations=19, random_state=0, measure="plugin", correction="none"
        ).k
        <= 8
    )


def test_the_command_line_takes_it(tmp_path):
    X, y = table()
    lines = ["a,b,c,d,e,f,g,h,i,y", *(",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    saved = tmp_path / "out.json"
    done = in_process(
        *("select", tmp_path / "table.csv", "-t", "y", "-k", 3, "--criterion", "charge", "--json", saved),
        *("--report", tmp_path / "page.html"),
    )
    assert done.returncode == 0, done.stderr
    assert "plus what it tells only together with them" in done.stdout
    assert "charge" in (tmp_path / "page.html").read_text()
    done = in_process("verify", saved, tmp_path / "table.csv")
    assert done.returncode == 0, done.stderr


def test_another_package_brings_one_in_one_file(tmp_path):
    (tmp_path / "their_criteria.py").write_text(
        textwrap.dedent("""
            import numpy as np
            from certselect import Criterion, PairTerm
            from certselect.criteria import averaged

            def larger(redundancy, conditional_redundancy):
                return np.maximum(redundancy, conditional_redundancy)

            LARGER = Criterion("larger", PairTerm("larger", larger), averaged, "sum I(Xi;C) - mean max(R, Rc)")
        """)
    )
    info = tmp_path / "their_criteria-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their_criteria\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[certselect.criteria]\nlarger = their_criteria:LARGER\n")
    X, y = table()
    lines = ["a,b,c,d,e,f,g,h,i,y", *(",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    source = Path(certselect.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(source)])}
    arguments = ["select", "table.csv", "-t", "y", "-k", "3", "--criterion", "larger", "--json", "out.json"]
    for line in (arguments, ["verify", "out.json", "table.csv"], ["criteria"]):
        script = "from certselect.cli import main; main()"
        ran = subprocess.run(
            [sys.executable, "-c", script, *line], capture_output=True, text=True, env=environment, cwd=tmp_path
        )
        assert ran.returncode == 0, ran.stderr
    assert "larger" in ran.stdout


def test_the_package_uses_the_same_mechanism():
    terms = information_terms(*table(), measure="plugin", correction="none")
    mine = PairTerm("interaction again", lambda interaction: interaction)
    assert np.array_equal(terms.pair_matrix(mine), terms.interaction)
    assert isinstance(known.linear(0.5, 0.25).pair, PairTerm)
    assert known.linear(0.5, 0.25).pair == known.linear(0.5, 0.25).pair
    assert known.linear(0.5, 0.25).pair != known.linear(0.5, 0.5).pair
    assert known.linear(1, 0).pair.can_gain is False
    assert {name: found.rewards_synergy for name, found in known.CRITERIA.items()} == {
        **dict.fromkeys(["distinct", "jmi", "d1", "disr", "condred", "linear", "jim"], True),
        **dict.fromkeys(["mrmr", "mifs", "icap", "nmrmr", "max_relevance"], False),
    }


def test_statistics_that_a_term_needs_are_counted_once_and_kept():
    terms = information_terms(*table(), measure="plugin", correction="none")
    asked, measured = [], terms.pairs.measured
    terms.pairs.measured = lambda kinds, features=None: asked.append(kinds) or measured(kinds, features)
    terms.pair_row(CHARGE.pair, 3)
    terms.pair_row("redundancy", 3)
    terms.pair_row("conditional_redundancy", 3)
    assert asked == [("redundancy", "conditional_redundancy")]
    kept = terms.keeping([3], [CHARGE.pair])
    assert np.array_equal(kept.pair_row("redundancy", 3), terms.pair_row("redundancy", 3))
    assert np.array_equal(kept.pair_row(CHARGE.pair, 3), terms.pair_row(CHARGE.pair, 3))


def not_symmetric(redundancy, relevance_i, relevance_j):
    return redundancy * relevance_i


def not_finite(redundancy, conditional_redundancy):
    return conditional_redundancy / redundancy


def not_elementwise(redundancy):
    return redundancy / redundancy.max()


def one_number(redundancy):
    return redundancy.mean()


def another_shape(redundancy):
    return redundancy.sum(axis=1)


def misspelled(redundency):
    return redundency


def labels(redundancy):
    return redundancy.astype(str)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (not_symmetric, "which changes when i and j are swapped; expected the same term for a pair in either order"),
        (not_finite, "redundancy=0, conditional_redundancy=.*; expected a finite number for every pair"),
        (not_elementwise, "whose entries depend on other pairs"),
        (one_number, "whose entries depend on other pairs"),
        (another_shape, r"makes an array of shape \(12,\) of arrays \(12, 12\)"),
        (misspelled, "takes 'redundency'; .* Did you mean 'redundancy'"),
        (labels, "which returns <U32; expected real numbers"),
        (None, "made by None; expected a function of the statistics of a pair"),
    ],
)
def test_functions_that_are_refused(function, said):
    with pytest.raises(InvalidInput, match=said):
        PairTerm("mine", function)


def test_what_is_not_finite_for_a_pair_of_the_table_is_refused():
    X, y = table()
    terms = information_terms(X, y, measure="plugin", correction="none")
    level = float(terms.redundancy[2, 3])

    def pole(redundancy):
        return 1.0 / (redundancy - level)

    with pytest.raises(InvalidInput, match=r"'pole', which is .*inf for 'x2' and 'x3'; expected a finite number"):
        terms.pair_row(PairTerm("pole", pole), 2)
    with pytest.raises(InvalidInput, match=r"'pole', which is .*inf for 'x2' and 'x3'"):
        terms.pair_matrix(PairTerm("pole", pole))


def test_functions_cannot_change_what_was_measured():
    terms = information_terms(*table(), measure="plugin", correction="none")
    before = terms.redundancy.copy()

    def greedy(redundancy):
        redundancy += 1.0
        return redundancy

    with pytest.raises(ValueError, match="read-only"):
        PairTerm("greedy", greedy)
    assert np.array_equal(terms.redundancy, before)


def test_names_and_hashes_are_checked():
    with pytest.raises(InvalidInput, match="a pair term named ''"):
        PairTerm("", charge)

    class WithoutHash:
        __hash__ = None

        def __call__(self, redundancy):
            return redundancy

    with pytest.raises(InvalidInput, match="without a hash"):
        PairTerm("mine", WithoutHash())
    with pytest.raises(InvalidInput, match=r"None, a PairTerm or one of redundancy, .*impurity_gain"):
        Criterion("mine", "redundncy", averaged, "")
