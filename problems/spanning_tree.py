"""The least spanning tree as a linear program, with the partitions of single linkage.

primal:  minimise over x   Σ_e d_e x_e
         subject to        x ≥ 0,  Σ_e x_e = n - 1,
                           x(π) ≥ |π| - 1 for every partition π of the points
dual:    maximise over y   Σ_π y_π (|π| - 1)
         subject to        Σ of the y_π that part the ends of e ≤ d_e for every edge e,
                           y_π ≥ 0, but for the partition into single points, whose y is free

x(π) counts the edges between blocks of π. There are many partitions; the n - 1 nested ones between
the merges of single linkage suffice for the value: y is the step from one merge height to the next.
"""

import cvxpy as cp
import numpy as np
from scipy.cluster.hierarchy import cut_tree, linkage


def edges(data):
    n = len(data.X)
    u, v = np.triu_indices(n, 1)
    d = np.linalg.norm(data.X[u] - data.X[v], axis=1)
    labels = cut_tree(linkage(data.X, "single"), n_clusters=range(n, 1, -1))
    parted = (labels[u] != labels[v]).T.astype(float)
    return d, parted, np.arange(n - 1, 0, -1)


def primal(data):
    d, parted, size = edges(data)
    x = cp.Variable(len(d), name="x")

    lower = (x >= 0).set_label("edges")
    total = (cp.sum(x) == size[0]).set_label("sum")
    partitions = (parted[1:] @ x >= size[1:]).set_label("partitions")
    return cp.Problem(cp.Minimize(d @ x), [lower, total, partitions])


def dual(data):
    d, parted, size = edges(data)
    y = cp.Variable(len(size), name="y")

    packing = (parted.T @ y <= d).set_label("packing")
    signs = (y[1:] >= 0).set_label("signs")
    return cp.Problem(cp.Maximize(size @ y), [packing, signs])
