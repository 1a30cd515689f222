"""InformationTerms: the information of each feature about the target, and of each pair of features about each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from certselect.coding.tiles import slices
from certselect.errors import InvalidInput, keyword
from certselect.information.derived import PairKind, PairTerm, derived_term
from certselect.memory import large_array
from certselect.progress import report
from certselect.table.model import Decision

if TYPE_CHECKING:
    from certselect.coding import CodedTable, Coding, SparseCodedTable
    from certselect.information.chance import ChanceInformation
    from certselect.information.kernels.joint_cells import JointCells


Families = tuple[tuple[int, ...], ...]
SingleKind = Literal["relevance", "cautious_relevance", "impurity_gain"]
IMPURITY_GAIN: SingleKind = "impurity_gain"
OVERLAP = "overlap"
# Standard deviations of chance that a cautious relevance is less, besides the mean.
_CAUTION = 2.0
_ROWS_AT_ONCE = 256  # of a matrix that may be on disk


BOTH = ("redundancy", "conditional_redundancy")


class PairTerms:
    """A measure's pair terms of a table, by the row or all at once. Subclasses write `measured`."""

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        """Pair terms of some features with all, (len(features), n), or of all pairs, (n, n): one array for each kind.

        `kinds` is one of "redundancy", "conditional_redundancy" and "interaction" alone, or `BOTH`, the first two,
        which share their counts. The caller may change the arrays.
        """
        raise NotImplementedError

    def rows(self, kind: str, features: np.ndarray) -> np.ndarray:
        """Pair terms of some features with all, (len(features), n)."""
        return self.measured((kind,), features)[0]

    def matrix(self, kind: str) -> np.ndarray:
        """All pair terms of one kind, (n, n)."""
        return self.measured((kind,))[0]

    def both(self, features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        """Redundancy and conditional redundancy, of some features with all or of all pairs."""
        return self.measured(BOTH, features)

    def overlap(self, features: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray | None]:
        """I(Xi;Xj) - I(Xi;Xj|C), each less what chance gives and not below 0; and the first where it comes along.

        The interaction, where a measure's terms fit together without that.
        """
        return self.measured(("interaction",), features)[0], None


class LessChance(Protocol):
    """The relevance of single features less what chance gives."""

    @property
    def beyond_chance(self) -> np.ndarray:
        """I(Xi;C) as estimated, less the mean of a shuffled target (n,): below 0 where it is less than that."""
        ...

    @property
    def deviation(self) -> np.ndarray:
        """The standard deviation of I(Xi;C) for a shuffled target, (n,)."""
        ...


class NotKept(PairTerms):
    """Pair terms of a table that is no longer there."""

    def measured(self, kinds: tuple[str, ...], features: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        raise _table_gone()


def _table_gone() -> InvalidInput:
    return InvalidInput(
        "a question about pairs of features of a table that was not saved with the result",
        "one about the chosen features: only their pair terms are saved",
        "Measure the table again with information_terms, or fit again.",
    )


@dataclass(frozen=True, eq=False)
class InformationTerms:
    """Mutual-information terms of a table, in nats, by whichever measure.

    Rows of the pair matrices are computed when first asked for, so a forward
    search over 20 000 features never builds a 20 000 x 20 000 matrix. Whole matrices that take
    more than a quarter of the free memory are kept in temporary files, mapped (`memory.large_array`).

    What "plugin" keeps of a table of m rows and n columns is a byte for each cell (two or four beyond
    256 levels); a bit for each cell and each of its levels but one, up to 64 levels; and 8 n bytes
    (4 n in float32) for each feature whose pairs were asked for. So forward selection of k features
    takes m n (1 + (levels - 1) / 8) + 8 k n bytes beside the table; polish, while it lasts, some 30 k n more.

    Attributes
    ----------
    relevance : ndarray (n,)
        I(Xi;C).
    entropy : ndarray (n,)
        H(Xi).
    target_entropy : float
        H(C).
    n_samples : int
    feature_names : tuple of str
    levels : ndarray of int (n,)
        How many levels each feature was coded into; 0 where it was measured as a number.
    constant : ndarray of bool (n,)
        Features that take one value only; no search may choose them.
    settings : dict
        The settings of `information_terms` that give these terms again, but for the table.
    picked : str
        What `measure="auto"` chose, and why; empty if it was not asked.
    decisions : tuple of Decision
        What was made of columns that was not asked for: identifiers left out, dates measured,
        whole numbers of many values cut.
    """

    relevance: np.ndarray
    entropy: np.ndarray
    target_entropy: float
    n_samples: int
    feature_names: tuple[str, ...]
    levels: np.ndarray
    constant: np.ndarray
    pairs: PairTerms
    coding: Coding | None = None
    by_chance: ChanceInformation | None = None
    less_chance: LessChance | None = None
    cells: JointCells | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    picked: str = ""
    decisions: tuple[Decision, ...] = ()
    find_copies: Callable[[], Families] = tuple
    seconds: dict[str, float] = field(default_factory=dict)
    _rows: dict[PairKind, dict[int, np.ndarray]] = field(default_factory=dict, repr=False)
    _derived: dict[PairKind, np.ndarray] = field(default_factory=dict, repr=False)
    _given: dict[frozenset[int], np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def n_features(self) -> int:
        return len(self.relevance)

    @cached_property
    def copies(self) -> Families:
        """Families of columns that say the same, two or more each: looked for when first asked about."""
        return self.find_copies()

    @cached_property
    def redundancy(self) -> np.ndarray:
        """I(Xi;Xj), all pairs (n, n); the diagonal is H(Xi)."""
        return self.pairs.matrix("redundancy")

    @cached_property
    def conditional_redundancy(self) -> np.ndarray:
        """I(Xi;Xj|C), all pairs (n, n); the diagonal is H(Xi|C). Brings `redundancy` along, of the same counts."""
        redundancy, conditional = self.pairs.measured(BOTH)
        self.__dict__.setdefault("redundancy", redundancy)
        return conditional

    @cached_property
    def interaction(self) -> np.ndarray:
        """I(Xi;Xj;C) = I(Xi;Xj) - I(Xi;Xj|C), negative for synergy; the diagonal is I(Xi;C).

        Where I(Xi;Xj|C) would be negative by the error of an estimate, it is 0, and this is what it is.
        """
        # Counted on its own, without the other two, which large tables have no room for.
        return self.pairs.matrix("interaction")

    @cached_property
    def overlap(self) -> np.ndarray:
        """What two features share about the target, all pairs (n, n): redundancy less conditional redundancy.

        Unlike `interaction`, each of the two is less what chance gives and not below 0 before they are subtracted, and
        the result is not limited by the relevance of the two features: noise is charged as often as it is rewarded.
        """
        overlap, redundancy = self.pairs.overlap()
        if redundancy is not None:
            self.__dict__.setdefault("redundancy", redundancy)
        return overlap

    @cached_property
    def has_entropies(self) -> bool:
        """Whether all features are levels: numbers that were not cut have no entropy that a part could be taken of."""
        return bool((self.levels > 0)[~self.constant].all()) and bool(np.isfinite(self.entropy).all())

    @cached_property
    def conditional_entropy(self) -> np.ndarray:
        """H(Xi|C), (n,)."""
        return np.maximum(self.entropy - self.relevance, 0.0)

    @property
    def joint_relevance(self) -> np.ndarray:
        """I(Xi,Xj;C) = I(Xi;C) + I(Xj;C) - I(Xi;Xj;C), all pairs (n, n)."""
        return self.relevance[:, None] + self.relevance[None, :] - self.interaction

    @cached_property
    def chance(self) -> np.ndarray:
        """What a feature of these levels would be expected to tell about a shuffled target, (n,).

        The exact mean of I(Xi;C) over all orders of the rows of the target (expected mutual information),
        computed when first asked for. NaN where it is not known: for other measures than counts, and
        other corrections than "none" and "chance", which subtracts it.
        """
        return self._unknown if self.by_chance is None else self.by_chance.expected

    @cached_property
    def chance_p_values(self) -> np.ndarray:
        """How probable as much information about a shuffled target is, (n,); NaN where that is not known.

        Of each feature by itself: the best of many is above chance more often.
        """
        return self._unknown if self.by_chance is None else self.by_chance.p_values

    @property
    def coded(self) -> CodedTable | SparseCodedTable | None:
        """The codes that were counted; None of large tables in blocks, of other measures and of saved terms."""
        counted = None if self.by_chance is None else self.by_chance.coded
        return getattr(self.cells, "coded", None) if counted is None else counted

    @property
    def _unknown(self) -> np.ndarray:
        return np.full(self.n_features, np.nan)

    def single(self, kind: SingleKind) -> np.ndarray:
        """What each feature is worth by itself, (n,): information, or the Gini impurity it lowers."""
        if kind == "cautious_relevance":
            return self.cautious_relevance
        return self.relevance if kind == "relevance" else self.own_impurity_gain

    @cached_property
    def cautious_relevance(self) -> np.ndarray:
        """I(Xi;C) less its mean and two standard deviations for a shuffled target, (n,): negative where it is less.

        Independent columns of many levels vary more by chance than those of few. Less two standard deviations, the
        best of them is not better than the best of few levels. For measures and corrections whose chance level is not
        known, it is the relevance.
        """
        known = self.less_chance or self.by_chance
        return self.relevance if known is None else known.beyond_chance - self.allowance

    @cached_property
    def allowance(self) -> np.ndarray:
        """The allowance for chance in the cautious relevance: two standard deviations, (n,); 0 where not known."""
        known = self.less_chance or self.by_chance
        return np.zeros(self.n_features) if known is None else _CAUTION * known.deviation

    @cached_property
    def own_impurity_gain(self) -> np.ndarray:
        """G(Xi;C) = sum of p(x,c)^2 / p(x) - sum of p(c)^2, (n,): by how much Xi lowers the Gini impurity of C."""
        return self._counted_impurity().impurity_gain(None)

    def relevance_given(self, features: Iterable[int], among: np.ndarray | None = None) -> np.ndarray:
        """I(Xi;C|all these features), (n,): what each feature, or each of some, tells that these do not.

        From the joint table of all of them, which few rows fill thinly: the more features, the larger the bias. Kept,
        like rows of pairs, where all are asked about.
        """
        together = frozenset(int(i) for i in features)
        known = self._given.get(together) if together else self.relevance
        if known is not None:
            return known if among is None else known[among]
        cells = self._counted_cells("I(Xi;C|several features)")
        asked = np.arange(self.n_features) if among is None else among
        found = cells.information_given(sorted(together), asked)
        if among is None:
            self._given[together] = found
        return found

    def _counted_cells(self, wanted: str) -> JointCells:
        if isinstance(self.pairs, NotKept):
            raise _table_gone()
        if self.cells is None:
            by_chance = self.settings.get("correction") == "chance"
            counted = self.settings.get("measure", "another") == "plugin"
            measure = "" if counted else keyword("measure", self.settings.get("measure", "another"))
            plugin, chance = keyword("measure", "plugin"), keyword("correction", "chance")
            got = " and ".join(part for part in (measure, chance if by_chance else "") if part)
            expected = plugin if measure else "another correction: what chance gives is known of pairs only"
            remedy = " and ".join([plugin] * bool(measure) + [keyword("correction", "none")] * by_chance)
            raise InvalidInput(f"a criterion of {wanted} with {got}", expected, f"Pass {remedy}.")
        return self.cells

    def _counted_impurity(self) -> JointCells:
        correction = self.settings.get("correction", "none")
        if correction != "none":
            raise InvalidInput(
                f"a criterion of the Gini impurity with {keyword('correction', correction)}",
                f"{keyword('correction', 'none')}: the corrections are those of entropies",
                f"Pass {keyword('correction', 'none')}, or choose a criterion of information, such as 'distinct'.",
            )
        return self._counted_cells("the Gini impurity")

    def shared_part(self, feature: int) -> np.ndarray:
        """How much of each feature's information is in this one, 0 to 1 (n,).

        For levels the share of its entropy, I(Xi;Xj) / H(Xi); for numbers, whose entropy has
        no end, 1 - exp(-2 I), which is the squared correlation where they are Gaussian.
        """
        shared = self.pair_row("redundancy", feature).astype(np.float64)
        levels = self.levels > 0
        part = -np.expm1(-2.0 * shared)
        part[levels] = np.divide(shared, self.entropy, out=np.zeros_like(shared), where=self.entropy > 0)[levels]
        return np.clip(part, 0.0, 1.0)

    def keeping(self, features: Iterable[int], kinds: Iterable[PairKind]) -> InformationTerms:
        """The same without the table: the terms of all single features, and pair rows of these kinds of some.

        What a result needs to explain itself, small enough to be saved or sent to another process. Of a term that is
        made of others, these are kept as well.
        """
        kinds = dict.fromkeys(kinds)
        kinds |= dict.fromkeys(need for kind in kinds for need in getattr(derived_term(kind), "needs", ()))
        rows = {kind: {int(i): np.array(self.pair_row(kind, int(i))) for i in features} for kind in kinds}
        kept = replace(
            self,
            pairs=NotKept(),
            by_chance=None,
            less_chance=None,
            cells=None,
            find_copies=tuple,
            _rows=rows,
            _derived={},
            _given={},
        )
        found = ("copies", "chance", "chance_p_values", "cautious_relevance", "allowance")
        kept.__dict__.update({name: getattr(self, name) for name in found})
        return kept

    def pair_matrix(self, kind: PairKind) -> np.ndarray:
        """All pair terms of a kind: "redundancy", "conditional_redundancy", "interaction", "impurity_gain" or a derived
        one (`derived.py`).
        """
        derived = derived_term(kind)
        if derived is None and kind != IMPURITY_GAIN:
            return getattr(self, str(kind))
        if kind not in self._derived:
            self._derived[kind] = self._all_impurity_gains() if derived is None else self._all_derived(derived)
        return self._derived[kind]

    def _all_derived(self, derived: PairTerm) -> np.ndarray:
        # The last of those needed brings the first along, of the same counts.
        needed = [self.pair_matrix(name) for name in reversed(derived.needs)][::-1]
        n, dtype = self.n_features, needed[0].dtype if needed else np.dtype(np.float64)
        whole = large_array((n, n), dtype)
        for rows in slices(n, _ROWS_AT_ONCE):
            some = np.arange(rows.start, rows.stop)
            whole[rows] = derived.rows(self, some, [matrix[rows] for matrix in needed])
        return whole

    def _all_impurity_gains(self) -> np.ndarray:
        gains = large_array((self.n_features, self.n_features), np.float64)
        for i in range(self.n_features):
            gains[i] = self._counted_impurity().impurity_gain(i)
            report("pairs", i + 1, self.n_features)
        return gains

    def pair_row(self, kind: PairKind, feature: int) -> np.ndarray:
        """Pair terms of one feature with all (n,); kept, so asking twice costs once."""
        known = self._rows.setdefault(kind, {})
        row = known.get(feature)
        if row is None:
            if self.has_matrix(kind):
                return self.pair_matrix(kind)[feature]
            row = known[feature] = self._new_row(kind, feature)
        return row

    def known_rows(self, kind: PairKind) -> dict[int, np.ndarray]:
        """The pair terms of one kind that are kept already, by feature."""
        return self._rows.setdefault(kind, {})

    def has_matrix(self, kind: PairKind) -> bool:
        """Whether all pair terms of a kind are there already."""
        return kind in self._derived or (isinstance(kind, str) and kind in self.__dict__)

    def counted_rows(self, kind: PairKind, features: np.ndarray) -> np.ndarray:
        """Pair terms of some features with all, (len(features), n), counted anew and not kept."""
        if kind == IMPURITY_GAIN:
            return np.array([self._counted_impurity().impurity_gain(int(i)) for i in features])
        derived = derived_term(kind)
        if derived is None:
            return self._measured_rows((str(kind),), features)[0]
        return derived.rows(self, features, self._measured_rows(derived.needs, features))

    def _new_row(self, kind: PairKind, feature: int) -> np.ndarray:
        """Pair terms of one feature with all (n,); what they are made of is kept, which explanations ask for next."""
        derived, one = derived_term(kind), np.array([feature])
        if kind == OVERLAP:
            overlap, redundancy = self.pairs.overlap(one)
            if redundancy is not None:
                self.known_rows("redundancy").setdefault(feature, redundancy[0])
            return overlap[0]
        if derived is None:
            if kind != IMPURITY_GAIN:
                return self.pairs.measured((str(kind),), one)[0][0]
            return self.counted_rows(kind, one)[0]
        if derived.needs == (OVERLAP,):
            return derived.rows(self, one, [self.pair_row(OVERLAP, feature)[None]])[0]
        if any(need not in self._rows or feature not in self._rows[need] for need in derived.needs):
            for need, rows in zip(derived.needs, self._measured_rows(derived.needs, one), strict=True):
                self.known_rows(need)[feature] = rows[0]
        return derived.rows(self, one, [self._rows[need][feature][None] for need in derived.needs])[0]

    def _measured_rows(self, kinds: tuple[str, ...], features: np.ndarray) -> list[np.ndarray]:
        if kinds[:2] != BOTH:
            return [self._measured_alone(kind, features) for kind in kinds]
        # These two are counted together, which takes no longer than the second of them alone.
        return [*self.pairs.measured(BOTH, features), *self._measured_rows(kinds[2:], features)]

    def _measured_alone(self, kind: str, features: np.ndarray) -> np.ndarray:
        return self.pairs.overlap(features)[0] if kind == OVERLAP else self.pairs.measured((kind,), features)[0]
