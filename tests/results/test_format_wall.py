"""Only results/ knows the keys of the file format."""

import ast
from pathlib import Path

import pytest

import certselect

SOURCE = Path(certselect.__file__).parent
# Keys that mean nothing elsewhere; others, like "k" and "features", are words of every day.
KEYS = {
    "above_diagonal",
    "any_size",
    "certselect result",
    "drawn_size",
    "explanation",
    "fingerprint",
    "mean_scores",
    "n_columns",
    "only_choice",
    "proven_in",
    "proven_out",
    "provenance",
    "shown_by",
    "split_scores",
    "standard_errors",
    "upper_triangle",
}


def literals(path: Path) -> set[str]:
    """The str literals of a module."""
    tree = ast.parse(path.read_text())
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def modules(inside: bool) -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if (path.parent.name == "results") == inside]


@pytest.mark.parametrize("path", modules(inside=False), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_other_module_spells_them(path):
    assert literals(path) & KEYS == set()


def test_results_spells_all_of_them():
    """So that the list above cannot fall behind the format."""
    assert set().union(*map(literals, modules(inside=True))) >= KEYS
