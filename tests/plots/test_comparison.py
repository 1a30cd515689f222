"""What the pictures of a comparison hold, and that drawing them changes nothing else."""

import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from certselect.errors import InvalidInput
from certselect.evaluation import compare_algorithms
from certselect.plots import critical_difference_diagram, difference_box_plots
from certselect.plots.comparison import DIFFERENT, NOT_DIFFERENT, indistinguishable_groups


@pytest.fixture
def comparison():
    """Five algorithms of which neighbours are alike, in an order that is not that of their ranks."""
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(12, 5)) + 1.5 * np.array([2, 0, 4, 1, 3])
    return compare_algorithms(scores, ["third", "last", "first", "fourth", "second"])


def with_gid(ax, gid):
    return [line for line in ax.lines if line.get_gid() == gid]


def brute_groups(comparison, alpha):
    """Maximal sets of names of which no two differ, by trying every set."""
    names = comparison.names
    alike = []
    for code in range(1, 2 ** len(names)):
        group = {name for place, name in enumerate(names) if code >> place & 1}
        if len(group) > 1 and all(
            comparison.pairwise[one, other] > alpha for one in group for other in group - {one}
        ):  # fmt: skip
            alike.append(group)
    return [group for group in alike if not any(group < other for other in alike)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5])
def test_groups_are_all_the_largest_ones(seed, alpha):
    rng = np.random.default_rng(seed)
    comparison = compare_algorithms(rng.normal(size=(9, 6)) + rng.permutation(6) * 0.7)
    groups = indistinguishable_groups(comparison, alpha)
    expected = brute_groups(comparison, alpha)
    assert len(groups) == len(expected)
    assert all(set(group) in expected for group in groups)


def test_one_bar_for_each_group_from_its_first_to_its_last_rank(comparison):
    groups = indistinguishable_groups(comparison)
    bars = with_gid(critical_difference_diagram(comparison), "group")
    assert len(groups) > 1
    assert len(bars) == len(groups)
    for bar, group in zip(bars, groups, strict=True):
        ends = [comparison.mean_ranks[group[0]], comparison.mean_ranks[group[-1]]]
        assert bar.get_xdata() == pytest.approx(ends, abs=0.06)
    assert len({bar.get_ydata()[0] for bar in bars}) == len(bars), "bars must not lie on each other"


def test_no_bars_where_all_differ_and_one_where_none_does():
    apart = compare_algorithms([[1, 2, 3]] * 40)
    assert with_gid(critical_difference_diagram(apart), "group") == []
    alike = compare_algorithms([[1, 2, 3], [3, 2, 1]])
    assert len(with_gid(critical_difference_diagram(alike), "group")) == 1


@pytest.mark.parametrize("draw", [critical_difference_diagram, difference_box_plots])
def test_what_are_no_axes_is_refused(comparison, draw):
    with pytest.raises(InvalidInput, match="Got ax=3; expected matplotlib's Axes"):
        draw(comparison, ax=3)


def test_names_hang_at_their_mean_ranks(comparison):
    ax = critical_difference_diagram(comparison)
    lines = with_gid(ax, "algorithm")
    texts = [text for text in ax.texts if text.get_text() in comparison.names]
    assert sorted(text.get_text() for text in texts) == sorted(comparison.names)
    for line, text in zip(lines, texts, strict=True):
        x, y = line.get_xdata(), line.get_ydata()
        assert x[0] == x[1] == comparison.mean_ranks[text.get_text()]
        assert y[0] == 0.0
        assert y[2] == text.get_position()[1]
        assert text.get_position()[0] == pytest.approx(x[2], abs=0.06)
    left = [text.get_text() for text in texts if text.get_position()[0] < 1]
    right = [text.get_text() for text in texts if text.get_position()[0] > len(comparison.names)]
    assert left == ["first", "second", "third"]
    assert right == ["last", "fourth"]


def test_lines_to_the_names_do_not_cross(comparison):
    elbows = [
        (line.get_xdata(), line.get_ydata()) for line in with_gid(critical_difference_diagram(comparison), "algorithm")
    ]
    for (x, _, edge), (_, level, _) in elbows:
        low, high = sorted((x, edge))
        for (other, _, _), (_, reach, _) in elbows:
            assert not (low < other < high and reach < level), "a line down cuts a line across"


def test_the_scale_and_the_critical_difference(comparison):
    ax = critical_difference_diagram(comparison, alpha=0.1)
    (bar,) = with_gid(ax, "critical difference")
    assert np.ptp(bar.get_xdata()) == pytest.approx(comparison.critical_difference(0.1))
    assert f"CD = {comparison.critical_difference(0.1):.2f}" in [text.get_text() for text in ax.texts]
    assert [tick.get_xdata()[0] for tick in with_gid(ax, "tick")] == [1, 2, 3, 4, 5]
    assert {text.get_text() for text in ax.texts} >= {"1", "2", "3", "4", "5"}


def test_a_box_for_each_pair(comparison):
    ax = difference_box_plots(comparison, alpha=0.05)
    pairs = list(comparison.pairwise)
    assert len(ax.patches) == len(pairs) == 10
    assert [label.get_text() for label in ax.get_xticklabels()] == [f"{one} - {other}" for one, other in pairs]
    column = dict(zip(comparison.names, comparison.scores.T, strict=True))
    for place, (pair, box) in enumerate(zip(pairs, ax.patches, strict=True)):
        quartiles = np.percentile(column[pair[0]] - column[pair[1]], [25, 75])
        corners = box.get_path().vertices[:4]
        assert [corners[:, 1].min(), corners[:, 1].max()] == pytest.approx(quartiles)
        assert corners[:, 0].mean() == pytest.approx(place)
        differs = comparison.pairwise[pair] <= 0.05
        assert box.get_facecolor() == to_rgba(DIFFERENT if differs else NOT_DIFFERENT)
    assert {box.get_facecolor() for box in ax.patches} == {to_rgba(DIFFERENT), to_rgba(NOT_DIFFERENT)}


def test_boxes_are_those_of_matplotlib(comparison):
    ax = difference_box_plots(comparison)
    column = dict(zip(comparison.names, comparison.scores.T, strict=True))
    theirs = boxplot_stats([column[one] - column[other] for one, other in comparison.pairwise])
    assert [line.get_ydata()[0] for line in with_gid(ax, "median")] == pytest.approx([box["med"] for box in theirs])
    ends = [line.get_ydata()[0] for line in with_gid(ax, "cap")]
    assert ends == pytest.approx([end for box in theirs for end in (box["whislo"], box["whishi"])])
    outliers = [sorted(line.get_ydata()) for line in with_gid(ax, "outliers")]
    assert outliers == [sorted(box["fliers"]) for box in theirs]
    assert sum(map(len, outliers)) > 0, "the check must have something to check"


def test_the_legend_gives_the_pvalues(comparison):
    legend = difference_box_plots(comparison).get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    for text, (pair, p) in zip(words, comparison.pairwise.items(), strict=True):
        assert text.startswith(f"{' - '.join(pair)}: p = ")
        assert float(text.rpartition(" ")[2]) == pytest.approx(p, rel=0.5 if p < 1e-3 else 0.0, abs=5e-4 * (p >= 1e-3))


def test_a_p_value_stands_on_the_side_of_the_level_that_its_colour_says(comparison):
    pair = next(pair for pair, p in comparison.pairwise.items() if p > 0.05)
    level = round(comparison.pairwise[pair], 3)
    legend = difference_box_plots(comparison, alpha=level).get_legend()
    assert legend is not None
    shown = {text.get_text().partition(": p = ")[0]: text.get_text().rpartition(" ")[2] for text in legend.get_texts()}
    assert (float(shown[" - ".join(pair)]) > level) == (comparison.pairwise[pair] > level)


@pytest.mark.parametrize("draw", [critical_difference_diagram, difference_box_plots])
def test_draws_on_the_axes_given_or_on_its_own(draw, comparison, tmp_path):
    given = Figure().subplots()
    assert draw(comparison, ax=given) is given
    own = draw(comparison)
    assert isinstance(own, Axes)
    assert own.figure is not given.figure
    own.figure.savefig(tmp_path / "picture.png")
    own.figure.savefig(tmp_path / "picture.svg")
    assert (tmp_path / "picture.png").stat().st_size > 1000


@pytest.mark.parametrize("draw", [critical_difference_diagram, difference_box_plots])
@pytest.mark.parametrize("alpha", [0, 1.5, "small"])
def test_levels_that_are_none(draw, alpha, comparison):
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        draw(comparison, alpha=alpha)


@pytest.mark.parametrize("draw", [critical_difference_diagram, difference_box_plots])
def test_without_matplotlib_the_remedy_is_named(draw, comparison, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(InvalidInput, match=r"pip install certselect\[plots\]"):
        draw(comparison)


def test_names_of_algorithms_are_text():
    names = ["_hidden", r"$\alpha$", "a\u202eb"]
    comparison = compare_algorithms([[3, 2, 1], [9, 8, 7], [4, 5, 3]], names)
    written = {text.get_text(): text for text in critical_difference_diagram(comparison).texts}
    assert {"_hidden", r"$\alpha$", "a\\u202eb"} <= set(written)
    assert not written[r"$\alpha$"].get_parse_math()
    ax = difference_box_plots(comparison)
    assert ax.get_xticklabels()[0].get_text() == r"_hidden - $\alpha$"
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text().startswith(r"_hidden - $\alpha$: p = ")
    assert not any(text.get_parse_math() for text in [*legend.get_texts(), *ax.get_xticklabels()])
