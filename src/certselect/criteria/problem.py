"""A criterion, a size and the terms: the quadratic 0-1 problem a search solves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.criteria.column_constraints import ColumnConstraints, copies_left_out
from certselect.criteria.definitions import Criterion, SameWeight
from certselect.criteria.domain import CONSTANT, DUPLICATE, EXCLUDED, LEFT_OUT_BECAUSE, UNUSED, Domain
from certselect.criteria.feasibility import check_feasible, check_size
from certselect.criteria.known import AnyCriterion, find_criterion
from certselect.criteria.objective import Objective, check_scale
from certselect.criteria.pairs import GivenPairs, PairSource, TermPairs, square_part
from certselect.criteria.reduced import ReducedProblem
from certselect.criteria.shared import SharedLimit
from certselect.criteria.statements import given_relevance, state_constraints
from certselect.criteria.stepwise import StepwiseCriterion, TermSteps
from certselect.criteria.units import MergedUnits, UnitProblem, merge_units
from certselect.errors import FewerFeaturesWarning, IdleSettingWarning, InvalidInput, keyword, warn_user
from certselect.names import shown
from certselect.settings import Constraints, Searching

if TYPE_CHECKING:
    from certselect.information.terms import InformationTerms

# How far, relative to its size, an entry may be from the one across the diagonal.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SubsetProblem(Objective):
    """Choose k of n features so that the criterion is largest: max x'Qx, x in {0,1}^n, sum x = k.

    Only `candidates` may be chosen: constant features, which score 0 everywhere
    and could beat informative ones, are left out, and so are excluded ones. Indices
    always count the columns of the table the terms came from.

    Attributes
    ----------
    linear : ndarray (n,)
        What each feature is worth alone: its relevance.
    pairs : PairSource or None
        Where the criterion's pair terms come from; None if it has none.
    criterion : Criterion
    k : int
        How many features to choose.
    feature_names : tuple of str
    candidates : ndarray of int
        The features that may be chosen, ascending.
    constraints : ColumnConstraints or None
        What a subset must hold to besides its size.
    any_size : bool
        Whether subsets of any size that the budget allows compete; k is then the largest size.
    copies : mapping from int to int
        Features that are left out because they say the same as another one, and which that is.
    exactly : bool
        Whether a subset has k features even where a criterion finds that fewer say all there is, as "cmi" may.
    unused : mapping from int to str
        Columns that were left out when the table was read, each with the reason: a kind of `Decision`.
    given_relevance : bool
        Whether `linear` comes from scores that the user gave, and not from what was measured.
    """

    feature_names: tuple[str, ...]
    candidates: np.ndarray
    constraints: ColumnConstraints | None = None
    any_size: bool = False
    copies: Mapping[int, int] = field(default_factory=dict)
    exactly: bool = False
    unused: Mapping[int, str] = field(default_factory=dict)
    given_relevance: bool = False

    @classmethod
    def from_matrix(
        cls,
        Q: np.ndarray,
        k: int | None,
        *,
        feature_names: Sequence[str] | None = None,
        **constraints: Any,
    ) -> SubsetProblem:
        """State your own quadratic subset problem: max x'Qx over 0/1 vectors with k ones.

        Opens the searches, the relaxation and the certificates to any symmetric
        matrix: information estimated elsewhere, densest subgraphs, portfolios.
        Entries that differ from those across the diagonal by rounding are averaged with them.
        `include`, `exclude`, `feature_groups`, `costs` and `budget` set which subsets are
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
        check_scale(lambda: "a matrix whose largest entry", float(np.abs(Q).max()))
        Q = _symmetric(Q)
        if constraints.get("max_shared") is not None:
            raise InvalidInput(
                f"{keyword('max_shared', constraints['max_shared'])} with a matrix of your own",
                "terms of a table: what features share is not in the matrix",
                "Leave it out, or put large costs into the matrix.",
            )
        names = tuple(f"x{i}" for i in range(len(Q))) if feature_names is None else tuple(map(str, feature_names))
        if len(names) != len(Q):
            raise InvalidInput(f"{len(names)} feature names", f"{len(Q)}, one per row of Q", "Name every feature.")
        if len(set(names)) < len(names):
            twice = next(name for name, times in Counter(names).items() if times > 1)
            raise InvalidInput(
                f"the name {shown(twice)} for more than one feature", "a different name for every one", "Rename one."
            )
        # value = sum Q_ii - sum over pairs of -2 Q_ij, whatever the subset's size.
        criterion = Criterion("given matrix", None, SameWeight(1.0), "x'Qx", unit="")
        linear, pairs, constant = Q.diagonal().astype(np.float64), GivenPairs(-2.0 * Q), np.zeros(len(Q), dtype=bool)
        stated = state_constraints(names, constant, Constraints(**constraints))
        return _unsized(linear, pairs, criterion, names, constant, stated).of_size(k)

    @cached_property
    def constant(self) -> np.ndarray:
        """Which features take one value only (a mask): neither candidates nor excluded nor copies."""
        constant = np.ones(self.n_features, dtype=bool)
        constant[self.candidates] = False
        constant[[*self.excluded, *self.copies]] = False
        return constant

    @property
    def excluded(self) -> tuple[int, ...]:
        """Features that the constraints exclude."""
        return () if self.constraints is None else self.constraints.exclude

    @cached_property
    def domain(self) -> Domain:
        """The columns that can be chosen, and why the others cannot."""
        found: dict[str, list[str]] = {reason: [] for reason in LEFT_OUT_BECAUSE}
        for i in np.flatnonzero(self.constant).tolist():
            found[self.unused.get(i, CONSTANT)].append(self.feature_names[i])
        found[EXCLUDED] += [self.feature_names[i] for i in self.excluded]
        found[DUPLICATE] += [self.feature_names[i] for i in self.copies]
        asked = self.constraints
        included = 0 if asked is None else len(asked.include)
        return Domain(
            n_columns=self.n_features,
            left_out={reason: tuple(names) for reason, names in found.items() if names},
            constrained=asked is not None and asked.beyond_exclusion,
            only_choice=not self.any_size and self.k in (len(self.candidates), included),
            max_shared=None if asked is None or asked.shared is None else asked.shared.most,
        )

    @property
    def constrained(self) -> bool:
        """Whether the user stated constraints besides a limit on what features share."""
        asked = self.constraints
        return asked is not None and bool(asked.beyond_exclusion or asked.exclude)

    @property
    def candidate_matrix(self) -> np.ndarray:
        """Q of the candidates alone, in their order."""
        return square_part(self.matrix, self.candidates)

    @cached_property
    def units(self) -> UnitProblem:
        """The problem as searches work on it: all-or-none groups are one unit each, constraints are rules."""
        return self._merged.of_size(self.k)

    @property
    def reduced(self) -> ReducedProblem:
        """What is left to choose beside the included features, in plain arrays: what relaxations are about."""
        return self.units.reduced

    def columns_of(self, positions: Iterable[int]) -> list[int]:
        """The table's columns, ascending, of the subset that has these positions of `reduced` in it."""
        return sorted(self.units.columns(self.reduced.unit_indices(positions)))

    @cached_property
    def allowed_sizes(self) -> list[int]:
        """The sizes, 1 or more, that some allowed subset has, whatever k is: the one place that knows them.

        With `max_shared` and a budget there may be sizes among them that no subset has.
        """
        sizes, asked = self._merged.allowed_sizes(), self.constraints
        if asked is None or asked.shared is None or asked.costs is None:
            return sizes
        most = self._merged.most_sharing_little()
        return [size for size in sizes if size <= most]

    def of_size(self, k: int | None, called: str = "k") -> SubsetProblem:
        """The same question about subsets of k features; of any size the budget admits if k is None.

        Errors speak of the size as what it was `called`.
        """
        constraints, merged = self.constraints, self._merged
        if k is None and constraints is not None and constraints.costs is not None:
            check_feasible(constraints, merged, self.feature_names, None)
            sized = replace(self, k=self.allowed_sizes[-1], any_size=True)
        else:
            size = check_size(k, self, called)
            if constraints is not None:
                check_feasible(constraints, merged, self.feature_names, size)
            sized = replace(self, k=size, any_size=False)
        named = self.criterion.name
        check_scale(lambda: f"{keyword('criterion', named)}, whose weight of a pair", abs(sized.weight(sized.k)))
        sized.__dict__["_merged"] = merged  # sums of pair terms do not depend on k
        return sized

    def nearest_size(self, k: int) -> int:
        """The largest allowed size that is not above k, or else the smallest; an error says why if there is none."""
        if not self.allowed_sizes:
            self.of_size(1)
        return max((size for size in self.allowed_sizes if size <= k), default=self.allowed_sizes[0])

    def of_usable_size(self, wanted: int | None) -> SubsetProblem:
        """The same question about `wanted` features, or about all that can be chosen if these are fewer.

        The latter with a warning that gives the reason.
        """
        usable = len(self.candidates)
        if not isinstance(wanted, int | np.integer) or usable == 0 or wanted <= usable:
            return self.of_size(wanted, "n_features_to_select")  # which says what is wrong with it, if anything is
        left_out = self.domain.counts_in_words()
        warn_user(
            f"Asked for {wanted} features, but the table has {usable} that can be chosen"
            + (f" ({', '.join(left_out)})" if left_out else "")
            + ": all of them are kept. Ask for fewer to choose among them.",
            FewerFeaturesWarning,
        )
        return self.of_size(usable)

    @cached_property
    def _merged(self) -> MergedUnits:
        return merge_units(self)


def _symmetric(Q: np.ndarray) -> np.ndarray:
    """Q, what its entries lack of symmetry by rounding averaged away; larger differences are refused."""
    if np.array_equal(Q, Q.T):
        return Q
    if (np.abs(Q - Q.T) > ROUNDING * np.maximum(np.abs(Q), np.abs(Q.T))).any():
        raise InvalidInput("a matrix that is not symmetric", "Q equal to its transpose", "Use (Q + Q.T) / 2.")
    half = np.asarray(0.5, dtype=Q.dtype)
    return half * Q + half * Q.T


def _unsized(
    linear: np.ndarray,
    pairs: PairSource | None,
    criterion: AnyCriterion,
    names: tuple[str, ...],
    constant: np.ndarray,
    constraints: ColumnConstraints | None,
) -> SubsetProblem:
    """The question without a size: `allowed_sizes` says which there are, `of_size` asks for one."""
    choosable = ~constant
    if constraints is not None:
        choosable[list(constraints.exclude)] = False
    return SubsetProblem(linear, pairs, criterion, 0, names, np.flatnonzero(choosable), constraints)


def unsized_problem(
    terms: InformationTerms,
    criterion: str | AnyCriterion = Searching.criterion,
    *,
    constraints: Constraints | None = None,
    relevance: Any = None,
    **options: float | None,
) -> SubsetProblem:
    """Which sizes can a subset have, before one is chosen? The problem of `subset_problem` without its k.

    Ask it for `allowed_sizes`, then for one of them with `of_size`. The options are those of the criterion.
    """
    found = find_criterion(criterion, **options)
    if isinstance(found, StepwiseCriterion):
        pairs = TermSteps(terms, found)
    else:
        pairs = TermPairs(terms, found.pair) if found.pair is not None else None
    asked = constraints or Constraints()
    stated = state_constraints(terms.feature_names, terms.constant, asked)
    if asked.max_shared is not None:
        stated = replace(stated or ColumnConstraints(), shared=SharedLimit(asked.max_shared, terms))
        if pairs is not None and isinstance(found, Criterion) and not (found.weight(2) or found.weight(3)):
            pairs = None  # their weight is 0, and what pairs that share too much cost needs one
    whole = _unsized(terms.single(found.single), pairs, found, terms.feature_names, terms.constant, stated)
    if terms.decisions:
        unused = {i: one.kind for one in terms.decisions if one.kind in UNUSED for i in one.columns}
        whole = replace(whole, unused=unused)
    if relevance is not None:
        whole = _with_given(whole, relevance)
    copies = copies_left_out(terms.copies, stated) if asked.copies == "first" else {}
    if not copies:
        return whole
    return replace(whole, copies=copies, candidates=np.setdiff1d(whole.candidates, list(copies)))


def _with_given(problem: SubsetProblem, relevance: Any) -> SubsetProblem:
    """The problem with given scores as its single terms, and a formula that says so."""
    criterion = problem.criterion
    if isinstance(criterion, StepwiseCriterion):
        raise InvalidInput(
            f"{keyword('relevance')} with {keyword('criterion', criterion.name)}",
            "a criterion that is a sum over features and pairs",
            f"Leave {keyword('relevance')} out, or choose a criterion such as 'jmi'.",
        )
    if not criterion.alone(2):
        warn_user(
            f"{keyword('relevance')} has no effect in subsets of two features or more: "
            f"{keyword('criterion', criterion.name)} looks at pairs alone.",
            IdleSettingWarning,
        )
    single = given_relevance(problem.feature_names, relevance, problem.linear, problem.candidates)
    formula = f"{criterion.formula}, with given relevance as I(Xi;C)"
    return replace(problem, linear=single, criterion=replace(criterion, formula=formula), given_relevance=True)


def subset_problem(
    terms: InformationTerms,
    k: int | None,
    criterion: str | AnyCriterion = Searching.criterion,
    *,
    beta: float | None = None,
    gamma: float | None = None,
    order: int = Searching.order,
    relevance: Any = None,
    **constraints: Any,
) -> SubsetProblem:
    """State "which k features are worth most together?" as a quadratic 0-1 problem.

    Parameters
    ----------
    terms : InformationTerms
        From `information_terms`.
    k : int or None
        How many features to choose, 1 to the number of features that are not constant.
        None, with a budget, for any size the budget admits.
    criterion : str, Criterion or StepwiseCriterion
        What a subset is worth: "jmi", "mrmr", "disr", "d1" ("cife"), "max_relevance", ..., or one
        that was registered; `certselect.list_criteria()` lists them with their formulas.
    beta : float, optional
        Weight of the redundancy in "mifs" and "linear" (1 if not given).
    gamma : float, optional
        Weight of the conditional redundancy in "linear" (1 if not given).
    order : {2, 3}
        Of the expansions "jmi" and "d1": pairs, or triples as well. Triples take k(k-1)/2 counts of all features
        in place of k, and have no bounds.
    relevance : sequence or mapping of numbers, optional
        A score of 0 or more for each column, in their order, or by name or index: importances of a forest, SHAP
        values, the results of an earlier study. The scores take the place of the measured relevance; they are
        multiplied by one number, so that they sum to what the measured ones above 0 sum to. Pair terms stay as
        measured. Columns that cannot be chosen need no score.
    include, exclude : list of str or int
        Features that are in every subset, and in none, by name or index.
    feature_groups : list of lists, or mapping, optional
        Groups that are chosen whole or not at all, such as the columns of one coded
        variable. A mapping may have two keys, "all_or_none" for such groups and
        "at_most_one" for groups of which at most one member may be chosen. Constant
        features leave their groups.
    costs : mapping from features to numbers, or n numbers, optional
        What each feature costs; 0 for those not in the mapping.
    budget : float, optional
        What the subset may cost in total; 1e-12 of it more counts as rounding.
    max_shared : float, optional
        How much of its information a selected feature may share with another selected one, 0 to 1:
        I(Xi;Xj) / min(H(Xi), H(Xj)) is at most this in every allowed subset. Features of one all-or-none group may
        share more.
    copies : {"first", "all"}
        Whether one of several columns that say the same can be chosen, or each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, subset_problem
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> terms = information_terms(X, X[:, 0] ^ X[:, 1], correction="none")
    >>> problem = subset_problem(terms, k=2, criterion="jmi")
    >>> round(problem.value([0, 1]), 6)  # XOR: nothing alone, one bit together
    0.693147
    """
    options = Searching(beta=beta, gamma=gamma, order=order, relevance=relevance).problem_options
    return unsized_problem(terms, criterion, constraints=Constraints(**constraints), **options).of_size(k)
