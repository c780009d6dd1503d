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
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Ignored; it is there for scikit-learn.

        Returns
        -------
        dict
            The parameters and their values.

        See Also
        --------
        set_params : Set parameters by name.

        Examples
        --------
        >>> from eigenfold import Isomap
        >>> Isomap(n_neighbors=8).get_params()["n_neighbors"]
        8
        """
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name.

        Parameters
        ----------
        **params : dict
            The parameters and their values.

        Returns
        -------
        Estimator
            The estimator itself.

        Raises
        ------
        ValueError
            If there is no parameter of a name.

        See Also
        --------
        get_params : Return the parameters by name.

        Examples
        --------
        >>> from eigenfold import Isomap
        >>> Isomap().set_params(n_neighbors=8)
        Isomap(n_neighbors=8)
        """
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


# The classes that are both ours and scikit-learn's, by name; each is made when it is first needed.
JOINED: dict[str, type] = {}


def exception(ours: type) -> type:
    """What is raised or warned of: ours, and scikit-learn's of the same name too if that is there."""
    name = ours.__name__
    theirs = getattr(sys.modules.get("sklearn.exceptions"), name, None)
    if theirs is not None and name not in JOINED:
        # It is shown by our name, which is another class's, so that it is sent to other processes in a way of its own.
        body = {"__module__": "eigenfold", "__doc__": ours.__doc__, "__reduce__": lambda self: (again, (name, self.args))}
        JOINED[name] = type(name, (ours, theirs), body)
    return JOINED.get(name, ours)


def again(name: str, args: tuple[Any, ...]) -> Any:
    """Such an exception in another process, to which it was sent."""
    importlib.import_module("sklearn.exceptions")
    return exception(globals()[name])(*args)


def output_config() -> str:
    """The container that scikit-learn is set to put outputs into."""
    get_config = getattr(sys.modules.get("sklearn"), "get_config", None)
    return "default" if get_config is None else get_config()["transform_output"]


def same(a: Any, b: Any) -> bool:
    """Whether two values of a parameter are the same; an array is no default."""
    return a is b or (type(a) is type(b) and not hasattr(a, "shape") and a == b)


class NotFittedError(ValueError, AttributeError):
    """Raised when a result is requested from an estimator that is not fitted; also scikit-learn's class of this name."""


class ConvergenceWarning(UserWarning):
    """Warns that a solver stopped before it met its tolerance; the result is its last one. Also scikit-learn's class of this name."""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns, as if from the user's own line that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "eigenfold":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
