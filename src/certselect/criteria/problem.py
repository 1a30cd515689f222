"""A criterion, a size and the terms: the quadratic 0-1 problem a search solves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.criteria.constraints import Constraints
from certselect.criteria.definitions import Criterion, find_criterion
from certselect.criteria.feasibility import check_feasible, check_size
from certselect.criteria.pairs import GivenPairs, PairSource, TermPairs
from certselect.criteria.reduced import ReducedProblem, reduce_problem
from certselect.criteria.rules import Rules
from certselect.criteria.statements import state_constraints
from certselect.criteria.units import MergedUnits, UnitForm, merge_units
from certselect.errors import InvalidInput

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms


@dataclass(frozen=True, eq=False)
class SubsetProblem:
    """Choose k of n features so that the criterion is largest: max x'Qx, x in {0,1}^n, sum x = k.

    Only `candidates` may be chosen: constant features, which score 0 everywhere
    and could beat informative ones, are left out, and so are excluded ones. Indices
    always count the columns of the table the terms came from.

    Attributes
    ----------
    constraints : Constraints or None
        What a subset must hold to besides its size.
    any_size : bool
        Whether any size the budget admits will do; k is then the largest one.
    rules : Rules or None
        The constraints of a problem in unit form (`units`), which is what searches work on.
    """

    linear: np.ndarray
    pairs: PairSource | None
    rule: Criterion
    k: int
    feature_names: tuple[str, ...]
    candidates: np.ndarray
    constraints: Constraints | None = None
    any_size: bool = False
    rules: Rules | None = None

    @classmethod
    def from_matrix(
        cls,
        Q: np.ndarray,
        k: int | None,
        *,
        feature_names: Sequence[str] | None = None,
        include: Iterable[str | int] | None = (),
        exclude: Iterable[str | int] | None = (),
        groups: Any = None,
        costs: Any = None,
        budget: float | None = None,
    ) -> SubsetProblem:
        """State your own quadratic subset problem: max x'Qx over 0/1 vectors with k ones.

        Opens the searches, the relaxation and the certificates to any symmetric
        matrix: information estimated elsewhere, densest subgraphs, portfolios.
        `include`, `exclude`, `groups`, `costs` and `budget` say which subsets are
        allowed, as for `subset_problem`.

        Examples
        --------
        >>> import numpy as np
        >>> from certselect import SubsetProblem, select
        >>> Q = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 4.0]])
        >>> select(SubsetProblem.from_matrix(Q, k=2), "exhaustive").objective  # Q00 + Q11 + 2 Q01
        6.0
        """
        Q = np.asarray(Q)
        if Q.dtype not in (np.float32, np.float64):
            Q = Q.astype(np.float64)
        if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or len(Q) == 0:
            raise InvalidInput(f"a matrix of shape {Q.shape}", "a square one", "Pass Q as an (n, n) array.")
        if not np.isfinite(Q).all():
            raise InvalidInput("a matrix with NaN or infinite entries", "finite ones", "Check where Q came from.")
        if not np.allclose(Q, Q.T, rtol=1e-12, atol=1e-12 * float(np.abs(Q).max())):
            raise InvalidInput("a matrix that is not symmetric", "Q equal to its transpose", "Use (Q + Q.T) / 2.")
        names = tuple(f"x{i}" for i in range(len(Q))) if feature_names is None else tuple(map(str, feature_names))
        if len(names) != len(Q):
            raise InvalidInput(f"{len(names)} feature names", f"{len(Q)}, one per row of Q", "Name every feature.")
        # value = sum Q_ii - sum over pairs of -2 Q_ij, whatever the subset's size.
        criterion = Criterion("given matrix", None, lambda size: 1.0, "x'Qx")
        linear, pairs, varying = Q.diagonal().astype(np.float64), GivenPairs(-2.0 * Q), np.zeros(len(Q), dtype=bool)
        constraints = state_constraints(
            names, varying, include=include, exclude=exclude, groups=groups, costs=costs, budget=budget
        )
        return _state_problem(linear, pairs, criterion, k, names, varying, constraints)

    @property
    def criterion(self) -> str:
        """Name of the criterion."""
        return self.rule.name

    @property
    def n_features(self) -> int:
        return len(self.linear)

    def weight(self, size: int) -> float:
        """What a unit of pair term costs in a subset of this size."""
        return self.rule.weight(size)

    def pair_row(self, feature: int) -> np.ndarray:
        """Pair terms of one feature with all others (n,), computed when first asked for."""
        if self.pairs is None:
            return np.zeros(self.n_features)
        return self.pairs.row(feature)

    @cached_property
    def pair_matrix(self) -> np.ndarray:
        """All pair terms (n, n), whole: for searches that look everywhere."""
        if self.pairs is None:
            return np.zeros((self.n_features, self.n_features))
        return self.pairs.matrix()

    @cached_property
    def matrix(self) -> np.ndarray:
        """The paper's Q: relevance on the diagonal, -(w/2) times the pair terms beside it."""
        matrix = self.pair_matrix * np.asarray(-0.5 * self.weight(self.k), dtype=self.pair_matrix.dtype)
        np.fill_diagonal(matrix, self._worth_alone)
        return matrix

    @property
    def _worth_alone(self) -> np.ndarray:
        """What each feature is worth by itself in a subset of size k; a unit pays for the pairs inside it."""
        return self.linear if self.rules is None else self.linear - self.weight(self.k) * self.rules.inner

    @property
    def candidate_matrix(self) -> np.ndarray:
        """Q of the candidates alone, in their order."""
        if len(self.candidates) == self.n_features:
            return self.matrix
        return self.matrix[np.ix_(self.candidates, self.candidates)]

    @cached_property
    def units(self) -> UnitForm:
        """The problem as searches work on it: all-or-none groups are one feature each, constraints are `rules`."""
        merged = self._merged
        if merged is None:
            return UnitForm(self)
        rules = merged.rules(self.k)
        names = (self.feature_names[i] for i in merged.order)
        problem = SubsetProblem(
            np.add.reduceat(self.linear[merged.order], merged.starts),
            merged.pairs,
            self.rule,
            self.k,
            tuple(" + ".join(islice(names, int(size))) for size in merged.sizes),
            rules.candidates,
            rules=rules,
        )
        return UnitForm(problem, merged.groups)

    @cached_property
    def reduced(self) -> ReducedProblem:
        """What is left to choose beside the included features, in plain arrays: what relaxations are about."""
        problem = self.units.problem
        return reduce_problem(self) if problem is self else problem.reduced

    def columns_of(self, positions: Iterable[int]) -> list[int]:
        """The table's columns, ascending, of the subset that has these positions of `reduced` in it."""
        return sorted(self.units.columns(self.reduced.unit_indices(positions)))

    @cached_property
    def allowed_sizes(self) -> list[int]:
        """The sizes, 1 or more, that some allowed subset has, whatever k is."""
        if self._merged is None:
            return list(range(1, len(self.candidates) + 1))
        return self._merged.allowed_sizes()

    def of_size(self, k: int) -> SubsetProblem:
        """The same question about subsets of k features."""
        return _sized(self, k)

    @cached_property
    def _merged(self) -> MergedUnits | None:
        """The units, where not every set of k candidates is allowed."""
        if self.constraints is None or not self.constraints.beyond_exclusion:
            return None
        return merge_units(self)

    def value(self, indices: Iterable[int]) -> float:
        """Value of a subset, x'Qx, with the pair weight of size k whatever the subset's size.

        The same set gives the same float in whatever order it is listed.
        """
        chosen = self.check_indices(indices)
        weight = self.weight(self.k)
        terms = [float(self.linear[i]) for i in chosen]
        if weight and self.pairs is not None:
            for place, i in enumerate(chosen[1:], start=1):
                terms.extend((-weight * self.pair_row(i)[chosen[:place]].astype(np.float64)).tolist())
        if self.rules is not None:
            terms.extend((-weight * self.rules.inner[chosen]).tolist())
        return math.fsum(terms)

    def check_indices(self, indices: Iterable[int]) -> list[int]:
        """The indices as a sorted list, or an error that names the one that is wrong."""
        chosen = sorted(int(i) for i in indices)
        for i in chosen:
            if not 0 <= i < self.n_features:
                raise InvalidInput(
                    f"feature index {i}", f"0 to {self.n_features - 1}", "Indices count the table's columns from 0."
                )
        if len(set(chosen)) < len(chosen):
            raise InvalidInput(f"indices {chosen}", "no feature twice", "Remove the repeated index.")
        return chosen


def _state_problem(
    linear: np.ndarray,
    pairs: PairSource | None,
    rule: Criterion,
    k: int | None,
    names: tuple[str, ...],
    constant: np.ndarray,
    constraints: Constraints | None,
) -> SubsetProblem:
    """The problem, if there is a subset that it allows."""
    choosable = ~constant
    if constraints is not None:
        choosable[list(constraints.exclude)] = False
    problem = SubsetProblem(linear, pairs, rule, 0, names, np.flatnonzero(choosable), constraints)
    if k is not None or constraints is None or constraints.costs is None:
        return _sized(problem, k)
    merged = merge_units(problem)
    check_feasible(constraints, merged, names, None)
    return replace(problem, k=merged.allowed_sizes()[-1], any_size=True)


def _sized(problem: SubsetProblem, k: object) -> SubsetProblem:
    """The problem with that k, if there is a subset that it allows."""
    constraints, merged = problem.constraints, problem._merged
    constant = np.ones(problem.n_features, dtype=bool)
    constant[problem.candidates] = False
    excluded = () if constraints is None else constraints.exclude
    constant[list(excluded)] = False
    size = check_size(k, problem.feature_names, constant, len(excluded))
    if constraints is not None and merged is not None:
        check_feasible(constraints, merged, problem.feature_names, size)
    sized = replace(problem, k=size, any_size=False)
    sized.__dict__["_merged"] = merged  # sums of pair terms do not depend on k
    return sized


def subset_problem(
    terms: InformationTerms,
    k: int | None,
    criterion: str | Criterion = "jmi",
    *,
    beta: float | None = None,
    include: Iterable[str | int] | None = (),
    exclude: Iterable[str | int] | None = (),
    groups: Any = None,
    costs: Any = None,
    budget: float | None = None,
) -> SubsetProblem:
    """State "which k features are worth most together?" as a quadratic 0-1 problem.

    Parameters
    ----------
    terms : InformationTerms
        From `information_terms`.
    k : int or None
        How many features to choose, 1 to the number of features that are not constant.
        None, with a budget, for any size the budget admits.
    criterion : {"jmi", "mrmr", "mifs", "d1", "max_relevance"} or Criterion
        What a subset is worth ("cife" is another name of "d1", "d2" of "jmi").
    beta : float, optional
        Weight of the pair terms of "mifs" (1 if not given).
    include, exclude : list of str or int
        Features that are in every subset, and in none, by name or index.
    groups : list of lists, or mapping, optional
        Groups that are chosen whole or not at all, such as the columns of one coded
        variable. A mapping may have two keys, "all_or_none" for such groups and
        "at_most_one" for groups of which one member at most may be chosen. Constant
        features leave their groups.
    costs : mapping from features to numbers, or n numbers, optional
        What each feature costs; 0 for those not in the mapping.
    budget : float, optional
        What the subset may cost in all.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, subset_problem
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> problem = subset_problem(information_terms(X, X[:, 0] ^ X[:, 1]), k=2)
    >>> round(problem.value([0, 1]), 6)  # XOR: nothing alone, one bit together
    0.693147
    """
    found = find_criterion(criterion, beta)
    pairs = TermPairs(terms, found.pair) if found.pair is not None else None
    constraints = state_constraints(
        terms.feature_names,
        terms.constant,
        include=include,
        exclude=exclude,
        groups=groups,
        costs=costs,
        budget=budget,
    )
    return _state_problem(terms.relevance, pairs, found, k, terms.feature_names, terms.constant, constraints)
