"""The page's verdict, set by set: can a better search have made the difference in accuracy?"""

from __future__ import annotations

from pathlib import Path

from benchmarks.proven import percent

from experiments.kept_rows import Row, read_rows
from experiments.optimum import gap_to_bound
from experiments.page_certified import CRITERIA, NEAR, TITLES
from experiments.page_sources import AVERAGE, Accuracies, finished, our_accuracies, printed_accuracies
from experiments.page_tables import difference, listed, not_yet, table

SEARCHES = ("forward", "backward", "cobra")
RIVALS = {"FS": "forward", "BE": "backward"}
AHEAD = 1.0  # points of average accuracy that call for an explanation


def verdict(results: Path, printed: Path) -> str:
    """What the certificates leave for COBRA to win, beside what it won in print and here."""
    rows = read_rows(results / "optimum.json")
    if not rows:
        return not_yet("optimum")
    ours = our_accuracies(finished(results, "accuracy")[1], "paper")
    theirs = printed_accuracies(printed)
    problems = {(row["set"], row["criterion"]): [] for row in rows}
    for row in rows:
        problems[row["set"], row["criterion"]].append(row)
    lines = []
    for (name, criterion), sizes in problems.items():
        leads = [_lead(of, name, criterion, rival) for rival in RIVALS for of in (theirs, ours)]
        below = [percent(_at_worst(sizes, search), up=True) for search in SEARCHES]
        lines.append([name, CRITERIA[criterion], *below, *(difference(lead, 0.0) for lead in leads)])
    head = ["", "criterion", *(f"{TITLES[search]} below the best, %" for search in SEARCHES)]
    head += [f"COBRA over {rival}, {whose}" for rival in RIVALS for whose in ("printed", "ours")]
    legend = (
        "**below the best**: certified, at the worst of the sizes measured. **COBRA over**: points of average accuracy "
        "over the five classifiers, each at its best size."
    )
    told = "\n".join(f"* {_in_words(problems, rival, theirs, ours)}" for rival in RIVALS)
    return f"{told}\n\n{table(head, lines, left=2)}\n\n{legend}"


def _at_worst(rows: list[Row], search: str) -> float:
    return max(gap_to_bound(row, search) for row in rows)


def _lead(accuracies: Accuracies, name: str, criterion: str, rival: str) -> float | None:
    """Points by which COBRA is ahead of a rival; None where one of the two was not measured."""
    keys = [(name, CRITERIA[criterion], search) for search in ("COBRA", rival)]
    if any(key not in accuracies for key in keys):
        return None
    cobra, other = (accuracies[key][AVERAGE].percent for key in keys)
    return cobra - other


def _in_words(problems: dict[tuple[str, str], list[Row]], rival: str, theirs: Accuracies, ours: Accuracies) -> str:
    leads = {key: _lead(theirs, *key, rival) for key in problems}
    ahead = {key: lead for key, lead in leads.items() if lead is not None and lead > AHEAD}
    near = [key for key in ahead if _at_worst(problems[key], RIVALS[rival]) <= NEAR]
    said = (
        f"In print COBRA is more than {AHEAD:g} point ahead of {rival} in {len(ahead)} of {len(problems)} cases (set "
        f"and criterion). In {len(near)} of these {rival} is certified within {100 * NEAR:g} % of the best value at "
        "every size measured: with our codes no search could be much ahead by the criterion's own measure"
    )
    measured = [key for key in near if _lead(ours, *key, rival) is not None]
    still = [key for key in measured if (_lead(ours, *key, rival) or 0.0) > AHEAD]
    if not measured:
        return f"{said}."
    names = f" ({listed([f'{name} {CRITERIA[criterion]}' for name, criterion in still])})" if still else ""
    return f"{said}. Run again, COBRA is that far ahead in {len(still)} of them{names}."
