"""Judging selections: comparing algorithms over data sets, and how stable and alike subsets are."""

from certselect.evaluation.chance import ChanceTest, stop_at_chance
from certselect.evaluation.comparing import AlgorithmComparison, compare_algorithms
from certselect.evaluation.similarity import path_overlaps, similarity_ratios
from certselect.evaluation.sizes import Elbow, ValueCurve, find_elbow, value_curve
from certselect.evaluation.stability import SelectionStability, selection_stability
from certselect.evaluation.stability_index import StabilityIndex, stability_index

__all__ = [
    "AlgorithmComparison",
    "ChanceTest",
    "Elbow",
    "SelectionStability",
    "StabilityIndex",
    "ValueCurve",
    "compare_algorithms",
    "find_elbow",
    "path_overlaps",
    "selection_stability",
    "similarity_ratios",
    "stability_index",
    "stop_at_chance",
    "value_curve",
]
