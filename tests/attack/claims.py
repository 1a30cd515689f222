"""Is what a Selection claims true? Every claim is held against the exact oracle, none with a tolerance of its own."""

from __future__ import annotations

import math
import re
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from attack.oracle import Oracle
from certselect.certificate import open_problem
from certselect.errors import InvalidInput
from certselect.search import Selection, certified

# Of processor time, for one call that takes milliseconds once kernels are compiled: longer is without end.
TOO_LONG = 120.0
# For the proof of a small problem; what cannot be proven by then is left open.
SECONDS_OF_PROOF = 0.5
# "Proven optimal" may leave this part of the answer's own terms open.
WIDEST_TOLERANCE = Fraction(1, 10**12) * (1 + Fraction(1, 2**50))  # products of floats are rounded


@dataclass
class Ledger:
    """How often each claim was checked, and every time it was false."""

    checked: Counter[str] = field(default_factory=Counter)
    violations: list[tuple[str, str]] = field(default_factory=list)

    def check(self, claim: str, holds: bool, details: str = "") -> None:
        self.checked[claim] += 1
        if not holds:
            self.violations.append((claim, details))

    @contextmanager
    def no_traceback(self, what: str, *, refusals: bool = True) -> Iterator[None]:
        """Whatever else than a refusal in words ends the block, a warning of NumPy's included, is a violation."""
        self.checked["no traceback"] += 1
        try:
            with warnings.catch_warnings(), _ended_after(TOO_LONG):
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", UserWarning)
                yield
        except InvalidInput as error:
            if refusals:
                self.checked["refused in words"] += 1
            else:
                self.violations.append(("refused without need", f"{what}: {error}"))
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            self.violations.append(("traceback", f"{what}: {type(error).__name__} at {where}: {error}"[:300]))
        except TooLong:
            self.violations.append(("runs for ever", what))


class TooLong(BaseException):
    """Not an Exception: nothing on the way may take it for one of its own."""


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """End the block after so much processor time of this process."""

    def end(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def check_selection(selection: Selection, oracle: Oracle, ledger: Ledger, how: str, *, first: bool = False) -> None:
    """Hold all that a Selection says against the oracle.

    `first`: it took its time, so that it must be the first of equals, with all of them if any are listed.
    """
    chosen = tuple(sorted(int(i) for i in selection.indices))
    told = f"{how}: {list(chosen)} of value {selection.objective!r}"
    ledger.check("allowed", oracle.allowed(chosen), f"{told} is no allowed subset")
    if not oracle.allowed(chosen):
        return
    value = oracle.value(chosen)
    ledger.check(
        "value",
        selection.objective == _nearest(value),
        f"{told} is worth {_nearest(value)!r} when rounded once",
    )
    _check_bound(selection, oracle, value, ledger, told)
    ledger.check(
        "tolerance",
        math.isnan(selection.tolerance) == (selection.status != "proven optimal"),
        f"{told}, {selection.status}, states a tolerance of {selection.tolerance!r}",
    )
    if selection.status == "proven optimal":
        _check_proven(selection, oracle, value, ledger, told)
    _check_decided(selection, oracle, value, ledger, told)
    _check_ties(selection, oracle, ledger, told)
    ties = oracle.clear_ties() if first and selection.status == "proven optimal" and not selection.any_size else None
    if ties is not None:
        ledger.check("first of ties", chosen == ties[0], f"{told}, but {list(ties[0])} comes first")
        missing = set(ties) - {tuple(sorted(tie)) for tie in selection.ties}
        if 0 < len(selection.ties) < MOST_TIES:
            ledger.check("ties are all", not missing, f"{told} lists {len(selection.ties)} ties without {missing}")


def _nearest(value: Fraction) -> float:
    """The float nearest to a fraction: Python divides whole numbers with one rounding."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _check_bound(selection: Selection, oracle: Oracle, value: Fraction, ledger: Ledger, told: str) -> None:
    bound, best = selection.upper_bound, oracle.exact_best
    if math.isnan(bound):
        ledger.check("gap", math.isnan(selection.gap), f"{told} has a gap of {selection.gap!r} without a bound")
        only = selection.domain is not None and selection.domain.only_choice
        stated = selection.statement != "" and not only
        ledger.check("statement", not stated, f"{told} states without a bound: {selection.statement}")
        if only:
            _check_statement(selection, oracle, ledger, told)
        return
    true = bound == math.inf or (bound > -math.inf and Fraction(bound) >= best)
    ledger.check(
        "bound",
        true,
        f"{told} has the bound {bound!r}, but {list(oracle.best_subset)} is worth {_nearest(best)!r}",
    )
    if not math.isnan(selection.gap) and math.isfinite(selection.gap):
        # The gap is a division of floats: it may be off by their rounding, not by more.
        left = (best - value) / abs(value) if value else best - value
        slack = Fraction(1, 10**15) * (1 + abs(left)) + _tolerance(selection) / (abs(value) if value else 1)
        ledger.check(
            "gap",
            Fraction(selection.gap) + slack >= left,
            f"{told} has a gap of {selection.gap!r}, not {_nearest(left)!r}",
        )
    _check_statement(selection, oracle, ledger, told)


def _check_statement(selection: Selection, oracle: Oracle, ledger: Ledger, told: str) -> None:
    """The percentage or the number in the sentence, read by what it says of `objective`, which is rounded once."""
    words, room, value = selection.statement, None, Fraction(selection.objective)
    if above := re.search(r"more than ([-+.\de]+) % above", words):
        room = value + abs(value) * Fraction(above[1]) / 100
    elif above := re.search(r"more than ([-+.\de]+)\.$", words):
        room = Fraction(above[1]) + abs(Fraction(above[1])) * Fraction(1, 10**5)  # six digits are printed
    elif part := re.search(r"Proven optimal to ([-+.\de]+) of the value", words):
        room = value + abs(value) * Fraction(part[1])
    elif words.startswith("The only possible choice"):
        ledger.check("statement", len(oracle.values) == 1, f"{told} states: {words}")
    elif words.startswith("Proven"):
        room = value
    if room is not None:
        room += _tolerance(selection)
        ledger.check("statement", oracle.exact_best <= room, f"{told} states: {words}")


def _tolerance(selection: Selection) -> Fraction:
    if selection.status != "proven optimal":
        return Fraction(0)
    return Fraction(selection.tolerance)


def _check_proven(selection: Selection, oracle: Oracle, value: Fraction, ledger: Ledger, told: str) -> None:
    tolerance, own = _tolerance(selection), oracle.own_terms(selection.indices.tolist())
    best, objective = oracle.exact_best, Fraction(selection.objective)
    told = f"{told}, proven optimal to {_nearest(tolerance)!r}"
    ledger.check(
        "proven",
        best <= objective + tolerance,
        f"{told}, but {list(oracle.best_subset)} is worth {_nearest(best)!r}",
    )
    ledger.check("tolerance", 0 <= tolerance <= WIDEST_TOLERANCE * own, f"{told}, more than 1e-12 of {_nearest(own)!r}")
    limit = math.nextafter(_nearest(objective + tolerance), math.inf)
    ledger.check(
        "bound of the proven",
        selection.upper_bound <= limit,
        f"{told} has the bound {selection.upper_bound!r}",
    )


def _check_decided(selection: Selection, oracle: Oracle, value: Fraction, ledger: Ledger, told: str) -> None:
    """Features proven in are in every allowed subset that is worth as much as the answer; proven out, in none."""
    if not selection.proven_in and not selection.proven_out:
        return
    names = selection.problem.feature_names
    into = {names.index(name) for name in selection.proven_in}
    out = {names.index(name) for name in selection.proven_out}
    for subset in oracle.at_least(value):
        as_good = "equal" if oracle.value(subset) == value else "better"
        ledger.check(
            f"proven_in, {as_good} subsets",
            into <= set(subset),
            f"{told} has proven_in {sorted(into)}, but {list(subset)} is {as_good}",
        )
        ledger.check(
            f"proven_out, {as_good} subsets",
            not out & set(subset),
            f"{told} has proven_out {sorted(out)}, but {list(subset)} is {as_good}",
        )


def _check_ties(selection: Selection, oracle: Oracle, ledger: Ledger, told: str) -> None:
    if not selection.ties:
        return
    ties = [tuple(sorted(tie)) for tie in selection.ties]
    ledger.check("ties, each once", len(set(ties)) == len(ties), f"{told} lists a tie twice: {ties}")
    for tie in ties:
        ledger.check("ties are allowed", oracle.allowed(tie), f"{told} lists {tie}")
        if oracle.allowed(tie):
            short = oracle.exact_best - oracle.value(tie)
            width = WIDEST_TOLERANCE * max(oracle.own_terms(tie), oracle.own_terms(selection.indices.tolist()))
            ledger.check("ties are as good", short <= width, f"{told} lists {tie}, {_nearest(short)!r} below the best")


MOST_TIES = 200


@contextmanager
def forced(rng: np.random.Generator) -> Iterator[None]:
    """Small problems are proven by slack matrices, decisions and cases, as large ones are, instead of by listing.

    A proof is replayed with the limits it was made with: those of the package are the same for both.
    """
    listed, masked = int(rng.choice([1, 2, 4, 10, 30])), int(rng.choice([0, 1, 2, 3]))
    with mock.patch.multiple(open_problem, MOST_LISTED=listed, MOST_MASKED=masked), short_proofs():
        yield


@contextmanager
def short_proofs() -> Iterator[None]:
    """A tight bound is what half a second gives: whatever is reached by then must be true."""
    with mock.patch.object(certified, "TIGHT_SECONDS", SECONDS_OF_PROOF):
        yield
