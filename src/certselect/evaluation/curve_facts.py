"""A value curve in plain numbers and text, for a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from certselect.settings.fields import as_plain

if TYPE_CHECKING:
    from certselect.evaluation.sizes import ValueCurve


def curve_facts(curve: ValueCurve, chosen: int | None = None) -> dict[str, Any]:
    """Value and bound by size, what comes in with each, and the size that was `chosen`, if one was."""
    from certselect.evaluation.sizes import changes, find_elbow
    from certselect.search.selection import INTERRUPTED

    whole = len(curve.sizes) > 2 and all(selection.status != INTERRUPTED for selection in curve.selections)
    return {
        "sizes": [int(size) for size in curve.sizes],
        "values": as_plain(curve.values),
        "bounds": as_plain(curve.upper_bounds),
        "gaps": as_plain(curve.gaps) if len(curve.selections) else [None] * len(curve.sizes),
        "changes": changes(curve) if len(curve.selections) else [],
        "statement": find_elbow(curve).statement if whole else "",
        "chosen": chosen,
    }
