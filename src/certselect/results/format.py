"""The file format: a Result as plain dictionaries, and back. The only place that knows its keys.

docs/result-format.md describes it field by field. A file is not trusted: whatever is not
as described is refused with a sentence that says where, and nothing is unpacked beyond the
size it can have. Whether the claims are true is for `verifying` to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from certselect.certificate import Certificate
from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.results.lift_text import lift_as_json, lift_from_json
from certselect.results.proof_text import proof_as_json, proof_from_json
from certselect.results.provenance import Provenance
from certselect.results.result import Result
from certselect.results.size_choice import SizeChoice
from certselect.search.selection import COMPLETE, INTERRUPTED, PROVEN_OPTIMAL, Selection
from certselect.settings import Settings

FORMAT, VERSION = "certselect result", 1
REMEDY = "Make the result anew: result.save(...), or certselect select ... --json FILE."
# No table has more columns, and no result more lists of that length, than a machine can hold.
MOST_FEATURES = 10_000_000
_STATUSES = (COMPLETE, PROVEN_OPTIMAL, INTERRUPTED)
# The columns of the explanation, and what their entries are.
_EXPLANATION = {
    "feature": str,
    "chosen": bool,
    "relevance": float,
    "closest": str,
    "shared": float,
    "shared_part": float,
    "worth": float,
    "swap_loss": float,
    "proven": bool,
    "why": str,
}


def as_dict(result: Result) -> dict[str, Any]:
    """Everything needed to read, compare, repeat and verify a selection; what is unknown is null."""
    selection, origin, choice = result.selection, result.provenance, result.choice
    bound, gap = claimed_bound(selection)
    return {
        "format": FORMAT,
        "version": VERSION,
        "statement": replace(selection, upper_bound=bound, gap=gap).statement,
        "settings": result.settings.to_dict(),
        "selection": {
            "features": list(selection.names),
            "indices": [int(i) for i in selection.indices],
            "k": int(selection.k),
            "any_size": bool(selection.any_size),
            "constrained": bool(selection.constrained),
            "criterion": selection.criterion,
            "objective": _number(selection.objective),
            "upper_bound": _number(bound),
            "gap": _number(gap),
            "strategy": selection.strategy,
            "status": selection.status,
            "scores": _numbers(selection.scores),
            "drawn_size": _number(selection.drawn_size),
            "dropped": list(selection.dropped),
            "proven_in": list(selection.proven_in),
            "proven_out": list(selection.proven_out),
            "ties": [[int(i) for i in subset] for subset in selection.ties],
        },
        "certificate": _certificate_as_dict(kept_certificate(selection)),
        "explanation": {name: _column(result.explanation[name]) for name in _EXPLANATION},
        "provenance": {
            "n_samples": int(origin.n_samples),
            "n_features": int(origin.n_features),
            "target": list(origin.target),
            "fingerprint": result.fingerprint,
            "measured": dict(origin.measured),
            "picked": origin.picked,
            "seed": origin.seed,
            "seconds": {stage: _number(spent) for stage, spent in origin.seconds.items()},
            "versions": dict(origin.versions),
        },
        "choice": None
        if choice is None
        else {
            "estimator": choice.estimator,
            "scoring": choice.scoring,
            "protocol": choice.protocol,
            "one_standard_error": bool(choice.one_standard_error),
            "sizes": [int(size) for size in choice.sizes],
            "mean_scores": _numbers(choice.mean_scores),
            "standard_errors": _numbers(choice.standard_errors),
            "split_scores": [_numbers(scores) for scores in choice.split_scores],
        },
    }


def kept_certificate(selection: Selection) -> Certificate | None:
    """The certificate, if it holds what shows its bound: a proof may have grown too large to keep.

    None if every subset was looked at, which shows more than the bound of a relaxation.
    """
    certificate = selection.certificate
    if certificate is None or (certificate.multipliers is None and certificate.proof is None):
        return None
    if _looked_everywhere(selection):
        return None
    return certificate


def claimed_bound(selection: Selection) -> tuple[float, float]:
    """Bound and gap that a file can claim: what the certificate proves, or what looking everywhere showed."""
    certificate = kept_certificate(selection)
    if certificate is not None:
        return certificate.bound, certificate.gap
    if _looked_everywhere(selection):
        return selection.objective, 0.0
    return math.nan, math.nan


def _looked_everywhere(selection: Selection) -> bool:
    return selection.strategy == "exhaustive" and selection.status == PROVEN_OPTIMAL and not selection.any_size


def _certificate_as_dict(certificate: Certificate | None) -> dict[str, Any] | None:
    if certificate is None:
        return None
    return {
        "multipliers": None if certificate.multipliers is None else _numbers(certificate.multipliers),
        "lift": lift_as_json(certificate.lift),
        "proof": None if certificate.proof is None else proof_as_json(certificate.proof),
        "known": _number(certificate.known),
        "shown_by": certificate.shown_by,
    }


def from_dict(stored: Any) -> Result:
    """The result that `as_dict` wrote; refuses anything else."""
    whole = _Part(stored, "the result")
    if not isinstance(stored, Mapping) or "format" not in stored:
        old = isinstance(stored, Mapping) and {"features", "coding", "objective"} <= set(stored)
        got = "a result in the format before version 1" if old else "something else than a result of certselect"
        raise InvalidInput(got, f"a result of version {VERSION}", REMEDY)
    if stored["format"] != FORMAT or stored.get("version") != VERSION:
        got = f"the format {shown(stored['format'])}, version {shown(stored.get('version'))}"
        raise InvalidInput(got, f"{FORMAT!r}, version {VERSION}", "Read it with the certselect that wrote it.")
    whole.only(
        {"format", "version", "statement", "settings", "selection", "certificate", "explanation"}
        | {"provenance", "choice"}
    )
    origin = _provenance(whole.part("provenance"))
    selection = _selection(whole.part("selection"), whole, origin.n_features)
    if whole.text("statement") != selection.statement:
        raise whole.wrong("statement", f"what value, bound and gap say: {selection.statement!r}")
    return Result(
        settings=Settings.from_dict(whole.get("settings")),
        selection=selection,
        provenance=origin,
        choice=None if whole.get("choice") is None else _choice(whole.part("choice")),
        saved_explanation=_explanation(whole.part("explanation"), origin.n_features),
    )


def _selection(part: _Part, whole: _Part, n_features: int) -> Selection:
    part.only(
        {"features", "indices", "k", "any_size", "constrained", "criterion", "objective", "upper_bound", "gap"}
        | {"strategy", "status", "scores", "drawn_size", "dropped", "proven_in", "proven_out", "ties"}
    )
    status, objective = part.text("status"), part.number("objective")
    if status not in _STATUSES:
        raise part.wrong("status", " or ".join(map(repr, _STATUSES)))
    if math.isnan(objective):
        raise part.wrong("objective", "a finite number")
    stored = whole.get("certificate")
    bound = part.number("upper_bound")
    return Selection(
        indices=np.array(part.list_of("indices", whole_number), dtype=np.intp),
        names=tuple(part.list_of("features", text)),
        objective=objective,
        scores=tuple(part.list_of("scores", number)),
        strategy=part.text("strategy"),
        criterion=part.text("criterion"),
        k=part.whole("k"),
        status=status,
        upper_bound=bound,
        gap=part.number("gap"),
        dropped=tuple(part.list_of("dropped", text)),
        certificate=None if stored is None else _certificate(whole.part("certificate"), objective, bound, n_features),
        drawn_size=part.number("drawn_size"),
        proven_in=tuple(part.list_of("proven_in", text)),
        proven_out=tuple(part.list_of("proven_out", text)),
        ties=tuple(tuple(each) for each in part.list_of("ties", lambda listed: _each(listed, whole_number))),
        constrained=part.truth("constrained"),
        any_size=part.truth("any_size"),
    )


def _certificate(part: _Part, value: float, bound: float, n_features: int) -> Certificate:
    part.only({"multipliers", "lift", "proof", "known", "shown_by"})
    multipliers = None
    if part.get("multipliers") is not None:
        multipliers = np.array(part.list_of("multipliers", number), dtype=np.float64)
        if not 1 <= len(multipliers) <= n_features + 1:
            raise part.wrong("multipliers", f"at most {n_features + 1} numbers")
    if (multipliers is None) == (part.get("proof") is None):
        raise part.wrong("proof", "multipliers or a proof, one of them")
    if multipliers is None and part.get("lift") is not None:
        raise part.wrong("lift", "null beside a proof")
    return Certificate(
        value,
        bound,
        multipliers,
        part.text("shown_by"),
        None if multipliers is None else lift_from_json(part.get("lift"), len(multipliers) - 1),
        None if part.get("proof") is None else proof_from_json(part.get("proof"), n_features),
        part.number("known"),
    )


def _provenance(part: _Part) -> Provenance:
    part.only({"n_samples", "n_features", "target", "fingerprint", "measured", "picked", "seed", "seconds", "versions"})
    if not 1 <= part.whole("n_features") <= MOST_FEATURES:
        raise part.wrong("n_features", f"1 to {MOST_FEATURES}")
    seed = part.get("seed")
    return Provenance(
        n_samples=part.whole("n_samples"),
        n_features=part.whole("n_features"),
        fingerprint=part.text("fingerprint"),
        target=tuple(part.list_of("target", text)),
        measured=part.mapping_of(
            "measured", lambda value: isinstance(value, str | int) and not isinstance(value, bool)
        ),
        picked=part.text("picked"),
        seed=None if seed is None else part.whole("seed"),
        seconds=part.mapping_of("seconds", number),
        versions=part.mapping_of("versions", text),
    )


def _choice(part: _Part) -> SizeChoice:
    part.only(
        {"estimator", "scoring", "protocol", "one_standard_error", "sizes", "mean_scores", "standard_errors"}
        | {"split_scores"}
    )
    sizes = part.list_of("sizes", whole_number)
    columns = {name: part.list_of(name, number) for name in ("mean_scores", "standard_errors")}
    splits = part.list_of("split_scores", lambda listed: _each(listed, number))
    for name, listed in [*columns.items(), *(("split_scores", scores) for scores in splits)]:
        if len(listed) != len(sizes):
            raise part.wrong(name, f"one number for each of {len(sizes)} sizes")
    return SizeChoice(
        estimator=part.text("estimator"),
        scoring=part.text("scoring"),
        protocol=part.text("protocol"),
        one_standard_error=part.truth("one_standard_error"),
        sizes=np.array(sizes, dtype=np.intp),
        split_scores=np.array([_with_nan(scores) for scores in splits]).reshape(len(splits), len(sizes)),
        mean_scores=np.array(_with_nan(columns["mean_scores"])),
        standard_errors=np.array(_with_nan(columns["standard_errors"])),
    )


def _explanation(part: _Part, n_features: int) -> dict[str, list[Any]]:
    part.only(set(_EXPLANATION))
    checks: dict[type, Callable[[Any], bool]] = {
        str: lambda value: value is None or isinstance(value, str),
        bool: lambda value: isinstance(value, bool),
        float: number,
    }
    columns = {}
    for name, kind in _EXPLANATION.items():
        listed = part.list_of(name, checks[kind])
        if len(listed) != n_features:
            raise part.wrong(name, f"{n_features} entries, one for each feature")
        columns[name] = _with_nan(listed) if kind is float else listed
    return columns


class _Part:
    """A part of a stored result: reads its entries, or says which of them is wrong."""

    def __init__(self, stored: Any, where: str) -> None:
        self.stored, self.where = stored, where

    def wrong(self, name: str, expected: str) -> InvalidInput:
        return InvalidInput(f"{self.where} with {name} {shown(self.get(name))}", expected, REMEDY)

    def only(self, known: set[str]) -> None:
        """Refuse entries that are missing, and entries that nobody knows."""
        if not isinstance(self.stored, Mapping):
            raise InvalidInput(f"{self.where} {shown(self.stored)}", "an object", REMEDY)
        for name in known.symmetric_difference(self.stored):
            what = "without" if name in known else "with an unknown"
            raise InvalidInput(f"{self.where} {what} {shown(name)}", f"just {', '.join(sorted(known))}", REMEDY)

    def get(self, name: str) -> Any:
        return self.stored.get(name) if isinstance(self.stored, Mapping) else None

    def part(self, name: str) -> _Part:
        return _Part(self.get(name), f"a {name}")

    def text(self, name: str) -> str:
        return self._checked(name, text, "text")

    def whole(self, name: str) -> int:
        return self._checked(name, whole_number, "a whole number, 0 or more")

    def truth(self, name: str) -> bool:
        return self._checked(name, lambda value: isinstance(value, bool), "true or false")

    def number(self, name: str) -> float:
        """NaN for null."""
        value = self._checked(name, number, "a finite number or null")
        return math.nan if value is None else float(value)

    def list_of(self, name: str, check: Callable[[Any], bool]) -> list[Any]:
        return self._checked(name, lambda value: _each(value, check), "a list of such entries as the format has")

    def mapping_of(self, name: str, check: Callable[[Any], bool]) -> dict[str, Any]:
        value = self.get(name)
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise self.wrong(name, "an object")
        if not all(check(each) for each in value.values()):
            raise self.wrong(name, "such values as the format has")
        return dict(value)

    def _checked(self, name: str, check: Callable[[Any], bool], expected: str) -> Any:
        value = self.get(name)
        if not check(value):
            raise self.wrong(name, expected)
        return value


def text(value: Any) -> bool:
    return isinstance(value, str)


def whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def number(value: Any) -> bool:
    """A number that a float can hold, or null for one that is not known."""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1.7e308)


def _each(value: Any, check: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(check(entry) for entry in value)


def _with_nan(listed: list[Any]) -> list[float]:
    return [math.nan if value is None else float(value) for value in listed]


def _number(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _numbers(values: Any) -> list[float | None]:
    return [_number(value) for value in values]


def _column(values: Any) -> list[Any]:
    return [_number(value) if isinstance(value, float) else value for value in values]
