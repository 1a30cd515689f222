"""The file format: a Result as plain dictionaries. `parsing` reads them back.

Only results/ knows the keys; docs/result-format.md describes them one by one, and
docs/result-format.schema.json for machines.
"""

from __future__ import annotations

import math
from typing import Any

from certselect.certificate import Certificate
from certselect.results.claims import claimed
from certselect.results.lift_text import lift_as_json
from certselect.results.proof_text import proof_as_json
from certselect.results.result import Result

# The words of a statement are part of the format: a reader derives them again, and refuses other ones.
FORMAT, VERSION = "certselect result", 4
PATH = "certselect path"  # what `certselect path` saves, which is no result
# The columns of the explanation, and what their entries are.
EXPLANATION = {
    "feature": str,
    "chosen": bool,
    "relevance": float,
    "chance": float,
    "p_value": float,
    "closest": str,
    "shared": float,
    "shared_part": float,
    "worth": float,
    "swap_with": str,
    "swap_loss": float,
    "proven": bool,
    "why": str,
}


def as_dict(result: Result) -> dict[str, Any]:
    """Everything needed to read, compare, repeat and verify a selection; what is unknown is null."""
    result = claimed(result)
    selection, origin, choice, rule = result.selection, result.provenance, result.choice, result.size_rule
    return {
        "format": FORMAT,
        "version": VERSION,
        "statement": selection.statement,
        "settings": result.settings.to_dict(),
        "selection": {
            "features": list(selection.names),
            "indices": [int(i) for i in selection.indices],
            "k": int(selection.k),
            "any_size": bool(selection.any_size),
            "constrained": bool(selection.constrained),
            "without_copies": bool(selection.without_copies),
            "criterion": selection.criterion,
            "objective": _number(selection.objective),
            "upper_bound": _number(selection.upper_bound),
            "gap": _number(selection.gap),
            "tolerance": _number(selection.tolerance),
            "strategy": selection.strategy,
            "status": selection.status,
            "scores": _numbers(selection.scores),
            "drawn_size": _number(selection.drawn_size),
            "dropped": list(selection.dropped),
            "proven_in": list(selection.proven_in),
            "proven_out": list(selection.proven_out),
            "ties": [[int(i) for i in subset] for subset in selection.ties],
        },
        "certificate": _certificate_as_dict(selection.certificate),
        "explanation": {name: _column(result.explanation[name]) for name in EXPLANATION},
        "provenance": {
            "n_samples": int(origin.n_samples),
            "n_features": int(origin.n_features),
            "target": list(origin.target),
            "fingerprint": result.fingerprint,
            "measured": dict(origin.measured),
            "picked": origin.picked,
            "decisions": [
                {"kind": one.kind, "columns": list(one.columns), "facts": dict(one.facts)} for one in origin.decisions
            ],
            "weighted": bool(origin.weighted),
            "seed": origin.seed,
            "seconds": {stage: _number(spent) for stage, spent in origin.seconds.items()},
            "versions": dict(origin.versions),
        },
        "size": None
        if rule is None
        else {
            "statement": rule.statement,
            "asked": rule.asked,
            "usable": int(rule.usable),
            "n_included": int(rule.n_included),
            "p_values": _numbers(rule.p_values),
            "significance": _number(rule.significance),
            "n_permutations": int(rule.n_permutations),
        },
        "choice": None
        if choice is None
        else {
            "estimator": choice.estimator,
            "scoring": choice.scoring,
            "protocol": choice.protocol,
            "one_standard_error": bool(choice.one_standard_error),
            "sizes": [int(size) for size in choice.sizes],
            "combinations": [
                {
                    "settings": dict(tried.settings),
                    "mean_scores": _numbers(tried.mean_scores),
                    "standard_errors": _numbers(tried.standard_errors),
                    "split_scores": [_numbers(scores) for scores in tried.split_scores],
                }
                for tried in choice.combinations
            ],
            "chosen": int(choice.chosen),
        },
    }


def _certificate_as_dict(certificate: Certificate | None) -> dict[str, Any] | None:
    if certificate is None:
        return None
    return {
        "multipliers": None if certificate.multipliers is None else _numbers(certificate.multipliers),
        "lift": lift_as_json(certificate.lift),
        "proof": None if certificate.proof is None else proof_as_json(certificate.proof),
        "known": _number(certificate.known),
        "shown_by": certificate.shown_by,
        "proof_too_large": bool(certificate.proof_too_large),
    }


def _number(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _numbers(values: Any) -> list[float | None]:
    return [_number(value) for value in values]


def _column(values: Any) -> list[Any]:
    return [_number(value) if isinstance(value, float) else value for value in values]
