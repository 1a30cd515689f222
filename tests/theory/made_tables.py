"""Random joint tables, some cells of which are empty."""

import numpy as np
from hypothesis import strategies as st


def random_table(rng, *levels, empty=0.3):
    table = rng.integers(1, 50, levels) * (rng.random(levels) >= empty)
    table[(0,) * len(levels)] += 1
    return table


@st.composite
def tables(draw, most_variables=5, fewest_variables=2):
    levels = draw(st.lists(st.integers(1, 3), min_size=fewest_variables, max_size=most_variables))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_table(rng, *levels, empty=draw(st.sampled_from([0.0, 0.3, 0.8])))


def samples_of(table):
    """Feature columns and classes, one row per count of the table."""
    rows = np.repeat(np.argwhere(table > 0), table[table > 0], axis=0)
    return rows[:, :-1], rows[:, -1]
