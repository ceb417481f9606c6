"""Stand-ins for the models, so that the loader is tested alone, and files to load."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy as np

from convexml import models
from convexml.errors import InputError


class Lasso:
    """A stand-in: the loader is tested without the models."""

    def __init__(
        self, X, y, lam: float, *, fit_intercept: bool = True, sample_weight: object | None = None
    ):
        if lam < 0:
            raise InputError(f"Lasso: lam must be >= 0, got {lam}")
        self.X, self.y, self.lam = np.asarray(X), y, lam
        self.fit_intercept, self.sample_weight = fit_intercept, sample_weight


class LogisticRegression:
    def __init__(self, X, y, lam: float = 0.0, penalty: str | None = "l2", *, sample_weight=None):
        self.X, self.y, self.lam, self.penalty = np.asarray(X), y, lam, penalty


class LinearProgram:
    def __init__(self, c, A_ub=None, b_ub=None, A_eq=None, b_eq=None, bounds=(0, None)):
        self.c, self.A_ub, self.b_ub, self.bounds = c, A_ub, b_ub, bounds


class LearningProblem:
    def __init__(self, X, y, loss, penalty, *, fit_intercept: bool = True, loss_scale="mean"):
        self.loss, self.penalty, self.loss_scale = loss, penalty, loss_scale


def install(monkeypatch):
    """Let convexml.models be these four classes."""
    module = types.ModuleType("convexml.models")
    module.__path__ = models.__path__  # names of columns are those of the house
    for constructor in (Lasso, LogisticRegression, LinearProgram, LearningProblem):
        setattr(module, constructor.__name__, constructor)
    module.__all__ = ["Lasso", "LearningProblem", "LinearProgram", "LogisticRegression"]
    monkeypatch.setitem(sys.modules, "convexml.models", module)


LASSO = """
schema = 1
title = "A lasso"
model = "lasso"
[parameters]
lam = 0.5
[data]
dataset = "diabetes"
"""


def write_file(folder: Path, text: str, name: str = "problem.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def data_file(write, data: str, model: str = "lasso", parameters: str = "lam = 1") -> Path:
    head = f'schema = 1\ntitle = "t"\nmodel = "{model}"\n[parameters]\n{parameters}\n'
    return write(f"{head}[data]\n{data}\n")
