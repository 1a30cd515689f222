"""The sum over content, and files that hold it."""

import hashlib
import struct
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, csr_matrix, save_npz

from certselect.datasets.catalogue import PUBLISHED
from certselect.datasets.content import content_sum, order_of_appearance
from certselect.datasets.stored import read_stored, write_stored
from datasets.made_files import LABELS, VALUES

SPARSE = csr_array(np.array([[0, 3, 0, 1], [2, 0, 0, 0], [0, 0, 0, 0]]))


def test_the_sum_is_the_one_documented():
    by_hand = struct.pack("<2q4d2q", 2, 2, 1.0, 2.5, 0.0, -3.0, 0, 1)
    assert content_sum(np.array([[1, 2.5], [-0.0, -3]]), np.array(["x", "a"])) == hashlib.sha256(by_hand).hexdigest()
    sparse = csr_array(np.array([[0, 2.5], [0, 0]]))
    by_hand = struct.pack("<2q1d1q3q2q", 2, 2, 2.5, 1, 0, 1, 1, 0, 0)
    assert content_sum(sparse, np.array([7, 7])) == hashlib.sha256(by_hand).hexdigest()


def test_ways_to_store_do_not_change_the_sum():
    expected = content_sum(VALUES, LABELS)
    assert content_sum(np.asfortranarray(VALUES), np.array([9, 9, -1], dtype=np.int8)) == expected
    other_nan = VALUES.copy()
    other_nan.view(np.uint64)[0, 2] |= 1
    assert np.isnan(other_nan[0, 2])
    assert content_sum(other_nan, LABELS) == expected
    whole = np.array([[1, 0], [3, 2]], dtype=np.int8)
    assert content_sum(whole, LABELS[1:]) == content_sum(np.array([[1, -0.0], [3, 2]]), LABELS[1:])
    unsorted = csr_array(([1, 2, 1, 0, 2], [3, 1, 1, 2, 0], [0, 4, 5, 5]), shape=(3, 4))
    assert content_sum(unsorted, LABELS) == content_sum(SPARSE, LABELS)
    assert unsorted.nnz == 5, "the caller's matrix stays as it was"


@pytest.mark.parametrize(
    ("X", "labels"),
    [
        (VALUES + 1e-15, LABELS),
        (VALUES[:, ::-1], LABELS),
        (VALUES.reshape(3, 3).T, LABELS),
        (VALUES, np.array(["b", "a", "a"])),
        (VALUES, np.array(["b", "b", "b"])),
    ],
)
def test_other_content_has_another_sum(X, labels):
    assert content_sum(X, labels) != content_sum(VALUES, LABELS)


def test_order_of_appearance():
    assert order_of_appearance(np.array(["z", "a", "z", "m", "a"])).tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize("X", [VALUES, SPARSE.astype(np.float64)], ids=["dense", "sparse"])
@pytest.mark.parametrize("named", [True, False])
def test_written_files_read_back(tmp_path, X, named):
    names = tuple(f"ü{i}" for i in range(X.shape[1])) if named else None
    path = tmp_path / "new" / "folder" / "try.npz"
    write_stored(path, X, np.array([5, 5, 4]), names)
    content = read_stored(path)
    assert content_sum(content.X, content.labels) == content_sum(X, LABELS)
    assert isinstance(content.X, type(X))
    assert content.feature_names == names
    assert [file.name for file in path.parent.iterdir()] == ["try.npz"]


def test_a_failed_write_leaves_nothing(tmp_path):
    class Unwritable:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("no more room")

    write_stored(tmp_path / "try.npz", VALUES, LABELS, None)
    with pytest.raises(RuntimeError, match="no more room"):
        write_stored(tmp_path / "try.npz", VALUES, Unwritable(), None)
    assert [file.name for file in tmp_path.iterdir()] == ["try.npz"]
    assert_array_equal(read_stored(tmp_path / "try.npz").X, VALUES)


def test_decimals_give_back_published_numbers(tmp_path):
    published = np.array([[0.1, -242.4], [8.2105, np.nan]])
    np.savez(tmp_path / "try.npz", X=published.astype(np.float32), y=[0, 1], decimals=np.int8(4))
    assert_array_equal(read_stored(tmp_path / "try.npz").X, published)


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_files_of_scipy_with_classes_beside(tmp_path, kind):
    path = tmp_path / "try.npz"
    save_npz(path, kind(SPARSE))
    np.save(tmp_path / "y.npy", np.array([1, -1, 1]))
    with zipfile.ZipFile(path, "a") as archive:
        archive.write(tmp_path / "y.npy", "y.npy")
    content = read_stored(path)
    assert_array_equal(content.X.toarray(), SPARSE.toarray())
    assert content.labels.tolist() == [1, -1, 1]


def broken(path, how):
    good = {"X": VALUES, "y": LABELS}
    outside = {"format": b"csr", "shape": (1, 2), "data": [1.0], "indices": [9], "indptr": [0, 1], "y": [0]}
    files = {
        "no classes": {"X": VALUES},
        "too few classes": good | {"y": LABELS[1:]},
        "too few names": good | {"feature_names": ["a"]},
        "not a table": good | {"X": VALUES[0]},
        "text": good | {"X": np.array([["a"], ["b"], ["c"]])},
        "index out of range": outside,
        "not rows": outside | {"format": b"csc"},
        "pickled": good | {"X": np.array([[object()]])},
    }
    if how in files:
        np.savez(path, **files[how])
    elif how == "cut off":
        np.savez(path, **good)
        path.write_bytes(path.read_bytes()[:-40])
    elif how == "spoilt inside":
        np.savez(path, **good)
        content = bytearray(path.read_bytes())
        content[200] ^= 255
        path.write_bytes(content)
    else:
        np.save(path.with_suffix(".npy"), VALUES)
        path.with_suffix(".npy").rename(path)


@pytest.mark.parametrize(
    "how",
    [
        "no classes",
        "too few classes",
        "too few names",
        "not a table",
        "text",
        "index out of range",
        "not rows",
        "pickled",
        "cut off",
        "spoilt inside",
        "npy",
    ],
)
def test_broken_files_are_refused(tmp_path, how):
    broken(tmp_path / "try.npz", how)
    with pytest.raises(ValueError, match=r"\w"):
        read_stored(tmp_path / "try.npz")


def test_the_catalogue_is_complete():
    assert list(PUBLISHED) == ["ARR", "NCI", "DBW", "CNA", "IAD", "MAD", "LNG", "DEX"]
    for name, published in PUBLISHED.items():
        assert published.name == name
        assert published.file.endswith(".npz")
        assert all(address.startswith(("http://", "https://")) for address in published.addresses)
        assert len(published.content_sum) == 64
        assert len(set(published.classes)) == len(published.classes) >= 2
    assert len({published.content_sum for published in PUBLISHED.values()}) == 8
