"""scikit-learn estimators; glue only."""

from certselect.selectors.subset_selector import SubsetSelector

__all__ = ["SubsetSelector"]
