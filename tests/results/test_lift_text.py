"""Lifts in files: read back bit for bit, and nothing in a file can do harm."""

import base64
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certificate.made_lifts import made_lift
from certselect.errors import InvalidInput
from certselect.results.certificate_text import lift_as_json, lift_from_json
from relaxation.made_constraints import made_problem

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_files_keep_a_lift_bit_for_bit(seed: int) -> None:
    reduced = made_problem(seed)[0].reduced
    lift = made_lift(np.random.default_rng(seed), reduced).in_single()
    back = lift_from_json(lift_as_json(lift), len(reduced.matrix))
    assert back is not None
    assert back.price == lift.price
    assert (back.pairs is None) == (lift.pairs is None)
    if lift.pairs is not None and back.pairs is not None:
        np.testing.assert_array_equal(back.pairs, lift.pairs)
    back.check(reduced)


def packed(numbers: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(numbers.astype("<f4").tobytes())).decode()


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (17, "without a price"),
        ({"pairs": None}, "without a price"),
        ({"price": "cheap", "pairs": None}, "without a price"),
        ({"price": True, "pairs": None}, "without a price"),
        ({"price": 0.0, "pairs": [1, 2]}, "size"),
        ({"price": 0.0, "pairs": {"size": 10**9, "upper_triangle": packed(np.zeros(6))}}, "size 1000000000"),
        ({"price": 0.0, "pairs": {"size": "4", "upper_triangle": packed(np.zeros(6))}}, "size '4'"),
        ({"price": 0.0, "pairs": {"size": 4}}, "without 'upper_triangle'"),
        ({"price": 0.0, "pairs": {"size": 4, "upper_triangle": None}}, "without its numbers"),
        ({"price": 0.0, "pairs": {"size": 4.0, "upper_triangle": packed(np.zeros(6))}}, "size 4.0"),
        ({"price": 0.0, "pairs": None, "more": 1}, "unknown entry 'more'"),
        ({"price": 0.0}, "without 'pairs'"),
        ({"price": 0.0, "pairs": {"size": 4, "upper_triangle": packed(np.zeros(5))}}, "length"),
        ({"price": 0.0, "pairs": {"size": 4, "upper_triangle": packed(np.zeros(7))}}, "length"),
        ({"price": 0.0, "pairs": {"size": 4, "upper_triangle": packed(np.zeros(10**7))}}, "length"),
        ({"price": 0.0, "pairs": {"size": 4, "upper_triangle": packed(np.zeros(6))[:-8]}}, "unpacked|length"),
        ({"price": 0.0, "pairs": {"size": 4, "upper_triangle": "not base64!"}}, "unpacked"),
        ({"price": 0.0, "pairs": {"size": 4, "upper_triangle": "\u00e9"}}, "unpacked"),
        ({"price": 0.0, "pairs": {"size": 4, "upper_triangle": base64.b64encode(b"plain").decode()}}, "unpacked"),
    ],
)
def test_hostile_text_is_refused(stored: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        lift_from_json(stored, 4)


def test_a_price_beyond_all_floats_is_read_as_infinite() -> None:
    lift = lift_from_json({"price": 10**400, "pairs": None}, 4)
    assert lift is not None
    assert lift.price == np.inf
    assert lift_from_json(None, 4) is None
    assert lift_as_json(None) is None
