"""Readers of the published formats."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from certselect.datasets.archive import file_within
from certselect.datasets.arff import read_arff
from certselect.datasets.formats import arff_file, arrhythmia, challenge_dense, challenge_sparse, comma_file
from datasets.made_files import COMMA_FILE, LABELS, VALUES, zipped

READ_FIRST = comma_file("try.data", label="first")


@pytest.mark.parametrize(
    "download",
    [
        COMMA_FILE,
        COMMA_FILE.replace(b"\n", b"\r\n") + b"\r\n",
        COMMA_FILE.replace(b",", b" ,   ").rstrip(),
        gzip.compress(COMMA_FILE),
        zipped({"try.data": COMMA_FILE}),
        zipped({"other.data": b"no", "a/b/": b"", "a/b/try.data": COMMA_FILE}),
        zipped({"readme.txt": b"no", "inner.ZIP": zipped({"c/try.data": COMMA_FILE})}),
    ],
    ids=["plain", "windows", "spaces", "gzip", "zip", "zip with folders", "zip in zip"],
)
def test_comma_file_however_it_is_packed(download):
    content = READ_FIRST(download)
    assert_array_equal(content.X, VALUES)
    assert content.labels.tolist() == LABELS.tolist()
    assert content.feature_names is None


def test_comma_file_with_the_class_last_as_the_advertisements_have_it():
    content = comma_file("ad.data", label="last")(b" 125, 125,1.0,ad.\n   ?,  60, ?,nonad.\n")
    assert_array_equal(content.X, [[125, 125, 1], [np.nan, 60, np.nan]])
    assert content.labels.tolist() == ["ad.", "nonad."]


def test_comma_file_with_a_header_as_nci_has_it():
    content = comma_file("nci.csv", label="first", header=True)(b"class,v1,v2\n3,-2,0\n1,2,0\n")
    assert_array_equal(content.X, [[-2, 0], [2, 0]])
    assert content.labels.tolist() == ["3", "1"]


@pytest.mark.parametrize(
    ("download", "said"),
    [
        (b"a,1,2\nb,3\n", "line 2 has 1 values, the first one 2"),
        (b"a,1,2\n\nb,3,x\n", "line 3: could not convert"),
        (b" \n", "without rows"),
    ],
)
def test_broken_comma_files_are_refused(download, said):
    with pytest.raises(ValueError, match=said):
        READ_FIRST(download)


def test_arrhythmia_leaves_out_attribute_14_and_rows_that_still_miss_values():
    rows = np.arange(4 * 16.0).reshape(4, 16)
    cells = [[str(value) for value in row] for row in rows]
    cells[0][13] = cells[3][13] = "?"  # attribute 14 alone: the row stays
    cells[1][2] = "?"
    labels = ["8", "1", "1", "16"]
    text = "\n".join(",".join([*row, label]) for row, label in zip(cells, labels, strict=True))
    content = arrhythmia("arrhythmia.data")(zipped({"arrhythmia.data": text}))
    assert_array_equal(content.X, np.delete(rows, 13, axis=1)[[0, 2, 3]])
    assert content.labels.tolist() == [1, 0, 1]


def test_dense_challenge_format():
    download = zipped({"M/m_train.data": "485 477 \n5 -6 \n", "M/m_train.labels": "-1\n1\n", "M/m_test.data": "1 2 \n"})
    content = challenge_dense("m_train.data", "m_train.labels")(download)
    assert_array_equal(content.X, [[485, 477], [5, -6]])
    assert content.labels.tolist() == ["-1", "1"]


def test_sparse_challenge_format_counts_columns_from_one():
    download = zipped({"D/d.data": "1:105 4:7 \n5:3 2:9 \n", "D/d.labels": "1\n-1\n"})
    content = challenge_sparse("d.data", "d.labels", n_features=5)(download)
    assert_array_equal(content.X.toarray(), [[105, 0, 0, 7, 0], [0, 9, 0, 0, 3]])
    assert content.labels.tolist() == ["1", "-1"]


@pytest.mark.parametrize("pair", ["0:1", "6:1", "-1:1"])
def test_sparse_columns_out_of_range_are_refused(pair):
    read = challenge_sparse("d.data", "d.labels", n_features=5)
    with pytest.raises(ValueError, match="line 2 has a value for column"):
        read(zipped({"d.data": f"1:1\n{pair}\n", "d.labels": "1\n1\n"}))


@pytest.mark.parametrize(
    "read", [challenge_dense("d.data", "d.labels"), challenge_sparse("d.data", "d.labels", n_features=5)]
)
def test_as_many_classes_as_rows(read):
    data = "1:1\n2:1\n" if read.__qualname__.startswith("challenge_sparse") else "1 2\n3 4\n"
    with pytest.raises(ValueError, match="2 rows, but 1 classes"):
        read(zipped({"d.data": data, "d.labels": "1\n"}))


ARFF_HEAD = """% a comment
@RELATION 'made up'
@attribute 'it''s'  {0,1}
@ATTRIBUTE "two words" NUMERIC
@attribute zürich {0, 1}
@attribute CLASS {no,yes}
@DATA
"""


def test_arff_with_dense_rows():
    text = ARFF_HEAD.replace("it''s", r"it\'s") + "% and another\n0, 2.5, 1, yes\n\n1,?,0,'no'\n"
    content = arff_file("made.arff")(zipped({"weka/made.arff": text.encode()}))
    assert_array_equal(content.X, [[0, 2.5, 1], [1, np.nan, 0]])
    assert content.labels.tolist() == ["yes", "no"]
    assert content.feature_names == ("it's", "two words", "zürich")


def test_arff_in_an_older_encoding_has_the_same_names():
    text = ARFF_HEAD.replace("it''s", "its") + "0,2,1,yes\n"
    read = arff_file("made.arff")
    assert read(text.encode("latin-1")).feature_names == read(text.encode("utf-8")).feature_names


def test_arff_with_sparse_rows_leaves_out_zeros_and_first_values():
    text = ARFF_HEAD.replace("it''s", "its") + "{0 1, 3 yes}\n{1 2.5}\n{}\n"
    content = read_arff(text)
    assert_array_equal(content.X, [[1, 0, 0], [0, 2.5, 0], [0, 0, 0]])
    assert content.labels.tolist() == ["yes", "no", "no"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@attribute a numeric\n1\n", "without @data"),
        ("@attribute a numeric\n@attribute c {0,1}\n@data\n", "without rows"),
        ("@attribute a numeric\n@attribute c {0,1}\n@data\n1,0\n1,2,0\n", "line 5 has 3 values, not 2"),
        ("@attribute a numeric\n@attribute c {0,1}\n@data\n{2 1}\n", "a value for column 2, of 2"),
        ("@attribute a string\n@attribute c {0,1}\n@data\nword,1\n", "could not convert"),
    ],
)
def test_broken_arff_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        read_arff(text)


def test_archives_without_the_file_damaged_or_too_large_are_refused():
    whole = zipped({"a.data": b"1,2\n" * 1000})
    with pytest.raises(ValueError, match=r"without a file b\.data"):
        file_within(whole, "b.data")
    with pytest.raises(ValueError, match="damaged archive"):
        file_within(whole[:-30], "a.data")
    with pytest.raises(ValueError, match="damaged archive"):
        file_within(gzip.compress(b"1,2\n" * 1000)[:-12], "a.data")
    for packed in (whole, gzip.compress(b"1,2\n" * 1000)):
        assert len(file_within(packed, "a.data", most_bytes=4000)) == 4000
        with pytest.raises(ValueError, match="more than 3999 bytes"):
            file_within(packed, "a.data", most_bytes=3999)


def test_zip_files_nested_without_end_are_not_followed():
    nested = zipped({"a.data": b"1"})
    for _ in range(3):
        nested = zipped({"next.zip": nested})
    with pytest.raises(ValueError, match="without a file"):
        file_within(nested, "a.data")


def test_paths_in_an_archive_are_never_written_to(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert file_within(zipped({"../evil.data": b"1,2"}), "evil.data") == b"1,2"
    assert [path.name for path in tmp_path.rglob("*")] == ["here"]
