"""The page's part that no earlier study could write: searches against certified optima, and Madelon's riddle."""

from __future__ import annotations

from pathlib import Path

from benchmarks.proven import percent

from experiments.kept_rows import Row, read_rows
from experiments.optimum import SEARCHES, SETS, best_known, gap_to_bound
from experiments.page_sources import Best, printed_accuracies
from experiments.page_tables import listed, not_yet, table

TITLES = {"forward": "FS", "backward": "BE", "qpfs": "QPFS", "soss": "SOSS", "cobra": "COBRA", "exact": "exact"}
CRITERIA = {"mrmr": "mRMR", "jmi": "JMI"}
NEAR = 0.01  # of the best value: closer than that and the search is hardly to blame
SAME_ACCURACY = 1.0  # points; about the standard error of an accuracy from Madelon's 2000 samples
PAPERS_CODING = "mean_std"


def optimum(results: Path) -> str:
    """How far every search is from what can be had at most."""
    rows = read_rows(results / "optimum.json")
    if not rows:
        return not_yet("optimum")
    lines = [
        [row["set"], CRITERIA[row["criterion"]], str(row["n"]), str(row["k"])]
        + [percent(gap_to_bound(row, search), up=True) for search in SEARCHES]
        + [f"{best_known(row):.6f}", percent(gap_to_bound(row, _best_search(row)), up=True)]
        + ["yes" if row["proven"] else "no", f"{row['seconds']:.1f}"]
        for row in rows
    ]
    head = ["", "criterion", "n", "k", *(TITLES[search] for search in SEARCHES)]
    head += ["best known", "its gap", "proven", "seconds"]
    told = "\n".join(f"* {said}" for said in optimum_in_words(rows))
    legend = (
        "**FS** to **COBRA**, **its gap**: by how much the value of the search's subset, or the best one known, can be "
        "below the best there is, in percent of the best known value, by a certified bound; rounded up, 0 where it is "
        "proven to be the best. **n**: features to choose from. **seconds**: of the proof, on two cores. "
        "All columns of NCI, DBWorld and Dexter, of which the paper keeps 2000, are on "
        "[a page of their own](proven.md), search by search."
    )
    return f"{told}\n\n{table(head, lines, left=2)}\n\n{legend}"


def _best_search(row: Row) -> str:
    return max(row["values"], key=lambda search: row["values"][search])


def optimum_in_words(rows: list[Row]) -> list[str]:
    """What the table says, in sentences that its numbers decide."""
    proven = sum(row["proven"] for row in rows)
    missing = [name for name in SETS if name not in {row["set"] for row in rows}]
    first = f"Of {len(rows)} problems {proven} are solved with proof"
    sentences = [f"{first}; {listed(missing)} are not measured yet." if missing else f"{first}."]
    for search in SEARCHES:
        gaps = [gap_to_bound(row, search) for row in rows]
        worst = max(rows, key=lambda row, search=search: gap_to_bound(row, search))
        near = sum(gap <= NEAR for gap in gaps)
        sentences.append(
            f"{TITLES[search]}: the best, proven, in {sum(gap == 0.0 for gap in gaps)} of {len(rows)}; within "
            f"{100 * NEAR:g} % of it in {near}; at worst {percent(max(gaps), up=True)} % below "
            f"({worst['set']}, {CRITERIA[worst['criterion']]}, k = {worst['k']})."
        )
    greedy = [min(gap_to_bound(row, "forward"), gap_to_bound(row, "backward")) for row in rows]
    near = sum(gap <= NEAR for gap in greedy)
    sentences.append(
        f"In {near} of {len(rows)} problems the better of FS and BE is within {100 * NEAR:g} % of the best value: "
        "there the criterion has hardly anything better to offer than what a greedy search finds."
    )
    return sentences


def madelon(results: Path, printed: Path) -> str:
    """Whether Madelon's accuracies are the criterion's doing or the search's."""
    rows = read_rows(results / "madelon.json")
    if not rows:
        return not_yet("madelon")
    lines = [
        [row["coding"], _criterion(row), str(row["k"]), str(row["n"]), f"{max(row['values'].values()):.5f}"]
        + [percent(_gap(row), up=True), f"{row['best_accuracy']:.1f}"]
        + [f"{row['accuracies'][search]:.1f}" for search in ("forward", "backward", "cobra")]
        for row in rows
    ]
    head = ["coding", "criterion", "k", "n", "best known value", "its gap", "SVM on it", "FS", "BE", "COBRA"]
    told = "\n".join(f"* {said}" for said in madelon_in_words(rows, printed))
    legend = (
        "**n**: columns that are not constant once coded. **its gap**: percent that any subset can be worth more, "
        "certified, rounded up; 0 is a proof that none is. **SVM on it**, **FS**, **BE**, **COBRA**: percent told "
        "right by a support vector machine (radial kernel, scaled columns, 10 folds, features chosen on all rows) on "
        "the best known subset and on those of the searches."
    )
    picture = "![accuracy on Madelon against the price of redundancy](figures/madelon.svg)"
    return f"{told}\n\n{picture}\n\n{table(head, lines, left=2)}\n\n{legend}"


def _criterion(row: Row) -> str:
    if row["criterion"] == "mifs":
        return f"price {row['beta']:g}"
    return CRITERIA[row["criterion"]]


def _gap(row: Row) -> float:
    best = max(row["values"].values())
    return 0.0 if row["proven"] else max(0.0, row["bound"] - best) / abs(best)


def madelon_in_words(rows: list[Row], printed: Path) -> list[str]:
    """The verdict, decided by the numbers."""
    theirs = printed_accuracies(printed)
    said = {search: theirs["MAD", "mRMR", search]["SVM"] for search in ("COBRA", "FS", "BE")}
    print_line = listed([f"{best.percent:.1f} % with {search}" for search, best in said.items()])
    sentences = [f"Printed for mRMR and the SVM: {print_line}. The paper lays the difference to the search."]
    by_mrmr = [row for row in rows if row["criterion"] == "mrmr"]
    sentences += [_criterion_or_search(row, said["COBRA"]) for row in by_mrmr if row["coding"] == PAPERS_CODING]
    sentences += _what_the_criterion_prefers(rows, by_mrmr)
    sentences += [_settings_that_reach(rows, said["COBRA"]), _cobra_ahead_of_greedy(rows, said)]
    sentences += _where_columns_left(rows, said["COBRA"])
    sentences += _price_of_redundancy(rows)
    by_jmi = [row for row in rows if row["criterion"] == "jmi"]
    if by_jmi:
        worst = min(by_jmi, key=lambda row: row["best_accuracy"])
        sentences.append(
            f"JMI reaches {worst['best_accuracy']:.1f} % or more in all {len(by_jmi)} of its rows, "
            f"{sum(row['proven'] for row in by_jmi)} of them proven optimal."
        )
    return sentences


def _criterion_or_search(row: Row, said: Best) -> str:
    """The case of the paper: three states, mRMR, as many features as printed."""
    short = said.percent - row["best_accuracy"]
    known = "is proven to be the best" if row["proven"] else f"is within {percent(_gap(row), up=True)} % of the best"
    best = max(row["values"].values())
    searches = [
        f"{TITLES[search]} {100 * (best - row['values'][search]) / abs(best):.2f} % below in value, "
        f"{row['accuracies'][search]:.1f} %"
        for search in ("forward", "backward", "cobra")
    ]
    if short <= SAME_ACCURACY:
        verdict = "so the criterion allows the printed accuracy, and a search that misses it is to blame"
    elif row["proven"]:
        verdict = (
            f"{short:.1f} points short of the printed accuracy. A subset that classifies better is one that mRMR rates "
            "no higher: with these codes it is the criterion, not the search"
        )
    else:
        verdict = f"{short:.1f} points short of the printed accuracy, and the proof is not complete"
    return (
        f"With three-state codes the subset of {row['k']} that {known} under mRMR gives {row['best_accuracy']:.1f} %: "
        f"{verdict}. The searches: {'; '.join(searches)}."
    )


def _what_the_criterion_prefers(rows: list[Row], by_mrmr: list[Row]) -> list[str]:
    """What mRMR says of the subset that classifies well."""
    sentences = []
    for row in by_mrmr:
        rival = [other for other in rows if (other["criterion"], other["k"]) == ("jmi", row["k"])]
        rival = [other for other in rival if other["coding"] == row["coding"]]
        if rival and "value_of_jmi_subset" in row and row["coding"] == PAPERS_CODING:
            sentences.append(
                f"The {row['k']} features that JMI likes best give {rival[0]['best_accuracy']:.1f} %, and mRMR values "
                f"them at {row['value_of_jmi_subset']:.4f} against {max(row['values'].values()):.4f} of its own best."
            )
    return sentences


def _priced(rows: list[Row]) -> list[Row]:
    """mRMR and its kin: rows whose criterion puts a price on redundancy."""
    return [row for row in rows if row["criterion"] == "mrmr" or (row["criterion"] == "mifs" and row["beta"] > 0.0)]


def _cobra_ahead_of_greedy(rows: list[Row], said: dict[str, Best]) -> str:
    """Whether COBRA's subsets classify better than the greedy ones anywhere, as the paper prints."""
    ahead = [
        row["accuracies"]["cobra"] - max(row["accuracies"]["forward"], row["accuracies"]["backward"])
        for row in _priced(rows)
    ]
    printed = said["COBRA"].percent - max(said["FS"].percent, said["BE"].percent)
    return (
        f"In these {len(ahead)} settings COBRA's subset gives {max(ahead):.1f} points more than the better greedy one "
        f"at most; {printed:.1f} are printed."
    )


def _settings_that_reach(rows: list[Row], said: Best) -> str:
    priced = _priced(rows)
    reached = [row for row in priced if row["best_accuracy"] >= said.percent - SAME_ACCURACY]
    if not reached:
        return (
            f"None of {len(priced)} settings with a price on redundancy comes within {SAME_ACCURACY:g} point of "
            f"{said.percent:.1f} %; the nearest is {max(row['best_accuracy'] for row in priced):.1f} %."
        )
    codings = list(dict.fromkeys(row["coding"] for row in reached))
    others = [row["best_accuracy"] for row in priced if row["coding"] not in codings]
    rest = f" With the other codings the most is {max(others):.1f} %." if others else ""
    return (
        f"Of {len(priced)} settings with a price on redundancy {len(reached)} come within {SAME_ACCURACY:g} point of "
        f"{said.percent:.1f} %, all with the coding {listed(codings)}.{rest}"
    )


def _where_columns_left(rows: list[Row], said: Best) -> list[str]:
    """A coding that makes most columns constant has chosen before any search did."""
    sentences = []
    for row in rows:
        good = row["best_accuracy"] >= said.percent - SAME_ACCURACY
        if row["criterion"] == "mrmr" and good and row["n"] < 2 * row["k"]:
            fs, be = (row["accuracies"][search] for search in ("forward", "backward"))
            sentences.append(
                f"The coding {row['coding']} leaves {row['n']} columns that are not constant, so it is the coding that "
                f"has chosen: there FS gives {fs:.1f} % and BE {be:.1f} %, which is not what is printed for them."
                if min(fs, be) >= said.percent - SAME_ACCURACY
                else f"The coding {row['coding']} leaves {row['n']} columns that are not constant; there FS gives "
                f"{fs:.1f} % and BE {be:.1f} %."
            )
    return sentences


def _price_of_redundancy(rows: list[Row]) -> list[str]:
    """What becomes of the accuracy from no price on redundancy to the highest."""
    by_coding: dict[str, dict[float, float]] = {}
    for row in rows:
        if row["criterion"] == "mifs":
            by_coding.setdefault(row["coding"], {})[row["beta"]] = row["best_accuracy"]
    whole = [prices for prices in by_coding.values() if 0.0 in prices and len(prices) > 1]
    if not whole:
        return []
    free = [prices[0.0] for prices in whole]
    falls = sum(prices[0.0] - prices[max(prices)] > SAME_ACCURACY for prices in whole)
    return [
        f"Without a price on redundancy the most relevant columns give {min(free):.1f} to {max(free):.1f} %; with the "
        f"highest price the accuracy falls by more than {SAME_ACCURACY:g} point in {falls} of {len(whole)} codings."
    ]
