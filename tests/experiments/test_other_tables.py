"""The smaller tables: comparison, other classifiers, similarity, the reference greedy, the command."""

import json
from itertools import pairwise

import numpy as np
import pytest
from experiments.preparation import CRITERION, Recipe, measure
from experiments.splits import split_rows
from sklearn.svm import SVC

from certselect import selection_path
from certselect.errors import DataUnavailable
from experiments import __main__ as command
from experiments import comparison, cross_classifier, preparation, reference_greedy, similarity, unscaled_network


def answers(world, folder, experiment):
    return json.loads((world / "results" / folder / f"{experiment}.json").read_text())


def read(world, folder, experiment, **question):
    """The one answer to that question."""
    (found,) = (row for row in answers(world, folder, experiment) if all(row[key] == question[key] for key in question))
    return found


def test_comparison_averages_classifiers_at_their_best_sizes(world, grid):
    comparison.run(grid, ["LNG", "ARR"], 1)
    content = read(world, "tiny", "comparison", set="ARR")
    assert set(content["methods"]) == {"COBRA", "QPFS", "SOSS"}
    scores = read(world, "tiny", "accuracy", set="ARR", search="QPFS")["scores"]
    of_qpfs = content["methods"]["QPFS"]
    best = [max(one["mean"] for one in scores[name].values()) for name in ("LDA", "CART")]
    assert of_qpfs["accuracy"] == pytest.approx(np.mean(best), abs=1e-4)
    folds = [scores[name][str(of_qpfs["sizes"][name])]["folds"] for name in ("LDA", "CART")]
    assert of_qpfs["std"] == pytest.approx(np.mean(folds, axis=0).std(ddof=1), abs=1e-3)
    for seconds in (content["seconds"]["one_thread"], content["seconds"]["all_cores"]):
        assert set(seconds) == {"matrix", "COBRA", "QPFS", "SOSS"}
        assert min(seconds.values()) >= 0
    assert len(answers(world, "tiny", "comparison")) == 1, "the paper compares on five sets, and LNG is none of them"


def test_comparison_measures_seconds_once(world, grid, monkeypatch):
    comparison.run(grid, ["ARR"], 1)
    before = read(world, "tiny", "comparison", set="ARR")
    monkeypatch.setattr(comparison, "time_methods", lambda name, threads: pytest.fail("timed again"))
    comparison.run(grid, ["ARR"], 1)
    assert read(world, "tiny", "comparison", set="ARR") == before


def test_other_classifiers_on_the_features_of_lda(world, grid):
    cross_classifier.run(grid, ["ARR", "MAD"], 1)
    content = read(world, "tiny", "cross_classifier", set="ARR")
    scores = read(world, "tiny", "accuracy", set="ARR", search="COBRA")["scores"]
    size = str(content["size_for_lda"])
    assert scores["LDA"][size]["mean"] == max(one["mean"] for one in scores["LDA"].values())
    assert content["on_lda_features"] == {"CART": scores["CART"][size]["mean"]}
    assert content["own"]["CART"] >= content["on_lda_features"]["CART"]


def test_the_network_is_run_again_on_columns_as_they_are(world, grid, made_up, monkeypatch):
    from experiments import classifiers

    unscaled = {"SVM": {"kernel": "rbf", "C": 1.0, "gamma": 0.5}}
    monkeypatch.setattr(classifiers, "SETTINGS", unscaled)
    monkeypatch.setattr(unscaled_network, "CLASSIFIER", "SVM")
    made_up.X[:, 2:4] *= 0.001  # so that units matter
    unscaled_network.run(grid, ["MAD", "ARR"], 1)
    (content,) = answers(world, "tiny", "unscaled_network")
    assert content["set"] == "MAD", "ARR is none of its sets"
    accuracy = read(world, "tiny", "accuracy", set="MAD", search="FS")
    assert set(content["accuracies"]["FS"]) == set(accuracy["subsets"]) == {"2", "3"}
    columns = accuracy["subsets"]["3"]
    assert 5 not in columns, "the column that misses a value is not among them"
    X, y, splits = made_up.X[:, columns], made_up.y, split_rows(made_up.y, leave_one_out=False, seed=0)
    plain = [SVC(gamma=0.5).fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits.rows]
    assert content["accuracies"]["FS"]["3"] == pytest.approx(np.mean(plain), abs=1e-4)
    assert accuracy["scores"]["SVM"]["3"]["mean"] != content["accuracies"]["FS"]["3"]


def test_similarity_goes_on_and_ends_the_same(world, grid, monkeypatch):
    monkeypatch.setattr(similarity, "BATCH", 2)
    similarity.run(grid, ["NCI", "LNG"], 1)
    content = read(world, "tiny", "similarity", set="NCI")
    subsets = [set(content["subsets"][str(k)]) for k in range(2, 6)]
    assert [len(one) for one in subsets] == [2, 3, 4, 5]
    ratios = [len(a & b) / len(a) for a, b in pairwise(subsets)]
    assert content["ratio"] == pytest.approx(np.mean(ratios), abs=1e-4)
    assert content["lowest"] == pytest.approx(min(ratios), abs=1e-4)

    path = world / "unfinished" / "tiny" / "similarity-NCI.json"
    assert not path.exists()
    cut = {**content, "subsets": {k: content["subsets"][k] for k in ("2", "3")}, "finished": False}
    path.write_text(json.dumps(cut))
    similarity.run(grid, ["NCI"], 1)
    assert read(world, "tiny", "similarity", set="NCI") == content


@pytest.mark.parametrize("criterion", ["mRMR", "JMI"])
def test_the_plain_greedy_is_the_forward_search(criterion):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(60, 25)).astype(float)
    X[:, 20] = X[:, 4]  # a tie at every step
    y = (X[:, 4] + X[:, 9] + rng.integers(0, 2, 60) > 2).astype(int)
    measured = measure(X, y, Recipe(levels=True))
    ours = selection_path(measured.terms, [12], CRITERION[criterion], "forward", copies="all")[0].indices.tolist()
    assert reference_greedy.greedy(measured.codes, y, 12, criterion) == ours


def test_information_is_that_of_the_definition():
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    assert reference_greedy.information(codes, np.array([0, 0, 1, 1])) == pytest.approx([np.log(2), 0.0])
    xor = codes[0] ^ codes[1]
    assert reference_greedy.interaction(codes, xor, 0)[1] == pytest.approx(-np.log(2))


def test_a_difference_from_the_plain_greedy_is_written_down(world, grid, monkeypatch):
    reference_greedy.run(grid, ["LNG"], 1)
    assert read(world, "every_grid", "reference_greedy", set="LNG")["mRMR"] == {"equal": True, "differs_at": None}
    plain = reference_greedy.greedy
    monkeypatch.setattr(reference_greedy, "greedy", lambda *given: [*plain(*given)[:2], *[99] * 9])
    assert reference_greedy.compare("LNG") is False
    assert read(world, "every_grid", "reference_greedy", set="LNG")["JMI"] == {"equal": False, "differs_at": 3}


def test_the_command_runs_what_it_is_told(world, grid, monkeypatch, capsys):
    monkeypatch.setitem(command.GRIDS, "quick", grid)
    command.main(["accuracy", "--grid", "quick", "--sets", "LNG", "--jobs", "1"])
    assert "LNG JMI+BE honest CART" in capsys.readouterr().out
    assert len(answers(world, "tiny", "accuracy")) == 12


def test_two_processes_find_what_one_finds(world, grid, made_up):
    from experiments.searching import Question, find_paths
    from experiments.workers import processes
    from joblib import delayed

    question = Question("LNG", made_up.X, made_up.y, np.arange(30), "JMI", {"BE": [3]})
    with processes(2) as pool:
        (there,) = pool([delayed(find_paths)(question)])
    assert there["BE"].subsets == find_paths(question)["BE"].subsets


@pytest.mark.parametrize("given", [["nothing"], ["accuracy", "--sets", "XYZ"], ["accuracy", "--jobs", "0"]])
def test_what_cannot_be_run_is_refused(given, capsys):
    with pytest.raises(SystemExit) as refused:
        command.main(given)
    assert refused.value.code == 2
    assert "error" in capsys.readouterr().err


def test_no_data_is_one_line(world, monkeypatch):
    def missing(name):
        raise DataUnavailable("no data set", "one", "Set CERTSELECT_DATA.")

    monkeypatch.setattr(preparation, "load_dataset", missing)
    with pytest.raises(SystemExit, match="Set CERTSELECT_DATA"):
        command.main(["accuracy", "--sets", "LNG", "--jobs", "1"])
