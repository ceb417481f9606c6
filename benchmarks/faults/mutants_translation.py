"""Faults of what is read from others: the dual of a CVXPY problem, its audit, fitted estimators."""

from __future__ import annotations

from mutant import Mutant

FITTED = "convexml/sklearn"
TEXTBOOK = "tests/faces/cvxpy/test_dual_textbook.py"
SIGNS = "tests/faces/cvxpy/test_dual_values.py"
ESTIMATORS = "tests/faces/sklearn/test_certified_estimators.py"
PROBLEMS = "tests/faces/cvxpy/test_certify_problems.py"
CONSTANTS = "tests/faces/cvxpy/test_unusual_problems.py"
MACHINES = "tests/faces/estimators/test_particular.py"
ABSENCE = "tests/faces/cvxpy/test_absent_answers.py"


def estimator(name: str, file: str, old: str, new: str, case: str) -> Mutant:
    """A constant of a scikit-learn estimator's objective, against its documentation."""
    test = f"{ESTIMATORS}::test_the_tight_fit_is_certified[{case}]"
    return Mutant(name, f"{FITTED}/{file}.py", old, new, (test,))


MUTANTS = [
    Mutant(
        "dual: the sign of an inequality",
        "convexml/duality/pose.py",
        "return left - right, 1.0, left.is_constant()",
        "return left - right, -1.0, left.is_constant()",
        (f"{TEXTBOOK}::test_linear_program", f"{SIGNS}::test_multipliers_are_slopes"),
    ),
    Mutant(
        "dual: the sign of a constraint g >= 0",
        "convexml/duality/pose.py",
        "return argument, -1.0, True",
        "return argument, 1.0, True",
        (f"{SIGNS}::test_multipliers_of_attributes", f"{SIGNS}::test_multipliers_are_slopes"),
    ),
    Mutant(
        "dual: the constant is dropped",
        "convexml/duality/pose.py",
        "    if terms and constant:\n        value = value + constant\n",
        "",
        (f"{PROBLEMS}::test_a_constant_moves_no_gap_and_stays_in_the_dual",),
    ),
    Mutant(
        "dual: twice the conjugate of a quadratic form",
        "convexml/duality/pose.py",
        "factor, null = conjugate_factor(column.quadratic.entries)\n        scale, inner = 0.5,",
        "factor, null = conjugate_factor(column.quadratic.entries)\n        scale, inner = 1.0,",
        (f"{TEXTBOOK}::test_quadratic_program",),
    ),
    Mutant(
        "dual: the null space of a quadratic form is free",
        "convexml/duality/pose.py",
        "        if null.shape[0]:\n",
        "        if null.shape[0] < 0:\n",
        (f"{TEXTBOOK}::test_quadratic_program_with_a_singular_matrix",),
    ),
    Mutant(
        "dual: the factor of P, not of its inverse",
        "convexml/duality/lagrangian.py",
        "return (vectors[:, large] / np.sqrt(values[large])).T, vectors[:, ~large].T",
        "return (vectors[:, large] * np.sqrt(values[large])).T, vectors[:, ~large].T",
        (f"{TEXTBOOK}::test_quadratic_program",),
    ),
    Mutant(
        "dual: multipliers of inequalities have no sign",
        "convexml/duality/pose.py",
        '        case "nonneg":\n            yield y[0] >= 0\n',
        '        case "nonneg":\n            yield y[0] >= -1e3\n',
        (f"{PROBLEMS}::test_multipliers_of_inequalities_have_a_sign",),
    ),
    Mutant(
        "dual: the dual norm of the l1 norm is the l1 norm",
        "convexml/duality/pose.py",
        "yield cp.norm_inf(y[1]) <= cp.sum(y[0])",
        "yield cp.norm1(y[1]) <= cp.sum(y[0])",
        (f"{TEXTBOOK}::test_lasso",),
    ),
    Mutant(
        "dual: the exponential cone without its e",
        "convexml/duality/pose.py",
        "yield cp.ExpCone(-y[1], -y[0], np.e * y[2])",
        "yield cp.ExpCone(-y[1], -y[0], y[2])",
        (
            "tests/faces/cvxpy/test_dual_values.py::test_values_multipliers_and_the_dual_of_the_dual",
        ),
    ),
    Mutant(
        "dual: twice the price of a quadratic constraint",
        "convexml/duality/pose.py",
        "cp.quad_over_lin(u, 4.0 * lam)",
        "cp.quad_over_lin(u, 2.0 * lam)",
        (f"{TEXTBOOK}::test_quadratic_constraint",),
    ),
    Mutant(
        "dual: twice the price of a quadratic constraint in LaTeX",
        "convexml/duality/lagrangian.py",
        "identity(lam.rows) * 4.0",
        "identity(lam.rows) * 2.0",
        ("tests/faces/cvxpy/test_dual_text.py::test_every_line_holds[quadratic_constraints]",),
    ),
    Mutant(
        "dual: the entropy of u alone",
        "convexml/duality/pose.py",
        "cp.sum(cp.rel_entr(u, lam) + cp.rel_entr(lam - u, lam))",
        "cp.sum(cp.rel_entr(u, lam))",
        (f"{TEXTBOOK}::test_logistic_regression",),
    ),
    Mutant(
        "dual: Maximize is not turned round",
        "convexml/duality/pose.py",
        "cp.Minimize(-value) if lagrangian.maximise else",
        "cp.Maximize(value) if lagrangian.maximise else",
        (f"{PROBLEMS}::test_a_constant_moves_no_gap_and_stays_in_the_dual",),
    ),
    Mutant(
        "audit: the constant of the objective is dropped",
        "convexml/certificates/conic/optimum.py",
        "gap=rest - value,",
        "gap=seen.value - value,",
        (f"{PROBLEMS}::test_a_constant_moves_no_gap_and_stays_in_the_dual",),
    ),
    Mutant(
        "audit: Maximize is judged as Minimize",
        "convexml/bridge/certificate.py",
        "found, sign = objective_at(self.names.problem), self.sign",
        "found, sign = objective_at(self.names.problem), 1.0",
        (f"{PROBLEMS}::test_a_constant_moves_no_gap_and_stays_in_the_dual",),
    ),
    Mutant(
        "audit: a price of inf is free",
        "convexml/certificates/conic/optimum.py",
        "value, within = bound.local, max(bound.radius, bound.far)",
        "value = bound.local",
        (f"{PROBLEMS}::test_a_residual_on_a_free_variable_leaves_a_bound_over_a_box",),
    ),
    Mutant(
        "audit: curvature of the wrong sign is not asked for",
        "convexml/certificates/conic/optimum.py",
        "subject.curvature or curvature_words(bound.curvature)",
        '""',
        ("tests/truth/families/test_rounded_data.py::test_a_saddle_is_not_certified",),
    ),
    Mutant(
        "audit: a variable that is not finite is judged",
        "convexml/bridge/certificate.py",
        "    if not np.all(np.isfinite(posed.read(",
        "    if not np.any(np.isfinite(posed.read(",
        (f"{PROBLEMS}::test_values_that_are_not_finite_prove_nothing",),
    ),
    Mutant(
        "audit: an upper bound is measured as a lower one",
        "convexml/bridge/layout.py",
        'variable.attributes["bounds"],\n            (-1.0, 1.0),',
        'variable.attributes["bounds"],\n            (-1.0, -1.0),',
        (f"{PROBLEMS}::test_a_violated_attribute_refutes",),
    ),
    Mutant(
        "audit: an equation is violated on one side only",
        "convexml/bridge/layout.py",
        "case cp.constraints.Equality():\n            return _both(args[0] - args[1])",
        "case cp.constraints.Equality():\n            return _positive(args[0] - args[1])",
        (f"{PROBLEMS}::test_bounds_and_equations_have_two_sides",),
    ),
    Mutant(
        "audit: a constant constraint that is violated counts as met",
        "convexml/bridge/certificate.py",
        "certain = np.abs(violated) > error",
        "certain = np.abs(violated) > 1e12 * error",
        (f"{CONSTANTS}::test_a_parameter_is_a_constant_at_the_level_of_tol",),
    ),
    Mutant(
        "audit: a ray along which the objective does not fall",
        "convexml/certificates/conic/unbounded.py",
        "-INSIDE * norm",
        "INSIDE * norm",
        (f"{ABSENCE}::test_unboundedness_is_verified_along_the_ray",),
        explained="the program that gives the ray has q'd <= -1, and the fall is proved again",
    ),
    Mutant(
        "audit: multipliers of value 0 are evidence",
        "convexml/certificates/conic/infeasible.py",
        "    if not value < 0.0:\n        return 0.0\n",
        "",
        ("tests/numerics/test_conic_evidence.py::test_multipliers_of_value_0_are_no_evidence",),
    ),
    estimator(
        "scikit-learn: LinearRegression with 1/2",
        "regressors",
        "fitted.parts(Squared(), penalty, 2.0 * fitted.s)",
        "fitted.parts(Squared(), penalty, fitted.s)",
        "LinearRegression",
    ),
    estimator(
        "scikit-learn: half of Ridge's alpha",
        "regressors",
        "fitted.X, y, Squared(), L2(2.0 * alpha), 2.0 * fitted.s, w, b,",
        "fitted.X, y, Squared(), L2(alpha), 2.0 * fitted.s, w, b,",
        "Ridge",
    ),
    estimator(
        "scikit-learn: squared hinge with 1/2",
        "classifiers",
        "X, y, loss, penalty, scale * v * fitted.s",
        "X, y, loss, penalty, estimator.C * v * fitted.s",
        "LinearSVC, squared hinge",
    ),
    estimator(
        "scikit-learn: liblinear's intercept is not penalised",
        "classifiers",
        "np.append(w, b / m)",
        "np.append(w, 0.0 * b / m)",
        "LinearSVC, hinge",
    ),
    estimator(
        "scikit-learn: balanced weights count for samples of another class",
        "fitted",
        "return count.sum() / (len(classes) * count)",
        "return count.sum() / (len(classes) * count[::-1])",
        "Logistic, balanced",
    ),
    estimator(
        "scikit-learn: sample weights of SVC left out",
        "kernel_machines",
        "c = estimator.C * (estimator.class_weight_[fitted.labels()] * fitted.s)",
        "c = estimator.C * estimator.class_weight_[fitted.labels()]",
        "SVC, linear, weighted",
    ),
    Mutant(
        "scikit-learn: the dual point of SVC with the sign of its coefficients",
        "convexml/sklearn/kernel_machines.py",
        "c, w, b, fit_intercept=True, u=-q, name=name,",
        "c, w, b, fit_intercept=True, u=q, name=name,",
        (f"{ESTIMATORS}::test_the_coefficients_of_libsvm_are_its_dual_point",),
    ),
    Mutant(
        "scikit-learn: coefficients of samples without weight left out",
        "convexml/sklearn/kernel_machines.py",
        "used = kept.size and not np.any(np.delete(q, kept))",
        "used = kept.size",
        (f"{MACHINES}::test_a_coefficient_of_a_sample_without_weight_counts",),
    ),
]
