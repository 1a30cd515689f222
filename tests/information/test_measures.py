"""Measures as records: those of the package, and one from outside in one file that works everywhere."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csc_array
from sklearn.linear_model import LogisticRegression

import certselect
from certselect import (
    Measure,
    SubsetSelector,
    SubsetSelectorCV,
    choose_subset,
    information_terms,
    list_measures,
    load_result,
    register_measure,
    stop_at_chance,
    verify,
)
from certselect.errors import IdleSettingWarning, InvalidInput
from certselect.information import registry
from certselect.information.plugin import plugin_terms
from certselect.information.registry import find_measure, measure_names
from certselect.selectors import subset_selector_cv
from certselect.settings import Measuring, Settings, all_settings
from certselect.settings.measuring import CORRECTIONS, COUNTING_SETTINGS
from command_line import in_process

OWN = ["auto", "gaussian_copula", "mixed", "neighbors", "plugin"]

THEIRS = '''
"""Linear correlation as a measure of information: -1/2 ln(1 - r^2), as for normal distributions."""

import numpy as np
from certselect import InformationTerms, Measure
from certselect.information.numeric import numeric_columns
from certselect.information.sound_pairs import SoundPairs
from certselect.information.terms import PairTerms


class CorrelationPairs(PairTerms):
    def __init__(self, values, target, dtype):
        self.values, self.target, self.dtype = values, target, dtype

    def measured(self, kinds, features=None):
        some = np.arange(len(self.values)) if features is None else features
        return tuple(self.of(kind, some).astype(self.dtype) for kind in kinds)

    def of(self, kind, some):
        shared = information(self.values[some] @ self.values.T)
        if kind == "redundancy":
            return shared
        within = self.values - np.outer(self.values @ self.target, self.target)  # what the target does not explain
        length = np.sqrt((within * within).sum(axis=1))
        within = within / np.where(length > 0, length, 1.0)[:, None]
        return shared - information(within[some] @ within.T)


def information(r):
    return -0.5 * np.log(1.0 - np.clip(r * r, 0.0, 1.0 - 1e-12))


def unit(rows):
    rows = rows - rows.mean(axis=-1, keepdims=True)
    length = np.sqrt((rows * rows).sum(axis=-1, keepdims=True))
    return rows / np.where(length > 0, length, 1.0)


def measured(table, measuring, *, dtype, n_jobs):
    columns = numeric_columns(table)
    values = unit(columns.values)
    target = unit(table.target_numbers[:, 0] if table.task == "regression" else table.target.astype(float))
    relevance = information(values @ target)
    entropy = information((values * values).sum(axis=1))
    return InformationTerms(
        relevance=relevance,
        entropy=entropy,
        target_entropy=float("nan"),
        n_samples=table.n_samples,
        feature_names=table.feature_names,
        levels=np.zeros(len(values), dtype=np.int64),
        constant=columns.constant,
        pairs=SoundPairs(CorrelationPairs(values, target, dtype), relevance, entropy),
    )


MEASURE = Measure(
    "correlation", measured, "linear correlation: normal distributions", "ranks", missing=(), weights=False, words=False
)
'''


def counted(coded, measuring, *, dtype, n_jobs):
    """Plain counts, whatever correction is asked for."""
    return plugin_terms(coded, dtype=dtype, n_jobs=n_jobs)


COUNTED = Measure("counted", counted, "plain counts", "counts", uses=("bins", "discretize"), missing=("level",))


@pytest.fixture(autouse=True)
def forgets(monkeypatch):
    monkeypatch.setattr(registry._registry, "_registered", dict(registry._registry._registered))


@pytest.fixture
def correlation():
    names = {}
    exec(compile(THEIRS, "theirs.py", "exec"), names)
    register_measure(names["MEASURE"])
    return names["MEASURE"]


def numbers(m=150):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, m)
    X = rng.normal(size=(m, 6)) + y[:, None] * [1.5, 1.2, 0.8, 0, 0, 0]
    X[:, 1] = X[:, 0] + 0.2 * rng.normal(size=m)
    return X, y


def write_csv(folder):
    X, y = numbers()
    lines = [
        "a,b,c,d,e,f,y",
        *(",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y, strict=True)),
    ]
    path = folder / "table.csv"
    path.write_text("\n".join(lines))
    return path


def test_the_measures_of_the_package():
    listed = list_measures()
    assert list(listed) == measure_names() == OWN
    assert all(name == record.name and record.summary and record.supports for name, record in listed.items())
    assert listed["plugin"].uses == listed["auto"].uses == COUNTING_SETTINGS
    assert listed["plugin"].corrections == tuple(CORRECTIONS)
    assert [name for name, record in listed.items() if record.sparse] == ["auto", "mixed", "plugin"]
    assert [name for name, record in listed.items() if record.in_blocks] == ["auto", "mixed", "plugin"]
    assert [name for name, record in listed.items() if not record.words] == ["gaussian_copula"]
    used = {name for record in listed.values() for name in record.uses}
    assert used == {name for name in all_settings(("measuring",)) if name != "measure"}


def test_what_the_default_measure_uses_is_known_without_its_record():
    assert Measuring(measure="plugin", correction="none").idle() == {}
    assert find_measure(Measuring.measure).uses == COUNTING_SETTINGS
    with pytest.warns(IdleSettingWarning, match="n_neighbors=3 has no effect with measure='plugin'"):
        Measuring(n_neighbors=3, measure="plugin", correction="none")


def test_a_measure_from_outside_measures(correlation):
    X, y = numbers()
    terms = information_terms(X, y, measure="Correlation")
    r = np.corrcoef(X.T, y)[-1, :-1]
    np.testing.assert_allclose(terms.relevance, -0.5 * np.log(1 - r * r), rtol=1e-12)
    np.testing.assert_allclose(terms.redundancy[0, 1], -0.5 * np.log(1 - np.corrcoef(X.T)[0, 1] ** 2), rtol=1e-12)
    assert terms.settings == {"measure": "correlation"}
    assert (terms.interaction <= np.minimum.outer(terms.relevance, terms.relevance)).all()
    assert information_terms(X, y, measure="correlation", dtype="float32").redundancy.dtype == np.float32
    copies = information_terms(np.hstack([X, -2 * X[:, :1]]), y, measure="correlation").copies
    assert copies == ((0, 6),)


def test_selectors_and_results_take_it(correlation, tmp_path):
    X, y = numbers()
    selector = SubsetSelector(2, measure="correlation", strategy="exact", criterion="jmi").fit(X, y)
    assert 0 in selector.indices_ or 1 in selector.indices_
    assert pickle.loads(pickle.dumps(selector)).indices_.tolist() == selector.indices_.tolist()
    result = choose_subset(X, y, 2, measure="correlation", strategy="exact", criterion="jmi")
    assert result.selection.indices.tolist() == selector.indices_.tolist()
    assert len(result.explain()) == 6
    result.save(tmp_path / "result.json")
    assert verify(load_result(tmp_path / "result.json"), X, y).holds
    assert stop_at_chance(X, y, measure="correlation", n_permutations=19, random_state=0, criterion="jmi").k >= 1
    tried = SubsetSelectorCV(
        LogisticRegression(), measure=["correlation", "plugin"], sizes=[1, 2], cv=2, criterion="jmi"
    ).fit(X, y)
    assert tried.n_features_in_ == 6
    tags = SubsetSelector(measure="correlation", criterion="jmi").__sklearn_tags__().input_tags
    assert (tags.sparse, tags.allow_nan, tags.categorical, tags.string) == (False, False, False, False)


def test_workers_get_the_measure_itself():
    """Other processes may not know its name."""
    register_measure(COUNTED)
    with pytest.warns(IdleSettingWarning):
        settings = Settings.from_keywords({"measure": "counted", "n_neighbors": 3})
    sent = subset_selector_cv._for_workers(settings)
    assert sent.measuring.measure is COUNTED
    assert sent.measuring.n_neighbors == 3
    assert pickle.loads(pickle.dumps(sent)).measuring.measure == COUNTED
    assert sent.to_dict()["measuring"] == settings.to_dict()["measuring"]
    X, y = numbers()
    given, named = (information_terms(X, y, measure=measure, bins=4) for measure in (COUNTED, "counted"))
    assert given.settings == named.settings
    assert subset_selector_cv._for_workers(Settings()).measuring == Settings().measuring


def test_what_it_does_not_support_is_refused(correlation):
    X, y = numbers()
    for given, said in (
        ({"X": csc_array(X)}, "a sparse matrix with measure='correlation'"),
        ({"sample_weight": np.arange(150) + 1.0}, "weights of rows with measure='correlation'"),
        (
            {"X": np.where(X > 2, np.nan, X), "missing": "pairwise"},
            "missing values and missing='pairwise' with measure=",
        ),
        ({"X": [["a"], ["b"]] * 75}, "categories in column 'x0' with measure='correlation'"),
    ):
        with pytest.raises(InvalidInput, match=said):
            information_terms(**{"X": X, "y": y, "measure": "correlation", **given})
    with pytest.raises(InvalidInput, match="measure='correlation' for a table that is read block by block"):
        find_measure("correlation").check_blocks()
    with pytest.warns(IdleSettingWarning, match="bins=4 has no effect with measure='correlation'"):
        Measuring(measure="correlation", bins=4)
    only_classes = Measure("classes", counted, "classes only", "counts", tasks=("classification",))
    register_measure(only_classes)
    with pytest.raises(
        InvalidInput, match="a target of numbers with measure='classes'; expected a target of class labels"
    ):
        information_terms(X, X[:, 0], measure="classes")


def test_a_measure_of_counts_gets_coded_columns():
    register_measure(COUNTED)
    X, y = numbers()
    mine = information_terms(X, y, measure="counted", bins=4)
    plugin = information_terms(X, y, measure="plugin", correction="none", bins=4)
    assert np.array_equal(mine.redundancy, plugin.redundancy)
    assert mine.settings["bins"] == 4
    assert "correction" not in mine.settings
    assert mine.copies == plugin.copies
    assert information_terms(csc_array(X), y, measure="plugin", correction="none").settings["measure"] == "plugin"
    assert stop_at_chance(X, y, measure="counted", n_permutations=19, random_state=0, criterion="jmi").k >= 1


def test_the_command_line_takes_it(correlation, tmp_path):
    table, saved, page = write_csv(tmp_path), tmp_path / "out.json", tmp_path / "page.html"
    done = in_process(
        *("select", table, "-t", "y", "-k", 2, "--measure", "correlation", "--json", saved, "--report", page)
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(saved.read_text())["settings"]["measuring"]["measure"] == "correlation"
    assert "correlation" in page.read_text()
    assert in_process("verify", saved, table).returncode == 0
    assert "correlation" in in_process("measures", "--format", "json").stdout
    done = in_process("select", table, "-t", "y", "-k", 2, "--measure", "corelation")
    assert done.returncode != 0
    assert "'correlation'" in done.stderr


def test_another_package_brings_one_in_one_file(tmp_path):
    (tmp_path / "theirs.py").write_text(THEIRS)
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[certselect.measures]\ncorrelation = theirs:MEASURE\n")
    write_csv(tmp_path)
    source = Path(certselect.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(source)])}
    for line in (
        ["select", "table.csv", "-t", "y", "-k", "2", "--measure", "correlation", "--json", "out.json"],
        ["verify", "out.json", "table.csv"],
        ["measures", "--format", "json"],
    ):
        script = "from certselect.cli import main; main()"
        ran = subprocess.run(
            [sys.executable, "-c", script, *line], capture_output=True, text=True, env=environment, cwd=tmp_path
        )
        assert ran.returncode == 0, ran.stderr
    listed = {row["measure"]: row for row in json.loads(ran.stdout)}
    assert listed["correlation"]["supports"] == ["classes", "numbers to predict"]


def test_unknown_measures_are_answered_with_the_nearest():
    for ask in (lambda: Measuring(measure="plgin"), lambda: find_measure("plgin")):
        with pytest.raises(
            InvalidInput, match=r"measure='plgin'; expected one of auto, .*plugin. Did you mean 'plugin'"
        ):
            ask()
    assert Settings.from_keywords({"measure": "PLUGIN"}).measuring.measure == "plugin"
    assert SubsetSelector(measure="plgin", criterion="jmi").__sklearn_tags__().input_tags.sparse is False


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"measured": None}, "a measure with measured=None; expected a function"),
        ({"in_blocks": 3}, "a measure with in_blocks=3; expected a function"),
        ({"needs": "histograms"}, "a measure with needs='histograms'; expected one of counts, ranks, distances"),
        ({"uses": ("bin",)}, "a measure with uses=.*; expected a tuple of some of correction, n_neighbors"),
        ({"missing": "level"}, "a measure with missing='level'; expected a tuple of some of level, pairwise"),
        ({"tasks": ("auto",)}, "expected a tuple of some of classification, regression"),
    ],
)
def test_records_that_are_refused(wrong, said):
    with pytest.raises(InvalidInput, match=said):
        Measure(**{"name": "mine", "measured": counted, "summary": "", "needs": "counts", **wrong})


def test_names_of_measures_that_are_taken():
    for name in OWN:
        with pytest.raises(InvalidInput, match="expected a name that is not taken"):
            register_measure(Measure(name, counted, "", "counts"))
    with pytest.raises(InvalidInput, match="expected a Measure with a name in lower case"):
        register_measure(counted)
