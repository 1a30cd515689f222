"""How much a subset as a whole carries about the target: what the criteria stand for, by counting it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable, code_table
from certselect.errors import InvalidInput, keyword
from certselect.information.kernels.joint_cells import JointCells
from certselect.information.plugin import plugin_terms
from certselect.settings import Settings
from certselect.table import read_source

# What is subtracted of the bias if nothing else is asked for.
_USUAL_CORRECTION = "miller_madow"
_FLOAT = np.dtype(np.float64)


@dataclass(frozen=True)
class JointInformation:
    """What all columns together tell about the target, in nats.

    Attributes
    ----------
    information : float
        I(X1,...,Xk;C), corrected for the bias of few rows; no more than H(C).
    plug_in : float
        The same of the observed frequencies, as they are: too large, the more so the more combinations there are.
    chance : float
        What `plug_in` would be on average if the target were shuffled.
    p_value : float
        How probable as much of `plug_in` is then.
    target_entropy : float
        H(C), all there is to tell.
    n_combinations : int
        How many combinations of levels occur; where they are nearly as many as the rows, counting tells nothing.
    n_samples : int
        How many rows were counted: those without a gap.
    correction : str
        That of `information`.
    """

    information: float
    plug_in: float
    chance: float
    p_value: float
    target_entropy: float
    n_combinations: int
    n_samples: int
    correction: str

    @property
    def statement(self) -> str:
        """All that in a sentence."""
        return (
            f"Together these columns carry about {self.information:.3g} of {self.target_entropy:.3g} nats "
            f"({self.plug_in:.3g} as counted, {self.chance:.3g} by chance alone), "
            f"by {self.n_combinations} combinations of levels in {self.n_samples} rows."
        )


def joint_information(
    X: Any,
    y: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    **settings: Any,
) -> JointInformation:
    """Measure how much columns carry about the target as a whole, to compare with the value of a criterion.

    A criterion adds up single features and pairs because the joint table of many columns has far more cells than
    a table has rows. Of a few chosen columns it can be counted: I(X1,...,Xk;C) of their combinations of levels,
    with what few rows add to it by themselves. Take it seriously as long as `chance` is small beside it.

    Parameters
    ----------
    X : array, sparse matrix, data frame or Table
        The chosen columns alone: `X[result.names]`, say.
    y : array, series or frame
        The target, as for `information_terms`.
    feature_names, sample_weight
        As for `information_terms`.
    **settings
        How the columns are read and coded, as for `information_terms` (`discretize`, `bins`, `missing`, ...). They are
        always counted. `correction` is "miller_madow" if none is named.

    Returns
    -------
    JointInformation

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import joint_information
    >>> coins = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 25)
    >>> both = joint_information(coins, coins[:, 0] ^ coins[:, 1])  # alone each tells nothing, together all
    >>> round(both.plug_in, 4), round(both.target_entropy, 4), round(both.chance, 4)
    (0.6931, 0.6931, 0.0154)
    """
    stated = Settings.from_keywords(settings, groups=("reading", "measuring"))
    measuring = stated.measuring
    if measuring.measure not in ("auto", "plugin"):
        raise InvalidInput(
            f"{keyword('measure', measuring.measure)} for columns taken together",
            f"{keyword('measure', 'plugin')}: combinations of levels can be counted, not ranked",
            f"Leave {keyword('measure')} out.",
        )
    table = read_source(X, y, stated.reading, feature_names=feature_names, sample_weight=sample_weight)[0]
    coded = code_table(table, replace(measuring, measure="plugin"))
    whole = _as_one_column(coded)
    correction = measuring.correction if "correction" in settings else _USUAL_CORRECTION
    counted = plugin_terms(whole, dtype=_FLOAT, n_jobs=1)
    corrected = plugin_terms(whole, correction=correction, dtype=_FLOAT, n_jobs=1)
    return JointInformation(
        # Corrections raise the entropy of the target too, but it is told no more often than it occurs.
        information=min(float(corrected.relevance[0]), counted.target_entropy),
        plug_in=float(counted.relevance[0]),
        chance=float(counted.chance[0]),
        p_value=float(counted.chance_p_values[0]),
        target_entropy=counted.target_entropy,
        n_combinations=int(whole.levels[0]),
        n_samples=whole.n_samples,
        correction=correction,
    )


def _as_one_column(coded: CodedTable | SparseCodedTable) -> CodedTable:
    """The rows that have a value in every column, with the combination of levels as their only feature."""
    rows, together = JointCells(coded, "none").together(range(len(coded.levels)))
    if not len(rows):
        raise InvalidInput(
            "columns that no row has values of all of", "rows without a gap", f"Pass {keyword('missing', 'level')}."
        )
    levels = int(together.max()) + 1
    return CodedTable(
        codes=together.astype(np.min_scalar_type(levels))[None],
        levels=np.array([levels]),
        constant=np.array([levels == 1]),
        target=coded.target[rows],
        classes=coded.classes,
        feature_names=("all columns",),
        coding=replace(coded.coding, lacking=None),
        weights=None if coded.weights is None else coded.weights[rows],
    )
