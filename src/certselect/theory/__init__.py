"""The theory behind the criteria, on joint tables small enough to see all of it."""

from certselect.theory.bayes_error import (
    bayes_error,
    fano_lower_bound,
    fano_weak_lower_bound,
    hellman_raviv_upper_bound,
)
from certselect.theory.expansions import d1, d2, first_expansion, second_expansion
from certselect.theory.guarantees import backward_ratio, cobra_ratio, rounding_ratio
from certselect.theory.interaction import entropy, interaction_information, mutual_information
from certselect.theory.joint_table import joint_table
from certselect.theory.kirkwood import (
    CounterExample,
    kirkwood_approximation,
    mifs_from_kirkwood,
    theorem_1_counter_example,
)
from certselect.theory.nonnegativity import Nonnegativity, check_nonnegative

__all__ = [
    "CounterExample",
    "Nonnegativity",
    "backward_ratio",
    "bayes_error",
    "check_nonnegative",
    "cobra_ratio",
    "d1",
    "d2",
    "entropy",
    "fano_lower_bound",
    "fano_weak_lower_bound",
    "first_expansion",
    "hellman_raviv_upper_bound",
    "interaction_information",
    "joint_table",
    "kirkwood_approximation",
    "mifs_from_kirkwood",
    "mutual_information",
    "rounding_ratio",
    "second_expansion",
    "theorem_1_counter_example",
]
