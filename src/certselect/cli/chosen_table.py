"""A result as a table that a person can read, and notes on what may surprise."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace

from certselect.cli.output import Output
from certselect.cli.sheets import Format, Sheet, print_sheet
from certselect.criteria import SubsetProblem
from certselect.criteria.stepwise import StepwiseCriterion
from certselect.evaluation.feature_report import SIGNIFICANCE
from certselect.information.registry import find_measure
from certselect.information.terms import InformationTerms
from certselect.results import Result
from certselect.results.wording import copy_decisions, in_words
from certselect.search.selection import INTERRUPTED, LIMIT, PROVEN_OPTIMAL, Selection
from certselect.table import StreamedTable
from certselect.table import Table as InputTable
from certselect.table.kinds import KEPT_OUT, LEFT_OUT, SKIPPED
from certselect.table.model import Decision

_MANY_LEVELS = 50
CHANCE = "chance"


def print_result(result: Result, out: Output) -> None:
    """Print what was chosen, what each feature adds to it, and what is proven."""
    if out.format is Format.JSON:
        return  # printed already, as a whole
    sheet = _sheet(result)
    print_sheet(sheet, out.format)
    selection = result.selection
    out.say(
        f"{len(selection.indices)} of {result.provenance.n_features} features, "
        + f"{selection.criterion} = {selection.objective:.6f} {selection.unit}".rstrip()
        + f", by {selection.strategy} ({selection.status}).",
        selection.about_bound("--certify"),
        result.about_proof,
        _decided(selection),
        "" if result.size_rule is None else result.size_rule.statement,
    )
    if out.talks:
        out.say(*_legend(result, CHANCE in sheet.columns))


def _sheet(result: Result) -> Sheet:
    """A row for each chosen feature."""
    told, chosen = result.explanation, result.selection.indices.tolist()
    by_chance = not math.isnan(told["chance"][0])
    columns = {"feature": [told["feature"][i] for i in chosen], "relevance": [told["relevance"][i] for i in chosen]}
    if by_chance:
        columns[CHANCE] = [told["chance"][i] for i in chosen]
    columns["shares most with"] = [told["closest"][i] or "" for i in chosen]
    columns["value"] = [told["worth"][i] for i in chosen]
    return Sheet(
        columns,
        stars=[told["p_value"][i] > SIGNIFICANCE for i in chosen],
        starred=CHANCE,
        spare=("shares most with", CHANCE),
    )


def _legend(result: Result, by_chance: bool) -> Iterator[str]:
    """What the columns of the table mean."""
    yield "relevance: information about the target, I(feature; target), in nats."
    if by_chance:
        less = ", which is subtracted already" if _terms(result).settings["correction"] == "chance" else ""
        yield (
            f"chance: what it would be on average if the target were shuffled{less}; "
            f"* it may be no more than that (p > {SIGNIFICANCE:g}, of the feature by itself)."
        )
    criterion = _problem(result).criterion
    pair = criterion.pair
    if isinstance(criterion, StepwiseCriterion):
        yield f"value: what it added to those above it: {criterion.formula}."
    elif criterion.alone(len(result.selection.indices)) == 0.0:
        yield "value: what it adds to the score: the sum of what it tells together with each of the others."
    elif pair is None:
        yield "value: what it adds to the score: its relevance, for this criterion looks at no pairs."
    elif not criterion.rewards_synergy:
        yield "value: what it adds to the score: relevance minus a penalty for what it shares with the others."
    else:
        yield (
            "value: what it adds to the score: relevance minus what the others tell as well, plus what it tells only "
            "together with them; so it can exceed the relevance."
        )


def _terms(result: Result) -> InformationTerms:
    assert result.terms is not None, "a result that was just made has its terms"
    return result.terms


def _problem(result: Result) -> SubsetProblem:
    assert result.problem is not None, "a result that was just made knows its problem"
    return result.problem


def _decided(selection: Selection) -> str:
    """Which features a proof that is not finished has decided already."""
    if selection.status == PROVEN_OPTIMAL or not (selection.proven_in or selection.proven_out):
        return ""
    some = ", ".join(map(repr, selection.proven_in[:10])) + (", ..." if len(selection.proven_in) > 10 else "")
    held = f"{len(selection.proven_in)} features are in every subset as good ({some}); " if some else ""
    return f"Decided: {held}{len(selection.proven_out)} features are in none that is."


def notes_on_table(rows: InputTable | StreamedTable, terms: InformationTerms, problem: SubsetProblem) -> list[str]:
    """What was made of the table that the user may not expect: bins of the target, missing values, a measure.

    Of columns that cannot be chosen it is said that they were left out, if nobody asked for it, and nothing else.
    """
    in_play = {*problem.candidates.tolist(), *problem.copies}
    told = [one for one in terms.decisions if one.kind not in ("target", SKIPPED)]
    made = [one if one.kind in LEFT_OUT else _of(in_play, one) for one in told]
    said = in_words([one for one in made if one.columns], terms.feature_names)
    if any(one.kind in LEFT_OUT for one in terms.decisions):
        said.append("--kind COLUMN=levels or =number uses a column that was left out")
    if terms.picked and terms.settings["measure"] != "plugin":  # the usual measure is not worth a word
        said.append(f"measured by {terms.picked}")
    if rows.task == "regression":
        bins = terms.settings.get("target_bins")
        how = f"cut into {bins} bins of equal counts" if bins else "measured as it is"
        why = "".join(f" ({one.why})" for one in terms.decisions if one.kind == "target")
        said.append(f"the target is a number, {how}{why}")
    lacking = sum(column in in_play for column in rows.lacking)
    if lacking:
        level = rows.missing != "pairwise" and "level" in find_measure(terms.settings["measure"]).missing
        how = "a level of their own" if level else "left out pair by pair"
        have = "1 column has" if lacking == 1 else f"{lacking} columns have"
        said.append(f"{have} missing values, which are {how}; --missing chooses")
    return said


def _of(columns: Collection[int], decision: Decision) -> Decision:
    """What the decision says of these columns."""
    return replace(decision, columns=tuple(column for column in decision.columns if column in columns))


def notes_on_result(rows: InputTable | StreamedTable, result: Result) -> list[str]:
    """The same, and what the user should know besides: dropped columns, doubtful codings, an early end."""
    terms, selection = _terms(result), result.selection
    problem = _problem(result)
    said = notes_on_table(rows, terms, problem)
    said += in_words(copy_decisions(result.problem), terms.feature_names)
    told = {terms.feature_names[i] for one in terms.decisions if one.kind in KEPT_OUT for i in one.columns}
    constant = [name for name in selection.dropped if name not in told]
    if constant:
        some = ", ".join(map(repr, constant[:5])) + (", ..." if len(constant) > 5 else "")
        n = len(constant)
        left = "1 constant column was" if n == 1 else f"{n} constant columns were"
        said.append(f"{left} left out: {some}")
    by_chance = [i for i in selection.indices.tolist() if result.explanation["p_value"][i] > SIGNIFICANCE]
    if by_chance:
        some = ", ".join(repr(terms.feature_names[i]) for i in by_chance[:5]) + (", ..." if len(by_chance) > 5 else "")
        one = len(by_chance) == 1
        are = "1 chosen feature is by itself" if one else f"{len(by_chance)} chosen features are by themselves"
        said.append(f"{are} no better than chance: {some}")
    many = problem.candidates[terms.levels[problem.candidates] > _MANY_LEVELS]
    crowded = [int(i) for i in many if _passed_as_levels(terms, int(i))]
    if crowded:
        first = crowded[0]
        have = "1 column has" if len(crowded) == 1 else f"{len(crowded)} columns have"
        said.append(
            f"{have} more than {_MANY_LEVELS} levels ({terms.feature_names[first]!r} has {terms.levels[first]}), "
            "which inflates the relevance; --integers numbers discretises whole numbers"
        )
    known = math.nan if selection.certificate is None else selection.certificate.known
    if selection.status != PROVEN_OPTIMAL and known - selection.objective > 1e-9 * abs(selection.objective):
        said.append(f"the proof came across a subset worth about {known:.6f}; --strategy exact goes for it")
    if selection.status == INTERRUPTED:
        said.append("interrupted; this is the best subset found so far")
    elif selection.out_of_time:
        said.append(
            f"the time limit of {selection.seconds[LIMIT]:g} s ended it early; this is the best subset found so far"
        )
    return said


def _passed_as_levels(terms: InformationTerms, feature: int) -> bool:
    return terms.coding is not None and terms.coding.edges(feature) is None
