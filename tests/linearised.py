"""The best subset by somebody else's solver, which the benchmarks have as a contestant."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_FILE = Path(__file__).parent.parent / "benchmarks" / "contestants" / "highs.py"
_spec = importlib.util.spec_from_file_location("highs", _FILE)
assert _spec is not None
assert _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
best_by_highs = _module.best_by_highs
