"""The page's table of agreement with another implementation of the criteria."""

from __future__ import annotations

from pathlib import Path

from experiments.agreement import CRITERION, EQUAL
from experiments.kept_rows import Row, read_rows
from experiments.page_tables import MISSING, listed, not_yet, table


def agreement(results: Path) -> str:
    """Scores and choices of praznik beside the package's, by set and criterion."""
    rows = {(row["set"], row["criterion"]): row for row in read_rows(results / "agreement.json")}
    if not rows:
        return not_yet("agreement")
    right = [row for row in rows.values() if agrees(row)]
    wrong = [f"{row['set']} {row['criterion']}" for row in rows.values() if not agrees(row)]
    tied = [row for row in right if row["differs_at"] is not None]
    apart = max((row["apart"] for row in right), default=0.0)
    words = [
        f"praznik 13 (R and C) chose the first {max(row['features'] for row in rows.values())} features by "
        f"{len({row['criterion'] for row in rows.values()})} criteria on {len({row['set'] for row in rows.values()})} "
        f"sets, coded alike. Along its choices the package has the same scores to {EQUAL:g} nats in {len(right)} of "
        f"{len(rows)} cases (at most {apart:.1e} apart) and finds no feature that scores "
        "more.",
        f"The orders are the same in {len(right) - len(tied)}; {_ties(tied)}"
        if tied
        else "The orders are the same in all of these.",
    ]
    if wrong:
        words.append(f"Not the same: {listed(wrong)}.")
    sets = sorted({name for name, _ in rows})
    lines = [[f"{name} (`{CRITERION[name]}`)", *(_cell(rows.get((each, name))) for each in sets)] for name in CRITERION]
    legend = "Each cell: how many features were compared, and with a star where equal scores were decided otherwise."
    return "\n\n".join([" ".join(words), table(["criterion", *sets], lines), legend])


def agrees(row: Row) -> bool:
    """Whether scores and the number of features are the same, nothing better was left, and orders differ by ties."""
    same = max(row["apart"], row["missed"]) <= EQUAL and row["features"] == row["ours"]
    return same and (row["differs_at"] is None or row["ties"] > 0)


def _ties(tied: list[Row]) -> str:
    told = [f"{row['set']} {row['criterion']} from step {row['differs_at']}" for row in tied]
    return f"elsewhere another of several features with the same score was taken ({listed(told)})."


def _cell(row: Row | None) -> str:
    if row is None:
        return MISSING
    if not agrees(row):
        return "differs"
    return f"{row['features']}{'*' if row['differs_at'] is not None else ''}"
