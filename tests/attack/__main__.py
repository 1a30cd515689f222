"""The whole attack: `make attack`, or `PYTHONPATH=tests python -m attack --help`."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from attack import hostile
from attack.claims import Ledger
from attack.mutations import SETTINGS, attack_bytes, attack_file
from attack.problems import KINDS, question
from attack.ways import attack_problem

PROBLEMS = 100_000
AT_ONCE = 100  # problems in one piece of work
PARTS = 4  # pieces of work for the mutations of one file
SPOILT = 300  # spoilt files of each kind
SHOWN = 3  # violations printed of each claim and kind


class Piece(NamedTuple):
    """A piece of work, the same in every process: what is attacked, and which of it."""

    what: str
    kind: str
    first: int = 0
    count: int = 1


class Done(NamedTuple):
    """What a piece of work came to: the way back to each violation stands beside it."""

    piece: Piece
    ledger: Ledger
    ways_back: list[str]


def pieces(wanted: argparse.Namespace) -> Iterator[Piece]:
    """All there is to do; what takes longest first."""
    only = wanted.only
    if only in (None, "hostile"):
        yield Piece("10^5 columns", "")
        yield from (Piece("table", name) for name in hostile.TABLES)
        yield from (Piece("destination", name) for name in hostile.DESTINATIONS)
        yield from (Piece("array", name) for name in hostile.ARRAYS)
        yield Piece("verify", "")
    if only in (None, "files"):
        yield from (Piece("file", kind, part, PARTS) for kind in SETTINGS for part in range(PARTS))
        yield from (Piece("bytes", kind, 0, SPOILT) for kind in SETTINGS)
    if only in (None, *KINDS):
        kinds = KINDS if only is None else (only,)
        shares = Counter(kinds[i % len(kinds)] for i in range(wanted.problems))
        for start in range(0, max(shares.values(), default=0), AT_ONCE):
            for kind, share in shares.items():
                if share > start:
                    yield Piece("problems", kind, wanted.seed + start, min(AT_ONCE, share - start))


def work(piece: Piece) -> Done:
    """Do a piece of work."""
    ledger, ways_back = Ledger(), []

    def noted(way_back: str) -> None:
        ways_back.extend([way_back] * (len(ledger.violations) - len(ways_back)))

    if piece.what == "problems":
        for seed in range(piece.first, piece.first + piece.count):
            with ledger.no_traceback(f"making {piece.kind!r} {seed}", refusals=False):  # nor one of the attack itself
                attack_problem(question(piece.kind, seed), ledger)
            noted(f'python -m attack --only "{piece.kind}" --seed {seed} --problems 1')
    elif piece.what == "file":
        attack_file(piece.kind, ledger, (piece.first, piece.count))
        noted("python -m attack --only files")
    elif piece.what == "bytes":
        attack_bytes(piece.kind, ledger, piece.count)
        noted("python -m attack --only files")
    else:
        by_name = {
            "table": hostile.attack_table,
            "destination": hostile.attack_destination,
            "array": hostile.attack_array,
        }
        if piece.what in by_name:
            by_name[piece.what](piece.kind, ledger)
        else:
            (hostile.attack_verify if piece.what == "verify" else hostile.attack_width)(ledger)
        noted("python -m attack --only hostile")
    return Done(piece, ledger, ways_back)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m attack", description=__doc__)
    parser.add_argument("--problems", type=int, default=PROBLEMS, help="how many problems (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first problem of each kind")
    parser.add_argument("--only", choices=["files", "hostile", *dict.fromkeys(KINDS)], help="this kind alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes (%(default)s)")
    wanted = parser.parse_args()
    started, work_list = time.monotonic(), list(pieces(wanted))
    problems: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    found: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    told = started
    # A new process now and then: what compiled code and caches keep would add up.
    with multiprocessing.Pool(wanted.jobs, maxtasksperchild=100) as pool:
        for number, done in enumerate(pool.imap_unordered(work, work_list), start=1):
            if done.piece.what == "problems":
                problems[done.piece.kind] += done.piece.count
            checked += done.ledger.checked
            for (claim, details), way_back in zip(done.ledger.violations, done.ways_back, strict=True):
                kind = done.piece.kind or done.piece.what
                if not found[claim, kind]:
                    say(f"first violation of {claim!r} in {kind!r}: {details[:500]!r}; again: {way_back}")
                found[claim, kind].append((details, way_back))
            if time.monotonic() - told > 30.0 or number == len(work_list):
                told = time.monotonic()
                wrong = sum(map(len, found.values()))
                say(f"{number} of {len(work_list)} pieces, {told - started:.0f} s, {wrong} violations")
    report(problems, checked, found, time.monotonic() - started)
    return 1 if found else 0


def report(problems: Counter[str], checked: Counter[str], found: dict[tuple[str, str], Any], seconds: float) -> None:
    """Counts, then every kind of violation with ways to see it again."""
    for title, counts in ("Problems by kind", problems), ("Claims checked", checked):
        say(f"\n{title} ({sum(counts.values())} in all)")
        for name, count in sorted(counts.items()):
            say(f"  {count:>9}  {name}")
    say(f"\nViolations ({sum(map(len, found.values()))} in all)")
    for (claim, kind), each in sorted(found.items()):
        say(f"  {len(each):>9}  {claim}, {kind}")
        for details, way_back in sorted(each)[:SHOWN]:
            say(f"             {details[:500]!r}\n             again: {way_back}")
    say(f"\n{seconds:.0f} s")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
