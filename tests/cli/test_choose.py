"""`certselect choose` and `certselect path`: real files, real processes, stopped and killed ones among them."""

import json
import signal
import subprocess
import time

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certselect import information_terms, load_result, selection_path
from certselect.cli.predictors import NumbersAndIndicators, make_predictor
from certselect.errors import InvalidInput
from certselect.selectors import SubsetSelectorCV
from command_line import COMMAND, COUNTED, JMI, certselect, error_of, in_process, on_a_terminal


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 6)) + y[:, None] * [2, 1.5, 1, 0.5, 0, 0]
    return X, np.array(["healthy", "ill"])[y]


@pytest.fixture(scope="module")
def csv(table, tmp_path_factory):
    X, y = table
    path = tmp_path_factory.mktemp("data") / "patients.csv"
    lines = ["a,b,c,d,e,f,diagnosis"]
    lines += [",".join(map(repr, row.tolist())) + f",{label}" for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join(lines))
    return path


def test_choose_writes_what_the_selector_finds(csv, table, tmp_path):
    out = tmp_path / "out.json"
    done = certselect(
        "choose", csv, "-t", "diagnosis", "--estimator", "logistic", "--max-size", 5, "--cv", 4, "--criterion", "mrmr",
        "--one-standard-error", "--seed", 3, "--json", out,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    splitter = StratifiedKFold(4, shuffle=True, random_state=3)
    selector = SubsetSelectorCV(
        classifier, 5, splitter, criterion="mrmr", one_standard_error=True, measure="plugin", correction="none"
    ).fit(*table)
    assert result["choice"]["sizes"] == [1, 2, 3, 4, 5]
    [tried] = result["choice"]["combinations"]
    assert tried["mean_scores"] == selector.cv_results_["mean_test_score"].tolist()
    assert np.array(tried["split_scores"]).shape == (4, 5)
    assert tried["standard_errors"] == selector.size_scores_.standard_error.tolist()
    assert result["choice"]["estimator"] == str(make_predictor("logistic", "classification", seed=3))
    assert (result["choice"]["protocol"], result["choice"]["one_standard_error"]) == ("honest", True)
    assert result["selection"]["k"] == selector.n_features_
    assert result["selection"]["features"] == ["abcdef"[i] for i in selector.indices_]
    assert f"{selector.n_features_} features: within one standard error of the best" in done.stdout
    assert "one standard error of the mean over 4 splits" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]  # the finished run keeps no other file
    checked = in_process("verify", out, csv)
    assert checked.returncode == 0, checked.stderr
    assert load_result(out).verify(csv).holds
    assert load_result(out).choice.split_scores.tolist() == selector.size_scores_.scores.tolist()


def test_combinations_are_compared_in_the_same_splits(csv, table, tmp_path):
    out = tmp_path / "out.json"
    options = ["choose", csv, "-t", "diagnosis", "--estimator", "lda", "--max-size", 3, "--cv", 3, "--json", out]
    several = ["--criterion", "jmi, max_relevance", "--bins", 3, "--bins", "sturges", "--strategy", "forward", *COUNTED]
    done = in_process(*options, *several)
    assert done.returncode == 0, done.stderr
    choice = json.loads(out.read_text())["choice"]
    assert [tried["settings"] for tried in choice["combinations"]] == [
        {"criterion": criterion, "bins": bins} for criterion in ("jmi", "max_relevance") for bins in (3, "sturges")
    ]
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    lda = make_predictor("lda", "classification", seed=0)
    selector = SubsetSelectorCV(
        lda,
        3,
        splitter,
        criterion=["jmi", "max_relevance"],
        bins=[3, "sturges"],
        strategy="forward",
        measure="plugin",
        correction="none",
    ).fit(*table)
    for tried, scores in zip(choice["combinations"], selector.combination_scores_, strict=True):
        assert tried["split_scores"] == scores.scores.tolist()
    best = choice["combinations"][choice["chosen"]]
    assert f"Chosen: --criterion {best['settings']['criterion']}, --bins {best['settings']['bins']}. " in done.stdout
    rows = [line for line in done.stdout.splitlines() if line.startswith(("│ max_relevance", "│ jmi"))]
    assert len(rows) == 4
    assert sum("<" in row for row in rows) == 1
    assert in_process("verify", out, csv).returncode == 0


@pytest.mark.parametrize(
    ("several", "said"),
    [
        (["--criterion", "jmi,"], "got --criterion ''; expected a name"),
        (["--criterion", "jmi,mmr"], "got --criterion mmr"),
        (["--bins", "3,many"], "got --bins many"),
    ],
)
def test_a_wrong_value_among_several_is_named(csv, several, said):
    done = in_process("choose", csv, "-t", "diagnosis", "--estimator", "lda", *several)
    assert done.returncode == 2
    assert said in error_of(done)


def test_scores_that_are_no_numbers_are_told_in_a_line(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("a,b,y\n" + "\n".join(f"{i % 5},{i % 3},{i / 7}" for i in range(12)))
    done = in_process("choose", path, "-t", "y", "--estimator", "linear", "--task", "regression", "--cv", 12)
    assert done.returncode == 2
    assert "no finite score by --scoring r2 in 12 of 12 splits" in done.stderr


def mixed_columns(y):
    rng = np.random.default_rng(0)
    X = np.empty((80, 4), dtype=object)
    X[:, 0] = np.where(y, "red", rng.choice(["blue", "green"], 80)).tolist()
    X[:, 1] = rng.normal(size=80).tolist()
    X[:, 2] = rng.integers(0, 9, 80).tolist()
    X[:, 3] = [None if i % 7 == 0 else i for i in range(80)]
    return X


@pytest.mark.parametrize("name", ["svm", "lda", "tree", "forest", "neural", "neighbors", "logistic"])
def test_every_classifier_learns_from_mixed_columns(name):
    y = np.random.default_rng(1).integers(0, 2, 80)
    X = mixed_columns(y)
    assert make_predictor(name, "classification", seed=0).fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize("name", ["svm", "linear", "tree", "forest", "neural", "neighbors"])
def test_every_regressor_learns_from_mixed_columns(name):
    red = np.random.default_rng(1).integers(0, 2, 80)
    X = mixed_columns(red)
    y = 3.0 * red + np.array(X[:, 1], dtype=float) / 10
    assert make_predictor(name, "regression", seed=0).fit(X, y).score(X, y) > 0.8


def test_missing_cells_by_hand():
    X = np.array([["a", 1.0], [None, None], ["a", 3.0], ["b", 7.0]], dtype=object)
    encoder = NumbersAndIndicators().fit(X)
    assert encoder.transform(X).tolist() == [[0, 1, 0, 1, 0], [1, 0, 0, 3, 1], [0, 1, 0, 3, 0], [0, 0, 1, 7, 0]]


def test_none_is_no_word_and_rare_names_get_no_column():
    X = np.array([["None"], [None], ["a"]], dtype=object)
    assert NumbersAndIndicators().fit_transform(X).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    names = np.array([[f"patient {i}"] for i in range(500)] + [["x"]] * 3, dtype=object)
    encoded = NumbersAndIndicators().fit_transform(names)
    assert encoded.shape == (503, 100)
    assert encoded[:, -1].sum() == 3


def test_indicators_by_hand():
    X = np.array([["a", 1.5], ["b", 2.0], ["a", 3.0]], dtype=object)
    encoder = NumbersAndIndicators().fit(X)
    assert encoder.transform(X).tolist() == [[1, 0, 1.5], [0, 1, 2], [1, 0, 3]]
    unseen = np.array([["c", 0]], dtype=object)
    assert encoder.transform(unseen).tolist() == [[0, 0, 0]]
    with pytest.raises(InvalidInput, match="--estimator oracle for classification; expected one of svm, lda"):
        make_predictor("oracle", "classification", seed=0)


def test_names_categories_and_constraints_reach_the_search(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 100)
    colour = np.where(y == 1, "red", rng.choice(["blue", "red"], 100))
    lines = ["colour,size,count,class"]
    lines += [f"{c},{rng.random()},{rng.integers(0, 3)},{label}" for c, label in zip(colour, y, strict=True)]
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(lines))
    common = ["choose", path, "-t", "class", "--estimator", "tree", "--json", "-", "--cv", 3]
    result = json.loads(in_process(*common, "--sizes", "1,2-3").stdout)
    assert result["choice"]["sizes"] == [1, 2, 3]
    assert result["selection"]["features"][0] == "colour"
    done = in_process(*common, "--exclude", "colour", "--include", "count", "--protocol", "paper")
    result = json.loads(done.stdout)
    assert "count" in result["selection"]["features"]
    assert "colour" not in result["selection"]["features"]
    assert result["settings"]["constraints"]["exclude"] == ["colour"]
    assert "note: --protocol paper chooses the features with the test rows in sight" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--estimator", "oracle"], "one of svm, lda, tree, forest, neural, neighbors, logistic"),
        (["--estimator", "lda", "--sizes", "1-x"], "sizes like 1-10,15,20; Check '1-x'"),
        (["--estimator", "lda", "--sizes", "2", "--max-size", "3"], "Leave one out"),
        (["--estimator", "lda", "--protocol", "hopeful"], "one of honest, paper"),
        (["--estimator", "lda", "--strategy", "best"], "--strategy best"),
        (["--estimator", "lda", "--cv", "1"], "--cv 1; expected 2 or more"),
        (["--estimator", "lda", "--scoring", "luck"], "--scoring luck"),
        (["--estimator", "lda", "--scoring", "acuracy"], "Did you mean 'accuracy'?"),
    ],
)
def test_slips_of_the_pen_are_told_in_a_line(csv, options, said):
    done = in_process("choose", csv, "-t", "diagnosis", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in error_of(done)


def long_run(csv, *options):
    return ["choose", str(csv), "-t", "diagnosis", "--estimator", "forest", "--cv", "4", *map(str, options)]


def wait_for_lines(path, lines, process):
    deadline = time.monotonic() + 90
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        assert time.monotonic() < deadline
        assert process.poll() is None, "finished before it could be stopped"
        time.sleep(0.01)


def test_a_killed_run_goes_on_and_ends_alike(csv, tmp_path):
    saved = tmp_path / "saved.jsonl"
    command = long_run(csv, "--json", "-", "--resume", saved)
    process = subprocess.Popen([*COMMAND, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_lines(saved, 1 + 4 + 6, process)
    process.kill()
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    kept = saved.read_bytes()
    again = in_process(*command)
    assert again.returncode == 0, again.stderr
    assert saved.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert saved.read_bytes().count(b"\n") == 1 + 4 + 4 * 6
    whole = json.loads(in_process(*long_run(csv, "--json", "-")).stdout)
    assert json.loads(again.stdout)["choice"] == whole["choice"]
    assert json.loads(again.stdout)["selection"]["features"] == whole["selection"]["features"]
    other = in_process(*command, "--criterion", "mrmr")
    assert other.returncode == 2
    assert "of a run with another criterion" in other.stderr


def test_ctrl_c_prints_the_best_so_far_and_keeps_it(csv, tmp_path):
    out = tmp_path / "out.json"
    saved = tmp_path / "out.json.unfinished"
    command = long_run(csv, "--json", out)
    process = subprocess.Popen([*COMMAND, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_lines(saved, 1 + 4 + 9, process)
    process.send_signal(signal.SIGINT)
    printed, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "features: the best mean score" in printed
    assert f"this is the best so far; the same command goes on from {saved}" in told
    assert not out.exists()
    again = in_process(*command)
    assert again.returncode == 0, again.stderr
    assert json.loads(out.read_text())["choice"]["sizes"] == [1, 2, 3, 4, 5, 6]
    assert not saved.exists()


def test_progress_is_shown_on_a_terminal(csv):
    seen = on_a_terminal("choose", csv, "-t", "diagnosis", "--estimator", "lda", "--max-size", 2)
    assert "classifiers" in seen
    assert "choosing subsets" in seen


def test_path_shows_the_curve_with_its_elbow(csv, table):
    done = in_process("path", csv, "-t", "diagnosis", "--certify", "--max-size", 5, *JMI)
    assert done.returncode == 0, done.stderr
    asked = ["--certify", "--max-size", 5, *JMI, "--json", "-"]
    result = json.loads(in_process("path", csv, "-t", "diagnosis", *asked).stdout)
    path = selection_path(information_terms(*table, measure="plugin", correction="none"), range(1, 6), criterion="jmi")
    assert result["sizes"] == [1, 2, 3, 4, 5]
    assert result["values"] == [selection.objective for selection in path]
    assert result["settings"]["searching"]["certify"] is True
    assert (result["format"], result["target"]) == ("certselect path", ["diagnosis"])
    assert result["features"] == [["abcdef"[i] for i in selection.indices] for selection in path]
    assert all(bound >= value for bound, value in zip(result["upper_bounds"], result["values"], strict=True))
    assert f"up to {result['elbow']} a feature adds more than the average" in done.stdout
    for word in ("at most", "feature", *(f"{value:.4f}" for value in result["values"])):
        assert word in done.stdout
    marked = [line for line in done.stdout.splitlines() if "<" in line]
    assert len(marked) == 1
    assert f" {result['elbow']} " in marked[0]


def test_a_path_without_bounds_and_under_constraints(csv, tmp_path):
    out = tmp_path / "path.json"
    options = ["--strategy", "floating", "--include", "f", "--all-or-none", "a,b", "--exclude", "c", "--json", out]
    done = in_process("path", csv, "-t", "diagnosis", *options)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    assert result["sizes"] == [1, 2, 3, 4, 5]
    assert set(result["upper_bounds"]) == {None}
    for names in result["features"]:
        assert "f" in names
        assert "c" not in names
        assert ("a" in names) == ("b" in names)
    assert "at most" not in done.stdout
    assert in_process("path", csv, "-t", "diagnosis", "--max-size", 2, "--json", "-").stdout.count('"elbow": null') == 1


def test_both_commands_are_in_the_help():
    shown = in_process("--help").stdout
    assert "choose" in shown
    assert "path" in shown
