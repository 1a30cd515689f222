"""docs/outcome.md says what the results kept say, and these can be had again."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from certselect.errors import InvalidInput

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module", autouse=True)
def benchmarks():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def kept():
    import outcome

    return outcome.read_rows()


def source(name):
    from outcome_tables import SOURCES

    return next(source for source in SOURCES if source.name == name)


def made_up_row(table, contestant, score):
    sizes = (5, 10, 20, 50)
    fewer = 0.5 if "mdlp" in contestant else 1
    return {
        "table": table,
        "contestant": contestant,
        "key": "",
        "seconds": 0.1,
        "chosen": {str(k): fewer * k for k in sizes},
        "splits": {str(k): [score - 0.01, score + 0.01] for k in sizes},
        "models": {str(k): [score] * 4 for k in sizes},
    }


@pytest.fixture
def made_up():
    """Three tables; fastcan is better than the default on one, and Boruta is missing on another."""
    from outcome_summary import Outcome

    scores = {
        "default": (0.80, 0.70, 0.30),
        "default, measure auto": (0.77, 0.70, 0.30),
        "jmi, quantile 5": (0.82, 0.72, 0.31),
        "jmi, mdlp": (0.84, 0.73, 0.30),
        "fastcan": (0.70, 0.75, 0.20),
        "Boruta": (0.70, 0.60, None),
    }
    tables = ("Madelon", "wine + noise", "diabetes + noise")
    rows = [
        made_up_row(table, name, score)
        for name, of_tables in scores.items()
        for table, score in zip(tables, of_tables, strict=True)
        if score is not None
    ]
    rows.append({"table": "diabetes + noise", "contestant": "Boruta", "key": "", "reason": "more than 60 s"})
    return Outcome(rows)


def test_the_page_is_what_the_results_make_of_it(kept):
    from outcome_judgement import read_rows
    from outcome_page import PAGE, page_text

    page = PAGE.read_text(encoding="utf-8")
    code = page.partition("Code: ")[2].partition(" ")[0]  # of the library when the page was made
    assert page_text(kept.values(), read_rows(), code) == page


def test_results_are_of_the_tables_and_contestants_there_are(kept):
    from outcome_contestants import CONTESTANTS, OURS, PEERS
    from outcome_scoring import row_key
    from outcome_tables import SOURCES

    assert {table for table, _ in kept} == {source.name for source in SOURCES}
    assert {contestant for _, contestant in kept} <= set(CONTESTANTS)
    assert len(CONTESTANTS) == len(OURS) + len(PEERS)
    table = source("wine + noise").table()
    assert kept["wine + noise", "jmi, quantile 5"]["key"] == row_key(table, CONTESTANTS["jmi, quantile 5"])


@pytest.mark.parametrize("contestant", ["mrmr, quantile 5", "SelectKBest, F"])
def test_the_kept_scores_can_be_had_again(kept, contestant):
    from outcome_contestants import CONTESTANTS, Sample
    from outcome_scoring import SIZES, model_scores, splits

    table = source("wine + noise").table()
    split = splits(table)[0]
    chosen = CONTESTANTS[contestant].choose(Sample(table, split[0]), SIZES)
    for size in (5, 20):
        again = np.mean(model_scores(table, split, sorted(chosen[size])))
        assert again == pytest.approx(kept["wine + noise", contestant]["splits"][str(size)][0], abs=0.02)


def test_every_contestant_that_is_installed_chooses_from_the_training_rows():
    from outcome_contestants import CONTESTANTS, Sample
    from outcome_tables import Table

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12))
    X[:, 11] = 1.0  # constant
    X[:5, 3] = np.nan
    y = (X[:, 7] > 0).astype(int)
    y[60:] = (X[60:, 2] > 0).astype(int)  # what the test rows would say
    sample = Sample(Table("made up", X, y, classes=True), np.arange(60))
    here = [one for one in CONTESTANTS.values() if one.is_here and one.name not in ("Boruta", "jmi, neighbors")]
    assert len(here) > 30
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        chosen = {one.name: one.choose(sample, (1, 2)) for one in here}
    assert {name: subsets[1] for name, subsets in chosen.items()} == {name: [7] for name in chosen}
    assert all(7 in subsets[2] and len(subsets[2]) <= 2 and 11 not in subsets[2] for subsets in chosen.values())


def test_a_slow_contestant_and_one_that_refuses_are_left_out_with_the_reason():
    import outcome_scoring
    from outcome_contestants import Contestant

    def slow(sample, sizes):
        while True:
            pass

    def refusing(sample, sizes):
        raise InvalidInput("this", "that", "Do so.")

    judge = outcome_scoring.Judge(source("few rows").table())
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(outcome_scoring, "LIMIT", 0.05)
        assert judge.row(Contestant("slow", slow))["reason"] == "more than 0.05 s"
    assert judge.row(Contestant("refusing", refusing))["reason"].startswith("refused: Got this")


def test_only_what_changed_is_measured_again(kept):
    import outcome
    from outcome_contestants import setting
    from outcome_scoring import row_key

    table = source("wine + noise").table()
    names = ["jmi, quantile 5", "RFE"]
    assert outcome.missing(table, names, kept, fresh=False) == []
    assert outcome.missing(table, names, kept, fresh=True) == names
    assert outcome.missing(table, names, {}, fresh=False) == names
    keys = {row_key(table, setting("same name", "jmi", bins=bins)) for bins in (4, 5, 5)}
    assert len(keys) == 2


def test_scores_of_subsets_are_kept_for_runs_to_come(tmp_path, monkeypatch):
    import outcome_scoring
    from outcome_contestants import CONTESTANTS

    asked = []

    def scored(table, split, columns):
        asked.append(columns)
        return [0.5, 0.6, 0.7, 0.8]

    monkeypatch.setattr(outcome_scoring, "model_scores", scored)
    table, contestant = source("few rows").table(), CONTESTANTS["jmi, quantile 5"]
    first = outcome_scoring.Judge(table, tmp_path).row(contestant)
    assert first["models"]["50"] == [0.5, 0.6, 0.7, 0.8]
    assert first["splits"]["5"] == [0.65] * 6
    assert len(asked) == 24
    again = outcome_scoring.Judge(table, tmp_path).row(contestant)
    assert again["splits"] == first["splits"]
    assert len(asked) == 24


def test_training_rows_are_few_and_never_tested():
    from outcome_scoring import MOST_TRAINING_ROWS, splits

    table = source("handwritten digits").table()
    for train, test in splits(table):
        assert len(train) == MOST_TRAINING_ROWS
        assert not set(train) & set(test)
        assert np.bincount(table.y[train]).min() > 50


def test_wide_tables_are_cut_to_the_columns_of_most_entropy(monkeypatch):
    import outcome_tables

    monkeypatch.setattr(outcome_tables, "MOST_COLUMNS", 2)
    X = np.array([[0.0, 1, 1, 5], [0, 2, 1, 6], [0, 3, 2, 7], [0, 4, 1, 5]])
    assert outcome_tables.with_most_entropy(X).tolist() == X[:, [1, 3]].tolist()


def test_whole_numbers_come_as_integers_and_are_numbers_where_they_have_many_values():
    from outcome_tables import Table

    X = np.column_stack([np.arange(30), np.arange(30) % 3, np.arange(30) / 7, np.r_[np.nan, np.arange(29)]])
    table = Table("made up", X, np.arange(30) % 2, classes=True)
    assert [str(kind) for kind in table.frame.dtypes] == ["int64", "int64", "float64", "float64"]
    assert [str(kind) for kind in table.told_frame.dtypes] == ["float64", "int64", "float64", "float64"]


def test_ranks_of_one_that_is_missing_somewhere_are_among_those_that_ran(made_up):
    found = made_up.standings(["default", "jmi, quantile 5", "fastcan", "Boruta"])
    assert found["default"].mean_rank == pytest.approx((2 + 3 + 2) / 3)
    assert found["fastcan"].mean_rank == pytest.approx((3 + 1 + 3) / 3)
    assert (found["Boruta"].mean_rank, found["Boruta"].tables) == (pytest.approx((3.5 + 4) / 2), 2)
    assert found["default"].pvalue == 1.0
    assert 0 < found["fastcan"].pvalue <= 1


def test_sentences_follow_the_numbers(made_up):
    from outcome_page import gaps, losses, score_cells, verdicts

    best, fewer, peers, auto, diabetes = verdicts(made_up)
    assert (
        "accuracy of 0.750, -2.0 points to the best single setting of ours that chooses k (`jmi, quantile 5`)" in best
    )
    assert "mean R2 of 0.300, -1.0 points" in best
    assert "chooses 25 of 50 on average: its accuracy to `jmi, quantile 5` is +1.5 (k = 5), " in fewer
    assert "ahead of every other package" in peers
    assert auto.endswith("the default, on Madelon (-3.0).")
    assert "0.30 (k = 5)" in diabetes
    assert losses(made_up) == "* wine + noise: 0.700, and 0.750 by fastcan (+5.0 points)."
    assert "* Boruta: more than 60 s (diabetes + noise)." in gaps(made_up)
    assert "* RFE: not run yet (every table)." in gaps(made_up)
    assert score_cells(made_up, "Boruta")[-2:] == ["0.650", "-"]


# The judgement


def judged_rows(scores, code="now"):
    """A table for each score, with the same score in every split."""
    from judging_tables import CLASSES

    return [
        {"table": about.name, "contestant": name, "code": code, "seconds": 1.0, "splits": {"5": [score] * 6}}
        for name, of_tables in scores.items()
        for about, score in zip(CLASSES, of_tables, strict=False)
        if score is not None
    ]


def test_judging_tables_are_named_once_and_are_not_tuning_tables():
    from judging_tables import CLASSES, NUMBERS, TABLES
    from outcome_protocol import TUNING_CLASSES, TUNING_NUMBERS

    names = [about.name for about in TABLES]
    assert len({about.file for about in TABLES}) == len(names) == len(CLASSES) + len(NUMBERS) == 87
    assert not {*names, *(name.removeprefix("keel_") for name in names)} & {*TUNING_CLASSES, *TUNING_NUMBERS}


def test_sizes_are_parts_of_few_columns():
    from outcome_judgement import sizes_of

    assert sizes_of(21) == (5, 10, 20)
    assert sizes_of(20) == (5, 10, 15)
    assert sizes_of(8) == (2, 4, 6)


def test_the_default_is_ahead_as_good_or_behind():
    from outcome_verdict import Judgement

    rows = judged_rows(
        {
            "default": [0.8] * 9 + [0.7],
            "RFE": [0.7 + place / 100 for place in range(9)] + [0.6],
            "fastcan": [0.8, 0.81, 0.79, 0.82, 0.78, 0.8, 0.8, 0.8, 0.8, 0.76],
            "Boruta": [0.85 + place / 100 for place in range(9)],
        }
    )
    found = Judgement(rows, classes=True)
    assert {name: found.compare(name).verdict for name in ("RFE", "fastcan", "Boruta")} == {
        "RFE": "ahead of",
        "fastcan": "as good as",
        "Boruta": "behind",
    }
    assert (found.compare("fastcan").better, found.compare("fastcan").worse) == (2, 3)
    assert found.compare("Boruta").tables == 9
    assert set(found.mean_ranks) == {"default", "RFE", "fastcan"}
    assert found.mean_ranks["RFE"] == 3.0
    _, best, lead, error = found.losses()[0]
    assert (best, round(lead, 2), error) == ("Boruta", 0.13, 0.0)


def test_rows_that_other_code_made_are_called_stale():
    from outcome_verdict import stale

    assert not stale(judged_rows({"default": [0.8], "RFE": [0.7]}), "now").startswith("**Stale**")
    assert stale(judged_rows({"default": [0.8]}, code="before"), "now").startswith("**Stale**")
    assert not stale(judged_rows({"RFE": [0.8]}, code="before"), "now").startswith("**Stale**")


def test_the_digest_of_code_ignores_comments_docstrings_and_formatting(tmp_path, monkeypatch):
    import outcome_scoring

    def digest(text):
        monkeypatch.setattr(outcome_scoring, "CODE", tmp_path)
        (tmp_path / "search").mkdir(exist_ok=True)
        (tmp_path / "search" / "one.py").write_text(text)
        outcome_scoring.code_digest.cache_clear()
        return outcome_scoring.code_digest()

    plain = digest("def f(x):\n    return x + 1\n")
    assert digest('def f(x):\n    """Add one."""\n    return (x +\n            1)  # one\n') == plain
    assert digest("def f(x):\n    return x + 2\n") != plain
    outcome_scoring.code_digest.cache_clear()


def test_only_what_other_code_made_is_stale(kept):
    import outcome

    table = source("wine + noise").table()
    rows = {(table.name, name): {**kept[table.name, name], "code": "now"} for name in ("jmi, quantile 5", "RFE")}
    assert outcome.missing(table, ["jmi, quantile 5", "RFE"], rows, fresh=False, code="now") == []
    assert outcome.missing(table, ["jmi, quantile 5", "RFE"], rows, fresh=False, code="later") == ["jmi, quantile 5"]


def test_categories_are_given_as_levels_and_selected_as_columns():
    import pandas as pd

    from outcome_contestants import Sample, best_first
    from outcome_scoring import design
    from outcome_tables import table_of_frame

    rng = np.random.default_rng(0)
    town = rng.choice(["a", "b", "c"], 90)
    frame = pd.DataFrame({"noise": rng.normal(size=90), "town": town, "flag": rng.random(90) > 0.5})
    frame["target"] = np.where(town == "b", "yes", "no")
    table = table_of_frame("made up", frame, "target", classes=True)
    assert table.categories == (1,)
    sample = Sample(table, np.arange(60))
    assert sample.owners.tolist() == [0, 1, 1, 1, 2]
    assert best_first("SelectKBest, F").choose(sample, (1, 2))[1] == [1]
    assert len(best_first("RFE").choose(sample, (1, 2))[2]) == 2
    seen, unseen = design(table, (np.arange(60), np.arange(60, 90)), [0, 1])
    assert seen.shape == (60, 4)
    assert unseen[:, 1:].sum(axis=1).tolist() == [1.0] * 30


def test_a_split_is_judged_by_size_and_model():
    from outcome_contestants import best_first
    from outcome_judgement import judged_split, rows_of_tables
    from outcome_scoring import splits
    from outcome_tables import Table

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 8))
    table = Table("boston", X, X[:, 3] + 0.1 * rng.normal(size=90), classes=False)
    found = [
        row
        for place, split in enumerate(splits(table)[:2])
        for row in judged_split(table, place, split, [best_first("SelectKBest, F")])
    ]
    assert 3 in found[0]["columns"]["2"]
    (row,) = rows_of_tables(found, "now")
    assert (row["table"], row["contestant"], row["code"]) == ("boston", "SelectKBest, F", "now")
    assert [len(scores) for scores in row["splits"].values()] == [2, 2, 2]
    assert [len(scores) for scores in row["models"].values()] == [4, 4, 4]
