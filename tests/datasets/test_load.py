"""load_dataset: folder, cache, network, and one error where none of them helps."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from certselect import Dataset, load_dataset
from certselect.datasets.formats import challenge_sparse
from certselect.datasets.load import cache_folder, load_published
from certselect.datasets.stored import write_stored
from certselect.errors import CertselectError, DataUnavailable, InvalidInput
from datasets.made_files import COMMA_FILE, LABELS, VALUES, made_set, zipped


def is_the_made_set(dataset):
    assert isinstance(dataset, Dataset)
    assert (dataset.name, dataset.title) == ("TRY", "Made up")
    assert_array_equal(dataset.X, VALUES)
    assert dataset.X.dtype == np.float64
    assert dataset.y.tolist() == [5, 5, 4]
    assert dataset.y.dtype == np.int64
    return True


@pytest.fixture
def folder(tmp_path):
    write_stored(tmp_path / "data" / "try.npz", VALUES, LABELS, ("a", "b", "c"))
    return tmp_path / "data"


def test_from_a_folder_given(folder, cache):
    dataset = load_published(made_set(), folder=folder)
    assert is_the_made_set(dataset)
    assert dataset.feature_names == ("a", "b", "c")
    assert not cache.exists()


def test_from_the_folder_that_the_environment_names(folder, cache, monkeypatch):
    monkeypatch.setenv("CERTSELECT_DATA", str(folder))
    assert is_the_made_set(load_published(made_set(), download=False))
    with pytest.raises(InvalidInput, match="nowhere"):
        load_published(made_set(), folder=folder / "nowhere")


def test_a_folder_without_the_file_leaves_the_other_sources(tmp_path, cache, server):
    address = server.publish("/try.zip", zipped({"try.data": COMMA_FILE}))
    (tmp_path / "empty").mkdir()
    assert is_the_made_set(load_published(made_set(address), folder=tmp_path / "empty"))
    assert server.asked == ["/try.zip"]


def test_a_local_file_of_another_shape_is_refused_with_both_shapes(folder, cache):
    write_stored(folder / "try.npz", VALUES[:, :2], LABELS, None)
    with pytest.raises(InvalidInput, match=r"try\.npz.* 3 x 2 values, not 3 x 3.*Replace it"):
        load_published(made_set(), folder=folder)


def test_a_local_file_of_other_values_is_refused(folder, cache):
    write_stored(folder / "try.npz", VALUES + 1, LABELS, None)
    with pytest.raises(InvalidInput, match="3 x 3 values, as it should, but other ones"):
        load_published(made_set(), folder=folder)


def test_a_local_file_that_cannot_be_read_is_refused(folder, cache):
    (folder / "try.npz").write_bytes(b"nothing of use")
    with pytest.raises(InvalidInput, match=r"not usable as TRY: it is no \.npz file"):
        load_published(made_set(), folder=folder)


def test_a_download_is_kept_and_not_repeated(cache, server):
    published = made_set(server.publish("/try.zip", zipped({"folder/try.data": COMMA_FILE})))
    assert is_the_made_set(load_published(published))
    assert [file.name for file in cache.iterdir()] == ["try.npz"]
    assert is_the_made_set(load_published(published))
    assert is_the_made_set(load_published(published, download=False))
    assert is_the_made_set(load_published(published, folder=cache)), "the cache can serve as a folder"
    assert server.asked == ["/try.zip"]


def test_sparse_sets_stay_sparse_from_every_source(cache, server):
    X = csr_array(np.array([[0, 3.0, 0], [2, 0, 0], [0, 0, 1]]))
    read = challenge_sparse("d.data", "d.labels", n_features=3)
    address = server.publish("/d.zip", zipped({"d.data": "2:3\n1:2\n3:1\n", "d.labels": "1\n1\n-1\n"}))
    for _ in range(2):
        dataset = load_published(made_set(address, X=X, read=read))
        assert isinstance(dataset.X, csr_array)
        assert_array_equal(dataset.X.toarray(), X.toarray())
        assert dataset.y.tolist() == [5, 5, 4]
    assert server.asked == ["/d.zip"]


@pytest.mark.parametrize("spoil", ["cut off", "other values", "something else"])
def test_a_spoilt_copy_is_fetched_again(cache, server, spoil):
    published = made_set(server.publish("/try.data", COMMA_FILE))
    load_published(published)
    copy = cache / "try.npz"
    if spoil == "cut off":
        copy.write_bytes(copy.read_bytes()[:-50])
    elif spoil == "other values":
        write_stored(copy, VALUES * 2, LABELS, None)
    else:
        copy.write_bytes(b"")
    with pytest.raises(DataUnavailable, match="is spoilt"):
        load_published(published, download=False)
    assert is_the_made_set(load_published(published))
    assert server.asked == ["/try.data"] * 2
    assert is_the_made_set(load_published(published, download=False))


def test_the_next_address_is_tried_and_the_first_that_helps_is_enough(cache, server):
    published = made_set(
        server.address + "/gone",
        server.publish("/cut", COMMA_FILE, stated=1000),
        server.publish("/page", b"<html>This page has moved</html>"),
        server.publish("/other", COMMA_FILE.replace(b"7", b"8")),
        server.publish("/good", COMMA_FILE),
        server.publish("/unneeded", COMMA_FILE),
    )
    assert is_the_made_set(load_published(published))
    assert server.asked == ["/gone", "/cut", "/page", "/other", "/good"]


def test_wrong_content_is_neither_given_nor_kept(cache, server):
    published = made_set(server.publish("/other", COMMA_FILE.replace(b"7", b"8")))
    with pytest.raises(DataUnavailable, match=r"/other: it holds 3 x 3 values, as it should, but other ones"):
        load_published(published)
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_does_not_keep_the_data_away(cache, server):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    published = made_set(server.publish("/try.data", COMMA_FILE))
    assert is_the_made_set(load_published(published))
    assert is_the_made_set(load_published(published))
    assert server.asked == ["/try.data"] * 2


def test_one_error_names_what_was_tried_and_both_remedies(cache, server):
    with pytest.raises(DataUnavailable) as caught:
        load_published(made_set(server.address + "/gone"))
    message = str(caught.value)
    for part in ("no data set TRY", "CERTSELECT_DATA is not set", str(cache), "/gone: HTTP Error 404"):
        assert part in message
    assert message.endswith("Set CERTSELECT_DATA to a folder with try.npz, or connect to the network and call again.")
    assert isinstance(caught.value, CertselectError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


def test_no_network_is_used_where_it_is_ruled_out(cache, server):
    with pytest.raises(DataUnavailable, match="downloading was ruled out"):
        load_published(made_set(server.publish("/try.data", COMMA_FILE)), download=False)
    assert server.asked == []


def test_by_name(cache, tmp_path):
    with pytest.raises(InvalidInput, match="'mad'; expected one of ARR, NCI, DBW, CNA, IAD, MAD, LNG, DEX"):
        load_dataset("mad")
    with pytest.raises(DataUnavailable, match=r"no data set ARR.* folder with arr_420x278\.npz"):
        load_dataset("ARR", folder=tmp_path, download=False)


def test_where_copies_are_kept(monkeypatch):
    home = Path.home()
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/certselect/datasets")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == home / ".cache/certselect/datasets"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder() == home / "Library/Caches/certselect/datasets"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert cache_folder() == Path("/local/certselect/datasets")
