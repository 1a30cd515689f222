"""Things found by name: those of the package, those that users register, those that other packages bring.

Other packages name theirs in an entry-point group. Nothing is loaded before it is asked
for by its name, so that listing names costs no imports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from certselect.errors import InvalidInput, keyword
from certselect.names import find_name

Record = TypeVar("Record")


class Registry(Generic[Record]):
    """Records of one kind by name.

    Parameters
    ----------
    what : str
        What errors call such a record: "strategy", "criterion".
    group : str
        The entry-point group in which other packages name theirs.
    kind : type
        What a record must be an instance of, with an attribute `name`.
    load : callable
        From the name of one of the package's own records to the record.
    own : iterable of str
        The names of these, in the order in which they are listed.
    reserved : collection of str
        Names that stand for something else and cannot be registered.
    """

    def __init__(
        self,
        what: str,
        group: str,
        kind: type[Record],
        load: Callable[[str], Record],
        own: Iterable[str],
        reserved: Collection[str] = (),
    ) -> None:
        self.what, self.group, self.kind, self._load = what, group, kind, load
        self._own, self._reserved = list(own), reserved
        self._registered: dict[str, Record] = {}

    def register(self, record: Record) -> None:
        """Add a record; one that is registered already may be replaced, one of the package may not."""
        name = self._checked_name(record)
        if name in self._own or name in self._reserved:
            raise InvalidInput(f"a {self.what} named {name!r}", "a name that is not taken", "Choose another name.")
        self._registered[name] = record

    def names(self) -> list[str]:
        """All names: the package's own, those registered, those of other packages."""
        return list(dict.fromkeys([*self._own, *self._registered, *sorted(self._brought)]))

    def find(self, name: object) -> Record:
        """The record of that name, matched without case; an error names the nearest one there is."""
        if isinstance(name, str) and name in self._own:
            return self._load(name)
        # Other packages are looked through only for a name that is not known without them.
        known = [*self._own, *self._registered]
        if not isinstance(name, str) or name.casefold() not in known:
            known = [*self.names(), *self._reserved]
        try:
            found = find_name(self.what, name, known)
        except InvalidInput as error:
            if not isinstance(name, str) or "mean" in error.remedy:  # a near name is answer enough
                raise
            remedy = f"Check the spelling; a {self.what} registered in another process has to be registered here too."
            raise error.changed(remedy=remedy) from None
        if found in self._reserved:
            raise InvalidInput(keyword(self.what, name), f"the name of one {self.what}", "Name the one you mean.")
        if found in self._own:
            return self._load(found)
        if found not in self._registered:
            record = self._brought[found].load()
            if self._checked_name(record) != found:
                raise InvalidInput(
                    f"the entry point {found!r} of {self.group}, which holds a {self.what} named {record.name!r}",
                    "the same name for both",
                    "Tell those who wrote that package.",
                )
            self._registered[found] = record
        return self._registered[found]

    @cached_property
    def _brought(self) -> dict[str, EntryPoint]:
        """What other packages bring. Looked up once: going through all that is installed takes milliseconds."""
        return {point.name: point for point in entry_points(group=self.group)}

    def _checked_name(self, record: object) -> str:
        name = getattr(record, "name", None)
        if not isinstance(record, self.kind) or not isinstance(name, str) or name != name.lower() or not name:
            raise InvalidInput(
                f"{record!r:.80} as a {self.what}",
                f"a {self.kind.__name__} with a name in lower case",
                f"Make one with certselect.{self.kind.__name__}(...).",
            )
        return name
