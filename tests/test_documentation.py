"""What the documentation shows runs as shown."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import polars
import pytest

import certselect

ROOT = Path(__file__).parent.parent
MODULES = [module.name for module in pkgutil.walk_packages(certselect.__path__, "certselect.")]
# Columns that the examples speak of.
NAMED = ["age", "id", "colour_red", "colour_green", "colour_blue", "weight_kg", "weight_lb", "mri", "blood"]
PAGES = [
    "README.md",
    *(f"docs/{page}.md" for page in ("guide", "data", "certificates", "choosing", "evaluation", "theory")),
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    for example in finder.find(module, name):
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
        assert result.failed == 0


def test_there_are_examples_to_run():
    found = sum(">>>" in (importlib.import_module(name).__doc__ or "") for name in MODULES)
    assert found + len(doctest.DocTestFinder().find(certselect.information_terms)) > 1


@pytest.mark.parametrize("page", PAGES)
def test_python_on_the_pages(page):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    columns = [*NAMED, *(f"x{i}" for i in range(60 - len(NAMED)))]
    X = polars.DataFrame(rng.normal(size=(120, 60)) + y[:, None] * rng.random(60), schema=columns)
    names = {"X": X, "y": y, "print": lambda *args: None}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), names)
