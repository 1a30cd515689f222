"""The wheel a user would install, in an environment that holds nothing else."""

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

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


@pytest.mark.slow
@pytest.mark.timeout(600)
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
    # Only what is imported need be compiled to bytecode.
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    install.append("--disable-pip-version-check")
    subprocess.run([*install, "--constraint", ROOT / "constraints.txt", wheel], check=True, cwd=tmp_path)
    done = subprocess.run([python, "-c", SCRIPT], check=True, capture_output=True, text=True, cwd=tmp_path)
    result = json.loads(done.stdout)
    assert str(home) in result["file"]
    assert len(result["indices"]) == 5
    demo = subprocess.run(
        [home / "bin" / "certselect", "demo"], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert "worst concave points" in demo.stdout
