"""What a saved search for the size was about, so that no other search goes on from it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import sklearn

from certselect import __version__
from certselect.criteria import find_criterion
from certselect.errors import InvalidInput
from certselect.search.registry import find_strategy, is_auto
from certselect.selectors.code_hash import code_hash
from certselect.selectors.fold_scores import Split
from certselect.settings.combinations import values_of
from certselect.table import Block, SparseBlock, Table
from certselect.table.frames import column_types

# What does not change a subset or a score.
_WITHOUT_EFFECT = ("checkpoint", "n_jobs", "certify", "one_standard_error")
_ON_THEIR_OWN = ("cv", "sizes", "estimator", "scoring", "criterion", "strategy")


def fingerprint(
    selector: Any,
    table: Table,
    values: Any,
    splits: Sequence[Split],
    sizes: Sequence[int],
    sample_weight: np.ndarray | None,
) -> dict[str, str]:
    """A hash of each thing the scores depend on, under the name a user knows it by."""
    apart = (*_WITHOUT_EFFECT, *_ON_THEIR_OWN)
    settings = {name: value for name, value in selector.get_params(deep=False).items() if name not in apart}
    if not isinstance(settings["random_state"], int | np.integer | None):
        settings["random_state"] = None  # a generator: its state tells nothing about the next run's
    parts = {
        "table": [_contents(block) for block in table.blocks]
        + [table.feature_names, table.target, table.classes, table.target_numbers, values.shape, column_types(values)],
        "split of the rows": [(split.train, split.test) for split in splits],
        "metadata": [sample_weight] + [(split.fit_params, split.score_params) for split in splits],
        "list of sizes": [int(size) for size in sizes],
        "estimator": (type(selector.estimator), selector.estimator.get_params()),
        "scoring": selector.scoring,
        "setting of the search": settings,
        "criterion": [find_criterion(criterion) for criterion in values_of(selector.criterion)],
        "strategy": [_record(strategy) for strategy in values_of(selector.strategy)],
        "version of certselect, scikit-learn or Python": (__version__, sklearn.__version__, sys.version_info[:2]),
    }
    hashes = {}
    for name, part in parts.items():
        try:
            hashes[name] = code_hash(part)
        except Exception as error:  # whatever a foreign object's pickling raises
            raise InvalidInput(
                f"another {name} than can be told apart from others ({error})",
                "functions and plain objects where a checkpoint is kept, without open files, locks or generators",
                "Leave the checkpoint out.",
            ) from error
    return hashes


def _record(strategy: Any) -> Any:
    """What a strategy's name stands for, without what a record remembers of its use."""
    if is_auto(strategy):
        return strategy
    record = find_strategy(strategy)
    return [(field.name, getattr(record, field.name)) for field in fields(record)]


def _contents(block: Block | SparseBlock) -> tuple[Any, ...]:
    """What a block holds, without what a sparse matrix remembers of its use."""
    if isinstance(block, SparseBlock):
        return block.kind, block.values.data, block.values.indices, block.values.indptr
    return block.kind, block.positions, block.values, block.vocabularies, block.missing
