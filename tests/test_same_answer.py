"""One answer for one table: chosen in memory, from files, from Dask and in blocks, and verified the other way round."""

import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from certselect import choose_subset, verify
from streamed import BUDGET, always_in_blocks, csv_folder, odd_table, parquet_folder, parts_of, plain_table  # noqa: F401

pytestmark = [
    pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning"),
    pytest.mark.filterwarnings("ignore::certselect.errors.TargetLeakWarning"),  # "copy" determines odd tables' target
]


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
    "as usual": {},
    "counted": {"criterion": "jmi", "measure": "plugin", "correction": "none"},
    "auto": {"measure": "auto"},
    "corrected": {"correction": "miller_madow"},
    "pairwise": {"missing": "pairwise"},
    "by classes": {"discretize": "mdlp"},
    "weighted": {"weight": "few", "discretize": "mean_std"},
}
# Sources of plain columns only: text does not keep odd types, and Arrow dictionaries are not read from Dask.
PLAIN_ONLY = {"Parquet", "CSV", "Dask"}


def partitions(table, folder):
    frames = [part.to_pandas(types_mapper=pd.ArrowDtype) for part in parts_of(table)]
    return dask.dataframe.from_map(lambda part: part, frames, meta=frames[0].iloc[:0])


# Sources of the same rows: everything at once, and blocks of several sizes, of several kinds of sources.
SOURCES = {
    "memory": lambda table, folder: table,
    "blocks": lambda table, folder: lambda: table.to_batches(max_chunksize=7000),
    "small blocks": lambda table, folder: lambda: table.to_batches(max_chunksize=max(13, table.num_rows // 50)),
    "Parquet": parquet_folder,
    "CSV": csv_folder,
    "Dask": partitions,
}
# Where a result is verified that was chosen from another source.
ACROSS = {
    "memory": "small blocks",
    "blocks": "memory",
    "small blocks": "Parquet",
    "Parquet": "CSV",
    "CSV": "Dask",
    "Dask": "memory",
}


def claims(result):
    """Everything a saved result says, but how long it took."""
    said = result.to_dict()
    del said["provenance"]["seconds"], said["provenance"]["versions"]
    return said


@pytest.mark.usefixtures("always_in_blocks")
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", TABLES)
def test_same_answer(name, settings, tmp_path):
    table, asked = TABLES[name], SETTINGS[settings]
    if "weight" in asked and name in ("odd", "few rows"):
        asked = asked | {"weight": "uint16"}
    sources = {
        source: make(table, tmp_path / source)
        for source, make in SOURCES.items()
        if source not in PLAIN_ONLY or name in ("plain", "identifiers")
    }
    results = {
        source: choose_subset(rows, "y", 3, random_state=1, memory=BUDGET, **asked) for source, rows in sources.items()
    }
    wanted = claims(results["memory"])
    for source, result in results.items():
        assert claims(result) == wanted, source
    for source, result in results.items():
        other = ACROSS[source] if ACROSS[source] in sources else "memory"
        outcome = verify(result, sources[other], memory=BUDGET)
        assert outcome.holds, (source, other, outcome.reasons)
