"""scikit-learn estimators; glue only."""

from certselect.selectors.size_scores import MissingScoreWarning
from certselect.selectors.subset_selector import SubsetSelector
from certselect.selectors.subset_selector_cv import OptimisticScoreWarning, SubsetSelectorCV

__all__ = ["MissingScoreWarning", "OptimisticScoreWarning", "SubsetSelector", "SubsetSelectorCV"]
