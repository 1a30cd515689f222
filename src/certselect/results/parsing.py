"""Plain dictionaries -> Result: what `format` wrote, and nothing else.

A file is not trusted: whatever is not as docs/result-format.md describes it is refused with
a sentence that says where, and nothing is unpacked beyond the size it can have. Whether the
claims are true is for `verifying` to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from certselect.certificate import Certificate
from certselect.certificate.bound import BY_CHOLESKY, BY_COUNTING, BY_ROW_SUMS
from certselect.certificate.certificate import BY_PROOF
from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.results.format import EXPLANATION, FORMAT, PATH, VERSION
from certselect.results.lift_text import lift_from_json
from certselect.results.proof_text import proof_from_json
from certselect.results.provenance import Provenance
from certselect.results.result import Result
from certselect.results.size_choice import HONEST, PAPER, SizeChoice, TriedCombination
from certselect.results.size_rule import AUTO, SizeRule
from certselect.results.stored import REMEDY, Part, duration, each_is, number, text, truth, whole_number, with_nan
from certselect.search.selection import COMPLETE, INTERRUPTED, PROVEN_OPTIMAL, Selection
from certselect.settings import Settings
from certselect.settings.combinations import COMBINED
from certselect.table.model import DECIDED, Decision

# No table has more columns, and no result more lists of that length, than a machine can hold.
MOST_FEATURES = 10_000_000
# NumPy takes seeds of any length; longer ones than this are no numbers anyone chose.
LONGEST_SEED = 4096
_PROTOCOLS = (HONEST, PAPER)
_STATUSES = (COMPLETE, PROVEN_OPTIMAL, INTERRUPTED)
_BY_MULTIPLIERS = (BY_ROW_SUMS, BY_CHOLESKY, BY_COUNTING)


def from_dict(stored: Any) -> Result:
    """The result that `as_dict` wrote; refuses anything else."""
    whole = Part(stored, "the result")
    if not isinstance(stored, Mapping) or "format" not in stored:
        old = isinstance(stored, Mapping) and {"features", "coding", "objective"} <= set(stored)
        got = "a result in the format before version 1" if old else "something else than a result of certselect"
        raise InvalidInput(got, f"a result of version {VERSION}", REMEDY)
    _check_version(stored["format"], stored.get("version"))
    whole.only(
        {"format", "version", "statement", "settings", "selection", "certificate", "explanation"}
        | {"provenance", "size", "choice"}
    )
    origin = _provenance(whole.part("provenance"))
    selection = _selection(whole.part("selection"), whole, origin.n_features)
    settings = Settings.from_dict(whole.get("settings"))
    if settings.reading.weight in origin.target:
        raise whole.part("provenance").wrong("target", "other columns than that of the weights")
    result = Result(
        settings=settings,
        selection=selection,
        provenance=origin,
        choice=None if whole.get("choice") is None else _choice(whole.part("choice"), selection.k, origin.n_features),
        saved_explanation=_explanation(whole.part("explanation"), origin.n_features),
        size_rule=None if whole.get("size") is None else _size_rule(whole.part("size"), origin.n_features),
    )
    if result.choice is not None and result.size_rule is not None:
        raise whole.wrong("size", "null beside a choice by cross-validation")
    if whole.text("statement") != selection.statement:
        raise whole.contradicts("statement", f"what value, bound and gap say: {selection.statement!r}")
    return result


def _check_version(format: Any, version: Any) -> None:
    """Refuse what is no result of this version; nothing is wrong with what another version wrote."""
    expected = f"a result of version {VERSION}"
    if format == PATH:
        raise InvalidInput(
            "a path (what `certselect path --json` saved), which is about many subsets and holds no proofs",
            "a result, which is about one",
            "Make its report with `certselect path ... --report FILE`, or save one subset with `certselect select ... "
            "-k NUMBER --json FILE`.",
        )
    if format != FORMAT or not whole_number(version):
        raise InvalidInput(f"the format {shown(format)}, version {shown(version)}", expected, "Name a result.")
    if version < VERSION:
        raise InvalidInput(f"a result of version {version}, which an older certselect wrote", expected, REMEDY)
    if version > VERSION:
        raise InvalidInput(
            f"a result of version {version}, which a newer certselect wrote", expected, "Update certselect."
        )


def _selection(part: Part, whole: Part, n_features: int) -> Selection:
    part.only(
        {"features", "indices", "k", "any_size", "constrained", "without_copies", "criterion", "objective"}
        | {
            "upper_bound",
            "gap",
            "tolerance",
            "strategy",
            "status",
            "scores",
            "drawn_size",
            "dropped",
            "proven_in",
            "proven_out",
            "ties",
        }
    )

    def columns(listed: Any) -> bool:
        return each_is(listed, lambda i: whole_number(i) and i < n_features) and len(listed) == len(set(listed)) > 0

    def tie(listed: Any) -> bool:
        return columns(listed) and len(listed) == part.whole("k") and listed == sorted(listed)

    status, objective = part.text("status"), part.number("objective")
    if status not in _STATUSES:
        raise part.wrong("status", " or ".join(map(repr, _STATUSES)))
    if math.isnan(objective):
        raise part.wrong("objective", "a finite number")
    if not columns(part.get("indices")):
        raise part.wrong("indices", f"different whole numbers below {n_features}, the number of features")
    names = part.list_of("features", text)
    if len(names) != len(part.get("indices")):
        raise part.wrong("features", "a name for each index")
    if not 1 <= part.whole("k") <= n_features:
        raise part.wrong("k", f"1 to {n_features}")
    bound, gap = part.number("upper_bound"), part.number("gap")
    if math.isnan(gap) and not math.isnan(bound):
        gap = math.inf  # relative to a value of 0, for which JSON has no number
    stored = whole.get("certificate")
    return Selection(
        indices=np.array(part.get("indices"), dtype=np.intp),
        names=tuple(names),
        objective=objective,
        scores=tuple(with_nan(part.list_of("scores", number))),
        strategy=part.text("strategy"),
        criterion=part.text("criterion"),
        k=part.whole("k"),
        status=status,
        upper_bound=bound,
        gap=gap,
        tolerance=part.number("tolerance"),
        dropped=part.different("dropped"),
        certificate=None if stored is None else _certificate(whole.part("certificate"), objective, bound, n_features),
        drawn_size=part.number("drawn_size"),
        proven_in=part.different("proven_in"),
        proven_out=part.different("proven_out"),
        ties=tuple(tuple(each) for each in part.list_of("ties", tie)),
        constrained=part.truth("constrained"),
        without_copies=part.truth("without_copies"),
        any_size=part.truth("any_size"),
    )


def _certificate(part: Part, value: float, bound: float, n_features: int) -> Certificate:
    part.only({"multipliers", "lift", "proof", "known", "shown_by", "proof_too_large"})
    by_proof = part.get("proof") is not None
    if (part.get("multipliers") is None) != by_proof:
        raise part.wrong("proof", "multipliers or a proof, one of them")
    ways = (BY_PROOF,) if by_proof else _BY_MULTIPLIERS
    if part.text("shown_by") not in ways:
        raise part.wrong("shown_by", " or ".join(map(repr, ways)))
    if by_proof:
        if part.get("lift") is not None:
            raise part.wrong("lift", "null beside a proof")
        if part.get("known") is None:
            raise part.wrong("known", "a finite number beside a proof")
        if part.truth("proof_too_large"):
            raise part.wrong("proof_too_large", "false beside a proof")
        proof = proof_from_json(part.get("proof"), n_features)
        return Certificate(value, bound, None, BY_PROOF, None, proof, part.number("known"))
    multipliers = np.array(with_nan(part.list_of("multipliers", number)), dtype=np.float64)
    if not 1 <= len(multipliers) <= n_features + 1:
        raise part.wrong("multipliers", f"at most {n_features + 1} numbers")
    if part.get("known") is not None:
        raise part.wrong("known", "null beside multipliers")
    lift = lift_from_json(part.get("lift"), len(multipliers) - 1)
    too_large = part.truth("proof_too_large")
    return Certificate(value, bound, multipliers, part.text("shown_by"), lift, proof_too_large=too_large)


def _provenance(part: Part) -> Provenance:
    part.only(
        {"n_samples", "n_features", "target", "fingerprint", "measured", "picked", "decisions"}
        | {"weighted", "seed", "seconds", "versions"}
    )
    if not 1 <= part.whole("n_features") <= MOST_FEATURES:
        raise part.wrong("n_features", f"1 to {MOST_FEATURES}")
    seed = part.get("seed")
    if seed is not None and (
        not isinstance(seed, int) or isinstance(seed, bool) or seed < 0 or seed.bit_length() > LONGEST_SEED
    ):
        raise part.wrong("seed", f"a whole number of at most {LONGEST_SEED} bits, or null")
    return Provenance(
        n_samples=part.whole("n_samples"),
        n_features=part.whole("n_features"),
        fingerprint=part.text("fingerprint"),
        target=part.different("target"),
        measured=part.mapping_of("measured", lambda value: text(value) or whole_number(value)),
        picked=part.text("picked"),
        decisions=tuple(
            _decision(Part(one, "a decision"), part.whole("n_features")) for one in part.listed("decisions")
        ),
        weighted=part.truth("weighted"),
        seed=seed,
        seconds={stage: with_nan([spent])[0] for stage, spent in part.mapping_of("seconds", duration).items()},
        versions=part.mapping_of("versions", text),
    )


def _decision(part: Part, n_features: int) -> Decision:
    part.only({"kind", "columns", "facts"})
    if part.text("kind") not in DECIDED:
        raise part.wrong("kind", " or ".join(map(repr, DECIDED)))
    columns = part.list_of("columns", lambda i: whole_number(i) and i < n_features)
    facts = part.mapping_of("facts", lambda value: text(value) or truth(value) or whole_number(value))
    decision = Decision(part.text("kind"), tuple(columns), facts)
    try:
        assert decision.why
    except KeyError as lacking:
        raise part.wrong("facts", f"{lacking} among them") from None
    return decision


def _size_rule(part: Part, n_features: int) -> SizeRule:
    part.only({"statement", "asked", "usable", "n_included", "p_values", "significance", "n_permutations"})
    asked = part.get("asked")
    if asked != AUTO and not (isinstance(asked, float) and 0.0 < asked < 1.0):
        raise part.wrong("asked", f"a fraction between 0 and 1, or {AUTO!r}")
    for name in ("usable", "n_included"):
        if part.whole(name) > n_features:
            raise part.wrong(name, f"{n_features} at most")
    p_values = part.list_of("p_values", lambda value: value is None or (number(value) and 0.0 < value <= 1.0))
    if len(p_values) > part.whole("usable"):
        raise part.wrong("p_values", "no more than there are usable columns")
    rule = SizeRule(
        asked=asked,
        usable=part.whole("usable"),
        n_included=part.whole("n_included"),
        p_values=tuple(with_nan(p_values)),
        significance=part.number("significance"),
        n_permutations=part.whole("n_permutations"),
    )
    if part.text("statement") != rule.statement:
        raise part.contradicts("statement", f"what its numbers say: {rule.statement!r}")
    return rule


def _choice(part: Part, k: int, n_features: int) -> SizeChoice:
    part.only({"estimator", "scoring", "protocol", "one_standard_error", "sizes", "combinations", "chosen"})
    sizes = part.list_of("sizes", whole_number)
    if k not in sizes or sizes != sorted(set(sizes)) or not 1 <= sizes[0] <= sizes[-1] <= n_features:
        raise part.wrong("sizes", f"1 to {n_features}, ascending, {k} among them, which is what was chosen")
    if part.text("protocol") not in _PROTOCOLS:
        raise part.wrong("protocol", " or ".join(map(repr, _PROTOCOLS)))
    combinations = tuple(_tried(each, len(sizes)) for each in part.parts("combinations"))
    if part.whole("chosen") >= len(combinations):
        raise part.wrong("chosen", "the number of a combination")
    if len({len(tried.split_scores) for tried in combinations}) > 1:
        raise part.wrong("combinations", "scores in the same splits")
    return SizeChoice(
        estimator=part.text("estimator"),
        scoring=part.text("scoring"),
        protocol=part.text("protocol"),
        one_standard_error=part.truth("one_standard_error"),
        sizes=np.array(sizes, dtype=np.intp),
        combinations=combinations,
        chosen=part.whole("chosen"),
    )


def _tried(part: Part, n_sizes: int) -> TriedCombination:
    part.only({"settings", "mean_scores", "standard_errors", "split_scores"})
    settings = part.mapping_of("settings", lambda value: text(value) or whole_number(value))
    if not set(settings) <= set(COMBINED):
        raise part.wrong("settings", f"some of {', '.join(COMBINED)}")
    columns = {name: part.list_of(name, number) for name in ("mean_scores", "standard_errors")}
    splits = part.list_of("split_scores", lambda listed: each_is(listed, number))
    for name, listed in [*columns.items(), *(("split_scores", scores) for scores in splits)]:
        if len(listed) != n_sizes:
            raise part.wrong(name, f"one number for each of {n_sizes} sizes")
    return TriedCombination(
        settings=settings,
        split_scores=np.array([with_nan(scores) for scores in splits]).reshape(len(splits), n_sizes),
        mean_scores=np.array(with_nan(columns["mean_scores"])),
        standard_errors=np.array(with_nan(columns["standard_errors"])),
    )


def _explanation(part: Part, n_features: int) -> dict[str, list[Any]]:
    part.only(set(EXPLANATION))
    checks: dict[type, Callable[[Any], bool]] = {str: lambda value: value is None or text(value), bool: truth}
    columns = {}
    for name, kind in EXPLANATION.items():
        listed = part.list_of(name, checks.get(kind, number))
        if len(listed) != n_features:
            raise part.wrong(name, f"{n_features} entries, one for each feature")
        columns[name] = with_nan(listed) if kind is float else listed
    return columns
