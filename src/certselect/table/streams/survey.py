"""Passes over the rows that learn the facts about columns, and how many different values they have."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from hashlib import blake2b

import numpy as np
import pyarrow as pa

from certselect.table.columns import Column
from certselect.table.facts import ColumnFacts
from certselect.table.streams.arrow_columns import read_cells
from certselect.table.streams.passes import digest
from certselect.table.streams.saved_passes import as_bytes, packed_table, unpacked_table
from certselect.threads import side_by_side

# The facts that are saved as they are.
_SAVED = ("kind", "dated", "boolean", "rows", "missing", "infinite", "low", "high", "whole", "different", "overlapping")
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number without a pattern in its bits


class Survey:
    """The facts of some columns of a stream; `Learnt` of it.

    `told_apart` says how many different numbers of a column are of interest.
    """

    def __init__(self, columns: Sequence[str], told_apart: Mapping[str, int], n_threads: int) -> None:
        self.columns = tuple(columns)
        self.facts = {name: ColumnFacts(told_apart[name]) for name in columns}
        self._threads = n_threads

    def take(self, block: pa.RecordBatch, where: str) -> None:
        side_by_side(
            lambda name: self.facts[name].take(read_cells(block.column(name), name)), self.columns, self._threads
        )

    def add(self, other: Survey) -> None:
        for name, facts in self.facts.items():
            facts.add(other.facts[name])

    @property
    def key(self) -> str:
        return digest("survey", [(name, facts.most) for name, facts in self.facts.items()])

    def saved(self) -> dict[str, np.ndarray]:
        """Facts that JSON has words for, and the values that were told apart as Arrow arrays."""
        said, arrays = [], {}
        for place, facts in enumerate(self.facts.values()):
            said.append({name: getattr(facts, name) for name in _SAVED} | {"many": facts.values is None})
            if facts.values:
                arrays[f"values {place}"] = packed_table(pa.table({"values": _as_array(facts.values)}))
        return {"facts": as_bytes(json.dumps(said).encode()), **arrays}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        for place, (facts, said) in enumerate(zip(self.facts.values(), json.loads(bytes(saved["facts"])), strict=True)):
            for name in _SAVED:
                setattr(facts, name, said[name])
            listed = saved.get(f"values {place}")
            known = set() if listed is None else set(unpacked_table(listed).column("values").to_pylist())
            facts.values = None if said["many"] else known
            facts.check()


class DifferentValues:
    """How many different values columns have that may be identifiers; `Learnt` of a stream.

    64 bits of each value are kept, once: those of one `part` out of so many, by a mixture of their bits, so that
    several passes count what does not fit into memory at once. Whole numbers have bits of their own; two of a
    million words have the same with a probability of 3 in 100 million.
    """

    def __init__(self, columns: Sequence[str], part: int, n_parts: int) -> None:
        self.columns = tuple(columns)
        self._part, self._n_parts = part, n_parts
        self._seen = {name: [np.zeros(0, dtype=np.uint64)] for name in columns}

    def take(self, block: pa.RecordBatch, where: str) -> None:
        for name in self.columns:
            bits = _bits(read_cells(block.column(name), name))
            own = (bits * _SPREAD >> np.uint64(32)) % np.uint64(self._n_parts) == self._part
            self._keep(name, np.unique(bits[own]))

    def _keep(self, name: str, values: np.ndarray) -> None:
        """Merged into the many as soon as the few are as many, so that merging takes little time."""
        first, *others = self._seen[name]
        others.append(values)
        if sum(map(len, others)) >= len(first):
            first, others = np.unique(np.concatenate([first, *others])), []
        self._seen[name] = [first, *others]

    def add(self, other: DifferentValues) -> None:
        for name in self.columns:
            for values in other._seen[name]:
                self._keep(name, values)

    @property
    def key(self) -> str:
        return digest("different values", self.columns, self._part, self._n_parts)

    def saved(self) -> dict[str, np.ndarray]:
        return {str(place): np.unique(np.concatenate(seen)) for place, seen in enumerate(self._seen.values())}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        self._seen = {name: [saved[str(place)]] for place, name in enumerate(self.columns)}

    @property
    def counts(self) -> dict[str, int]:
        return {name: len(np.unique(np.concatenate(seen))) for name, seen in self._seen.items()}


def _as_array(values: set[Hashable]) -> pa.Array:
    """Values of one column as Arrow's, which takes whole numbers for those of 64 bits with a sign."""
    large = any(isinstance(value, int) and value >= 1 << 63 for value in values)
    return pa.array(list(values), pa.uint64() if large else None)


def _bits(column: Column) -> np.ndarray:
    """64 bits of each value, those of equal ones the same."""
    if column.kind == "category":
        hashed = (blake2b(str(word).encode(errors="surrogatepass"), digest_size=8) for word in column.vocabulary)
        return np.frombuffer(b"".join(one.digest() for one in hashed), dtype=np.uint64)
    values = column.values if column.missing is None else column.values[~column.missing]
    values = values[~np.isnan(values)].astype(np.int64) if values.dtype.kind == "f" else values
    return (values if values.dtype == np.uint64 else values.astype(np.int64)).view(np.uint64)
