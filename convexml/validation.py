"""The one reader of numbers and arrays: what is refused, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter, signature
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

import numpy as np
from lazy_loader import attach_stub
from scipy import sparse

from .errors import InputError, NoSuchNameError, closest, instead, nearest
from .numerics import Array, all_finite, refuse_inexact

# What to pass instead: words that a refusal ends with.


RANGES = {
    "lam": " 0 is no penalty.",
    "C": " C weighs the losses: a small one leaves w near 0.",
    "epsilon": " 0 leaves no tube.",
    "delta": " Residuals beyond delta count linearly.",
    "radius": " It bounds the norm of w.",
    "l1_ratio": " 0 is the ridge, 1 the lasso.",
    "sigma": " It is the width of the kernel, in the units of x.",
    "tol": " It is a relative gap; 1e-6 is the default.",
    "gap": " It is a relative gap, such as 1e-6.",
    "everywhere": " It is a relative gap, such as 1e-3.",
    "max_seconds": " None is no limit.",
    "max_iter": " None is the solver's own limit.",
    "order": " 0 fits constants (total variation), 1 lines.",
    "k": " Pass a whole number from 1 on.",
    "count": " Pass a whole number from 1 on.",
    "rounds": " Each of them adds a stump: pass a whole number from 1 on, such as 100.",
    "seed": " Any whole number from 0 on will do.",
}
"""What a number means that must lie in a range, by its name."""
PER_ROW = ("y", "Y", "sample_weight")
"""Arguments that have an entry for each row of X."""
ALIASES = {
    "rbf": "Gaussian",
    "poly": "Polynomial",
    "mse": "Squared",
    "squared_error": "Squared",
    "log_loss": "Logistic",
    "logit": "Logistic",
    "lasso": "L1",
    "ridge": "L2",
    "grouplasso": "GroupL2",
}
"""Names of kernels, losses and penalties elsewhere."""
ONE_ROW = "one number for each row of X, in their order"


def for_array(values: Any, name: str, why: object = "") -> str:
    """What was passed where an array of numbers is needed, and what to pass.

    ``why`` is NumPy's own complaint, told where nothing better is known.
    """
    if isinstance(values, str | bytes | PathLike):
        return f", got the text {values!r}; {_for_text(values, name)}"
    if isinstance(values, Mapping):
        keys = ", ".join(repr(key) for key in list(values)[:6])
        return f", got a dict of {keys}; {_for_dict(name)}"
    kind = type(values).__name__
    if isinstance(getattr(values, "primal", None), Mapping):
        return f", got a {kind}; pass its arrays one by one, such as solution.primal['w']"
    if hasattr(values, "get_params"):
        return (
            f", got the estimator {kind}; pass its coef_ and intercept_, or judge it by "
            "cml.certify(estimator, X, y)"
        )
    if not (isinstance(values, list | tuple) or hasattr(values, "__array__")):
        return f", got a {kind}; pass an array or a list"
    return _for_entries(values, name) or f" ({why})"


def _for_text(values: Any, name: str) -> str:
    if name == "X":
        return "read the file first, by numpy.loadtxt or pandas.read_csv"
    if name == "sample_weight":
        return f"pass {ONE_ROW}; convexml.estimators take class_weight"
    if name in PER_ROW:
        return f"pass the column itself, as frame[{values!r}]"
    return "pass numbers"


def _for_dict(name: str) -> str:
    if name == "X":
        return "pass a pandas.DataFrame of it"
    if name in PER_ROW:
        return f"pass {ONE_ROW}"
    return "pass its arrays one by one, such as primal['w']"


def _for_entries(values: Any, name: str) -> str:
    """The first entry that is no number, or rows of several lengths."""
    if not hasattr(values, "__array__"):
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in values]
        other = next((k for k, n in enumerate(lengths) if n != lengths[0]), None)
        if other is not None and not isinstance(values[other], str):
            return (
                f"; row 0 has {lengths[0]} and row {other} has {lengths[other]} entries; pass rows "
                "of one length"
            )
    for k, entry in enumerate(np.asarray(values, dtype=object).ravel()):
        if not is_number(entry):
            labels = "; labels are for the classification models" if name == "y" else ""
            words = "; convert text by astype(float)" if is_number_in_words(entry) else labels
            return f", got {entry!r} at entry {k}{words or '; pass numbers'}"
    return ""


def is_text(entry: Any) -> bool:
    """Whether it is text: numbers in words are read by whoever knows that they are some."""
    return isinstance(entry, str | bytes)


def is_number(entry: Any) -> bool:
    """Whether it is one number, and not in words."""
    try:
        float(entry)
    except (TypeError, ValueError):
        return False
    return not is_text(entry)


def is_number_in_words(entry: Any) -> bool:
    """Whether it is text that NumPy would read as a number."""
    try:
        float(entry)
    except (TypeError, ValueError):
        return False
    return is_text(entry)


def for_kind(kind: str) -> str:
    """What to pass in place of complex numbers, dates and spans of time, by NumPy's letter."""
    if kind == "c":
        return " Pass the real part, or both parts as numbers of their own."
    return " Pass numbers, such as days since a date."


def for_number(value: Any) -> str:
    """What to pass in place of what is no number."""
    if isinstance(value, str | bytes):
        try:
            return f" Pass {float(value):g}, not text."
        except ValueError:
            return " Pass a number, not text."
    if isinstance(value, bool | np.bool_):
        return f" Pass {float(value):g} if that is meant."
    if np.ndim(value) > 0:
        return " Pass one number; path(values) solves for several."
    return " Pass a number."


def for_targets(shape: tuple[int, ...], X: tuple[int, int], labels: str, value: Any) -> str:
    """What to pass in place of targets of a wrong shape."""
    n, d = X
    if isinstance(value, str):
        return f" Got {value!r}; {_for_text(value, 'y')}."
    if shape == ():
        return f" Got {value!r}; pass {ONE_ROW.replace('number', 'target')}."
    if shape == (1, n):
        return " Pass y.ravel()."
    if len(shape) == 2 and shape[0] == n:
        if labels in ("binary", "classes"):
            return " Pass labels, as y.argmax(axis=1) of indicators of classes."
        return " Pass one of its columns; each target is a problem of its own."
    if shape[0] == d:
        return f" X has shape {X}: are its samples in columns? Pass X.T."
    return " Pass the rows of X and the entries of y of the same samples."


def for_part(value: Any, module: str, names: Iterable[str]) -> str:
    """What to pass where a loss, a penalty or a kernel is needed, one of these ``names``."""
    names = list(names)
    if isinstance(value, type):
        return f" Pass an instance: {module}.{value.__name__}(...)."
    if isinstance(value, str):
        found = ALIASES.get(value.lower()) or closest(value, names)
        if found in names:
            return f" Pass {module}.{found}(...)."
    if value is None and "Zero" in names:
        return f" Pass {module}.Zero() for none."
    if callable(value) and module == "kernels" and not hasattr(value, "tex"):
        return " Pass the matrix in place of X and kernels.Precomputed(), or a subclass of Kernel."
    return f" Pass one of {module}: {', '.join(names)}."


EXACT = 2.0**53
"""Up to here every int is a float."""


def finite_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float."""
    if (isinstance(value, float) or type(value) is int) and abs(value) <= EXACT:
        return float(value)
    refuse_masked(value, owner, name)
    if isinstance(value, str | bytes | bool | np.bool_) or np.ndim(value) != 0:
        instead = for_number(value)
        raise InputError(f"{owner}: {name} must be a number, got {value!r}.{instead}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        instead = for_number(value)
        raise InputError(f"{owner}: {name} must be a number, got {value!r}.{instead}") from None
    except OverflowError:
        raise InputError(f"{owner}: {name} is too large for float64.") from None
    if not np.isfinite(number):
        instead = RANGES.get(name, " Pass a finite number.")
        raise InputError(f"{owner}: {name} must be finite, got {number}.{instead}")
    return number


def nonnegative_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float >= 0."""
    number = finite_number(value, owner, name)
    if number < 0.0:
        instead = RANGES.get(name, "")
        raise InputError(f"{owner}: {name} must be >= 0, got {number:g}.{instead}")
    return number


def positive_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float > 0."""
    number = finite_number(value, owner, name)
    if number <= 0.0:
        instead = RANGES.get(name, "")
        raise InputError(f"{owner}: {name} must be > 0, got {number:g}.{instead}")
    return number


def positive_integer(value: Any, owner: str, name: str) -> int:
    """Return ``value`` as an int >= 1."""
    return _whole(positive_number(value, owner, name), owner, name)


def nonnegative_integer(value: Any, owner: str, name: str) -> int:
    """Return ``value`` as an int >= 0."""
    return _whole(nonnegative_number(value, owner, name), owner, name)


def _whole(number: float, owner: str, name: str) -> int:
    """The number as an int."""
    if number != int(number):
        whole = f" Pass {int(number)} or {int(number) + 1}."
        raise InputError(f"{owner}: {name} must be a whole number, got {number:g}.{whole}")
    return int(number)


def yes_or_no(value: Any, owner: str, name: str) -> bool:
    """Return ``value`` as a bool; only True and False are."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{owner}: {name} must be True or False, got {value!r}.")
    return bool(value)


def refuse_masked(values: Any, owner: str, name: str) -> None:
    """Raise InputError where entries are masked: what lies under a mask is no number."""
    if hasattr(values, "_mask") and np.ma.is_masked(values):
        raise InputError(f"{owner}: {name} has masked entries; fill or drop them first.")


def float_array(values: Any, owner: str, name: str, *, share: bool = False) -> Array:
    """Return a float64 copy of an array of real numbers; integers and long doubles exactly.

    What is proved is proved of the numbers that were passed, not of rounded ones. With ``share``
    float64 numbers that lie in one piece are not copied: the answer is a view of them that cannot
    be written to.
    """
    if values is None:
        raise InputError(f"{owner}: {name} must hold numbers, got None; pass an array.")
    refuse_masked(values, owner, name)
    try:
        source = np.asarray(values)
        if source.dtype.kind in "cmM":  # complex numbers, spans of time, dates
            instead = for_kind(source.dtype.kind)
            raise InputError(
                f"{owner}: {name} must hold real numbers, got dtype {source.dtype}.{instead}"
            )
        if source.dtype.kind in "USO" and any(map(is_text, source.ravel())):
            raise TypeError("text")  # which NumPy reads as numbers where it can
        if source.dtype == np.float64:
            return read_only(source) if share and source.flags.forc else np.array(source)
        with np.errstate(over="ignore"):
            array = np.array(values, dtype=np.float64)
    except InputError:
        raise
    except OverflowError:
        raise InputError(f"{owner}: {name} has an integer that float64 cannot hold.") from None
    except (TypeError, ValueError) as error:
        instead = for_array(values, name, error)
        raise InputError(f"{owner}: {name} must hold numbers only{instead}.") from None
    refuse_inexact(source, array, owner, name)
    return array


def finite_array(values: Any, owner: str, name: str, advice: str = "") -> Array:
    """As ``float_array``, with every entry finite."""
    array = float_array(values, owner, name)
    refuse_nonfinite(array, owner, name, advice)
    return array


def finite_sparse(
    values: Any, owner: str, name: str, advice: str = "", *, share: bool = False
) -> Any:
    """Return a float64 copy of a sparse matrix as a csc_array, if it is one, or a csr_array.

    What is stored twice is added. ``share`` as of ``float_array``: rows or columns whose indices
    increase are not copied.
    """
    if np.iscomplexobj(values):
        instead = for_kind("c")
        raise InputError(
            f"{owner}: {name} must hold real numbers, got dtype {values.dtype}.{instead}"
        )
    given = sparse.csc_array(values) if values.format == "csc" else sparse.csr_array(values)
    if share and given.dtype == np.float64 and given.has_canonical_format:
        parts = [read_only(each) for each in (given.data, given.indices, given.indptr)]
        matrix = type(given)(tuple(parts), shape=given.shape)
    else:
        matrix = given.astype(np.float64, copy=True)
        refuse_inexact(given.data, matrix.data, owner, name)
        matrix.sum_duplicates()
    refuse_nonfinite(matrix, owner, name, advice)
    return matrix


def refuse_nonfinite(
    array: Any,
    owner: str,
    name: str,
    advice: str = "",
    *,
    rows: Array | None = None,
    columns: Sequence[str] | None = None,
) -> None:
    """Raise InputError at the first entry that is infinite or nan.

    ``rows`` are the caller's numbers of the rows, ``columns`` the names of the columns.
    """
    stored = sparse.issparse(array)
    if all_finite(array.data if stored else array):
        return
    entries = array.tocoo() if stored else array
    bad = np.argwhere(~np.isfinite(entries.data if stored else entries))[0].tolist()
    value = entries.data[bad[0]] if stored else entries[tuple(bad)]
    at = [entries.row[bad[0]], entries.col[bad[0]]] if stored else bad
    match at:
        case []:
            where = ""
        case [k]:
            where = f" at entry {k if rows is None else rows[k]}"
        case [i, j]:
            row, column = i if rows is None else rows[i], j if columns is None else repr(columns[j])
            where = f" at row {row}, column {column}"
        case _:
            where = f" at {tuple(at)}"
    size = int(np.prod(array.shape))
    count = int(np.sum(~np.isfinite(entries.data if stored else entries)))
    verb = "is" if count == 1 else "are"
    refusal = (
        f"{name} contains {value}{where}; every entry must be finite, {count} of {size} {verb} not."
    )
    raise InputError(f"{owner}: {refusal}{advice}")


def nonnegative_array(values: Any, owner: str, name: str) -> Array:
    """As ``finite_array``, of a vector with every entry >= 0."""
    left = " 0 leaves a sample out." if name == "sample_weight" else ""
    array = finite_array(values, owner, name, left)
    if array.ndim != 1:
        instead = f" Pass {name}.ravel()." if array.size in array.shape else ""
        instead = instead or " Pass one number for each."
        given = f"shape {array.shape}" if array.ndim else repr(values)
        raise InputError(f"{owner}: {name} must be a vector, got {given}.{instead}")
    if np.any(array < 0.0):
        k = int(np.argmax(array < 0.0))
        raise InputError(f"{owner}: {name} must be >= 0, got {array[k]:g} at entry {k}.{left}")
    return array


def read_only(array: Array) -> Array:
    """A view of the same numbers that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def read_labels(values: Any, owner: str, name: str) -> Array:
    """Return labels as an array, one kind for all: numbers or text.

    NumPy would turn [1, "a"] into ["1", "a"] silently.
    """
    refuse_masked(values, owner, name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(
            f"{owner}: {name} must hold one label for each, got lists of several lengths. Pass a "
            "flat list, as [0, 0, 1]."
        ) from None
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        entries = np.asarray(values, dtype=object).ravel()
        other = [entry for entry in entries if not isinstance(entry, str | bytes)]
        if other:
            raise InputError(
                f"{owner}: {name} mixes text and {other[0]!r} of type {type(other[0]).__name__}; "
                "use labels of one kind."
            )
    return array


def nonnegative_weights(weights: Any, owner: str) -> Array | None:
    """Return per-feature weights as a float array, or None."""
    return None if weights is None else nonnegative_array(weights, owner, "weights")


# Names of arguments and attributes: which there are, and what to say of one that is not there.


P = ParamSpec("P")
R = TypeVar("R")

SOLVE: Mapping[str, str] = {
    **dict.fromkeys(("maxiter", "max_iters", "maxiters", "n_iter", "iterations"), "max_iter"),
    **dict.fromkeys(("eps", "abstol", "reltol", "tolerance", "gap"), "tol"),
    **dict.fromkeys(("time_limit", "timeout", "max_time", "seconds"), "max_seconds"),
    **dict.fromkeys(("verbose", "verbosity", "disp"), "progress"),
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
    **dict.fromkeys(("warm_start", "x0", "init", "coef_init"), "w0"),
    **dict.fromkeys(("method", "algorithm"), "solver"),
    **{name: name for name in ("solver", "tol", "max_seconds", "max_iter", "seed", "w0")},
    **{name: name for name in ("progress", "polish")},
}
"""What other libraries call the arguments of ``solve``, and ours."""


@cache
def arguments(call: Callable[..., Any]) -> Mapping[str, Parameter]:
    """What a function or a constructor takes, by name."""
    return signature(call).parameters


def refuse_unknown(
    call: Callable[..., Any],
    names: Iterable[str],
    owner: str,
    advice: Callable[[str], str] | None = None,
) -> None:
    """Raise InputError for a keyword that ``call`` does not take, with the nearest that it does.

    ``advice`` has words of its own for some names, else an empty string.
    """
    taken = arguments(call)
    for name in names:
        if name not in taken:
            if any(each.kind is Parameter.VAR_KEYWORD for each in taken.values()):
                return
            known = [key for key in taken if key != "self"]
            words = advice(name) if advice is not None else ""
            raise InputError(
                f"{owner}: there is no argument {name!r}.{words or instead(name, known)}"
            )


def known_keywords(owner: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a function: a keyword that it lacks is answered with the nearest that it has."""

    def decorate(call: Callable[P, R]) -> Callable[P, R]:
        known = arguments(call).keys()

        @wraps(call)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if not known >= kwargs.keys():
                refuse_unknown(call, kwargs, owner, lambda name: solve_argument(name, known))
            return call(*args, **kwargs)

        return checked

    return decorate


def solve_argument(name: str, known: Collection[str] = SOLVE.values()) -> str:
    """Advice for a name that another library gives to one of the arguments that are known."""
    return f" Did you mean {SOLVE[name]!r}?" if SOLVE.get(name, "") in known else ""


def no_such_name(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """The error of a module that has no such attribute."""
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    advice = instead(ALIASES.get(name.lower(), name), names)
    return NoSuchNameError(f"module {module!r} has no attribute {name!r}.{advice}")


def face(module: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a room whose stub says what it gives."""
    load, listed, names = attach_stub(module, file)

    def found(name: str) -> Any:
        if name not in names:
            raise no_such_name(module, name, names)
        return load(name)

    return found, listed, names


class PublicNames:
    """Lists its public names, and of a name that it lacks says what there is instead."""

    elsewhere: ClassVar[Mapping[str, str]] = {}
    """What people look for here, by name, and what to do instead."""

    def __dir__(self) -> list[str]:
        hidden = ("elsewhere",)
        return [n for n in super().__dir__() if not n.startswith("_") and n not in hidden]

    def _who(self) -> str:
        return type(self).__name__

    def _advice(self, name: str) -> str:
        """What to do instead of asking for this name."""
        return f" {found}." if (found := self.elsewhere.get(name)) else ""

    if not TYPE_CHECKING:  # else every name would do

        def __getattr__(self, name: str) -> Any:  # of what an instance does not have
            if name.startswith("_"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if hasattr(type(self), name):  # a property that raised, in its own words
                return object.__getattribute__(self, name)
            advice = self._advice(name) or nearest(name, dir(self))
            advice = advice or " dir(...) lists what it has."
            raise NoSuchNameError(f"{self._who()} has no attribute {name!r}.{advice}")
