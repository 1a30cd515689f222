"""How much of the experiments to run: which sizes of subsets, on which data sets."""

from __future__ import annotations

from dataclasses import dataclass

SETS = ("ARR", "NCI", "DBW", "CNA", "IAD", "MAD", "LNG", "DEX")
# Sizes at which the paper's own best results for Madelon lie: every grid has them.
ALWAYS = {"MAD": (12, 13)}
# Where the paper's best sizes are often above 100.
WIDE_SETS = ("DBW", "CNA", "IAD", "DEX")


@dataclass(frozen=True)
class Grid:
    """What a run covers.

    Attributes
    ----------
    name : str
        And the folder of its results.
    sizes : tuple of int
        Of the subsets, for every data set.
    wide_sizes : tuple of int
        Further sizes of the sets in `WIDE_SETS`.
    sets : tuple of str
        The data sets run where none are named.
    kept_in_folds : int
        NCI, DBW and DEX are cut to so many of their most relevant features before a search inside a
        training fold. The paper's 2000 would cost a relaxation of half a minute for every fold and
        size; on all samples together it is always the paper's 2000.
    similarity_sizes : range
        Of the subsets whose similarity ratios are taken.
    similarity_sets : tuple of str
    """

    name: str
    sizes: tuple[int, ...]
    wide_sizes: tuple[int, ...]
    sets: tuple[str, ...]
    kept_in_folds: int
    similarity_sizes: range
    similarity_sets: tuple[str, ...] = ("NCI", "DBW", "IAD", "CNA")

    def sizes_of(self, name: str) -> list[int]:
        """Sizes for a data set, ascending; it may have fewer features."""
        wide = self.wide_sizes if name in WIDE_SETS else ()
        return sorted({*self.sizes, *wide, *ALWAYS.get(name, ())})


GRIDS = {
    grid.name: grid
    for grid in (
        Grid("quick", (5, 12, 30), (), ("LNG", "ARR", "MAD", "CNA"), 200, range(5, 16), ("CNA",)),
        Grid("coarse", (2, 3, 5, 8, 12, 20, 30, 50, 75, 100), (150,), SETS, 500, range(5, 56)),
        Grid("full", tuple(range(1, 101)), tuple(range(110, 201, 10)), SETS, 2000, range(5, 56)),
    )
}
