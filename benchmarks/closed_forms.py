"""Mutual information that is known: exact sums over tables, formulas, and one-dimensional quadrature. In nats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.integrate import quad, trapezoid
from scipy.special import entr
from scipy.stats import norm, poisson

FAR = 12.0  # standard deviations behind which nothing is left to be integrated
MOST_COUNTED = 60  # no Poisson count of these rates is larger, but for 1e-60 of them
NODES = 40  # of the Gauss-Legendre rule in each cell


def information_in_table(joint: np.ndarray) -> float:
    """I(first axis; all others together) of a table of probabilities."""
    joint = joint.reshape(len(joint), -1)
    shared = entr(joint.sum(0)).sum() + entr(joint.sum(1)).sum() - entr(joint).sum()
    return max(0.0, float(shared))  # rounding may leave -1e-16 of nothing


def class_table(given: np.ndarray, columns: int = 1) -> np.ndarray:
    """P(class, x1, ...) of equally frequent classes and columns with P(x|class), independent within a class."""
    table = given / len(given)
    return table if columns == 1 else table[:, :, None] * given[:, None, :]


def kept_label(levels: int, kept: float) -> np.ndarray:
    """P(x|class) of a column that is the class with probability `kept`, and else any of the other levels."""
    others = (1 - kept) / (levels - 1)
    return np.full((levels, levels), others) + (kept - others) * np.eye(levels)


def flipped_bit(flipped: float) -> float:
    """Of a fair bit and its copy that is wrong with probability `flipped`."""
    return information_in_table(class_table(kept_label(2, 1 - flipped)))


def gaussian(correlation: float) -> float:
    return -0.5 * float(np.log1p(-(correlation**2)))


def gaussian_views(correlation: float, views: int) -> float:
    """Of a normal number and several columns of this correlation with it, independent but for it."""
    return 0.5 * float(np.log1p(views * correlation**2 / (1 - correlation**2)))


@cache
def shifted_normals(means: tuple[float, ...], columns: int = 1) -> float:
    """Of equally frequent classes and columns that are normal around the class's mean with deviation 1.

    All that the columns say of the class is in their sum, which is again such a column.
    """
    centres = np.asarray(means) * np.sqrt(columns)
    inside = np.sort(centres).tolist()

    def lost(x: float) -> float:
        return float(entr(norm.pdf(x, centres).mean()))

    of_mixture = quad(lost, inside[0] - FAR, inside[-1] + FAR, points=inside, limit=400, epsabs=1e-10)[0]
    return of_mixture - float(norm.entropy())


def _cell_edges(step: float, largest: float = FAR) -> np.ndarray:
    """Where rounding to multiples of `step` cuts."""
    last = round(largest / step)
    return step * (np.arange(-last, last + 2) - 0.5)


def rounded_normals(means: Sequence[float], step: float) -> np.ndarray:
    """P(x|class) of columns as in `shifted_normals`, rounded to multiples of `step`."""
    edges = _cell_edges(step, max(map(abs, means)) + FAR)
    return np.diff(norm.cdf(edges - np.asarray(means)[:, None]), axis=1)


def rounded_and_number(correlation: float, step: float) -> float:
    """Of a normal column rounded to multiples of `step`, and a normal number."""
    edges, spread = _cell_edges(step), np.sqrt(1 - correlation**2)

    def left(y: float) -> float:
        return float(norm.pdf(y) * entr(np.diff(norm.cdf((edges - correlation * y) / spread))).sum())

    return float(entr(np.diff(norm.cdf(edges))).sum()) - quad(left, -FAR, FAR, limit=400, epsabs=1e-10)[0]


def rounded_pair(correlation: float, step: float) -> np.ndarray:
    """P(x1, x2) of two normal columns, both rounded to multiples of `step`."""
    edges, spread = _cell_edges(step), np.sqrt(1 - correlation**2)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    inside = edges[:-1, None] + step * (nodes + 1) / 2
    other = np.diff(norm.cdf((edges - correlation * inside[..., None]) / spread), axis=-1)
    return np.einsum("ik,ikj->ij", norm.pdf(inside) * weights * step / 2, other)


def poisson_counts(rates: Sequence[float]) -> np.ndarray:
    """P(x|class) of counts with a rate for each class."""
    return poisson.pmf(np.arange(MOST_COUNTED), np.asarray(rates)[:, None])


def noisy_square(noise: float) -> float:
    """Of x and x^2 + noise, both normal: the density of the sum on a fine grid."""
    x = np.linspace(-7.0, 7.0, 4001)
    y = np.arange(-8 * noise, x[-1] ** 2 + 8 * noise, noise / 10)
    density = np.concatenate(
        [trapezoid(norm.pdf(x) * norm.pdf(some[:, None], x**2, noise), x, axis=1) for some in np.array_split(y, 50)]
    )
    return float(trapezoid(entr(density), y)) - float(norm.entropy(scale=noise))
