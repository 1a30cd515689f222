"""Choose features by mutual information, exactly and fast.

>>> import certselect  # loads nothing heavy: each name below is imported when first used
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# name -> the room it lives in
_ROOMS = {
    "SubsetSelector": "certselect.selectors",
    "read_table": "certselect.table",
    "read_file": "certselect.table",
    "Table": "certselect.table",
    "FileUnits": "certselect.table.streams.file_rows",
    "Format": "certselect.table.formats",
    "list_formats": "certselect.table.formats",
    "register_format": "certselect.table.formats",
    "information_terms": "certselect.information",
    "InformationTerms": "certselect.information",
    "Measure": "certselect.information",
    "list_measures": "certselect.information",
    "register_measure": "certselect.information",
    "PairTerm": "certselect.information",
    "joint_information": "certselect.information",
    "JointInformation": "certselect.information",
    "subset_problem": "certselect.criteria",
    "SubsetProblem": "certselect.criteria",
    "Criterion": "certselect.criteria",
    "list_criteria": "certselect.criteria",
    "register_criterion": "certselect.criteria",
    "select": "certselect.search",
    "Strategy": "certselect.search",
    "list_strategies": "certselect.search",
    "register_strategy": "certselect.search",
    "selection_path": "certselect.search",
    "certify": "certselect.search",
    "relax": "certselect.relaxation",
    "Relaxation": "certselect.relaxation",
    "Certificate": "certselect.certificate",
    "Selection": "certselect.search",
    "AlgorithmComparison": "certselect.evaluation",
    "SelectionStability": "certselect.evaluation",
    "compare_algorithms": "certselect.evaluation",
    "path_overlaps": "certselect.evaluation",
    "selection_stability": "certselect.evaluation",
    "similarity_ratios": "certselect.evaluation",
    "stability_index": "certselect.evaluation",
    "StabilityIndex": "certselect.evaluation",
    "ChanceTest": "certselect.evaluation",
    "stop_at_chance": "certselect.evaluation",
    "Elbow": "certselect.evaluation",
    "ValueCurve": "certselect.evaluation",
    "find_elbow": "certselect.evaluation",
    "value_curve": "certselect.evaluation",
    "SubsetSelectorCV": "certselect.selectors",
    "Result": "certselect.results",
    "Verification": "certselect.results",
    "choose_subset": "certselect.results",
    "load_result": "certselect.results",
    "verify": "certselect.results",
    "SelectionDisplay": "certselect.plots",
    "critical_difference_diagram": "certselect.plots",
    "difference_box_plots": "certselect.plots",
    "plot_certificate": "certselect.plots",
    "plot_path": "certselect.plots",
    "plot_redundancy": "certselect.plots",
    "plot_relevance": "certselect.plots",
    "plot_sizes": "certselect.plots",
    "plot_stability": "certselect.plots",
    "Settings": "certselect.settings",
    "Dataset": "certselect.datasets",
    "load_dataset": "certselect.datasets",
}
__all__ = [
    "AlgorithmComparison",
    "Certificate",
    "ChanceTest",
    "Criterion",
    "Dataset",
    "Elbow",
    "FileUnits",
    "Format",
    "InformationTerms",
    "JointInformation",
    "Measure",
    "PairTerm",
    "Relaxation",
    "Result",
    "Selection",
    "SelectionDisplay",
    "SelectionStability",
    "Settings",
    "StabilityIndex",
    "Strategy",
    "SubsetProblem",
    "SubsetSelector",
    "SubsetSelectorCV",
    "Table",
    "ValueCurve",
    "Verification",
    "__version__",
    "certify",
    "choose_subset",
    "compare_algorithms",
    "critical_difference_diagram",
    "difference_box_plots",
    "find_elbow",
    "information_terms",
    "joint_information",
    "list_criteria",
    "list_formats",
    "list_measures",
    "list_strategies",
    "load_dataset",
    "load_result",
    "path_overlaps",
    "plot_certificate",
    "plot_path",
    "plot_redundancy",
    "plot_relevance",
    "plot_sizes",
    "plot_stability",
    "read_file",
    "read_table",
    "register_criterion",
    "register_format",
    "register_measure",
    "register_strategy",
    "relax",
    "select",
    "selection_path",
    "selection_stability",
    "similarity_ratios",
    "stability_index",
    "stop_at_chance",
    "subset_problem",
    "value_curve",
    "verify",
]

if TYPE_CHECKING:
    from certselect.certificate import Certificate
    from certselect.criteria import Criterion, SubsetProblem, list_criteria, register_criterion, subset_problem
    from certselect.datasets import Dataset, load_dataset
    from certselect.evaluation import (
        AlgorithmComparison,
        ChanceTest,
        Elbow,
        SelectionStability,
        StabilityIndex,
        ValueCurve,
        compare_algorithms,
        find_elbow,
        path_overlaps,
        selection_stability,
        similarity_ratios,
        stability_index,
        stop_at_chance,
        value_curve,
    )
    from certselect.information import (
        InformationTerms,
        JointInformation,
        Measure,
        PairTerm,
        information_terms,
        joint_information,
        list_measures,
        register_measure,
    )
    from certselect.plots import (
        SelectionDisplay,
        critical_difference_diagram,
        difference_box_plots,
        plot_certificate,
        plot_path,
        plot_redundancy,
        plot_relevance,
        plot_sizes,
        plot_stability,
    )
    from certselect.relaxation import Relaxation, relax
    from certselect.results import Result, Verification, choose_subset, load_result, verify
    from certselect.search import (
        Selection,
        Strategy,
        certify,
        list_strategies,
        register_strategy,
        select,
        selection_path,
    )
    from certselect.selectors import SubsetSelector, SubsetSelectorCV
    from certselect.settings import Settings
    from certselect.table import Table, read_file, read_table
    from certselect.table.formats import Format, list_formats, register_format
    from certselect.table.streams.file_rows import FileUnits


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return getattr(import_module(_ROOMS[name]), name)
    raise AttributeError(f"module 'certselect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
