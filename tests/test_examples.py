"""The scripts of examples/, where the packages that they are about are installed."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "examples"
# What each needs, and the program without which that does not run.
NEEDS = {"spark_batches.py": ("pyspark", "java"), "ray_batches.py": ("ray", None)}


def test_every_script_is_run():
    assert {script.name for script in SCRIPTS.glob("*.py")} == set(NEEDS)


@pytest.mark.slow
@pytest.mark.parametrize("script", NEEDS)
def test_scripts_find_what_the_table_in_memory_gives(script, tmp_path):
    package, program = NEEDS[script]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install {package}")
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{package} needs {program}, which is not installed")
    env = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "RAY_DISABLE_IMPORT_WARNING": "1",
    }
    done = subprocess.run(
        [sys.executable, SCRIPTS / script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["chosen: x0 x1 x2", "the same floats as in memory: True"]
