"""`experiments` and `benchmarks` are run from the repository, never installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
