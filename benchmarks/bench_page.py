"""docs/benchmarks.md, made from the results kept and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log, log10
from pathlib import Path
from typing import Any

from bench_figures import FIGURES, PICTURES, as_svg
from contestants.cases import AXES, CRITERIA
from contestants.check import TOLERANCE
from contestants.choosers import TAKE_PART
from contestants.match import OURS
from contestants.results import QUIET, Row, is_rough, of_job, ratios, seconds
from contestants.selectors import ADAPTERS
from page_section import table, wrapped

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
ABSENT = "-"
DIGITS = 9  # values that differ by rounding are the same
SAME = [name for name in TAKE_PART if ADAPTERS[name].criteria]
OTHERS = [name for name in TAKE_PART if not ADAPTERS[name].criteria]
# praznik's seconds, 2 threads, k = 50, and those of NumPy greedy's JMI in the same run on another two-core AVX-512
# machine: ratios to NumPy's travel from one machine to another, seconds do not.
PRAZNIK_ELSEWHERE = {
    "2000 x 500": {"jmi": 0.083, "mrmr": 0.056, "NumPy greedy": 0.184},
    "1080 x 856": {"jmi": 0.113, "mrmr": 0.058, "NumPy greedy": 0.108},
    "3279 x 1558": {"jmi": 0.646, "mrmr": 0.325, "NumPy greedy": 0.934},
    "60 x 9712": {"jmi": 0.332, "mrmr": 0.058, "NumPy greedy": 0.331},
    "300 x 20000": {"jmi": 0.756, "mrmr": 0.413, "NumPy greedy": 0.444},
}

Results = dict[str, Any]


def write_page(results: Results) -> None:
    PAGE.write_text(page_text(results), encoding="utf-8")
    for name, draw in PICTURES.items():
        (FIGURES / f"{name}.svg").write_text(as_svg(draw(results["cases"])), encoding="utf-8")


def page_text(results: Results) -> str:
    rows = results["cases"]
    parts = [
        *opening(results),
        *forward_section(rows, rough=is_rough(results)),
        *other_jobs(rows),
        *growth_section(rows),
        *agreement_section(results),
        *missing_section(rows),
        *ending(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


# What is shown of numbers


def times(ratio: float | None) -> str:
    """Two digits of a ratio; in bold where the other one is faster."""
    if ratio is None:
        return ABSENT
    shown = f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}" if ratio >= 0.995 else f"{ratio:.2g}"
    return f"**{shown}**" if ratio < 1.0 else shown


def milliseconds(spent: float | None) -> str:
    if spent is None:
        return ABSENT
    digits = max(0, 1 - int(log10(max(1e3 * spent, 1e-3)) // 1))
    return f"{1e3 * spent:.{digits}f}"


def with_spread(row: Row, name: str) -> str:
    found = row["contestants"][name]["seconds"]
    shown = milliseconds(found["median"])
    if found["runs"] == 1:
        return shown
    return f"{shown} ({milliseconds(found['fastest'])} to {milliseconds(found['slowest'])})"


def table_name(row: Row) -> str:
    shape = f"{row['rows']} x {row['columns']}"
    return shape if row["source"] == "generated" else f"{shape} ({row['source']})"


def fact(row: Row, name: str, key: str) -> Any:
    return row["contestants"].get(name, {}).get(key)


def ran(rows: Iterable[Row], names: Sequence[str]) -> list[str]:
    """Those of some names that ran anywhere."""
    return [name for name in names if any(seconds(row, name) is not None for row in rows)]


# The opening, with sentences that the numbers decide


def against_fastest(row: Row) -> tuple[str, float] | None:
    """Who was fastest beside ours, of those who do the same, and how many times as long as ours it took."""
    beside = {name: ratio for name, ratio in ratios(row).items() if row["job"] != "forward" or name in SAME}
    if not beside:
        return None
    name = min(beside, key=lambda one: beside[one])
    return name, beside[name]


def of_forward(rows: list[Row]) -> str:
    found = [(row, *nearest) for row in of_job(rows, "forward") if (nearest := against_fastest(row)) is not None]
    if not found:
        return "No forward selection was measured."
    behind = sum(ratio < 1.0 for _, _, ratio in found)
    best = max(found, key=lambda one: one[2])
    worst = min(found, key=lambda one: one[2])
    said = (
        f"Forward selection: {OURS} was faster than everybody else with the same criterion in "
        f"{len(found) - behind} of {len(found)} cases, by up to {times(best[2])} times ({best[0]['label']}, against "
        f"{best[1]})"
    )
    if behind:
        said += f"; at worst it took {1 / worst[2]:.1f} times as long as {worst[1]} ({worst[0]['label']})"
    return said + "."


def of_answers(rows: list[Row]) -> str:
    judged = [row for row in of_job(rows, "forward") if fact(row, OURS, "right") is not None]
    right = sum(fact(row, OURS, "right") == fact(row, OURS, "asked") for row in judged)
    rest = len(of_job(rows, "forward")) - len(judged)
    larger = f" ({rest} larger tables were not compared)" if rest else ""
    return f"In {right} of {len(judged)} cases {OURS} chose what the slow reference chooses, place by place{larger}."


def opening(results: Results) -> list[str]:
    machine = results["machine"]
    jobs = of_forward(results["cases"]), of_answers(results["cases"])
    took = f", in {results['minutes']:.0f} minutes" if "minutes" in results else ""
    return [
        "<!-- Made by `make bench`; `python benchmarks/bench.py page` makes it again from results. Do not edit. -->",
        "# Side by side with other packages",
        wrapped(
            "Every number here compares programs that took turns in one run on one machine. A ratio says how many "
            f"times as long as {OURS} somebody took: **in bold** where they were faster than we are. What the others "
            "are better at otherwise is on [another page](compared.md); how well the chosen features predict, on "
            "[yet another](outcome.md)."
        ),
        "\n".join(wrapped(f"* {sentence}", "  ") for sentence in jobs),
        wrapped(
            f"Measured on {machine['processor']}, {machine['cores']} cores, two threads, Python {machine['python']} "
            f"({machine['system']}): the {results['set']} set{took}."
        ),
        caution(results),
        "## Where somebody else is better",
        wrapped("Everybody who was faster than ours at a job, the fastest of them for each case:"),
        losses(results["cases"]),
    ]


def caution(results: Results) -> str:
    """What makes these results rough, if anything does."""
    if not is_rough(results):
        return ""
    load = results.get("load_before") or 0.0
    busy = [f"Other programs were using the machine (load {load} before the run)."] if load > QUIET else []
    said = " ".join([*busy, *results.get("notes", [])])
    return wrapped(f"**These results are rough and should not be quoted.** {said} Run `make bench` on a quiet machine.")


def losses(rows: list[Row]) -> str:
    """Cases in which another one is faster; parts of our own work are no contestants."""
    lines = []
    for row in rows:
        beside = {} if row["job"] == "parts" else ratios(row)
        faster = sorted(name for name, ratio in beside.items() if ratio < 1.0)
        if not faster:
            continue
        best = min(faster, key=lambda name: beside[name])
        also = [name for name in faster if name != best]
        by = f" (by {ADAPTERS[best].by})" if best in OTHERS else ""
        more = f"; also {', '.join(also)}" if also else ""
        lines.append(wrapped(f"* {row['key']}: {best}{by}, {1 / beside[best]:.1f} times as fast{more}.", "  "))
    return "\n".join(lines) if lines else "Nowhere."


# Forward selection


def forward_section(rows: list[Row], *, rough: bool) -> list[str]:
    forward = of_job(rows, "forward")
    if not forward:
        return []
    same, others = ran(forward, SAME), ran(forward, OTHERS)
    head = ["table", "criterion", "k", f"{OURS} (ms)", *same, "right"]
    lines = [
        [
            table_name(row),
            CRITERIA[row["criterion"]],
            str(row["k"]),
            with_spread(row, OURS),
            *(times(ratios(row).get(name)) for name in same),
            right_of(row, OURS),
        ]
        for row in forward
    ]
    by_others = [row for row in forward if any(name in ratios(row) for name in others)]
    other_lines = [[row["label"], *(times_and_shared(row, name) for name in others)] for row in by_others]
    measures = "; ".join(f"{name}: {ADAPTERS[name].by}" for name in others)
    return [
        "## Forward selection on the same codes",
        wrapped(
            "The whole `fit`, warm: the median, and in brackets the fastest and the slowest of a few runs. Then how "
            "many times as long those took who measure the same criterion. The last column has at how many places "
            f"{OURS} chose what the slow reference chooses."
        ),
        table(head, lines, 2),
        "![times as long as certselect, one line for each case](figures/bench-forward.svg)",
        *([] if rough else praznik_section(forward)),
        *back_to_back(rows),
        "### Those who measure something else",
        wrapped(f"Called mRMR, or used for the same purpose. {measures}. Beside the ratio: how many they share."),
        table(["table", *others], other_lines, 1),
        *cold_section(forward),
        *value_section(forward),
    ]


def right_of(row: Row, name: str) -> str:
    right = fact(row, name, "right")
    return ABSENT if right is None else f"{right} of {fact(row, name, 'asked')}"


def times_and_shared(row: Row, name: str) -> str:
    shared = fact(row, name, "shared")
    return times(ratios(row).get(name)) + ("" if shared is None else f", {shared} of {fact(row, name, 'asked')}")


def praznik_section(forward: list[Row]) -> list[str]:
    """Where praznik did not run: what its ratio would be, through NumPy greedy's, which was measured beside both."""
    if ran(forward, ["praznik"]):
        return []
    lines = []
    for row in forward:
        elsewhere = PRAZNIK_ELSEWHERE.get(f"{row['rows']} x {row['columns']}")
        by_numpy = [
            seconds(other, "NumPy greedy")
            for other in forward
            if (other["rows"], other["columns"], other["k"], other["criterion"])
            == (row["rows"], row["columns"], row["k"], "jmi")
        ]
        ours = seconds(row, OURS)
        if elsewhere is None or row["k"] != 50 or ours is None or not by_numpy or by_numpy[0] is None:
            continue
        estimated = by_numpy[0] * elsewhere[row["criterion"]] / elsewhere["NumPy greedy"]
        lines.append([table_name(row), CRITERIA[row["criterion"]], times(estimated / ours)])
    if not lines:
        return []
    return [
        "### praznik, estimated",
        wrapped(
            "praznik's C could not be run here. This is an estimate, not a measurement: on another machine with two "
            "cores praznik took so many times as long as NumPy greedy's JMI; that ratio times NumPy greedy's seconds "
            "of this run is put in the place of praznik's seconds (k = 50). Where NumPy's matrix products are "
            "slow for another reason, such as other work on the machine, the estimate flatters us."
        ),
        table(["table", "criterion", f"times as long as {OURS}, estimated"], lines, 2),
    ]


def back_to_back(rows: list[Row]) -> list[str]:
    found = of_job(rows, "back to back")
    if not found:
        return []
    shown = "; ".join(
        f"{row['label']}: {', '.join(f'{name} {times(ratio)}' for name, ratio in ratios(row).items())}" for row in found
    )
    return [wrapped(f"Without the pause between turns, while BLAS threads of the one before still spin: {shown}.")]


def cold_section(forward: list[Row]) -> list[str]:
    started = [row for row in forward if any(fact(row, name, "cold") for name in row["contestants"])]
    if not started:
        return []
    lines = [
        [
            row["label"],
            name,
            f"{about['cold']['seconds']:.2f}",
            f"{about['cold']['memory']:.0f}",
            f"{about['cold']['memory'] - about['cold']['before']:.0f}",
        ]
        for row in started
        for name, about in row["contestants"].items()
        if about.get("cold")
    ]
    return [
        "### Cold, and in memory",
        wrapped(
            "In a process of its own that has the table and NumPy and nothing else: seconds to load the package and "
            "choose, the peak memory of the process, and how much of it came with loading and choosing. Compiled code "
            "that a package keeps on disk was there already."
        ),
        table(["case", "", "cold (s)", "peak (MB)", "more than before (MB)"], lines, 2),
    ]


def value_section(forward: list[Row]) -> list[str]:
    bounded = [row for row in forward if fact(row, OURS, "gap") is not None]
    if not bounded:
        return []
    lines = [
        [row["label"], f"{value:.4f}", percent_up(gap) if value > 0 else ABSENT, ", ".join(names)]
        for row in bounded
        for (value, gap), names in worth(row).items()
    ]
    return [
        "### What the choices are worth",
        wrapped(
            "The value of each choice under the case's criterion, in nats, and its certified gap: no subset of that "
            f"size is worth more than so many percent above it. The bound is {OURS}'s, from COBRA's relaxation of the "
            "same terms; the value is the slow reference's. Nobody else has a bound of their own. Values below 0 "
            "have no gap in percent."
        ),
        table(["case", "value", "gap (%)", "by"], lines, 1),
    ]


def worth(row: Row) -> dict[tuple[float, float], list[str]]:
    """Values and gaps, the best first, and whose they are."""
    found: dict[tuple[float, float], list[str]] = {}
    for name, about in row["contestants"].items():
        if "gap" in about:
            found.setdefault((round(about["value"], DIGITS), round(about["gap"], DIGITS)), []).append(name)
    return dict(sorted(found.items(), reverse=True))


def percent_up(fraction: float) -> str:
    """A bound is rounded up."""
    hundredths = -int(-1e4 * fraction // 1)
    return f"{hundredths / 100:.2f}"


# The other jobs

TITLES = {
    "pairs": (
        "All pairs",
        "I(Xi;Xj) and I(Xi;Xj|Y) of all pairs, from the table to two matrices.",
    ),
    "relevance of numbers": (
        "Numbers without bins",
        "Relevance of every column, on as many threads. The copula measures something else than neighbours do.",
    ),
    "default fit": (
        "The default on small tables",
        "`SubsetSelector(k)` as it comes, with relaxation, rounding and certificate; the others choose without.",
    ),
    "command line": (
        "From a shell",
        "A program that starts, reads a CSV file, chooses and ends, beside the same with pandas and scikit-learn.",
    ),
    "relaxation": ("Relaxations", "The paper's relaxation of an mRMR problem, beside general solvers through CVXPY."),
    "exact": ("Exact problems", "The best subset of an mRMR problem, proven."),
}


def other_jobs(rows: list[Row]) -> list[str]:
    parts = []
    for job, (title, said) in TITLES.items():
        found = of_job(rows, job)
        if found:
            parts += [f"## {title}", wrapped(said), job_table(found)]
    own = of_job(rows, "parts")
    if own:
        parts += ["## Our own work in parts", wrapped(PARTS), parts_table(own)]
    return parts


PARTS = (
    f"How many times as long as a part of it that nobody can save {OURS} takes, and how many were asked for at most. "
    "Here more is worse."
)


def job_table(rows: list[Row]) -> str:
    names = ran(rows, list(dict.fromkeys(name for row in rows for name in row["contestants"] if name != OURS)))
    keys = [key for key in ("error", "apart", "gap") if any(fact(row, OURS, key) is not None for row in rows)]
    head = ["", f"{OURS} (ms)", *names, *(SAID[key] for key in keys)]
    lines = [
        [
            row["label"],
            with_spread(row, OURS),
            *(times(ratios(row).get(name)) for name in names),
            *(facts_shown(row, key) for key in keys),
        ]
        for row in rows
    ]
    return table(head, lines, 1)


SAID = {"error": "relative errors", "apart": "largest differences to the reference (nats)", "gap": "our gap (%)"}


def facts_shown(row: Row, key: str) -> str:
    if key == "gap":
        gap = fact(row, OURS, "gap")
        return ABSENT if gap is None else percent_up(gap)
    found = [fact(row, name, key) for name in row["contestants"]]
    return ", ".join(f"{value:.0e}" for value in found if value is not None)


def parts_table(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        ((part, ratio),) = ratios(row).items()
        cost = f"{1 / ratio:.2g}" if ratio > 0.1 else f"{1 / ratio:.0f}"
        lines.append([row["label"], part, cost, f"{row.get('at_most', ABSENT)}"])
    return table(["", "part", "times", "asked at most"], lines, 2)


# Growth


def growth_section(rows: list[Row]) -> list[str]:
    lines = []
    for axis in AXES:
        grown = [row for row in of_job(rows, f"growth in {axis}") if row["criterion"] == "mrmr"]
        names = [OURS, *ran(grown, SAME)]
        for name in names:
            points = [(row["size"], spent) for row in grown if (spent := seconds(row, name)) is not None]
            if len(points) > 1:
                last = ratios(grown[-1]).get(name)
                lines.append([axis, f"{points[0][0]} to {points[-1][0]}", name, f"{exponent(points):.2f}", times(last)])
    if not lines:
        return []
    return [
        "## Growth",
        wrapped(
            "Forward selection by mRMR, from 1000 x 100 with 4 levels, 2 classes and k = 10 on, one size doubled at a "
            "time. The exponent is that of the fitted power: 1 where twice the size takes twice as long."
        ),
        "![seconds over each size as it doubles](figures/bench-growth.svg)",
        table(["size", "from, to", "", "exponent", f"times as long as {OURS} at the end"], lines, 3),
    ]


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Slope of the line through the logarithms."""
    logs = [(log(size), log(spent)) for size, spent in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread


# Who differs


def agreement_section(results: Results) -> list[str]:
    found = results.get("differences") or {}
    if not found:
        return []
    agree = [name for name, example in found.items() if example is None]
    lines = [f"* **{name}** ({ADAPTERS[name].by}): {said(example)}" for name, example in found.items() if example]
    return [
        "## Who chooses otherwise",
        wrapped(
            "mRMR on codes, against the slow reference, on small made-up tables; where columns tie exactly, any of "
            f"them is right. The same as the reference's on all of them: {', '.join(agree) or 'nobody'}. The others, "
            "with the smallest table found that shows it (rows are written `columns:class`, columns count from 0):"
        ),
        "\n".join(wrapped(line, "  ") for line in lines),
    ]


def said(example: dict[str, Any]) -> str:
    rows = [f"{''.join(map(str, row))}:{label}" for row, label in zip(example["X"], example["y"], strict=True)]
    return (
        f"k = {example['k']} of the table `{' '.join(rows)}`: chooses {listed(example['chosen'])}, the reference "
        f"{listed(example['right'])}."
    )


def listed(columns: Sequence[int]) -> str:
    return ", ".join(map(str, columns))


# What is missing, and how it was done


def missing_section(rows: list[Row]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for row in rows:
        for name, about in row["contestants"].items():
            why = about.get("missing") or about.get("failed")
            if why:
                reasons.setdefault(f"{name}: {why}", []).append(row["key"])
    lines = [
        wrapped(f"* {reason} ({len(keys)} case{'s' * (len(keys) > 1)}, the first: {keys[0]}).", "  ")
        for reason, keys in reasons.items()
    ]
    return ["## Who did not run", "\n".join(lines)] if lines else []


def ending(results: Results) -> list[str]:
    packages = ", ".join(f"{name} {number}" for name, number in results["machine"]["packages"].items())
    return [
        "## How it was measured",
        "\n".join(wrapped(f"* {sentence}", "  ") for sentence in METHOD),
        wrapped(f"Versions: {packages}."),
        "## How to run it again",
        """\
    make bench          # the short set, below ten minutes on two quiet cores, and this page
    make bench-all      # everything
    make bench-check    # the short set again; fails where a ratio has become worse""",
        wrapped(
            "`CERTSELECT_DATA=FOLDER` names the folder of the paper's data sets. A contestant is an adapter of a few "
            "lines in `benchmarks/contestants/selectors.py`; the results are in `benchmarks/results/bench.json`."
        ),
    ]


METHOD = [
    "**Turns**: contestants take turns in one process, with a pause before each so that threads of the one before come "
    "to rest; the first call of each, which loads and compiles, is not counted. Whoever is slow is asked less often.",
    "**Tables**: codes of the paper's data sets (columns of up to 5 values as they are, others in 5 bins of equal "
    "width, missing values as one more), or made-up ones of the same shape where no set is named. Everybody gets the "
    "same array of whole numbers; making a data frame of it is part of the time of those who want one.",
    "**The slow reference** counts every joint table on its own and searches as the criterion is defined; it shares no "
    "code with a contestant.",
    "**Threads**: two for everybody who takes a number of threads, one below 100 000 cells, where starting workers "
    "would cost the others more than it brings.",
    "**Memory** is the peak of a process of its own, so nothing is left of another contestant.",
    "**`make bench-check`** compares ratios with those kept, case by case, never seconds. It fails where one has "
    f"become more than {TOLERANCE} times worse, where ours chose otherwise than the reference, or where there is "
    "nothing to compare.",
]
