"""What both selectors do with the frame they were fitted on: explain their choice, and hand columns on as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from certselect.criteria import subset_problem
from certselect.evaluation.feature_report import feature_report
from certselect.information import InformationTerms
from certselect.search import Selection
from certselect.table.output import frame_library, make_frame, take_columns


class FrameSelector(SelectorMixin):
    """A selector that knows the library of the user's frames.

    `_stated` are the arguments of `subset_problem` at the time of fitting, whatever became
    of the parameters since; `_library` is that of the frame it was fitted on, if it was one.
    """

    terms_: InformationTerms
    selection_: Selection
    support_: np.ndarray
    _stated: dict[str, Any]
    _library: str | None

    def report_frame(self, library: str | None = None) -> Any:
        """Explain the choice: a data frame with one row for each feature.

        Its columns say what the feature tells of the target, which chosen feature shares
        most with it and how much of its information that is, what it is worth in the subset
        or what the subset would lose with it, whether that is proven, and why it was chosen
        or left out in words. See `certselect.evaluation.feature_report`.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            That of the frame the selector was fitted on if not given; for arrays the first
            of these that is installed.
        """
        check_is_fitted(self)
        problem = subset_problem(self.terms_, **self._stated)
        return make_frame(feature_report(self.selection_, self.terms_, problem), library or self._library)

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
        wanted = _get_output_config("transform", self)["dense"]
        if wanted == "default" or frame_library(X) != wanted:
            return super().transform(X)
        check_is_fitted(self)
        validate_data(self, X=X, reset=False, skip_check_array=True)
        return take_columns(X, np.flatnonzero(self.support_))

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_
