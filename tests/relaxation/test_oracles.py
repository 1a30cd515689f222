"""Our solver and other people's agree on the same relaxation."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from certselect import information_terms, subset_problem
from certselect.errors import InvalidInput
from certselect.relaxation import Status, solve
from relaxation.made_problems import degenerate, from_known_pair, random_problem, redundancy_like


def assert_agree(Q: np.ndarray, k: int, method: str, tol: float) -> None:
    ours, theirs = solve(Q, k, tol=1e-8), solve(Q, k, method, tol=tol)
    assert theirs.status in (Status.SOLVED, Status.NEARLY_SOLVED)
    size = k * np.abs(Q).max()
    assert theirs.primal_value == pytest.approx(ours.primal_value, rel=1e-5, abs=1e-6 * size)
    assert theirs.dual_value == pytest.approx(ours.dual_value, rel=1e-5, abs=1e-6 * size)


@pytest.mark.parametrize("k", [2, 6, 15])
def test_scs_agrees(k: int) -> None:
    pytest.importorskip("scs")
    assert_agree(redundancy_like(20, k, seed=k), k, "scs", 1e-9)


@pytest.mark.parametrize("k", [2, 6, 15])
@pytest.mark.parametrize("make", [lambda k: random_problem(20, k), lambda k: redundancy_like(20, k, k)])
def test_clarabel_agrees(make, k: int) -> None:
    pytest.importorskip("clarabel")
    assert_agree(make(k), k, "clarabel", 1e-9)


@pytest.mark.parametrize("name", list(degenerate(3, 0)))
def test_clarabel_agrees_on_degenerate_problems(name: str) -> None:
    pytest.importorskip("clarabel")
    assert_agree(degenerate(10, seed=1)[name], 4, "clarabel", 1e-9)


@pytest.mark.parametrize("criterion", ["jmi", "mrmr"])
def test_clarabel_agrees_on_real_data(criterion: str) -> None:
    pytest.importorskip("clarabel")
    terms = information_terms(*load_breast_cancer(return_X_y=True), measure="plugin", correction="none")
    assert_agree(subset_problem(terms, 8, criterion).matrix, 8, "clarabel", 1e-9)


# Clarabel's work grows with the sixth power of n: two minutes at a hundred features, seconds at sixty.
@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda k: random_problem(60, k),
        lambda k: redundancy_like(50, k, k),
        lambda k: from_known_pair(50, k, 3, k)[0],
        lambda k: degenerate(50, k)["near duplicates"],
    ],
)
def test_clarabel_agrees_on_larger_problems(make) -> None:
    pytest.importorskip("clarabel")
    assert_agree(make(12), 12, "clarabel", 1e-8)


@pytest.mark.parametrize("method", ["scs", "clarabel"])
def test_stopped_by_iterations(method: str) -> None:
    pytest.importorskip(method)
    answer = solve(redundancy_like(12, 4, seed=0), 4, method, max_iterations=3)
    assert answer.status is Status.STOPPED_BY_ITERATIONS
    assert answer.iterations == 3


def test_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scs", None)
    with pytest.raises(InvalidInput, match=r"certselect\[solvers\]"):
        solve(np.eye(3), 2, "scs")
