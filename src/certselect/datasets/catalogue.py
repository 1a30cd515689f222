"""The paper's eight data sets: where each is published, how it is read there, and what it must hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.datasets.content import Content, Dataset, content_sum, order_of_appearance, same_form
from certselect.datasets.formats import (
    Reader,
    arff_file,
    arrhythmia,
    challenge_dense,
    challenge_sparse,
    comma_file,
)

_UCI = "https://archive.ics.uci.edu/static/public"


@dataclass(frozen=True)
class PublishedSet:
    """What there is to know of a data set before it is there.

    Attributes
    ----------
    name, title : str
        As in `Dataset`.
    file : str
        Its name in a local folder and in the cache.
    addresses : tuple of str
        Public addresses of the same file, tried in this order.
    read : callable
        From what such an address gives to a `Content`.
    shape : tuple of int
        Rows and columns.
    classes : tuple of int
        The values of `y`, in the order in which the rows show them; what a source calls them does not matter.
    content_sum : str
        As `content.content_sum` gives it.
    """

    name: str
    title: str
    file: str
    addresses: tuple[str, ...]
    read: Reader
    shape: tuple[int, int]
    classes: tuple[int, ...]
    content_sum: str

    def checked(self, content: Content) -> Dataset:
        """The data set, if this is its content.

        Raises
        ------
        ValueError
            If it is not, with what was got and expected.
        """
        if content.shape != self.shape:
            raise ValueError(f"it holds {_times(content.shape)} values, not {_times(self.shape)}")
        found = content_sum(content.X, content.labels)
        if found != self.content_sum:
            raise ValueError(
                f"it holds {_times(self.shape)} values, as it should, but other ones: "
                f"their sum is {found[:12]}..., not {self.content_sum[:12]}..."
            )
        y = np.array(self.classes, dtype=np.int64)[order_of_appearance(content.labels)]
        return Dataset(self.name, self.title, same_form(content.X), y, content.feature_names)


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


_NINE = (1, 2, 3, 4, 5, 6, 7, 8, 9)

PUBLISHED = {
    published.name: published
    for published in (
        PublishedSet(
            name="ARR",
            title="Arrhythmia",
            file="arr_420x278.npz",
            addresses=(f"{_UCI}/5/arrhythmia.zip",),
            read=arrhythmia("arrhythmia.data"),
            shape=(420, 278),
            classes=(1, 0),
            content_sum="afebd45863a2a30c71ee2ff504ff44629b2d2e7d435853de7e3292832e5805ac",
        ),
        PublishedSet(
            name="NCI",
            title="NCI",
            file="nci.npz",
            # Both hosts have served Peng's page of mRMR; only the second is quoted with this file.
            addresses=(
                "http://home.penglab.com/proj/mRMR/test_nci9_s3.csv",
                "http://penglab.janelia.org/proj/mRMR/test_nci9_s3.csv",
            ),
            read=comma_file("test_nci9_s3.csv", label="first", header=True),
            shape=(60, 9712),
            classes=_NINE,
            content_sum="11f489a1550f7b3d4ca0268caea76496355075f384f20f493db02933c95677fd",
        ),
        PublishedSet(
            name="DBW",
            title="DBWorld e-mails",
            file="dbw.npz",
            # By the pattern of UCI's other addresses.
            addresses=(f"{_UCI}/219/dbworld+e+mails.zip",),
            read=arff_file("dbworld_bodies.arff"),
            shape=(64, 4702),
            classes=(0, 1),
            content_sum="9176d245f0d5a0e81ad2ec7a8df59ab4f531e2d681ea788664842b4cf4461a46",
        ),
        PublishedSet(
            name="CNA",
            title="CNAE-9",
            file="cna.npz",
            addresses=(f"{_UCI}/233/cnae+9.zip",),
            read=comma_file("CNAE-9.data", label="first"),
            shape=(1080, 856),
            classes=_NINE,
            content_sum="046fbed48b541071803a1fd833a781b085769556bccc6c4a703af36fd234df30",
        ),
        PublishedSet(
            name="IAD",
            title="Internet Advertisements",
            file="iad.npz",
            addresses=(f"{_UCI}/51/internet+advertisements.zip",),
            read=comma_file("ad.data", label="last"),
            shape=(3279, 1558),
            classes=(1, 0),
            content_sum="ab15d87d126d085bbfcb50b9a2eae15b36871c9e806b5529438788b3ac9c973a",
        ),
        PublishedSet(
            name="MAD",
            title="Madelon",
            file="mad.npz",
            addresses=(f"{_UCI}/171/madelon.zip",),
            read=challenge_dense("madelon_train.data", "madelon_train.labels"),
            shape=(2000, 500),
            classes=(-1, 1),
            content_sum="d6ae8a8276d666349d79333079d824d95a8611a70ca27e9825633f3b57f54fed",
        ),
        PublishedSet(
            name="LNG",
            title="Lung Cancer",
            file="lng.npz",
            addresses=(f"{_UCI}/62/lung+cancer.zip",),
            read=comma_file("lung-cancer.data", label="first"),
            shape=(32, 56),
            classes=(1, 2, 3),
            content_sum="f9587afa6a08246060d636f6957fc2e4da0325b89f2fe8b2df8425c561635649",
        ),
        PublishedSet(
            name="DEX",
            title="Dexter",
            file="dex.npz",
            addresses=(f"{_UCI}/168/dexter.zip",),
            read=challenge_sparse("dexter_train.data", "dexter_train.labels", n_features=20_000),
            shape=(300, 20_000),
            classes=(1, -1),
            content_sum="2f006b638fec33f311eddf8074ddb7854816bf7c88ebad86fd082a3f8411cc38",
        ),
    )
}
