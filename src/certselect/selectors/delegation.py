"""What a selector with a classifier inside hands on to it: predictions, scores and metadata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_method_params, check_is_fitted, has_fit_parameter, validate_data

from certselect.errors import InvalidInput
from certselect.table.frames import native_frame, take_cells


def _inner_has(method: str) -> Callable[[Any], bool]:
    def has(selector: Any) -> bool:
        getattr(getattr(selector, "estimator_", selector.estimator), method)  # its own AttributeError says what lacks
        return True

    return has


@dataclass(frozen=True)
class Routed:
    """What goes to the estimator's fit, to the scorer and to the splitter, and the weights of the selector's own."""

    whole_fit_params: dict[str, Any]
    whole_score_params: dict[str, Any]
    split_params: dict[str, Any]
    own_weights: np.ndarray | None = None

    def fit_params(self, X: Any, rows: np.ndarray) -> dict[str, Any]:
        return _check_method_params(X, params=self.whole_fit_params, indices=rows)

    def score_params(self, X: Any, rows: np.ndarray) -> dict[str, Any]:
        return _check_method_params(X, params=self.whole_score_params, indices=rows)


class Delegation:
    """Methods of the fitted `estimator_`, on the chosen columns."""

    estimator: Any
    estimator_: Any
    scoring: Any
    cv: Any
    support_: np.ndarray
    _in_memory: Callable[[Any], Any]  # of the selector

    @property
    def classes_(self) -> np.ndarray:
        """Labels of the classes, if the estimator is a classifier."""
        return self.estimator_.classes_

    @available_if(_inner_has("predict"))
    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """Predict by the estimator fitted on the chosen columns."""
        return self._ask("predict", X, params)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, by the estimator fitted on the chosen columns."""
        return self._ask("predict_proba", X, {})

    @available_if(_inner_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of the probability of each class, by the estimator fitted on the chosen columns."""
        return self._ask("predict_log_proba", X, {})

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision function of the estimator fitted on the chosen columns."""
        return self._ask("decision_function", X, {})

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score of the predictions for X, by `scoring`."""
        check_is_fitted(self)
        return self._scorer()(self, X, y, **self._routed("score", params).whole_score_params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets which metadata: the estimator, the splitter and the scorer what they request."""
        to_estimator = MethodMapping().add(caller="fit", callee="fit").add(caller="predict", callee="predict")
        to_scorer = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        # A list or generator of splits requests nothing, and a generator must not be used up here.
        splitter = self.cv if hasattr(self.cv, "split") else check_cv()
        return (
            MetadataRouter(owner=type(self).__name__)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=to_estimator)
            .add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(scorer=self._scorer(), method_mapping=to_scorer)
        )

    def _ask(self, method: str, X: Any, params: dict[str, Any]) -> np.ndarray:
        check_is_fitted(self)
        if params and not get_config()["enable_metadata_routing"]:
            raise _not_routed(params)
        routed = process_routing(self, method, **params).estimator[method] if params else {}
        values = self._values(self._in_memory(X), reset=False)
        return getattr(self.estimator_, method)(take_cells(values, None, np.flatnonzero(self.support_)), **routed)

    def _values(self, X: Any, *, reset: bool = True) -> Any:
        """X as the estimator sees it: frames of the user's own library, with their types, or an array of any type."""
        frame = native_frame(X)
        if frame is not None:
            validate_data(self, X=frame, reset=reset, skip_check_array=True)
            return frame
        # Whether it can do with missing values, the estimator says; whether they are refused, the table room.
        values: Any = validate_data(
            self, X, dtype=None, accept_sparse="csr", ensure_all_finite="allow-nan", reset=reset
        )  # pyright: ignore[reportArgumentType]
        return values

    def _scorer(self) -> Callable[..., float]:
        return get_scorer(self._scoring)

    @property
    def _scoring(self) -> Any:
        """What scores are given by: what was asked for, or the usual one."""
        if self.scoring is not None:
            return self.scoring
        return "accuracy" if is_classifier(self.estimator) else "r2"

    def _routed(self, method: str, params: dict[str, Any]) -> Routed:
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, method, **params)
            split = routed.splitter.split if method == "fit" else {}
            fit = routed.estimator.fit if method == "fit" else {}
            return Routed(fit, routed.scorer.score, split, self._own_weights(params) if method == "fit" else None)
        own = ("groups", "sample_weight") if method == "fit" else ()
        others = {name: value for name, value in params.items() if name not in own}
        if others:
            raise _not_routed(others)
        if method != "fit":
            return Routed({}, {}, {})
        name = _weight_parameter(self.estimator) if "sample_weight" in params else None
        fit = {} if name is None else {name: params["sample_weight"]}
        return Routed(fit, {}, {"groups": params.get("groups")}, params.get("sample_weight"))

    def _own_weights(self, params: dict[str, Any]) -> np.ndarray | None:
        """The weights that subsets are chosen with: none if the selector declined them, whoever else is given them."""
        own: Any = get_routing_for_object(self)._self_request
        requested = own.fit.requests
        return None if requested.get("sample_weight") is False else params.get("sample_weight")


def _weight_parameter(estimator: Any) -> str | None:
    """By what name an estimator, or the last step of a pipeline, takes weights; None if it takes none."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = _weight_parameter(last)
        return None if inner is None else f"{name}__{inner}"
    return None


def _not_routed(params: dict[str, Any]) -> InvalidInput:
    return InvalidInput(
        f"the parameters {', '.join(params)}",
        "parameters that scikit-learn's metadata routing hands on, which is not enabled",
        "Call sklearn.set_config(enable_metadata_routing=True) first.",
    )
