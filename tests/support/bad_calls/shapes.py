"""Bad calls: neighbours, trees, transport and shapes."""

from __future__ import annotations

import numpy as np

import convexml as cml
from support.bad_calls.things import Row, X, Y, frame

ROWS: dict[str, Row] = {
    "more neighbours than samples": (
        lambda: cml.NearestNeighbors(X, X, 25),
        "NearestNeighbors: k | 25 | at most the number of samples, 24 | at most",
    ),
    "half a neighbour": (
        lambda: cml.NearestNeighbors(X, X, 1.5),
        "NearestNeighbors: k | 1.5 | whole number | Pass 1 or 2",
    ),
    "queries of other features": (
        lambda: cml.NearestNeighbors(X, X[:, 1:], 3),
        "NearestNeighbors: Q | 4 features, X has 5 | columns of X | Pass queries",
    ),
    "queries in other columns": (
        lambda: cml.NearestNeighbors(frame(X), frame(X, "abcdx"), 3),
        "NearestNeighbors: | 'x', which the model does not know | 'e' | by these names",
    ),
    "queries with NaN": (
        lambda: cml.NearestNeighbors(X, np.full((2, 5), np.nan), 3),
        "NearestNeighbors: Q | nan | finite | Impute or drop",
    ),
    "distances beyond float64": (
        lambda: cml.NearestNeighbors(1e308 * np.sign(X), -1e308 * np.sign(X), 3),
        "NearestNeighbors: | row 0 of X to row 0 of Q | beyond float64 | change the unit",
    ),
    "a prediction without targets": (
        lambda: cml.NearestNeighbors(X, X, 3).solve().predict(X),
        "NearestNeighbors.predict: y | (24, 5) | one entry per row of X | vector",
    ),
    "scores of neighbours": (
        lambda: cml.NearestNeighbors(X, X, 3).solve().decision_function(X),
        "decision_function: NearestNeighbors | has none | predict | .primal",
    ),
    "sorting for a ridge": (
        lambda: cml.Ridge(X, Y, 0.1).solve("sorting"),
        "sorting | Ridge | model that brings it | 'auto'",
    ),
    "distances that are not square": (
        lambda: cml.SpanningTree(X),
        "SpanningTree: distances | (24, 5) | square matrix | squareform",
    ),
    "distances both ways": (
        lambda: cml.SpanningTree(np.triu(np.ones((3, 3)), 1)),
        "SpanningTree: distances | 1 at (0, 1) and 0 at (1, 0) | symmetric | (D + D.T) / 2",
    ),
    "similarities for distances": (
        lambda: cml.SpanningTree(np.ones((3, 3))),
        "SpanningTree: distances | 1 at (0, 0) | 0 on the diagonal | np.fill_diagonal",
    ),
    "more clusters than points": (
        lambda: cml.SpanningTree(1.0 - np.eye(3)).clusters(4),
        "SpanningTree.clusters: count | 4 | at most 3 | at most",
    ),
    "partitions without y": (
        lambda: cml.SpanningTree(1.0 - np.eye(3)).certify(
            np.eye(3, k=1), partitions=np.zeros((2, 3))
        ),
        "SpanningTree.certify | partitions | their y | pass both",
    ),
    "masses that differ": (
        lambda: cml.OptimalTransport([1.0, 1.0], [1.0, 2.0], np.ones((2, 2))),
        "OptimalTransport: the sums of a and b | 2.0 and 3.0 | equal | Divide each by its sum",
    ),
    "a negative mass": (
        lambda: cml.OptimalTransport([1.0, -1.0], [0.0, 0.0], np.ones((2, 2))),
        "OptimalTransport: a | -1 at entry 1 | >= 0 | >= 0",
    ),
    "no mass": (
        lambda: cml.OptimalTransport([0.0, 0.0], [0.0, 0.0], np.ones((2, 2))),
        "OptimalTransport: a | its sum is 0 | some mass | must hold",
    ),
    "costs the other way round": (
        lambda: cml.OptimalTransport([1.0, 1.0], [1.0, 0.5, 0.5], np.ones((3, 2))),
        "OptimalTransport: costs | (3, 2) | shape (2, 3) | a row for each of a",
    ),
    "a share of samples above all": (
        lambda: cml.LPBoost(X, np.arange(len(X)) % 2, 1.5),
        "LPBoost: nu | 1.5 | (0, 1] | must be in",
    ),
    "stumps of constant columns": (
        lambda: cml.stumps(np.ones((4, 2))),
        "stumps: every column of X is constant | no stump tells | that varies | Pass a feature",
    ),
    "a table to be monotone": (
        lambda: cml.MonotoneRegression(X),
        "MonotoneRegression: y | (24, 5) | vector | in the order in which w is to rise",
    ),
    "a direction in words": (
        lambda: cml.MonotoneRegression(Y, increasing="down"),
        "MonotoneRegression: increasing | 'down' | True or False | must be",
    ),
    "targets whose squares overflow": (
        lambda: cml.MonotoneRegression(1e200 * Y),
        "MonotoneRegression: squares of y | entries up to | beyond float64 | change its unit",
    ),
    "a signal without room for its order": (
        lambda: cml.TrendFilter([1.0, 2.0, 4.0], 0.1, order=2),
        "TrendFilter: y | (3,) | more than order + 1 = 3 entries | a lower order",
    ),
    "a negative order": (
        lambda: cml.TrendFilter(Y, 0.1, order=-1),
        "TrendFilter: order | -1 | must be >= 0 | 0 fits constants",
    ),
    "targets of a convex fit whose squares overflow": (
        lambda: cml.ConvexRegression(X, 1e200 * Y),
        "ConvexRegression: squares of y | entries up to | beyond float64 | change its unit",
    ),
    "combinations of other columns": (
        lambda: cml.GeneralizedLasso(X, Y, 0.1, np.eye(4)),
        "GeneralizedLasso: A | one column per feature (5) | (4, 4) | combinations of coefficients",
    ),
    "strengths that rise": (
        lambda: cml.Slope(X, Y, [0.1, 0.2, 0.1, 0.1, 0.1]),
        "Slope: lams | got 0.2 at entry 1 after 0.1 | must not increase | sorted(lams",
    ),
    "one strength for all ranks": (
        lambda: cml.Slope(X, Y, 0.1),
        "Slope: lams | got 0.1 | must be a vector | one number for each",
    ),
    "strengths for other ranks": (
        lambda: cml.Slope(X, Y, [0.2, 0.1]),
        "Slope: lams | got 2 | one entry per feature (5) | Pass 5 numbers",
    ),
    "a root of squares that overflow": (
        lambda: cml.SquareRootLasso(X, 1e200 * Y, 0.1),
        "SquareRootLasso: squares of y | entries up to | beyond float64 | change its unit",
    ),
    "points that are a vector": (
        lambda: cml.EnclosingBall(Y),
        "EnclosingBall: X | (24,) | (n, d) | reshape",
    ),
    "points whose squares overflow": (
        lambda: cml.EnclosingBall(1e200 * X),
        "EnclosingBall: squared distances of X | entries up to | beyond float64 | change its unit",
    ),
    "no neighbours": (
        lambda: cml.NearestNeighbors(X, X, k=0),
        "NearestNeighbors: k | got 0 | must be > 0 | Pass a whole number from 1 on",
    ),
    "no rounds": (
        lambda: cml.AdaBoost(X, Y > 0.0, 0),
        "AdaBoost: rounds | got 0 | must be > 0 | a whole number from 1 on, such as 100",
    ),
    "a trend filter over folds": (
        lambda: cml.TrendFilter(Y, 0.1).cross_validate([0.1]),
        "TrendFilter | 'cross_validate' | no attribute | pose and score one problem",
    ),
}
