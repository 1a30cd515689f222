"""Domain: the columns a statement is about, and those it is not about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# Why a column cannot be chosen, in the order in which sentences name the reasons.
IDENTIFIER, TEXT, SKIPPED = "identifier", "text", "skipped"
EXCLUDED, CONSTANT, DUPLICATE = "excluded", "constant", "duplicate"
UNUSED = (IDENTIFIER, TEXT, SKIPPED)  # known when the table is read
LEFT_OUT_BECAUSE = (IDENTIFIER, TEXT, SKIPPED, EXCLUDED, CONSTANT, DUPLICATE)


@dataclass(frozen=True)
class Domain:
    """The columns among which a subset was chosen.

    Attributes
    ----------
    n_columns : int
        All columns of the table but the target.
    left_out : mapping from str to tuple of str
        The columns that could not be chosen, by the reason: "identifier", "text", "skipped" (by `kinds`), "excluded",
        "constant" or "duplicate". Reasons without columns are not in it.
    constrained : bool
        Whether constraints restrict the subsets of the other columns, besides `max_shared`.
    only_choice : bool
        Whether a single subset is possible.
    max_shared : float or None
        How much two columns of a subset may share, if that is limited.
    """

    n_columns: int
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    constrained: bool = False
    only_choice: bool = False
    max_shared: float | None = None

    @property
    def n_left_out(self) -> int:
        return sum(map(len, self.left_out.values()))

    @property
    def n_considered(self) -> int:
        return self.n_columns - self.n_left_out

    def counts_in_words(self, named: int = 0) -> list[str]:
        """How many columns were left out for each reason, and some of their names: "2 are constant: 'a', 'b'"."""
        return [_counted(reason, names, named) for reason, names in self.left_out.items()]


_COUNTED = {
    IDENTIFIER: ("is an identifier", "are identifiers"),
    TEXT: ("is text", "are text"),
    SKIPPED: ("is skipped", "are skipped"),
    EXCLUDED: ("is excluded", "are excluded"),
    CONSTANT: ("is constant", "are constant"),
    DUPLICATE: ("is a copy of another", "are copies of others"),
}


def _counted(reason: str, names: tuple[str, ...], named: int) -> str:
    count = f"{len(names)} {_COUNTED[reason][len(names) > 1]}"
    if not named or reason in (EXCLUDED, DUPLICATE):  # which the user knows, or can see
        return count
    return f"{count}: " + ", ".join(map(repr, names[:named])) + (", ..." if len(names) > named else "")
