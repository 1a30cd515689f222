"""What the page is made of, by hand: words, places of a drawing, columns as they were taken, commands."""

import pickle
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from as_before import counted, jmi
from certselect import SubsetSelectorCV, choose_subset, load_result, read_table, shown_numbers
from certselect.cli.app import app
from certselect.errors import ColumnsLeftOutWarning
from certselect.report import charts, report_page, wording
from certselect.results.columns import MOST_COLUMNS, take_columns
from certselect.results.facts import result_facts
from certselect.results.parsing import from_dict
from certselect.results.repeating import command, python_call
from certselect.results.wording import constraints_in_words
from certselect.settings import Constraints
from certselect.shown_numbers import UNKNOWN
from report.made_reports import tumours
from results.made_results import KINDS, made


def test_numbers_have_the_digits_that_mean_something():
    assert [shown_numbers.nats(value) for value in (None, 0.0, 1.23456, 0.00012345)] == [
        UNKNOWN,
        "0.0000",
        "1.2346",
        "1.2e-04",
    ]
    parts = (None, 0.0, 0.004, 0.876, 0.994, 0.995, 0.99999, 1.0)
    shown = [UNKNOWN, "0 %", "< 1 %", "88 %", "99 %", "> 99 %", "> 99 %", "100 %"]
    assert [shown_numbers.percent(part) for part in parts] == shown
    p_values = (None, 0.0, 0.03125, 2e-6, 0.05, 0.0503, 0.0500001, 1.0)
    shown = ["< 1e-15", "= 0.031", "= 2e-06", "= 0.050", "= 0.0503", "= 0.0500001", "= 1.000"]
    words = [shown_numbers.p_words(value, 0.05) for value in p_values]
    assert words == [UNKNOWN, *(f"p {each}" for each in shown)]
    assert [wording.seconds(spent) for spent in (None, 0.0123, 3.0, 150.0)] == [UNKNOWN, "12.3 ms", "3.00 s", "2.5 min"]
    assert wording.axis_number(86400.0 * 365, date=True) == "1971-01-01"
    assert wording.axis_number(1e300, date=True) == "1e+300"


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (None, UNKNOWN),
        (0.0, "0 %"),
        (1e-12, "0 %"),
        (7.6e-9, "< 0.0001 %"),
        (0.002491, "0.25 %"),
        (0.0123, "1.3 %"),
        (1.5, "150 %"),
        (1e300, "1.1e+302 %"),
    ],
)
def test_a_gap_is_never_rounded_down(gap, words):
    assert shown_numbers.gap_words(gap) == words
    if gap is not None and gap > 1e-9:
        assert float(words[:-2].removeprefix("< ")) >= 100 * gap


def test_a_bound_is_never_rounded_down():
    shown = [shown_numbers.at_most(value) for value in (None, 0.0, 0.54084, 1.0, 1.18035, -0.10947, 2.31e-5, 1.01e200)]
    assert shown == [UNKNOWN, "0.0000", "0.5409", "1.0000", "1.1804", "-0.1094", "2.4e-05", "1.1e+200"]


@pytest.mark.parametrize("value", [1e308, -1e308, 1e150, 1e12, 5e-324, 0.0])
def test_no_number_is_too_large_to_be_shown_or_drawn(value):
    shown = [shown_numbers.nats(value), shown_numbers.at_most(value), wording.seconds(abs(value))]
    shown += [shown_numbers.gap_words(abs(value)), shown_numbers.percent(min(1.0, abs(value)))]
    assert max(map(len, shown)) < 20
    for values in ([value, 0.5], [value, value], [value, -value]):
        chart = charts.line_chart([1, 2], values, above=[value, value], errors=[value, 0.1])
        assert all(np.isfinite(place).all() and 0 <= place[1] <= chart["bottom"] for place in chart["line"])
        assert all(len(label) < 20 for _, label in chart["up"])
    assert charts.length(value, 1e308) <= 100.0


def test_the_bar_is_to_scale_unless_that_cannot_be_seen():
    drawn = charts.certificate_bar({"value": 3.0, "bound": 4.0})
    assert drawn == {"value": 75.0, "gap": 25.0, "thin": False}
    thin = charts.certificate_bar({"value": 1.0, "bound": 1.0001})
    assert thin is not None
    assert thin["thin"]
    assert thin["gap"] == pytest.approx(100 * charts.THINNEST)
    assert charts.certificate_bar({"value": 2.0, "bound": 2.0}) == {"value": 100.0, "gap": 0.0, "thin": False}
    for value, bound in ((1.0, None), (None, None), (-1.0, 2.0), (0.0, 0.0)):
        assert charts.certificate_bar({"value": value, "bound": bound}) is None


def test_a_curve_keeps_inside_its_axes_and_skips_what_is_unknown():
    chart = charts.line_chart([1, 2, 3, 10], [0.5, None, 0.7, 0.9], above=[0.6, None, None, 1.3], marked=3)
    assert len(chart["line"]) == 3
    assert len(chart["above"]) == 2
    places = [*chart["line"], *chart["above"]]
    assert all(chart["left"] <= x <= chart["right"] and 0 <= y <= chart["bottom"] for x, y in places)
    assert chart["line"][1][0] == chart["marked"]
    assert [label for _, label in chart["up"]] == ["0.0", "0.5", "1.0", "1.5"]
    assert charts.line_chart([4], [None])["line"] == []


def test_shares_of_a_distribution_are_those_of_each_class():
    levels = charts.distribution_chart({"levels": ["a", "b"], "edges": [], "counts": [[3, 1], [0, 0]], "date": False})
    assert [[bar["share"] for bar in level["bars"]] for level in levels["levels"]] == [["75 %", "0 %"], ["25 %", "0 %"]]
    bins = {"levels": [], "edges": [0.0, 1.0, 2.0], "counts": [[1, 3], [2, 2]], "date": False}
    drawn = charts.distribution_chart(bins)
    assert drawn["ends"] == ["0", "1", "2"]
    assert drawn["outlines"][0] == "M0 84V56H120V0H240V84"


def test_columns_are_counted_by_class_with_weights_and_without_gaps():
    frame = pd.DataFrame(
        {"town": ["Rome", "Oslo", None, "Rome", "Oslo"], "size": [1.5, 2.5, 3.5, np.nan, 2.5], "y": list("ababa")}
    )
    table = read_table(frame.drop(columns="y"), frame["y"], sample_weight=[1, 2, 1, 1, 1], missing="level")
    taken = take_columns(table, [0, 1])
    assert taken.kinds == ("category", "number")
    assert taken.missing.tolist() == [1, 1]
    assert taken.classes == ("a", "b")
    town = taken.distributions[0]
    assert dict(zip(town.levels, town.counts.T.tolist(), strict=True)) == {"Oslo": [1.0, 2.0], "Rome": [1.0, 1.0]}
    assert taken.distributions[1].levels == ("1.5", "2.5", "3.5")
    assert taken.distributions[1].counts.tolist() == [[1.0, 1.0, 1.0], [0.0, 2.0, 0.0]]


def test_columns_are_counted_as_they_were_and_a_pickle_holds_the_counts_alone():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (4000, 50)), rng.integers(0, 2, 4000)
    X[0, 7] = 5
    expected = np.array([[np.sum((X[:, 7] == level) & (y == c)) for level in (0, 1, 2, 5)] for c in (0, 1)])
    taken = take_columns(read_table(X, y), [7])
    X[:] = 0
    assert pickle.loads(pickle.dumps(taken)).distributions[7].counts.tolist() == expected.tolist()
    assert len(pickle.dumps(taken)) < 4000
    assert taken.distributions[7].levels == ("0", "1", "2", "5")
    assert pickle.loads(pickle.dumps(taken)).distributions[7].counts.tolist() == expected.tolist()


def test_columns_are_called_what_was_made_of_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"customer_id": np.arange(60), "smokes": rng.random(60) < 0.5, "size": rng.normal(size=60)})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, 60), unit="D")
    with pytest.warns(ColumnsLeftOutWarning):
        facts = result_facts(
            choose_subset(frame, rng.integers(0, 2, 60), 2, criterion="jmi", measure="plugin", correction="none")
        )
    assert facts["columns"]["kinds"] == ["identifier", "truth", "number", "date"]
    drawn = {one["column"]: one["date"] for one in facts["distributions"]["of"]}
    assert drawn == {i: i == 3 for i in facts["chosen"]}


def test_many_values_are_cut_into_bins_that_hold_all_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    X[0, 0] = 1e9  # does not flatten the rest
    one = take_columns(read_table(X, y), [0]).distributions[0]
    assert one.counts.sum() == 400
    assert one.edges[-1] < 10
    assert (one.counts.sum(axis=0) > 0).sum() > 8


def test_the_largest_numbers_there_are_can_be_drawn():
    X = np.linspace(-1.0, 1.0, 50)[:, None] * [np.finfo(float).max]
    one = take_columns(read_table(X, np.arange(50) % 2), [0]).distributions[0]
    assert np.isfinite(one.edges).all()
    assert one.counts.sum() == 50
    assert charts.distribution_chart({"levels": [], "edges": one.edges.tolist(), "counts": [[1] * 8], "date": True})


def test_a_column_without_any_value_has_no_levels_and_no_picture():
    frame = pd.DataFrame({"gone": [np.nan] * 30, "here": np.arange(30) / 7})
    taken = take_columns(read_table(frame, np.arange(30) % 2, missing="level"), [0, 1])
    assert taken.missing.tolist() == [30, 0]
    assert taken.distributions[0].counts.shape == (2, 0)


def test_sparse_columns_count_their_zeros():
    X = csc_array(np.array([[0, 2.0], [1, 0], [0, 0], [1, 3.0]]))
    taken = take_columns(read_table(X, [0, 1, 0, 1]), [1, 0])
    assert list(taken.distributions) == [1, 0]
    assert taken.distributions[1].levels == ("0", "2", "3")
    assert taken.distributions[1].counts.tolist() == [[1, 1, 0], [1, 0, 1]]


def test_rare_classes_and_levels_stand_together_and_numbers_to_predict_are_thirds():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"word": rng.choice(list("abcdefghijkl"), 300)})
    taken = take_columns(read_table(frame, rng.integers(0, 9, 300)), [0])
    assert len(taken.classes) == 6
    assert taken.classes[-1] == taken.distributions[0].levels[-1] == "all others"
    assert taken.distributions[0].counts.sum() == 300
    thirds = take_columns(read_table(frame, np.arange(300) / 7.0, task="regression"), [0])
    assert thirds.distributions[0].counts.sum(axis=1) == pytest.approx([100, 100, 100], abs=1)


class Mute:
    """A level that cannot be written down."""

    def __str__(self):
        raise RuntimeError


def test_levels_that_cannot_be_written_or_are_long_do_not_stop_a_selection():
    table = read_table(np.array([["y" * 10_000, 1], ["z", 2]] * 15, dtype=object), ["a", "b"] * 15)
    assert {len(level) for level in take_columns(table, [0]).distributions[0].levels} == {1, 100}
    block = replace(table.blocks[0], vocabularies=((Mute(), "z"),) * 2)
    assert "Mute" in take_columns(replace(table, blocks=(block,)), [0]).distributions[0].levels[0]


def test_only_so_many_columns_are_counted():
    X = np.random.default_rng(0).integers(0, 3, (20, 80))
    assert len(take_columns(read_table(X, X[:, 0]), range(80)).distributions) == MOST_COLUMNS


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_command_is_one_that_the_command_line_takes(kind):
    """Up to the table, which is not there: every option and value has been read by then."""
    words = shlex.split(command(made(kind).result, "no such table.csv"))
    if not words or "COSTS.csv" in words:
        return
    done = CliRunner().invoke(app, words[1:])
    assert "no such table.csv" in str(done.exception)


@pytest.mark.parametrize(
    "settings",
    [
        {"kinds": {"mean radius": "skip", 3: "levels"}},
        {"costs": {"mean radius": 2.0, 4: 1.0}, "budget": 2.5},
        {"costs": [1.0] * 30, "budget": 3.0},
        {"feature_groups": {"at_most_one": [["mean radius", "mean area"]]}},
    ],
    ids=str,
)
def test_the_call_says_settings_by_column_as_they_are_given(settings, tmp_path):
    tumours().to_csv(tmp_path / "t.csv", index=False)
    result = choose_subset(tmp_path / "t.csv", "diagnosis", 2, strategy="forward", **jmi(counted(settings)))
    called = eval(python_call(result, str(tmp_path / "t.csv")), {"choose_subset": choose_subset})
    assert called.settings.to_dict() == result.settings.to_dict()
    assert called.names == result.names
    assert command(result).startswith("certselect select")


def test_command_and_call_choose_the_same_features_again(tmp_path):
    tumours().to_csv(tmp_path / "t.csv", index=False)
    settings = {"criterion": "mrmr", "exclude": ["worst area"], "certify": True, "discretize": "uniform", "bins": 4}
    result = choose_subset(
        tmp_path / "t.csv", "diagnosis", 3, strategy="forward", random_state=1, **jmi(counted(settings))
    )
    words = shlex.split(command(result, str(tmp_path / "t.csv")))
    done = CliRunner().invoke(app, [*words[1:], "--json", str(tmp_path / "again.json")])
    assert done.exit_code == 0
    again = load_result(tmp_path / "again.json")
    assert again.names == result.names
    assert again.selection.objective == result.selection.objective
    called = eval(python_call(result, str(tmp_path / "t.csv")), {"choose_subset": choose_subset})
    assert called.names == result.names
    assert called.fingerprint == result.fingerprint


def test_there_is_no_command_where_the_command_line_would_read_names_as_others():
    table = pd.DataFrame(
        {"x,y": [0, 1, 0, 1, 0, 1], "x": [0, 1, 1, 1, 0, 0], "y": [1, 1, 0, 0, 0, 1], "c": [0, 1, 0, 1, 0, 0]}
    )
    result = choose_subset(
        table,
        "c",
        1,
        feature_groups={"at_most_one": [["x,y", "x"]]},
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert command(result) == ""
    result = choose_subset(
        table.rename(columns={"x": "new\nline"}),
        "c",
        1,
        include=["new\nline"],
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert command(result) == ""
    assert "new\\nline" in python_call(result)


@pytest.mark.parametrize("weights", [[1, 2, 3], [0, 1, 1]])
def test_weights_that_came_as_an_array_are_in_the_call_and_there_is_no_command(weights):
    frame, weights = tumours(), np.resize(weights, len(tumours()))
    result = choose_subset(
        frame,
        "diagnosis",
        2,
        strategy="forward",
        sample_weight=weights,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    call = python_call(result, "t.csv")
    assert call == (
        "choose_subset(table, 'diagnosis', 2, sample_weight=weights, measure='plugin', correction='none', "
        "criterion='jmi', strategy='forward')"
    )
    again = eval(call, {"choose_subset": choose_subset, "table": frame, "weights": weights})
    assert again.fingerprint == result.fingerprint
    assert command(result) == ""
    loaded = from_dict(result.to_dict())
    assert python_call(loaded) == call
    assert loaded.verify(frame, sample_weight=weights).holds
    assert "weighted by an array, and none was passed" in loaded.verify(frame).reasons[0]
    page = report_page(result_facts(loaded))
    assert "sample_weight=weights" in page
    assert "An array of weights told how much each row counts." in page
    assert "sample_weight" not in report_page(
        result_facts(
            choose_subset(
                frame, "diagnosis", 2, strategy="forward", criterion="jmi", measure="plugin", correction="none"
            )
        )
    )


def test_a_column_of_weights_is_named_as_it_was():
    frame = tumours().assign(weight=np.resize([1, 2], len(tumours())))
    result = choose_subset(
        frame, "diagnosis", 2, strategy="forward", weight="weight", criterion="jmi", measure="plugin", correction="none"
    )
    assert not result.provenance.weighted
    assert python_call(result).endswith("strategy='forward')")
    assert "weight='weight'" in python_call(result)
    assert "--weight weight" in command(result)


def test_some_rows_of_large_classes_are_counted_and_all_of_small_ones():
    rng = np.random.default_rng(0)
    label = np.repeat(["large", "small"], [40_000, 300])
    X = np.stack([rng.normal(size=len(label)), rng.integers(0, 3, len(label))], axis=1)
    taken = take_columns(read_table(X, label), [0, 1])
    assert taken.most_rows == 5000
    for one in taken.distributions.values():
        assert one.counts.sum(axis=1).tolist() == [5000, 300]
    shares = taken.distributions[1].counts / [[5000], [300]]
    whole = np.array([[(X[label == name, 1] == level).mean() for level in range(3)] for name in ("large", "small")])
    assert shares[0] == pytest.approx(whole[0], abs=0.03)
    assert shares[1] == pytest.approx(whole[1])
    again = take_columns(read_table(X, label), [0, 1])
    assert (again.distributions[0].counts == taken.distributions[0].counts).all()
    assert take_columns(read_table(X[-600:], label[-600:]), [0]).most_rows is None


def test_a_constraint_in_the_question_is_whole_or_cut_within_its_quotes():
    names = [f"how old the patient was at visit {i}, in years" for i in range(40)]
    said = constraints_in_words(Constraints(include=names[:2]), names)
    assert said == "with 'how old the patient was...', 'how old the patient was...'"
    pairs = [[names[i], names[i + 1]] for i in range(0, 40, 2)]
    many = constraints_in_words(
        Constraints(include=names, exclude=names, feature_groups={"all_or_none": pairs, "at_most_one": pairs}), names
    )
    assert len(many) <= 240
    assert many.count("'") % 2 == 0
    assert many.endswith("more")


def test_a_size_chosen_with_weights_says_so_and_counts_them():
    X, y = tumours().iloc[:, :3], tumours()["diagnosis"]
    weights = np.resize([1, 2, 0], len(y))
    selector = SubsetSelectorCV(
        LogisticRegression(max_iter=1000), 2, cv=2, criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y, sample_weight=weights)
    assert selector.result_.provenance.weighted
    assert "sample_weight=weights" in python_call(selector.result_)
    assert selector.result_.verify(X, y, sample_weight=weights).holds
    for one in selector.result_.columns.distributions.values():
        assert one.counts.sum() == weights.sum()
    assert (
        not SubsetSelectorCV(
            LogisticRegression(max_iter=1000), 2, cv=2, criterion="jmi", measure="plugin", correction="none"
        )
        .fit(X, y)
        .result_.provenance.weighted
    )
