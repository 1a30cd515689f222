"""Check what a result claims against the table it was made from, trusting neither solver nor file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from certselect.certificate import Certificate, certificate_of, gap, replay, tolerance
from certselect.certificate.proof import Proof, Replayed
from certselect.criteria import SubsetProblem, find_criterion, unsized_problem
from certselect.criteria.domain import Domain
from certselect.errors import InvalidInput, UnknownColumn
from certselect.evaluation.feature_report import copy_decisions, feature_report
from certselect.information import InformationTerms, find_measure, measure_table
from certselect.names import shown
from certselect.results.claims import EXHAUSTIVE, beyond_its_file, can_value_all, claimed
from certselect.results.columns import take_columns
from certselect.results.consistency import about_subsets, about_the_run, about_the_search, is_allowed, is_known
from certselect.results.files import read_json
from certselect.results.parsing import from_dict
from certselect.results.provenance import fingerprint
from certselect.results.result import Result
from certselect.results.schema import Contradiction
from certselect.results.wording import MOST, constraints_in_words, one_line, why
from certselect.search import select
from certselect.search.selection import PROVEN_OPTIMAL
from certselect.search.wording import considered
from certselect.settings import Constraints, Reading, Settings
from certselect.table import StreamedTable, Table, open_source
from certselect.table.frames import as_frame
from certselect.table.streams.in_blocks import InBlocks, is_in_blocks

HOLDS, FALSE_CLAIM, BROKEN_FILE, ANOTHER_TABLE = "holds", "false claim", "broken file", "another table"
UNCHECKED = "cannot be checked here"
# Terms are the same float for float wherever they are counted; the matrix products and
# factorisations of a bound are not, by some 1e-12.
_SAME = 1e-9
# What hostile settings and numbers run into.
_FAILURES = (TypeError, ValueError, OverflowError)


@dataclass(frozen=True)
class Verification:
    """What became of a claim.

    Attributes
    ----------
    verdict : str
        "holds"; "false claim"; "broken file" if it cannot be read or is not a result; "another
        table" if the rows, the columns, their names or what was measured of them differ; "cannot be checked
        here" if it was made by a criterion, measure or strategy that is not installed.
    reasons : tuple of str
        What is wrong, in a few short lines that are safe to print; empty if the claim holds.
    objective, upper_bound : float
        As computed anew from the table; NaN where it did not come to that.
    statement : str
        What is proven again, in words; empty if nothing is.
    constraints : str
        What the subsets that the statement is about had to respect; empty if nothing.
    domain : Domain or None
        The columns that the claim is about, and all that it is not about: those that `kinds` or `exclude` leave out,
        identifiers, text, constant columns and duplicates. None where it did not come to that.
    unit : str
        What the values are in; empty where they have none.
    unconfirmed : tuple of str
        Of a result in memory: what it says and keeps no proof of, so that it was not checked.
        A file makes no such claims.
    """

    verdict: str
    reasons: tuple[str, ...] = ()
    objective: float = math.nan
    upper_bound: float = math.nan
    statement: str = ""
    constraints: str = ""
    domain: Domain | None = None
    unit: str = ""
    unconfirmed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "reasons", tuple(map(one_line, self.reasons[:MOST])))

    @property
    def holds(self) -> bool:
        """Whether everything that is claimed, and can be checked, is true."""
        return self.verdict == HOLDS


class NotInstalled(InvalidInput):
    """A result by a measure, criterion or strategy that is registered elsewhere and not here."""

    def __init__(self, lacking: str) -> None:
        self.lacking = lacking
        remedy = "Install the package that has it, or register it first."
        super().__init__(f"a result that cannot be checked here: {lacking}", "records that are registered", remedy)


class _Refused(Exception):
    """The end of a check that cannot go on."""

    def __init__(self, verdict: str, *reasons: str) -> None:
        self.verdict, self.reasons = verdict, reasons
        super().__init__(verdict)


def verify(
    result: Result | Mapping[str, Any] | str | os.PathLike[str] | BinaryIO,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    memory: int | str | None = None,
) -> Verification:
    """Is what a saved result claims true of a table?

    Reads and measures the table again as the result says, states the constraints again,
    values the subset and proves the bound again from the saved multipliers or proof. Solvers
    are not run, and no part of the result is trusted.

    Not checked, because no table tells: times, versions, the splits' scores of a
    cross-validation and what was fitted there, the scores on the way of searches that do not
    rank features, the mean size of random draws, whether a search was interrupted, how it
    was asked to search, and whether the ties that are listed are all there are.
    docs/result-format.md goes through every field.

    Parameters
    ----------
    result : Result, path, dict or binary file
        What `Result.save` or `certselect select --json` wrote.
    X : path, array, sparse matrix, data frame or Table
        The table the result was made from.
    y : array, series, frame, or name of a column
        Not needed where the table holds the target under the name it had.
    sample_weight : array, optional
        The weights the features were chosen with, if they came as an array.
    memory : int or str, optional
        Bytes that a table read in blocks may use, such as "2GB"; a quarter of what is free if not given. It
        decides how the table is read, and has no effect on the verdict.

    Examples
    --------
    >>> from certselect import verify
    >>> verify("chosen.json", "patients.csv").holds  # doctest: +SKIP
    True
    """
    if isinstance(result, str | os.PathLike) and not Path(result).exists():
        # Nothing to judge: the caller mistyped a path.
        raise InvalidInput(f"the file {str(result)!r}, which is not there", "a saved result", "Check the path.")
    if not isinstance(result, Result):
        try:
            result = from_dict(result if isinstance(result, Mapping) else read_json(result))
        except Contradiction as error:
            return Verification(FALSE_CLAIM, (f"the result contradicts itself: {why(error)}",))
        except InvalidInput as error:
            return Verification(BROKEN_FILE, (f"this is no result that can be checked: {why(error)}",))
    return check(result, Given(X, y, sample_weight, memory))


class Given(NamedTuple):
    """The table that a result is checked against, as the caller passed it."""

    X: Any
    y: Any = None
    sample_weight: Any = None
    memory: int | str | None = None

    @property
    def blocks(self) -> InBlocks:
        return InBlocks(self.memory)


def check(result: Result, given: Given) -> Verification:
    """The same for a result that was read already."""
    claim = claimed(result)
    try:
        seen = _measured(claim, given)
        outcome = _judged(claim, seen.terms, seen.problem)
    except _Refused as refused:
        outcome = Verification(refused.verdict, refused.reasons)
    except MemoryError:
        raise InvalidInput(
            "a result that takes more memory to check than there is", "a larger machine", "Check it on one."
        ) from None
    return replace(outcome, unconfirmed=beyond_its_file(result, claim))


def take_up(result: Result, given: Given) -> Result:
    """What the file of a result claims, with its table: measured again, and refused if a claim does not hold."""
    claim = claimed(result)
    try:
        seen = _measured(claim, given)
        outcome = _judged(claim, seen.terms, seen.problem)
    except _Refused as refused:
        outcome, seen = Verification(refused.verdict, refused.reasons), None
    if outcome.verdict == UNCHECKED:
        raise NotInstalled(outcome.reasons[0])
    if seen is None or not outcome.holds:
        raise InvalidInput(
            f"a table of which the result is not true ({outcome.verdict}: {outcome.reasons[0]})",
            "the table that the result was made from",
            "Name that table, or choose again.",
        )
    return replace(
        claim,
        selection=replace(claim.selection, problem=seen.problem),
        # Verified above; what led to them is known again, whatever version wrote the file.
        provenance=replace(
            claim.provenance,
            picked=seen.terms.picked,
            decisions=(*seen.terms.decisions, *copy_decisions(seen.problem)),
        ),
        terms=seen.terms,
        columns=take_columns(seen.table, claim.selection.indices),
    )


class _Seen(NamedTuple):
    """A table as the result says it was read, what was measured of it, and the problem it states."""

    table: Table | StreamedTable
    terms: InformationTerms
    problem: SubsetProblem


def _measured(result: Result, given: Given) -> _Seen:
    lacking = [*_not_installed(result.settings)]
    if lacking:
        raise _Refused(UNCHECKED, *lacking)
    table = _read(result, given)
    try:
        # How many rows a stream has is known when they were counted.
        early = measure_table(table, result.settings.measuring) if isinstance(table, StreamedTable) else None
        wrong = [*_other_shape(result, table)]
        if wrong:
            raise _Refused(ANOTHER_TABLE, *wrong)
        terms = early or measure_table(table, result.settings.measuring)
        return _Seen(table, terms, _problem(result, terms))
    except _FAILURES as error:
        raise _Refused(FALSE_CLAIM, f"what the result says was done cannot be done: {why(error)}") from None


def _not_installed(settings: Settings) -> Iterator[str]:
    """What the result was measured and valued by, and is not known here."""
    for what, find, given in (
        ("measure", find_measure, settings.measuring.measure),
        ("criterion", find_criterion, settings.searching.criterion),
    ):
        try:
            find(given)
        except InvalidInput:
            yield f"{what} {shown(given)} is not installed"


def _judged(result: Result, terms: InformationTerms, problem: SubsetProblem) -> Verification:
    selection, settings = result.selection, result.settings
    drawn = _as_drawn(result)
    right_number = len(selection.indices) == selection.k or drawn
    if not right_number or not is_allowed(selection.indices, problem, of_any_number=drawn):
        chosen = shown(selection.indices.tolist())
        raise _Refused(FALSE_CLAIM, f"{chosen} are not {selection.k} different columns that may be chosen together")
    claim = _Claim(result, terms, problem)
    wrong = [*claim.about_features(), *claim.about_value()]
    if fingerprint(terms, selection.indices) != result.fingerprint:
        same = "what was measured of the table is not what the fingerprint tells"
        raise _Refused(ANOTHER_TABLE, f"{same}: it is another table, or the file was changed", *wrong)
    if not math.isnan(selection.upper_bound) and selection.certificate is None and not can_value_all(problem):
        wrong.append("a bound is claimed without a certificate, of more subsets than can be valued again")
    wrong = wrong or [*claim.about_bound()]
    # What follows from these.
    wrong = wrong or [
        *about_the_run(result, terms, claim.asked),
        *about_the_search(result, claim.problem),
        *about_subsets(result, claim.asked, claim.replayed),
        *claim.about_the_rest(),
    ]
    if not wrong and not is_known(result):
        raise _Refused(UNCHECKED, f"strategy {shown(selection.strategy)} is not installed")
    return Verification(
        FALSE_CLAIM if wrong else HOLDS,
        tuple(wrong),
        claim.value,
        claim.bound,
        "" if wrong else claim.confirmed,
        "" if wrong else constraints_in_words(settings.constraints, problem.feature_names),
        None if wrong else problem.domain,
        problem.criterion.unit,
    )


def _read(result: Result, given: Given) -> Table | StreamedTable:
    """The table as it was read for the result."""
    X, y, sample_weight, _ = given
    reading, named = result.settings.reading, list(result.provenance.target)
    names = tuple(map(str, result.explanation["feature"]))
    stored = isinstance(X, str | os.PathLike | Table) or is_in_blocks(X)
    nameless = not stored and (isinstance(X, list | tuple) or as_frame(X) is None)
    # An array has no names that could be others.
    own = names if nameless and len(set(names)) == _width(X) else None
    apart: dict[str, Any] = {"sample_weight": sample_weight, "feature_names": own}
    apart["constraints"] = result.settings.constraints
    if sample_weight is not None or isinstance(X, Table):
        reading = replace(reading, weight=None)  # the weights come otherwise than they came then
    elif result.provenance.weighted:
        lacking = "the rows were weighted by an array, and none was passed: 'sample_weight' takes it, in Python"
        raise _Refused(ANOTHER_TABLE, lacking)
    if y is None and not isinstance(X, Table):
        if not named:
            raise InvalidInput(
                "no target, and a result that names none",
                "the target the features were chosen for",
                "Pass y.",
            )
        y = named[0] if len(named) == 1 else named
    try:
        table, target = open_source(X, y, reading, blocks=given.blocks, **apart)
    except UnknownColumn as error:
        if given.y is not None and reading.weight is None:
            raise  # named by the caller, not by the result
        raise _Refused(ANOTHER_TABLE, f"the table lacks a column that the result names: {why(error)}") from None
    except InvalidInput as error:
        if not _readable(given._replace(y=y), reading, result.settings.constraints):
            raise
        raise _Refused(FALSE_CLAIM, f"the table cannot be read as the result says: {why(error)}") from None
    if target and named and sorted(target) != sorted(named):
        raise _Refused(ANOTHER_TABLE, f"the target is {shown(list(target))}, but the result is about {shown(named)}")
    return table


def _width(X: Any) -> int:
    """How many columns an array or a list of rows has; 0 for what is neither."""
    shape = X.shape if hasattr(X, "shape") else (len(X), len(X[0])) if len(X) and hasattr(X[0], "__len__") else ()
    return shape[1] if len(shape) == 2 else 0


def _readable(given: Given, reading: Reading, asked: Constraints) -> bool:
    """Whether the table can be read at all, if not as the result says."""
    usual = Reading(weight=reading.weight)
    if usual == reading and asked.include is None and asked.exclude is None:
        return False
    try:
        open_source(given.X, given.y, usual, sample_weight=given.sample_weight, blocks=given.blocks)
    except InvalidInput:
        return False
    return True


def _other_shape(result: Result, table: Table | StreamedTable) -> Iterator[str]:
    origin = result.provenance
    for name, here, there in (
        ("rows", table.n_samples, origin.n_samples),
        ("features", table.n_features, origin.n_features),
    ):
        if here != there:
            yield f"the table has {here} {name}, but the result was made from {there}"
            return
    for i, (here, there) in enumerate(zip(table.feature_names, result.explanation["feature"], strict=True)):
        if here != there:
            yield f"column {i} of the table is {shown(here)}, but the result was made from {shown(there)}"
            return


def _problem(result: Result, terms: InformationTerms) -> SubsetProblem:
    searching, selection = result.settings.searching, result.selection
    whole = unsized_problem(
        terms, searching.criterion, constraints=result.settings.constraints, **searching.problem_options
    )
    return whole.of_size(None) if selection.any_size else whole.of_size(selection.k)


def _as_drawn(result: Result) -> bool:
    """Whether the subset may be of another size than k: drawn by a search that was asked not to repair it."""
    unrepaired = result.settings.searching.all_options.get("repair") is False
    return unrepaired and math.isnan(result.selection.upper_bound)


class _Claim:
    """A result beside what its table says."""

    def __init__(self, result: Result, terms: InformationTerms, asked: SubsetProblem) -> None:
        self.result, self.selection, self.terms = result, result.selection, terms
        self.asked = asked
        self.problem = asked.of_size(len(self.selection.indices)) if asked.any_size else asked
        self.value, self.bound = self.problem.value(self.selection.indices), math.nan
        # Values that cancel to about 0 are as exact as the terms they are sums of, not more.
        self.rounding = _SAME * self.problem.magnitude(self.selection.indices)
        self.replayed: Replayed | None = None

    @property
    def confirmed(self) -> str:
        """What is proven, in words, by the numbers that were derived here."""
        bound = max(self.bound, self.value)
        found = replace(self.selection, objective=self.value, upper_bound=bound, gap=gap(self.value, bound))
        return replace(found, problem=self.asked).statement

    def about_features(self) -> Iterator[str]:
        chosen, names = self.selection, self.problem.feature_names
        expected = {
            "features": ([names[i] for i in chosen.indices], list(chosen.names)),
            "dropped": ([names[i] for i in np.flatnonzero(self.problem.constant)], list(chosen.dropped)),
            "criterion": (self.problem.criterion.name, chosen.criterion),
            "constrained": (self.problem.constrained, chosen.constrained),
            "without_copies": (bool(self.problem.copies), chosen.without_copies),
            "measured": (dict(self.terms.settings), dict(self.result.provenance.measured)),
        }
        for name, (here, there) in expected.items():
            if here != there:
                yield f"the table gives {name} {shown(here)}, not {shown(there)}"
        if chosen.domain != self.asked.domain:
            yield f"the domain is {_in_words(self.asked.domain)}, not {_in_words(chosen.domain)}"

    def about_value(self) -> Iterator[str]:
        # Where terms cancel, the value may differ by rounding of these.
        if not _close(self.value, self.selection.objective, least=1e-5 * self.rounding):
            yield f"these features are worth {self.value!r}, not {self.selection.objective!r}"

    def about_bound(self) -> Iterator[str]:
        chosen = self.selection
        if math.isnan(chosen.upper_bound):
            if not math.isnan(chosen.gap):
                yield f"a gap of {chosen.gap!r} is claimed without a bound"
            if chosen.certificate is not None:
                yield "there is a certificate, but no bound that it could show"
            if chosen.status == PROVEN_OPTIMAL or not math.isnan(chosen.tolerance):
                yield "the result is called proven optimal, but holds nothing that proves it"
            return
        try:
            self.bound = self._derived(chosen.certificate)
        except _FAILURES as error:
            yield f"a bound is claimed, but what is to prove it proves none ({why(error)})"
            return
        left = gap(chosen.objective, chosen.upper_bound)
        allowed = tolerance(self.problem, chosen.indices) if chosen.status == PROVEN_OPTIMAL else math.nan
        room = max(chosen.upper_bound - chosen.objective, self.bound - self.value)
        least = max(chosen.objective, self.bound - max(self.rounding, _SAME * abs(self.bound)))
        if not chosen.upper_bound >= least:
            yield f"it is proven that no {chosen.k} features exceed {self.bound!r}, not {chosen.upper_bound!r}"
        elif left != chosen.gap:
            yield f"value and bound leave a gap of {left!r}, not {chosen.gap!r}"
        elif chosen.status == PROVEN_OPTIMAL and not room <= allowed * (1.0 + _SAME):
            yield f"{chosen.objective!r} is called proven optimal, but there is room for {room!r} more"
        elif not _close(allowed, chosen.tolerance, least=0.0):
            yield f"the tolerance of a {chosen.status} result is {allowed!r} here, not {chosen.tolerance!r}"

    def _derived(self, certificate: Certificate | None) -> float:
        """The bound on all allowed subsets that follows from what the result holds."""
        if certificate is None:
            # Claimed because every subset was valued: value them again.
            return select(self.asked, EXHAUSTIVE).upper_bound
        if self.asked.any_size:
            raise InvalidInput("a certificate for subsets of any size", "one for a single size", "Leave it out.")
        if certificate.proof is not None:
            self.replayed = self._replayed(certificate.known, certificate.proof)
            return self.replayed.bound
        assert certificate.multipliers is not None
        indices = self.selection.indices
        return certificate_of(self.problem, indices, certificate.multipliers, certificate.lift).bound

    def _replayed(self, known: float, proof: Proof) -> Replayed:
        """What follows from a proof; if need be with a little more taken for known.

        Whatever that is, no subset exceeds what is derived. And a decision that was just met
        where the proof was made may just fail to be met here.
        """
        try:
            return replay(self.problem.reduced, known, proof)
        except InvalidInput:
            return replay(self.problem.reduced, known + 0.5 * self.rounding, proof)

    def about_the_rest(self) -> Iterator[str]:
        told = feature_report(replace(self.selection, problem=self.problem), self.terms)
        for name, column in self.result.explanation.items():
            if name == "why":  # made from the other columns
                continue
            for i, (here, there) in enumerate(zip(told[name], column, strict=True)):
                same = _close(here, there) if isinstance(here, float) else here == there
                if not same:
                    feature = self.problem.feature_names[i]
                    yield f"the explanation of {shown(feature)} has {name} {shown(there)}, not {shown(here)}"
                    return


def _in_words(domain: Domain | None) -> str:
    if domain is None:
        return "unknown"
    constrained = ", constrained" if domain.constrained else ""
    constrained += "" if domain.max_shared is None else f", max_shared={domain.max_shared:g}"
    return f"{considered(domain)}{constrained}{', without a choice' if domain.only_choice else ''}"


def _close(here: float, claimed: float, *, least: float = 1e-15) -> bool:
    both_unknown = math.isnan(here) and math.isnan(claimed)
    return both_unknown or math.isclose(here, claimed, rel_tol=_SAME, abs_tol=least)
