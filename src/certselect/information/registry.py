"""The measures by name: a file each in `measures/`, those that users register, those of other packages.

A file `measures/NAME.py` with a `MEASURE` named NAME in it is all it takes to add one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from certselect.errors import InvalidInput
from certselect.information import measures
from certselect.information.measure import Measure
from certselect.registered import Registry


@cache
def _load(name: str) -> Measure:
    return import_module(f"{measures.__name__}.{name}").MEASURE


_OWN = sorted(module.name for module in iter_modules(measures.__path__))
_registry = Registry("measure", "certselect.measures", Measure, _load, _OWN)


def register_measure(measure: Measure) -> None:
    """Make a measure of your own available by its name, in every selector, function and command.

    Examples
    --------
    >>> from certselect import Measure, register_measure
    >>> from certselect.information.plugin import plugin_terms
    >>> def plain(coded, measuring, *, dtype, n_jobs):
    ...     return plugin_terms(coded, dtype=dtype, n_jobs=n_jobs)
    >>> register_measure(Measure("plain", plain, "counts without corrections", needs="counts", uses=("bins",)))
    """
    _registry.register(measure)


def measure_names() -> list[str]:
    """All that the setting `measure` may be."""
    return _registry.names()


def list_measures() -> dict[str, Measure]:
    """All measures by name, each with its summary and what it supports."""
    return {name: _registry.find(name) for name in _registry.names()}


def find_measure(name: str | Measure) -> Measure:
    """The measure of that name, matched without case, or the measure itself."""
    return name if isinstance(name, Measure) else _registry.find(name)


def is_built_in(measure: Measure) -> bool:
    """Whether it is one of this package's own, which are known by their names everywhere."""
    return measure.name in _OWN and measure is _load(measure.name)


def all_support(names: Iterable[object], what: str) -> bool:
    """Whether all of these measures support something, such as "sparse"; unknown ones support nothing."""
    return all(bool(getattr(_known(name), what, False)) for name in names)


def all_treat_missing(names: Iterable[object], how: str) -> bool:
    """Whether all of these measures can treat missing values so; unknown ones cannot."""
    return all(how in getattr(_known(name), "missing", ()) for name in names)


def _known(name: object) -> Measure | None:
    try:
        return find_measure(name)  # type: ignore[arg-type] (it refuses what is not a name)
    except InvalidInput:
        return None
