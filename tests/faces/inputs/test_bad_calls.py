"""Bad calls, one row each: the refusal tells the object, the value, the requirement, the remedy."""

from __future__ import annotations

import pytest
from support.refusals import refused, table

CALLS = table("""
cml.Ridge('data.csv', Y, 0.1)  # Ridge: X | 'data.csv' | numbers | read the file first
cml.Ridge(None, Y, 0.1)  # Ridge: X | None | numbers | pass an array
cml.Ridge({'age': [1.0]}, [1.0], 0.1)  # Ridge: X | dict of 'age' | numbers | DataFrame
cml.Ridge(X[:, 0], Y, 0.1)  # Ridge: X | (24,) | matrix of shape (n, d) | X.reshape(-1, 1)
cml.Ridge(X[None], Y, 0.1)  # Ridge: X | (1, 24, 5) | matrix of shape (n, d) | X.reshape(len(X), -1)
cml.Ridge([], [], 0.1)  # Ridge: X | (0,) | matrix of shape (n, d) | at least one sample
cml.Ridge([[1.0], [1.0, 2.0]], [0, 1], 0.1)
    # Ridge: X | row 0 has 1 and row 1 has 2 entries | numbers | rows of one length
cml.Ridge(X + 1j, Y, 0.1)  # Ridge: X | complex128 | real numbers | Pass the real part
cml.Ridge(np.array([[1, print], [2, 3]], dtype=object), [1, 2], 0.1)
    # Ridge: X | column 1 | numbers only | drop it
cml.Ridge((row for row in X), Y, 0.1)  # Ridge: X | generator | numbers | pass an array or a list
cml.Ridge(np.full((2, 1), 2 ** 60 + 1), [1, 2], 0.1)
    # Ridge: X | 1152921504606846977 | float64 rounds | Shift or scale
cml.Ridge(X.T, Y, 0.1)  # Ridge: y | (24,) | one entry per row of X (5) | Pass X.T
cml.Ridge(Y, X, 0.1)  # Ridge: X | (24,) | matrix of samples | Swap them
cml.Ridge(X, Y[:-1], 0.1)  # Ridge: y | (23,) | one entry per row of X (24) | of the same samples
cml.Ridge(X, np.c_[Y, Y], 0.1)  # Ridge: y | (24, 2) | vector | one of its columns
cml.Ridge(X, Y[None], 0.1)  # Ridge: y | (1, 24) | vector | y.ravel()
cml.Ridge(X, 'price', 0.1)  # Ridge: y | 'price' | one entry per row | frame['price']
cml.Ridge(X, sparse.csr_array(Y[:, None]), 0.1)
    # Ridge: y | must be a dense | vector | y.toarray().ravel()
cml.Ridge(X, np.array(['2020-01-01'] * N, dtype='datetime64[D]'), 0.1)
    # Ridge: y | datetime64[D] | real numbers | days since a date
cml.SoftMarginSVM(X, CODES)
    # SoftMarginSVM: y | got 3 (0, 1, 2) | exactly two classes | SoftmaxRegression
cml.LogisticRegression(X, Y)
    # LogisticRegression: y | got 24 ( | exactly two classes | take a regression
cml.SoftmaxRegression(X, np.eye(3)[CODES], 0.1)
    # SoftmaxRegression: y | (24, 3) | vector | y.argmax(axis=1)
cml.LogisticRegression(X, [1, 'a'] * (N // 2))
    # LogisticRegression: y | 1 of type int | mixes text | labels of one kind
cml.LogisticRegression(X, np.array([None, 'a'] * (N // 2), dtype=object))
    # LogisticRegression | NoneType and str | cannot be ordered | use one type
cml.PoissonRegression(X, -np.ones(N), 0.1)
    # PoissonRegression: y | -1 at entry 0 | >= 0 | other regressions
cml.Ridge(X, Y, 0.1, sample_weight='balanced')
    # Ridge: sample_weight | 'balanced' | one number for each row | class_weight
cml.LogisticRegression(X, YB, 0.1, sample_weight={1: 2, -1: 1})
    # LogisticRegression: sample_weight | dict of 1, -1 | numbers | one number for each row
cml.Ridge(X, Y, 0.1, sample_weight=2.0)  # Ridge: sample_weight | 2.0 | vector | one number for each
cml.Ridge(X, Y, 0.1, sample_weight=np.full(N, 1e+308))
    # Ridge: the sum of sample_weight | sum | overflows | scale the weights down
cml.BernoulliLikelihood(CODES)
    # BernoulliLikelihood: x | got 2 | 0 and 1 only | CategoricalLikelihood
cml.CategoricalLikelihood(['a', 'b'], ['a', 'c'])
    # CategoricalLikelihood: labels | 'b' | not among the classes ['a', 'c'] | Pass all classes
cml.Lasso(X, Y, '0.1')  # Lasso: lam | '0.1' | number | Pass 0.1, not text
cml.Lasso(X, Y, True)  # Lasso: lam | True | number | Pass 1 if that is meant
cml.Lasso(X, Y, np.array([0.1, 0.2]))  # Lasso: lam | [0.1, 0.2] | number | path(values)
cml.SoftMarginSVM(X, YB, 0)  # SoftMarginSVM: C | got 0 | > 0 | C weighs the losses
cml.SVR(X, Y, 1, -0.1)  # SVR: epsilon | -0.1 | >= 0 | 0 leaves no tube
cml.QuantileRegression(X, Y, 50, 0.1)  # QuantileRegression: tau | 50 | between 0 and 1 | 0.5
cml.HuberRegression(X, Y, 0, 0.1)  # HuberRegression: delta | got 0 | > 0 | count linearly
cml.ElasticNet(X, Y, 0.1, -1)  # ElasticNet: l1_ratio | -1 | >= 0 | 0 is the ridge
cml.ConstrainedLasso(X, Y, 0)  # ConstrainedLasso: radius | got 0 | > 0 | bounds the norm of w
cml.SoftmaxRegression(X, CODES, 0.1, 'none')
    # SoftmaxRegression: penalty | 'none' | 'l2', 'l1', 'group' or None | Pass None
cml.LogisticRegression(X, YB, 0.1, penalties.L1(0.1))
    # LogisticRegression: penalty | L1(lam=0.1) | 'l2', 'l1' or None | LearningProblem
cml.GroupLasso(X, Y, 0.1, [0, 0, 1])  # GroupLasso: groups | got 3 | one entry | per feature (5)
cml.GroupLasso(X, Y, 0.1, [[0, 1], [2, 3, 4]])
    # GroupLasso: groups | several lengths | one label | flat list
cml.GroupLasso(X, Y, 0.1, None)
    # GroupLasso: groups | None | label for each feature | [0, 0, 1, 1, 1]
cml.Ridge(X, Y, 0.1, fit_intercept='no')
    # Ridge: fit_intercept | 'no' | True or False | True or False
cml.KernelSVM(X, YB, 1.0, 'rbf')
    # KernelSVM: kernel | 'rbf' | one of convexml.kernels | kernels.Gaussian(...)
cml.KernelRidge(X, Y, 0.1, kernels.Gaussian)
    # KernelRidge: kernel | Gaussian | one of convexml.kernels | an instance
cml.KernelRidge(X, Y, 0.1, np.dot)
    # KernelRidge: kernel | dot | one of convexml.kernels | Precomputed()
kernels.Gaussian(0)  # Gaussian: sigma | got 0 | > 0 | width of the kernel
kernels.Polynomial(0)  # Polynomial: degree | got 0 | integer | >= 1
-1.0 * kernels.Linear()  # kernel: factor | -1 | > 0 | > 0
kernels.Linear() + 3  # kernel | got 3 | only a kernel | added to a kernel
kernels.RBF  # convexml.kernels | 'RBF' | no attribute | Did you mean 'Gaussian'?
cml.LearningProblem(X, Y, losses.Squared(), None)
    # LearningProblem: penalty | None | must be a Penalty | penalties.Zero()
cml.LearningProblem(X, Y, penalties.L2(0.1), losses.Squared())
    # LearningProblem: loss | L2(lam=0.1) | must be a Loss | comes before the penalty
cml.LearningProblem(X, Y, losses.Squared(), penalties.L2(0.1), loss_scale='total')
    # LearningProblem: loss_scale | 'total' | 'mean', 'sum' or a number | 'mean', 'sum'
cml.NearestNeighbors(X, X, 25)
    # NearestNeighbors: k | 25 | at most the number of samples, 24 | at most
cml.NearestNeighbors(X, X[:, 1:], 3)
    # NearestNeighbors: Q | 4 features, X has 5 | columns of X | Pass queries
cml.NearestNeighbors(1e+308 * np.sign(X), -1e+308 * np.sign(X), 3)
    # NearestNeighbors: | row 0 of X to row 0 of Q | beyond float64 | change the unit
cml.NearestNeighbors(X, X, 3).solve().predict(X)
    # NearestNeighbors.predict: y | (24, 5) | one entry per row of X | vector
cml.NearestNeighbors(X, X, 3).solve().decision_function(X)
    # decision_function: NearestNeighbors | has none | predict | .primal
cml.Ridge(X, Y, 0.1).solve('sorting')  # sorting | Ridge | model that brings it | 'auto'
cml.SpanningTree(X)  # SpanningTree: distances | (24, 5) | square matrix | squareform
cml.SpanningTree(np.triu(np.ones((3, 3)), 1))
    # SpanningTree: distances | 1 at (0, 1) and 0 at (1, 0) | symmetric | (D + D.T) / 2
cml.SpanningTree(1.0 - np.eye(3)).clusters(4)
    # SpanningTree.clusters: count | 4 | at most 3 | at most
cml.SpanningTree(1.0 - np.eye(3)).certify(np.eye(3, k=1), partitions=np.zeros((2, 3)))
    # SpanningTree.certify | partitions | their y | pass both
cml.LPBoost(X, np.arange(len(X)) % 2, 1.5)  # LPBoost: nu | 1.5 | (0, 1] | must be in
cml.stumps(np.ones((4, 2)))
    # stumps: every column of X is constant | no stump tells | that varies | Pass a feature
cml.MonotoneRegression(X)
    # MonotoneRegression: y | (24, 5) | vector | in the order in which w is to rise
cml.MonotoneRegression(1e+200 * Y)
    # MonotoneRegression: squares of y | entries up to | beyond float64 | change its unit
cml.TrendFilter([1.0, 2.0, 4.0], 0.1, order=2)
    # TrendFilter: y | (3,) | more than order + 1 = 3 entries | a lower order
cml.Slope(X, Y, [0.1, 0.2, 0.1, 0.1, 0.1])
    # Slope: lams | got 0.2 at entry 1 after 0.1 | must not increase | sorted(lams
cml.Slope(X, Y, [0.2, 0.1])  # Slope: lams | got 2 | one entry per feature (5) | Pass 5 numbers
cml.AdaBoost(X, Y > 0.0, 0)
    # AdaBoost: rounds | got 0 | must be > 0 | a whole number from 1 on, such as 100
cml.TrendFilter(Y, 0.1).cross_validate([0.1])
    # TrendFilter | 'cross_validate' | no attribute | pose and score one problem
RIDGE.certify(np.zeros(6))  # Ridge: w | (6,) | one coefficient per feature (5) | passed apart, as b
RIDGE.certify(SOLVED.primal)  # Ridge: w | dict of 'w', 'b' | numbers only | primal['w']
RIDGE.certify(SOLVED)  # Ridge: w | Solution | numbers only | solution.primal['w']
RIDGE.certify(FITTED)  # Ridge: w | estimator Ridge | numbers only | cml.certify(estimator, X, y)
RIDGE.certify(W, W)  # Ridge: b | array([0. | one finite number | None is the best b
cml.Ridge(X, Y, 0.1, fit_intercept=False).certify(W, 0.5)
    # Ridge: b | 0.5 | without intercept | Leave b out
RIDGE.certify(W, 0.0, put(np.zeros(N), 1, np.inf))
    # Ridge: u | inf at entry 1 | finite | Leave u out
cml.Ridge(X, Y, 0.1, sample_weight=put(np.ones(N), 0, 0)).certify(W, 0.0, np.ones(N))
    # Ridge: u | must be 0 | samples of weight 0 | must be 0
cml.Ridge(frame(X), Y, 0.1).certify(pd.Series(W, index=list('abcdf')))
    # Ridge: w | has 'f' | lacks 'e' | by these names, in any order
SOFTMAX.certify(np.zeros((3, 5)))  # SoftmaxRegression: w | (3, 5) | shape (5, 3) | w.T
KERNEL.certify(W)  # KernelRidge: q | (5,) | one entry per sample | (24)
RIDGE.dual_objective(W)  # Ridge: u | (5,) | one entry per sample | (24)
SOLVED.predict(X[:, :4])  # Ridge: X | 4 features | posed with 5 | same columns
cml.Ridge(frame(X), Y, 0.1).solve().predict(frame(X, 'abcdf'))
    # Ridge: X | has 'f' | lacks 'e' | by these names, in any order
KERNEL.solve().predict(X[:, :4])  # KernelRidge: X | 4 features | posed with 5 | same columns
SOLVED.predict_proba(X)  # predict_proba: Ridge | squared | no probabilities | LogisticRegression
cml.SoftMarginSVM(X, YB).solve().predict_proba(X)
    # SoftMarginSVM | hinge | no probabilities | decision_function
SOLVED.score(X, Y[:3])  # Ridge.score: y | (3,) | each row of X, shape (24,) | of the same samples
LOGISTIC.solve().score(X, np.where(YB > 0, 'a', 'b'))
    # LogisticRegression.score: y | <U1 | labels of the model are float64 | labels of one kind
INFEASIBLE.predict([[0.0]])  # predict: HardMarginSVM | infeasible | no point | .evidence
KERNEL.solve().coef_  # coef_: KernelRidge | 'q' | no coefficient for each feature | .primal
PROGRAM.solve().predict(X)  # predict: LinearProgram | LinearProgram | no samples | .primal
SOLVED.margin  # Ridge | margin | no margin | support vector machines
SOLVED.to_json('/nowhere/x.json')
    # to_json | /nowhere/x.json | no folder /nowhere | create the folder
SOLVED.to_json(3.5)  # to_json | 3.5 | path of a file | path
cml.Solution.from_json('solution.json')
    # Solution.from_json | 'solution.json' | not a stored solution | pathlib.Path
RIDGE.solve('newton').plot('picture.foo')  # plot: picture.foo | 'foo' | not supported | .png
RIDGE.solve('lbfgs')  # solver | 'lbfgs' | Known: newton | 'newton_cg'
RIDGE.solve('clarabl')  # solver | 'clarabl' | Known: newton | Did you mean 'clarabel'?
RIDGE.solve(None)  # solver | None | Known: newton | 'auto'
LASSO.solve('newton')  # Lasso | newton | smooth penalty | coordinate_descent
LOGISTIC.solve('osqp')  # this problem | osqp | quadratic programs | newton_cg
RIDGE.solve('perceptron')  # Ridge | perceptron | separation problem | Take 'auto'
SOFTMAX.solve('saga')  # SoftmaxRegression | saga | scalar prediction | newton
RIDGE.solve(max_iter=1.5)  # solve: max_iter | 1.5 | whole number | Pass 1 or 2
RIDGE.solve(w0='zeros')  # Ridge: w0 | 'zeros' | numbers only | pass numbers
RIDGE.solve(progress='yes')  # solve: progress | 'yes' | True or False | True or False
RIDGE.solve('gradient_descent', step=-1)  # gradient_descent: step | -1 | > 0 | > 0
LASSO.solve('fista', step='big')  # fista: step | 'big' | one of | backtracking
LASSO.solve('fista', maxiter=9)  # fista | 'maxiter' | no option | Did you mean 'max_iter'?
LASSO.solve('clarabel', max_step_fraction='x')
    # clarabel | 'max_step_fraction' | is refused | Incorrect type
PROGRAM.solve('interior_point', step=3)
    # interior_point | 'step' | takes no option | LinearProgram
PROGRAM.solve(tolerance=0.001)  # highs | 'tolerance' | no option | takes tol
RIDGE.path(0.1)  # Ridge.path | 0.1 | list of values | of lam
RIDGE.path([0.1, -1])  # Ridge: lam | -1 | >= 0 | 0 is no penalty
LEAST.path([0.1])
    # LeastSquares.path | LeastSquares | follows lam, C, radius or nu | Solve it as it is
RIDGE.cross_validate([])  # Ridge.cross_validate | [] | list of values | of lam
RIDGE.cross_validate([0.1], folds=1)  # Ridge.cross_validate: folds | got 1 | from 2 to | 24 samples
RIDGE.cross_validate([0.1], folds='five')
    # Ridge.cross_validate: folds | 'five' | integer | cross-validation object
RIDGE.cross_validate([0.1], score='r2')
    # Ridge.cross_validate: score | 'r2' | function | sklearn.metrics
changed()  # Ridge: X | was changed | read where it is | X.copy()
RIDGE.lam_max  # Ridge | L2(lam=0.1) | no lam_max | kink at 0
RIDGE.solve('clarabel').rate_audit()  # rate_audit | 'clarabel' | no theorem | gradient_descent
RIDGE.solve('gradient_descent').rate_audit(iterations=-3)
    # rate_audit: iterations | -3 | >= 0 | >= 0
cml.certify(3)
    # certify | got 3 | cvxpy.Problem or a fitted scikit-learn estimator | problem.certify(
cml.certify('model.pkl')
    # certify | 'model.pkl' | cvxpy.Problem or a fitted scikit-learn estimator | joblib or pickle
cml.certify(linear_model.Ridge, X, Y)
    # certify | Ridge is a class | fitted instance | Ridge(...).fit(X, y)
cml.certify(linear_model.Ridge(), X, Y)  # certify: Ridge | Ridge | not fitted yet | fit(X, y) first
cml.certify(FITTED)  # certify | 0 arrays | training data | certify(estimator, X, y)
cml.certify(FITTED, X)  # certify: Ridge | Ridge | fitted with y | certify(estimator, X, y)
cml.certify(X, Y, FITTED)
    # certify | ndarray | fitted scikit-learn estimator | The estimator comes first
cml.certify(FITTED, X[:, :3], Y)
    # certify: Ridge | X has 3 | fitted on 5 features | data that it was fitted on
cml.certify(FITTED, X, Y[:3])  # certify: Ridge: y | (3,) | one entry per row of X | (24)
cml.certify(ensemble.RandomForestRegressor(2).fit(X, Y), X, Y)
    # certify | RandomForestRegressor | convex function that it minimises | What is judged:
cml.certify(linear_model.Lars().fit(X, Y), X, Y)
    # certify | Lars | no convex function | LassoLars is judged
cml.certify(SOLVED.primal)
    # certify | dict | cvxpy.Problem or a fitted scikit-learn estimator | judged by its problem
cml.certify(SOLVED)
    # certify | Solution | cvxpy.Problem or a fitted scikit-learn estimator | solution.certificate
cml.certify(RIDGE)
    # certify | Ridge | cvxpy.Problem or a fitted scikit-learn estimator | has its own .certify
cml.certify(cp.Problem(cp.Minimize(cp.sum_squares(VARIABLE))))
    # certify | x | no value | solve the problem first
cml.certify(cp.Problem(cp.Minimize(cp.sqrt(cp.sum(VARIABLE)))))
    # certify: the problem | not DCP | CVXPY's rules | rewrite it
cml.certify(cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, integer=True)))))
    # certify: the problem | integer variables | continuous convex | Relax or fix them
cml.certify(cp.sum_squares(VARIABLE))
    # certify | quad_over_lin | cvxpy.Problem | cp.Problem(cp.Minimize(...))
cml.certify(cp.Problem(cp.Minimize(cp.sum_squares(VARIABLE))), X)
    # certify | cvxpy.Problem | no other argument | than tol
cml.solve(cp.Problem(cp.Minimize(cp.Parameter(nonneg=True, name='a') * cp.sum_squares(VARIABLE))))
    # solve | parameter a | no value | set it first
cml.assert_optimal(RIDGE)  # assert_optimal | Ridge | holds no point | assert_optimal(problem, w, b)
cml.solve(cp.Problem(cp.Minimize(cp.sum_squares(VARIABLE))), 'gurobi')
    # solve | 'gurobi' | no reference solver | clarabel, osqp
cml.dualize(3)  # dualize | int | expected | cvxpy.Problem
cml.load('nope.toml')  # problem file | nope.toml | there is no problem file | problem file
cml.load(3)  # load | got 3 | path of a problem file | path of a problem file
solvers.register('newton', print)  # register | 'newton' | solver name | is taken
solvers.register('mine', print, ('gradients',))  # register | 'gradients' | unknown need | Known:
solvers.supports('foo', RIDGE)  # solver | 'foo' | Known: newton | 'auto' chooses
cml.LinearProgram([[1.0, 2.0]])  # LinearProgram: c | (1, 2) | non-empty vector | vector
cml.LinearProgram([1.0, 1.0], [[1.0, 1.0, 1.0]], [1.0])
    # LinearProgram: A_ub | (1, 3) | one column for each | 2 entries of c
cml.LinearProgram([1.0, 1.0], [[1.0, 1.0]])
    # LinearProgram: A_ub | b_ub is not | is given | give both or neither
cml.LinearProgram([1.0, 1.0], bounds=(1, 0))
    # LinearProgram: bounds[0] | (1, 0) | is empty | lower bound must not exceed
PROGRAM.certify([1.0, 2.0, 3.0])  # LinearProgram: x | (3,) | shape (2,) | shape (2,)
PROGRAM.certify([1.0, 0.0], {'lambda': [1.0]})
    # LinearProgram: no multiplier | 'lambda' | The names are | Did you mean 'lambda_ub'?
PROGRAM.certify([1.0, 0.0], [1.0])
    # LinearProgram: multipliers | list | dict by name | lambda_ub, nu
estimators.Ridge(solver='bicgstab').fit(X, Y)
    # Ridge.fit: solver | 'bicgstab' | must be one of | auto
estimators.LassoLarz  # convexml.estimators | 'LassoLarz' | no attribute | Did you mean 'Lasso
estimators.SVC(kernel='rbff').fit(X, YB)  # SVC | 'rbff' | 'kernel' parameter | 'rbf'
estimators.QuantileRegressor(quantile=2).fit(X, Y)
    # QuantileRegressor | Got 2 | 'quantile' parameter | (0.0, 1.0)
estimators.Ridge().fit(X, Y).predict(X[:, :3])
    # Ridge | X has 3 features | expecting 5 | expecting 5 features
theory.PerceptronBond
    # convexml.theory | 'PerceptronBond' | no attribute | Did you mean 'PerceptronBound'?
""")
"""What is called; object | value | requirement | remedy."""


@pytest.mark.parametrize("call", CALLS)
def test_a_bad_call_is_told_what_is_wrong_and_what_to_do(call: str) -> None:
    text, theirs = refused(call)
    names = ("object", "value", "requirement", "remedy")
    told = dict(zip(names, CALLS[call].split(" | "), strict=True))
    assert {kind: each for kind, each in told.items() if each not in text} == {}, text
    assert theirs or len(text) < 2000
