"""The wheel a user would install, in an environment that holds nothing else."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent

SCRIPT = """
import json, sys
import numpy as np
import certselect
rng = np.random.default_rng(0)
X, y = rng.integers(0, 3, (2000, 120)), rng.integers(0, 2, 2000)
selector = certselect.SubsetSelector(5, strategy="backward").fit(X, y)
print(json.dumps({"file": certselect.__file__, "indices": selector.indices_.tolist()}))
"""


def link_requirements(wheel, packages):
    """Put what the wheel says it requires, and what that requires, into a folder of packages; nothing else."""
    (described,) = Distribution.discover(path=[str(wheel)])
    waiting, linked = list(described.requires or ()), set()
    while waiting:
        requirement = Requirement(waiting.pop())
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if not wanted or requirement.name in linked:
            continue
        linked.add(requirement.name)
        found = distribution(requirement.name)
        waiting += found.requires or ()
        for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            (packages / top).symlink_to(found.locate_file(top))


@pytest.mark.slow
def test_the_wheel_installs_and_runs_in_an_empty_environment(tmp_path):
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    files = zipfile.ZipFile(wheel).namelist()
    assert all(name.startswith(("certselect/", "certselect-")) for name in files)
    assert not [name for name in files if "test" in name or name.endswith((".nbi", ".nbc", ".npz"))]

    home = tmp_path / "empty"
    venv.create(home)
    python = home / "bin" / "python"
    (packages,) = home.glob("lib/*/site-packages")
    link_requirements(wheel, packages)
    # With no index to fetch from, pip refuses a wheel whose requirements are not met by what is there.
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--no-index", wheel], check=True, cwd=tmp_path)
    as_user = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    done = subprocess.run([python, "-c", SCRIPT], check=True, capture_output=True, text=True, cwd=tmp_path, env=as_user)
    result = json.loads(done.stdout)
    assert str(home) in result["file"]
    assert len(result["indices"]) == 5
    demo = subprocess.run(
        [home / "bin" / "certselect", "demo"], check=True, capture_output=True, text=True, cwd=tmp_path, env=as_user
    )
    assert "worst concave points" in demo.stdout
