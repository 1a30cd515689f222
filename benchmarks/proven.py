"""How far from the best is everybody? One command makes the table of docs/proven.md.

    python benchmarks/proven.py --data FOLDER                  # every set: hours on two cores, half an hour with a GPU
    python benchmarks/proven.py --data FOLDER --quick          # without NCI, DBWorld and Dexter
    python benchmarks/proven.py --data FOLDER madelon dexter   # these alone
    python benchmarks/proven.py --from-results                 # the page again, from the results kept

FOLDER holds the paper's data sets as .npz files (X, y); the environment variable
CERTSELECT_DATA names it too. Each row is kept as soon as it is there, so a run that was
stopped goes on where it was; `--again` measures rows anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import load_npz

from certselect import InformationTerms, Selection, SubsetProblem, information_terms, select, subset_problem
from certselect.coding import code_table
from certselect.table import read_table
from certselect.threads import thread_count

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "proven.md"
RESULTS = Path(__file__).parent / "results" / "proven.json"
FOLDER_VARIABLE = "CERTSELECT_DATA"
CRITERIA = {"mrmr": "mRMR", "jmi": "JMI"}
SEARCHES = {"forward": "forward", "backward": "backward", "cobra": "COBRA", "qpfs": "QPFS", "soss": "SOSS"}
SAME = 1e-12  # values this close, relative to the best, are equal: they are sums in different orders
SMALLEST_SHOWN = 1e-6  # percent
COUNT_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 8: "eight", 16: "sixteen"}

Arrays = tuple[np.ndarray, np.ndarray]


def dense(file: str) -> Callable[[Path], Arrays]:
    def read(folder: Path) -> Arrays:
        held = np.load(folder / file, allow_pickle=False)
        return held["X"].astype(np.float64), held["y"]

    return read


def lung_cancer(folder: Path) -> Arrays:
    X, y = dense("lng.npz")(folder)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X), y


def dexter(folder: Path) -> Arrays:
    return load_npz(folder / "dex.npz").toarray().astype(np.float64), np.load(folder / "dex.npz")["y"]


@dataclass(frozen=True)
class DataSet:
    title: str
    read: Callable[[Path], Arrays]
    sizes: tuple[int, ...]
    limit: float = 300.0  # seconds the exact method may take
    search_limit: float | None = None  # and each of the others


DATA_SETS = {
    "madelon": DataSet("Madelon", dense("mad.npz"), (12, 50)),
    "arrhythmia": DataSet("Arrhythmia", dense("arr_420x278.npz"), (12, 50)),
    "cnae9": DataSet("CNAE-9", dense("cna.npz"), (5, 10, 20, 50)),
    "lung_cancer": DataSet("Lung Cancer", lung_cancer, (5, 10, 20, 50)),
    "nci": DataSet("NCI", dense("nci.npz"), (10, 20, 50), limit=900.0, search_limit=60.0),
    "dbworld": DataSet("DBWorld", dense("dbw.npz"), (10, 20, 50), limit=900.0, search_limit=60.0),
    "dexter": DataSet("Dexter", dexter, (10, 20, 50), limit=900.0, search_limit=60.0),
}
QUICK = [name for name, data_set in DATA_SETS.items() if data_set.search_limit is None]
FEW_ROWS = {"lung_cancer": 32, "nci": 60, "dbworld": 64}


@dataclass(frozen=True)
class Row:
    """What was measured of one data set, criterion and k: values and bounds in nats; all else follows from them."""

    name: str
    criterion: str
    k: int
    n: int
    values: dict[str, float]  # of each search, and "exact"
    plain_bound: float
    tight_bound: float
    proven: bool
    seconds: float
    cores: int
    device: str = "cpu"
    cut_short: tuple[str, ...] = ()  # searches that their time limit ended

    @property
    def question(self) -> tuple[str, str, int]:
        return self.name, self.criterion, self.k

    @property
    def best(self) -> float:
        return max(self.values.values())

    def below(self, search: str) -> float:
        """How far a search stayed below the best value known, as a fraction of it; 0 if it found it."""
        missed = (self.best - self.values[search]) / abs(self.best)
        return missed if missed > SAME else 0.0

    def gap(self, bound: float) -> float:
        return max(0.0, bound - self.best) / abs(self.best)

    def __str__(self) -> str:
        return f"{DATA_SETS[self.name].title}, {CRITERIA[self.criterion]}, k = {self.k}"


# Measuring


def first_of_each_kind(codes: np.ndarray) -> np.ndarray:
    """Positions of the rows (features) that no earlier row equals, be it with its levels renamed."""
    seen: dict[bytes, int] = {}
    for position, row in enumerate(codes):
        _, first, level = np.unique(row, return_index=True, return_inverse=True)
        in_order_of_appearance = np.argsort(np.argsort(first))[level]
        seen.setdefault(in_order_of_appearance.astype(np.uint8).tobytes(), position)
    return np.array(list(seen.values()))


def terms_of(data_set: DataSet, folder: Path) -> InformationTerms:
    """Terms of the three-state codes, without constants and duplicates."""
    X, y = data_set.read(folder)
    coded = code_table(read_table(X, y), discretize="mean_std", integers="levels")
    codes = coded.codes[~coded.constant]
    return information_terms(
        codes[first_of_each_kind(codes)].T, y, integers="levels", measure="plugin", correction="none"
    )


def searched(problem: SubsetProblem, strategy: str, **options: Any) -> Selection:
    selection = select(problem, strategy, random_state=0, **options)
    if selection.status == "interrupted":  # `select` answers Ctrl-C with what it has, which is no result
        raise KeyboardInterrupt
    return selection


def measured(name: str, terms: InformationTerms, criterion: str, k: int) -> Row:
    problem = subset_problem(terms, k, criterion, copies="all")
    problem.units.reduced.matrix  # noqa: B018 - pairs are counted when first asked for, which is nobody's time
    limits = {} if DATA_SETS[name].search_limit is None else {"max_seconds": DATA_SETS[name].search_limit}
    found = {search: searched(problem, search, **limits) for search in SEARCHES}
    began = time.perf_counter()
    exact = searched(problem, "exact", max_seconds=DATA_SETS[name].limit)
    seconds = time.perf_counter() - began
    row = Row(
        name,
        criterion,
        k,
        terms.n_features,
        {search: selection.objective for search, selection in {**found, "exact": exact}.items()},
        plain_bound=found["cobra"].upper_bound,
        tight_bound=exact.upper_bound,
        proven=exact.status == "proven optimal",
        seconds=round(seconds, 1),
        cores=thread_count(None),
        device=exact.computed_on or "cpu",
        cut_short=tuple(search for search, selection in found.items() if selection.out_of_time),
    )
    if row.best - min(row.plain_bound, row.tight_bound) > SAME * abs(row.best):
        raise AssertionError(f"{row}: a subset is worth {row.best}, more than a bound says is possible: {row!r}")
    return row


def read_results(path: Path) -> list[Row]:
    kept = json.loads(path.read_text()) if path.exists() else []
    return [Row(**{**row, "cut_short": tuple(row.get("cut_short", ()))}) for row in kept]


def write_results(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(asdict(row)) for row in rows) + "\n]\n")


def in_order(rows: Iterable[Row]) -> list[Row]:
    names, criteria = list(DATA_SETS), list(CRITERIA)
    return sorted(rows, key=lambda row: (names.index(row.name), criteria.index(row.criterion), row.k))


def measure_all(names: list[str], folder: Path, *, again: bool, results: Path, page: Path) -> None:
    rows = {row.question: row for row in read_results(results)}
    for name in names:
        questions = [(name, criterion, k) for criterion in CRITERIA for k in DATA_SETS[name].sizes]
        missing = [question for question in questions if again or question not in rows]
        if not missing:
            continue
        terms = terms_of(DATA_SETS[name], folder)
        for question in missing:
            row = measured(name, terms, *question[1:])
            rows[question] = row
            write_results(results, in_order(rows.values()))
            page.write_text(page_text(in_order(rows.values())))
            gap = percent(row.gap(row.tight_bound), up=True)
            print(f"{row}: {'proven' if row.proven else f'gap {gap} %'} in {row.seconds:.0f} s", flush=True)


# The page


def percent(fraction: float, *, up: bool = False) -> str:
    """Two digits of a fraction in percent; `up` where it is a bound, which rounding must not make untrue."""
    if fraction == 0.0:
        return "0"
    if 100 * fraction < SMALLEST_SHOWN:
        return f"<{SMALLEST_SHOWN:f}"
    rounding = Context(prec=2, rounding=ROUND_CEILING if up else ROUND_HALF_EVEN)
    return f"{rounding.create_decimal(Decimal(fraction) * 100):f}"


def table_line(row: Row) -> str:
    cells = [
        DATA_SETS[row.name].title,
        CRITERIA[row.criterion],
        str(row.n),
        str(row.k),
        *(percent(row.below(search)) + "*" * (search in row.cut_short) for search in SEARCHES),
        f"{row.best:.6f}",
        percent(row.gap(row.plain_bound), up=True),
        percent(row.gap(row.tight_bound), up=True),
        "yes" if row.proven else "no",
        f"{row.seconds:.1f}" + " (GPU)" * (row.device != "cpu"),
    ]
    return f"| {' | '.join(cells)} |"


def summary(rows: list[Row]) -> str:
    """What the table says, in sentences that its numbers decide."""
    proven = sum(row.proven for row in rows)
    sentences = [f"Of {len(rows)} subsets in the column **best**, {proven} are proven optimal."]
    if proven < len(rows):
        widest = max(rows, key=lambda row: row.gap(row.tight_bound))
        left = percent(widest.gap(widest.tight_bound), up=True)
        sentences.append(f"The largest gap left is {left} % ({widest}).")
    best = "best" if proven == len(rows) else "best known"
    for search, title in SEARCHES.items():
        finished = [row for row in rows if search not in row.cut_short]
        worst = max(finished, key=lambda row, search=search: row.below(search))
        hits = sum(row.below(search) == 0.0 for row in finished)
        count = f"{len(finished)} rows" + " that it finished" * (len(finished) < len(rows))
        sentence = f"{title[0].upper()}{title[1:]} found a subset of the {best} value in {hits} of {count}"
        if hits < len(finished):
            sentence += f" and was {percent(worst.below(search))} % below it at worst ({worst})"
        sentences.append(f"{sentence}.")
    plain = max(rows, key=lambda row: row.gap(row.plain_bound))
    sentences.append(
        f"The plain bound alone would have left up to {percent(plain.gap(plain.plain_bound), up=True)} % ({plain})."
    )
    return "\n".join(sentences)


def greedy_losses(rows: list[Row]) -> str:
    """What forward and backward selection lose, set by set."""
    lines = []
    for name in dict.fromkeys(row.name for row in rows):
        mine = [row for row in rows if row.name == name]
        losses = []
        for search in ("forward", "backward"):
            worst = max(mine, key=lambda row, search=search: row.below(search))
            lost = worst.below(search)
            at_most = f" (at most {percent(lost)} %: {CRITERIA[worst.criterion]}, k = {worst.k})" if lost else ""
            losses.append(f"{search} in {sum(row.below(search) > 0.0 for row in mine)}{at_most}")
        few = f", {FEW_ROWS[name]} rows" if name in FEW_ROWS else ""
        lines.append(f"* {DATA_SETS[name].title}{few}: of {len(mine)} problems, {', '.join(losses)}.")
    return "\n".join(lines)


def page_text(rows: list[Row]) -> str:
    head = ["data set", "criterion", "n", "k", *SEARCHES.values(), "best", "plain bound", "tight bound"]
    head += ["proven optimal", "seconds"]
    aligned = ["---", "---", *["---:"] * (len(head) - 4), "---", "---:"]
    table = "\n".join([f"| {' | '.join(head)} |", f"| {' | '.join(aligned)} |", *map(table_line, rows)])
    cores = " or ".join(
        f"{COUNT_WORDS.get(number, number)} core{'s' * (number > 1)}" for number in sorted({row.cores for row in rows})
    )
    return f"""\
<!-- Made by `python benchmarks/proven.py`; `--from-results` makes it again from benchmarks/results/proven.json. -->
<!-- Do not edit. -->

# How far from the best is everybody?

The exact method says what the best subset is worth, so every search can be measured against it, on data sets of the
paper that COBRA comes from.

{summary(rows)}

What do the greedy searches lose? In so many problems of each set they miss the best value:

{greedy_losses(rows)}

{table}

* **forward** to **SOSS**: percent that the search's subset is worth less than the best; 0 where it is worth the same
  (to {SAME:g} of it). All are run with their defaults and without polish, random ones with seed 0. On NCI, DBWorld and
  Dexter each had {DATA_SETS["nci"].search_limit:.0f} seconds; a star marks the answer of one that would
  have needed more: what it had by then, completed greedily, so that it shows little of the search itself.
* **best**: the largest value found, in nats; **n**: features to choose from; **k**: how many are chosen.
* **plain bound**, **tight bound**: how much more than the best, in percent, any subset can be worth by the paper's
  relaxation alone (as far as COBRA's time went), and by what the exact method had proved when it ended. Rounded up.
* **seconds**: wall time of the exact method, terms counted before, on {cores}, where it says so with a GPU
  (docs/gpu.md names it); other work on the machine lengthens it. It was stopped after \
{DATA_SETS["madelon"].limit:.0f} seconds, with NCI, DBWorld
  and Dexter after {DATA_SETS["nci"].limit:.0f}.

All numbers were coded in three states: below, within and above mean +- standard deviation. Constant columns, and
columns whose codes are those of an earlier one (if by other names), were removed; all others were kept. Missing values
of Lung Cancer were replaced by their column's mean. Arrhythmia is "normal" against the rest, without attribute 14 and
without the rows that still miss a value: 420 rows, for the paper's 370 cannot be derived from the published file.
Madelon and Dexter are the training samples.
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure every search against the proven best subset.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"data sets: {', '.join(DATA_SETS)} (all if none)")
    parser.add_argument("--data", type=Path, help=f"folder of the .npz files (else ${FOLDER_VARIABLE})")
    parser.add_argument("--quick", action="store_true", help="leave out NCI, DBWorld and Dexter")
    parser.add_argument("--again", action="store_true", help="measure rows that are there already")
    parser.add_argument("--from-results", action="store_true", help="measure nothing, write the page")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    given = parser.parse_args()
    for name in given.names:
        if name not in DATA_SETS:
            parser.error(f"no data set {name!r}; there are {', '.join(DATA_SETS)}")
    return given


def main() -> None:
    given = arguments()
    if given.from_results:
        rows = read_results(RESULTS)
        if not rows:
            sys.exit("no results are kept yet: run it with --data FOLDER first")
        given.out.write_text(page_text(rows))
        return
    folder = given.data or os.environ.get(FOLDER_VARIABLE)
    if not folder:
        sys.exit(f"no data: pass --data FOLDER or set {FOLDER_VARIABLE} to the folder of the .npz files")
    names = [name for name in given.names or DATA_SETS if name in QUICK or not given.quick]
    try:
        measure_all(names, Path(folder), again=given.again, results=RESULTS, page=given.out)
    except FileNotFoundError as missing:
        sys.exit(f"no data: there is no file {missing.filename}")
    except KeyboardInterrupt:
        sys.exit("stopped; the rows that were finished are kept")


if __name__ == "__main__":
    main()
