"""What docs/benchmarks.md says of forward selection: seconds, cold starts, memory and what the choices are worth."""

from __future__ import annotations

from bench_shown import ABSENT, OTHERS, SAME, fact, percent_up, ran, table_name, times, with_spread
from contestants.cases import CRITERIA
from contestants.match import OURS
from contestants.results import Row, of_job, ratios, seconds
from contestants.selectors import ADAPTERS
from page_section import table, wrapped

DIGITS = 9  # values that differ by rounding are the same
# praznik's seconds, 2 threads, k = 50, and those of NumPy greedy's JMI in the same run on another two-core AVX-512
# machine: ratios to NumPy's travel from one machine to another, seconds do not.
PRAZNIK_ELSEWHERE = {
    "2000 x 500": {"jmi": 0.083, "mrmr": 0.056, "NumPy greedy": 0.184},
    "1080 x 856": {"jmi": 0.113, "mrmr": 0.058, "NumPy greedy": 0.108},
    "3279 x 1558": {"jmi": 0.646, "mrmr": 0.325, "NumPy greedy": 0.934},
    "60 x 9712": {"jmi": 0.332, "mrmr": 0.058, "NumPy greedy": 0.331},
    "300 x 20000": {"jmi": 0.756, "mrmr": 0.413, "NumPy greedy": 0.444},
}


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
        *praznik_section(forward, rough=rough),
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


def praznik_section(forward: list[Row], *, rough: bool) -> list[str]:
    """What praznik's seconds are of. Where it did not run: its ratio through NumPy greedy's, measured beside both."""
    if ran(forward, ["praznik"]):
        return [
            wrapped(
                "praznik's seconds are those of its function inside R, on columns that are factors already: neither "
                "R's start nor the making of factors counts, which takes R many times as long; "
                f"{OURS}'s are those of the whole `fit` of an array of integers."
            )
        ]
    if rough:
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
