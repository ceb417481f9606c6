"""Students of coordinates, ADMM, Pegasos and means, in plain NumPy: right, or with one mistake."""

from __future__ import annotations

import numpy as np

from support.students import Student, shrink


def coordinate_student(bug: str = "", order: str = "cyclic", sweeps: bool = False) -> Student:
    def coordinate_descent(X, y, lam, rng):
        n, d = X.shape
        if bug != "not centred":
            X, y = X - X.mean(axis=0), y - y.mean()
        w, t = np.zeros(d), 0
        r = y - X @ w
        yield w.copy()
        while True:
            j = rng.integers(d) if order == "random" else t % d
            if bug != "stale residual" or t % d == 0:
                r = y - X @ w
            size = X[:, j] @ X[:, j] / n
            c = X[:, j] @ r / n + (0.0 if bug == "own part" else size * w[j])
            level = {"no threshold": 0.0, "threshold twice": 2 * lam,
                     "half the threshold": lam / 2, "sum": lam / n}.get(bug, lam)  # fmt: skip
            if bug == "threshold without 1/|x_j|^2":
                w[j] = shrink(c / size, level)
            else:
                w[j] = shrink(c, level) / (1.0 if bug == "not divided" else size)
            t += 1
            if not sweeps or t % d == 0:
                yield w.copy()

    return coordinate_descent


def admm_student(bug: str = "", shown: str = "v") -> Student:
    def admm(X, y, lam, rho):
        n, d = X.shape
        if bug != "not centred":
            X, y = X - X.mean(axis=0), y - y.mean()
        m = 1.0 if bug == "sum" else n
        w = v = q = np.zeros(d)
        level = {"no threshold": 0.0, "threshold without rho": lam,
                 "threshold times rho": lam * rho}.get(bug, lam / rho)  # fmt: skip
        while True:
            yield v if shown == "v" else w
            pull = v + q if bug == "sign of q" else v - q
            right = X.T @ y / m + (1.0 if bug == "wrong rho" else rho) * pull
            w = np.linalg.inv(X.T @ X / m + rho * np.eye(d)) @ right
            v = shrink(w if bug == "q left out" else w + q, level)
            turn = {"no dual update": 0.0, "sign of the dual update": -1.0}.get(bug, 1.0)
            q = q + turn * (w - v)

    return admm


def pegasos_student(
    bug: str = "", form: str = "1/t", ball: bool = False, mean: str = ""
) -> Student:
    def pegasos(X, y, lam, rng):
        n, d = X.shape
        w, points = np.zeros(d), []
        for t in range(1, 10**6):
            points.append(w)
            total = np.sum(points, axis=0)
            yield {"mean": total / t, "summed": total}.get(mean or bug, w)
            i = rng.integers(n)
            s = 1.0 / (lam * (t if form == "1/t" else t + 1))
            s = {"step without lam": s * lam, "step 1/(n lam t)": s / n, "step constant": 1 / lam,
                 "step 1/sqrt(t)": 1 / (lam * np.sqrt(t))}.get(bug, s)  # fmt: skip
            margin = y[i] * (X[i] @ w)
            pulls = {"margin reversed": margin >= 1.0, "no margin": True}.get(bug, margin < 1.0)
            level = 0.0 if bug == "no penalty" else lam
            w = w - s * (level * w - y[i] * X[i] * pulls)
            if ball:
                w = w * min(1.0, 1.0 / np.sqrt(lam) / (np.linalg.norm(w) or 1.0))

    return pegasos


def mean_student(bug: str = "", drawn: bool = False, start: bool = True) -> Student:
    """Averaged subgradients of the l2 SVM, or averaged stochastic gradients of ridge."""

    def run(X, y, lam, C, rng):
        n, d = X.shape
        w, t, shown = np.zeros(d), 0, np.zeros(d)
        total = w if start else -w
        while True:
            yield shown
            i = rng.integers(n)
            if drawn:
                g = X[i] * (X[i] @ w - y[i]) + (0.0 if bug == "no penalty" else lam) * w
            else:
                pulls = y * (X @ w) < 1.0
                g = (0.0 if bug == "no penalty" else 1.0) * w - C * X[pulls].T @ y[pulls]
            w, t = w - (0.05 if drawn else 0.1 / np.sqrt(t + 1.0)) * g, t + 1
            total = total + w
            shown = {"not averaged": w, "averaged by halves": (shown + w) / 2, "summed": total}.get(
                bug, total / (t + 1 if start else t)
            )

    def averaged_sgd(X, y, lam, rng):
        return run(X, y, lam, 1.0, rng)

    def averaged_subgradient(X, y, C, rng):
        return run(X, y, 1.0, C, rng)

    return averaged_sgd if drawn else averaged_subgradient
