"""What a claim of descent accepts: finite values, and the room of the earlier one."""

from __future__ import annotations

import numpy as np
import pytest

from convexml.theory.theorem import never_increases


@pytest.mark.parametrize(("values", "holds"), [
    ([2.0, 1.0, 1.0], True),
    ([1.0, np.inf], False),
    ([np.inf, 1.0], False),
    ([1.0, np.nan, 0.5], False),
    ([1.0, -np.inf], False),
    ([1e-9, 1.0], False),
    ([1.0, 1.0 + 1e-12], False),  # a room of 1e-3, or of 1e-11, would not see it
    ([1.0, 1.0 + 1e-15], True),
    ([1.0], None),
    # 64 eps of 1e-3 is 1.4e-17; of the risen value 1.0 it would be a thousand times as much
    ([1e-3, 1e-3 * (1.0 + 1e-13)], False),
    ([-1e-3, 1e3], False),
    ([0.0, 1e-300], False),
])  # fmt: skip
def test_never_increases_takes_its_room_from_the_earlier_value(
    values: list[float], holds: bool | None
) -> None:
    assert never_increases("a", np.array(values)).holds is holds
    assert np.all(never_increases("a", np.array([1.0, 5.0])).room <= 2e-14)
