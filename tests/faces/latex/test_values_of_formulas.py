"""The formulas of kernels, evaluated."""

from __future__ import annotations

import numpy as np
import pytest
from support.latex.reader import Reader

from convexml import kernels

RNG = np.random.default_rng(3)


KERNELS = {
    "gaussian": kernels.Gaussian(0.5),
    "laplacian": kernels.Laplacian(1.0 / 3.0),
    "tiny": kernels.Laplacian(1e-7) + kernels.Gaussian(1e22),
    "linear": kernels.Linear(),
    "polynomial": kernels.Polynomial(3, 0.5, 2.0),
    "plain polynomial": kernels.Polynomial(2),
    "mixed": 2.5 * (kernels.Linear() + kernels.Gaussian(2.0)) * kernels.Polynomial(2, 1.0),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str) -> None:
    kernel, x, z = KERNELS[name], RNG.normal(size=3), RNG.normal(size=3)
    text = kernel.tex("x", "z").replace(r"\langle x, z \rangle", r"(x^\top z)")
    printed = Reader(text, {"x": x, "z": z, "y": x}, {}).value()
    assert printed == pytest.approx(float(kernel(x[None], z[None])[0, 0]), rel=1e-12)
