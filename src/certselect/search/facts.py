"""A selection in plain numbers and text: the part of a report that needs no table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from certselect.settings.fields import as_plain

if TYPE_CHECKING:
    from certselect.search.selection import Selection


def selection_facts(selection: Selection) -> dict[str, Any]:
    """What was chosen and what is proven about it."""
    certificate = selection.certificate
    return {
        "n_chosen": len(selection.indices),
        "criterion": selection.criterion,
        "strategy": selection.strategy,
        "chosen": [int(i) for i in selection.indices],
        "names": list(selection.names),
        "certificate": {
            "statement": selection.about_bound(),
            "proven": bool(selection.statement),
            "status": selection.status,
            "value": as_plain(selection.objective),
            "bound": as_plain(selection.upper_bound),
            "gap": as_plain(selection.gap),
            "about_proof": "",
            "unit": selection.unit,
            "how": "" if certificate is None else certificate.shown_by,
        },
    }
