"""How wrong is every measure? One command makes the tables of docs/data.md.

    python benchmarks/measure_errors.py           # measure everything and write the page, 5 minutes on two cores
    python benchmarks/measure_errors.py --quick   # few rows, few repetitions
    python benchmarks/measure_errors.py --page    # the page again, from the results kept

Tables of which the true information is known (measure_cases.py) are drawn with seeds of their own
and measured by every measure; the same numbers come out of every run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import chain, repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from certselect import information_terms
from certselect.errors import IdleSettingWarning
from certselect.settings import Measuring
from measure_cases import CASES, Case, Question
from page_section import replace_section, table, wrapped

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "data.md"
RESULTS = Path(__file__).parent / "results" / "measure_errors.json"
BEGIN = "<!-- From here to the end of it: made by `python benchmarks/measure_errors.py`. Do not edit. -->"
END = "<!-- The end of what benchmarks/measure_errors.py made. -->"

QUANTILES = {"measure": "plugin", "correction": "none", "discretize": "quantile", "bins": 5, "target_bins": 5}
MEASURES: dict[str, dict[str, Any]] = {
    "uniform": {**QUANTILES, "discretize": "uniform"},
    "quantile": QUANTILES,
    "Miller-Madow": {**QUANTILES, "correction": "miller_madow"},
    "Grassberger": {**QUANTILES, "correction": "grassberger"},
    "shrinkage": {**QUANTILES, "correction": "shrinkage"},
    "mdlp": {"measure": "plugin", "correction": "none", "discretize": "mdlp", "target_bins": 5},
    "copula": {"measure": "gaussian_copula"},
    "neighbors": {"measure": "neighbors", "n_neighbors": Measuring.n_neighbors},
    "auto": {"measure": "auto"},
}
CORRECTED = ("Miller-Madow", "Grassberger", "shrinkage")
UNCORRECTED = "quantile"
# How often a table of so many rows is drawn.
REPETITIONS = {30: 100, 100: 80, 300: 50, 1000: 24, 3000: 12, 10_000: 4, 30_000: 2}
QUICK = {30: 3, 100: 2, 300: 2}
DIGITS = 5  # kept of nats: fewer than the error of repeating, more than machines differ in
SAME = 1e-9  # nats; a pair's joint relevance that is this close to its better half's is not below it
MUCH = 0.1  # nats; mean errors beyond are shown in bold
REACH = 1.61  # nats, ln 5: what five levels can hold; more is out of reach for counting in five bins
GROWN = 0.02  # nats; by how much an error must grow with the rows to be named


@dataclass(frozen=True)
class Errors:
    """What a measure made of one question, for each number of rows, over the repetitions; in nats."""

    case: str
    family: str
    asked: str
    truth: float
    measure: str
    bias: tuple[float, ...]  # mean of estimate - truth
    rms: tuple[float, ...]  # root of the mean square of it
    lowest: tuple[float, ...]  # smallest estimate
    below_half: tuple[float, ...] | None = None  # most that a pair's joint relevance was below the better half's
    picked: tuple[str, ...] | None = None  # by "auto"

    @property
    def of(self) -> str:
        return f"{self.family}: {self.case}, {self.asked}"


@dataclass(frozen=True)
class Results:
    rows: tuple[int, ...]
    repetitions: tuple[int, ...]
    errors: tuple[Errors, ...]

    @property
    def shown(self) -> range:
        """Positions of the numbers of rows that the page shows: every other one."""
        return range(0, len(self.rows), 2)

    @property
    def families(self) -> list[str]:
        return list(dict.fromkeys(found.family for found in self.errors))

    def by(self, measure: str) -> list[Errors]:
        return [found for found in self.errors if found.measure == measure]

    def within_reach(self, measure: str) -> list[Errors]:
        return [found for found in self.by(measure) if found.truth <= REACH]


# Measuring


def estimates(case: Case, rows: int, seed: int, settings: Mapping[str, Any]) -> tuple[list[float], list[float], str]:
    """Of one drawn table: the answer to each question, how far it is below the better half, and what auto picked."""
    drawn_by = np.random.default_rng([zlib.crc32(f"{case.family}: {case.name}".encode()), rows, seed])
    X, y = case.draw(drawn_by, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdleSettingWarning)  # the settings are the same for all tables
        terms = information_terms(X, y, n_jobs=1, **settings)
    answers = [float(getattr(terms, question.term)[question.columns]) for question in case.questions]
    below = [
        max(0.0, float(terms.relevance[list(question.columns)].max()) - answer)
        for question, answer in zip(case.questions, answers, strict=True)
    ]
    return answers, below, terms.picked.partition(":")[0]


def case_errors(position: int, repetitions: Mapping[int, int]) -> list[Errors]:
    """Of the case at a position: a case draws by a function that cannot be sent to another process."""
    case = CASES[position]
    found = []
    for measure, settings in MEASURES.items():
        runs = [
            [estimates(case, rows, seed, settings) for seed in range(repeated)]
            for rows, repeated in repetitions.items()
        ]
        picked = [[picked for _, _, picked in run] for run in runs]
        for number, question in enumerate(case.questions):
            values = [np.array([answers[number] for answers, _, _ in run]) for run in runs]
            below = [max(half[number] for _, half, _ in run) for run in runs]
            found.append(errors_of(case, question, measure, values, below, picked))
    return found


def errors_of(
    case: Case,
    question: Question,
    measure: str,
    values: Sequence[np.ndarray],
    below_half: Sequence[float],
    picked: Sequence[Iterable[str]],
) -> Errors:
    off = [estimated - question.truth for estimated in values]
    return Errors(
        case.name,
        case.family,
        case.asked(question),
        kept(question.truth),
        measure,
        bias=tuple(kept(error.mean()) for error in off),
        rms=tuple(kept(np.sqrt(np.mean(error**2))) for error in off),
        lowest=tuple(kept(estimated.min()) for estimated in values),
        below_half=tuple(map(kept, below_half)) if question.term == "joint_relevance" else None,
        picked=tuple(" or ".join(sorted(set(names))) for names in picked) if measure == "auto" else None,
    )


def kept(nats: float) -> float:
    return round(float(nats), DIGITS) + 0.0  # never -0.0


def measure_all(repetitions: Mapping[int, int], processes: int) -> Results:
    positions = range(len(CASES))
    if processes == 1:
        of_cases = [case_errors(position, repetitions) for position in positions]
    else:
        # Starting anew costs a second, and is the same on every system.
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            of_cases = list(pool.map(case_errors, positions, repeat(repetitions)))
    return Results(tuple(repetitions), tuple(repetitions.values()), tuple(chain.from_iterable(of_cases)))


def write_results(path: Path, results: Results) -> None:
    """One line for each measure of each question; what all have in common first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    common = {"rows": results.rows, "repetitions": results.repetitions}
    lines = ",\n".join(
        json.dumps({name: value for name, value in asdict(found).items() if value is not None}, separators=(",", ":"))
        for found in results.errors
    )
    path.write_text(f'{json.dumps(common)[:-1]}, "errors": [\n{lines}\n]}}\n')


def read_results(path: Path) -> Results:
    held = json.loads(path.read_text())
    errors = [_from_line(line) for line in held["errors"]]
    return Results(tuple(held["rows"]), tuple(held["repetitions"]), tuple(errors))


def _from_line(line: Mapping[str, Any]) -> Errors:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in line.items()}
    return Errors(**fields)


# The page


def nats(value: float) -> str:
    return f"{value + 0.0:.3f}".replace("-0.000", "0.000")


def count(number: int) -> str:
    return f"{number:,}".replace(",", " ") if number >= 10_000 else str(number)


def listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def settings_table() -> str:
    lines = (
        [name, ", ".join(f"`{key}={value!r}`".replace("'", '"') for key, value in settings.items())]
        for name, settings in MEASURES.items()
    )
    return table(["column", "settings of `information_terms`"], lines, 2)


def family_tables(results: Results) -> str:
    found = {(error.family, error.case, error.asked, error.measure): error for error in results.errors}
    parts = []
    for family in results.families:
        lines = []
        for case in (case for case in CASES if case.family == family):
            for question in case.questions:
                of_one = [found[family, case.name, case.asked(question), measure] for measure in MEASURES]
                cells = [" / ".join(emphasised(error.bias[at]) for at in results.shown) for error in of_one]
                lines.append([case.name, case.asked(question), nats(question.truth), *cells])
        parts.append(table([family.capitalize(), "of", "true", *MEASURES], lines, left=2))
    return "\n\n".join(parts)


def emphasised(error: float) -> str:
    return f"**{nats(error)}**" if abs(error) > MUCH else nats(error)


def overview(results: Results) -> str:
    """Root-mean-square errors over the questions of a family."""
    lines = [
        [family, *(" / ".join(nats(family_error(results, family, m, at)) for at in results.shown) for m in MEASURES)]
        for family in results.families
    ]
    return table(["family", *MEASURES], lines, left=1)


def family_error(results: Results, family: str, measure: str, at: int) -> float:
    squares = [error.rms[at] ** 2 for error in results.within_reach(measure) if error.family == family]
    return float(np.sqrt(np.mean(squares)))


def sentences(results: Results) -> list[str]:
    return [
        of_families(results),
        of_sign(results),
        of_halves(results),
        of_copies(results),
        of_growth(results),
        *of_corrections(results),
        of_auto(results),
    ]


def extremes(results: Results) -> str:
    """Between what the mean errors of each measure lie, and what it finds in nothing."""
    first, last = 0, len(results.rows) - 1
    shown = " / ".join(count(results.rows[at]) for at in results.shown)
    head = ["measure", f"largest mean estimate where the truth is 0, at {shown} rows"]
    for at in (first, last):
        head += [f"mean errors at {count(results.rows[at])} rows", "farthest off"]
    lines = []
    for measure in MEASURES:
        errors = results.within_reach(measure)
        of_nothing = [error for error in errors if error.truth == 0.0]
        cells = [measure, " / ".join(nats(max(error.bias[at] for error in of_nothing)) for at in results.shown)]
        for at in (first, last):
            worst = max(errors, key=lambda error, at=at: abs(error.bias[at]))
            cells += [f"{nats(min(e.bias[at] for e in errors))} to {nats(max(e.bias[at] for e in errors))}", worst.of]
        lines.append(cells)
    return table(head, lines, left=1)


def of_families(results: Results) -> str:
    """Which measure is closest to the truth of each kind of table, and which farthest, with most rows."""
    last = len(results.rows) - 1
    parts = []
    for family in results.families:
        by = {measure: family_error(results, family, measure, last) for measure in MEASURES}
        best, worst = min(by, key=by.__getitem__), max(by, key=by.__getitem__)
        parts.append(f"{family}: {best} ({nats(by[best])}) and {worst} ({nats(by[worst])})")
    return (
        f"At {count(results.rows[last])} rows the smallest and the largest root-mean-square error are those of "
        f"{'; '.join(parts)}."
    )


def of_sign(results: Results) -> str:
    least = min(results.errors, key=lambda error: min(error.lowest))
    if min(least.lowest) >= 0.0:
        return "No estimate was below 0."
    negative = [
        f"{measure} ({nats(lowest)})"
        for measure in MEASURES
        if (lowest := min(min(error.lowest) for error in results.by(measure))) < 0.0
    ]
    return f"Estimates below 0 were found by {listed(negative)}; the lowest of all is that of {least.of}."


def of_halves(results: Results) -> str:
    """A pair never carries less than its better half."""
    parts = []
    for measure in MEASURES:
        pairs = [error for error in results.by(measure) if error.below_half is not None]
        worst = max(pairs, key=lambda error: max(error.below_half or ()))
        below = max(worst.below_half or ())
        if below > SAME:
            rows = results.rows[(worst.below_half or ()).index(below)]
            parts.append(f"{measure} by up to {nats(below)} ({worst.of}, {count(rows)} rows)")
    if not parts:
        return "In no table was a pair's joint relevance below the relevance of its better half."
    never = [measure for measure in MEASURES if not any(part.startswith(f"{measure} by") for part in parts)]
    held = f" Never with {listed(never)}." if never else ""
    return f"A pair's joint relevance was below the relevance of its better half with {listed(parts)}.{held}"


def of_copies(results: Results) -> str:
    """Of y = b + 0.3 c + noise: is the pair of b and c rated above the pair of b and its copy?"""
    of_sum = {
        (error.case, error.asked, error.measure): np.array(error.bias) + error.truth
        for error in results.errors
        if error.family == "copies"
    }
    name = "y = b + 0.3 c + noise"
    wrong = []
    for measure in MEASURES:
        other = of_sum[name, "I(b, c; y)", measure]
        taken_in = [
            copy
            for copy in ("copy", "near copy")
            if (of_sum[name, f"I(b, {copy}; y)", measure] >= other)[results.rows.index(300) :].any()
        ]
        if taken_in:
            wrong.append(f"{measure} (the {' and the '.join(taken_in)})")
    claim = f"From 300 rows on, of {name} the pair of b and c is on average rated above b with its copy or near copy"
    return f"{claim} by every measure." if not wrong else f"{claim}, but not by {listed(wrong)}."


def of_growth(results: Results) -> str:
    """Errors that more rows make larger."""
    start, last = results.rows.index(300), len(results.rows) - 1
    parts = []
    for measure in MEASURES:
        growth = {error.of: abs(error.bias[last]) - abs(error.bias[start]) for error in results.within_reach(measure)}
        grown = [of for of, more in growth.items() if more > GROWN]
        if grown:
            most = max(grown, key=growth.__getitem__)
            parts.append(f"{measure} in {len(grown)} of {len(growth)} questions, by {nats(growth[most])} in {most}")
    claim = f"From 300 to {count(results.rows[last])} rows the size of the mean error grows by more than {GROWN:g} nats"
    return f"{claim} with {'; '.join(parts)}." if parts else f"{claim} nowhere."


def of_corrections(results: Results) -> list[str]:
    """What correcting counts is worth where rows are fewest."""
    said = []
    for case in ("5 levels, the class in 75 %", "5 levels, independent"):
        by = {
            error.measure: error.rms[0]
            for error in results.errors
            if (error.family, error.case, error.asked) == ("discrete", case, "I(x1; y)")
        }
        ratios = [f"{by[measure] / by[UNCORRECTED]:.2f} times with {measure}" for measure in CORRECTED]
        said.append(
            f"At {results.rows[0]} rows of {case}, the root-mean-square error of I(x1; y) is {nats(by[UNCORRECTED])} "
            f"without a correction and {listed(ratios)} of that."
        )
    return said


def of_auto(results: Results) -> str:
    picks: dict[str, int] = {}
    for case in {(error.family, error.case): error for error in results.by("auto")}.values():
        for picked in case.picked or ():
            picks[picked] = picks.get(picked, 0) + 1
    shares = [f"`{name}` for {picks[name]}" for name in sorted(picks, key=lambda name: (-picks[name], name))]
    counted = {error.of: error for error in results.by(UNCORRECTED)}
    behind = []
    for at in results.shown:
        worst = max(results.by("auto"), key=lambda error, at=at: error.rms[at] - counted[error.of].rms[at])
        more = worst.rms[at] - counted[worst.of].rms[at]
        behind.append(f"{nats(more)} at {count(results.rows[at])} rows ({worst.of})")
    return (
        f"Of {sum(picks.values())} kinds of table (cases and numbers of rows), auto picked {listed(shares)}; its "
        f"root-mean-square error is larger than that of {UNCORRECTED} by at most {'; '.join(behind)}."
    )


def section(results: Results) -> str:
    shown = " / ".join(count(results.rows[at]) for at in results.shown)
    drawn = " / ".join(str(results.repetitions[at]) for at in results.shown)
    said = "\n".join(wrapped(f"* {sentence}", indent="  ") for sentence in sentences(results))
    asked = wrapped(
        f"Every measure was asked for information that is known in closed form, in {len(CASES)} kinds of made-up "
        "tables. All errors are in nats, estimate minus truth, so a positive one means too much information. "
        f"Where a cell has several numbers, they are for {shown} rows, of {drawn} tables with seeds of their own; "
        "benchmarks/results/measure_errors.json holds more."
    )
    return f"""\
{BEGIN}

## How wrong each measure is

{asked}

{settings_table()}

What the tables below say, in sentences that their numbers decide:

{said}

The range of each measure's mean errors, and where they are largest. Here, in the next table and where growth
is counted above, questions with more than ln 5 nats to find are left out, which five bins cannot hold.

{extremes(results)}

The root-mean-square error over the questions of a family:

{overview(results)}

The mean errors of each question follow, **bold** where they are beyond {MUCH:g} nats. *x1*, *x2* are two columns drawn
alike, *y* is the target: a class, or a number where the line says so.

{family_tables(results)}

{END}"""


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure every measure's error against closed forms.")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    parser.add_argument("--quick", action="store_true", help="few rows, few repetitions")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="as many as there are cores")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results are kept")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(given)
    if not options.page:
        write_results(options.results, measure_all(QUICK if options.quick else REPETITIONS, options.processes))
    elif not options.results.exists():
        sys.exit("no results are kept yet: run it without --page first")
    replace_section(options.out, section(read_results(options.results)), BEGIN, END)


if __name__ == "__main__":
    main()
