"""What a result says besides its value and bound: its run and search, ties, decided features."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import zip_longest

import numpy as np

from certselect.certificate import tolerance
from certselect.certificate.proof import Replayed, certain
from certselect.criteria import SubsetProblem
from certselect.errors import InvalidInput
from certselect.evaluation.carried import CarriedInformation
from certselect.evaluation.leaks import LEVELS, ORDER, find_leaks
from certselect.information import InformationTerms
from certselect.names import shown
from certselect.results.claims import can_value_ties
from certselect.results.columns import take_columns
from certselect.results.result import Result, measure_carried
from certselect.results.size_choice import SizeChoice, best_choice, counted_splits, mean_scores, standard_errors
from certselect.results.size_rule import SizeRule
from certselect.results.wording import copy_decisions, in_words, same_decisions, why
from certselect.search.completion import values_along
from certselect.search.registry import AUTO_CHOICES, is_auto, known_strategy
from certselect.search.selection import INTERRUPTED, Selection
from certselect.search.strategy import Strategy
from certselect.settings import Settings
from certselect.table import StreamedTable, Table
from certselect.table.streams.streamed_table import FEWEST_ROWS


def is_allowed(indices: Iterable[int], problem: SubsetProblem, *, of_any_number: bool = False) -> bool:
    """Whether these are different columns that may be chosen together.

    Some searches can be asked not to bring what they drew to the size; then it is `of_any_number`.
    """
    listed = [int(i) for i in indices]
    chosen = set(listed)
    candidates = problem.candidates  # ascending
    places = np.searchsorted(candidates, listed)
    if len(chosen) != len(listed) or not (candidates[np.minimum(places, len(candidates) - 1)] == listed).all():
        return False
    right_size = len(chosen) == problem.k or problem.any_size or of_any_number
    return right_size and (problem.constraints is None or problem.constraints.allows(chosen))


def about_the_run(result: Result, terms: InformationTerms, problem: SubsetProblem) -> Iterator[str]:
    """What is said of the run twice, and not the same."""
    origin = result.provenance
    seed = result.settings.searching.to_dict()["random_state"]
    if origin.seed != seed:
        yield f"the seed is {shown(origin.seed)}, but {shown(seed)} was asked for"
    made = (*terms.decisions, *copy_decisions(problem))
    if not same_decisions(made, origin.decisions):
        names = terms.feature_names
        here, there = (in_words(some, names) for some in (made, origin.decisions))
        told = next((pair for pair in zip_longest(there, here, fillvalue="nothing") if pair[0] != pair[1]), ("", ""))
        yield f"the table's columns were not taken as is said: {shown(told[0])}, but {shown(told[1])}"
    if result.size_rule is not None:
        yield from _about_the_rule(result.size_rule, result.selection, problem)
    if result.choice is not None:
        yield from _about_the_size(result.choice, result.selection.k)
        yield from _about_the_combination(result.choice, result.settings)


def about_the_target(
    result: Result, table: Table | StreamedTable, terms: InformationTerms, problem: SubsetProblem
) -> Iterator[str]:
    """What the features are said to carry and does not follow from the table, and leaks that are not there."""
    selection, claim = result.selection, result.carried
    in_memory = isinstance(table, Table)
    if claim is not None:
        found = measure_carried(selection.indices, problem, terms, take_columns(table, selection.indices))
        # Of many rows in blocks some are counted, never fewer than that, and of another number of rows nothing follows.
        counted_here = in_memory and terms.coded is not None
        if found is None or (counted_here and not _possible_rows(claim.n_samples, found.n_samples)):
            yield "what the features carry was not counted in this table"
        elif found.n_samples == claim.n_samples and not _same_carried(found, claim):
            yield f"the features are said to carry {claim.share:.4g} of the target's information, not {found.share:.4g}"
    leaks = find_leaks(table, terms, problem)
    for shown_by in (LEVELS, ORDER):
        here, there = ({leak.column for leak in some if leak.shown_by == shown_by} for some in (leaks, result.leaks))
        comparable = shown_by == LEVELS or in_memory
        # Files of earlier versions know of no leaks, and of an order some rows may have shown too little.
        if comparable and (there - here or (claim is not None and shown_by == LEVELS and here - there)):
            yield "the columns that are said to determine the target are not those that do"


def _possible_rows(claimed: int, there: int) -> bool:
    """Whether so many rows may have been counted of a table: all of them, or those that are kept of blocks."""
    return claimed == there or FEWEST_ROWS <= claimed < there


def _same_carried(here: CarriedInformation, there: CarriedInformation) -> bool:
    numbers = ("information", "chance", "target_entropy")
    same = all(math.isclose(getattr(here, name), getattr(there, name), rel_tol=1e-9, abs_tol=1e-12) for name in numbers)
    same = same and math.isclose(here.p_value, there.p_value, rel_tol=1e-6)  # tiny ones too
    whole = ("counted", "n_chosen", "n_considered")
    return same and all(getattr(here, name) == getattr(there, name) for name in whole)


def _about_the_rule(rule: SizeRule, selection: Selection, problem: SubsetProblem) -> Iterator[str]:
    """What does not follow from the rule's information, which is believed, and from the columns of the table."""
    included = 0 if problem.constraints is None else len(problem.constraints.include)
    by_rule = isinstance(rule.asked, str)
    if rule.usable != len(problem.candidates):
        yield f"{len(problem.candidates)} columns are usable, not {rule.usable}"
    elif rule.n_included != (included if by_rule else 0):
        yield f"{included} features are included, not {rule.n_included}"
    elif bool(rule.information) != (by_rule and rule.by_p_values is None):
        yield "information is given for a share of the columns, or none for a size that follows from it"
    elif selection.any_size or rule.size(problem) != selection.k:
        yield f"by the rule that is named, {rule.size(problem)} features had to be chosen, not {selection.k}"


def _about_the_size(choice: SizeChoice, k: int) -> Iterator[str]:
    """What does not follow from the scores in the splits, which are believed: means, their errors, the size."""
    if not len(choice.split_scores):
        yield "a size was chosen by no split"
        return
    counted = counted_splits([tried.split_scores for tried in choice.combinations])
    with np.errstate(all="ignore"):  # sums of hostile numbers overflow
        means = np.array([mean_scores(tried.split_scores[counted]) for tried in choice.combinations])
        errors = np.array([standard_errors(tried.split_scores[counted]) for tried in choice.combinations])
        for name, here, there in (
            ("mean scores", means, [tried.mean_scores for tried in choice.combinations]),
            ("standard errors", errors, [tried.standard_errors for tried in choice.combinations]),
        ):
            if not np.allclose(here, there, rtol=1e-9, atol=1e-12, equal_nan=True):
                yield f"the {name} are not those of the scores in the splits"
                return
        combination, place = best_choice(means, errors, one_standard_error=choice.one_standard_error)
    # A file has null for an infinite score too, so that a size without a mean may have been the best.
    if np.isnan(means[choice.chosen, choice.sizes == k]).any():
        return
    rule = "by these scores and the rule that is named"
    if int(choice.sizes[place]) != k:
        yield f"{rule}, {choice.sizes[place]} features had to be chosen, not {k}"
    elif combination != choice.chosen:
        yield f"{rule}, combination {combination} had to be chosen, not {choice.chosen}"


def _about_the_combination(choice: SizeChoice, settings: Settings) -> Iterator[str]:
    """Settings of the chosen combination that are not those of the result, and combinations that are none."""
    stated = {name: value for group in settings.to_dict().values() for name, value in group.items()}
    for name, value in choice.combinations[choice.chosen].settings.items():
        if stated[name] != value:
            yield f"{name}={shown(value)} was chosen, but the settings say {shown(stated[name])}"
    every = [tried.settings for tried in choice.combinations]
    if len({frozenset(each) for each in every}) > 1 or any(each in every[:i] for i, each in enumerate(every)):
        yield "the combinations are not different values of the same settings"


def about_subsets(result: Result, problem: SubsetProblem, replayed: Replayed | None) -> Iterator[str]:
    """Ties that are none, and features called decided that are not."""
    selection = result.selection
    sized = problem.of_size(len(selection.indices)) if problem.any_size else problem
    yield from _about_ties(selection, sized)
    into, out = (set(), set()) if replayed is None else certain(replayed.decisions, sized.value(selection.indices))
    for claim, names, proven in (("every", selection.proven_in, into), ("no", selection.proven_out, out)):
        if not names:
            continue
        columns = sized.units.columns(sized.reduced.units[sorted(proven)])
        unproven = sorted(set(names) - {sized.feature_names[i] for i in columns})
        if unproven:
            yield f"{shown(unproven[0])} is called proven to be in {claim} subset as good, which nothing shows"


def _about_ties(selection: Selection, problem: SubsetProblem) -> Iterator[str]:
    """Ties are subsets worth as much as the answer, which is the lexicographically first of them."""
    ties = selection.ties
    if not ties:
        return
    if not can_value_ties(ties):
        yield f"{len(ties)} ties are listed, more than can be valued again"
        return
    if len(set(ties)) < len(ties):
        yield "a tie is listed twice"
        return
    if tuple(sorted(selection.indices.tolist())) != min(ties):
        yield "the chosen features are not the first of the ties"
        return
    same = tolerance(problem, selection.indices)
    for tie in ties:
        if not is_allowed(tie, problem):
            yield f"a tie is claimed of {shown(list(tie))}, which may not be chosen together"
            return
        value = problem.value(tie)
        if not abs(value - selection.objective) <= same:
            yield f"a tie is claimed of {shown(list(tie))}, which are worth {value!r}, not {selection.objective!r}"
            return


# Diary of a search: scores follow from the order of choice, or lead to the value of the answer.
_SAME = 1e-9
# Values on the way may come from a matrix in single precision.
_SINGLE = 1e-5


def about_the_search(result: Result, problem: SubsetProblem) -> Iterator[str]:
    """What is said of the search twice and not the same, and scores that do not lead to the answer."""
    searching, selection = result.settings.searching, result.selection
    asked = searching.to_dict()["strategy"].casefold()
    if selection.strategy not in (AUTO_CHOICES if is_auto(asked) else (asked,)):
        yield f"the strategy is {shown(selection.strategy)}, but {shown(asked)} was asked for"
        return
    strategy = known_strategy(selection.strategy)
    if strategy is not None:
        try:
            strategy.check_options(searching.all_options)
        except InvalidInput as error:
            yield f"the strategy has no such options: {why(error)}"
    if not math.isnan(selection.drawn_size):
        if strategy is None or not strategy.draws:
            yield f"{shown(selection.strategy)} draws no subsets, but a size of draws is given"
        elif not 0.0 <= selection.drawn_size <= problem.n_features:
            yield f"the subsets drawn cannot have had {selection.drawn_size:.6g} features on average"
    polished = searching.polish or (is_auto(asked) and problem.steps is None)
    kind = "" if strategy is None else strategy.scores
    if kind and not _leads_to_the_answer(kind, selection, problem, polished=polished):
        yield "the scores are not those that lead to these features"


def is_known(result: Result) -> bool:
    """Whether the strategy is registered here, or was passed as a record: else nothing is known of its scores."""
    asked = result.settings.searching.strategy
    return isinstance(asked, Strategy) or known_strategy(result.selection.strategy) is not None


def _leads_to_the_answer(kind: str, selection: Selection, problem: SubsetProblem, *, polished: bool) -> bool:
    """Whether scores of this kind (`Strategy.scores`) can be those of the search that gave the answer."""
    scores = selection.scores
    if not all(map(math.isfinite, scores)):
        return False
    interrupted = selection.status == INTERRUPTED
    slack = _SAME * _sum_of_terms(problem, selection)
    if kind == "ranking" and not polished:
        along = list(values_along(problem.units, _ranked_units(problem, selection)))
        # What an interrupted search was filled up with has no scores.
        whole = len(scores) == len(along) or (interrupted and len(scores) < len(along))
        return whole and all(abs(here - there) <= slack for here, there in zip(along, scores, strict=False))
    if interrupted:
        return True
    if not scores:
        return kind == "removals"  # nothing had to be removed
    value = selection.objective
    if kind == "steps":
        return any(abs(score - value) <= slack for score in scores)
    most = value + _SINGLE / _SAME * slack
    return abs(scores[-1] - value) <= slack and (kind != "improving" or max(scores) <= most)


def _ranked_units(problem: SubsetProblem, selection: Selection) -> list[int]:
    """The units of the chosen columns, in the order of choice."""
    units = problem.units
    unit_of = {column: unit for unit in units.units_of(selection.indices) for column in units.columns([unit])}
    return list(dict.fromkeys(unit_of[int(column)] for column in selection.indices))


def _sum_of_terms(problem: SubsetProblem, selection: Selection) -> float:
    """The terms of the answer's value without their signs: what rounding is relative to."""
    if problem.steps is not None:
        return problem.magnitude(selection.indices)
    chosen = selection.indices
    shared = sum(float(np.abs(problem.pair_row(int(i))[chosen]).sum()) for i in chosen)
    weights = max(abs(problem.weight(size)) for size in (1, 2, max(2, len(chosen))))
    return float(np.abs(problem.linear[chosen]).sum()) + weights * shared
