"""Hostile tables, options and paths, by the command line and in Python: words, an exit code, nothing broken."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attack.claims import Ledger
from attack.mutations import made_file
from certselect import choose_subset, information_terms, verify
from command_line import COMMAND, in_process

ROWS = [(0, 1, "a", 0.5, 0), (1, 0, "b", 1.5, 1), (0, 0, "a", 2.5, 0), (1, 1, "c", 3.5, 1), (1, 0, "b", 4.5, 1)]


def _csv(names: list[str], rows: Any = ROWS) -> bytes:
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    return "\n".join([quoted, *(",".join(map(str, row)) for row in rows), ""]).encode("utf-8", "surrogatepass")


PLAIN = _csv(["p", "q", "r", "s", "y"])
TARGET = ["-t", "y"]
LONG = "n" * 70_000
NUMBERS = _csv(["p", "q", "y"], [(i % 7, 0.37 * i, i % 2) for i in range(40)])
LEVELS = [(i, -i, i % 2) for i in range(100_000)]

# The file, and what is asked of it: each must end in an answer or in words.
TABLES: dict[str, tuple[bytes, list[str]]] = {
    "empty file": (b"", TARGET),
    "only a header": (b"p,q,y\n", TARGET),
    "one row": (b"p,q,y\n1,2,3\n", TARGET),
    "one column": (b"y\n1\n0\n1\n", TARGET),
    "constant target": (b"p,q,y\n1,2,1\n2,1,1\n", TARGET),
    "constant columns": (b"p,q,y\n1,2,1\n1,2,0\n", TARGET),
    "escapes in names": (_csv(["\x1b[31mred", "\x1b]0;title\x07", "\u202eback", "bell\x07", "y"]), TARGET),
    "newlines in names": (_csv(["a\nb", "a\r\nb", "\t", "c\x00d", "y"]), TARGET),
    "markup in names": (_csv(["[red]a[/red]", "[/]", "[link=http://x]", "\\[b", "y"]), TARGET),
    "an empty name": (_csv(["", "q", "r", "s", "y"]), TARGET),
    "a name twice": (_csv(["p", "p", "r", "s", "y"]), TARGET),
    "the target twice": (_csv(["p", "y", "r", "s", "y"]), TARGET),
    "a long name": (_csv([LONG, "q", "r", "s", "y"]), TARGET),
    "no such target": (PLAIN, ["-t", "nothing\x1b[2J"]),
    "not a number": (_csv(["p", "q", "y"], [("nan", 1, 0), ("inf", 0, 1), ("-inf", "", 0), (1, 1, 1)]), TARGET),
    "infinite target": (_csv(["p", "y"], [(1, "inf"), (2, 0.5), (3, "nan")]), TARGET),
    "whole numbers that overflow": (
        _csv(["p", "q", "y"], [(2**63, 1, 0), (2**64, 0, 1), (-(2**70), 1, 1)]),
        TARGET,
    ),
    "floats at the ends": (_csv(["p", "y"], [(1e308, 0), (-1e308, 1), (5e-324, 0), (0.0, 1)]), TARGET),
    "mixed types": (_csv(["p", "q", "y"], [(1, "x", 0), ("two", 2.5, 1), ("", "true", 0)]), TARGET),
    "ragged rows": (b"p,q,y\n1,2\n1,2,3,4\n", TARGET),
    "no end of quotes": (b'p,q,y\n"1,2,0\n1,2,1\n', TARGET),
    "not text": (bytes(range(256)) * 4, TARGET),
    "latin text": ("p,größe,y\n1,ä,0\n2,ö,1\n".encode("latin-1"), TARGET),
    "two bytes a letter": ("p,y\n1,0\n2,1\n".encode("utf-16"), TARGET),
    "zero bytes": (b"p,y\n1,0\n\x00,1\n", TARGET),
    "bins of a billion": (NUMBERS, [*TARGET, "--bins", "1000000000"]),
    "bins squared": (NUMBERS, [*TARGET, "--bins", "\u00b2"]),
    "bins of 5000 digits": (NUMBERS, [*TARGET, "--bins", "9" * 5000]),
    "negative bins": (NUMBERS, [*TARGET, "--bins=-3"]),
    "target bins of a billion": (NUMBERS, ["-t", "q", "--target-bins", "1000000000"]),
    "neighbours beyond the rows": (
        NUMBERS,
        [*TARGET, "--measure", "neighbors", "--n-neighbors", "99"],
    ),
    "a beta that is not finite": (PLAIN, [*TARGET, "--criterion", "mifs", "--beta", "inf"]),
    "a huge beta": (PLAIN, [*TARGET, "--criterion", "mifs", "--beta", "1e300"]),
    "a beta beyond the range": (PLAIN, [*TARGET, "--criterion", "mifs", "--beta", "1.7e308", "--strategy", "exact"]),
    "no features": (PLAIN, [*TARGET, "-k", "0"]),
    "minus one feature": (PLAIN, [*TARGET, "-k", "-1"]),
    "more features than there are": (PLAIN, [*TARGET, "-k", "99"]),
    "features beyond the range": (PLAIN, [*TARGET, "-k", str(2**70)]),
    "include and exclude": (PLAIN, [*TARGET, "-k", "2", "--include", "p", "--exclude", "p"]),
    "unknown include": (PLAIN, [*TARGET, "--include", "\x1b[1mp"]),
    "a budget without costs": (PLAIN, [*TARGET, "--budget", "1"]),
    "a budget that is none": (PLAIN, [*TARGET, "--budget", "nan", "--costs", "TABLE"]),
    "costs from the table": (PLAIN, [*TARGET, "--budget", "1", "--costs", "TABLE"]),
    "costs from a folder": (PLAIN, [*TARGET, "--budget", "1", "--costs", "FOLDER"]),
    "an unknown strategy": (PLAIN, [*TARGET, "--strategy", "\x1b[2Jexakt"]),
    "an unknown option": (PLAIN, [*TARGET, "--strategy", "exact", "--option", "depth=3"]),
    "no time": (PLAIN, [*TARGET, "--strategy", "exact", "--max-seconds", "0"]),
    "negative time": (PLAIN, [*TARGET, "--strategy", "exact", "--max-seconds=-1"]),
    "a weight of text": (PLAIN, [*TARGET, "--weight", "r"]),
    "negative weights": (_csv(["p", "w", "y"], [(1, -1, 0), (0, 2, 1)]), [*TARGET, "--weight", "w"]),
    "weights beyond the range": (_csv(["p", "w", "y"], [(1, 1e308, 0), (0, 1e308, 1)]), [*TARGET, "--weight", "w"]),
    "a hundred thousand levels": (
        _csv(["p", "q", "y"], LEVELS),
        [*TARGET, "-k", "1"],
    ),
    "a target of many levels": (_csv(["p", "y"], [(i % 3, i) for i in range(3000)]), [*TARGET, "-k", "1"]),
}
CONTROL = {chr(code) for code in [*range(32), *range(127, 160), 0x202E]} - set("\n\r\t")
COMMANDS = ("select", "path")


def attack_table(name: str, ledger: Ledger) -> None:
    """One hostile table or option through `select` and `path`."""
    content, options = TABLES[name]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        table.write_bytes(content)
        options = [{"TABLE": str(table), "FOLDER": folder}.get(option, option) for option in options]
        for command in COMMANDS:
            asked = options if command == "select" else _without_size(options)
            _run(ledger, f"{command}, {name}", command, table, *asked)
            ledger.check("input unchanged", table.read_bytes() == content, f"{command}, {name}: the table is another")
        ledger.check("no leftovers", os.listdir(folder) == ["table.csv"], f"{name} leaves {os.listdir(folder)}")


def _without_size(options: list[str]) -> list[str]:
    """`path` tries all sizes."""
    return [option for i, option in enumerate(options) if option != "-k" and options[i - 1] != "-k"]


@contextmanager
def little_memory(more: int = 4 << 30) -> Iterator[None]:
    """At most so many bytes more than there are now: what a small input may take without taking the machine."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _run(ledger: Ledger, what: str, *arguments: Any) -> subprocess.CompletedProcess[str] | None:
    """The command in this process: an exit code, words without control characters, no traceback."""
    done = None
    with ledger.no_traceback(what), little_memory():
        done = in_process(*arguments)
    if done is not None:
        _check_output(ledger, what, done)
    return done


def _check_output(ledger: Ledger, what: str, done: subprocess.CompletedProcess[str]) -> None:
    said = done.stdout + done.stderr
    ended = isinstance(done.returncode, int) and 0 <= done.returncode <= 130
    ledger.check("hostile inputs", ended, f"{what}: {done.returncode!r}")
    ledger.check("hostile inputs", "Traceback" not in said, f"{what}: {said[-300:]}")
    control = sorted(letter for letter in set(said) if letter in CONTROL)
    ledger.check("no control characters", not control, f"{what} prints {control}")
    ledger.check("short messages", len(done.stderr) < 5000, f"{what}: {len(done.stderr)} letters")


@dataclass(frozen=True)
class Place:
    """A folder with a table in it, and where a result is to be written."""

    folder: Path
    table: Path
    target: Path


def _onto_the_table(place: Place) -> Path:
    return place.table


def _onto_the_table_by_another_way(place: Place) -> Path:
    return place.folder / "." / "sub" / ".." / place.table.name


def _onto_a_link_to_the_table(place: Place) -> Path:
    place.target.symlink_to(place.table)
    return place.target


def _onto_a_hard_link(place: Place) -> Path:
    os.link(place.table, place.target)
    return place.target


def _onto_a_link(place: Place) -> Path:
    (place.folder / "other.txt").write_text("precious")
    place.target.symlink_to(place.folder / "other.txt")
    return place.target


def _onto_a_link_to_nothing(place: Place) -> Path:
    place.target.symlink_to(place.folder / "nothing")
    return place.target


def _onto_a_pipe(place: Place) -> Path:
    os.mkfifo(place.target)
    return place.target


def _onto_a_device(place: Place) -> Path | None:
    try:
        os.mknod(place.target, 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # a null device of our own
    except (PermissionError, OSError):
        return None  # only root can make one
    return place.target


def _onto_a_folder(place: Place) -> Path:
    place.target.mkdir()
    return place.target


def _into_no_folder(place: Place) -> Path:
    return place.folder / "missing" / "out.json"


def _into_a_file(place: Place) -> Path:
    return place.table / "out.json"


def _into_a_folder_read_only(place: Place) -> Path:
    shut = place.folder / "shut"
    shut.mkdir(mode=0o500)
    return shut / "out.json"


def _into_what_is_no_folder_of_files(place: Place) -> Path:
    return Path("/proc/self/out.json")


def _onto_a_long_name(place: Place) -> Path:
    return place.folder / ("n" * 300)


def _onto_a_name_of_escapes(place: Place) -> Path:
    return place.folder / "\x1b[31m" / "out.json"


DESTINATIONS: dict[str, Callable[[Place], Path | None]] = {
    "the table": _onto_the_table,
    "the table by another way": _onto_the_table_by_another_way,
    "a link to the table": _onto_a_link_to_the_table,
    "a hard link to the table": _onto_a_hard_link,
    "a link": _onto_a_link,
    "a link to nothing": _onto_a_link_to_nothing,
    "a pipe": _onto_a_pipe,
    "a device": _onto_a_device,
    "a folder": _onto_a_folder,
    "no folder": _into_no_folder,
    "a file's inside": _into_a_file,
    "a folder read-only": _into_a_folder_read_only,
    "no folder of files": _into_what_is_no_folder_of_files,
    "a long name": _onto_a_long_name,
    "a name of escapes": _onto_a_name_of_escapes,
}


def attack_destination(name: str, ledger: Ledger) -> None:
    """`--json` onto what must not be lost: the table, links, pipes, devices and folders stay what they are."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        place = Place(folder, folder / "table.csv", folder / "out.json")
        place.table.write_bytes(PLAIN)
        (folder / "sub").mkdir()
        destination = DESTINATIONS[name](place)
        if destination is None:
            return
        before = _kind_of_file(destination)
        link = os.readlink(destination) if before == "link" else None
        what = f"select --json onto {name}"
        # A pipe without a reader may block: a process that can be ended.
        arguments = ["select", str(place.table), "-t", "y", "-k", "2", "--json", str(destination)]
        if name in ("a pipe", "a device"):
            _run_apart(ledger, what, arguments)
        else:
            _run(ledger, what, *arguments)
        ledger.check("input unchanged", place.table.read_bytes() == PLAIN, f"{what}: the table is another")
        if before is not None:
            now = _kind_of_file(destination)
            ledger.check("writing destroys nothing", now == before, f"{what}: it was a {before} and is a {now}")
        if link is not None:
            kept = destination.is_symlink() and os.readlink(destination) == link
            ledger.check("writing destroys nothing", kept, f"{what}: the link is gone")
        leftovers = [path.name for path in folder.rglob("*") if ".part" in path.name or "unfinished" in path.name]
        ledger.check("no leftovers", not leftovers, f"{what} leaves {leftovers}")
        if (folder / "shut").exists():
            (folder / "shut").chmod(0o700)


def _kind_of_file(path: Path) -> str | None:
    """What stands there, a link as a link: None for nothing, or for what may be replaced."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    kinds = {stat.S_IFLNK: "link", stat.S_IFIFO: "pipe", stat.S_IFCHR: "device", stat.S_IFDIR: "folder"}
    return kinds.get(stat.S_IFMT(mode))


def _run_apart(ledger: Ledger, what: str, arguments: list[str], memory: int | None = None) -> None:
    """The command in a process of its own, ended after a while; with so many bytes of memory, if given."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    command = [*COMMAND, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, preexec_fn=limit if memory is not None else None
        )
    except subprocess.TimeoutExpired:
        ledger.check("hostile inputs", False, f"{what}: no end")
        return
    _check_output(ledger, what, done)
    ledger.checked["no traceback"] += 1


def _arrays() -> dict[str, tuple[Any, Any]]:
    """Data in memory that no file could hold, or that a file would hold otherwise."""
    y = [0, 1, 0, 1]
    loop: list[Any] = [1, 2]
    loop.append(loop)
    return {
        "no rows": (np.zeros((0, 3)), []),
        "no columns": (np.zeros((4, 0)), y),
        "one number": (np.float64(3.0), y),
        "three dimensions": (np.zeros((4, 2, 2)), y),
        "not a number": (np.array([[np.nan, 1], [2, 1], [3, 0], [4, 0]]), y),
        "infinite": (np.array([[np.inf, 1], [-np.inf, 1], [3, 0], [4, 0]]), y),
        "at the ends of the range": (np.array([[1.7e308, 1], [-1.7e308, 1], [5e-324, 0], [0, 0]]), y),
        "complex": (np.ones((4, 2)) * 1j, y),
        "objects": (np.array([[object(), 1], [None, "a"], [b"b", 2.5], [[], {}]], dtype=object), y),
        "a list in itself": ([loop, loop, loop, loop], y),
        "whole numbers that overflow": ([[2**70, 1], [2**71, 0], [-(2**70), 1], [0, 0]], y),
        "dates": (pd.DataFrame({"d": pd.date_range("2020", periods=4), "e": [1, 0, 1, 0]}), y),
        "intervals of time": (pd.DataFrame({"d": pd.to_timedelta([1, 2, 3, 4], "s")}), y),
        "a target too short": (np.eye(4), [0, 1]),
        "a target of one value": (np.eye(4), [1, 1, 1, 1]),
        "a target of nothing": (np.eye(4), [None, None, None, None]),
        "a target that is not a number": (np.eye(4), [np.nan, np.nan, 1.0, 0.0]),
        "a target of objects": (np.eye(4), [object(), object(), [], {}]),
        "text": (np.array([["a", "b"], ["b", "b"], ["a", "c"], ["b", "c"]]), y),
        "names that are no text": (pd.DataFrame(np.eye(4), columns=[0, None, 1.5, ("a", 1)]), y),
        "names twice": (pd.DataFrame(np.eye(4), columns=["a", "a", "b", "b"]), y),
        "nothing": (None, None),
        "a set": ({1, 2}, y),
        "a function": (len, y),
    }


ARRAYS = tuple(_arrays())


def attack_array(name: str, ledger: Ledger) -> None:
    """Data in memory: a result that verifies, or a refusal in words; the data stay as they are."""
    X, y = _arrays()[name]
    before = X.copy() if isinstance(X, np.ndarray) else None
    for settings in ({}, {"strategy": "exact", "measure": "plugin"}, {"measure": "gaussian_copula"}):
        result = None
        with ledger.no_traceback(f"choose_subset, {name}, {settings}"):
            information_terms(X, y, measure="plugin", correction="none")
        with ledger.no_traceback(f"choose_subset, {name}, {settings}"):
            result = choose_subset(X, y, 1, **settings)
        ledger.check("hostile inputs", True)
        if result is not None:
            with ledger.no_traceback(f"verify, {name}, {settings}", refusals=False):
                outcome = verify(result, X, y)
                ledger.check("true files", outcome.holds, f"{name}, {settings}: {outcome.reasons}")
    if before is not None and before.dtype != object:
        ledger.check("input unchanged", np.array_equal(before, X, equal_nan=before.dtype.kind == "f"), name)


def attack_verify(ledger: Ledger) -> None:
    """`certselect verify` on what is no result, on another table and on words that reach for the terminal."""
    true = made_file("exact by listing")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        table, result = folder / "table.csv", folder / "result.json"
        frame = pd.DataFrame(true.X, columns=[f"x{i}" for i in range(true.X.shape[1])]).assign(y=true.y)
        frame.to_csv(table, index=False)
        (folder / "folder").mkdir()
        escaped = json.dumps(true.stored).replace("Proven", "\\u001b[2JProven").replace("x5", "\\u001b]0;x\\u0007")
        contents: dict[str, bytes] = {
            "a true file": json.dumps(true.stored).encode(),
            "escapes": escaped.encode(),
            "nothing": b"",
            "a number": b"1",
            "a list": b"[]",
            "an object": b"{}",
            "deep": b"[" * 100_000,
            "long": json.dumps(true.stored | {"format": "n" * 10**6}).encode(),
        }
        for name, content in contents.items():
            result.write_bytes(content)
            done = _run(ledger, f"verify, {name}", "verify", result, table, "-t", "y")
            if done is not None:
                ledger.check(
                    "verify by exit code",
                    (done.returncode == 0) == (name == "a true file"),
                    f"{name}: {done.returncode}",
                )
        result.write_bytes(contents["a true file"])
        for place in (folder / "folder", folder / "missing", Path("/dev/null"), Path("/dev/zero"), table):
            done = _run(ledger, f"verify, {place.name} for a result", "verify", place, table, "-t", "y")
            ledger.check("verify by exit code", done is not None and done.returncode != 0, f"{place} verifies")
        for content in (b"", PLAIN, frame.assign(x0=0).to_csv(index=False).encode()):
            other = folder / "other.csv"
            other.write_bytes(content)
            done = _run(ledger, "verify, another table", "verify", result, other, "-t", "y")
            ledger.check("verify by exit code", done is not None and done.returncode != 0, "another table verifies")
        excluded = made_file("exact under exclude")
        frame = pd.DataFrame(excluded.X, columns=[f"x{i}" for i in range(excluded.X.shape[1])]).assign(y=excluded.y)
        frame.to_csv(table, index=False)
        result.write_text(json.dumps(excluded.stored))
        done = _run(ledger, "verify under exclude", "verify", result, table, "-t", "y")
        if done is not None and done.returncode == 0:
            said = done.stdout + done.stderr
            ledger.check("verified words", "constraints" in said or "x5" in said, f"without the constraints: {said}")


def attack_width(ledger: Ledger) -> None:
    """10^5 columns, more than all pairs can be had of: refused in words, by a process of little memory."""
    with tempfile.TemporaryDirectory() as made:
        table = Path(made) / "wide.parquet"
        rng = np.random.default_rng(0)
        values = rng.integers(0, 2, (6, 100_000))
        frame = pd.DataFrame(values, columns=[f"x{i}" for i in range(values.shape[1])]).assign(y=[0, 1, 0, 1, 1, 0])
        frame.to_parquet(table)
        for strategy in ("cobra", "exact", "backward"):
            arguments = ["select", str(table), "-t", "y", "-k", "3", "--strategy", strategy]
            _run_apart(ledger, f"10^5 columns by {strategy}", arguments, memory=8 << 30)
