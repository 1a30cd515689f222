"""Downloads from a real server on loopback."""

import pytest

from certselect.datasets.download import fetch
from certselect.progress import listening

BODY = bytes(range(256)) * 1000


@pytest.mark.parametrize("stated", [True, None], ids=["with length", "without"])
def test_a_file_comes_whole_and_reports_progress(server, stated):
    address = server.publish("/file", BODY, stated=stated)
    heard = []
    with listening(lambda *report: heard.append(report)):
        assert fetch(address) == BODY
    assert heard[-1] == ("download", len(BODY), len(BODY))
    assert [done for _, done, _ in heard] == sorted({done for _, done, _ in heard})
    assert all(total == len(BODY) for _, _, total in heard) or stated is None


def test_an_answer_cut_off_is_noticed(server):
    address = server.publish("/file", BODY, stated=len(BODY) + 1)
    with pytest.raises(OSError, match=f"broke off after {len(BODY)} of {len(BODY) + 1} bytes"):
        fetch(address)


def test_no_such_file(server):
    with pytest.raises(OSError, match="404"):
        fetch(server.address + "/nothing")


def test_a_silent_server_is_left(server):
    with pytest.raises(OSError, match="timed out"):
        fetch(server.address + "/silent", timeout=0.1)


@pytest.mark.parametrize("stated", [True, None], ids=["with length", "without"])
def test_more_than_allowed_is_refused(server, stated):
    address = server.publish("/file", BODY, stated=stated)
    assert fetch(address, most_bytes=len(BODY)) == BODY
    with pytest.raises(OSError, match="more than 1000 bytes"):
        fetch(address, most_bytes=1000)


def test_nobody_there():
    with pytest.raises(OSError, match="refused"):
        fetch("http://127.0.0.1:9/file", timeout=2)
