"""What features have in common, side by side: for the maps of reports and of pictures."""

from __future__ import annotations

import numpy as np

from certselect.information import InformationTerms
from certselect.results.result import Result


def shared_parts(terms: InformationTerms, features: np.ndarray) -> np.ndarray:
    """How much of each other's information these features have, 0 to 1 (features, features).

    The part of one that is in the other differs from that of the other in the one: the larger is taken.
    """
    part = np.array([terms.shared_part(int(i))[features] for i in features])
    part = np.maximum(part, part.T)
    np.fill_diagonal(part, 1.0)
    return part


def by_similarity(part: np.ndarray) -> np.ndarray:
    """An order in which features that share much stand side by side: that of a tree of the nearest ones."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(part) < 3:
        return np.arange(len(part))
    return leaves_list(linkage(squareform(1.0 - part, checks=False), "average", optimal_ordering=True))


def runners_up(result: Result, at_most: int) -> list[int]:
    """Features left out whose exchange would lose least; by relevance where constraints decide on exchanges."""
    told = result.explanation
    loss = np.array(told["swap_loss"], dtype=np.float64)
    relevance = np.array(told["relevance"], dtype=np.float64)
    candidates = np.zeros(len(loss), dtype=bool)
    assert result.problem is not None, "a result with terms knows its problem"
    candidates[result.problem.candidates] = True
    candidates[result.indices] = False
    rank = np.where(np.isnan(loss), -relevance, loss)
    return [int(i) for i in np.argsort(rank, kind="stable") if candidates[i]][:at_most]
