"""Is what a Selection claims true? Every claim is held against the exact oracle, none with a tolerance of its own."""

from __future__ import annotations

import math
import re
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from attack.oracle import Oracle
from attack.problems import Question, generator
from certselect import certify, select, selection_path
from certselect.certificate import open_problem
from certselect.errors import InvalidInput
from certselect.progress import listening
from certselect.search import Selection, list_strategies

# Of processor time, for one call that takes milliseconds: what takes longer does not come to an end.
TOO_LONG = 60.0
# "Proven optimal" may leave this part of the answer's own terms open.
WIDEST_TOLERANCE = Fraction(1, 10**12)


@dataclass
class Ledger:
    """How often each claim was checked, and every time it was false."""

    checked: Counter[str] = field(default_factory=Counter)
    violations: list[tuple[str, str]] = field(default_factory=list)

    def check(self, claim: str, holds: bool, details: Callable[[], str] | str = "") -> None:
        self.checked[claim] += 1
        if not holds:
            self.violations.append((claim, details if isinstance(details, str) else details()))

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
    """Hold all that a Selection says against the oracle; `first`: it must be the lexicographically first of ties."""
    chosen = tuple(sorted(int(i) for i in selection.indices))
    told = f"{how}: {list(chosen)} of value {selection.objective!r}"
    ledger.check("allowed", oracle.allowed(chosen), f"{told} is no allowed subset")
    if not oracle.allowed(chosen):
        return
    value = oracle.value(chosen)
    ledger.check(
        "value",
        selection.objective == _nearest(value),
        lambda: f"{told} is worth {_nearest(value)!r} when rounded once",
    )
    _check_bound(selection, oracle, value, ledger, told)
    if selection.status == "proven optimal":
        _check_proven(selection, oracle, value, ledger, told)
    _check_decided(selection, oracle, value, ledger, told)
    _check_ties(selection, oracle, ledger, told)
    if first and selection.status == "proven optimal" and not selection.any_size:
        ties = oracle.clear_ties()
        if ties is not None:
            ledger.check("first of ties", chosen == ties[0], lambda: f"{told}, but {list(ties[0])} comes first")


def _nearest(value: Fraction) -> float:
    return float(value)  # Python divides whole numbers with one rounding


def _check_bound(selection: Selection, oracle: Oracle, value: Fraction, ledger: Ledger, told: str) -> None:
    bound, best = selection.upper_bound, oracle.exact_best
    if math.isnan(bound):
        ledger.check("gap", math.isnan(selection.gap), f"{told} has a gap of {selection.gap!r} without a bound")
        ledger.check("statement", selection.statement == "", f"{told} states without a bound: {selection.statement}")
        return
    true = bound == math.inf or (bound > -math.inf and Fraction(bound) >= best)
    ledger.check(
        "bound",
        true,
        lambda: f"{told} has the bound {bound!r}, but {list(oracle.best_subset)} is worth {float(best)!r}",
    )
    if not math.isnan(selection.gap) and math.isfinite(selection.gap):
        # The gap is a division of floats: it may be off by their rounding, not by more.
        left = (best - value) / abs(value) if value else best - value
        slack = Fraction(1, 10**15) * (1 + abs(left)) + _tolerance(selection, oracle) / (abs(value) if value else 1)
        ledger.check(
            "gap",
            Fraction(selection.gap) + slack >= left,
            lambda: f"{told} has a gap of {selection.gap!r}, not {float(left)!r}",
        )
    _check_statement(selection, oracle, value, ledger, told)


def _check_statement(selection: Selection, oracle: Oracle, value: Fraction, ledger: Ledger, told: str) -> None:
    """The percentage or the number in the sentence, read by what it says."""
    words, room = selection.statement, None
    if above := re.search(r"more than ([-+.\de]+) % above", words):
        room = value + abs(value) * Fraction(above[1]) / 100
    elif above := re.search(r"more than ([-+.\de]+)\.$", words):
        room = Fraction(above[1]) + abs(Fraction(above[1])) * Fraction(1, 10**5)  # six digits are printed
    elif "rounding" in words:
        room = value + abs(value) * Fraction(1, 10**9)
    elif words.startswith("Proven"):
        room = value
    if room is not None:
        room += _tolerance(selection, oracle)
        ledger.check("statement", oracle.exact_best <= room, lambda: f"{told} states: {words}")


def _tolerance(selection: Selection, oracle: Oracle) -> Fraction:
    if selection.status != "proven optimal":
        return Fraction(0)
    stated = getattr(selection, "tolerance", None)
    return WIDEST_TOLERANCE * oracle.own_terms(selection.indices.tolist()) if stated is None else Fraction(stated)


def _check_proven(selection: Selection, oracle: Oracle, value: Fraction, ledger: Ledger, told: str) -> None:
    tolerance, own = _tolerance(selection, oracle), oracle.own_terms(selection.indices.tolist())
    best, objective = oracle.exact_best, Fraction(selection.objective)
    told = f"{told}, proven optimal to {float(tolerance)!r}"
    ledger.check(
        "proven",
        best <= objective + tolerance,
        lambda: f"{told}, but {list(oracle.best_subset)} is worth {float(best)!r}",
    )
    ledger.check(
        "tolerance", 0 <= tolerance <= WIDEST_TOLERANCE * own, lambda: f"{told}, more than 1e-12 of {float(own)!r}"
    )
    limit = math.nextafter(float(objective + tolerance), math.inf)
    ledger.check(
        "bound of the proven",
        selection.upper_bound <= limit,
        lambda: f"{told} has the bound {selection.upper_bound!r}",
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
            lambda: f"{told} has proven_in {sorted(into)}, but {list(subset)} is {as_good}",  # noqa: B023
        )
        ledger.check(
            f"proven_out, {as_good} subsets",
            not out & set(subset),
            lambda: f"{told} has proven_out {sorted(out)}, but {list(subset)} is {as_good}",  # noqa: B023
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
            ledger.check(
                "ties are as good", short <= width, lambda: f"{told} lists {tie}, {float(short)!r} below the best"
            )  # noqa: B023
    clear = oracle.clear_ties()
    if clear is not None and selection.status == "proven optimal" and len(ties) < MOST_TIES:
        missing = [tie for tie in clear if tie not in ties]
        ledger.check("ties are all", not missing, lambda: f"{told} lists {len(ties)} ties without {missing[0]}")


MOST_TIES = 200


@dataclass(frozen=True)
class Attack:
    """One question, asked of the package in one way."""

    question: Question
    ledger: Ledger
    rng: np.random.Generator

    def problem(self) -> tuple[Any, Oracle] | None:
        """The package's problem and the oracle's; None if it was refused at the door, rightly or not."""
        asked, ledger, made = self.question, self.ledger, None
        with ledger.no_traceback("from_matrix", refusals=not asked.servable):
            made = asked.problem()
        if made is None:
            return None
        Q = asked.matrix
        if Q is not None and not (Q == Q.T).all():
            alike = np.abs(Q - Q.T) <= 1e-9 * np.maximum(np.abs(Q), np.abs(Q.T))
            ledger.check("symmetry", bool(alike.all()), "a matrix that is not symmetric was accepted")
            # What is left of asymmetry is rounding: the claims are about the matrix the package made of it.
            asked = replace(asked, matrix=made.matrix)
        if Q is not None and not np.isfinite(2.0 * np.abs(Q.astype(np.float64)).max()):
            ledger.check("range", False, "a matrix was accepted whose pairs are beyond the range of floats")
            return None
        return made, asked.oracle

    def by(self, strategy: str, *, first: bool = False, **options: Any) -> Selection | None:
        """Ask `select`, and check what it answers."""
        made, how = self.problem(), f"select({strategy!r}, {options})"
        if made is None:
            return None
        problem, oracle = made
        answer = None
        with self.ledger.no_traceback(how, refusals=strategy not in ("exact", "exhaustive", "forward", "cobra")):
            answer = select(problem, strategy, random_state=int(self.rng.integers(1000)), **options)
        if answer is not None:
            with self.ledger.no_traceback(f"checking {how}", refusals=False):
                check_selection(answer, oracle, self.ledger, how, first=first)
        return answer


@contextmanager
def forced(rng: np.random.Generator) -> Iterator[None]:
    """Small problems are proven by slack matrices, decisions and cases, as large ones are, instead of by listing."""
    listed, masked = int(rng.choice([1, 2, 4, 10, 30])), int(rng.choice([0, 1, 2, 3]))
    with mock.patch.multiple(open_problem, MOST_LISTED=listed, MOST_MASKED=masked):
        yield


def any_strategy(attack: Attack) -> None:
    """Each of the searches, with or without polish, bound and tight bound."""
    rng = attack.rng
    strategy = str(rng.choice(sorted(list_strategies())))
    bounded: bool | str = [False, True, "tight"][rng.choice(3, p=[0.4, 0.4, 0.2])]
    attack.by(strategy, certify=bounded, polish=bool(rng.random() < 0.3), first=strategy == "exhaustive")


def plain_bound(attack: Attack) -> None:
    attack.by(str(attack.rng.choice(["forward", "backward", "relevance"])), certify=True)


def tight_bound(attack: Attack) -> None:
    with forced(attack.rng):
        attack.by("forward", certify="tight")


def every_subset(attack: Attack) -> None:
    answer = attack.by("exhaustive", first=True)
    if answer is not None:
        _is_proven(attack, answer, "exhaustive")


def exact_by_listing(attack: Attack) -> None:
    ties = bool(attack.rng.random() < 0.5)
    answer = attack.by("exact", ties=ties, max_ties=MOST_TIES, first=ties)
    if answer is not None:
        _is_proven(attack, answer, "exact")
        _no_worse_than_it_began(attack, answer)


def exact_by_proof(attack: Attack) -> None:
    ties = bool(attack.rng.random() < 0.4)
    with forced(attack.rng):
        answer = attack.by("exact", ties=ties, max_ties=MOST_TIES, max_seconds=5.0, first=ties)
    if answer is not None:
        _no_worse_than_it_began(attack, answer)


def _is_proven(attack: Attack, answer: Selection, strategy: str) -> None:
    attack.ledger.check("finished", answer.status == "proven optimal", f"{strategy} ended with {answer.status!r}")


def _no_worse_than_it_began(attack: Attack, answer: Selection) -> None:
    start = attack.by("forward")
    if start is not None:
        attack.ledger.check(
            "never worse",
            answer.objective >= start.objective or bool(answer.status == "proven optimal" and _is_tied(answer, start)),
            f"exact gives {answer.objective!r}, forward {start.objective!r}",
        )


def _is_tied(answer: Selection, start: Selection) -> bool:
    """The first of equals may be a rounding error below another one; `proven` says how far."""
    return start.objective <= answer.upper_bound


def polished(attack: Attack) -> None:
    """Polishing never makes it worse."""
    made = attack.problem()
    if made is None:
        return
    problem, oracle = made
    strategy, seed = str(attack.rng.choice(["relevance", "forward", "backward"])), int(attack.rng.integers(1000))
    rough = fine = None
    with attack.ledger.no_traceback(f"polish after {strategy}", refusals=False):
        rough = select(problem, strategy, random_state=seed)
        fine = select(problem, strategy, random_state=seed, polish=True)
    if rough is None or fine is None:
        return
    check_selection(fine, oracle, attack.ledger, f"{strategy}, polished")
    if not fine.any_size:
        before, after = oracle.value(rough.indices.tolist()), oracle.value(fine.indices.tolist())
        attack.ledger.check(
            "never worse", after >= before, f"polish made {float(before)!r} of {strategy} {float(after)!r}"
        )


def hurried(attack: Attack) -> None:
    """Time is up at once, or nearly so."""
    with forced(attack.rng):
        attack.by("exact", max_seconds=float(attack.rng.choice([1e-9, 1e-4, 3e-3])))


def stopped_by_hand(attack: Attack) -> None:
    """Ctrl-C at a random report of progress: the answer says so, or is whole."""
    rng, calls = attack.rng, 0
    strategy = str(rng.choice(["exact", "forward", "cobra", "exhaustive", "backward", "floating"]))
    bounded: bool | str = [False, True, "tight"][rng.choice(3, p=[0.3, 0.3, 0.4])]
    at, pressed = int(rng.choice([1, 2, 3, 5, 8, 13])), False

    def press(stage: str, done: int, total: int) -> None:
        nonlocal calls, pressed
        calls += 1
        if calls == at:
            pressed = True
            raise KeyboardInterrupt

    with forced(rng), listening(press):
        try:
            answer = attack.by(strategy, certify=bounded)
        except KeyboardInterrupt:
            attack.ledger.check("Ctrl-C", False, f"{strategy}, certify={bounded}: KeyboardInterrupt reached the caller")
            return
    if pressed and answer is not None:
        attack.ledger.check(
            "Ctrl-C",
            answer.status in ("interrupted", "proven optimal"),
            f"{strategy}, certify={bounded}, pressed at report {at}: status {answer.status!r}",
        )


def several_sizes(attack: Attack) -> None:
    """Path of a table: every size's answer and bound."""
    asked = attack.question
    table, sizes = asked.table, sorted({len(subset) for subset in replace(asked, k=None).oracle.values})
    strategy = str(attack.rng.choice(["forward", "cobra", "exact"]))
    path: list[Selection] = []
    with attack.ledger.no_traceback(f"selection_path by {strategy}", refusals=False):
        path = selection_path(
            table.terms,
            sizes,
            table.criterion,
            strategy,
            beta=table.beta,
            certify=True,
            random_state=1,
            **asked.constraints,
        )
    for selection in path:
        oracle = replace(asked, k=selection.k).oracle
        check_selection(selection, oracle, attack.ledger, f"path by {strategy} at size {selection.k}")


def bound_for_any_subset(attack: Attack) -> None:
    """`certify` on the answer of another search, plain and tight."""
    made = attack.problem()
    if made is None:
        return
    problem, oracle = made
    tight = bool(attack.rng.random() < 0.5)
    with attack.ledger.no_traceback(f"certify(tight={tight})", refusals=False), forced(attack.rng):
        answer = certify(problem, select(problem, "relevance"), tight=tight, max_seconds=2.0)
        check_selection(answer, oracle, attack.ledger, f"certify(relevance, tight={tight})")


# How each is asked, and how often: together some 50 ms a problem.
WAYS: dict[str, tuple[Callable[[Attack], None], float]] = {
    "any strategy": (any_strategy, 0.35),
    "plain bound": (plain_bound, 0.2),
    "tight bound": (tight_bound, 0.12),
    "every subset": (every_subset, 0.5),
    "exact by listing": (exact_by_listing, 0.6),
    "exact by proof": (exact_by_proof, 0.25),
    "polished": (polished, 0.3),
    "hurried": (hurried, 0.15),
    "stopped by hand": (stopped_by_hand, 0.15),
    "bound for any subset": (bound_for_any_subset, 0.1),
    "several sizes": (several_sizes, 0.1),
}


def attack_problem(question: Question, ledger: Ledger, ways: tuple[str, ...] | None = None) -> None:
    """Ask a question in some of the ways there are (in these, if given), and check every answer."""
    rng = generator(question.kind, question.seed, "ways")
    for name, (way, often) in WAYS.items():
        drawn = rng.random() < often
        chosen = drawn if ways is None else name in ways
        if chosen and not (way is several_sizes and question.table is None):
            # A generator for each way, so that one way can be repeated without the others.
            own = generator(question.kind, question.seed, name)
            with ledger.no_traceback(f"{name} of {question.way_back}"):
                way(Attack(question, ledger, own))
