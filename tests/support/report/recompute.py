"""P, D and the gap of stored points, by NumPy alone: ``python recompute.py comparison.json``."""

import json
import sys
import tomllib

import numpy as np
from scipy.special import xlogy
from sklearn import datasets


def data_of(table):
    given = {"scaled": False} if table["dataset"] == "diabetes" else {}
    bunch = getattr(datasets, "load_" + table["dataset"])(**given)
    X, y = bunch.data, bunch.target
    if "classes" in table:
        low, high = map(list(bunch.target_names).index, table["classes"])
        X, y = X[(y == low) | (y == high)], np.where(y == high, 1.0, -1.0)[(y == low) | (y == high)]
    return (X - X.mean(0)) / X.std(0) if table.get("standardize") else X, y


def loss(model, z, y, v):  # at the scores z, and its conjugate at the slopes v
    a = -y * v
    if model == "logistic_regression":
        return np.logaddexp(0, -y * z), xlogy(a, a) + xlogy(1 - a, 1 - a)
    if model == "soft_margin_svm":
        return np.maximum(0, 1 - y * z), np.where((a >= 0) & (a <= 1), -a, np.inf)
    return (z - y) ** 2 / 2, v**2 / 2 + y * v


def values(point, file):  # c l(Xw + b) + l1 |w|_1 + l2/2 |w|^2, and -c l*(u/c) - Omega*(-X'u)
    X, y = data_of(file["data"])
    w, b, u, given = *(np.array(point[name]) for name in "wbu"), file["parameters"]
    lam, share = (
        given.get("lam", 1.0),
        float(given.get("penalty", file["model"]) in ("l1", "lasso")),
    )
    l1, l2, c = share * lam, lam - share * lam, given.get("C", 1 / len(y))
    primal, conjugate = loss(file["model"], X @ w + b, y, u / c)
    over = np.maximum(np.abs(X.T @ u) - l1, 0.0)
    penalty = np.sum(over**2) / (2 * l2) if l2 else 0.0 if over.max() <= 1e-12 * l1 else np.inf
    return c * primal.sum() + l1 * np.abs(w).sum() + l2 / 2 * w @ w, -c * conjugate.sum() - penalty


if __name__ == "__main__":
    document = json.load(open(sys.argv[1], encoding="utf-8"))
    files = {each["problem"]: tomllib.loads(each["source"]) for each in document["problems"]}
    for row in document["records"]:
        P, D = values(row["point"], files[row["problem"]])
        print(row["problem"], row["solver"], repr(float(P)), repr(float(D)))
