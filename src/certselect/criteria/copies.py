"""Which of several columns that say the same can be chosen."""

from __future__ import annotations

from collections.abc import Sequence

from certselect.criteria.column_constraints import ColumnConstraints


def copies_left_out(families: Sequence[Sequence[int]], constraints: ColumnConstraints | None) -> dict[int, int]:
    """The columns that are left out, each with the copy of it that can be chosen.

    That is the first of a family, or the cheapest where they have costs. Whoever includes a column
    wants that one. A family of which some are in a group is left alone: without its members a
    group would be another one.
    """
    if not families:
        return {}
    asked = constraints or ColumnConstraints()
    grouped = {i for group in (*asked.together, *asked.rivals) for i in group}
    left_out: dict[int, int] = {}
    for family in families:
        members = [i for i in family if i not in asked.exclude]
        included = [i for i in members if i in asked.include]
        if len(members) < 2 or (not included and not grouped.isdisjoint(members)):
            continue
        kept = included or [min(members, key=lambda i: (0.0 if asked.costs is None else float(asked.costs[i]), i))]
        left_out.update({i: kept[0] for i in members if i not in kept and i not in grouped})
    return dict(sorted(left_out.items()))
