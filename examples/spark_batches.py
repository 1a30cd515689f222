"""Information terms of a Spark data frame, whose partitions come to this process one after the other.

Executors turn their rows into Arrow record batches; no more than a partition or two is here at a time. Every pass of
certselect computes the frame again: cache it, or write it to Parquet and name that folder, if that takes long.

Needs pyspark 4 or newer and Java: pip install certselect pyspark
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from certselect import choose_subset, information_terms


def record_batches(frame: Any) -> Iterator[pa.RecordBatch]:
    """The rows of a Spark data frame, anew with every call."""
    for row in frame.mapInArrow(packed, "batch binary").toLocalIterator(prefetchPartitions=True):
        yield from pa.ipc.open_stream(row.batch)


def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """On an executor: each batch as the bytes of an Arrow stream."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.record_batch({"batch": [sink.getvalue().to_pybytes()]})


def main() -> None:
    import pandas as pd
    from pyspark.sql import SparkSession

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 5000)
    rows = pd.DataFrame({f"x{i}": np.round(rng.standard_normal(5000) + y * (i < 3), 2) for i in range(8)})
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = spark.createDataFrame(rows.assign(y=y)).repartition(4).cache()
        brings_rows = partial(record_batches, frame)
        terms = information_terms(brings_rows, "y")
        result = choose_subset(brings_rows, "y", n_features_to_select=3)
    finally:
        spark.stop()
    print("chosen:", *result.names)
    print("the same floats as in memory:", np.array_equal(terms.redundancy, information_terms(rows, y).redundancy))


if __name__ == "__main__":
    main()
