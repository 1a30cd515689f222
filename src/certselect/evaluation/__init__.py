"""Judging selections: comparing algorithms over data sets, and how stable and alike subsets are."""

from certselect.evaluation.comparing import AlgorithmComparison, compare_algorithms
from certselect.evaluation.diagrams import critical_difference_diagram, difference_box_plots
from certselect.evaluation.similarity import path_overlaps, similarity_ratios
from certselect.evaluation.stability import SelectionStability, selection_stability
from certselect.evaluation.stability_index import StabilityIndex, stability_index

__all__ = [
    "AlgorithmComparison",
    "SelectionStability",
    "StabilityIndex",
    "compare_algorithms",
    "critical_difference_diagram",
    "difference_box_plots",
    "path_overlaps",
    "selection_stability",
    "similarity_ratios",
    "stability_index",
]
