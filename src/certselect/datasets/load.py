"""load_dataset: from a local folder, the cache or the network, whichever has it first."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from certselect.datasets.catalogue import PUBLISHED, PublishedSet
from certselect.datasets.content import Dataset
from certselect.datasets.download import fetch
from certselect.datasets.stored import read_stored, write_stored
from certselect.errors import DataUnavailable, InvalidInput

FOLDER_VARIABLE = "CERTSELECT_DATA"


def load_dataset(name: str, *, folder: str | os.PathLike[str] | None = None, download: bool = True) -> Dataset:
    """One of the paper's eight data sets, the same values and order of rows from any source.

    Looked for in `folder`, or else the folder that the environment variable CERTSELECT_DATA
    names; then in the cache; then at its public address, from where it goes to the cache.
    Whatever the source, the content is checked against a sum kept here.

    Parameters
    ----------
    name : {"ARR", "NCI", "DBW", "CNA", "IAD", "MAD", "LNG", "DEX"}
        As in the paper.
    folder : path, optional
        Holds .npz files as docs/datasets.md describes them; those of other sets may be absent.
    download : bool
        Whether the network may be used.

    Returns
    -------
    Dataset

    Raises
    ------
    DataUnavailable
        If no source has it.
    InvalidInput
        If the name is none of the eight, or the local folder or its file is not what it should be.

    Notes
    -----
    The public addresses could not be tried when this was written: UCI's of ARR, CNA, IAD,
    MAD, LNG and DEX are in wide use, DBW's follows their pattern, and Peng's page of NCI
    may have moved. A local folder is the remedy where one is gone.
    """
    if name not in PUBLISHED:
        raise InvalidInput(f"data set {name!r}", "one of " + ", ".join(PUBLISHED), "Use the paper's short names.")
    return load_published(PUBLISHED[name], folder=folder, download=download)


def load_published(
    published: PublishedSet, *, folder: str | os.PathLike[str] | None = None, download: bool = True
) -> Dataset:
    """`load_dataset` for a set that need not be in the catalogue."""
    local = folder if folder is not None else os.environ.get(FOLDER_VARIABLE) or None
    failures = [f"{FOLDER_VARIABLE} is not set"]
    if local is not None:
        file = _folder(Path(local)) / published.file
        if file.is_file():
            return _from_folder(published, file)
        failures = [f"there is no file {str(file)!r}"]
    cached = cache_folder() / published.file
    if cached.is_file():
        try:
            return published.checked(read_stored(cached))
        except (OSError, ValueError) as error:
            failures.append(f"the copy {str(cached)!r} is spoilt: {error}")
    else:
        failures.append(f"there is no copy {str(cached)!r}")
    if not download:
        failures.append("downloading was ruled out")
    for address in published.addresses if download else ():
        try:
            dataset = published.checked(published.read(fetch(address)))
        except (OSError, ValueError) as error:
            failures.append(f"{address}: {error}")
        else:
            # The data are here; a cache that cannot be written costs another download.
            with suppress(OSError, InvalidInput):
                write_stored(cached, dataset.X, dataset.y, dataset.feature_names)
            return dataset
    raise DataUnavailable(
        f"no data set {published.name} ({'; '.join(failures)})",
        "one in a local folder, in the cache or at its public address",
        f"Set {FOLDER_VARIABLE} to a folder with {published.file}, or connect to the network and call again.",
    )


def _folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise InvalidInput(
            f"data folder {str(folder)!r}, which does not exist",
            "an existing folder",
            f"Correct {FOLDER_VARIABLE} or folder=, or leave both out to download.",
        )
    return folder


def _from_folder(published: PublishedSet, file: Path) -> Dataset:
    try:
        return published.checked(read_stored(file))
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"file {str(file)!r}, not usable as {published.name}: {error}",
            f"{published.title} with {published.shape[0]} rows and {published.shape[1]} columns, as published",
            "Replace it, or remove it to have the set downloaded.",
        ) from None


def cache_folder() -> Path:
    """Where the operating system keeps files that can be fetched again."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "certselect" / "datasets"
