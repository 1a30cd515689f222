"""Proofs in files: read back bit for bit, and nothing in a file can do harm."""

from __future__ import annotations

import base64
import copy
import json
import tracemalloc
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certificate.made_reduced import nothing_listed
from certselect.certificate.coarse import TYPES, Coarse
from certselect.certificate.proof import Proof, Step, replay
from certselect.criteria.reduced import ReducedProblem
from certselect.errors import InvalidInput
from certselect.results import certificate_text
from certselect.results.certificate_text import proof_as_json, proof_from_json

seeds = st.integers(0, 2**32 - 1)


def made_step(rng: np.random.Generator, m: int) -> Step:
    """Numbers of any type and size, subnormal ones and zeros of both signs among them."""
    diagonal = rng.standard_normal(m) * 10.0 ** rng.integers(-320, 300, m)
    diagonal[rng.random(m) < 0.2] = -0.0
    kind = TYPES[int(rng.integers(len(TYPES)))]
    entries = rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, m * (m - 1) // 2, dtype=kind, endpoint=True)
    N = Coarse(diagonal, 2.0 ** int(rng.integers(-1074, 993)), entries)
    units = rng.permutation(m).tolist()
    pairs = tuple(zip(units[0::2], units[1::2], strict=False))
    return Step(N, rng.standard_normal(m), tuple(units[:2]), tuple(units[2:4]), pairs)


def made_proof(rng: np.random.Generator, m: int) -> Proof:
    """Cases upon cases, with steps of no more units than were open before."""
    whole = Proof()
    waiting = [(whole, m)]
    for _ in range(rng.integers(1, 12)):
        part, most = waiting.pop(int(rng.integers(len(waiting))))
        for _ in range(rng.integers(1, 3)):  # a case distinction follows a step at least
            most = int(rng.integers(1, most + 1))
            part.steps.append(made_step(rng, most))
        part.unit, part.case_in, part.case_out = int(rng.integers(most)), Proof(), Proof()
        waiting += [(part.case_in, most), (part.case_out, most)]
    return whole


def same(one: Proof, other: Proof) -> bool:
    """Compared part by part, numbers by their bits."""
    if [len(part.steps) for part in one.parts()] != [len(part.steps) for part in other.parts()]:
        return False
    if [(part.unit, len(part.cases)) for part in one.parts()] != [(p.unit, len(p.cases)) for p in other.parts()]:
        return False
    steps = zip(*([step for part in proof.parts() for step in part.steps] for proof in (one, other)), strict=True)
    return all(
        a.N.diagonal.tobytes() == b.N.diagonal.tobytes()
        and (a.N.grain, a.N.entries.dtype) == (b.N.grain, b.N.entries.dtype)
        and a.N.entries.tobytes() == b.N.entries.tobytes()
        and a.w.tobytes() == b.w.tobytes()
        and (a.out, a.into, a.twins) == (b.out, b.into, b.twins)
        for a, b in steps
    )


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_files_keep_a_proof_bit_for_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 9))
    proof = made_proof(rng, m)
    back = proof_from_json(json.loads(json.dumps(proof_as_json(proof))), m)
    assert same(proof, back)


def example() -> tuple[ReducedProblem, Proof]:
    m = 14
    Q = np.diag(np.arange(m, dtype=float)) - 0.1 * np.ones((m, m))
    problem = ReducedProblem(Q, 5, 1.5, np.ones(m, int), (), None, np.inf, np.arange(m), ())
    first = Step(Coarse.of(0.1 * np.ones((m, m))), np.zeros(m), out=(0, 1, 2))
    case = Proof([Step(Coarse.of(0.1 * np.ones((m - 4, m - 4))), np.zeros(m - 4))])
    return problem, Proof([first], 3, case, Proof([Step(Coarse.of(np.zeros((m - 4, m - 4))), np.zeros(m - 4))]))


def test_a_proof_read_back_proves_the_same() -> None:
    problem, proof = example()
    back = proof_from_json(proof_as_json(proof), 14)
    with nothing_listed():
        bound = replay(problem, 50.0, proof).bound
        assert 54.0 < bound < 60.0
        assert replay(problem, 50.0, back).bound == bound


def packed(numbers: np.ndarray, kind: str = "<f8") -> str:
    return base64.b64encode(zlib.compress(numbers.astype(kind).tobytes())).decode()


def test_a_file_says_what_it_says_it_says() -> None:
    """The form of a file, written down by hand."""
    step = {"size": 3, "grain": 0.25, "type": "int16", "above_diagonal": packed(np.array([1, -2, 300]), "<i2")}
    step |= {"diagonal": packed(np.array([1.0, -2.0, 3.0])), "weights": packed(np.array([4.0, 5.0, 6.0]))}
    step |= {"out": [0], "into": [], "twins": [[0, 1]]}
    stored = {
        "floor": -8.5,
        "parts": [{"steps": [step], "unit": 1}, {"steps": [], "unit": None}, {"steps": [], "unit": None}],
    }
    N = np.array([[1.0, 0.25, -0.5], [0.25, -2.0, 75.0], [-0.5, 75.0, 3.0]])
    wanted = Proof([Step(Coarse.of(N, 0.25), np.array([4.0, 5.0, 6.0]), (0,), (), ((0, 1),))], 1, Proof(), Proof())
    read = proof_from_json(stored, 3)
    assert same(read, wanted)
    assert np.array_equal(read.steps[0].N.matrix(), N)


def wrong_files() -> list[Any]:
    good = proof_as_json(example()[1])
    wrong: list[Any] = [None, [], {}, {"parts": None}, {"parts": []}, {"parts": [3]}, {"parts": [{"steps": None}]}]
    wrong += [
        good | {"parts": good["parts"][:1]},
        good | {"parts": good["parts"] * 2},
        good | {"parts": [{"steps": [None]}]},
    ]
    wrong += [good | {"floor": "low"}, good | {"floor": True}, {"parts": good["parts"]}]
    wrong += [good | {"more": 1}, good | {"parts": [good["parts"][0] | {"more": 1}, *good["parts"][1:]]}]
    # Cases without a step before, which cost more than the bytes they take.
    wrong += [good | {"parts": [good["parts"][0] | {"steps": []}, *good["parts"][1:]]}]
    changes = [
        ("size", [None, 0, -1, 15, 1.0, True, 10**40, "14", 13]),
        ("above_diagonal", [None, 5, "", "$", "ä", "AAAA", *(packed(np.zeros(n), "<i4") for n in (3, 90, 92, 200))]),
        ("type", [None, 4, "int64", "uint8", "float32", "<i4", "int8", ["int32"], ""]),
        ("grain", [None, 0, 0.0, -0.5, 0.75, 3, 2.0**993, 1e308, 10**400, True, "0.5", [0.5]]),
        ("diagonal", [None, [0.0], "", packed(np.zeros(13)), packed(np.zeros(15)), packed(np.zeros(14), "<f4")]),
        ("weights", [None, [0.0], "", packed(np.zeros(13)), packed(np.zeros(14))[:-4]]),
        ("more", [1]),
        ("out", [[0, 0], [*range(15)], None, 3, {"0": 1}, [1.0], [True], ["1"], [None], [[1]]]),
        ("into", [None, 3, [1.5]]),
        ("twins", [None, 3, [3], [[1]], [[1, 2, 3]], [[1, 2.0]], ["ab"]]),
    ]
    for name, values in changes:
        for each in values:
            wrong.append(copy.deepcopy(good))
            wrong[-1]["parts"][0]["steps"][0][name] = each
    for unit in (1.0, True, "1", [1]):
        wrong.append(copy.deepcopy(good))
        wrong[-1]["parts"][0]["unit"] = unit
    grown = copy.deepcopy(good)
    grown["parts"][1]["steps"][0] = grown["parts"][0]["steps"][0]
    grown["parts"][0]["steps"] = [good["parts"][1]["steps"][0]]
    return [*wrong, grown]


@pytest.mark.parametrize("stored", wrong_files())
def test_a_file_that_is_no_proof_is_refused(stored: Any) -> None:
    with pytest.raises(InvalidInput):
        proof_from_json(stored, 14)


def test_numbers_that_are_not_finite_or_overflow_prove_nothing() -> None:
    problem, proof = example()
    for name, bad in (("diagonal", np.nan), ("diagonal", np.inf), ("weights", np.nan), ("weights", -np.inf)):
        stored = proof_as_json(proof)
        stored["parts"][0]["steps"][0][name] = packed(np.where(np.arange(14) == 3, bad, 0.0))
        with nothing_listed(), pytest.raises(InvalidInput, match="not finite"):
            replay(problem, 50.0, proof_from_json(stored, 14))
    stored = proof_as_json(proof)
    ends = np.full(91, -(2**31))
    stored["parts"][0]["steps"][0] |= {"grain": 2.0**992, "above_diagonal": packed(ends, "<i4"), "out": []}
    with nothing_listed():
        last = Proof(proof_from_json(stored, 14).steps)
        assert replay(problem, 50.0, last).bound == np.inf


def test_numbers_are_not_unpacked_beyond_what_the_problem_has() -> None:
    """Half a gigabyte of zeros in half a megabyte of text, said to be a small matrix and said to be a large one."""
    packer = zlib.compressobj()
    data = b"".join([packer.compress(bytes(1 << 20)) for _ in range(512)]) + packer.flush()
    bomb = {"size": 8, "grain": 1.0, "type": "int8", "above_diagonal": base64.b64encode(data).decode()}
    bomb |= {"diagonal": packed(np.zeros(8)), "weights": ""}
    bomb |= {"out": [], "into": [], "twins": []}
    tracemalloc.start()
    try:
        for size in (8, 1 << 15):
            with pytest.raises(InvalidInput):
                proof_from_json({"floor": None, "parts": [{"steps": [bomb | {"size": size}], "unit": None}]}, 8)
        # Within the size of the problem, but more numbers in all than a proof may hold.
        with pytest.raises(InvalidInput, match="too many numbers"):
            proof_from_json({"floor": None, "parts": [{"steps": [bomb | {"size": 1 << 15}], "unit": None}]}, 1 << 15)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 << 20


def test_all_steps_together_hold_no_more_numbers_than_a_proof_may(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = proof_as_json(example()[1])
    taken = example()[1].nbytes
    monkeypatch.setattr(certificate_text, "MOST_BYTES", taken)
    assert proof_from_json(stored, 14).nbytes == taken
    monkeypatch.setattr(certificate_text, "MOST_BYTES", taken - 1)
    with pytest.raises(InvalidInput, match="too many numbers"):
        proof_from_json(stored, 14)


def test_cases_of_any_depth_are_read_and_written() -> None:
    depth = 20_000
    number = packed(np.zeros(1))
    step = {"size": 1, "grain": 1.0, "type": "int8", "above_diagonal": packed(np.zeros(0), "<i1")}
    step |= {"diagonal": number, "weights": number, "out": [], "into": [], "twins": []}
    cases, ends = [{"steps": [step], "unit": 0}] * depth, [{"steps": [], "unit": None}] * (depth + 1)
    stored = {"floor": None, "parts": cases + ends}
    proof = proof_from_json(json.loads(json.dumps(stored)), 3)
    again = proof_as_json(proof)
    assert len(again["parts"]) == 2 * depth + 1
    assert [part["unit"] for part in again["parts"]] == [0] * depth + [None] * (depth + 1)
