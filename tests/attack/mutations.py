"""Result files, made false in every place: `verify` may confirm what is still true, and nothing else.

Whether a changed file is false is decided here by the oracle and by the file it was made from, not by the package.
"""

from __future__ import annotations

import base64
import json
import math
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from as_before import counted, jmi
from attack.claims import Ledger, forced
from attack.oracle import Oracle
from attack.problems import CRITERIA, Question, Table, generator
from certselect import choose_subset, load_result, verify
from certselect.progress import listening
from results.mutations import get, put, without

Path = tuple[str | int, ...]
# Numbers of a file may differ by this part from those derived again on another machine.
SAME = 1e-9

# What docs/result-format.md says is not checked: no claim, or nothing that can be derived again.
UNCHECKED: tuple[Path, ...] = (
    ("selection", "scores"),
    ("selection", "drawn_size"),
    ("settings", "reading"),
    ("settings", "searching", "strategy_options"),
    ("settings", "searching", "polish"),
    ("settings", "searching", "certify"),
    ("settings", "searching", "max_seconds"),
    ("provenance", "seconds"),
    ("provenance", "versions"),
    # Sentences, which a reader makes itself.
    ("statement",),
    ("carried", "statement"),
    ("explanation", "why"),
    ("provenance", "picked"),
    ("provenance", "decisions", "why"),
)


@dataclass(frozen=True)
class MadeFile:
    """A true result file, the data it was made from and the names of their columns."""

    kind: str
    stored: dict[str, Any]
    X: np.ndarray
    y: np.ndarray

    @property
    def names(self) -> list[str]:
        return self.stored["explanation"]["feature"]


def _data(name: str, m: int = 40, n: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Columns of few levels that tell something of the target, a constant one and a copy among them."""
    rng = generator("file", name)
    y = rng.integers(0, 2, m)
    X = np.where(rng.random((m, n)) < np.linspace(0.1, 0.6, n), y[:, None], rng.integers(0, 3, (m, n)))
    X[:, 1], X[:, 2] = 1, X[:, 3]
    if name == "numbers":
        return X + np.where(np.arange(n) == 1, 0.0, rng.normal(size=(m, n))), y
    if name.startswith("worth nothing"):  # nothing alone, all together: the value under mrmr is 0
        cells = np.indices((2,) * n).reshape(n, -1).T
        return np.where(np.arange(n) == 1, 1, cells), cells[:, 0] ^ cells[:, 2] ^ cells[:, 3] ^ cells[:, 4]
    return X, y


CONSTRAINTS = {
    "exclude": {"exclude": [5]},
    "include": {"include": ["x0"]},
    "groups": {"feature_groups": {"all_or_none": [[2, 4]], "at_most_one": [[0, 5]]}},
    "budget": {"costs": [1.0, 0.0, 2.0, 1.0, 1.5, 2.0], "budget": 3.5},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "no bound": {"strategy": "forward"},
    "numbers": {"strategy": "exact"},
    "worth nothing": {"strategy": "exact", "criterion": "mrmr"},
    "worth nothing, bounded": {"strategy": "forward", "certify": True, "criterion": "mrmr"},
    "plain bound": {"strategy": "relevance", "certify": True, "criterion": "mrmr"},
    "cobra": {"strategy": "cobra", "random_state": 3},
    "tight": {"strategy": "relevance", "certify": "tight", "criterion": "mrmr"},
    "exact": {"strategy": "exact", "criterion": "mrmr"},
    "exact by listing": {"strategy": "exact"},
    "ties": {"strategy": "exact", "strategy_options": {"ties": True}, "criterion": "mifs"},
    "exhaustive": {"strategy": "exhaustive", "criterion": "d1"},
    "mifs with a huge weight": {"strategy": "exact", "criterion": "mifs", "beta": 1e7},
    "no pairs": {"strategy": "exact", "criterion": "max_relevance"},
    "any size": {"strategy": "exhaustive", "n_features_to_select": None, **CONSTRAINTS["budget"]},
    "interrupted": {"strategy": "floating", "certify": True},
    **{f"exact under {name}": {"strategy": "exact", "criterion": "mrmr", **CONSTRAINTS[name]} for name in CONSTRAINTS},
    **{f"bound under {name}": {"strategy": "forward", "certify": True, **CONSTRAINTS[name]} for name in CONSTRAINTS},
}


def _limits_of(kind: str) -> AbstractContextManager[None]:
    """The limits under which a kind's proof is made, and replayed: by slack matrices, unless it is named by listing."""
    return nullcontext() if kind == "exact by listing" else forced(generator(kind))


@cache
def made_file(kind: str) -> MadeFile:
    """The true file of a kind."""
    X, y = _data(kind)
    settings = {"n_features_to_select": 3, **SETTINGS[kind]}

    def press(stage: str, done: int, total: int) -> None:
        if stage == "floating":
            raise KeyboardInterrupt

    with _limits_of(kind), listening(press) if kind == "interrupted" else nullcontext():
        result = choose_subset(X, y, **jmi(counted(settings)))
    return MadeFile(kind, json.loads(json.dumps(result.to_dict())), X, y)


def paths(stored: Any, here: Path = ()) -> Iterator[Path]:
    """The way to every entry, at every depth."""
    yield here
    if isinstance(stored, dict):
        for key, entry in stored.items():
            yield from paths(entry, (*here, key))
    elif isinstance(stored, list):
        for place, entry in enumerate(stored):
            yield from paths(entry, (*here, place))


def other_entries(entry: Any) -> Iterator[Any]:
    """Entries of the same type, of a neighbouring one and of none."""
    yield None
    if isinstance(entry, bool):
        yield from (not entry, int(entry), "")
    elif isinstance(entry, int):
        yield from (entry + 1, entry - 1, -entry - 1, 999, 10**9, 2**70, entry + 0.5, str(entry))
        yield from [bool(entry)] if entry in (0, 1) else []
    elif isinstance(entry, float):
        off = 1e-3 * (abs(entry) or 1.0)
        yield from (entry + off, entry - off, 1e-6 * entry, -entry, 2.0 * entry, entry + 1e30, 0.0, 1e308, True, "1")
    elif isinstance(entry, str):
        yield from ("", entry + " ", entry.upper(), entry[::-1], "proven optimal", "x3", "\x1b[31m" + entry, 0, [entry])
        if packed := _repacked(entry):
            yield from packed
    elif isinstance(entry, list):
        yield from ([], [*entry, *entry], entry[::-1], entry[1:], entry[:-1], [*entry, 0], {}, "")
    elif isinstance(entry, dict):
        yield from ({}, entry | {"unknown": 1}, [], 0)
    else:
        yield from (0, 0.5, -1, True, "", "x0", [], ["x0"], [[0, 1, 2]], {}, {"size": 3})


def _repacked(text: str) -> list[str]:
    """Packed numbers, floats or whole ones, each changed in another way and packed again."""
    try:
        raw = zlib.decompress(base64.b64decode(text, validate=True))
    except (ValueError, zlib.error):
        return []
    kinds = ["<f8" if len(raw) % 8 == 0 else "<f4" if len(raw) % 4 == 0 else "<i1"]
    kinds += ["<i4"] if len(raw) % 4 == 0 else ["<i2"] if len(raw) % 2 == 0 else []
    changed = []
    with np.errstate(all="ignore"):
        for numbers in (np.frombuffer(raw, dtype=kind) for kind in kinds):
            others = [numbers * 0, -numbers, numbers * 10, numbers[::-1], numbers[:-1], numbers + 1, numbers * np.inf]
            changed += [other.astype(numbers.dtype).tobytes() for other in others]
    return [base64.b64encode(zlib.compress(part)).decode() for part in changed]


def mutations(stored: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Every entry changed, taken out or put twice; only one at a time."""
    for path in paths(stored):
        if not path:
            continue
        entry = get(stored, path)
        for other in other_entries(entry):
            if other != entry or type(other) is not type(entry):
                yield path, put(stored, path, other)
        if isinstance(get(stored, path[:-1]), dict):
            yield path, without(stored, path)


def lies(made: MadeFile) -> Iterator[tuple[str, dict[str, Any]]]:
    """Files that agree with themselves and are false, or say more than is proven: several entries at once."""
    stored = made.stored
    chosen = stored["selection"]
    value = chosen["objective"]
    names, settings = made.names, stored["settings"]

    def told(selection: dict[str, Any], **others: Any) -> dict[str, Any]:
        return stored | others | {"selection": chosen | selection}

    words = "Proven: no 3 features score more than these."
    optimal = {"status": "proven optimal", "upper_bound": value, "gap": 0.0, "tolerance": 0.0}
    optimal = {key: entry for key, entry in optimal.items() if key in chosen or key != "tolerance"}
    emptied = {"multipliers": None, "lift": None, "proof": {"parts": [{"steps": [], "unit": None}]}, "known": value}
    shown = {"method": "proof", "shown_by": "slack matrices, decided features and case distinctions"}
    for how, certificate in (
        ("nothing", None),
        ("what there is", stored["certificate"]),
        ("an empty proof", emptied | shown),
    ):
        yield f"called optimal by {how}", told(optimal, statement=words, certificate=certificate)
        yield (
            f"called optimal and everything proven by {how}",
            told(optimal | {"proven_in": chosen["features"]}, statement=words, certificate=certificate),
        )
        yield f"a bound of half by {how}", told({"upper_bound": value / 2, "gap": -0.5}, certificate=certificate)
    for group in settings:
        yield f"n_jobs in {group}", told({}, settings=settings | {group: settings[group] | {"n_jobs": 2}})
    yield "status alone", told({"status": "proven optimal"})
    yield "proven_in alone", told({"proven_in": chosen["features"]})
    yield "proven_out alone", told({"proven_out": [name for name in names if name not in chosen["features"]]})
    yield "a tie that is none", told({"ties": [chosen["indices"], [0, 2, 4]]})
    yield "worth more", told({"objective": 2 * value, "upper_bound": 2 * value, "gap": 0.0})
    yield "nothing dropped", told({"dropped": []})
    yield "another dropped", told({"dropped": ["x0"]})
    yield "another strategy", told({"strategy": "exhaustive"})
    free = {"include": None, "exclude": None, "feature_groups": None, "costs": None, "budget": None}
    unconstrained = {"constrained": False, "any_size": False}
    domain = stored["domain"]
    left_out = {reason: listed for reason, listed in domain["left_out"].items() if reason != "excluded"}
    for how, others in (
        ("but in the domain", {}),
        ("altogether", {"domain": domain | {"left_out": left_out, "constrained": False, "only_choice": False}}),
    ):
        yield (
            f"constraints forgotten {how}",
            told(unconstrained, settings=settings | {"constraints": free}, **others),
        )
    for name, entry in (("left_out", {}), ("constrained", not domain["constrained"]), ("n_columns", 5)):
        yield (
            f"{name} of the domain",
            told({"dropped": []} if name == "left_out" else {}, domain=domain | {name: entry}),
        )
    for criterion in CRITERIA:
        searching = settings["searching"] | {"criterion": criterion, "beta": None}
        if searching != settings["searching"]:
            yield (
                f"said to be {criterion}",
                told({"criterion": criterion}, settings=settings | {"searching": searching}),
            )
    for other in ([0, 2, 4], [2, 4, 5], [0, 1, 2], [0, 0, 3], [0, 3], [False, 2, 4]):
        features = [names[int(i)] for i in other]
        yield f"another subset, {other}", told({"indices": other, "features": features})
        yield (
            f"another subset called optimal, {other}",
            told({"indices": other, "features": features, **optimal}, statement=words, certificate=None),
        )


def falsehoods(stored: Any, made: MadeFile, words: str) -> list[str]:
    """What a changed file says that is not so: the oracle's view of the whole file, and of what `verify` states."""
    true = made.stored
    try:
        _well_typed(stored, true)
        question = _question_of(stored, made)
        chosen = stored["selection"]
        oracle = question.oracle
        if not oracle.allowed(chosen["indices"]):
            return ["the subset is not allowed"]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        return [f"it cannot be understood ({error})"]
    wrong = [
        *_about_subset(chosen, oracle, made),
        *_about_bound(stored, oracle, words),
        *_about_proofs(chosen, oracle, made),
    ]
    # What no oracle knows must be as it was.
    same = stored["settings"].get("constraints") == true["settings"]["constraints"]
    kept = [part for part in ("carried", "leaks") if stored[part] is not None]  # null says nothing of them
    for part in ("format", "version", "provenance", "explanation", "choice", *kept, *(["domain"] if same else [])):
        wrong += [f"{path} is another" for path in _differences(stored[part], true[part], (part,))]
    asked = _asked(stored)
    if asked["random_state"] != stored["provenance"]["seed"]:
        wrong.append("the seed is another")
    if not (asked["strategy"] == chosen["strategy"] or asked["strategy"] == "auto" != chosen["strategy"] in AUTO):
        wrong.append("found by another strategy")
    return wrong


# A setting that is left out has its default.
DEFAULTS = {"criterion": "distinct", "beta": None, "strategy": "auto", "random_state": None}
AUTO = ("cobra", "forward")


def _asked(stored: dict[str, Any]) -> dict[str, Any]:
    asked = DEFAULTS | stored["settings"].get("searching", {})
    return asked | {key: asked[key].casefold() for key in ("criterion", "strategy")}


def _well_typed(stored: dict[str, Any], true: dict[str, Any]) -> None:
    if set(stored) != set(true) or set(stored["selection"]) != set(true["selection"]):
        raise KeyError("entries are missing or unknown")
    for group, settings in stored["settings"].items():
        if not set(settings) <= set(true["settings"][group]):
            raise KeyError("unknown settings")
    for index in stored["selection"]["indices"]:
        if type(index) is not int:
            raise TypeError(f"index {index!r}")
    for key in ("objective", "upper_bound", "gap"):
        if isinstance(stored["selection"][key], bool | str):
            raise TypeError(key)


def _question_of(stored: dict[str, Any], made: MadeFile) -> Question:
    """The problem that the file says it answers."""
    settings, chosen = stored["settings"], stored["selection"]
    searching, limits = _asked(stored), settings.get("constraints", {})
    criterion = {"cife": "d1", "d2": "jmi"}.get(searching["criterion"], searching["criterion"])
    if criterion not in CRITERIA or chosen["criterion"] != criterion:
        raise ValueError("another criterion")
    _check_idle(settings.get("measuring", {}), made)

    def column(feature: str | int) -> int:
        if type(feature) is int and 0 <= feature < len(made.names):
            return feature
        return made.names.index(feature)

    def columns(features: Any) -> list[int]:
        return [column(feature) for feature in features or []]

    stated: dict[str, Any] = {"include": columns(limits.get("include")), "exclude": columns(limits.get("exclude"))}
    groups = limits.get("feature_groups") or {}
    groups = groups if isinstance(groups, dict) else {"all_or_none": groups}
    stated["feature_groups"] = {key: [columns(group) for group in listed or []] for key, listed in groups.items()}
    if limits.get("costs") is not None:
        priced = limits["costs"]
        if priced and isinstance(priced[0], list):
            by_column = {column(feature): cost for feature, cost in priced}
            priced = [by_column.get(i, 0.0) for i in range(len(made.names))]
        if len(priced) != len(made.names) or min(priced) < 0:
            raise ValueError("costs")
        stated["costs"], stated["budget"] = [float(cost) for cost in priced], float(limits["budget"])
    elif limits.get("budget") is not None:
        raise ValueError("a budget without costs")
    table = Table(made.X, made.y, criterion, searching["beta"])
    if table.beta is not None and (criterion != "mifs" or not 0.0 <= table.beta < math.inf):
        raise ValueError("beta")
    question = Question("file", 0, None if chosen["any_size"] else chosen["k"], stated, table=table)
    if chosen["any_size"] and ("costs" not in stated or chosen["k"] != len(chosen["indices"])):
        raise ValueError("any size without a budget")
    # An empty list of groups is no constraint; what the flag says about the rest must be so.
    if chosen["constrained"] is not question.wishes.any:
        raise ValueError("constrained")
    return question


def _check_idle(measuring: dict[str, Any], made: MadeFile) -> None:
    """Other settings of measuring are fine where they have no effect on whole numbers of few levels."""
    true = made.stored["settings"]["measuring"]  # the defaults
    for key in ("measure", "correction"):
        if str(measuring.get(key, true[key])).casefold() != true[key]:
            raise ValueError(key)


def _about_subset(chosen: dict[str, Any], oracle: Oracle, made: MadeFile) -> Iterator[str]:
    indices = chosen["indices"]
    if chosen["features"] != [made.names[i] for i in indices]:
        yield "the features are others"
    if chosen["k"] != len(indices):
        yield "k is another"
    dropped = [name for i, name in enumerate(made.names) if i not in oracle.wishes.usable]
    if chosen["dropped"] != dropped:
        yield "other features are constant"
    if not _near(chosen["objective"], float(oracle.value(indices))):
        yield "the value is another"


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=SAME, abs_tol=1e-15)


def _about_bound(stored: dict[str, Any], oracle: Oracle, words: str) -> Iterator[str]:
    chosen, best = stored["selection"], float(oracle.exact_best)
    value, bound, gap = chosen["objective"], chosen["upper_bound"], chosen["gap"]
    room = SAME * max(abs(best), abs(value), float(oracle.own_terms(chosen["indices"])))
    optimal = chosen["status"] == "proven optimal"
    if chosen["status"] not in ("proven optimal", "complete", "interrupted"):
        yield "there is no such status"
    if bound is None:
        bounded = words and not stored["domain"]["only_choice"]
        if gap is not None or optimal or bounded or stored["certificate"] is not None:
            yield "more is claimed than nothing"
        return
    if bound < best - room:
        yield "a subset exceeds the bound"
    if optimal and value < best - room:
        yield "a subset exceeds what is called optimal"
    if optimal and bound > value + room:
        yield "called optimal beside a larger bound"
    if optimal and "tolerance" in chosen:
        own = float(oracle.own_terms(chosen["indices"]))
        if chosen["tolerance"] is None or not 0.0 <= chosen["tolerance"] <= 1.001e-12 * own:
            yield "the tolerance is another"
    left = (bound - value) / abs(value) if value else (0.0 if bound == value else None)
    if (left is None) != (gap is None) or (gap is not None and not math.isclose(gap, left, rel_tol=1e-6, abs_tol=1e-9)):
        yield "the gap is another"
    yield from _about_statement(stored, oracle, room, words)


def _about_statement(stored: dict[str, Any], oracle: Oracle, room: float, words: str) -> Iterator[str]:
    chosen, domain = stored["selection"], stored["domain"]
    if not words:
        yield "the statement is missing"
        return
    value, limit = chosen["objective"], None
    if above := re.search(r"more than ([-+.\de]+) % above", words):
        limit = value + abs(value) * float(above[1]) / 100
    elif above := re.search(r"more than ([-+.\de]+)\.(?: No better than chance:|$)", words):
        limit = float(above[1]) * (1 + math.copysign(1e-5, float(above[1])))
    elif part := re.search(r"Proven optimal to ([-+.\de]+) of the value", words):
        limit = value + abs(value) * float(part[1])
    elif words.startswith(("Proven", "The only possible choice")):
        limit = value
    if limit is None or float(oracle.exact_best) > limit + room:
        yield "the statement is false"
    limited = domain["constrained"] or stored["settings"].get("constraints", {}).get("max_shared") is not None
    if (limited and not domain["only_choice"]) != ("that respect" in words):
        yield "the statement is about other subsets"


def _about_proofs(chosen: dict[str, Any], oracle: Oracle, made: MadeFile) -> Iterator[str]:
    value = oracle.value(chosen["indices"])
    better = oracle.at_least(value + Fraction(SAME) * oracle.own_terms(chosen["indices"]))
    into, out = ({made.names.index(name) for name in chosen[key]} for key in ("proven_in", "proven_out"))
    known_in, known_out = ({*made.stored["selection"][key]} for key in ("proven_in", "proven_out"))
    if any(not into <= set(subset) for subset in better) or not {made.names[i] for i in into} <= known_in:
        yield "proven_in is more than was proven"
    if any(out & set(subset) for subset in better) or not {made.names[i] for i in out} <= known_out:
        yield "proven_out is more than was proven"
    for tie in chosen["ties"]:
        if any(type(i) is not int for i in tie) or not oracle.allowed(tie):
            yield "a tie is not allowed"
        elif abs(oracle.value(tie) - oracle.exact_best) > Fraction(SAME) * oracle.own_terms(tie):
            yield "a tie is not as good"


def _differences(here: Any, there: Any, path: Path) -> Iterator[Path]:
    names = tuple(step for step in path if isinstance(step, str))
    if any(names[: len(known)] == known for known in UNCHECKED):
        return
    if here is None and names == ("provenance", "decisions", "facts"):
        return  # fewer facts
    if isinstance(here, dict) and isinstance(there, dict) and set(here) == set(there):
        for key in there:
            yield from _differences(here[key], there[key], (*path, key))
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        for place, (one, other) in enumerate(zip(here, there, strict=True)):
            yield from _differences(one, other, (*path, place))
    elif type(here) is float and type(there) is float:
        if not _near(here, there):
            yield path
    elif here != there or type(here) is not type(there):
        yield path


def check_changed(changed: Any, what: str, made: MadeFile, ledger: Ledger) -> None:
    """`verify` confirms nothing false and ends in words, whatever the file holds."""
    outcome = None
    with ledger.no_traceback(f"verify of {made.kind!r}, {what}"), _limits_of(made.kind):
        outcome = verify(changed, made.X, made.y)
    if outcome is None or not outcome.holds:
        ledger.check("mutated files", True)
        return
    wrong = falsehoods(changed, made, outcome.statement)
    ledger.check("mutated files", not wrong, f"{made.kind!r}, {what} is confirmed, but {'; '.join(wrong[:3])}")


def attack_file(kind: str, ledger: Ledger, part: tuple[int, int] = (0, 1)) -> None:
    """Every mutation and every lie of one kind of file; `part` (i, m): every m-th of them, from the i-th on."""
    made = made_file(kind)
    start, step = part
    with ledger.no_traceback(f"verify of the true file {kind!r}", refusals=False), _limits_of(kind):
        outcome = verify(made.stored, made.X, made.y)
        ledger.check("true files", outcome.holds, f"{kind!r} is refused: {outcome.reasons}")
        said = falsehoods(made.stored, made, outcome.statement)
        ledger.check("true files", not said, f"{kind!r} is not true: {said}")
    tried = [
        (f"{'.'.join(map(str, path))} = {_shown(changed, path)}", changed) for path, changed in mutations(made.stored)
    ]
    tried += [(what, changed) for what, changed in lies(made)]
    for what, changed in tried[start::step]:
        check_changed(changed, what, made, ledger)


def _shown(changed: Any, path: Path) -> str:
    try:
        return repr(get(changed, path))[:60]
    except (KeyError, IndexError, TypeError):
        return "nothing"


def spoilt(text: bytes, rng: np.random.Generator) -> bytes:
    """A file's bytes, torn, flipped, doubled or nested."""
    place = int(rng.integers(len(text)))
    ways: list[Callable[[], bytes]] = [
        lambda: text[:place],
        lambda: text[:place] + bytes([text[place] ^ (1 << int(rng.integers(8)))]) + text[place + 1 :],
        lambda: text[:place] + rng.bytes(3) + text[place:],
        lambda: text[:place] + text[place // 2 :],
        lambda: text.replace(b"[", b"[" * 3000, 1 + place % 3),
        lambda: text.replace(b'"k":', b'"k": 1, "k":'),
        lambda: re.sub(rb"\d+\.\d+", b"1" + b"0" * 5000, text, count=1 + place % 5),
        lambda: re.sub(rb": (\d+)", b": 1e400", text, count=1 + place % 5),
        lambda: re.sub(rb": (\d+)", b": -0", text, count=1 + place % 5),
        lambda: text.replace(b"null", b"NaN", 1 + place % 3),
        lambda: text.replace(b"x0", b"\\u001b[2J\\ud800", 1 + place % 3),
        lambda: b"\xef\xbb\xbf" + text,
        lambda: text + text,
        lambda: text.decode().encode("utf-16"),
    ]
    return ways[int(rng.integers(len(ways)))]()


def attack_bytes(kind: str, ledger: Ledger, count: int) -> None:
    """Files spoilt as bytes: refused in words, or read and then as true as any other."""
    made, rng = made_file(kind), generator("bytes", kind)
    text = json.dumps(made.stored).encode()
    with tempfile.TemporaryDirectory() as folder:
        file = FilePath(folder) / "result.json"
        for number in range(count):
            changed = spoilt(text, rng)
            file.write_bytes(changed)
            what = f"spoilt file {number} of {kind!r}"
            outcome = None
            with ledger.no_traceback(what):
                load_result(file)
            with ledger.no_traceback(what), _limits_of(kind):
                outcome = verify(file, made.X, made.y)
            if outcome is not None and outcome.holds:
                wrong = falsehoods(json.loads(changed), made, outcome.statement)
                ledger.check("spoilt files", not wrong, f"{what} is confirmed, but {wrong[:3]}")
            else:
                ledger.check("spoilt files", True)
