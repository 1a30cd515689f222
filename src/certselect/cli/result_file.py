"""The result of a selection as JSON."""

from __future__ import annotations

import json
import math
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from certselect import __version__
from certselect.criteria.constraints import Constraints
from certselect.errors import InvalidInput
from certselect.information.terms import InformationTerms
from certselect.results import lift_as_json, proof_as_json
from certselect.search.selection import Selection

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "narwhals", "pyarrow")


def result_of(
    selection: Selection,
    terms: InformationTerms,
    *,
    target: str | list[str],
    beta: float | None,
    seed: int,
    reading: dict[str, str | None] | None = None,
    constraints: Constraints | None = None,
) -> dict[str, Any]:
    """Everything needed to read, compare, repeat and verify a selection; what is unknown is null.

    `reading` is how the table was read from its file, `constraints` are those of the
    problem the selection is for.
    """
    certificate = selection.certificate
    if certificate is not None and certificate.multipliers is None and certificate.proof is None:
        certificate = None  # the proof grew too large to keep, so there is nothing to check again
    return {
        "features": list(selection.names),
        "indices": [int(i) for i in selection.indices],
        "objective": _number(selection.objective),
        # What the certificate proves, so that `verify` can: a search that looked everywhere may know more.
        "upper_bound": None if certificate is None else _number(certificate.bound),
        "gap": None if certificate is None else _number(certificate.gap),
        "status": selection.status,
        "criterion": selection.criterion,
        "beta": beta,
        "strategy": selection.strategy,
        "k": selection.k,
        "constraints": None if constraints is None else constraints.describe(),
        "coding": dict(terms.settings),
        "target": target,
        "reading": reading or {},
        "seed": seed,
        "scores": [_number(score) for score in selection.scores],
        "dropped": list(selection.dropped),
        "proven_in": list(selection.proven_in),
        "proven_out": list(selection.proven_out),
        "ties": [list(subset) for subset in selection.ties],
        "certificate": None
        if certificate is None
        else {
            "multipliers": None if certificate.multipliers is None else certificate.multipliers.tolist(),
            "lift": lift_as_json(certificate.lift),
            "proof": None if certificate.proof is None else proof_as_json(certificate.proof),
            "known": _number(certificate.known),
            "shown_by": certificate.shown_by,
        },
        "n_samples": terms.n_samples,
        "n_features": terms.n_features,
        "versions": {"certselect": __version__, "python": sys.version.split()[0]}
        | {library: version(library) for library in _LIBRARIES},
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def check_destination(path: Path | None) -> None:
    """Refuse a file that could not be written when the work is done."""
    if path is None or str(path) == "-":
        return
    if not os.access(path.parent, os.W_OK) or path.is_dir():
        raise InvalidInput(f"--json {path}", "a file in a folder that can be written to", "Check the folder.")


def write_result(result: dict[str, Any], path: Path) -> None:
    """Write JSON to a file, whole or not at all, or to standard output for "-"."""
    text = json.dumps(result, indent=2, allow_nan=False) + "\n"
    if str(path) == "-":
        sys.stdout.write(text)
        return
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
