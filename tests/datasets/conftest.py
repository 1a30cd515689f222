"""A server on loopback, and no way to the user's own folders or proxies."""

import pytest

from datasets.made_files import serving


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with serving() as server:
        yield server


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The cache folder of this test; no data folder is named."""
    monkeypatch.delenv("CERTSELECT_DATA", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "certselect" / "datasets"
