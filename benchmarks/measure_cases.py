"""Made-up tables of which the true information is known: how each is drawn, and what is asked of it.

Columns x1 and x2 of a table are drawn alike. Whole numbers are passed as such, so that counting takes
them as levels; a target of whole numbers is a class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from closed_forms import (
    class_table,
    flipped_bit,
    gaussian,
    gaussian_views,
    information_in_table,
    kept_label,
    noisy_square,
    poisson_counts,
    rounded_and_number,
    rounded_normals,
    rounded_pair,
    shifted_normals,
)

Arrays = tuple[np.ndarray, np.ndarray]
Draw = Callable[[np.random.Generator, int], Arrays]


@dataclass(frozen=True)
class Question:
    term: str  # of the information terms: relevance, redundancy or joint_relevance
    columns: tuple[int, ...]
    truth: float


@dataclass(frozen=True)
class Case:
    family: str
    name: str
    draw: Draw
    questions: tuple[Question, ...]
    names: tuple[str, ...] = ("x1", "x2")

    def asked(self, question: Question) -> str:
        columns = [self.names[column] for column in question.columns]
        return f"I({'; '.join(columns)})" if question.term == "redundancy" else f"I({', '.join(columns)}; y)"


def relevance(truth: float) -> Question:
    return Question("relevance", (0,), truth)


def redundancy(truth: float, other: int = 1) -> Question:
    return Question("redundancy", (0, other), truth)


def joint_relevance(truth: float, other: int = 1) -> Question:
    return Question("joint_relevance", (0, other), truth)


# How tables are drawn


def drawn_level(rng: np.random.Generator, given: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """A level for each row, by P(x|class)."""
    ends = np.cumsum(given, axis=1)[:, :-1]
    return (rng.random(len(classes))[:, None] > ends[classes]).sum(1)


def levels_of_classes(given: np.ndarray) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        y = rng.integers(0, len(given), rows)
        return np.column_stack([drawn_level(rng, given, y) for _ in range(2)]), y

    return draw


def exclusive_or(flipped: float) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X = rng.integers(0, 2, (rows, 2))
        return X, X[:, 0] ^ X[:, 1] ^ (rng.random(rows) < flipped)

    return draw


def normal_and_number(correlation: float) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        y = rng.normal(size=rows)
        noise = rng.normal(size=(rows, 2))
        return correlation * y[:, None] + np.sqrt(1 - correlation**2) * noise, y

    return draw


def normal_in_classes(means: Sequence[float]) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        y = rng.integers(0, len(means), rows)
        return np.asarray(means)[y][:, None] + rng.normal(size=(rows, 2)), y

    return draw


def skewed(drawn: Draw) -> Draw:
    """The same with exp(2 z) for every number z, which changes no information."""

    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X, y = drawn(rng, rows)
        return np.exp(2 * X), np.exp(2 * y) if y.dtype == np.float64 else y

    return draw


def rounded(drawn: Draw, step: float) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X, y = drawn(rng, rows)
        return np.round(X / step) * step, y

    return draw


def two_values_and_number(shift: float) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X = rng.integers(0, 2, (rows, 2))
        return X.astype(np.float64), shift * X[:, 0] + rng.normal(size=rows)

    return draw


def zeros_in_classes(not_zero: Sequence[float], size_means: Sequence[float]) -> Draw:
    """Numbers that are not 0 with a probability, and then of a size, that depend on the class."""

    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        y = rng.integers(0, len(not_zero), rows)
        there = rng.random((rows, 2)) < np.asarray(not_zero)[y][:, None]
        size = np.exp(np.asarray(size_means)[y][:, None] + rng.normal(size=(rows, 2)))
        return there * size, y

    return draw


def zeros_and_number(not_zero: float, correlation: float) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X, y = normal_and_number(correlation)(rng, rows)
        return (rng.random((rows, 2)) < not_zero) * np.exp(X), y

    return draw


def common_zeros(not_zero: float) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        there = rng.random((rows, 1)) < not_zero
        return there * np.exp(rng.normal(size=(rows, 2))), rng.integers(0, 2, rows)

    return draw


def mirrored(correlation: float) -> Draw:
    """y goes with the size of x, whose sign says nothing."""

    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X, y = normal_and_number(correlation)(rng, rows)
        return rng.choice([-1.0, 1.0], (rows, 2)) * np.exp(X), y

    return draw


def squared(noise: float) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X = rng.normal(size=(rows, 2))
        return X, X[:, 0] ** 2 + noise * rng.normal(size=rows)

    return draw


def stripes(flipped: float) -> Draw:
    """The class is whether x lies in an even quarter of its range."""

    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X = rng.random((rows, 2))
        return X, (4 * X[:, 0]).astype(int) % 2 ^ (rng.random(rows) < flipped)

    return draw


def sign_of_product(flipped: float, *, number: bool) -> Draw:
    """y is the sign of x1 x2, as a class or on a number of any size."""

    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X = rng.normal(size=(rows, 2))
        sign = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(rows) < flipped)
        size = np.abs(rng.normal(size=rows))
        return X, np.where(sign, size, -size) if number else sign.astype(int)

    return draw


def with_copies(drawn: Draw, *, near: bool) -> Draw:
    """x1, x1 again and, if `near`, x1 with noise of a hundredth of its own deviation, which is 1 in every class."""

    def draw(rng: np.random.Generator, rows: int) -> Arrays:
        X, y = drawn(rng, rows)
        x = X[:, 0]
        return np.column_stack([x, x, x + NEAR * rng.normal(size=rows)] if near else [x, x]), y

    return draw


def sum_with_copies(rng: np.random.Generator, rows: int) -> Arrays:
    """y = b + 0.3 c + noise, and b again, b with a hundredth of noise, and c."""
    b, c, noise, difference = rng.normal(size=(4, rows))
    return np.column_stack([b, b, b + NEAR * difference, c]), b + SECOND * c + NOISE * noise


# What is true of them


def of_classes(given: np.ndarray) -> tuple[Question, Question, Question]:
    """Relevance, redundancy and joint relevance of two columns with P(x|class)."""
    both = class_table(given, 2)
    return (
        relevance(information_in_table(class_table(given))),
        redundancy(information_in_table(both.sum(0))),
        joint_relevance(information_in_table(both)),
    )


def of_shifted_normals(means: tuple[float, ...]) -> tuple[Question, Question]:
    return relevance(shifted_normals(means)), joint_relevance(shifted_normals(means, 2))


def of_gaussian(correlation: float) -> tuple[Question, Question, Question]:
    return (
        relevance(gaussian(correlation)),
        redundancy(gaussian(correlation**2)),
        joint_relevance(gaussian_views(correlation, 2)),
    )


def of_copies(own: float) -> tuple[Question, ...]:
    return joint_relevance(own, 1), joint_relevance(own, 2)


def zeros_only(not_zero: float) -> tuple[float, float]:
    """How often a value is not 0 in either class."""
    return not_zero * (1 - INFORMED), not_zero * (1 + INFORMED)


def zero_or_not(not_zero: Sequence[float]) -> np.ndarray:
    probability = np.asarray(not_zero)
    return np.column_stack([1 - probability, probability])


ALL, SINGLE, SINGLE_AND_JOINT = slice(None), slice(1), slice(None, None, 2)  # of the three questions
NEAR = 0.01
SECOND, NOISE = 0.3, 0.5
FLIPPED = 0.1
INFORMED = 0.8
STEP = 0.5
TWO, FIVE, TEN = (0.0, 1.0), (0.0, 1.0, 2.0, 3.0, 4.0), (0.0,) * 10
SIZES = (0.0, 2.0)
UNBALANCED = np.array([[0.7, 0.2, 0.1], [0.2, 0.2, 0.6]])
OF_B = gaussian(1 / np.sqrt(1 + SECOND**2 + NOISE**2))
OF_B_AND_C = gaussian(np.sqrt((1 + SECOND**2) / (1 + SECOND**2 + NOISE**2)))
OF_SUM = (relevance(OF_B), joint_relevance(OF_B, 1), joint_relevance(OF_B, 2), joint_relevance(OF_B_AND_C, 3))
OF_NEAR_COPY = redundancy(gaussian(1 / np.sqrt(1 + NEAR**2)), 2)
COPIES = ("x", "copy", "near copy")
SUM = ("b", "copy", "near copy", "c")


def discrete_cases() -> list[Case]:
    def case(name: str, given: np.ndarray, asked: slice = ALL) -> Case:
        return Case("discrete", name, levels_of_classes(given), of_classes(given)[asked])

    return [
        case("2 levels, the class in 90 %", kept_label(2, 0.9)),
        case("2 levels, the class in 60 %", kept_label(2, 0.6), SINGLE_AND_JOINT),
        case("3 levels, 2 classes, uneven", UNBALANCED, SINGLE_AND_JOINT),
        case("5 levels, the class in 75 %", kept_label(5, 0.75)),
        case("5 levels, the class in 35 %", kept_label(5, 0.35), SINGLE_AND_JOINT),
        case("5 levels, independent", kept_label(5, 0.2)),
        case("two values, 1.9 % and 0.1 % ones", zero_or_not([0.019, 0.001]), SINGLE_AND_JOINT),
        case("two values, 5 % and 0.1 % ones", zero_or_not([0.05, 0.001]), SINGLE),
        case("two values, 1 % ones, independent", zero_or_not([0.01, 0.01]), SINGLE_AND_JOINT),
        Case(
            "discrete",
            "exclusive or, 10 % wrong",
            exclusive_or(FLIPPED),
            (relevance(0.0), joint_relevance(flipped_bit(FLIPPED))),
        ),
    ]


def normal_cases() -> list[Case]:
    numbers = [
        Case("normal", f"number, correlation {rho:g}", normal_and_number(rho), of_gaussian(rho)[asked])
        for rho, asked in ((0.0, ALL), (0.3, SINGLE), (0.7, ALL), (0.95, SINGLE_AND_JOINT))
    ]
    return [
        *numbers,
        Case("normal", "2 classes, 1 apart", normal_in_classes(TWO), of_shifted_normals(TWO)),
        Case("normal", "5 classes, 1 apart", normal_in_classes(FIVE), of_shifted_normals(FIVE)),
        Case("normal", "10 classes, independent", normal_in_classes(TEN), (relevance(0.0), joint_relevance(0.0))),
    ]


def skewed_cases() -> list[Case]:
    numbers = [
        Case("skewed", f"number, correlation {rho:g}", skewed(normal_and_number(rho)), of_gaussian(rho)[asked])
        for rho, asked in ((0.3, SINGLE), (0.7, ALL), (0.95, SINGLE_AND_JOINT))
    ]
    return [
        *numbers,
        Case("skewed", "2 classes, 1 apart", skewed(normal_in_classes(TWO)), of_shifted_normals(TWO)),
        Case("skewed", "5 classes, 1 apart", skewed(normal_in_classes(FIVE)), of_shifted_normals(FIVE)),
    ]


def tied_cases() -> list[Case]:
    with_number = (
        relevance(rounded_and_number(0.7, STEP)),
        redundancy(information_in_table(rounded_pair(0.7**2, STEP))),
    )
    rates = [1.0, 3.0]
    return [
        Case("tied", "rounded, number", rounded(normal_and_number(0.7), STEP), with_number),
        Case(
            "tied",
            "rounded, 2 classes",
            rounded(normal_in_classes(TWO), STEP),
            of_classes(rounded_normals(TWO, STEP)),
        ),
        Case(
            "tied",
            "rounded, 5 classes",
            rounded(normal_in_classes(FIVE), STEP),
            of_classes(rounded_normals(FIVE, STEP))[SINGLE_AND_JOINT],
        ),
        Case("tied", "counts, 2 classes", levels_of_classes(poisson_counts(rates)), of_classes(poisson_counts(rates))),
        Case(
            "tied",
            "counts, 5 classes, independent",
            levels_of_classes(poisson_counts([1.0] * 5)),
            of_classes(poisson_counts([1.0] * 5))[SINGLE_AND_JOINT],
        ),
        Case("tied", "two values, number", two_values_and_number(1.0), (relevance(shifted_normals(TWO)),)),
    ]


def mixture_cases() -> list[Case]:
    same_size = (0.0, 0.0)
    by_zeros = [
        Case(
            "mixtures",
            f"{100 * (1 - q):.0f} % zeros that tell the class",
            zeros_in_classes(zeros_only(q), same_size),
            of_classes(zero_or_not(zeros_only(q)))[SINGLE_AND_JOINT],
        )
        for q in (0.5, 0.1, 0.02)
    ]
    by_size = [
        Case(
            "mixtures",
            f"{100 * (1 - q):.0f} % zeros, the size tells the class",
            zeros_in_classes((q, q), SIZES),
            (relevance(q * shifted_normals(SIZES)),),
        )
        for q in (0.5, 0.1, 0.02)
    ]
    numbers = [
        Case(
            "mixtures",
            f"{100 * (1 - q):.0f} % zeros, the size tells a number",
            zeros_and_number(q, 0.7),
            (relevance(q * gaussian(0.7)), redundancy(q * q * gaussian(0.7**2))),
        )
        for q in (0.5, 0.1)
    ]
    return [
        *by_zeros,
        *by_size,
        *numbers,
        Case(
            "mixtures",
            "98 % zeros, 10 classes, independent",
            zeros_in_classes((0.02,) * 10, TEN),
            (relevance(0.0), redundancy(0.0), joint_relevance(0.0)),
        ),
        Case(
            "mixtures",
            "90 % zeros in the same rows",
            common_zeros(0.1),
            (redundancy(information_in_table(np.diag([0.9, 0.1]))),),
        ),
    ]


def bent_cases() -> list[Case]:
    of_product = (relevance(0.0), joint_relevance(flipped_bit(FLIPPED)))
    return [
        Case("not monotone", "number by the size of x, 0.7", mirrored(0.7), (relevance(gaussian(0.7)),)),
        Case("not monotone", "number by the size of x, 0.95", mirrored(0.95), (relevance(gaussian(0.95)),)),
        Case("not monotone", "square of x with noise", squared(NOISE), (relevance(noisy_square(NOISE)),)),
        Case("not monotone", "class in stripes", stripes(FLIPPED), (relevance(flipped_bit(FLIPPED)),)),
        Case("not monotone", "sign of x1 x2 as class", sign_of_product(FLIPPED, number=False), of_product),
        Case("not monotone", "sign of x1 x2 as number", sign_of_product(FLIPPED, number=True), of_product),
    ]


def copy_cases() -> list[Case]:
    label = kept_label(5, 0.75)
    zeros = zeros_only(0.1)
    return [
        Case("copies", "y = b + 0.3 c + noise", sum_with_copies, (*OF_SUM, OF_NEAR_COPY), SUM),
        Case("copies", "the same, skewed", skewed(sum_with_copies), OF_SUM, SUM),
        Case(
            "copies",
            "normal, 2 classes",
            with_copies(normal_in_classes(TWO), near=True),
            of_copies(shifted_normals(TWO)),
            COPIES,
        ),
        Case(
            "copies",
            "rounded, number",
            with_copies(rounded(normal_and_number(0.7), STEP), near=False),
            of_copies(rounded_and_number(0.7, STEP))[:1],
            COPIES,
        ),
        Case(
            "copies",
            "5 levels, the class in 75 %",
            with_copies(levels_of_classes(label), near=False),
            (redundancy(float(np.log(5))), *of_copies(information_in_table(class_table(label)))[:1]),
            COPIES,
        ),
        Case(
            "copies",
            "90 % zeros that tell the class",
            with_copies(zeros_in_classes(zeros, (0.0, 0.0)), near=False),
            of_copies(information_in_table(class_table(zero_or_not(zeros))))[:1],
            COPIES,
        ),
    ]


CASES = [
    case
    for made in (discrete_cases, normal_cases, skewed_cases, tied_cases, mixture_cases, bent_cases, copy_cases)
    for case in made()
]
