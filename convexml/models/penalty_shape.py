"""Whether a penalty fits the number of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError


def check_penalty(owner: str, penalty: Any, d: int) -> None:
    """Refuse a penalty whose groups, weights or bounds are not one for each of d features."""
    try:
        penalty.value(np.zeros(d))
        penalty.violation(np.zeros(d))
    except (ValueError, IndexError) as error:
        for name, given in vars(penalty).items():
            if np.ndim(given) == 1 and len(given) != d:
                raise InputError(
                    f"{owner}: {name} must have one entry per feature ({d}), got {len(given)}."
                ) from None
        raise InputError(f"{owner}: {penalty!r} does not fit {d} features ({error}).") from None
