"""scikit-learn estimators; glue only."""

from certselect.selectors.subset_selector import SubsetSelector
from certselect.selectors.subset_selector_cv import OptimisticScoreWarning, SubsetSelectorCV
from certselect.selectors.unscored import MissingScoreWarning

__all__ = ["MissingScoreWarning", "OptimisticScoreWarning", "SubsetSelector", "SubsetSelectorCV"]
