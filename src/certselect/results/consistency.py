"""What a result says beside its value and bound, checked where that costs little: the run, ties, decided features."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from certselect.certificate import TOLERANCE
from certselect.certificate.proof import Replayed, certain
from certselect.criteria import SubsetProblem
from certselect.errors import InvalidInput
from certselect.information import InformationTerms
from certselect.names import shown
from certselect.results.result import Result
from certselect.search.registry import AUTO
from certselect.search.selection import PROVEN_OPTIMAL
from certselect.settings import Measuring

# What "auto" can stand for.
_AUTO = ("cobra", "forward")
# A file that asks for more levels asks for the memory of their edges.
MOST_BINS = 1_000_000


def measuring_of(result: Result) -> Measuring:
    """How the table was measured: as was asked for, but for what "auto" stood for."""
    asked, measured = result.settings.measuring.to_dict(), dict(result.provenance.measured)
    settled_as = Measuring.from_dict(measured)
    free = {"measure"} if asked["measure"] == AUTO else set()
    if free and asked["correction"] == "none":
        free.add("correction")  # which "auto" chooses too
    for name, value in measured.items():
        if asked[name] != value and name not in free:
            raise InvalidInput(
                f"measured {name}={shown(value)} where {shown(asked[name])} was asked for", "the same", "Measure again."
            )
    for name in ("bins", "target_bins"):
        if isinstance(measured.get(name), int) and measured[name] > MOST_BINS:
            raise InvalidInput(f"{name}={shown(measured[name])}", f"at most {MOST_BINS}", "Use fewer bins.")
    return settled_as


def is_allowed(indices: Iterable[int], problem: SubsetProblem) -> bool:
    """Whether these are different columns that may be chosen together."""
    listed = [int(i) for i in indices]
    chosen = set(listed)
    if len(chosen) != len(listed) or not chosen <= set(problem.candidates.tolist()):
        return False
    right_size = len(chosen) == problem.k or problem.any_size
    return right_size and (problem.constraints is None or problem.constraints.allows(chosen))


def about_the_run(result: Result, terms: InformationTerms) -> Iterator[str]:
    """What is said of the run twice, and not the same."""
    searching, origin, selection = result.settings.searching, result.provenance, result.selection
    asked = searching.to_dict()["strategy"].casefold()
    if selection.strategy not in (_AUTO if asked == AUTO else (asked,)):
        yield f"the strategy is {selection.strategy!r:.80}, but {asked!r:.80} was asked for"
    seed = searching.to_dict()["random_state"]
    if origin.seed != seed:
        yield f"the seed is {shown(origin.seed)}, but {shown(seed)} was asked for"
    auto = result.settings.measuring.measure == AUTO
    if origin.picked.partition(":")[0] != (terms.settings["measure"] if auto else ""):
        yield f"the measure was not picked as is said: {origin.picked!r:.80}"
    choice = result.choice
    if choice is not None:
        means = choice.split_scores.mean(axis=0) if len(choice.split_scores) else np.full(len(choice.sizes), math.nan)
        if not np.allclose(means, choice.mean_scores, rtol=1e-9, atol=1e-12, equal_nan=True):
            yield "the mean scores are not the means of the scores in the splits"


def about_subsets(result: Result, problem: SubsetProblem, replayed: Replayed | None) -> Iterator[str]:
    """Ties that are none, and features called decided that are not."""
    selection = result.selection
    sized = problem.of_size(len(selection.indices)) if problem.any_size else problem
    values = []
    for tie in selection.ties:
        if not is_allowed(tie, sized):
            yield f"a tie is claimed of {list(tie)}, which may not be chosen together"
            return
        values.append(sized.value(tie))
    if selection.ties and len({frozenset(tie) for tie in selection.ties}) < len(selection.ties):
        yield "a tie is listed twice"
    if values and selection.status == PROVEN_OPTIMAL:
        values.append(selection.objective)
        if frozenset(selection.indices.tolist()) not in map(frozenset, selection.ties):
            yield "the chosen features are not among the ties"
    if values and max(values) - min(values) > TOLERANCE * sized.magnitude(selection.indices):
        yield f"ties are worth from {min(values)!r} to {max(values)!r}"
    into, out = (set(), set()) if replayed is None else certain(replayed.decisions, sized.value(selection.indices))
    for claim, names, proven in (
        ("every", selection.proven_in, into),
        ("no", selection.proven_out, out),
    ):
        columns = sized.units.columns(sized.reduced.units[sorted(proven)])
        unproven = sorted(set(names) - {sized.feature_names[i] for i in columns})
        if unproven:
            yield f"{unproven[0]!r:.80} is called proven to be in {claim} subset as good, which nothing shows"
