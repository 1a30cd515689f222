"""What a search strategy is: a function from a problem to the subset it found, and what to know about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, get_args

from certselect.criteria.units import UnitProblem
from certselect.errors import InvalidInput, keyword, option
from certselect.names import find_name, shown
from certselect.search.found import Found
from certselect.settings.checks import is_flag
from certselect.settings.fields import as_whole

# Types of options that are checked: in words, and what belongs to them.
_PLAIN_TYPES: dict[Any, tuple[str, Callable[[object], bool]]] = {
    int: ("a whole number", lambda value: as_whole(value) is not None),
    float: ("a number", lambda value: isinstance(value, Real) and not is_flag(value)),
    bool: ("True or False", is_flag),
    str: ("text", lambda value: isinstance(value, str)),
    type(None): ("None", lambda value: value is None),
}
# What `Strategy.scores` may be.
SCORES = ("", "ranking", "removals", "steps", "improving")


class Nested(NamedTuple):
    """How one run holds the answers for several sizes, where rules ask for nothing but the size."""

    longest: Callable[..., Any]  # max or min: which size's run passes all others
    state: Callable[[UnitProblem, Found], Found]  # where that run stood at a problem's size


def _first_choices(problem: UnitProblem, whole: Found) -> Found:
    return Found(whole.indices[: problem.k], whole.scores[: problem.k])


def _before_later_removals(problem: UnitProblem, whole: Found) -> Found:
    removed = whole.removed[: len(problem.candidates) - problem.k]
    return Found(without(problem, removed), whole.scores[: len(removed)], removed=removed)


def without(problem: UnitProblem, removed: list[int]) -> list[int]:
    """The candidates that have not been removed, ascending."""
    gone = set(removed)
    return [unit for unit in problem.candidates.tolist() if unit not in gone]


# The largest size's run passes all others; a smaller subset is the first of its choices.
FIRST_CHOICES = Nested(max, _first_choices)
# The smallest size's run passes all others; a larger subset is what it had before its last removals.
LAST_REMOVALS = Nested(min, _before_later_removals)


@dataclass(frozen=True)
class Strategy:
    """One way to search, and what others need to know to run it.

    Attributes
    ----------
    name : str
        Lower case; for the strategies of this package that of their file.
    run : callable
        `run(problem, found, rng, /, **options)` fills `found` with units of the `UnitProblem`
        that its rules allow; ties go to the lowest index. Its keyword-only parameters, each
        with a default, are the strategy's options.
    summary : str
        What it does and when to choose it, in a line.
    needs_all_pairs : bool
        Whether it asks for the pair terms of all features, not only of those it chooses.
    in_order_of_choice : bool
        Whether its answers list features in the order in which they were chosen.
    nested : Nested or None
        How one run answers for several sizes; None if each size is a search of its own.
    warm_start : bool
        Whether it has an option of that name that takes another size's relaxation.
    bounds : bool
        Whether its answers always come with a bound.
    stepwise : bool
        Whether it can search by a criterion that is not a sum over pairs, such as "cmim".
    requires : str
        The extra of certselect that has to be installed; empty for none.
    scores : {"", "ranking", "removals", "steps", "improving"}
        What `found.scores` are, so that a saved result can be checked. "ranking": a value for each leading part
        of the ranking. "removals": one after each removal, none if nothing had to be removed. "steps": one after
        each step, up or down. "improving": values of ever better subsets of k features. Empty: not checked.
    draws : bool
        Whether it fills `found.drawn_size`.
    """

    name: str
    run: Callable[..., None]
    summary: str
    needs_all_pairs: bool = False
    in_order_of_choice: bool = False
    nested: Nested | None = None
    warm_start: bool = False
    bounds: bool = False
    requires: str = ""
    stepwise: bool = False
    scores: str = ""
    draws: bool = False

    def __post_init__(self) -> None:
        if not callable(self.run):
            got = f"a strategy that runs {shown(self.run)}"
            raise InvalidInput(got, "a function of problem, found and rng", "Pass the function itself.")
        if self.nested is not None and not isinstance(self.nested, Nested):
            raise InvalidInput(f"nested={shown(self.nested)}", "a Nested or None", "Leave nested out.")
        if self.warm_start and "warm_start" not in inspect.signature(self.run).parameters:
            got = "a strategy with warm_start=True and no such option"
            raise InvalidInput(got, "a keyword-only parameter warm_start", "Leave warm_start out.")
        if self.scores not in SCORES:
            got = f"a strategy with scores={shown(self.scores)}"
            raise InvalidInput(got, f"one of {', '.join(map(repr, SCORES))}", "Leave scores out.")

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options a user may pass, with their defaults; not the start that one size's search gives the next."""
        parameters = inspect.signature(self.run).parameters.values()
        keywords = (parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)
        return {each.name: each.default for each in keywords if not (self.warm_start and each.name == "warm_start")}

    def check_options(self, options: Mapping[str, Any], *, types: bool = False) -> None:
        """Refuse options that the strategy does not have, naming those it has, and with `types` values of a wrong type.

        The package's own strategies check their values themselves.
        """
        for name, value in options.items():
            if name in self.options:
                if types:
                    self._check_type(name, value)
                continue
            if self.warm_start and name == "warm_start":
                continue
            got = f"{option(name, value)} with {keyword('strategy', self.name)}"
            if name == "max_seconds":
                expected = "the time limit as a setting of its own, not as an option of the strategy"
                raise InvalidInput(got, expected, f"Pass {keyword('max_seconds')} beside the options.")
            if not self.options:
                raise InvalidInput(got, "no options: this strategy has none", "Leave it out.")
            try:
                find_name("option", name, self.options)
            except InvalidInput as unknown:
                remedy = unknown.remedy
            else:
                remedy = "Write it in lower case."
            raise InvalidInput(got, f"only the options {', '.join(self.options)}", remedy)

    def _check_type(self, name: str, value: object) -> None:
        """Refuse a value that the annotation of the parameter does not allow, if it names plain types only."""
        stated = inspect.signature(self.run).parameters[name].annotation
        if isinstance(stated, str):
            try:
                stated = eval(stated, getattr(inspect.unwrap(self.run), "__globals__", {}))
            except (
                NameError,
                AttributeError,
                TypeError,
                SyntaxError,
            ):  # a type that is imported for type checkers only
                return
        kinds = get_args(stated) or (type(None) if stated is None else stated,)
        if not all(kind in _PLAIN_TYPES for kind in kinds) or any(_PLAIN_TYPES[kind][1](value) for kind in kinds):
            return
        raise InvalidInput(
            f"{option(name, value)} with {keyword('strategy', self.name)}",
            " or ".join(_PLAIN_TYPES[kind][0] for kind in kinds),
            f"Leave {option(name)} out for its default.",
        )
