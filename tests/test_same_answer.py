"""One answer for one table: chosen in memory and in blocks, and verified the other way round."""

import numpy as np
import pyarrow as pa
import pytest

from certselect import choose_subset, verify
from streamed import odd_table, plain_table

pytestmark = pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning")


def identifiers(m):
    """Words that differ in every row, in nearly every row, and in every row of a block; and words of many levels."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, m)
    return pa.table(
        {
            "x": rng.standard_normal(m) + y,
            "few": (y + rng.integers(0, 2, m)).tolist(),
            "ticket": [f"t{k}" for k in rng.permutation(m)],
            "nearly": [f"t{k}" for k in rng.integers(0, 20 * m, m)],
            "town": [f"town {k}" for k in rng.integers(0, 5000, m)],
            "in_turn": [f"t{k % (m // 4)}" for k in range(m)],
            "record": rng.permutation(m),
            "y": y,
        }
    )


TABLES = {
    "plain": plain_table(600),
    "odd": odd_table(600),
    "few rows": odd_table(18),
    "identifiers": identifiers(20_000),
}
SETTINGS = {
    "counted": {},
    "auto": {"measure": "auto"},
    "corrected": {"correction": "miller_madow"},
    "pairwise": {"missing": "pairwise"},
    "by classes": {"discretize": "mdlp"},
    "weighted": {"weight": "few", "discretize": "mean_std"},
}
# Sources of the same rows: everything at once, and blocks of several sizes.
SOURCES = {
    "memory": lambda table: table,
    "blocks": lambda table: lambda: table.to_batches(max_chunksize=7000),
    "small blocks": lambda table: lambda: table.to_batches(max_chunksize=max(13, table.num_rows // 50)),
}


def claims(result):
    """Everything a saved result says, but how long it took."""
    said = result.to_dict()
    del said["provenance"]["seconds"], said["provenance"]["versions"]
    return said


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", TABLES)
def test_same_answer(name, settings):
    table, asked = TABLES[name], SETTINGS[settings]
    if "weight" in asked and name in ("odd", "few rows"):
        asked = asked | {"weight": "uint16"}
    results = {source: choose_subset(make(table), "y", 3, random_state=1, **asked) for source, make in SOURCES.items()}
    wanted = claims(results["memory"])
    for source, result in results.items():
        assert claims(result) == wanted, source
    for source, verified in (("memory", "small blocks"), ("blocks", "memory")):
        outcome = verify(results[source], SOURCES[verified](table))
        assert outcome.holds, (source, outcome.reasons)
