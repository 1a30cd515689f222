"""The strategies by name: a file each in `strategies/`, those that users register, those of other packages.

A file `strategies/NAME.py` with a `STRATEGY` named NAME in it is all it takes to add one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from certselect.errors import InvalidInput
from certselect.registered import Registry
from certselect.search.strategy import Strategy

AUTO = "auto"
# What "auto" can stand for.
AUTO_CHOICES = ("cobra", "forward")
_FILES = import_module("certselect.search.strategies")  # the folder: `strategies` is a function of this package too


@cache
def _load(name: str) -> Strategy:
    return import_module(f"{_FILES.__name__}.{name}").STRATEGY


_OWN = sorted(module.name for module in iter_modules(_FILES.__path__))
_registry = Registry(
    "strategy",
    "certselect.strategies",
    Strategy,
    _load,
    _OWN,
    reserved=(AUTO,),
)


def register_strategy(strategy: Strategy) -> None:
    """Make a search of your own available by its name, in every selector, function and command.

    Examples
    --------
    >>> from certselect import Strategy, register_strategy
    >>> def first(problem, found, rng, /):
    ...     "The candidates that come first: a search to compare others with."
    ...     found.indices.extend(problem.candidates[: problem.k].tolist())
    >>> register_strategy(Strategy("first", first, "the first k columns"))
    """
    _registry.register(strategy)


def strategy_names() -> list[str]:
    """All that `strategy` may be, "auto" first."""
    return [AUTO, *_registry.names()]


def list_strategies() -> dict[str, Strategy]:
    """All strategies by name, each with its summary, its options and what it needs."""
    return {name: _registry.find(name) for name in _registry.names()}


def is_built_in(strategy: Strategy) -> bool:
    """Whether it is one of this package's own, which alone are believed a proof."""
    return strategy.name in _OWN and strategy is _load(strategy.name)


def is_auto(strategy: object) -> bool:
    """Whether the strategy is to be chosen by the number of features."""
    return isinstance(strategy, str) and strategy.casefold() == AUTO


def known_strategy(name: str) -> Strategy | None:
    """The strategy of exactly that name, if it is known here: a saved result may be of one that is not."""
    try:
        strategy = _registry.find(name)
    except InvalidInput:
        return None
    return strategy if strategy.name == name else None


def find_strategy(name: str | Strategy, options: Mapping[str, Any] | None = None) -> Strategy:
    """The strategy of that name, or a strategy itself, once its options are known to be its own."""
    strategy = name if isinstance(name, Strategy) else _registry.find(name)
    if options:
        strategy.check_options(options, types=not is_built_in(strategy))
    return strategy
