"""What both selectors have in common: settings, a result, and columns handed on as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from certselect.information import InformationTerms
from certselect.information.registry import all_support, all_treat_missing
from certselect.results import Result
from certselect.search import Selection
from certselect.settings import Settings, all_settings
from certselect.settings.combinations import values_of
from certselect.table import Table
from certselect.table.output import frame_library, take_columns
from certselect.table.reading import keeps_missing, read_as_stated
from certselect.table.sources import in_memory

# Names a column of a file, which a selector does not read: `fit` takes sample_weight.
_NOT_FOR_SELECTORS = "weight"


class FrameSelector(SelectorMixin):
    """A selector with a `result_` that knows the library of the user's frames."""

    result_: Result
    support_: np.ndarray
    measure: Any
    correction: Any
    missing: str
    _keeps_missing: bool

    @property
    def selection_(self) -> Selection:
        """The chosen features, what they are worth and what is proven."""
        return self.result_.selection

    @property
    def terms_(self) -> InformationTerms:
        """What was measured; of a selector that was pickled, the pair terms of the chosen features only."""
        terms = self.result_.terms
        assert terms is not None, "a fitted selector measured them"
        return terms

    def report_frame(self, library: str | None = None) -> Any:
        """Why was each feature chosen or left out? `result_.explain(library)`."""
        check_is_fitted(self)
        return self.result_.explain(library)

    def transform(self, X: Any) -> Any:
        """The chosen columns of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)

        Returns
        -------
        array, sparse matrix, or what `set_output` says
            Columns of a frame that comes out as a frame of its own library keep their types.
        """
        check_is_fitted(self)
        X = self._in_memory(X)
        wanted = _get_output_config("transform", self)["dense"]
        if wanted == "default" or frame_library(X) != wanted:
            return super().transform(X)
        validate_data(self, X=X, reset=False, skip_check_array=True)
        return take_columns(X, np.flatnonzero(self.support_))

    def _keywords(self) -> dict[str, Any]:
        """The flat parameters that are settings."""
        given = {}
        for name in all_settings():
            if name != _NOT_FOR_SELECTORS:
                given[name] = getattr(self, name)
        return given

    def _in_memory(self, X: Any) -> Any:
        """X, read once if it is a stream of record batches, such as a DuckDB relation, or another source of blocks."""
        return X if isinstance(X, np.ndarray) else in_memory(X)

    def _read(self, X: Any, y: Any, settings: Settings, sample_weight: Any = None) -> Table:
        """The table, as the settings say."""
        asked = settings.constraints
        return read_as_stated(
            X, y, settings.reading, sample_weight=sample_weight, unread=asked.exclude, wanted=asked.include
        )

    def _take_frame(self, X: Any, y: Any) -> str | None:
        """Record names and number of columns as scikit-learn does; return the library of the frame, if it is one."""
        if isinstance(X, np.ndarray):  # no names to look for, which takes longer than a small table's search
            self.n_features_in_ = X.shape[1]
            vars(self).pop("feature_names_in_", None)
        else:
            validate_data(self, X=X, y=y, skip_check_array=True)
        # Then they pass through `transform` as well.
        self._keeps_missing = keeps_missing(self.missing, X)
        return frame_library(X)

    def _keep(self, result: Result) -> None:
        self.result_ = result
        self.indices_ = result.indices
        self.support_ = np.zeros(result.provenance.n_features, dtype=bool)
        self.support_[self.indices_] = True

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def _add_input_tags(self, tags: Tags) -> None:
        """What input the measure of information takes."""
        measures = values_of(self.measure)
        tags.target_tags.required = True
        tags.input_tags.sparse = all_support(measures, "sparse") and "shrinkage" not in values_of(self.correction)
        declared = self.missing in ("level", "pairwise") and all_treat_missing(measures, self.missing)
        tags.input_tags.allow_nan = getattr(self, "_keeps_missing", declared)
