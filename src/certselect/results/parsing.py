"""Plain dictionaries -> Result: files of this version and of earlier ones, and nothing else.

A file is not trusted: what is not as `format` declares it is refused with a sentence that says where, and nothing is
unpacked beyond the size it can have. Sentences of the file are ignored. Whether the claims are true is for `verifying`
to say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from certselect.certificate import Certificate
from certselect.certificate.bound import BY_ROW_SUMS
from certselect.certificate.certificate import BY_PROOF
from certselect.criteria import find_features
from certselect.criteria.domain import CONSTANT, DUPLICATE, EXCLUDED, LEFT_OUT_BECAUSE, UNUSED, Domain
from certselect.criteria.known import list_criteria
from certselect.criteria.stepwise import StepwiseCriterion
from certselect.errors import InvalidInput
from certselect.evaluation.feature_report import COPY, reason_codes
from certselect.names import shown
from certselect.results.certificate_text import lift_from_json, proof_from_json
from certselect.results.format import FORMAT, METHODS, OLDEST, PATH, RESULT, VERSION
from certselect.results.provenance import Provenance
from certselect.results.result import Result
from certselect.results.schema import REMEDY, Contradiction, is_whole, wrong
from certselect.results.size_choice import SizeChoice, TriedCombination
from certselect.results.size_rule import SizeRule
from certselect.results.wording import OlderDecision
from certselect.search.selection import Selection
from certselect.settings import Constraints, Settings
from certselect.table.model import Decision

# NumPy takes seeds of any length; longer ones than this are no numbers anyone chose.
LONGEST_SEED = 4096


def from_dict(stored: Any) -> Result:
    """The result that `as_dict` wrote, or that an earlier version wrote; refuses anything else."""
    if not isinstance(stored, Mapping) or "format" not in stored:
        old = isinstance(stored, Mapping) and {"features", "coding", "objective"} <= set(stored)
        got = "a result in the format before version 1" if old else "something else than a result of certselect"
        raise InvalidInput(got, f"a result of version {OLDEST} to {VERSION}", REMEDY)
    version = _checked_version(stored["format"], stored.get("version"))
    file = RESULT.of_file(stored, version=version)
    assert file is not None, "a result is not null"
    n_features = file["provenance"]["n_features"]
    settings = Settings.from_dict(_with_older_settings(file["settings"]))
    origin = _provenance(file["provenance"], settings.measuring.measure)
    if settings.reading.weight in origin.target:
        raise wrong("a provenance", "target", list(origin.target), "other columns than that of the weights")
    for name, listed in file["explanation"].items():
        if listed is not None and len(listed) != n_features:
            expected = f"{n_features} entries, one for each feature"
            raise wrong("an explanation", name, listed, expected)
    if file["domain"] is None:
        file["domain"] = _domain_before_5(file, origin, settings.constraints)
    selection = _selection(file, n_features, settings.constraints.max_shared)
    if file["explanation"]["reason"] is None:
        file["explanation"]["reason"] = _reasons_before_5(file, origin, settings)
    choice, size = file["choice"], file["size"]
    if choice is not None and size is not None:
        raise wrong("the result", "size", stored["size"], "null beside a choice by cross-validation")
    return Result(
        settings=settings,
        selection=selection,
        provenance=origin,
        choice=None if choice is None else _choice(choice, selection.k, n_features),
        saved_explanation=file["explanation"],
        size_rule=None if size is None else _size_rule(size, n_features),
    )


def _checked_version(format: Any, version: Any) -> int:
    """Refuse what is no result, and versions that are not read; nothing is wrong with what a newer one wrote."""
    expected = f"a result of version {OLDEST} to {VERSION}"
    if format == PATH:
        raise InvalidInput(
            "a path (what `certselect path --json` saved), which is about many subsets and holds no proofs",
            "a result, which is about one",
            "Make its report with `certselect path ... --report FILE`, or save one subset with `certselect select ... "
            "-k NUMBER --json FILE`.",
        )
    if format != FORMAT or not is_whole(version):
        raise InvalidInput(f"the format {shown(format)}, version {shown(version)}", expected, "Name a result.")
    if version < OLDEST:
        raise InvalidInput(f"a result of version {version}, which an older certselect wrote", expected, REMEDY)
    if version > VERSION:
        raise InvalidInput(
            f"a result of version {version}, which a newer certselect wrote", expected, "Update certselect."
        )
    return version


def _selection(file: dict[str, Any], n_features: int, max_shared: float | None) -> Selection:
    given = file["selection"]
    k, indices, bound, gap = given["k"], given["indices"], given["upper_bound"], given["gap"]
    if max(indices) >= n_features:
        raise wrong(
            "a selection", "indices", indices, f"different whole numbers below {n_features}, the number of features"
        )
    if len(given["features"]) != len(indices):
        raise wrong("a selection", "features", given["features"], "a name for each index")
    if k > n_features:
        raise wrong("a selection", "k", k, f"1 to {n_features}")
    for tie in given["ties"]:
        if len(tie) != k or tie != sorted(tie) or max(tie) >= n_features:
            raise wrong("a selection", "ties", given["ties"], f"subsets of {k} features, ascending")
    if math.isnan(gap) and not math.isnan(bound):
        gap = math.inf  # relative to a value of 0, for which JSON has no number
    names = {"features", "indices", "gap", "scores", "dropped", "proven_in", "proven_out", "ties"}
    return Selection(
        indices=np.array(indices, dtype=np.intp),
        names=tuple(given["features"]),
        gap=gap,
        **{name: tuple(given[name]) for name in ("scores", "dropped", "proven_in", "proven_out")},
        ties=tuple(map(tuple, given["ties"])),
        **{name: value for name, value in given.items() if name not in names},
        certificate=_certificate(file["certificate"], given["objective"], bound, n_features),
        saved_domain=replace(_domain(file["domain"], given["dropped"]), max_shared=max_shared),
    )


def _domain(given: Any, dropped: list[str]) -> Domain:
    if isinstance(given, Domain):
        return given
    left_out = {reason: tuple(given["left_out"][reason]) for reason in LEFT_OUT_BECAUSE if reason in given["left_out"]}
    if not all(left_out.values()):
        raise wrong("a domain", "left_out", given["left_out"], "reasons with columns")
    if sum(map(len, left_out.values())) > given["n_columns"]:
        raise wrong("a domain", "left_out", given["left_out"], f"{given['n_columns']} columns at most")
    if {name for reason in (*UNUSED, CONSTANT) for name in left_out.get(reason, ())} != set(dropped):
        raise Contradiction(
            f"a domain that leaves out other columns than are dropped: {shown(dropped)}", "the same", REMEDY
        )
    return Domain(given["n_columns"], left_out, given["constrained"], given["only_choice"])


def _certificate(given: Any, value: float, bound: float, n_features: int) -> Certificate | None:
    if given is None:
        return None
    where, known, too_large = "a certificate", given["known"], given["proof_too_large"]
    by_proof = given["proof"] is not None
    if (given["multipliers"] is None) != by_proof:
        raise wrong(where, "proof", given["proof"], "multipliers or a proof, one of them")
    if given["method"] is not None and (given["method"] == "proof") != by_proof:
        raise wrong(where, "method", given["method"], "'proof' for a proof, and another method for multipliers")
    if by_proof:
        if given["lift"] is not None:
            raise wrong(where, "lift", given["lift"], "null beside a proof")
        if math.isnan(known):
            raise wrong(where, "known", None, "a finite number beside a proof")
        if too_large:
            raise wrong(where, "proof_too_large", too_large, "false beside a proof")
        proof = proof_from_json(given["proof"], n_features)
        return Certificate(value, bound, None, BY_PROOF, None, proof, known)
    multipliers = np.array(given["multipliers"], dtype=np.float64)
    if not 1 <= len(multipliers) <= n_features + 1:
        raise wrong(where, "multipliers", given["multipliers"], f"at most {n_features + 1} numbers")
    if not math.isnan(known):
        raise wrong(where, "known", known, "null beside multipliers")
    lift = lift_from_json(given["lift"], len(multipliers) - 1)
    shown_by = METHODS.get(given["method"], BY_ROW_SUMS)  # which of them is not known before version 5
    return Certificate(value, bound, multipliers, shown_by, lift, proof_too_large=too_large)


def _provenance(given: dict[str, Any], measure: str) -> Provenance:
    seed = given["seed"]
    if seed is not None and (not is_whole(seed, most=1 << LONGEST_SEED) or seed.bit_length() > LONGEST_SEED):
        raise wrong("a provenance", "seed", seed, f"a whole number of at most {LONGEST_SEED} bits, or null")
    decisions = tuple(_decision(one, given["n_features"]) for one in given["decisions"])
    # Why "auto" picked a measure is a sentence; which one it picked is among the settings that had an effect.
    picked = str(given["measured"].get("measure", "")) if measure == "auto" else ""
    return Provenance(**{**given, "target": tuple(given["target"]), "decisions": decisions, "picked": picked})


def _decision(given: dict[str, Any], n_features: int) -> Decision:
    columns = tuple(given["columns"])
    if any(i >= n_features for i in columns):
        raise wrong("a decision", "columns", given["columns"], f"columns below {n_features}")
    if given["facts"] is None:
        return OlderDecision(given["kind"], columns)
    decision = Decision(given["kind"], columns, given["facts"])
    try:
        assert decision.why
    except KeyError as lacking:
        raise wrong("a decision", "facts", given["facts"], f"{lacking} among them") from None
    return decision


def _size_rule(given: dict[str, Any], n_features: int) -> SizeRule:
    for name in ("usable", "n_included"):
        if given[name] > n_features:
            raise wrong("a size", name, given[name], f"{n_features} at most")
    if len(given["p_values"]) > given["usable"]:
        raise wrong("a size", "p_values", given["p_values"], "no more than there are usable columns")
    return SizeRule(**{**given, "p_values": tuple(given["p_values"])})


def _choice(given: dict[str, Any], k: int, n_features: int) -> SizeChoice:
    sizes, where = given["sizes"], "a choice"
    if k not in sizes or sizes != sorted(sizes) or sizes[-1] > n_features:
        raise wrong(where, "sizes", sizes, f"1 to {n_features}, ascending, {k} among them, which is what was chosen")
    combinations = tuple(_tried(each, len(sizes)) for each in given["combinations"])
    if given["chosen"] >= len(combinations):
        raise wrong(where, "chosen", given["chosen"], "the number of a combination")
    if len({len(tried.split_scores) for tried in combinations}) > 1:
        raise wrong(where, "combinations", given["combinations"], "scores in the same splits")
    return SizeChoice(**{**given, "sizes": np.array(sizes, dtype=np.intp), "combinations": combinations})


def _tried(given: dict[str, Any], n_sizes: int) -> TriedCombination:
    splits = given["split_scores"]
    columns = {name: given[name] for name in ("mean_scores", "standard_errors")}
    for name, listed in [*columns.items(), *(("split_scores", scores) for scores in splits)]:
        if len(listed) != n_sizes:
            raise wrong("a combination", name, listed, f"one number for each of {n_sizes} sizes")
    return TriedCombination(
        settings=given["settings"],
        split_scores=np.array(splits, dtype=np.float64).reshape(len(splits), n_sizes),
        mean_scores=np.array(columns["mean_scores"]),
        standard_errors=np.array(columns["standard_errors"]),
    )


def _with_older_settings(stated: Any) -> Any:
    """The settings of a file, in which those are written out that came later and had no effect before."""
    if not isinstance(stated, Mapping) or not isinstance(stated.get("constraints"), Mapping):
        return stated
    return {**stated, "constraints": {"max_shared": None, **stated["constraints"]}}


def _domain_before_5(file: dict[str, Any], origin: Provenance, asked: Constraints) -> Domain:
    """The columns that a file of version 4 is about, by its decisions and settings."""
    names, given = file["explanation"]["feature"], file["selection"]
    unused = {names[i]: one.kind for one in origin.decisions if one.kind in UNUSED for i in one.columns}
    found: dict[str, list[str]] = {reason: [] for reason in LEFT_OUT_BECAUSE}
    for name in given["dropped"]:
        found[unused.get(name, CONSTANT)].append(name)
    found[EXCLUDED] = [names[i] for i in find_features(names, "exclude", asked.exclude)]
    found[DUPLICATE] = [names[i] for one in origin.decisions if one.kind == COPY for i in one.columns]
    left_out = {reason: tuple(listed) for reason, listed in found.items() if listed}
    included = len(find_features(names, "include", asked.include))
    n_considered = len(names) - sum(map(len, left_out.values()))
    return Domain(
        n_columns=len(names),
        left_out=left_out,
        constrained=any(part is not None for part in (asked.include, asked.feature_groups, asked.costs)),
        only_choice=not given["any_size"] and given["k"] in (n_considered, included),
    )


def _reasons_before_5(file: dict[str, Any], origin: Provenance, settings: Settings) -> list[str]:
    """What decided about each feature of a file of version 4."""
    names, asked = file["explanation"]["feature"], settings.constraints
    places = {name: i for i, name in enumerate(names)}
    return reason_codes(
        file["explanation"],
        unused={i: one.kind for one in origin.decisions if one.kind in UNUSED for i in one.columns},
        constant={places[name] for name in file["selection"]["dropped"] if name in places},
        copies={i for one in origin.decisions if one.kind == COPY for i in one.columns},
        include=find_features(names, "include", asked.include),
        exclude=find_features(names, "exclude", asked.exclude),
        stepwise=isinstance(list_criteria().get(file["selection"]["criterion"]), StepwiseCriterion),
    )
