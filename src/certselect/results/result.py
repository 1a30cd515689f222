"""Result: what was asked, what was found, what is proven about it, and where it came from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.certificate import Certificate
from certselect.criteria import SubsetProblem
from certselect.criteria.column_constraints import ColumnConstraints
from certselect.criteria.pairs import TermPairs
from certselect.criteria.shared import SharedLimit
from certselect.evaluation.feature_report import feature_report
from certselect.evaluation.feature_report import in_words as reasons_in_words
from certselect.information import InformationTerms
from certselect.results.columns import TakenColumns
from certselect.results.provenance import Provenance, fingerprint
from certselect.results.size_choice import SizeChoice
from certselect.results.size_rule import SizeRule
from certselect.results.wording import in_words
from certselect.search import Selection
from certselect.settings import Settings
from certselect.table.output import make_frame

if TYPE_CHECKING:
    from certselect.evaluation.sizes import ValueCurve
    from certselect.results.verifying import Verification

_NAMES_SHOWN = 6
_DECISIONS_SHOWN = 6


@dataclass(frozen=True, eq=False)
class Result:
    """A chosen subset that can be kept, checked and shown.

    Selectors have it as `result_`, `choose_subset` returns it, and the command line writes
    it to a file. `save` and `load_result` keep it, `verify` proves its claims again from the
    table, `explain` says why each feature was chosen or left out.

    Attributes
    ----------
    settings : Settings
        What was asked for.
    selection : Selection
        The chosen features, their value and the proof.
    provenance : Provenance
        Which table, which versions, how much time.
    choice : SizeChoice or None
        How the number of features was chosen, if that was done by cross-validation.
    terms : InformationTerms or None
        What was measured; None if the result was read from a file, which knows no table.
        A result that was pickled keeps the pair terms of the chosen features only.
    library : str or None
        That of the data frame the features were chosen from, if it was one.
    saved_explanation : mapping or None
        The columns of `explain`, if the result was read from a file.
    size_rule : SizeRule or None
        How the number of features came about, in words and numbers, if it was asked for as a
        fraction or as "auto".
    columns : TakenColumns or None
        Kinds and gaps of the columns, and how the values of the chosen ones lie in each class, for
        reports; None if the result was read from a file.
    """

    settings: Settings
    selection: Selection
    provenance: Provenance
    choice: SizeChoice | None = None
    terms: InformationTerms | None = None
    library: str | None = None
    saved_explanation: Mapping[str, Sequence[Any]] | None = None
    size_rule: SizeRule | None = None
    columns: TakenColumns | None = None

    @property
    def problem(self) -> SubsetProblem | None:
        """The problem that was solved; None if the result was read from a file."""
        return self.selection.problem

    @property
    def certificate(self) -> Certificate | None:
        """What shows the bound, to be checked again; None without one."""
        return self.selection.certificate

    @property
    def statement(self) -> str:
        """What is proven, in words; empty if nothing is."""
        return self.selection.statement

    @property
    def about_proof(self) -> str:
        """That the search's proof grew too large to keep, and what a file shows then; empty if it did not."""
        if self.certificate is None or not self.certificate.proof_too_large:
            return ""
        kept = "the bound of the relaxation alone, which multipliers show"
        return f"The search proved more, by a proof that was too large to keep: a file claims {kept}."

    @property
    def names(self) -> tuple[str, ...]:
        """The chosen features."""
        return self.selection.names

    @property
    def indices(self) -> np.ndarray:
        """Their columns in the table."""
        return self.selection.indices

    @cached_property
    def fingerprint(self) -> str:
        """Tells the table from others by what was measured of it; see `Provenance`."""
        if self.terms is None:
            return self.provenance.fingerprint
        return fingerprint(self.terms, self.selection.indices)

    @cached_property
    def explanation(self) -> Mapping[str, Sequence[Any]]:
        """The columns of `explain`: a list for each, with an entry for every feature."""
        saved = self.saved_explanation
        if saved is not None:
            given = self.settings.searching.relevance is not None
            why = reasons_in_words(saved, self.provenance.decisions, self.selection.unit, given=given)
            return {**saved, "why": why}
        assert self.terms is not None, "a result has its terms or a saved explanation"
        return feature_report(self.selection, self.terms)

    def explain(self, library: str | None = None) -> Any:
        """Why was each feature chosen or left out? A data frame with one row for each.

        Its columns say how much information the feature carries about the target and how much chance
        alone would give it, which chosen feature shares most with it and how much of its information
        that is, what it is worth in the subset, what the subset would lose by its best exchange,
        whether that is proven, and why it was chosen or left out in words. See
        `certselect.evaluation.feature_report`.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            That of the frame the features were chosen from if not given; for arrays pandas or polars,
            whichever is installed, or else a `ReportTable`, which reads well and has the columns as lists.
        """
        return make_frame(self.explanation, library or self.library)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dictionaries, lists, numbers and text: what `save` writes."""
        from certselect.results.format import as_dict

        return as_dict(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Keep the result in a JSON file, whole or not at all; `load_result` reads it again.

        The format is described in docs/result-format.md.
        """
        from certselect.results.files import write_result

        write_result(self, path)

    def to_html(self, path: str | os.PathLike[str], *, curve: ValueCurve | None = None) -> None:
        """Write a report that people can read: one HTML file that needs no network.

        It shows what was asked and chosen, the certificate, what each feature is worth, what the chosen
        features share, what was left out and why, how each column was taken, and how to repeat it; see
        docs/report.md. What a result from a file does not know is left out: `with_table` brings it back.

        Parameters
        ----------
        path : path
            The file is replaced whole, or left as it was if that fails.
        curve : ValueCurve, optional
            From `value_curve`, to show value and bound by the number of features.
        """
        from certselect.report import write_report
        from certselect.results.facts import result_facts

        write_report(result_facts(self, curve), path)

    def _repr_html_(self) -> str:
        """What notebooks show: the certificate and the chosen features."""
        from certselect.report import report_card
        from certselect.results.facts import result_facts

        return report_card(result_facts(self))

    def with_table(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, memory: int | str | None = None
    ) -> Result:
        """This result with the table it was made from, measured again: what a report from a file needs.

        Takes what `verify` takes, and is refused where that finds a claim that does not hold.
        """
        from certselect.results.verifying import Given, take_up

        return take_up(self, Given(X, y, sample_weight, memory))

    def verify(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, memory: int | str | None = None
    ) -> Verification:
        """Is what this result claims true of that table?

        Reads and measures the table again as the settings say, values the subset and proves
        the bound again. Solvers are not run, and no part of the result is trusted.

        Parameters
        ----------
        X : path, array, sparse matrix, data frame or Table
            The table. A file or frame that holds the target under the name it had needs no y.
        y : array, series, frame, or name of a column
        sample_weight : array, optional
            The weights the features were chosen with, if they came as an array.
        memory : int or str, optional
            Bytes that a table read in blocks may use, such as "2GB"; a quarter of what is free if not given.
            It has no effect on the verdict.
        """
        from certselect.results.verifying import Given, check

        return check(self, Given(X, y, sample_weight, memory))

    def __repr__(self) -> str:
        chosen = self.selection
        names = ", ".join(map(repr, chosen.names[:_NAMES_SHOWN]))
        more = len(chosen.names) - _NAMES_SHOWN
        lines = [
            f"Result: {len(chosen.names)} of {self.provenance.n_features} features, "
            + f"{chosen.criterion} = {chosen.objective:.6g} {chosen.unit}".rstrip()
            + f", by {chosen.strategy} ({chosen.status})",
            f"  {names}" + (f" and {more} more" if more > 0 else ""),
        ]
        made = in_words(self.provenance.decisions, self.explanation["feature"])
        more = len(made) - _DECISIONS_SHOWN
        made = made[:_DECISIONS_SHOWN] + ([f"and {more} more decisions"] if more > 0 else [])
        said = [
            chosen.about_bound(),
            self.about_proof,
            "" if self.size_rule is None else self.size_rule.statement,
            *made,
        ]
        return "\n".join([*lines, *(f"  {sentence}" for sentence in said if sentence)])

    def __getstate__(self) -> dict[str, Any]:
        """Without the table: of its pair terms those of the chosen features are kept."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("explanation", "fingerprint")}
        problem = self.problem
        if self.terms is None or problem is None:
            return state
        if problem.steps is not None:
            steps = problem.steps.keeping(self.selection.indices.tolist())
            small = replace(problem, pairs=steps, constraints=_kept(problem.constraints, steps.terms))
            return state | {"terms": steps.terms, "selection": replace(self.selection, problem=small)}
        pair = problem.criterion.pair
        kept = self.terms.keeping(self.selection.indices, {"redundancy", pair or "redundancy"})
        pairs = None if pair is None else TermPairs(kept, pair)
        small = replace(problem, pairs=pairs, constraints=_kept(problem.constraints, kept))
        return state | {"terms": kept, "selection": replace(self.selection, problem=small)}


def _kept(constraints: ColumnConstraints | None, terms: InformationTerms) -> ColumnConstraints | None:
    """The constraints without the table."""
    if constraints is None or constraints.shared is None:
        return constraints
    return replace(constraints, shared=SharedLimit(constraints.shared.most, terms))
