"""The whole flow in one call: from whatever holds the table, and what it answers to slips."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse

from certselect import SubsetSelector, choose_subset, load_result, read_table
from certselect.criteria import Criterion, SameWeight
from certselect.errors import FewerFeaturesWarning, InvalidInput
from results.made_results import numbers, table


def frame_of(library: str):
    frame = table().drop(columns=["number"])
    frame = frame.assign(city=frame["city"].astype(object).where(frame["city"].notna(), None))
    return {"pandas": lambda: frame, "polars": lambda: pl.from_pandas(frame), "pyarrow": lambda: pa.table(frame)}[
        library
    ]()


def written(folder, kind: str):
    frame = frame_of("pandas")
    path = folder / f"table.{kind}"
    if kind == "parquet":
        pyarrow.parquet.write_table(pa.table(frame), path)
    else:
        frame.to_csv(path, index=False, sep="\t" if kind.startswith("tsv") else ",")
    return path


def test_every_source_gives_the_same_result(tmp_path):
    """Files of every type, frames of every library: one answer, and each verifies the result of each."""
    sources = {kind: written(tmp_path, kind) for kind in ("csv", "csv.gz", "tsv", "parquet")}
    sources |= {library: frame_of(library) for library in ("pandas", "polars", "pyarrow")}
    sources["shuffled"] = frame_of("pandas").sample(frac=1.0, random_state=0)
    settings = {"weight": "weights", "random_state": 0}
    results = {name: choose_subset(source, "label", 3, **settings) for name, source in sources.items()}
    first = results["csv"].to_dict()
    for name, result in results.items():
        stored = result.to_dict()
        assert stored["selection"] == first["selection"], name
        assert stored["provenance"]["fingerprint"] == first["provenance"]["fingerprint"]
        assert stored["provenance"]["target"] == ["label"]
        result.save(tmp_path / "r.json")
        loaded = load_result(tmp_path / "r.json")
        for source in sources.values():
            assert loaded.verify(source).reasons == ()
    frame = frame_of("pandas")
    apart = frame.drop(columns=["label", "weights"])
    assert loaded.verify(apart, frame["label"], sample_weight=frame["weights"]).holds
    assert not loaded.verify(apart, frame["label"], sample_weight=np.ones(120)).holds
    other = frame.assign(n4=frame["n4"].sample(frac=1.0, random_state=1).to_numpy())
    assert not loaded.verify(other).holds
    renamed = frame.rename(columns={"label": "other"})
    assert loaded.verify(renamed).verdict == loaded.verify(renamed, "other").verdict == "another table"
    assert loaded.verify(
        renamed.drop(columns=["other", "weights"]), np.array(frame["label"]), sample_weight=frame["weights"]
    ).holds


def test_it_is_what_the_selector_finds():
    X, y = numbers()
    result = choose_subset(X, y, 3, criterion="mrmr", random_state=1, measure="plugin", correction="none")
    selector = SubsetSelector(3, criterion="mrmr", random_state=1, measure="plugin", correction="none").fit(X, y)
    untimed = [r.to_dict() for r in (result, selector.result_)]
    for stored in untimed:
        assert stored["provenance"].pop("seconds").keys() >= {"reading", "coding", "relevance", "search"}
    assert untimed[0] == untimed[1]
    assert (
        choose_subset(
            read_table(X, y), None, 3, criterion="mrmr", random_state=1, measure="plugin", correction="none"
        ).names
        == result.names
    )
    sparse = choose_subset(
        scipy.sparse.csr_array((X > 1).astype(int)), y, 3, criterion="jmi", measure="plugin", correction="none"
    )
    assert sparse.verify((X > 1).astype(int), y).holds


def test_weights_in_a_column_and_beside_the_table_count_the_same():
    frame = frame_of("pandas")
    inside = choose_subset(frame, "label", 2, weight="weights", criterion="jmi", measure="plugin", correction="none")
    beside = choose_subset(
        frame.drop(columns="weights"),
        "label",
        2,
        sample_weight=frame["weights"],
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert inside.selection.objective == beside.selection.objective
    assert beside.provenance.target == ("label",)
    assert (
        inside.selection.objective
        != choose_subset(
            frame.drop(columns="weights"), "label", 2, criterion="jmi", measure="plugin", correction="none"
        ).selection.objective
    )


def test_pandas_numbers_columns_that_have_no_names():
    X, y = numbers()
    frame = pd.DataFrame(X).assign(**{"7": y}).rename(columns={"7": 7})
    result = choose_subset(frame, 7, 3, criterion="jmi", measure="plugin", correction="none")
    assert result.names == choose_subset(frame, "7", 3, criterion="jmi", measure="plugin", correction="none").names
    assert result.provenance.target == ("7",)
    assert result.verify(frame).holds
    assert set(result.names) <= {str(i) for i in range(7)}


def test_lists_name_columns_or_label_rows():
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 0], "d": [1, 0, 0, 1]})
    assert choose_subset(
        frame, ["c", "d"], 1, criterion="jmi", measure="plugin", correction="none"
    ).provenance.target == ("c", "d")
    assert (
        choose_subset(frame, ("c",), 1, criterion="jmi", measure="plugin", correction="none").provenance.n_features == 3
    )
    assert choose_subset(
        frame, ["u", "v", "u", "v"], 1, criterion="jmi", measure="plugin", correction="none"
    ).names == ("a",)
    with pytest.raises(InvalidInput, match=r"may name columns or label the 4 rows.*Pass labels as an array"):
        choose_subset(frame, ["a", "b", "a", "b"], 1, criterion="jmi", measure="plugin", correction="none")
    assert choose_subset(
        frame, np.array(["a", "b", "a", "b"]), 1, criterion="jmi", measure="plugin", correction="none"
    ).names == ("a",)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda f: choose_subset(f, "labell", criterion="jmi", measure="plugin", correction="none"),
            "target='labell'.*Did you mean 'label'",
        ),
        (
            lambda f: choose_subset(f, ["label", "contu"], criterion="jmi", measure="plugin", correction="none"),
            "target='contu'.*Did you mean 'count'",
        ),
        (lambda f: choose_subset(f, 12, criterion="jmi", measure="plugin", correction="none"), "target='12'"),
        (
            lambda f: choose_subset(f, "label", weight="weigths", criterion="jmi", measure="plugin", correction="none"),
            "weight='weigths'.*Did you mean 'weights'",
        ),
        (
            lambda f: choose_subset(
                f, "label", sample_weight="weights", criterion="jmi", measure="plugin", correction="none"
            ),
            "Pass weight='weights'",
        ),
        (
            lambda f: choose_subset(
                f,
                "label",
                weight="weights",
                sample_weight=np.ones(120),
                criterion="jmi",
                measure="plugin",
                correction="none",
            ),
            "weight and sample_weight",
        ),
        (
            lambda f: choose_subset(
                f, f["label"], weight="weights", criterion="jmi", measure="plugin", correction="none"
            ),
            "Pass sample_weight=",
        ),
        (
            lambda f: choose_subset(f, "label", weight="label", criterion="jmi", measure="plugin", correction="none"),
            "Name each column once",
        ),
        (
            lambda f: choose_subset(f, ["label", "label"], criterion="jmi", measure="plugin", correction="none"),
            "Name each column once",
        ),
        (lambda f: choose_subset(f, [], criterion="jmi", measure="plugin", correction="none"), "target|label"),
        (lambda f: choose_subset(f, None, criterion="jmi", measure="plugin", correction="none"), "target y is None"),
        (lambda f: choose_subset(f, criterion="jmi", measure="plugin", correction="none"), "target y is None"),
        (
            lambda f: choose_subset(
                f.rename(columns={"n0": "n1"}), "label", criterion="jmi", measure="plugin", correction="none"
            ),
            "more than once: 'n1'",
        ),
        (
            lambda f: choose_subset(f.to_numpy(), "label", criterion="jmi", measure="plugin", correction="none"),
            "Names are for frames and files",
        ),
        (
            lambda f: choose_subset(numbers()[0], 3, criterion="jmi", measure="plugin", correction="none"),
            "target=3 for an array",
        ),
        (
            lambda f: choose_subset([[0, 1], [1, 0]], "label", criterion="jmi", measure="plugin", correction="none"),
            "Names are for frames and files",
        ),
        (
            lambda f: choose_subset(
                read_table(*numbers()), numbers()[1], criterion="jmi", measure="plugin", correction="none"
            ),
            "a Table and a target beside it",
        ),
        (
            lambda f: choose_subset(
                read_table(*numbers()), weight="w", criterion="jmi", measure="plugin", correction="none"
            ),
            "a Table and weight beside it",
        ),
        (
            lambda f: choose_subset("no/such/table.csv", "label", criterion="jmi", measure="plugin", correction="none"),
            "where there is no file",
        ),
        (
            lambda f: choose_subset("table.xlsx", "label", criterion="jmi", measure="plugin", correction="none"),
            "a name ending in",
        ),
        (lambda f: choose_subset("table.csv", criterion="jmi", measure="plugin", correction="none"), "Pass target="),
        (
            lambda f: choose_subset("table.csv", np.arange(3), criterion="jmi", measure="plugin", correction="none"),
            "beside a file",
        ),
        (
            lambda f: choose_subset("table.csv", 3, criterion="jmi", measure="plugin", correction="none"),
            "beside a file",
        ),
        (
            lambda f: choose_subset(
                "table.csv", "label", sample_weight=[1, 2], criterion="jmi", measure="plugin", correction="none"
            ),
            "Name a column by weight=",
        ),
        (
            lambda f: choose_subset(
                f, "label", estimator="plugin", criterion="jmi", measure="plugin", correction="none"
            ),
            "'estimator' is now called 'measure'",
        ),
        (
            lambda f: choose_subset(
                f, "label", strateggy="forward", criterion="jmi", measure="plugin", correction="none"
            ),
            "Did you mean 'strategy'",
        ),
        (
            lambda f: choose_subset(
                f, "label", strategy="forwards", criterion="jmi", measure="plugin", correction="none"
            ),
            "Did you mean 'forward'",
        ),
        (
            lambda f: choose_subset(f, "label", criterion="mRMRR", measure="plugin", correction="none"),
            "Did you mean 'mrmr'",
        ),
        (
            lambda f: choose_subset(
                f, "label", random_state=object(), criterion="jmi", measure="plugin", correction="none"
            ),
            "random_state=<object",
        ),
        (
            lambda f: choose_subset(
                f,
                "label",
                strategy="forward",
                strategy_options={"draws": 3},
                criterion="jmi",
                measure="plugin",
                correction="none",
            ),
            "draws=3",
        ),
        (
            lambda f: choose_subset(f, "label", 0, criterion="jmi", measure="plugin", correction="none"),
            "n_features_to_select=0",
        ),
        (lambda f: choose_subset(f, "label", None, criterion="jmi", measure="plugin", correction="none"), "budget"),
        (lambda f: choose_subset(f, "label", "three", criterion="jmi", measure="plugin", correction="none"), "three"),
        (lambda f: choose_subset({"a": [1, 2]}, "a", criterion="jmi", measure="plugin", correction="none"), "."),
    ],
)
def test_slips_are_answered_with_a_sentence(call, said):
    with pytest.raises(InvalidInput, match=f"(?s){said}"):
        call(frame_of("pandas"))


def test_more_features_than_there_are_keeps_all_and_warns():
    X, y = numbers()
    with pytest.warns(FewerFeaturesWarning, match="Asked for 10 features"):
        result = choose_subset(X, y, criterion="jmi", measure="plugin", correction="none")
    assert len(result.names) == 7


def test_names_are_matched_without_case_and_kept_as_they_are_known():
    X, y = numbers()
    result = choose_subset(X, y, 2, criterion="mRMR", strategy="FORWARD", measure="PlugIn")
    stored = result.to_dict()
    assert (stored["selection"]["criterion"], stored["selection"]["strategy"]) == ("mrmr", "forward")
    assert result.verify(X, y).holds


def test_a_result_keeps_its_own_constraints():
    X, y = numbers()
    include, costs = ["x0"], {"x1": 1.0}
    result = choose_subset(
        X,
        y,
        2,
        include=include,
        costs=costs,
        budget=1.0,
        strategy="forward",
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    include[0], costs["x1"] = "x5", 99.0
    assert result.settings.constraints.include == ["x0"]
    assert result.verify(X, y).holds


def test_a_criterion_that_no_reader_could_find_is_not_saved(tmp_path):
    X, y = numbers()
    result = choose_subset(
        X,
        y,
        2,
        criterion=Criterion("nobodys", "redundancy", SameWeight(0.3), "mine"),
        measure="plugin",
        correction="none",
    )
    with pytest.raises(InvalidInput, match="register_criterion"):
        result.save(tmp_path / "result.json")
    assert not (tmp_path / "result.json").exists()


def test_the_name_of_a_series_is_that_of_the_target(tmp_path):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    result = (
        SubsetSelector(2, criterion="jmi", measure="plugin", correction="none")
        .fit(frame, pd.Series(y, name="label"))
        .result_
    )
    assert result.provenance.target == ("label",)
    frame.assign(label=y).to_csv(tmp_path / "table.csv", index=False)
    assert result.verify(tmp_path / "table.csv").holds
