"""What the judgement came to, as the protocol of docs/outcome.md says it is compared: figures, then the page's part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

from judging_tables import TABLES
from outcome_contestants import EARLIER_DEFAULT, JUDGED, JUDGED_DEFAULT
from outcome_protocol import LEVEL
from page_section import table, wrapped

Row = dict[str, Any]
FAR = 0.03  # points of accuracy or R2 behind the best contestant that are listed
CLOSE = 0.002  # tables whose scores differ by less count as equal
DEFAULT = JUDGED_DEFAULT.name
# Looked up in the subsets after the judgement; nothing was changed for it.
CAUSES = {
    "meats_fat": "The columns are neighbouring channels of a spectrum. `max_shared=0.9` allows 2 of them together, "
    "so 2 were selected where 5 to 20 were asked for; the earlier default has no such limit.",
    "law_school": "The column `rank` has 146 different whole numbers in 148 rows, is taken for an identifier and left "
    "out, with a note; `kinds={'rank': 'number'}` keeps it.",
    "sleep75": "The Lasso keeps 1 column whatever number is asked for, and every further one lowers the R2 of the "
    "neighbours; the others select as many as asked for.",
}
UNKNOWN_CAUSE = "No cause was found."


@dataclass(frozen=True)
class Comparison:
    """The default and a contestant over the tables where both ran."""

    tables: int
    lead: float  # mean difference; above 0 where the default is better
    better: int
    worse: int
    pvalue: float

    @property
    def verdict(self) -> str:
        if self.pvalue >= LEVEL:
            return "as good as"
        return "ahead of" if self.lead > 0 else "behind"


class Judgement:
    """All rows of tables of one kind, by table and contestant."""

    def __init__(self, rows: Iterable[Row], *, classes: bool) -> None:
        names = [about.name for about in TABLES if about.classes is classes]
        self.rows = {(row["table"], row["contestant"]): row for row in rows if row["table"] in names}
        self.tables = [name for name in names if "splits" in self.rows.get((name, DEFAULT), {})]

    @cached_property
    def scores(self) -> dict[tuple[str, str], float]:
        return {
            question: float(np.mean(list(row["splits"].values())))
            for question, row in self.rows.items()
            if "splits" in row
        }

    def tables_of(self, contestant: str) -> list[str]:
        return [name for name in self.tables if (name, contestant) in self.scores]

    @cached_property
    def contestants(self) -> list[str]:
        return [one.name for one in JUDGED if self.tables_of(one.name)]

    @cached_property
    def complete(self) -> list[str]:
        return [name for name in self.contestants if self.tables_of(name) == self.tables]

    def mean(self, contestant: str) -> float:
        return float(np.mean([self.scores[name, contestant] for name in self.tables_of(contestant)]))

    def compare(self, contestant: str, default: str = DEFAULT) -> Comparison:
        tables = [name for name in self.tables_of(contestant) if (name, default) in self.scores]
        leads = np.array([self.scores[name, default] - self.scores[name, contestant] for name in tables])
        test: Any = wilcoxon(leads) if np.any(leads) else None
        pvalue = 1.0 if test is None else float(test.pvalue)
        better, worse = int(np.sum(leads > CLOSE)), int(np.sum(leads < -CLOSE))
        return Comparison(len(tables), float(leads.mean()), better, worse, pvalue)

    @cached_property
    def mean_ranks(self) -> dict[str, float]:
        """Of contestants that ran on every table; 1 is best, and ties share their rank."""
        scores = [[-self.scores[name, one] for one in self.complete] for name in self.tables]
        return dict(zip(self.complete, rankdata(scores, axis=1).mean(axis=0).tolist(), strict=True))

    def losses(self) -> list[tuple[str, str, float, float]]:
        """Table, the best contestant, its lead over the default and the standard error of that lead over the splits."""
        found = []
        for name in self.tables:
            best = max(self.contestants, key=lambda one: self.scores.get((name, one), -np.inf))
            lead = self.scores[name, best] - self.scores[name, DEFAULT]
            if lead > FAR:
                by_split = [np.mean(list(self.rows[name, one]["splits"].values()), axis=0) for one in (best, DEFAULT)]
                error = np.std(by_split[0] - by_split[1], ddof=1) / np.sqrt(len(by_split[0]))
                found.append((name, best, lead, float(error)))
        return sorted(found, key=lambda loss: -loss[2])

    def absent(self) -> dict[str, list[str]]:
        """Why contestants did not run, and where."""
        found: dict[str, list[str]] = {}
        for one in JUDGED:
            for name in self.tables:
                if (name, one.name) not in self.scores:
                    why = self.rows.get((name, one.name), {}).get("reason", "not run").removeprefix("InvalidInput: ")
                    found.setdefault(f"{one.name}: {why}", []).append(name)
        return found


# The page's part


def judgement(rows: Sequence[Row], code: str) -> list[str]:
    """What came out, or that it is still to be run; `code` is the digest of the code as it is now."""
    title = "## The judgement"
    if not rows:
        return [title, "Not run yet."]
    of_classes, of_numbers = Judgement(rows, classes=True), Judgement(rows, classes=False)
    splits = sorted({len(next(iter(row["splits"].values()))) for row in rows if "splits" in row})
    return [
        title,
        "\n".join(wrapped(f"* {one}", "  ") for one in (said_of_classes(of_classes), said_of_numbers(of_numbers))),
        wrapped(
            "The default was judged with `max_shared=0.9`, which `SubsetSelector` does not set by itself: on "
            "`meats_fat`, with 100 spectral channels, it leaves two features to select, and bounds become looser."
        ),
        wrapped(f"Splits judged on each table: {' to '.join(map(str, {splits[0], splits[-1]}))}. {stale(rows, code)}"),
        "### Classes",
        wrapped(
            "Mean accuracy; mean difference of the default to the contestant in points, over the tables where both "
            f"ran; on how many tables the default is better and worse by more than {100 * CLOSE:.1f} points; p of "
            "Wilcoxon's test; mean rank among those that ran on every table; seconds of processor time for a split."
        ),
        standings(of_classes),
        "### Numbers",
        "The same with R2.",
        standings(of_numbers),
        "### Where the default loses",
        wrapped(
            f"More than {100 * FAR:.0f} points behind the best of {len(of_classes.contestants)} contestants, with the "
            "standard error of the difference over the splits, as if they shared no rows. The best of many is partly "
            "luck, most of all where rows are few."
        ),
        *_lines(losses(of_classes) + losses(of_numbers)),
        "### Contestants that did not run",
        *_lines(absences(of_classes) + absences(of_numbers)),
    ]


def _points(lead: float) -> str:
    return f"{100 * lead:+.1f}"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _lines(sentences: Sequence[str]) -> list[str]:
    return ["\n".join(wrapped(f"* {one}", "  ") for one in sentences)] if sentences else ["Nowhere."]


def said_of_classes(found: Judgement) -> str:
    by_verdict: dict[str, list[str]] = {"ahead of": [], "as good as": [], "behind": []}
    for name in found.contestants:
        if name != DEFAULT:
            compared = found.compare(name)
            shown = f"{name} ({_points(compared.lead)} points, p {_p(compared.pvalue)})"
            by_verdict[compared.verdict].append(shown.replace("p 0", "p = 0"))
    parts = [f"{verdict} {', '.join(names)}" for verdict, names in by_verdict.items() if names]
    return f"**Classes**, {len(found.tables)} tables: the default is {'; '.join(parts)}."


def said_of_numbers(found: Judgement) -> str:
    ranks = found.mean_ranks
    first = min(ranks, key=lambda name: ranks[name])
    said = f"**Numbers**, {len(found.tables)} tables: the mean rank of the default among {len(ranks)} is "
    said += f"{ranks[DEFAULT]:.2f}"
    if first == DEFAULT:
        return said + ", the first."
    by_verdict = {name: found.compare(name).verdict for name in ranks if name != DEFAULT}
    ahead = [name for name, verdict in by_verdict.items() if verdict == "ahead of"]
    behind = [name for name, verdict in by_verdict.items() if verdict == "behind"]
    compared = found.compare(first)
    how = "not significantly different from" if compared.pvalue >= LEVEL else f"{compared.verdict}"
    place = 1 + sum(rank < ranks[DEFAULT] - 1e-9 for rank in ranks.values())
    return (
        f"{said}, place {place}; the first is {first} ({ranks[first]:.2f}). The default is {how} it "
        f"({_points(compared.lead)} points of R2, p = {compared.pvalue:.2f}). It is ahead of "
        f"{', '.join(ahead) or 'none'}, behind {', '.join(behind) or 'none'}, and as good as the others."
    )


def standings(found: Judgement) -> str:
    head = ["", "mean", "default is", "better", "worse", "p", "verdict", "mean rank", "tables", "seconds"]
    lines = []
    for name in sorted(found.contestants, key=lambda name: (found.mean_ranks.get(name, np.inf), -found.mean(name))):
        seconds = np.mean([found.rows[one, name]["seconds"] for one in found.tables_of(name)])
        rank = f"{found.mean_ranks[name]:.2f}" if name in found.mean_ranks else "-"
        last = [rank, str(len(found.tables_of(name))), f"{seconds:.2f}"]
        if name == DEFAULT:
            lines.append([f"**{name}**", f"{found.mean(name):.3f}", "-", "-", "-", "-", "-", *last])
            continue
        compared = found.compare(name)
        counts = [_points(compared.lead), str(compared.better), str(compared.worse), _p(compared.pvalue)]
        lines.append([name, f"{found.mean(name):.3f}", *counts, compared.verdict, *last])
    return table(head, lines, 1)


def losses(found: Judgement) -> list[str]:
    return [
        f"{name}: {found.scores[name, DEFAULT]:.3f}, and {found.scores[name, best]:.3f} by {best} ({_points(lead)} "
        f"points, standard error {100 * error:.1f}; {EARLIER_DEFAULT.name} "
        f"{found.scores.get((name, EARLIER_DEFAULT.name), float('nan')):.3f}). {CAUSES.get(name, UNKNOWN_CAUSE)}"
        for name, best, lead, error in found.losses()
    ]


def absences(found: Judgement) -> list[str]:
    return [f"{why} ({', '.join(names)})." for why, names in found.absent().items()]


def stale(rows: Iterable[Row], code: str) -> str:
    """Whether the rows of ours were made by the code as it is now."""
    ours = (DEFAULT, EARLIER_DEFAULT.name)
    others = sorted({row.get("code", "unknown") for row in rows if row["contestant"] in ours} - {code})
    if not others:
        return "The rows of `default` and `earlier default` were made by the code that this page was made with."
    return (
        f"**Stale**: rows of `default` and `earlier default` were made by other code ({', '.join(others)}) than this "
        f"page ({code})."
    )
