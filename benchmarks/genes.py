"""Tables like those of gene expression, few rows and thousands of columns, and subsets of them proven optimal.

    python benchmarks/genes.py                                       # 100 x 1000, every question
    python benchmarks/genes.py --columns 2000 7000 --device cuda     # larger ones, on a GPU
    python benchmarks/genes.py --page docs/PAGE.md                   # the section of a page, from the results kept

A question is a table, a criterion (mRMR or JMI) and k. Each answer is kept in benchmarks/results/genes.json as
soon as it is there, so a run that was stopped goes on where it was; `--again` measures anew.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from certselect import SubsetProblem, information_terms, subset_problem
from certselect.certificate.gap import gap
from certselect.certificate.proof import Proof
from certselect.relaxation.arrays import Arrays
from certselect.relaxation.device import arrays_for, on_device
from certselect.search.found import Found
from certselect.search.strategies.exact import prover_for, start_well
from page_section import replace_section, table, wrapped

RESULTS = Path(__file__).parent / "results" / "genes.json"
BEGIN = "<!-- From here to the end of it: made by `python benchmarks/genes.py`. Do not edit. -->"
END = "<!-- The end of what benchmarks/genes.py made. -->"
CRITERIA = {"mrmr": "mRMR", "jmi": "JMI"}
SIZES = (10, 20, 50)
# What the rounds hold on a device at most, in n x n matrices of 8-byte numbers: theirs are of 4 bytes.
MATRICES = 8
SMALLEST_BLOCK, LARGEST_BLOCK = 5, 40
COLUMNS_PER_RELEVANT_BLOCK = 250


def gene_table(rows: int, columns: int, seed: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Codes 0, 1, 2 (rows, columns) and classes (rows,): blocks of correlated columns, a few of them relevant.

    Columns come in blocks of 5 to 40, as genes come in pathways. A column is its block's hidden value times a
    loading, plus noise, and coded by whether it is below, within or above mean +- standard deviation. In one
    block of every 250 columns (three at least) the hidden value depends on the class: its mean differs between
    classes by up to two standard deviations. The same arguments give the same table.
    """
    rng = np.random.default_rng([seed, rows, columns, classes])
    y = rng.permutation(np.arange(rows) % classes)
    blocks: list[int] = []
    while sum(blocks) < columns:
        blocks.append(min(int(rng.integers(SMALLEST_BLOCK, LARGEST_BLOCK + 1)), columns - sum(blocks)))
    block_of = np.repeat(np.arange(len(blocks)), blocks)
    hidden = rng.standard_normal((rows, len(blocks)))
    relevant = rng.permutation(len(blocks))[: max(3, columns // COLUMNS_PER_RELEVANT_BLOCK)]
    shifts = rng.uniform(0.5, 2.0, len(relevant)) * rng.permuted(
        np.tile(np.linspace(-0.5, 0.5, classes)[:, None], len(relevant)), axis=0
    )
    hidden[:, relevant] += shifts[y]
    values = hidden[:, block_of] * rng.uniform(0.3, 1.5, columns)
    values += rng.standard_normal((rows, columns))
    values -= values.mean(axis=0)
    deviation = values.std(axis=0)
    codes = 1 + (values > deviation).astype(np.int8) - (values < -deviation).astype(np.int8)
    return codes[:, rng.permutation(columns)], y


@dataclass(frozen=True)
class Proving:
    """How far a proof came."""

    value: float
    bound: float
    proven: bool
    seconds: float
    open_features: int
    proof: Proof | None
    known: float

    @property
    def gap(self) -> float:
        return gap(self.value, self.bound)


def prove(problem: SubsetProblem, arrays: Arrays, max_seconds: float) -> Proving:
    """Search and prove as strategy="exact" does, and keep what it does not show: which features are still open."""
    began = time.perf_counter()
    units, found = problem.units, Found()
    start_well(units, found, np.random.default_rng(0))
    prover = prover_for(units, found.indices)
    prover.arrays = arrays
    prover.run(max_seconds=max(0.0, max_seconds - (time.perf_counter() - began)))
    proven = prover.bound <= prover.known
    return Proving(
        value=prover.value,
        bound=prover.bound,
        proven=proven,
        seconds=round(time.perf_counter() - began, 1),
        open_features=0 if proven else len(prover.root.problem),
        proof=prover.proof,
        known=prover.known,
    )


@dataclass(frozen=True)
class Row:
    """What came of a question."""

    rows: int
    columns: int
    seed: int
    criterion: str
    k: int
    device: str
    value: float
    bound: float
    proven: bool
    seconds: float
    open_features: int

    @property
    def question(self) -> tuple[int, int, int, str, int, str]:
        return self.rows, self.columns, self.seed, self.criterion, self.k, self.device

    def cells(self) -> list[str]:
        left = "0" if self.proven else f"{100 * gap(self.value, self.bound):.2g}"
        return [
            CRITERIA[self.criterion],
            self.device,
            f"{self.rows} x {self.columns}",
            str(self.k),
            f"{self.value:.6f}",
            left,
            "yes" if self.proven else "no",
            str(self.open_features),
            f"{self.seconds:.1f}",
        ]


HEAD = ("criterion", "device", "table", "k", "value", "gap, %", "proven", "features open", "seconds")


def results_table(rows: Iterable[Row]) -> str:
    return table(HEAD, [row.cells() for row in rows], left=2)


def read_results(path: Path) -> list[Row]:
    return [Row(**kept) for kept in json.loads(path.read_text())] if path.exists() else []


def write_results(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(asdict(row)) for row in rows) + "\n]\n")


def measure(given: argparse.Namespace, told: Callable[[Row], None]) -> None:
    kept = {row.question: row for row in read_results(RESULTS)}
    for columns in given.columns:
        with on_device(given.device):
            arrays, _ = arrays_for(columns, MATRICES)
        terms = None
        for criterion in given.criteria:
            for k in given.sizes:
                question = (given.rows, columns, given.seed, criterion, k, arrays.name)
                if question in kept and not given.again:
                    told(kept[question])
                    continue
                if terms is None:
                    terms = information_terms(*gene_table(given.rows, columns, given.seed), integers="levels")
                answer = prove(subset_problem(terms, k, criterion), arrays, given.max_seconds)
                kept[question] = Row(
                    *question, answer.value, answer.bound, answer.proven, answer.seconds, answer.open_features
                )
                write_results(RESULTS, sorted(kept.values(), key=lambda row: row.question))
                told(kept[question])


def section(rows: list[Row]) -> str:
    proven, slowest = sum(row.proven for row in rows), max(rows, key=lambda row: row.seconds)
    said = (
        f"Of {len(rows)} subsets, {proven} are proven optimal; the longest proof took {slowest.seconds:.0f} seconds. "
        "The tables are made up (`benchmarks/genes.py`): three-state columns in correlated blocks, a few of which "
        f"depend on a class of two. *cpu* has {os.cpu_count()} cores; *features open* counts those that the proof had "
        "not decided when it ended."
    )
    return f"{BEGIN}\n\n{wrapped(said)}\n\n{results_table(rows)}\n\n{END}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Prove subsets of gene-like tables optimal.")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--columns", type=int, nargs="+", default=[1000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="K")
    parser.add_argument("--criteria", nargs="+", default=list(CRITERIA), choices=list(CRITERIA))
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--max-seconds", type=float, default=120.0, help="for each question")
    parser.add_argument("--again", action="store_true", help="measure what is there already")
    parser.add_argument("--page", type=Path, help="measure nothing, write the section of this page")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    if given.page is not None:
        replace_section(given.page, section(read_results(RESULTS)), BEGIN, END)
        return
    print(table(HEAD, [], left=2), flush=True)
    measure(given, lambda row: print(f"| {' | '.join(row.cells())} |", flush=True))


if __name__ == "__main__":
    main()
