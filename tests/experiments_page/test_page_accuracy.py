"""Tables and sentences about accuracies follow from made-up results."""

import pytest
from experiments.kept_rows import write_rows
from experiments.page import page_text
from experiments.page_accuracy import accuracy_tables, reference_greedy, what_holds
from experiments.page_comparisons import other_classifiers, other_programmes, rank_tests, similarity
from experiments.page_sources import PRINTED, finished, our_accuracies
from experiments.page_tables import difference, listed, table

from experiments_page.made_results import accuracy_file, comparison_file, keep, optimum_row

SETS = ("ARR", "NCI", "DBW", "CNA", "IAD", "MAD", "LNG", "DEX")


def test_a_page_of_nothing_says_so_and_invents_nothing(tmp_path):
    page = page_text(tmp_path, PRINTED)
    for experiment in ("accuracy", "comparison", "cross_classifier", "similarity", "optimum", "madelon"):
        assert f"No results are kept yet: run `python -m experiments {experiment}`." in page
    assert "| MAD | COBRA | - | 74.81 +- 0.65 | - | - | 175 + 24 |" in page


def test_best_sizes_and_averages(tmp_path):
    keep(tmp_path, "quick", accuracy_file("MAD", "JMI", "FS", percents=(83.0, 60.0, 80.0, 88.0, 59.0)))
    text = accuracy_tables(tmp_path, PRINTED)
    assert (
        "| MAD | FS | 83.0 (13) / 82.5 (13) | 60.0 (13) / 60.7 (12) | 80.0 (13) / 80.5 (58) | 88.0 (13) / 87.9 (13) "
        "| 59.0 (13) / 59.2 (19) | 74.0 | 74.2 | -0.2 | - |"
    ) in text
    assert "From the grid `quick`" in text


def test_equal_accuracies_take_the_smallest_size(tmp_path):
    content = accuracy_file("MAD", "JMI", "FS")
    content["scores"]["SVM"]["5"]["mean"] = 0.8
    best = our_accuracies([content], "paper")["MAD", "JMI", "FS"]["SVM"]
    assert (best.percent, best.size) == (80.0, 5)


def test_unfinished_results_and_other_protocols_do_not_count(tmp_path):
    keep(
        tmp_path,
        "quick",
        accuracy_file("MAD", "JMI", "FS", finished=False),
        accuracy_file("MAD", "JMI", "BE", "honest"),
    )
    assert set(our_accuracies(finished(tmp_path, "accuracy")[1], "paper")) == set()
    assert set(our_accuracies(finished(tmp_path, "accuracy")[1], "honest")) == {("MAD", "JMI", "BE")}


def test_the_grid_with_most_results_is_told(tmp_path):
    keep(tmp_path, "quick", accuracy_file("MAD", "JMI", "FS"), accuracy_file("LNG", "JMI", "FS"))
    keep(tmp_path, "coarse", accuracy_file("MAD", "JMI", "FS"))
    assert finished(tmp_path, "accuracy")[0] == "quick"
    keep(tmp_path, "coarse", accuracy_file("LNG", "JMI", "FS"))
    assert finished(tmp_path, "accuracy")[0] == "coarse"


def test_what_holds_counts_and_names_the_classifier_that_is_off(tmp_path):
    keep(
        tmp_path,
        "quick",
        accuracy_file("MAD", "JMI", "FS", percents=(83.0, 60.7, 80.5, 87.9, 59.2)),
        accuracy_file("MAD", "JMI", "COBRA", percents=(82.5, 60.7, 80.7, 87.6, 91.1)),
        accuracy_file("MAD", "JMI", "COBRA", "honest", percents=(70.0,) * 5),
    )
    said = what_holds(tmp_path, PRINTED)
    assert said[0] == (
        "Averages of JMI+FS and JMI+COBRA on MAD, CNA, IAD and DEX: 1 of 2 are within 3 points of the printed ones; "
        "6 are not measured yet."
    )
    assert said[1] == (
        "JMI+COBRA on MAD is off by +6.0 points. The classifier furthest off is NN (+30.0); the other four are by 0.0 "
        "on average. With features chosen inside the folds the average is off by -4.5."
    )
    assert said[2] == ("Madelon, JMI, 13 features: the SVM reaches the printed 82.5 % (COBRA 82.5 %, FS 83.0 %).")


def test_what_scaling_makes_of_the_network(tmp_path):
    again = {"experiment": "unscaled_network", "set": "MAD", "finished": True}
    keep(
        tmp_path,
        "quick",
        accuracy_file("MAD", "JMI", "COBRA", percents=(82.5, 60.7, 80.7, 87.6, 91.1)),
        {**again, "accuracies": {"COBRA": {"5": 0.631, "13": 0.6}, "FS": {"5": 0.6}}},
    )
    assert what_holds(tmp_path, PRINTED)[2] == (
        "The same network on the same subsets, but with columns that are not scaled: MAD COBRA 63.1 % (scaled 91.1, "
        "printed 61.1; average off by +0.4). With it 1 of 1 averages are within 3 points."
    )


@pytest.mark.parametrize(
    ("right", "verdict"),
    [(246, "Three such words are not in this file, whatever the search."), (290, "Such words are there.")],
)
def test_what_three_words_can_do(tmp_path, right, verdict):
    counted = {"rows": 300, "kept": 2000, "distinct": 1700, "triples": 817_000_000, "right": right}
    keep(tmp_path, "every_grid", {"experiment": "three_words", "set": "DEX", "finished": True, **counted})
    said = next(said for said in what_holds(tmp_path, PRINTED) if "DEX with 3" in said)
    assert said == (
        "Printed for DEX with 3 features: up to 94.0 % (RF, JMI+COBRA). Of the 2000 most relevant words no three, by "
        f"which of them occur, tell more than {right} of the 300 documents right ({right / 3:.1f} %), even of those "
        f"the rule was made from; all 817 million triples were counted. {verdict}"
    )


def test_what_the_honest_protocol_costs(tmp_path):
    keep(tmp_path, "quick", accuracy_file("LNG", "mRMR", "FS"))
    keep(tmp_path, "quick", accuracy_file("LNG", "mRMR", "FS", "honest", percents=(70.0,) * 5))
    assert what_holds(tmp_path, PRINTED)[-1] == (
        "Choosing features on all rows, as the paper did, adds 10.0 points to the average accuracy over 1 runs; the "
        "most is 10.0 (LNG, mRMR, FS)."
    )


def test_rank_tests_on_printed_and_made_up_accuracies(tmp_path):
    for place, name in enumerate(SETS):
        for search, ahead in (("COBRA", 2.0), ("FS", 0.0), ("BE", 1.0)):
            percents = (60.0 + place + ahead,) * 5
            keep(tmp_path, "quick", accuracy_file(name, "mRMR", search, percents=percents))
    text = rank_tests(tmp_path, PRINTED)
    assert "our tests give 3 of the 3 printed p-values to three digits" in text
    assert "mRMR, our averages on 8 data sets: mean ranks COBRA 1.00, FS 3.00, BE 2.00 (1 is the best: COBRA)" in text
    assert "at 0.05 FS and COBRA can be told apart" in text
    assert "JMI, ours: too few data sets are measured for ranks (0)." in text


def test_speed_is_judged_on_matrix_and_optimisation_together(tmp_path):
    keep(tmp_path, "quick", comparison_file("MAD", seconds=1.0), comparison_file("ARR", seconds=1.0))
    text = other_programmes(tmp_path, PRINTED)
    assert "| MAD | COBRA | 75.00 +- 1.00 | 74.81 +- 0.65 | +0.19 | 0.500 + 0.500 | 175 + 24 |" in text
    assert "at least 100 times fewer seconds than printed on 1 of 2 sets (times fewer: MAD 199 and ARR 20)" in text


def test_a_worse_value_with_a_better_accuracy_is_told(tmp_path):
    ahead = comparison_file("MAD", seconds=1.0)
    ahead["methods"]["QPFS"]["accuracy"] = 0.765
    keep(tmp_path, "quick", ahead, comparison_file("ARR", seconds=1.0))
    rows = [optimum_row(qpfs=1.0), optimum_row(k=20, qpfs=1.9), optimum_row("ARR", qpfs=1.0)]
    write_rows(tmp_path / "optimum.json", rows)
    assert other_programmes(tmp_path, PRINTED).endswith(
        "lower at every size measured: MAD (1.5 points ahead; value at least 5.1 % below the best). What the criterion "
        "likes better need not be better for a classifier."
    )


def test_other_classifiers_and_similarity(tmp_path):
    cross = {"experiment": "cross_classifier", "set": "ARR", "on_lda_features": {"SVM": 0.8}, "own": {"SVM": 0.82}}
    alike = {"experiment": "similarity", "set": "NCI", "ratio": 0.8, "lowest": 0.3, "finished": True}
    keep(tmp_path, "coarse", cross, alike)
    assert "| ARR | LDA | 80.0 / 78.4 | - / 73.7 | - / 77.1 | - / 68.0 |" in other_classifiers(tmp_path, PRINTED)
    assert "| NCI | 0.8000 | 0.7717 | +0.0283 | 0.3000 |" in similarity(tmp_path, PRINTED)


def test_reference_greedy_names_what_differs(tmp_path):
    same, other = {"equal": True, "differs_at": None}, {"equal": False, "differs_at": 7}
    content = {"experiment": "reference_greedy", "set": "CNA", "features": 50, "mRMR": same, "JMI": other}
    keep(tmp_path, "every_grid", content)
    assert reference_greedy(tmp_path).endswith(
        "in 1 of 2 runs (1 of 8 data sets, mRMR and JMI); it differs on CNA with JMI (step 7)."
    )


@pytest.mark.parametrize(
    ("ours", "printed", "said"), [(1.0, 2.5, "-1.5"), (2.5, 1.0, "+1.5"), (1.01, 1.0, "0.0"), (None, 1.0, "-")]
)
def test_differences(ours, printed, said):
    assert difference(ours, printed) == said


def test_words_and_tables():
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "none",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert table(["", "x"], [["a", "1"]]) == "|  | x |\n| --- | ---: |\n| a | 1 |"
