"""docs/scaling.md says what the results kept say, and a piece of the work that made them runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def scaling():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import scaling

    yield scaling
    sys.path.remove(str(ROOT / "benchmarks"))


def test_the_page_is_what_the_results_make_of_it(scaling):
    made = scaling.page(json.loads(scaling.RESULTS.read_text()))
    assert made.strip() in scaling.PAGE.read_text()


@pytest.mark.parametrize("what", ["reading", "in blocks"])
def test_a_small_table_is_measured(scaling, tmp_path, what):
    scaling.write_levels(tmp_path, 2000, 4, 3, 2)
    command = [sys.executable, str(ROOT / "benchmarks/scaling.py"), "--measure", what, str(tmp_path)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert told["wall"] > 0
    assert told["megabytes"] > 10
