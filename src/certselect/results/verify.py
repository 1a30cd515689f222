"""Check a saved claim against the table it was made from, trusting neither solver nor file."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from certselect.certificate import certificate_of, gap, replayed_bound
from certselect.criteria import SubsetProblem, subset_problem
from certselect.errors import InvalidInput
from certselect.information import information_terms
from certselect.results.lift_text import lift_from_json
from certselect.results.proof_text import proof_from_json
from certselect.table import Table, read_file

# Terms are the same float for float wherever they are counted; the matrix products and
# factorisations of a bound are not, by some 1e-12.
_SAME = 1e-9
_NEEDED = {
    "features": list,
    "indices": list,
    "objective": float,
    "criterion": str,
    "k": int,
    "coding": dict,
    "n_samples": int,
    "n_features": int,
}


@dataclass(frozen=True)
class Verification:
    """What became of a claim.

    Attributes
    ----------
    holds : bool
    reasons : tuple of str
        What is wrong, in words; empty if the claim holds.
    objective, upper_bound : float
        As computed anew from the table; NaN where it did not come to that.
    """

    holds: bool
    reasons: tuple[str, ...]
    objective: float = math.nan
    upper_bound: float = math.nan


def verify(result: dict[str, Any] | str | Path, table: Table | str | Path) -> Verification:
    """Check that a saved result says the truth about a table.

    Reads the table again, codes it as the result says, counts the information
    terms anew, states the constraints again, values the subset and proves the bound
    again from the saved multipliers and lift. Everything the result claims has to
    follow: names, positions, constraints, value and bound. Solvers are not run, and no
    part of the result is trusted.

    Parameters
    ----------
    result : dict or path
        What `certselect select --json` wrote.
    table : Table or path
        The table the result was made from: CSV, Parquet, or read already.

    Examples
    --------
    >>> from certselect import verify
    >>> verify("chosen.json", "patients.csv").holds  # doctest: +SKIP
    True
    """
    claim = result if isinstance(result, dict) else _read(Path(result))
    wrong = [
        f"the result's {name!r} is {claim.get(name)!r}, not {kind.__name__}"
        for name, kind in _NEEDED.items()
        if not isinstance(claim.get(name), (kind, int) if kind is float else kind)
    ]
    if wrong:
        return Verification(False, tuple(wrong))
    rows = table if isinstance(table, Table) else read_file(table, _target(claim), **_reading(claim))
    wrong = _other_table(claim, rows)
    if wrong:
        return Verification(False, tuple(wrong))
    coding = {name: value for name, value in claim["coding"].items() if value is not None}
    try:
        terms = information_terms(rows, **coding)
        stated = _stated(claim.get("constraints"))
        problem = subset_problem(terms, claim["k"], claim["criterion"], beta=claim.get("beta"), **stated)
    except (TypeError, ValueError, OverflowError) as error:
        return Verification(False, (f"what the result says was done cannot be done: {error}",))
    return _check(claim, problem)


def _stated(constraints: Any) -> dict[str, Any]:
    """Constraints as a result holds them, in the words of `subset_problem`."""
    if constraints is None:
        return {}
    known = {"include", "exclude", "all_or_none", "at_most_one", "costs", "budget"}
    if not isinstance(constraints, dict) or not known.issuperset(constraints):
        got = f"constraints {constraints!r:.80}"
        raise InvalidInput(got, f"an object with {', '.join(sorted(known))}", "Pass what the result was made with.")
    groups = {kind: constraints.get(kind) for kind in ("all_or_none", "at_most_one")}
    return {"groups": groups} | {name: value for name, value in constraints.items() if name not in groups}


def _check(claim: dict[str, Any], problem: SubsetProblem) -> Verification:
    wrong = []
    indices = [i for i in claim["indices"] if isinstance(i, int) and 0 <= i < problem.n_features]
    if len(set(indices)) != len(claim["indices"]) or not set(indices) <= set(problem.candidates.tolist()):
        return Verification(False, (f"indices {claim['indices']} are not distinct, usable columns of the table",))
    if len(indices) != claim["k"]:
        wrong.append(f"{len(indices)} features are listed, but k is {claim['k']}")
    names = [problem.feature_names[i] for i in indices]
    if names != claim["features"]:
        wrong.append(f"the features at these positions are {names}, not {claim['features']}")
    if problem.constraints is not None and not problem.constraints.allows(indices):
        return Verification(False, (*wrong, "these features are not a subset that the constraints allow"))
    value = problem.value(indices)
    if not math.isclose(value, _number(claim["objective"]), rel_tol=_SAME, abs_tol=1e-15):
        wrong.append(f"these features are worth {value!r}, not {claim['objective']!r}")
    bound = math.nan
    if claim.get("upper_bound") is not None:
        bound, reason = _bound(claim, problem, indices)
        wrong.extend(reason)
        # Multipliers need not reach that far: an exhaustive search proves it by having looked.
        by_proof = isinstance(claim.get("certificate"), dict) and claim["certificate"].get("proof") is not None
        if by_proof and claim.get("status") == "proven optimal" and not bound <= value + _SAME * abs(value):
            wrong.append(f"the result calls {value!r} proven optimal, but its proof leaves room up to {bound!r}")
    if claim.get("gap") is not None and not wrong:
        left = gap(value, _number(claim.get("upper_bound")))
        if not math.isclose(left, _number(claim["gap"]), rel_tol=1e-6, abs_tol=1e-9):
            wrong.append(f"value and bound leave a gap of {left:.3g}, not {claim['gap']!r}")
    return Verification(not wrong, tuple(wrong), value, bound)


def _bound(claim: dict[str, Any], problem: SubsetProblem, indices: list[int]) -> tuple[float, list[str]]:
    saved = claim.get("certificate")
    certificate = saved if isinstance(saved, dict) else {}
    means = "multipliers" if certificate.get("proof") is None else "proof's steps"
    try:
        if certificate.get("proof") is not None:
            bound = _proved(certificate, problem)
        else:
            d = np.array(certificate.get("multipliers"), dtype=np.float64)
            lift = lift_from_json(certificate.get("lift"), len(problem.reduced.matrix))
            bound = certificate_of(problem, indices, d, lift).bound
    except (TypeError, ValueError, OverflowError) as error:
        return math.nan, [f"a bound is claimed, but its {means} prove none ({error})"]
    claimed = _number(claim["upper_bound"])
    if not claimed >= bound - _SAME * max(abs(bound), abs(claimed)):
        said = claim["upper_bound"]
        return bound, [f"the {means} prove that no {claim['k']} features exceed {bound!r}, not {said!r}"]
    return bound, []


def _proved(certificate: dict[str, Any], problem: SubsetProblem) -> float:
    """The bound a saved proof comes to.

    Whatever is `known`, no subset exceeds what is derived. It is raised a little, for a
    decision that was just met where the proof was made may just fail to be met here.
    """
    known = _number(certificate.get("known"))
    proof = proof_from_json(certificate["proof"], len(problem.reduced.matrix))
    return replayed_bound(problem, known + 0.5 * _SAME * abs(known), proof)


def _number(value: object) -> float:
    """NaN, which equals nothing, for what is no finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not -1e308 < value < 1e308:
        return math.nan
    return float(value)


def _other_table(claim: dict[str, Any], table: Table) -> list[str]:
    shapes = {"n_samples": table.n_samples, "n_features": table.n_features}
    return [
        f"the table has {name} = {here}, but the result was made from {claim[name]}"
        for name, here in shapes.items()
        if here != claim[name]
    ]


def _target(claim: dict[str, Any]) -> str | list[str]:
    target = claim.get("target")
    if not isinstance(target, str) and not (
        isinstance(target, list) and target and all(isinstance(name, str) for name in target)
    ):
        raise InvalidInput(
            "a result that names no target column", "one written by `certselect select --json`", "Pass a Table instead."
        )
    return target


def _reading(claim: dict[str, Any]) -> dict[str, str]:
    """How the table was read: the task, what became of missing values, and which column holds weights."""
    said = claim.get("reading", {})
    known = {"task", "missing", "weight"}
    if not isinstance(said, dict) or not all(
        name in known and isinstance(value, str | None) for name, value in said.items()
    ):
        raise InvalidInput(
            f"reading {said!r:.80}", f"an object with {', '.join(sorted(known))}", "Pass a Table instead."
        )
    return {name: value for name, value in said.items() if value is not None}


def _read(path: Path) -> dict[str, Any]:
    try:
        claim = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} ({error})", "a result in JSON", "Pass what `certselect select --json` wrote."
        ) from error
    if not isinstance(claim, dict):
        raise InvalidInput(f"{path}, which holds a {type(claim).__name__}", "a JSON object", "Pass another file.")
    return claim
