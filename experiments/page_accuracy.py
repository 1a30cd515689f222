"""The page's tables of accuracies: COBRA against FS and BE, and what holds of the paper's numbers."""

from __future__ import annotations

from pathlib import Path

from experiments.grids import GRIDS, SETS
from experiments.page_sources import (
    AVERAGE,
    CLASSIFIERS,
    MEASURES,
    SEARCHES,
    Accuracies,
    Best,
    finished,
    our_accuracies,
    printed_accuracies,
    printed_rows,
    read_each_set,
    score,
)
from experiments.page_tables import MISSING, difference, listed, not_yet, number, table
from experiments.store import EVERY_GRID

WITHIN = 3.0  # points that an average may differ
CHECKED_SETS = ("MAD", "CNA", "IAD", "DEX")
CHECKED_SEARCHES = ("FS", "COBRA")


def data_sets(results: Path, printed: Path) -> str:
    """Sizes as printed and as the results say they were."""
    measured = {content["set"]: content for content in finished(results, "accuracy")[1]}
    lines = []
    for row in printed_rows(printed, "datasets"):
        ours = measured.get(row["mnemonic"])
        shape = f"{ours['rows']} x {ours['columns']}" if ours else MISSING
        usable = str(ours["usable"]) if ours else MISSING
        said = f"{row['samples']} x {row['features']}"
        kept = row["kept_by_relevance"] or "all"
        lines.append([row["mnemonic"], row["name"], row["validation"], kept, said, shape, usable])
    head = ["", "data set", "validation", "kept by relevance", "printed", "ours", "features searched"]
    return table(head, lines, left=4)


def reference_greedy(results: Path) -> str:
    """Whether forward selection equals a plain one, in a sentence."""
    contents = read_each_set(results / EVERY_GRID, "reference_greedy")
    if not contents:
        return not_yet("reference_greedy")
    runs = [(content, measure) for content in contents for measure in MEASURES]
    differing = [
        f"{content['set']} with {measure} (step {content[measure]['differs_at']})"
        for content, measure in runs
        if not content[measure]["equal"]
    ]
    said = (
        f"Forward selection of {contents[0]['features']} features equals a plain greedy of a few lines, on the same "
        f"codes, in {len(runs) - len(differing)} of {len(runs)} runs ({len(contents)} of {len(SETS)} data sets, "
        f"{listed(MEASURES)})"
    )
    return f"{said}; it differs on {listed(differing)}." if differing else f"{said}."


def accuracy_tables(results: Path, printed: Path) -> str:
    """One table for each measure, with what the numbers say."""
    grid, contents = finished(results, "accuracy")
    if grid is None:
        return not_yet("accuracy")
    theirs = printed_accuracies(printed)
    ours, honest = our_accuracies(contents, "paper"), our_accuracies(contents, "honest")
    return "\n\n".join(
        [
            _grid_in_words(grid, theirs),
            "Cells are percent (size) of the best size: ours / printed. Averages are over the five classifiers. "
            "**honest** chooses features on the training rows of each fold instead of once on all rows; of NCI, DBW "
            f"and DEX it keeps the {GRIDS[grid].kept_in_folds} most relevant there.",
            *(f"### {measure}\n\n{_measure_table(measure, ours, honest, theirs)}" for measure in MEASURES),
            "### What holds",
            "\n".join(f"* {said}" for said in what_holds(results, printed)),
        ]
    )


def _grid_in_words(grid: str, theirs: Accuracies) -> str:
    sizes = GRIDS[grid].sizes
    told = f"1 to {sizes[-1]}" if len(sizes) == sizes[-1] else listed([str(k) for k in sizes])
    further = listed([str(k) for k in GRIDS[grid].wide_sizes])
    wide = f", on the widest sets also {further}" if GRIDS[grid].wide_sizes else ""
    largest = max(best.size or 0 for by_classifier in theirs.values() for best in by_classifier.values())
    return f"From the grid `{grid}`: sizes {told}{wide}. The printed best sizes go up to {largest}."


def _measure_table(measure: str, ours: Accuracies, honest: Accuracies, theirs: Accuracies) -> str:
    lines = []
    for key in [(name, measure, search) for name in SETS for search in SEARCHES]:
        cells = [_both(ours.get(key, {}).get(name), theirs[key][name]) for name in CLASSIFIERS]
        average, said = _average(ours, key), theirs[key][AVERAGE].percent
        averages = [number(average), number(said), difference(average, said), number(_average(honest, key))]
        lines.append([key[0], key[2], *cells, *averages])
    head = ["", "search", *CLASSIFIERS, "average", "printed", "difference", "honest"]
    return table(head, lines, left=2)


def _both(ours: Best | None, printed: Best) -> str:
    mine = MISSING if ours is None else f"{ours.percent:.1f} ({ours.size})"
    return f"{mine} / {printed.percent:.1f} ({printed.size})"


def _average(accuracies: Accuracies, key: tuple[str, str, str]) -> float | None:
    return accuracies[key][AVERAGE].percent if key in accuracies else None


def what_holds(results: Path, printed: Path) -> list[str]:
    """Sentences on the accuracies that the numbers decide."""
    contents = finished(results, "accuracy")[1]
    theirs = printed_accuracies(printed)
    ours, honest = our_accuracies(contents, "paper"), our_accuracies(contents, "honest")
    return [
        *_checked_averages(ours, honest, theirs),
        *_without_scaling(results, ours, theirs),
        *_three_words(results, theirs),
        _madelon_by_jmi(contents, theirs),
        *_cost_of_honesty(results),
    ]


def _checked_averages(ours: Accuracies, honest: Accuracies, theirs: Accuracies) -> list[str]:
    keys = [(name, "JMI", search) for search in CHECKED_SEARCHES for name in CHECKED_SETS]
    there = [key for key in keys if key in ours]
    if not there:
        return [f"JMI averages on {listed(CHECKED_SETS)}: not measured yet."]
    off = {key: ours[key][AVERAGE].percent - theirs[key][AVERAGE].percent for key in there}
    close = [key for key in there if abs(off[key]) <= WITHIN]
    said = (
        f"Averages of JMI+FS and JMI+COBRA on {listed(CHECKED_SETS)}: {len(close)} of {len(there)} are within "
        f"{WITHIN:g} points of the printed ones"
    )
    sentences = [said + (f"; {len(keys) - len(there)} are not measured yet." if len(there) < len(keys) else ".")]
    for key in there:
        if key not in close:
            apart = {name: ours[key][name].percent - theirs[key][name].percent for name in CLASSIFIERS}
            widest = max(apart, key=lambda name: abs(apart[name]))
            others = [apart[name] for name in CLASSIFIERS if name != widest]
            sentences.append(
                f"JMI+{key[2]} on {key[0]} is off by {difference(off[key], 0.0)} points. The classifier furthest off "
                f"is {widest} ({difference(apart[widest], 0.0)}); the other four are by "
                f"{difference(sum(others) / len(others), 0.0)} on average.{_if_honest(honest, theirs, key)}"
            )
    return sentences


def _if_honest(honest: Accuracies, theirs: Accuracies, key: tuple[str, str, str]) -> str:
    if key not in honest:
        return ""
    off = difference(honest[key][AVERAGE].percent, theirs[key][AVERAGE].percent)
    return f" With features chosen inside the folds the average is off by {off}."


def _three_words(results: Path, theirs: Accuracies) -> list[str]:
    """What three features of Dexter can do at most, beside what is printed for three."""
    contents = read_each_set(results / EVERY_GRID, "three_words")
    if not contents:
        return []
    (counted,) = contents
    printed = {
        (measure, search, name): best
        for (of, measure, search), by_classifier in theirs.items()
        for name, best in by_classifier.items()
        if of == counted["set"] and best.size == 3
    }
    measure, search, classifier = max(printed, key=lambda key: printed[key].percent)
    most = printed[measure, search, classifier].percent
    can = 100.0 * counted["right"] / counted["rows"]
    there = "Three such words are not in this file, whatever the search." if can < most else "Such words are there."
    return [
        f"Printed for DEX with 3 features: up to {most:.1f} % ({classifier}, {measure}+{search}). Of the "
        f"{counted['kept']} most relevant words no three, by which of them occur, tell more than {counted['right']} of "
        f"the {counted['rows']} documents right ({can:.1f} %), even of those the rule was made from; all "
        f"{counted['triples'] / 1e6:.0f} million triples were counted. {there}"
    ]


def _without_scaling(results: Path, ours: Accuracies, theirs: Accuracies) -> list[str]:
    """What becomes of the checked averages if the network's columns are not scaled, and nothing else is changed."""
    told, close = [], 0
    for content in finished(results, "unscaled_network")[1]:
        for search, accuracies in content["accuracies"].items():
            key = (content["set"], "JMI", search)
            if key not in ours:
                continue
            scaled, network = ours[key]["NN"].percent, 100.0 * max(accuracies.values())
            off = ours[key][AVERAGE].percent + (network - scaled) / len(CLASSIFIERS) - theirs[key][AVERAGE].percent
            close += abs(off) <= WITHIN
            told.append(
                f"{key[0]} {search} {network:.1f} % (scaled {scaled:.1f}, printed {theirs[key]['NN'].percent:.1f}; "
                f"average off by {difference(off, 0.0)})"
            )
    if not told:
        return []
    return [
        f"The same network on the same subsets, but with columns that are not scaled: {listed(told)}. "
        f"With it {close} of {len(told)} averages are within {WITHIN:g} points."
    ]


def _madelon_by_jmi(contents: list, theirs: Accuracies) -> str:
    said = theirs["MAD", "JMI", "FS"]["SVM"]
    reached = {search: score(contents, ("MAD", "JMI", search, "paper"), "SVM", said.size or 0) for search in SEARCHES}
    cells = [f"{search} {percent:.1f} %" for search, percent in reached.items() if percent is not None]
    if not cells:
        return f"Madelon, JMI, {said.size} features, SVM: not measured yet (printed: {said.percent:.1f} %)."
    best = max(percent for percent in reached.values() if percent is not None)
    verb = "reaches" if best >= said.percent else "does not reach"
    return f"Madelon, JMI, {said.size} features: the SVM {verb} the printed {said.percent:.1f} % ({', '.join(cells)})."


def honest_drops(results: Path) -> dict[tuple[str, str, str], float]:
    """Points that each average loses when features are chosen inside the folds."""
    contents = finished(results, "accuracy")[1]
    ours, honest = our_accuracies(contents, "paper"), our_accuracies(contents, "honest")
    return {key: ours[key][AVERAGE].percent - honest[key][AVERAGE].percent for key in ours if key in honest}


def _cost_of_honesty(results: Path) -> list[str]:
    drops = honest_drops(results)
    if not drops:
        return []
    mean = sum(drops.values()) / len(drops)
    worst = max(drops, key=lambda key: drops[key])
    return [
        f"Choosing features on all rows, as the paper did, adds {mean:.1f} points to the average accuracy over "
        f"{len(drops)} runs; the most is {drops[worst]:.1f} ({worst[0]}, {worst[1]}, {worst[2]})."
    ]
