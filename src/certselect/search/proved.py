"""What a prover came to know."""

from __future__ import annotations

from dataclasses import dataclass

from certselect.certificate.proof import Proof


@dataclass(frozen=True, eq=False)
class Proved:
    """What a prover came to know: units are unit indices of the problem.

    Attributes
    ----------
    value : float
        Of the best subset it found.
    known : float
        What is worth no more than this counts as no better, and was not looked at.
    bound : float
        No allowed subset is worth more; at least `known`.
    proof : Proof or None
        Shows `bound`, with subsets up to `known` taken for granted; None if it grew too large to keep.
    into, out : list of int
        Units in every subset that is better than the best known, and units in none.
    equals : list of list of int
        Subsets worth as much as the best, where they were looked for.
    """

    value: float
    known: float
    bound: float
    proof: Proof | None
    into: list[int]
    out: list[int]
    equals: list[list[int]]
