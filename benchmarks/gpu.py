"""What a GPU brings: checks and timings on the machine this is run on, in one go.

    python benchmarks/gpu.py --out FOLDER                        # everything; needs CuPy and a CUDA device
    python benchmarks/gpu.py --out FOLDER --codes CODES          # also the tables in CODES/codes_*.npz
    python benchmarks/gpu.py --out FOLDER --parts checks         # these alone: checks, interior_point, exact
    python benchmarks/gpu.py --out FOLDER --device cpu --quick   # small ones on the CPU, to try the script
    python benchmarks/gpu.py --out FOLDER --device cpu --parts greedy --codes CODES   # needs no GPU
    python benchmarks/gpu.py --page a/gpu.json b/gpu.json        # keep these results, and make docs/gpu.md of them

A table is an .npz file of C (rows x columns, whole numbers) and y (rows). FOLDER gets gpu.json and gpu.md, written
anew after every line, so a run that is stopped leaves what it measured. Failed checks end it with an error, after
everything was measured.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from certselect import information_terms, select, subset_problem
from certselect.certificate import upper_bound
from certselect.certificate.proof import replay
from certselect.relaxation import solve
from certselect.relaxation.arrays import CPU, Arrays, GpuArrays
from certselect.relaxation.nonnegative import Splitting
from genes import CRITERIA, SIZES, gene_table, prove
from page_section import table, wrapped
from relaxation import gaussian_problem

PARTS = ("checks", "interior_point", "exact", "greedy")
ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "gpu.json"
PAGE = ROOT / "docs" / "gpu.md"
INTERIOR_POINT = (2000, 5000, 10000, 20000)
GENE_TABLES = ((100, 2000), (100, 7000))
QUICK_INTERIOR_POINT, QUICK_GENE_TABLES, QUICK_SIZES = (300,), ((60, 1100),), (10,)
K = 20

Line = dict[str, Any]


class Machine:
    """The device that is measured, and what it holds."""

    def __init__(self, device: str) -> None:
        self.arrays: Arrays = CPU if device == "cpu" else GpuArrays()
        self.xp = self.arrays.xp

    def described(self) -> Line:
        cores = {"cpu": platform.processor() or platform.machine(), "numpy": np.__version__}
        if self.arrays is CPU:
            return {"device": "cpu", **cores}
        runtime = self.xp.cuda.runtime
        properties = runtime.getDeviceProperties(self.xp.cuda.Device().id)
        return {
            "device": properties["name"].decode(),
            "memory_gib": round(properties["totalGlobalMem"] / 2**30, 1),
            "cuda": runtime.runtimeGetVersion(),
            "cupy": self.xp.__version__,
            **cores,
        }

    def timed(self, work: Callable[[], Any]) -> tuple[Any, float, float]:
        """What comes of some work, its seconds, and the GiB of the device that it took at most."""
        self.arrays.release()
        began = time.perf_counter()
        answer = work()
        seconds = time.perf_counter() - began
        if self.arrays is CPU:
            held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        else:
            held = self.xp.get_default_memory_pool().total_bytes()
        return answer, round(seconds, 2), round(held / 2**30, 2)


def checks(machine: Machine, given: argparse.Namespace) -> Iterator[Line]:
    """The same questions on the CPU and on the device."""
    sizes = np.random.default_rng(0).integers(1, 4, 300)
    Q = gaussian_problem(300, K, np.float64)
    for method, tol in (("interior_point", 2e-6), ("low_rank", 2.2e-3)):
        for name, counted in (("plain", None), ("sizes", sizes)):
            here = solve(Q, K, method, sizes=counted)
            there = solve(Q, K, method, sizes=counted, arrays=machine.arrays)
            apart = abs(there.dual_value - here.dual_value) / abs(here.dual_value)
            bound = upper_bound(Q, K, there.multipliers, counted)
            ok = apart <= tol and there.status is here.status and bound <= there.dual_value * (1 + 2e-3)
            yield {"check": f"{method}, {name}", "apart": apart, "ok": ok, "iterations": there.iterations}
    double = np.tile(Q[:150, :150], (2, 2))  # every entry twice
    here, there = (solve(double, K, arrays=arrays) for arrays in (CPU, machine.arrays))
    apart = abs(there.dual_value - here.dual_value) / abs(here.dual_value)
    yield {"check": "interior_point, copies", "apart": apart, "ok": apart <= 2e-6, "iterations": there.iterations}
    yield rounds_agree(machine)
    yield proof_replays(machine, given)


def rounds_agree(machine: Machine) -> Line:
    n = 700  # in single precision, filtered
    Q = gaussian_problem(n, K, np.float64)
    subset = np.zeros(n)
    subset[np.argsort(-Q.diagonal())[:K]] = 1.0
    slacks = []
    for arrays in (CPU, machine.arrays):
        rounds = Splitting.from_subset(Q, K, np.ones(n, dtype=int), subset, arrays=arrays)
        rounds.advance(25)
        slacks.append(rounds.slack()[0])
    apart = float(np.abs(slacks[1] - slacks[0]).max() / np.abs(slacks[0]).max())
    return {"check": "rounds of the nonnegative relaxation", "apart": apart, "ok": apart <= 0.02, "iterations": 25}


def proof_replays(machine: Machine, given: argparse.Namespace) -> Line:
    """A proof made on the device, checked by certificate/ on the CPU."""
    terms = information_terms(*gene_table(60, 1100, seed=1), integers="levels")
    problem = subset_problem(terms, 10, "mrmr")
    made = prove(problem, machine.arrays, given.max_seconds)
    if made.proof is None:
        return {"check": "a proof replays", "apart": math.nan, "ok": False, "iterations": 0}
    replayed = replay(problem.units.reduced, made.known, made.proof)
    apart = abs(replayed.bound - made.bound) / abs(made.bound)
    return {"check": "a proof replays", "apart": apart, "ok": made.proven and apart <= 1e-9, "iterations": 0}


def interior_point(machine: Machine, given: argparse.Namespace) -> Iterator[Line]:
    for n in QUICK_INTERIOR_POINT if given.quick else INTERIOR_POINT:
        Q = gaussian_problem(n, K, np.float64 if n < 10000 else np.float32)

        def answer(Q: np.ndarray = Q) -> Any:
            return solve(Q, K, "interior_point", tol=1e-6, max_seconds=4 * given.max_seconds, arrays=machine.arrays)

        if n <= 2000:
            answer()  # libraries are loaded and kernels compiled by the first one
        found, seconds, gib = machine.timed(answer)
        yield {
            "n": n,
            "seconds": seconds,
            "solver_seconds": round(found.seconds, 2),
            "iterations": found.iterations,
            "gap": found.gap,
            "status": found.status.value,
            "gib": gib,
        }


def tables(given: argparse.Namespace) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for rows, columns in QUICK_GENE_TABLES if given.quick else GENE_TABLES:
        yield f"gene-like {rows} x {columns}", *gene_table(rows, columns, seed=0)
    for path in sorted(given.codes.glob("codes_*.npz")) if given.codes else []:
        held = np.load(path, allow_pickle=False)
        yield path.stem.removeprefix("codes_"), held["C"], held["y"]


def exact(machine: Machine, given: argparse.Namespace) -> Iterator[Line]:
    for name, codes, y in tables(given):
        terms = information_terms(codes, y, integers="levels", measure="plugin", correction="none")
        for criterion in CRITERIA:
            for k in QUICK_SIZES if given.quick else SIZES:
                problem = subset_problem(terms, k, criterion)
                # Pairs are counted when first asked for.
                _, counting, _ = machine.timed(lambda problem=problem: problem.units.reduced.matrix)
                made, seconds, gib = machine.timed(
                    lambda problem=problem: prove(problem, machine.arrays, given.max_seconds)
                )
                yield {
                    "table": name,
                    "columns": codes.shape[1],
                    "criterion": CRITERIA[criterion],
                    "k": k,
                    "value": made.value,
                    "bound": made.bound,
                    "gap": made.gap,
                    "proven": made.proven,
                    "open": made.open_features,
                    "seconds": seconds,
                    "counting_seconds": counting,
                    "gib": gib,
                }


def greedy(machine: Machine, given: argparse.Namespace) -> Iterator[Line]:
    """What the greedy searches of the same problems come to, by themselves and polished; always on the CPU."""
    for name, codes, y in tables(given):
        terms = information_terms(codes, y, integers="levels", measure="plugin", correction="none")
        for criterion in CRITERIA:
            for k in QUICK_SIZES if given.quick else SIZES:
                problem = subset_problem(terms, k, criterion)
                line: Line = {"table": name, "criterion": CRITERIA[criterion], "k": k}
                for search in ("forward", "backward"):
                    line[search] = select(problem, search).objective
                    line[f"{search}, polished"] = select(problem, search, polish=True).objective
                yield line


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def markdown(results: dict[str, Any]) -> str:
    machine = ", ".join(f"{key} {value}" for key, value in results["machine"].items() if key != "device")
    parts = [f"# {results['machine']['device']}", machine]
    for part in PARTS:
        lines = results.get(part, [])
        if lines:
            head = list(lines[0])
            parts.append(f"## {part}")
            parts.append(table(head, [[shown(line.get(key, "")) for key in head] for line in lines], left=1))
    if results["failures"]:
        parts.append("## failures\n\n" + "\n\n".join(f"```\n{failure}\n```" for failure in results["failures"]))
    return "\n\n".join(parts) + "\n"


def write(results: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gpu.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "gpu.md").write_text(markdown(results))


def kept_together(files: list[Path]) -> dict[str, Any]:
    """The results of several runs; of a part that several measured, the lines of all of them."""
    together: dict[str, Any] = {"machine": {}, "failures": []}
    for file in files:
        run = json.loads(file.read_text())
        if run["machine"]["device"] != "cpu":
            together["machine"] = run["machine"]
        together["failures"] += run["failures"]
        for part in PARTS:
            together.setdefault(part, []).extend(run.get(part, []))
    return together


def below(value: float, best: float) -> str:
    """By how many percent a value is below the best, with two digits; 0 where it is the same."""
    missed = 100.0 * (best - value) / abs(best)
    return "0" if missed <= 1e-10 else f"{missed:.2g}"


def page(results: dict[str, Any]) -> str:
    """docs/gpu.md: what was proven on a GPU, how quickly, and how far from it the greedy searches stay."""
    machine, searches = results["machine"], {}
    for line in results["greedy"]:
        searches[line["table"], line["criterion"], line["k"]] = line
    rows, lost = [], {}
    for line in results["exact"]:
        question = line["table"], line["criterion"], line["k"]
        others = searches.get(question, {})
        names = [name for name in ("forward", "forward, polished", "backward", "backward, polished") if name in others]
        missed = [below(others[name], line["value"]) for name in names]
        if "forward" in others:
            part = 100.0 * (line["value"] - others["forward"]) / abs(line["value"])
            lost.setdefault(line["table"], []).append((part, line["criterion"], line["k"]))
        gap = "0" if line["proven"] else f"{100.0 * line['gap']:.2g}"
        proven = "yes" if line["proven"] else "no"
        numbers = [str(line["columns"]), line["criterion"], str(line["k"]), f"{line['value']:.6f}", gap, proven]
        rows.append([line["table"], *numbers, f"{line['seconds']:.1f}", *(missed or ["", "", "", ""])])
    head = ["table", "n", "criterion", "k", "best (nats)", "gap (%)", "proven", "seconds"]
    head += ["forward", "polished", "backward", "polished"]
    proven = sum(line["proven"] for line in results["exact"])
    said = []
    for name, parts in lost.items():
        most, criterion, k = max(parts)
        found = sum(part <= 1e-10 for part, _, _ in parts)
        where = f", and was {most:.2g} % below it at worst ({criterion}, k = {k})" if most > 1e-10 else ""
        said.append(f"* **{name}**: forward selection found the best value in {found} of {len(parts)}{where}.")
    dense = [
        [str(line["n"]), str(line["seconds"]), str(line["iterations"]), f"{line['gap']:.1e}", line["status"]]
        for line in results["interior_point"]
    ]
    checked = [[line["check"], f"{line['apart']:.1e}", "yes" if line["ok"] else "no"] for line in results["checks"]]
    about = f"{machine['device']}, {machine['memory_gib']} GiB, CuPy {machine['cupy']}"
    parts = [
        "<!-- Made by `python benchmarks/gpu.py --page`, from benchmarks/results/gpu.json. Do not edit. -->",
        "# Thousands of features, proven on a GPU",
        f"Measured on one {about}, by `benchmarks/gpu.py`. Rounds are computed on the GPU in single precision; what "
        "they prove is derived on the machine's CPU (4 or 8 of its 16 cores) in double precision, and is part of the "
        "seconds.",
        f"Of {len(results['exact'])} subsets, {proven} are proven optimal. Three-state columns, copies and constant "
        "columns removed; NCI, DBWorld (dbw) and Dexter (dex) with all others, gene-like tables from "
        "`benchmarks/genes.py`.",
        table(head, rows, left=1),
        "**forward**, **backward** and each **polished** (single swaps afterwards): percent that the search's subset "
        "is worth less than the best one (the best known where it is not proven); 0 where it is worth the same. "
        "**gap**: how much more any subset can be worth, "
        "in percent. **seconds**: wall time of the exact method, pair terms counted before.",
        "## What the greedy search loses",
        "\n".join(said),
        "## The plain relaxation",
        "By the interior-point method to a gap of 1e-6, k = 20, the Gaussian problem of `benchmarks/relaxation.py`. "
        "Beyond 5000 entries rounding ends it too early, and `auto` takes the low-rank method.",
        table(["n", "seconds", "iterations", "gap", "ended"], dense, left=0),
        "## Checks",
        "The same question on the CPU and on the GPU: how far apart the answers are, relative to them.",
        table(["check", "apart", "as it should be"], checked, left=1),
    ]
    kept = ("|", "*", "<", "#")
    parts = [part if part.startswith(kept) and not part.startswith("**") else wrapped(part) for part in parts]
    return "\n\n".join(parts) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Check and time the solvers on a GPU.")
    parser.add_argument("--out", type=Path, help="folder for gpu.json and gpu.md")
    parser.add_argument(
        "--page", type=Path, nargs="*", help="results to keep and to make the page of; none: those kept"
    )
    parser.add_argument("--codes", type=Path, help="folder of codes_*.npz")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--max-seconds", type=float, default=60.0, help="for each proof")
    parser.add_argument("--quick", action="store_true", help="small problems")
    given = parser.parse_args()
    if given.page is None and given.out is None:
        parser.error("--out FOLDER or --page is needed")
    return given


def main() -> None:
    given = arguments()
    if given.page is not None:
        if given.page:
            RESULTS.write_text(json.dumps(kept_together(given.page), indent=1) + "\n")
        PAGE.write_text(page(json.loads(RESULTS.read_text())))
        return
    machine = Machine(given.device)
    results: dict[str, Any] = {"machine": machine.described(), "failures": []}
    work = {"checks": checks, "interior_point": interior_point, "exact": exact, "greedy": greedy}
    for part in given.parts:
        results[part] = []
        try:
            for line in work[part](machine, given):
                results[part].append(line)
                write(results, given.out)
                print(part, *(f"{key}={shown(value)}" for key, value in line.items()), flush=True)
        except Exception:  # what one part cannot do must not keep the others from being measured
            results["failures"].append(traceback.format_exc())
            write(results, given.out)
            print(results["failures"][-1], file=sys.stderr, flush=True)
    bad = [line["check"] for line in results.get("checks", []) if not line["ok"]]
    if bad or results["failures"]:
        sys.exit(f"failed: {', '.join(bad) or 'see above'}")


if __name__ == "__main__":
    main()
