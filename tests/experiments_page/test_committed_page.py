"""docs/reproduction.md is what the committed results make of it, and its figures are there."""

import re
from pathlib import Path

import pytest
from experiments.kept_rows import RESULTS
from experiments.page import DOCS, PAGE, draw_figures, page_text
from experiments.page_sources import PRINTED


def test_the_page_is_what_the_results_make_of_it():
    assert (DOCS / PAGE).read_text() == page_text(RESULTS, PRINTED)


def test_figures_are_the_same_each_time_they_are_drawn(tmp_path):
    for folder in ("once", "again"):
        draw_figures(RESULTS, PRINTED, tmp_path / folder)
    names = sorted(path.name for path in (tmp_path / "once").iterdir())
    shown = sorted(Path(name).name for name in re.findall(r"\(figures/(.*?)\)", (DOCS / PAGE).read_text()))
    assert names == shown
    for name in names:
        drawn = (tmp_path / "once" / name).read_bytes()
        assert drawn == (tmp_path / "again" / name).read_bytes()
        assert b"<dc:date>" not in drawn
        assert (DOCS / "figures" / name).exists()


@pytest.mark.parametrize("word", [r"\B/(home|root|tmp)/", r"\bnan\b", r"\bNone \|"])
def test_the_page_names_no_folder_of_a_machine_and_no_lost_number(word):
    assert not re.search(word, (DOCS / PAGE).read_text())
