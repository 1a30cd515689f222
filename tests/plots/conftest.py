"""Figures that pyplot keeps are closed after each test."""

import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")
