"""CSV and Parquet files, written and read back."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from certselect.errors import InvalidInput
from certselect.table import read_file, read_table

ROWS = [
    ("whole", "real", "text", "flag", "kind"),
    (1, 0.5, "x", "true", "spam"),
    (2, 1.0, "y z", "false", "ham"),
    (1, -3.25, "x", "true", "spam"),
]


def text(separator: str) -> str:
    return "\n".join(separator.join(map(str, row)) for row in ROWS) + "\n"


def refused(path, target="kind", **options) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_file(path, target, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "separator"),
    [("t.csv", ","), ("t.csv", ";"), ("t.CSV", "\t"), ("t.tsv", "\t"), ("t.txt", ";"), ("t.csv.gz", ","), ("t.pq", "")],
)
def test_every_kind_of_file_gives_the_same_table(tmp_path, name, separator):
    path = tmp_path / name
    if name.endswith(".pq"):
        import pandas as pd

        frame = pd.DataFrame(ROWS[1:], columns=ROWS[0])
        frame["flag"] = frame["flag"] == "true"
        frame.to_parquet(path)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(text(separator).encode()))
    else:
        path.write_text(text(separator), encoding="utf-8-sig")
    table = read_file(str(path), "kind")
    assert table.feature_names == ("whole", "real", "text", "flag")
    assert table.classes == ("ham", "spam")
    assert table.target.tolist() == [1, 0, 1]
    kinds = {
        table.feature_names[i]: (block.kind, block.values[:, j].tolist())
        for block in table.blocks
        for j, i in enumerate(block.positions.tolist())
    }
    assert kinds == {
        "whole": ("integer", [1, 2, 1]),
        "real": ("number", [0.5, 1.0, -3.25]),
        "text": ("category", [0, 1, 0]),
        "flag": ("integer", [True, False, True]),
    }


def test_quotes_hide_separators_and_line_ends(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a;b;c;d",y\n"1,5\n2",0\n"u",1\n')
    table = read_file(path, "y")
    assert table.feature_names == ("a;b;c;d",)
    assert table.blocks[0].vocabularies == (("1,5\n2", "u"),)


def test_a_number_on_the_last_line_of_a_long_file_counts(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "3,0\n4,1\n" * 200_000 + "0.5,1\n")
    (block,) = read_file(path, "y").blocks
    assert block.kind == "number"
    assert block.values[-1, 0] == 0.5


def test_a_row_may_be_long(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"x,y\n{'u' * 3_000_000},0\nv,1\n")
    assert len(read_file(path, "y").blocks[0].vocabularies[0][0]) == 3_000_000


def test_parquet_and_csv_agree_with_the_array(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.integers(0, 3, 50)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    expected = read_table(X, y, feature_names=list("abcd"))
    for name in ("t.csv", "t.parquet"):
        table = read_file(tmp_path / name, "y")
        assert table.blocks[0].values.tolist() == X.tolist()
        assert table.target.tolist() == expected.target.tolist()
        assert table.feature_names == expected.feature_names


def test_empty_cells_are_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,y\n1,u,,0\n,v,,1\n3,,,1\n")
    message = refused(path, "y", missing="error")
    assert "NaN" in message
    assert "columns 'a', 'b', 'c', in 3 of 3 rows" in message
    table = read_file(path, "y")
    assert table.missing == "auto"
    found = {int(i): block.missing[:, j].tolist() for block in table.blocks for j, i in enumerate(block.positions)}
    assert found == {0: [False, True, False], 1: [False, False, True], 2: [True] * 3}
    path.write_text("a,y\n1,\n2,1\n3,0\n")
    assert "missing labels" in refused(path, "y")


def test_a_misspelt_target_is_answered_with_close_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text(","))
    message = refused(path, "knd")
    assert "Did you mean 'kind'?" in message
    assert "'whole', 'real', 'text', 'flag', 'kind'" in message
    assert "Name one of them" in refused(path, "zzzzzz")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.xlsx", b"x", "a name ending in .csv"),
        ("t.csv", b"", "an empty file"),
        ("t.csv", b"\n", "an empty file"),
        ("t.parquet", b"", "an empty file"),
        ("t.parquet", b"no parquet at all", "cannot be read as Parquet"),
        ("t.csv.gz", b"no gzip at all", "cannot be read as text"),
        ("t.csv", b"a,kind\n1,2,3\n", "cannot be read as text"),
        ("t.csv", b"a,kind\n\xff,1\nb,2\n", "not UTF-8"),
        ("t.csv", b"\xff,kind\n1,1\n2,2\n", "whose first line is not UTF-8"),
        ("t.csv", b"a,a,kind\n1,2,3\n", "names that occur more than once: 'a'"),
        ("t.csv", b"a,kind\n", "without any row"),
        ("t.csv", b"kind\n1\n2\n", "0 feature(s)"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    assert words in refused(path)


def test_several_targets_and_weights(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,w,y,z,u\n1,2,u,0.5,0\n2,0,v,1.5,1\n1,1,v,2.5,1\n3,1,u,2.5,1\n")
    table = read_file(path, ["y", "z"], weight="w")
    assert table.feature_names == ("a", "u")
    assert table.weights.tolist() == [2, 1, 1]
    assert table.classes == ("u", "v")
    assert table.target.tolist() == [0, 1, 0]
    assert table.target_numbers.tolist() == [[0.5], [2.5], [2.5]]
    assert read_file(path, ["y", "u"]).classes == (("u", 0), ("u", 1), ("v", 1))
    assert read_file(path, ["u"], task="regression").target_numbers.tolist() == [[0], [1], [1], [1]]
    assert "weight='v'" in refused(path, "y", weight="v")
    assert "one column in two parts" in refused(path, ["y", "z"], weight="z")
    assert "one column in two parts" in refused(path, ["y", "y"])
    assert "at least one column" in refused(path, [])
    assert "target='q'" in refused(path, ["y", "q"])


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    assert "no file" in refused(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv', which is a folder; expected a CSV, Parquet or Feather file" in refused(tmp_path / "folder.csv")
