"""The formulas of losses, penalties and kernels, evaluated: values, conjugates, domains."""

from __future__ import annotations

import numpy as np
import pytest
from support.latex.formula_cases import HYPER, LOSSES, PENALTIES, RANGES, D, K, N, all_hold, define
from support.latex.reader import Reader, statements

from convexml import kernels
from convexml.formulas import Symbol

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(2))
def test_losses(name: str, seed: int) -> None:
    loss, y = LOSSES[name]
    y, rng = np.asarray(y, dtype=float), np.random.default_rng(seed)
    shape = (N, K) if loss.labels == "classes" else (N,)
    tex = loss.tex()
    z = (
        rng.normal(size=shape)
        if seed % 2
        else y.reshape(-1, *[1] * (len(shape) - 1)) * np.ones(shape)
    )
    names = HYPER | {"y": y, "z": z}
    fits = loss.violation(y, z) == 0.0
    for i in range(N):
        rows = [Reader(str(row), names, RANGES | {"i": [i]}).holds(0.0) for row in tex.rows]
        assert all(rows) == (fits[i] if rows else True)
        if tex.value:
            printed = Reader(tex.value, names, RANGES).value(i=i)
            assert printed == pytest.approx(loss.value(y, z)[i], rel=1e-10, abs=1e-12)
    if tex.slope and not tex.rows:
        read = Reader(tex.slope, names, RANGES)
        slopes = np.array([read.value(i=i) for i in range(N)])
        np.testing.assert_allclose(slopes, loss.derivative(y, z), atol=1e-12)
    # In the domain a slope of the loss, a little shrunk; then what is beyond it.
    inside = 0.9 * loss.derivative(y, rng.normal(size=shape))
    for v in (inside, inside - 1.0, inside + 1.0, -3.0 * inside, 3.0 * inside + 1e-3):
        names = HYPER | {"y": y, "v": v}
        define(tex.domain, names)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = loss.conjugate(y, v)
        for i in range(N):
            held = [
                Reader(s, names, RANGES | {"i": [i]}).holds(1e-9)
                for s in statements(tex.domain)
                if s
            ]
            assert all(held) == np.isfinite(value[i]), (v[i], tex.domain)
            if np.isfinite(value[i]):
                printed = Reader(tex.conjugate, names, RANGES).value(i=i)
                assert printed == pytest.approx(value[i], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", PENALTIES)
def test_penalties(name: str) -> None:
    penalty = PENALTIES[name](D)
    w, v = Symbol("w", "w_j", "w_g"), Symbol("v", "v_j", "v_g")
    tex = penalty.tex(w, v)
    bounds = {
        key: np.broadcast_to(getattr(penalty, at, 0.0), D)
        for key, at in ((r"\lo", "lo"), (r"\hi", "hi"))
    }
    weights = getattr(penalty, "weights", None)
    names = HYPER | bounds | {r"\omega": weights, "y": np.zeros(N)}
    names[r"\lambda"] = getattr(penalty, "lams", HYPER[r"\lambda"])
    free = penalty.free(D)
    seen = set()
    for size in (0.0, 0.03, 0.3, 3.0):
        for sign in (None, 1.0, -1.0):
            x = RNG.normal(size=D) * size
            x = x if sign is None else sign * np.abs(x)
            here = names | {"w": x}
            if tex.value:
                assert Reader(tex.value, here, RANGES).value() == pytest.approx(penalty.value(x))
            else:
                assert penalty.value(x) == 0.0
            fits = all(Reader(str(row), here, RANGES).holds(1e-12) for row in tex.rows)
            assert fits == (penalty.violation(x) <= 1e-12)
            for point in (x, np.where(free, 0.0, x)):
                here = names | {"v": point}
                value = penalty.conjugate(point, 1e-12)
                finite = all_hold(tex.domain, here, 1e-12)
                assert finite == np.isfinite(value), point
                seen.add(finite)
                if finite:
                    printed = Reader(tex.conjugate or "0", here, RANGES).value()
                    assert printed == pytest.approx(value, abs=1e-12)
    assert True in seen


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
