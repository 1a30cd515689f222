"""Information terms of a Ray dataset, whose blocks come to this process one after the other.

Every pass of certselect executes the dataset again: call `materialize()` on it if that takes long.

Needs Ray's data library: pip install certselect 'ray[data]'
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from certselect import choose_subset, information_terms


def record_batches(dataset: Any) -> Iterator[pa.Table]:
    """The rows of a Ray dataset, anew with every call."""
    yield from dataset.iter_batches(batch_format="pyarrow", batch_size=None)


def main() -> None:
    import ray.data

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 5000)
    columns = {f"x{i}": np.round(rng.standard_normal(5000) + y * (i < 3), 2) for i in range(8)}
    rows = pa.table({**columns, "y": y})
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        dataset = ray.data.from_arrow([rows.slice(start, 1250) for start in range(0, 5000, 1250)])
        brings_rows = partial(record_batches, dataset)
        terms = information_terms(brings_rows, "y")
        result = choose_subset(brings_rows, "y", n_features_to_select=3)
    finally:
        ray.shutdown()
    print("chosen:", *result.names)
    print("the same floats as in memory:", np.array_equal(terms.redundancy, information_terms(rows, "y").redundancy))


if __name__ == "__main__":
    main()
