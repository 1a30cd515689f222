"""What a user would install, wheel or source distribution, in an environment that holds nothing else."""

import json
import os
import subprocess
import sys
import tarfile
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
selector.result_.to_html("report.html")
print(json.dumps({"file": certselect.__file__, "indices": selector.indices_.tolist()}))
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and source distribution; the wheel is made of what the latter holds, as `make dist` does."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "source": source}


def described(wheel):
    (metadata,) = Distribution.discover(path=[str(wheel)])
    return metadata


def link_requirements(required, packages):
    """Put what is required, and what that requires, into a folder of packages; nothing else."""
    waiting, linked = list(required), set()
    while waiting:
        requirement = Requirement(waiting.pop())
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if not wanted or requirement.name in linked:
            continue
        linked.add(requirement.name)
        found = distribution(requirement.name)
        waiting += found.requires or ()
        for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(found.locate_file(top))


def test_the_wheel_holds_the_package_alone(built):
    files = zipfile.ZipFile(built["wheel"]).namelist()
    assert all(name.startswith(("certselect/", "certselect-")) for name in files)
    assert not [name for name in files if "test" in name or name.endswith((".nbi", ".nbc", ".npz"))]


def test_the_source_holds_what_its_readme_speaks_of(built):
    with tarfile.open(built["source"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md"} <= names
    assert {"pyproject.toml", "docs/first-table.md", "docs/wines.csv", "src/certselect/py.typed"} <= names
    assert not [name for name in names if name.startswith(("docs/_build", "docs/api/", "docs/gallery", ".venv"))]


def test_the_metadata_are_complete(built):
    about = described(built["wheel"]).metadata
    assert about["Name"] == "certselect"
    assert about["Version"] in (ROOT / "CITATION.cff").read_text()
    assert about["License-Expression"] == "BSD-3-Clause"
    for field in ("Summary", "Keywords", "Author", "Requires-Python", "Description-Content-Type", "License-File"):
        assert about[field], field
    assert {"Typing :: Typed", "Programming Language :: Python :: 3.11"} <= set(about.get_all("Classifier"))
    assert {"plots", "solvers", "gpu", "docs"} <= set(about.get_all("Provides-Extra"))


@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_it_installs_and_runs_in_an_empty_environment(kind, built, tmp_path):
    home = tmp_path / "empty"
    venv.create(home)
    python = home / "bin" / "python"
    (packages,) = home.glob("lib/*/site-packages")
    builders = ["hatchling"] if kind == "source" else []
    link_requirements([*(described(built["wheel"]).requires or ()), *builders], packages)
    # With no index to fetch from, pip refuses a package whose requirements are not met by what is there.
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--no-index", "--no-build-isolation", built[kind]], check=True, cwd=tmp_path)
    as_user = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    demo = run_as([home / "bin" / "certselect", "demo"], tmp_path, as_user)
    assert "worst concave points" in demo
    assert "worst concave points" in (tmp_path / "certselect-demo.html").read_text(encoding="utf-8")
    if kind == "wheel":  # compiling the kernels takes as long as everything else, and both hold the same package
        result = json.loads(run_as([python, "-c", SCRIPT], tmp_path, as_user))
        assert str(home) in result["file"]
        assert len(result["indices"]) == 5
        assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def run_as(command, folder, environment):
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, env=environment).stdout
