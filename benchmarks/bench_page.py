"""docs/benchmarks.md, made from the results kept and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

from bench_figures import FIGURES, PICTURES, as_svg
from bench_forward import forward_section
from bench_shown import ABSENT, OTHERS, SAME, fact, percent_up, ran, times, with_spread
from contestants.cases import AXES
from contestants.check import TOLERANCE
from contestants.match import OURS
from contestants.results import QUIET, Row, is_rough, of_job, ratios, seconds
from contestants.selectors import ADAPTERS
from page_section import table, wrapped

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
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
    busy = [f"Other programs were using the machine ({load} cores before the run)."] if load > QUIET else []
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
    make bench          # the short set, ten minutes on two quiet cores (12 with R's praznik), and this page
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
