"""What a prover came to know."""

from __future__ import annotations

from dataclasses import dataclass, field

from certselect.certificate.proof import Decision, Proof


@dataclass(frozen=True, eq=False)
class Proved:
    """What a prover came to know.

    Attributes
    ----------
    value : float
        Of the best subset it found.
    known : float
        What is worth no more than this counts as no better, and was not looked at.
    bound : float
        No allowed subset is worth more.
    proof : Proof or None
        Shows `bound`, with subsets up to `known` taken for granted; None if there is none.
    too_large : bool
        Whether there is none because it grew too large to keep.
    decisions : list of Decision
        What was decided about all subsets, before cases were distinguished.
    equals : list of list of int
        Subsets (units) worth as much as the best, where they were looked for.
    """

    value: float
    known: float
    bound: float
    proof: Proof | None
    too_large: bool = False
    decisions: list[Decision] = field(default_factory=list)
    equals: list[list[int]] = field(default_factory=list)
