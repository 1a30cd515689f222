"""The ways a problem is put to the package: every strategy and bound, in a hurry, interrupted, through a file."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from as_before import counted
from attack.claims import MOST_TIES, SECONDS_OF_PROOF, Ledger, check_selection, forced, short_proofs
from attack.oracle import Oracle
from attack.problems import Question, generator
from certselect import certify, choose_subset, load_result, select, selection_path
from certselect.progress import listening
from certselect.search import Selection, list_strategies

FEW_TIES, FEW_SUBSETS = 20, 300
# Searches that go on for long whatever the problem: less of the same is as good for finding false claims.
SHORTER: dict[str, dict[str, Any]] = {"genetic": {"population": 20, "generations": 20}, "annealing": {"steps": 200}}


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


def any_strategy(attack: Attack) -> None:
    """Each of the searches, with or without polish, bound and tight bound."""
    rng = attack.rng
    strategy = str(rng.choice(sorted(list_strategies())))
    bounded: bool | str = [False, True, "tight"][rng.choice(3, p=[0.4, 0.4, 0.2])]
    with short_proofs():
        attack.by(
            strategy,
            first=strategy == "exhaustive",
            certify=bounded,
            polish=bool(rng.random() < 0.3),
            **SHORTER.get(strategy, {}),
        )


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
    # Looking for all equals takes long where subsets may not be listed: minutes for hundreds of subsets.
    clear = attack.question.oracle.clear_ties() if attack.rng.random() < 0.4 and attack.question.servable else None
    if clear is not None and len(clear) <= FEW_TIES and len(attack.question.oracle.values) <= FEW_SUBSETS:
        options = {"ties": True, "max_ties": MOST_TIES, "first": True}
    else:
        options = {"max_seconds": SECONDS_OF_PROOF}
    with forced(attack.rng):
        answer = attack.by("exact", **options)
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

    if attack.question.table is not None:
        _ = attack.question.oracle  # measured before the keys are pressed: what is stopped is the search
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
            copies="all",
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
        answer = certify(problem, select(problem, "relevance"), tight=tight, max_seconds=SECONDS_OF_PROOF)
        check_selection(answer, oracle, attack.ledger, f"certify(relevance, tight={tight})")


def saved_file(attack: Attack) -> None:
    """A result chosen from a table, saved and read again, holds, and what is said about it is true."""
    question, ledger, rng = attack.question, attack.ledger, attack.rng
    table, stated = question.table, question.constraints | {"copies": "all"}
    options = [
        {"strategy": "exact"},
        {"strategy": "exact", "strategy_options": {"ties": True}},
        {"strategy": "exhaustive"},
        {"strategy": "cobra", "random_state": 0},
        {"strategy": "forward", "certify": True},
        {"strategy": "relevance", "certify": "tight"},
        {"strategy": "forward"},
    ]
    settings = {"criterion": table.criterion, "beta": table.beta, **options[int(rng.integers(len(options)))], **stated}
    with tempfile.TemporaryDirectory() as folder, forced(rng) if rng.random() < 0.3 else short_proofs():
        file = Path(folder) / "result.json"
        choose_subset(table.X, table.y, question.k, **counted(settings)).save(file)
        outcome = load_result(file).verify(table.X, table.y)
    ledger.check("true files", outcome.holds, f"{settings} is refused: {outcome.reasons}")
    if outcome.holds and outcome.statement:
        said = any(words in outcome.statement for words in ("constraints", "as excluded"))
        true = question.wishes.any if said else question.oracle.all_are_allowed
        ledger.check("verified words", true, f"{settings}: {outcome.statement}")
    if not math.isnan(outcome.upper_bound):
        best = question.oracle.exact_best
        ledger.check(
            "verified bound",
            Fraction(outcome.upper_bound) >= best,
            f"{settings}: {outcome.upper_bound!r} is below {float(best)!r}",
        )


# How each is asked, and how often: together some 30 ms a problem.
WAYS: dict[str, tuple[Callable[[Attack], None], float]] = {
    "any strategy": (any_strategy, 0.3),
    "plain bound": (plain_bound, 0.25),
    "tight bound": (tight_bound, 0.12),
    "every subset": (every_subset, 0.35),
    "exact by listing": (exact_by_listing, 0.4),
    "exact by proof": (exact_by_proof, 0.3),
    "polished": (polished, 0.2),
    "hurried": (hurried, 0.2),
    "stopped by hand": (stopped_by_hand, 0.25),
    "bound for any subset": (bound_for_any_subset, 0.1),
    "several sizes": (several_sizes, 0.2),
    "saved file": (saved_file, 0.4),
}
OF_TABLES = (several_sizes, saved_file)


def attack_problem(question: Question, ledger: Ledger, ways: tuple[str, ...] | None = None) -> None:
    """Ask a question in some of the ways there are (in these, if given), and check every answer."""
    rng = generator(question.kind, question.seed, "ways")
    for name, (way, often) in WAYS.items():
        drawn = rng.random() < often
        chosen = drawn if ways is None else name in ways
        if chosen and (question.table is not None or way not in OF_TABLES):
            # A generator for each way, so that one way can be repeated without the others.
            own = generator(question.kind, question.seed, name)
            with ledger.no_traceback(f"{name} of {question.way_back}"):
                way(Attack(question, ledger, own))
