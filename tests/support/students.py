"""Solvers as students write them, in plain NumPy: right, or with one mistake by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Student = Callable[..., Iterator[Any]]


def sigmoid(t):
    return 1.0 / (1.0 + np.exp(-t))


def slope_of(loss: str, z, y):
    """l'(y, z) of the squared, logistic and hinge loss."""
    if loss == "squared":
        return z - y
    if loss == "logistic":
        return -y * sigmoid(-y * z)
    return np.where(y * z < 1.0, -y, 0.0)


def gradient_student(bug: str = "", loss: str = "squared", intercept: bool = True) -> Student:
    def gradient_descent(X, y, lam, step):
        n, d = X.shape
        w, b, old = np.zeros(d), 0.0, None
        if bug == "labels 0 and 1":
            y = (y + 1.0) / 2.0
        if bug == "labels swapped":
            y = -y
        level = {"no penalty": 0.0, "penalty twice": 2 * lam, "half the penalty": lam / 2,
                 "penalty / n": lam / n, "n times the penalty": lam * n,
                 "sign of the penalty": -lam}.get(bug, lam)  # fmt: skip
        step = step * {"step doubled": 2.0, "step halved": 0.5, "step times n": n,
                       "step / n": 1.0 / n}.get(bug, 1.0)  # fmt: skip
        for t in range(10**6):
            yield w, b
            now = (w, b)
            at = old if bug == "stale gradient" and old is not None else now
            r = slope_of(loss, X @ at[0] + at[1], y)
            if bug == "p - y":
                r = sigmoid(X @ w + b) - y
            rows = {"half the data": slice(0, n // 2), "last sample": slice(0, n - 1),
                    "first sample": slice(1, n)}.get(bug, slice(0, n))  # fmt: skip
            count = len(y[rows])
            share = {"sum": n, "mean": 1.0 / n, "square without 1/2": 2.0, "half the loss": 0.5,
                     "sign of the loss": -1.0}.get(bug, 1.0)  # fmt: skip
            gw = share * X[rows].T @ r[rows] / count
            gb = share * r[rows].sum() / count
            gb *= {
                "b fixed": 0.0,
                "b summed": n,
                "b averaged twice": 1.0 / n,
                "sign of b": -1.0,
            }.get(bug, 1.0)
            s = step
            if bug == "step 1/t":
                s = step / (t + 1)
            if bug == "step 1/sqrt(t)":
                s = step / np.sqrt(t + 1)
            s = -s if bug == "sign" else s
            gw = gw + level * at[0]
            if bug == "b penalised":
                gb = gb + lam * b
            old = now
            w = w - s * gw
            if bug == "w before b":
                gb = slope_of(loss, X @ w + b, y).mean()
            b = b - s * gb if intercept else 0.0

    return gradient_descent


def shrink(v, t):
    return np.sign(v) * np.maximum(np.abs(v) - t, 0.0)


def proximal_student(bug: str = "") -> Student:
    def proximal_gradient(X, y, lam, step):
        n, d = X.shape
        w, b = np.zeros(d), 0.0
        while True:
            yield w, b
            if bug == "prox first":
                w = shrink(w, step * lam)
            r = X @ w + b - y
            v, b = w - step * X.T @ r / n, b - step * r.mean()
            if bug == "penalty in both":
                v = v - step * lam * np.sign(w)
            t = {"threshold without step": lam, "threshold twice": 2 * step * lam,
                 "half the threshold": step * lam / 2}.get(bug, step * lam)  # fmt: skip
            w = shrink(v, t)
            if bug in ("no prox", "prox first"):
                w = v
            if bug == "hard threshold":
                w = np.where(np.abs(v) > t, v, 0.0)
            if bug == "b thresholded":
                b = float(shrink(b, t))

    return proximal_gradient


def ball_student(bug: str = "") -> Student:
    def proximal_gradient(X, y, radius, step):
        n, d = X.shape
        w, b = np.zeros(d), 0.0
        while True:
            yield np.append(w, b)
            r = X @ w + b - y
            w, b = w - step * X.T @ r / n, b - step * r.mean()
            size = np.linalg.norm(w)
            if bug == "clipped":
                w = np.clip(w, -radius, radius)
            elif bug == "onto the sphere":
                w = w * radius / size
            elif bug != "no prox" and size > radius:
                w = w * radius / size

    return proximal_gradient


def fast_student(bug: str = "", lasso: bool = False) -> Student:
    def accelerated(X, y, lam, step):
        n, d = X.shape
        w = v = np.zeros(d)
        theta, last = 1.0, 0.0
        while True:
            yield w
            at = w if bug == "gradient at x" else v
            g = X.T @ (X @ at - y) / n + (0.0 if lasso else lam * at)
            new = v - step * g
            new = shrink(new, step * lam) if lasso else new
            grown = (1.0 + np.sqrt(1.0 + 4.0 * theta**2)) / 2.0
            m = (theta - 1.0) / grown
            theta, m, last = grown, (last if bug == "momentum too late" else m), m
            m = {"no momentum": 0.0, "momentum of the other sign": -m, "momentum 1": 1.0}.get(
                bug, m
            )
            v, w = new + m * (new - w), new

    accelerated.__name__ = "fista" if lasso else "accelerated_gradient"
    return accelerated


def newton_student(bug: str = "") -> Student:
    def newton(X, y, lam):
        n, d = X.shape
        Z, x = np.column_stack([X, np.ones(n)]), np.zeros(d + 1)
        level = np.append(np.full(d, lam), 0.0)
        first = None
        while True:
            yield x
            p = sigmoid(Z @ x)
            g = Z.T @ (p - (y + 1.0) / 2.0) / n + level * x
            h = p if bug == "Hessian of p" else p * (1.0 - p)
            H = Z.T @ (h[:, None] * Z) / n
            H = H if bug == "Hessian without lam" else H + np.diag(level)
            first = H if first is None else first
            H = {"Hessian of the sum": n * H, "diagonal Hessian": np.diag(np.diag(H)),
                 "no Hessian": np.eye(d + 1), "Hessian at 0": first}.get(bug, H)  # fmt: skip
            x = x + (1 if bug == "sign" else -1) * (0.5 if bug == "step halved" else 1.0) * (
                np.linalg.solve(H, g)
            )

    return newton


def subgradient_student(bug: str = "", rule: Callable[[int], float] = lambda t: 0.1) -> Student:
    def subgradient(X, y, C):
        n, d = X.shape
        w, b, total = np.zeros(d), 0.0, np.zeros(d + 1)
        for t in range(10**6):
            total = total + np.append(w, b)
            yield total / (t + 1) if bug == "averaged" else (w, b)
            pulls = y * (X @ w + b) < 1.0
            pulls = ~pulls if bug == "margin reversed" else pulls
            pulls = np.ones(n, dtype=bool) if bug == "no margin" else pulls
            gw, gb = w - C * X[pulls].T @ y[pulls], -C * y[pulls].sum()
            gw = -C * X[pulls].T @ y[pulls] if bug == "no penalty" else gw
            gb = gb + b if bug == "b penalised" else gb
            at = {"step constant": 0, "step of the next": t + 1}.get(bug, t)
            w, b = w - rule(at) * gw, b - rule(at) * gb

    return subgradient


def drawn(draws: str, n: int, batch: int, rng: np.random.Generator) -> Iterator[Any]:
    """Indices of samples, draw after draw."""
    t = 0
    while True:
        if draws == "uniform":
            yield rng.integers(n, size=batch)
        elif draws == "half":
            yield rng.integers(n // 2, size=1)
        elif draws == "in order":
            yield np.array([t % n])
        else:
            yield from rng.permutation(n)[:, None]
        t += 1


def sgd_student(bug: str = "", draws: str = "uniform", batch: int = 1) -> Student:
    def sgd(X, y, lam, step, rng):
        n, d = X.shape
        w, b = np.zeros(d), 0.0
        for i in drawn(draws, n, batch, rng):
            yield w, b
            i = np.arange(n) if bug == "all samples" else i
            r = slope_of("logistic", X[i] @ w + b, y[i])
            r = r * {"mean": 1.0 / n, "sum": n, "sign of the loss": -1.0}.get(bug, 1.0)
            level = {"no penalty": 0.0, "penalty / n": lam / n}.get(bug, lam)
            s = {"step doubled": 2.0, "sign": -1.0}.get(bug, 1.0) * step
            w, b = w - s * (X[i].T @ r / len(i) + level * w), b - s * r.mean()

    return sgd
