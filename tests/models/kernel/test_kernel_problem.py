"""Every loss of one score with the penalty on the norm of a function."""

from __future__ import annotations

import numpy as np
import pytest
from support.catalogue import LOSSES
from support.model_cases import consistent, samples, separable
from support.models.kernel import NEW, WEIGHTS, X

import convexml as cml
from convexml import losses
from convexml.errors import InputError
from convexml.kernels import Gaussian, Linear
from convexml.losses import Loss
from convexml.numerics import Array

KERNEL = Gaussian(1.5)
EACH = {type(loss): loss for loss in reversed(LOSSES) if loss.labels != "classes"}.values()


def data(loss: Loss) -> tuple[Array, Array]:
    if loss.is_indicator:
        return separable() if loss.labels == "binary" else consistent()
    return samples(loss.labels)


def pose(loss: Loss, lam: float = 0.1, **given: object) -> cml.KernelProblem:
    return cml.KernelProblem(*data(loss), loss, lam, KERNEL, **given)


@pytest.mark.parametrize("loss", EACH, ids=lambda loss: loss.name)
def test_solved_certified_and_stored(loss: Loss) -> None:
    problem = pose(loss)
    posed = {}
    for side in ("primal", "dual"):
        statement = getattr(problem, side)
        assert statement.is_dcp(dpp=True)
        posed[side] = statement.solve(solver="CLARABEL")
    solution = problem.solve(tol=1e-8)
    assert solution.status == "optimal"
    value = solution.objective
    assert [posed["primal"], posed["dual"]] == pytest.approx([value, value], rel=1e-6)
    q, b, u = solution.primal["q"], solution.primal["b"], solution.dual["u"]
    K, y = KERNEL(problem._samples.X, problem._samples.X), problem._samples.y
    z = K @ q + b
    mean = 0.0 if loss.is_indicator else loss.value(y, z).mean()
    assert value == pytest.approx(mean + 0.05 * q @ K @ q, rel=1e-8)
    assert 0.0 <= solution.gap <= 1e-8 * value
    np.testing.assert_allclose(K @ q, -K @ u / 0.1, atol=1e-4 * np.abs(K @ q).max())
    assert problem.certify(q, b, u, tol=1e-7).verdict is cml.Verdict.CERTIFIED
    assert cml.Solution.from_json(solution.to_json()).status == "optimal"


@pytest.mark.parametrize("loss", EACH, ids=lambda loss: loss.name)
def test_the_linear_kernel_is_the_linear_model(loss: Loss) -> None:
    given, lam = data(loss), 0.1
    linear = cml.LearningProblem(*given, loss, cml.penalties.L2(lam)).solve(tol=1e-9)
    ours = cml.KernelProblem(*given, loss, lam, Linear()).solve(tol=1e-9)
    assert ours.objective == pytest.approx(linear.objective, rel=1e-7)
    np.testing.assert_allclose(given[0].T @ ours.primal["q"], linear.primal["w"], atol=1e-3)


@pytest.mark.parametrize("loss", EACH, ids=lambda loss: loss.name)
def test_what_is_spoilt_is_not_certified(loss: Loss) -> None:
    problem = pose(loss)
    solution = problem.solve(tol=1e-8)
    q, b, u = solution.primal["q"], float(solution.primal["b"]), solution.dual["u"]
    n = len(q)
    for spoilt in ((0.9 * q, b, u), (q, b + 0.2, u), (q, b, 1.2 * u), (q, b, u + 0.1 / n)):
        certificate = problem.certify(*spoilt, tol=1e-7)
        assert certificate.verdict is not cml.Verdict.CERTIFIED
        value = problem.objective(*spoilt[:2])
        if value < np.inf:  # a violated constraint is a row of the certificate
            assert certificate.gap >= value - solution.objective - 1e-9


def test_models_of_their_own_are_cases_of_it() -> None:
    (A, t), (B, s) = samples("real"), samples("binary")
    pairs = (
        (cml.KernelRidge(A, t, 0.1, KERNEL, fit_intercept=True), (A, t, losses.Squared(), 0.1)),
        (cml.KernelLogistic(B, s, 0.1, KERNEL), (B, s, losses.Logistic(), 0.1)),
    )
    for named, given in pairs:
        assert cml.KernelProblem(*given, KERNEL).solve().objective == pytest.approx(
            named.solve().objective, rel=1e-9
        )
    for named, loss, given in (
        (cml.KernelSVM(B, s, 0.7, KERNEL), losses.Hinge(), (B, s)),
        (cml.KernelSVR(A, t, 0.7, 0.3, KERNEL), losses.EpsilonInsensitive(0.3), (A, t)),
    ):
        general = cml.KernelProblem(*given, loss, 1.0, KERNEL, loss_scale=0.7)
        assert general.solve().objective == pytest.approx(named.solve().objective, rel=1e-8)


def test_weights_are_repetitions_and_predictions_those_of_the_loss() -> None:
    counts = np.random.default_rng(1).poisson(2.0, 40).astype(float)
    s = WEIGHTS.astype(int)
    ours = cml.KernelProblem(X, counts, losses.Poisson(), 0.1, KERNEL, sample_weight=s).solve()
    again = (np.repeat(X, s, 0), np.repeat(counts, s), losses.Poisson(), 0.1, KERNEL)
    twin = cml.KernelProblem(*again).solve()
    assert ours.objective == pytest.approx(twin.objective, rel=1e-9)
    scores = ours.decision_function(NEW)
    np.testing.assert_allclose(ours.predict(NEW), np.exp(scores), rtol=1e-12)


def test_lam_is_set_and_the_rest_is_fixed() -> None:
    problem = pose(losses.Huber(0.5))
    problem.lam = 0.3
    fresh = pose(losses.Huber(0.5), 0.3)
    assert problem.solve().objective == pytest.approx(fresh.solve().objective, rel=1e-10)
    assert "Huber" in repr(problem)
    assert "K" in problem.latex()


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"KernelProblem: loss must be of one score a sample"):
        cml.KernelProblem(X, np.arange(40) % 3, losses.Softmax(), 0.1, KERNEL)
    with pytest.raises(InputError, match=r"KernelProblem: loss must be a Loss, got 'huber'"):
        cml.KernelProblem(X, np.zeros(40), "huber", 0.1, KERNEL)
    with pytest.raises(InputError, match=r"KernelProblem: lam must be .*-1"):
        pose(losses.Huber(1.0), -1.0)
    with pytest.raises(InputError, match=r"KernelProblem: loss_scale must be"):
        pose(losses.Huber(1.0), loss_scale="total")
