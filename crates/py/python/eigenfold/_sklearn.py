"""scikit-learn, where the user has imported it. It is never imported from here: that takes a second.

Our estimators start on `Alone`, which does the little that scikit-learn's `BaseEstimator` does for parameters. As soon as an
estimator is made in a program that has imported scikit-learn, `join` puts the real `BaseEstimator` and `TransformerMixin` in
the place of `Alone`, for all of them at once (docs/decisions/0105).
"""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from typing import Any


class Alone:
    """What an estimator needs of `BaseEstimator` in a program without scikit-learn."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name."""
        known = self._get_param_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = (f"{name}={value!r}" for name, value in self.get_params().items() if not same(value, defaults[name].default))
        return f"{type(self).__name__}({', '.join(changed)})"


def join(estimator: type) -> None:
    """Makes an estimator class one of scikit-learn's, if that is there."""
    base = sys.modules.get("sklearn.base")
    if estimator.__bases__ == (Alone,) and hasattr(base, "TransformerMixin"):
        estimator.__bases__ = (base.TransformerMixin, base.BaseEstimator)  # type: ignore[union-attr]


def exception(ours: type) -> type:
    """What is raised or warned of: ours, and scikit-learn's of the same name too if that is there."""
    return globals()[f"Joined{ours.__name__}"] if _joined(ours.__name__) else ours


def _joined(name: str) -> bool:
    """Whether there is a class that is both ours and scikit-learn's; it is made when it is first needed."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), name, None)
    joined = f"Joined{name}"
    if theirs is not None and joined not in globals():
        globals()[joined] = type(joined, (globals()[name], theirs), {"__module__": __name__, "__doc__": theirs.__doc__})
    return theirs is not None


def __getattr__(name: str) -> Any:
    """Such a class in another process, to which an exception was sent."""
    ours = name.removeprefix("Joined")
    if ours in ("NotFittedError", "ConvergenceWarning") and ours != name:
        importlib.import_module("sklearn.exceptions")

        return globals()[name] if _joined(ours) else globals()[ours]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def output_config() -> str:
    """The container that scikit-learn is set to put outputs into."""
    get_config = getattr(sys.modules.get("sklearn"), "get_config", None)
    return "default" if get_config is None else get_config()["transform_output"]


def same(a: Any, b: Any) -> bool:
    """Whether two values of a parameter are the same; an array is no default."""
    return a is b or (type(a) is type(b) and not hasattr(a, "shape") and a == b)


class NotFittedError(ValueError, AttributeError):
    """Something was asked of an estimator that has not been fitted."""


class ConvergenceWarning(UserWarning):
    """A solver stopped before it met its tolerance; the result is what it had by then."""


def tell(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns, as if from the user's own line that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "eigenfold":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
