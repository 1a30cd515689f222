"""What the page says of certified optima and of Madelon, on made-up rows."""

from experiments.kept_rows import write_rows
from experiments.optimum import gap_to_bound
from experiments.page_certified import madelon, madelon_in_words, optimum, optimum_in_words
from experiments.page_sources import PRINTED
from experiments.page_summary import summary
from experiments.page_verdict import verdict

from experiments_page.made_results import accuracy_file, comparison_file, keep, madelon_row, optimum_row


def test_gaps_are_to_the_certified_bound():
    row = optimum_row(bound=2.02, proven=False, forward=1.98)
    assert abs(gap_to_bound(row, "forward") - 0.02) < 1e-12
    assert gap_to_bound(optimum_row(soss=2.0 - 1e-13), "soss") == 0.0


def test_optimum_table_and_sentences(tmp_path):
    rows = [
        optimum_row(forward=1.99, backward=1.0, qpfs=-1.0),
        optimum_row("NCI", "jmi", 50, bound=2.001, proven=False),
    ]
    write_rows(tmp_path / "optimum.json", rows)
    text = optimum(tmp_path)
    assert "| MAD | mRMR | 500 | 12 | 0.51 | 50 | 150 | 0 | 0 | 2.000000 | 0 | yes | 1.5 |" in text
    assert "| NCI | JMI | 500 | 50 | 0.050 | 0.050 | 0.050 | 0.050 | 0.050 | 2.000000 | 0.050 | no | 1.5 |" in text
    said = optimum_in_words(rows)
    assert said[0] == ("Of 2 problems 1 are solved with proof; ARR, DBW, CNA, IAD, LNG and DEX are not measured yet.")
    assert said[1].startswith(
        "FS: the best, proven, in 0 of 2; within 1 % of it in 2; at worst 0.51 % below (MAD, mRMR"
    )
    assert said[-1].startswith("In 2 of 2 problems the better of FS and BE is within 1 % of the best value")


def test_a_proven_optimum_that_classifies_badly_is_the_criterions_fault():
    rows = [
        madelon_row(value_of_jmi_subset=-0.25),
        madelon_row(criterion="jmi", best=83.0),
        madelon_row(criterion="mifs", beta=0.0, best=82.9),
        madelon_row(criterion="mifs", beta=1.0, best=60.0),
    ]
    said = " ".join(madelon_in_words(rows, PRINTED))
    assert "proven to be the best under mRMR gives 64.8 %: 18.4 points short of the printed accuracy" in said
    assert "it is the criterion, not the search" in said
    assert "FS 2.00 % below in value, 64.8 %" in said
    assert "The 12 features that JMI likes best give 83.0 %, and mRMR values them at -0.2500 against 0.5000" in said
    assert (
        "None of 2 settings with a price on redundancy comes within 1 point of 83.2 %; the nearest is 64.8 %." in said
    )
    assert "In these 2 settings COBRA's subset gives 0.0 points more than the better greedy one at most" in said
    assert "falls by more than 1 point in 1 of 1 codings" in said


def test_an_optimum_that_classifies_well_leaves_the_search_to_blame():
    said = " ".join(madelon_in_words([madelon_row(best=83.0)], PRINTED))
    assert "a search that misses it is to blame" in said
    assert "not the search" not in said


def test_without_a_proof_there_is_no_verdict():
    said = " ".join(madelon_in_words([madelon_row(proven=False, bound=0.6)], PRINTED))
    assert "within 20 % of the best under mRMR gives 64.8 %" in said
    assert "the proof is not complete" in said
    assert "not the search" not in said


def test_a_coding_that_leaves_few_columns_has_chosen_itself():
    said = " ".join(madelon_in_words([madelon_row(), madelon_row("mdlp", best=83.2, n=13)], PRINTED))
    assert "Of 2 settings with a price on redundancy 1 come within 1 point of 83.2 %, all with the coding mdlp" in said
    assert "With the other codings the most is 64.8 %." in said
    assert "leaves 13 columns that are not constant, so it is the coding that has chosen" in said


def test_madelon_table(tmp_path):
    write_rows(tmp_path / "madelon.json", [madelon_row(criterion="mifs", beta=0.02, proven=False, bound=0.5 + 1 / 64)])
    assert "| mean_std | price 0.02 | 12 | 500 | 0.50000 | 3.2 | 64.8 | 64.8 | 64.8 | 64.8 |" in madelon(
        tmp_path, PRINTED
    )


def test_a_lead_in_print_that_no_search_could_have_won_is_told(tmp_path):
    """On MAD the paper has mRMR+COBRA 19 points ahead of FS and 20 ahead of BE, on NCI 5 and 4."""
    rows = [
        optimum_row("NCI", "mrmr", 12, forward=1.5, backward=1.995),
        optimum_row("NCI", "mrmr", 20),
        optimum_row("MAD", "mrmr", 12, forward=1.99, backward=1.0),
    ]
    write_rows(tmp_path / "optimum.json", rows)
    text = verdict(tmp_path, PRINTED)
    assert "| NCI | mRMR | 25 | 0.25 | 0 | +4.7 | - | +4.3 | - |" in text
    assert "ahead of FS in 2 of 2 cases (set and criterion). In 1 of these FS is certified" in text
    assert "In 1 of these BE is certified" in text
    assert "Run again" not in text
    keep(
        tmp_path,
        "quick",
        accuracy_file("MAD", "mRMR", "COBRA", percents=(70.0,) * 5),
        accuracy_file("MAD", "mRMR", "FS", percents=(67.5,) * 5),
    )
    text = verdict(tmp_path, PRINTED)
    assert "Run again, COBRA is that far ahead in 1 of them (MAD mRMR)." in text
    assert "| MAD | mRMR | 0.51 | 50 | 0 | +19.0 | +2.5 | +20.3 | - |" in text


def test_the_page_in_short(tmp_path):
    assert summary(tmp_path, PRINTED) == "No results are kept yet."
    rows = [optimum_row(forward=1.99, backward=1.0, qpfs=-1.0), optimum_row(k=5, forward=1.5, backward=1.0, qpfs=-1.0)]
    write_rows(tmp_path / "optimum.json", rows)
    write_rows(tmp_path / "madelon.json", [madelon_row(criterion="jmi", best=83.0), madelon_row(best=64.8)])
    for name, ahead in (("ARR", 0.0), ("NCI", 1.0), ("DBW", 2.0)):
        for place, search in enumerate(("COBRA", "FS", "BE")):
            percents = (70.0 + ahead - place,) * 5
            keep(tmp_path, "quick", accuracy_file(name, "mRMR", search, percents=percents))
    keep(tmp_path, "quick", accuracy_file("ARR", "mRMR", "FS", "honest", percents=(65.5,) * 5))
    keep(tmp_path, "quick", comparison_file("MAD", seconds=1.0))
    assert summary(tmp_path, PRINTED).splitlines() == [
        "* Of 2 problems the subset found is proven to be the best: COBRA in 2, FS in 0, BE in 0, SOSS in 2 and QPFS "
        "in 0. The better greedy search is within 1 % of the best value in 1.",
        "* Whether COBRA, FS and BE differ in accuracy over the data sets, Friedman's p: mRMR 0.050 (printed "
        "accuracies 0.030).",
        "* Madelon's 83.2 % for mRMR with 12 features: the 12 that are proven to be the best give 64.8 %.",
        "* Choosing features on all rows, as the paper did, adds 3.5 points of accuracy on average.",
        "* Matrix and COBRA together take fewer seconds than printed by these factors, on one thread: MAD 199.",
    ]
