"""Columns that determine the target: found in any container, and nothing else is called a leak."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from certselect import SubsetSelector, choose_subset, load_result
from certselect.errors import TargetLeakWarning
from command_line import in_process


def passengers(m=300):
    """A table like Titanic's: `alive` is `survived` in words."""
    rng = np.random.default_rng(0)
    survived = rng.integers(0, 2, m)
    return pd.DataFrame(
        {
            "age": rng.normal(40, 12, m).round(),
            "class": rng.choice(["First", "Second", "Third"], m),
            "fare": rng.exponential(30, m) + 20 * survived,
            "alive": np.where(survived, "yes", "no"),
            "survived": survived,
        }
    )


def leaks_of(X, y=None, k=2, **settings):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = choose_subset(X, y, k, **settings)
    said = [str(one.message) for one in warned if issubclass(one.category, TargetLeakWarning)]
    assert len(said) == (1 if result.leaks else 0)
    return result, said


@pytest.mark.parametrize("correction", ["none", "chance", "miller_madow"])
@pytest.mark.parametrize("missing", ["level", "pairwise"])
def test_the_column_is_named_with_its_remedy(correction, missing):
    frame = passengers()
    result, said = leaks_of(frame, "survived", correction=correction, missing=missing)
    assert [leak.name for leak in result.leaks] == ["alive"]
    assert said[0] == (
        "'alive' (100 % of its entropy) determines the target. "
        "If it is not known when you predict, pass exclude=['alive']."
    )
    assert said[0] in repr(result)
    without, said = leaks_of(frame, "survived", correction=correction, missing=missing, exclude=["alive"])
    assert not said
    assert not without.leaks


def test_a_selector_points_at_the_line_that_fits():
    frame = passengers()
    with pytest.warns(TargetLeakWarning, match="'alive'") as warned:
        SubsetSelector(2).fit(frame.drop(columns="survived"), frame["survived"])
    assert warned[0].filename == __file__


def test_a_hundredth_of_the_entropy_may_be_left_and_not_more():
    frame = passengers(2000)
    for changed, found in ((0, True), (1, True), (100, False)):
        other = frame.copy()
        other.loc[: changed - 1, "alive"] = np.where(other.loc[: changed - 1, "survived"], "no", "yes")
        assert bool(leaks_of(other, "survived")[0].leaks) == found


def test_containers_agree(tmp_path):
    frame = passengers()
    frame["alive"] = (frame["alive"] == "yes").astype(int)
    frame["class"] = frame["class"].astype("category").cat.codes
    X, y = frame.drop(columns="survived"), frame["survived"]
    frame.to_csv(tmp_path / "passengers.csv", index=False)
    for given, target, settings in (
        (X.to_numpy(dtype=float), y.to_numpy(), {}),
        (sparse.csr_matrix(X.to_numpy(dtype=float)), y.to_numpy(), {}),
        (tmp_path / "passengers.csv", "survived", {}),
        (tmp_path / "passengers.csv", "survived", {"memory": "64MB"}),
    ):
        result, _ = leaks_of(given, target, **settings)
        assert [leak.column for leak in result.leaks] == [3], type(given)


@pytest.mark.parametrize("measure", ["plugin", "gaussian_copula", "neighbors"])
def test_a_number_of_the_same_order(measure):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    cheats = X.assign(same=np.exp(y / 100), turned=-y)
    result, said = leaks_of(cheats, y, measure=measure)
    assert {leak.name for leak in result.leaks} == {"same", "turned"}
    assert "each determine the target" in said[0]
    assert not leaks_of(X, y, measure=measure)[1]
    noisy = X.assign(noisy=y + np.random.default_rng(0).normal(scale=20, size=len(y)))
    assert not leaks_of(noisy, y, measure=measure)[1]


def test_honest_tables_have_no_leaks():
    for load in (load_iris, load_wine, load_breast_cancer):
        X, y = load(return_X_y=True)
        assert not leaks_of(X, y)[1]
    rng = np.random.default_rng(1)
    for m, n in ((20, 50), (60, 300), (150, 40)):
        for _ in range(5):
            X = rng.integers(0, 3, (m, n))
            X[:, 0] = np.arange(m)  # determines everything, as identifiers do
            assert not leaks_of(X, np.tile([0, 1], m // 2), kinds={0: "levels"})[1], (m, n)


def test_files_and_the_command_line_say_it(tmp_path):
    frame = passengers()
    frame.to_csv(tmp_path / "passengers.csv", index=False)
    kept = tmp_path / "result.json"
    report = tmp_path / "report.html"
    done = in_process(
        "select", tmp_path / "passengers.csv", "-t", "survived", "-k", 2, "--json", kept, "--report", report
    )
    assert "'alive' (100 % of its entropy) determines the target" in done.stderr
    assert "pass --exclude" in done.stderr
    again = load_result(kept)
    assert [leak.name for leak in again.leaks] == ["alive"]
    assert again.verify(tmp_path / "passengers.csv").holds
    page = report.read_text()
    assert "Leak:" in page
    assert 'title="Determines the target">leak' in page
    stored = again.to_dict()
    hidden = stored | {"leaks": []}
    from certselect import verify

    outcome = verify(hidden, tmp_path / "passengers.csv")
    assert outcome.verdict == "false claim"
    assert "determine the target" in outcome.reasons[0]
