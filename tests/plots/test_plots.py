"""What the pictures hold: their artists, data and labels, whatever features are called."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars
import pytest
from matplotlib import pyplot, rc_context
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from certselect import (
    SelectionDisplay,
    SubsetProblem,
    SubsetSelector,
    SubsetSelectorCV,
    choose_subset,
    information_terms,
    load_result,
    plot_certificate,
    plot_path,
    plot_redundancy,
    plot_relevance,
    plot_sizes,
    plot_stability,
    select,
    selection_path,
    selection_stability,
    value_curve,
)
from certselect.errors import InvalidInput
from certselect.plots.axes import label_of
from certselect.results.facts import result_facts
from certselect.shown_numbers import at_most

HOSTILE = ["$", "$x_1^2$", r"\frac{1}{", "_hidden", "a\u202eb", "new\nline", "100 %", "$$unbalanced$", "l" * 300]


def made(names, rows=120, seed=0):
    """Columns that know less and less about the target; the last two are nearly copies of the first."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    columns = [y * (2.5 - 0.25 * i) + rng.normal(size=rows) for i in range(len(names))]
    columns[-2:] = [columns[0] + 0.1 * rng.normal(size=rows) for _ in range(2)]
    return polars.DataFrame(np.array(columns).T, schema=list(names)), y


@pytest.fixture(scope="module")
def table():
    return made([f"x{i}" for i in range(9)])


@pytest.fixture(scope="module")
def result(table):
    return choose_subset(*table, 4, criterion="mrmr", certify=True, random_state=0, measure="plugin", correction="none")


@pytest.fixture(scope="module")
def chosen_by_tree(table):
    tree = DecisionTreeClassifier(random_state=0)
    return SubsetSelectorCV(
        tree, sizes=5, criterion=["jmi", "mrmr"], strategy="forward", cv=3, measure="plugin", correction="none"
    ).fit(*table)


def with_gid(ax, gid):
    """Artists of that name; bars are found one by one."""
    return [artist for artist in (*ax.lines, *ax.collections, *ax.patches, *ax.images) if artist.get_gid() == gid]


def words(texts):
    return [text.get_text() for text in texts]


def legend_of(ax):
    legend = ax.get_legend()
    assert legend is not None
    return words(legend.get_texts())


class TestPath:
    def test_values_and_bounds_over_sizes(self, table):
        terms = information_terms(*table, measure="plugin", correction="none")
        curve = value_curve(terms, [5, 1, 3], "mrmr", "forward", certify=True)
        ax = plot_path(curve)
        (value,), (bound,), (between,) = (with_gid(ax, gid) for gid in ("value", "bound", "between"))
        assert value.get_xdata().tolist() == bound.get_xdata().tolist() == [1, 3, 5]
        assert value.get_ydata().tolist() == curve.values.tolist()
        assert bound.get_ydata().tolist() == curve.upper_bounds.tolist()
        assert (bound.get_ydata() >= value.get_ydata()).all()
        assert between.get_paths()[0].vertices[:, 1].max() == curve.upper_bounds.max()
        assert ax.get_xlabel() == "number of features"
        assert ax.get_ylabel() == "mrmr (nats)"

    def test_full_circles_are_proven(self, table):
        terms = information_terms(*table, measure="plugin", correction="none")
        optimal, found = select_two(terms)
        ax = plot_path([found, optimal])
        assert [line.get_xdata().tolist() for line in with_gid(ax, "found, proven optimal")] == [[2]]
        assert [line.get_xdata().tolist() for line in with_gid(ax, "found")] == [[4]]
        assert {"found", "found, proven optimal"} <= set(legend_of(ax))

    def test_no_bound_where_none_was_proven(self, table):
        ax = plot_path(
            selection_path(
                information_terms(*table, measure="plugin", correction="none"),
                range(1, 5),
                strategy="forward",
                criterion="jmi",
            )
        )
        assert with_gid(ax, "bound") == with_gid(ax, "between") == []
        assert legend_of(ax) == ["found"]

    @pytest.mark.parametrize("nothing", [[], (), 3, "path", [1, 2], None])
    def test_nothing_to_draw(self, nothing):
        with pytest.raises(InvalidInput, match="selection_path"):
            plot_path(nothing)


def select_two(terms):
    path = [selection_path(terms, [size], "mrmr", way)[0] for size, way in ((2, "exact"), (4, "forward"))]
    assert path[0].status == "proven optimal"
    return path


class TestCertificate:
    def test_the_bar_ends_at_the_value_and_the_line_is_the_bound(self, result):
        ax = plot_certificate(result)
        (value,), (between,), (bound,) = (with_gid(ax, gid) for gid in ("value", "between", "bound"))
        selection = result.selection
        assert value.get_x() == 0.0
        assert value.get_width() == selection.objective
        assert between.get_x() + between.get_width() == pytest.approx(selection.upper_bound)
        assert set(bound.get_xdata()) == {selection.upper_bound}
        assert ax.get_title(loc="left") == result.statement
        assert f"bound: {at_most(selection.upper_bound)}" in legend_of(ax)
        assert ax.get_xlabel() == "mrmr (nats)"
        assert ax.get_xlim()[0] <= 0.0 < selection.upper_bound < ax.get_xlim()[1]

    def test_without_a_bound_that_is_said(self, table):
        ax = plot_certificate(
            choose_subset(*table, 3, strategy="forward", criterion="jmi", measure="plugin", correction="none")
        )
        assert with_gid(ax, "bound") == with_gid(ax, "between") == []
        assert ax.get_title(loc="left").startswith("No bound was computed")

    def test_one_feature_is_spoken_of_as_one(self, table):
        assert legend_of(
            plot_certificate(choose_subset(*table, 1, criterion="jmi", measure="plugin", correction="none"))
        )[0].startswith("value of this feature: ")

    def test_a_selection_and_a_value_below_zero(self):
        chosen = select(SubsetProblem.from_matrix(np.diag([-3.0, -2.0, -4.0]), k=2), "exhaustive")
        ax = plot_certificate(chosen)
        (bar,) = with_gid(ax, "value")
        assert bar.get_width() == chosen.objective == -5.0
        assert ax.get_xlim()[0] < -5.0

    def test_one_read_from_a_file(self, result, tmp_path):
        result.save(tmp_path / "result.json")
        loaded = load_result(tmp_path / "result.json")
        assert plot_certificate(loaded).get_title(loc="left") == result.statement
        assert len(plot_relevance(loaded).get_yticklabels()) == 9


class TestRelevance:
    def test_bars_by_relevance_with_chance_beside(self, result):
        ax = plot_relevance(result)
        why = result.explanation
        order = np.argsort(-np.array(why["relevance"]), kind="stable")
        assert words(ax.get_yticklabels()) == [why["feature"][i] for i in order]
        for gid, wanted in (("chosen", True), ("left out", False)):
            bars = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in with_gid(ax, gid)}
            assert bars == {place: why["relevance"][i] for place, i in enumerate(order) if why["chosen"][i] == wanted}
        (chance,) = with_gid(ax, "chance")
        assert chance.get_xdata().tolist() == [why["chance"][i] for i in order]
        assert ax.get_title(loc="left") == "4 of 9 features chosen"
        assert legend_of(ax) == ["chosen", "left out", "by chance alone"]

    def test_chosen_ones_come_first_where_room_is_short(self, result):
        ax = plot_relevance(result, max_features=5)
        assert set(result.names) < set(words(ax.get_yticklabels()))
        assert len(ax.get_yticklabels()) == 5
        assert ax.get_title(loc="left") == "4 of 9 features chosen; 5 shown"

    def test_measures_without_chance_have_no_mark(self, table):
        ax = plot_relevance(choose_subset(*table, 2, measure="gaussian_copula", criterion="jmi"))
        assert with_gid(ax, "chance") == []

    @pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "many"])
    def test_numbers_of_rows_that_are_none(self, result, wrong):
        with pytest.raises(InvalidInput, match="max_features"):
            plot_relevance(result, max_features=wrong)


class TestRedundancy:
    def test_cells_are_what_two_features_share(self, result):
        ax = plot_redundancy(result, runners_up=3)
        names = words(ax.get_yticklabels())
        assert words(ax.get_xticklabels()) == names
        assert len(names) == 7
        shares = with_gid(ax, "share")[0].get_array()
        terms = result.terms
        place = {name: i for i, name in enumerate(terms.feature_names)}
        for row, of in enumerate(names):
            for column, other in enumerate(names):
                if row == column:
                    assert np.ma.is_masked(shares[row, column]) or np.isnan(shares[row, column])
                else:
                    ways = terms.shared_part(place[other])[place[of]], terms.shared_part(place[of])[place[other]]
                    assert shares[row, column] == max(ways)
        numbers = {text.get_position(): text.get_text() for text in ax.texts}
        assert len(numbers) == 7 * 6
        assert numbers[1, 0] == f"{100 * shares[0, 1]:.0f}"

    def test_the_report_and_the_picture_say_the_same(self, result):
        shown = plot_redundancy(result, runners_up=5)
        facts = result_facts(result)["redundancy"]
        assert words(shown.get_yticklabels()) == [f"x{i}" for i in facts["columns"]]
        parts = np.array(facts["parts"])
        np.fill_diagonal(parts, np.nan)
        np.testing.assert_allclose(np.ma.filled(with_gid(shown, "share")[0].get_array(), np.nan), parts, atol=1e-4)

    def test_what_was_left_out_is_slanted(self, result):
        labels = plot_redundancy(result, runners_up=3).get_yticklabels()
        assert {label.get_text() for label in labels if label.get_fontstyle() == "normal"} == set(result.names)

    def test_copies_stand_side_by_side(self, table):
        found = choose_subset(*table, 9, criterion="jmi", measure="plugin", correction="none")
        names = words(plot_redundancy(found).get_yticklabels())
        places = sorted(names.index(name) for name in ("x0", "x7", "x8"))
        assert places[-1] - places[0] == 2

    def test_no_numbers_in_many_cells_and_no_more_cells_than_asked_for(self):
        found = choose_subset(
            *made([f"x{i}" for i in range(30)]),
            20,
            strategy="forward",
            criterion="jmi",
            measure="plugin",
            correction="none",
        )
        assert not plot_redundancy(found).texts
        ax = plot_redundancy(found, max_features=6)
        assert len(ax.get_yticklabels()) == 6
        assert ax.get_title(loc="left") == "6 of 20 chosen features shown"

    def test_one_and_two_features(self, table):
        for k in (1, 2):
            assert (
                len(
                    plot_redundancy(
                        choose_subset(*table, k, criterion="jmi", measure="plugin", correction="none")
                    ).get_yticklabels()
                )
                == k
            )

    def test_without_the_table(self, result, tmp_path):
        kept = pickle.loads(pickle.dumps(result))
        assert words(plot_redundancy(kept).get_yticklabels()) == words(plot_redundancy(result).get_yticklabels())
        with pytest.raises(InvalidInput, match="chosen features"):
            plot_redundancy(kept, runners_up=2)

    def test_one_read_from_a_file_is_drawn_with_its_table(self, result, table, tmp_path):
        result.save(tmp_path / "result.json")
        loaded = load_result(tmp_path / "result.json")
        with pytest.raises(InvalidInput, match=r"read from a file.*with_table\(X, y\)"):
            plot_redundancy(loaded)
        drawn = plot_redundancy(loaded.with_table(*table), runners_up=2)
        assert words(drawn.get_yticklabels()) == words(plot_redundancy(result, runners_up=2).get_yticklabels())

    @pytest.mark.filterwarnings("ignore::certselect.errors.TargetLeakWarning")
    def test_what_is_nearly_a_copy_does_not_share_all(self):
        y = np.arange(2000) % 2
        first = y * 100 + np.arange(2000) // 2 % 100
        X = np.stack([first, np.where(np.arange(2000) == 0, 1, first)], axis=1)
        ax = plot_redundancy(
            choose_subset(X, y, 2, integers="levels", criterion="jmi", measure="plugin", correction="none")
        )
        assert {text.get_text() for text in ax.texts} == {"> 99"}


class TestStability:
    def test_frequencies_and_the_line_of_random_choice(self, table):
        found = selection_stability(
            *table,
            3,
            n_resamples=8,
            strategy="forward",
            random_state=0,
            criterion="jmi",
            measure="plugin",
            correction="none",
        )
        ax = plot_stability(found)
        frequent = found.most_frequent(1e-9)
        assert words(ax.get_yticklabels()) == list(frequent)
        assert [bar.get_width() for bar in with_gid(ax, "frequency")] == list(frequent.values())
        (line,) = with_gid(ax, "random")
        assert line.get_xdata()[0] == pytest.approx(3 / 9)
        assert f"{found.stability.index:.2f}" in ax.get_title(loc="left")
        assert len(plot_stability(found, max_features=2).get_yticklabels()) == 2

    @pytest.mark.parametrize("wrong", [None, [1.0, 0.5]])
    def test_nothing_to_draw(self, wrong):
        with pytest.raises(InvalidInput, match="selection_stability"):
            plot_stability(wrong)


class TestSizes:
    def test_scores_errors_and_the_size_chosen(self, chosen_by_tree):
        ax = plot_sizes(chosen_by_tree)
        choice = chosen_by_tree.result_.choice
        (mean,), (chosen,), (error,) = (with_gid(ax, gid) for gid in ("mean", "chosen", "error"))
        assert mean.get_xdata().tolist() == choice.sizes.tolist()
        assert mean.get_ydata().tolist() == choice.mean_scores.tolist()
        assert set(chosen.get_xdata()) == {chosen_by_tree.n_features_}
        top = (choice.mean_scores + choice.standard_errors).max()
        assert error.get_paths()[0].vertices[:, 1].max() == pytest.approx(top)
        (other,) = with_gid(ax, "other")
        assert other.get_ydata().tolist() == choice.combinations[1 - choice.chosen].mean_scores.tolist()
        assert ax.get_ylabel() == choice.scoring
        assert "DecisionTreeClassifier" in ax.get_title(loc="left")

    def test_the_result_alone_and_read_from_a_file(self, chosen_by_tree, tmp_path):
        chosen_by_tree.result_.save(tmp_path / "result.json")
        for result in (chosen_by_tree.result_, load_result(tmp_path / "result.json")):
            assert with_gid(plot_sizes(result), "mean")

    def test_scores_that_are_not_finite_leave_a_gap(self, chosen_by_tree):
        result = chosen_by_tree.result_
        tried = result.choice.combinations[result.choice.chosen]
        odd = replace(tried, mean_scores=np.array([0.5, np.inf, np.nan, 0.7, 0.8]))
        ax = plot_sizes(replace(result, choice=replace(result.choice, combinations=(odd,), chosen=0)))
        assert np.isnan(with_gid(ax, "mean")[0].get_ydata()).tolist() == [False, True, True, False, False]
        ax.figure.draw_without_rendering()

    def test_sizes_that_nobody_chose(self, result):
        with pytest.raises(InvalidInput, match="SubsetSelectorCV"):
            plot_sizes(result)

    def test_long_estimators_stay_in_one_line(self, table):
        model = LogisticRegression(C=0.123456789, class_weight={0: 0.25, 1: 0.75}, max_iter=12345, random_state=98765)
        title = plot_sizes(
            SubsetSelectorCV(model, sizes=2, cv=2, criterion="jmi", measure="plugin", correction="none").fit(*table)
        ).get_title(loc="left")
        assert "\n" not in title
        assert len(title) < 80


class TestNames:
    def draw_all(self, names):
        X, y = made(names)
        found = choose_subset(X, y, 4, criterion="jmi", measure="plugin", correction="none")
        stable = selection_stability(
            X,
            y,
            4,
            n_resamples=3,
            strategy="forward",
            random_state=0,
            criterion="jmi",
            measure="plugin",
            correction="none",
        )
        return [plot_relevance(found), plot_redundancy(found, runners_up=3), plot_stability(stable)]

    @pytest.mark.parametrize("usetex", [False, True])
    def test_names_are_text(self, usetex):
        shown = {label_of(name) for name in HOSTILE}
        with rc_context({"text.usetex": usetex}):
            for ax in self.draw_all(HOSTILE):
                labels = [*ax.get_yticklabels(), *(ax.get_xticklabels() if ax.images else ())]
                assert set(words(labels)) <= shown
                assert len(set(words(labels))) > 3
                assert not any(label.get_parse_math() or label.get_usetex() for label in labels)
        if not usetex:  # numbers on the axes would go through TeX, which need not be there
            for ax in self.draw_all(HOSTILE):
                ax.figure.canvas.draw()
                assert set(words(ax.get_yticklabels())) <= shown, "drawing must not change them"

    def test_nothing_turns_or_ends_the_line(self):
        for name in HOSTILE:
            assert label_of(name).isprintable()
            assert len(label_of(name)) <= 40
        assert label_of("l" * 300) == "l" * 19 + "..." + "l" * 18
        assert label_of("x" * 40) == "x" * 40

    def test_names_that_are_alike_when_shortened_keep_their_rows(self):
        found = choose_subset(
            *made(["x" * 30 + str(i) + "x" * 30 for i in range(9)]),
            4,
            criterion="jmi",
            measure="plugin",
            correction="none",
        )
        assert words(plot_relevance(found).get_yticklabels()) == ["x" * 19 + "..." + "x" * 18] * 9


class TestDisplay:
    def test_scikit_learns_convention(self, table):
        selector = SubsetSelector(3, criterion="jmi", measure="plugin", correction="none").fit(*table)
        ax = Figure().subplots()
        display = SelectionDisplay.from_result(selector, ax=ax)
        assert display.ax_ is ax
        assert display.figure_ is ax.figure
        assert display.result is selector.result_
        assert display.plot("certificate") is display
        assert display.ax_ is not ax
        assert with_gid(display.ax_, "bound")

    def test_every_kind_with_its_options(self, chosen_by_tree):
        for kind, options in (("relevance", {"max_features": 3}), ("redundancy", {"runners_up": 1}), ("Sizes", {})):
            assert SelectionDisplay.from_result(chosen_by_tree, kind, **options).ax_.has_data()
        with pytest.raises(InvalidInput, match="relevance"):
            SelectionDisplay.from_result(chosen_by_tree, "relevence")

    @pytest.mark.parametrize(
        "wrong", [SubsetSelector(3, criterion="jmi", measure="plugin", correction="none"), None, "result", 5]
    )
    def test_what_is_no_result(self, wrong):
        with pytest.raises(InvalidInput, match="fit"):
            SelectionDisplay.from_result(wrong)


def test_axes_that_are_given_are_drawn_on(result, chosen_by_tree, table):
    path = selection_path(
        information_terms(*table, measure="plugin", correction="none"), [1, 2, 3], strategy="forward", criterion="jmi"
    )
    stable = selection_stability(
        *table,
        3,
        n_resamples=3,
        strategy="forward",
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    drawings = [
        (plot_path, path),
        (plot_certificate, result),
        (plot_relevance, result),
        (plot_redundancy, result),
        (plot_stability, stable),
        (plot_sizes, chosen_by_tree),
    ]
    for draw, what in drawings:
        ax = Figure().subplots()
        assert draw(what, ax=ax) is ax
        assert not pyplot.get_fignums(), "axes that are given are all that is touched"
        for wrong in (3, "ax", Figure().subplots(2), Figure()):
            with pytest.raises(InvalidInput, match=r"Got ax=.*matplotlib's Axes"):
                draw(what, ax=wrong)
        own = draw(what)
        assert own.figure.number in pyplot.get_fignums(), "so that notebooks show it"
        pyplot.close(own.figure)


@pytest.mark.parametrize("draw", [plot_certificate, plot_relevance, plot_redundancy])
def test_without_matplotlib_the_remedy_is_named(draw, result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(InvalidInput, match=r"pip install certselect\[plots\]"):
        draw(result)


def test_nothing_global_changes():
    code = """
import sys
import certselect
from certselect import *
from certselect.evaluation import compare_algorithms
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier
X, y = load_wine(return_X_y=True)
result = choose_subset(X, y, 3)
path = selection_path(result.terms, [1, 2])
stable = selection_stability(X, y, 2, n_resamples=2, random_state=0)
sized = SubsetSelectorCV(DecisionTreeClassifier(), sizes=2, cv=2).fit(X, y)
comparison = compare_algorithms([[3, 2, 1], [9, 8, 7]])
assert "matplotlib" not in sys.modules, "choosing must not need matplotlib"
import matplotlib
from matplotlib.figure import Figure
before = list(dict.items(matplotlib.rcParams))  # read as they stand: asking for one may settle the backend
for draw, what in (
    (plot_path, path), (plot_certificate, result), (plot_relevance, result), (plot_redundancy, result),
    (plot_stability, stable), (plot_sizes, sized),
    (critical_difference_diagram, comparison), (difference_box_plots, comparison),
):
    draw(what, ax=Figure().subplots())
assert list(dict.items(matplotlib.rcParams)) == before
assert "matplotlib.pyplot" not in sys.modules
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr
