"""The eight data sets of the paper, the same to the last bit wherever they come from."""

from certselect.datasets.content import Dataset
from certselect.datasets.load import load_dataset

__all__ = ["Dataset", "load_dataset"]
