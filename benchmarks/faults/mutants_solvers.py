"""Faults of the hand-written solvers, and of the audit that watches them."""

from __future__ import annotations

from mutant import Mutant

SOLVERS = "convexml/solvers"
GRADIENTS = "tests/solvers/by_hand/test_gradients_by_hand.py"
SUBGRADIENTS = "tests/solvers/by_hand/test_subgradients_by_hand.py"
ADMM = "tests/solvers/by_hand/test_admm_by_hand.py"
COORDINATES = "tests/solvers/by_hand/test_coordinates_by_hand.py"
NEWTON = "tests/solvers/by_hand/test_newton_by_hand.py"
PROXIMAL = "tests/solvers/squared/test_proximal_point.py"
AUGMENTED = "tests/solvers/augmented/test_augmented_lagrangian.py"
AUGMENTED_STEPS = "tests/solvers/augmented/test_augmented_steps.py"
DRAWS = "tests/solvers/stochastic/test_sample_draws.py"
FACTS = "tests/theory/test_recomputed_facts.py"
CLAIMS = "tests/theory/test_claims.py"
UNKNOWN = "tests/theory/test_unknown_constants.py"

MUTANTS = [
    Mutant(
        "gradient at x instead of y (fista)",
        f"{SOLVERS}/first_order/fista.py",
        "P.prox(y - gamma * P.loss_gradient(y), gamma)",
        "P.prox(y - gamma * P.loss_gradient(x), gamma)",
        (f"{GRADIENTS}::test_fista",),
    ),
    Mutant(
        "gradient at x instead of y (accelerated)",
        f"{SOLVERS}/first_order/accelerated_gradient.py",
        "gradient = P.gradient(y)",
        "gradient = P.gradient(x)",
        (f"{GRADIENTS}::test_accelerated_gradient",),
    ),
    Mutant(
        "a restart that keeps its momentum (fista)",
        f"{SOLVERS}/first_order/fista.py",
        "y, t, restarted_at = ahead, 1.0, k",
        "y, t, restarted_at = ahead, t, k",
        (f"{GRADIENTS}::test_fista", f"{FACTS}::test_a_restart_that_did_not_happen_is_noticed"),
    ),
    Mutant(
        "a restart downhill (accelerated)",
        f"{SOLVERS}/first_order/accelerated_gradient.py",
        "np.vdot(gradient, ahead - x) > 0.0",
        "np.vdot(gradient, ahead - x) < 0.0",
        (f"{GRADIENTS}::test_accelerated_gradient",),
    ),
    Mutant(
        "momentum without the first - 1",
        f"{SOLVERS}/first_order/accelerated_gradient.py",
        "return (t - 1.0) / following, following",
        "return t / following, following",
        (f"{GRADIENTS}::test_fista",),
    ),
    Mutant(
        "the prox of twice the step (proximal gradient)",
        f"{SOLVERS}/first_order/proximal_gradient.py",
        "x = P.prox(x - gamma * P.loss_gradient(x), gamma)",
        "x = P.prox(x - gamma * P.loss_gradient(x), 2.0 * gamma)",
        (f"{GRADIENTS}::test_proximal_gradient",),
    ),
    Mutant(
        "a schedule frozen at its first value (fista, saga and the others)",
        f"{SOLVERS}/steps.py",
        '    if not isinstance(rule, Constant):\n        raise InputError(f"{owner}: the theorem',
        '    if not isinstance(rule, Schedule):\n        raise InputError(f"{owner}: the theorem',
        ("tests/solvers/test_step_rules.py::test_schedules_are_refused_where_none_is_obeyed",),
    ),
    Mutant(
        "Armijo slope 0",
        f"{SOLVERS}/steps.py",
        "now - self.slope * trial * square + room",
        "now - 0.0 * trial * square + room",
        (f"{GRADIENTS}::test_searched_steps_and_the_decrease_of_armijo",),
    ),
    Mutant(
        "the other Barzilai-Borwein step",
        f"{SOLVERS}/steps.py",
        "float(np.vdot(moved, moved)) / curvature if curvature",
        "curvature / float(np.vdot(bent, bent)) if curvature",
        (f"{GRADIENTS}::test_searched_steps_and_the_decrease_of_armijo",),
    ),
    Mutant(
        "averaging of the subgradient method",
        f"{SOLVERS}/first_order/subgradient.py",
        "mean = mean + (x - mean) / count",
        "mean = mean + (x - mean) / (count + 1)",
        (f"{SUBGRADIENTS}::test_the_subgradient_method_projects_on_the_ball_and_averages",),
    ),
    Mutant(
        "step of the subgradient method",
        f"{SOLVERS}/first_order/subgradient.py",
        "x - eta * P.subgradient(x), ball",
        "x - 0.5 * eta * P.subgradient(x), ball",
        (f"{SUBGRADIENTS}::test_the_subgradient_method_projects_on_the_ball_and_averages",),
    ),
    Mutant(
        "default step of the subgradient method",
        f"{SOLVERS}/first_order/subgradient.py",
        "reach / ((rho or 1.0) * np.sqrt(horizon))",
        "reach / ((rho or 1.0) * np.sqrt(horizon + 100.0))",
        (f"{SUBGRADIENTS}::test_the_default_step_of_the_subgradient_method",),
    ),
    Mutant(
        "projection of the subgradient method on the penalty's constraint",
        f"{SOLVERS}/first_order/subgradient.py",
        "    w = objective.penalty.project(x[:d])\n",
        "    w = x[:d]\n",
        (f"{SUBGRADIENTS}::test_the_subgradient_method_projects_on_the_ball_and_averages",),
    ),
    Mutant(
        "projection of the subgradient method on its own ball",
        f"{SOLVERS}/first_order/subgradient.py",
        "w * min(1.0, ball / norm)",
        "w * min(1.0, 2.0 * ball / norm)",
        (
            f"{SUBGRADIENTS}::test_the_subgradient_method_stays_in_the_ball_of_a_strongly_convex_penalty",
        ),
    ),
    Mutant(
        "the ball of the subgradient method",
        f"{SOLVERS}/first_order/subgradient.py",
        "np.sqrt(2.0 * value / mu)",
        "np.sqrt(4.0 * value / mu)",
        (
            f"{SUBGRADIENTS}::test_the_subgradient_method_stays_in_the_ball_of_a_strongly_convex_penalty",
        ),
    ),
    Mutant(
        "projection of online gradient descent",
        f"{SOLVERS}/stochastic/online_gradient_descent.py",
        "        part *= ball / norm\n",
        "        part *= 1.0\n",
        (f"{SUBGRADIENTS}::test_online_gradient_descent",),
    ),
    Mutant(
        "projection of online gradient descent, b left out",
        f"{SOLVERS}/stochastic/online_gradient_descent.py",
        "part = x if whole else x[:-1]",
        "part = x[:-1]",
        (f"{SUBGRADIENTS}::test_online_gradient_descent_of_a_loss_of_unbounded_slope",),
    ),
    Mutant(
        "penalty of online gradient descent",
        f"{SOLVERS}/stochastic/online_gradient_descent.py",
        "        decay(S, x, step)\n",
        "",
        (f"{SUBGRADIENTS}::test_online_gradient_descent",),
    ),
    Mutant(
        "the price counts once more in ADMM's loss step",
        f"{SOLVERS}/first_order/admm.py",
        "prox(objective.y, at.p - at.s, objective.c / rho)",
        "prox(objective.y, at.p - 2.0 * at.s, objective.c / rho)",
        (f"{ADMM}::test_admm_and_its_changes_of_rho",),
    ),
    Mutant(
        "ADMM residual",
        f"{SOLVERS}/first_order/consensus.py",
        "primal = apart @ apart + metric.tau @ (off * off)",
        "primal = apart @ apart",
        (f"{ADMM}::test_admm_and_its_changes_of_rho",),
    ),
    Mutant(
        "ADMM dual residual",
        f"{SOLVERS}/first_order/consensus.py",
        "p - p_before",
        "p + p_before",
        (f"{ADMM}::test_admm_and_its_changes_of_rho",),
    ),
    Mutant(
        "ADMM rescaling of the prices",
        f"{SOLVERS}/first_order/admm.py",
        "at = at._replace(s=at.s / change, t=at.t / change)",
        "at = at._replace(s=at.s, t=at.t)",
        (f"{ADMM}::test_admm_and_its_changes_of_rho",),
    ),
    Mutant(
        "ADMM rescaling the wrong way",
        f"{SOLVERS}/first_order/admm.py",
        "change = 2.0 if ratio > 1.0 else 0.5",
        "change = 0.5 if ratio > 1.0 else 2.0",
        (f"{ADMM}::test_admm_and_its_changes_of_rho",),
    ),
    Mutant(
        "coordinate descent on gradients that are not kept up to date",
        f"{SOLVERS}/coordinate/cycles.py",
        "g[row] += step * gram[row, k]",
        "g[row] += 0.5 * step * gram[row, k]",
        (f"{COORDINATES}::test_coordinate_descent",),
    ),
    Mutant(
        "coordinate descent without the quadratic part of the penalty",
        f"{SOLVERS}/coordinate/coordinate_descent.py",
        "smooth = np.full(len(starts), mu)",
        "smooth = np.full(len(starts), 0.0)",
        (f"{COORDINATES}::test_coordinate_descent",),
    ),
    Mutant(
        "dual coordinates that ignore their upper bound",
        f"{SOLVERS}/coordinate/dual_steps.py",
        "step = min(max(goal, lo[i]), hi[i]) - u[i]",
        "step = max(goal, lo[i]) - u[i]",
        (f"{COORDINATES}::test_dual_coordinate_descent_without_an_intercept",),
    ),
    Mutant(
        "pairs of dual coordinates by the largest slope only",
        f"{SOLVERS}/coordinate/dual_steps.py",
        "curve > 0.0 and fall * fall / curve > best:",
        "curve > 0.0 and fall > best:",
        (f"{COORDINATES}::test_the_partner_in_a_pair_is_the_one_that_promises_most",),
    ),
    Mutant(
        "Newton's line search never doubles",
        f"{SOLVERS}/line_search.py",
        "FASTER = 0.55",
        "FASTER = 55.0",
        (f"{NEWTON}::test_newton_and_irls",),
    ),
    Mutant(
        "Newton's line search never halves",
        f"{SOLVERS}/line_search.py",
        "        step *= 0.5\n",
        "        step *= 0.75\n",
        (f"{NEWTON}::test_newton_and_irls",),
    ),
    Mutant(
        "the side of the least squares of IRLS",
        f"{SOLVERS}/second_order/irls.py",
        "np.append(-slope / root, ",
        "np.append(-0.9 * slope / root, ",
        (f"{NEWTON}::test_newton_and_irls",),
    ),
    Mutant(
        "interior points without the second-order correction",
        f"{SOLVERS}/second_order/interior_system.py",
        "self._aim(-(finite * (both / at.s + at.z)))",
        "self._aim(-(finite * at.z))",
        (f"{NEWTON}::test_interior_point",),
    ),
    Mutant(
        "interior points with the centring squared",
        f"{SOLVERS}/second_order/interior_point.py",
        "/ count / mu) ** 3",
        "/ count / mu) ** 2",
        (f"{NEWTON}::test_interior_point",),
    ),
    Mutant(
        "proximal points: clusters of signs that are not of norm one",
        f"{SOLVERS}/dual/proximal_point.py",
        "np.repeat(np.sqrt(sizes), sizes)",
        "np.repeat(sizes, sizes)",
        (
            f"{PROXIMAL}::test_the_clusters_are_columns_of_norm_one_and_newton_steps_use_their_slope",
        ),
    ),
    Mutant(
        "augmented Lagrangians about a centre that stays",
        f"{SOLVERS}/second_order/augmented_lagrangian.py",
        "smoothed.about(at.u, max(",
        "smoothed.about(smoothed.centre, max(",
        (f"{AUGMENTED}::test_every_loss_with_a_bounded_box_dual",),
    ),
    Mutant(
        "augmented Lagrangians: a sample that was left out and moved goes unnoticed",
        f"{SOLVERS}/second_order/augmented_lagrangian.py",
        "bool(np.array_equal(u, right))",
        "True",
        (f"{AUGMENTED}::test_samples_left_out_change_nothing_but_the_work",),
    ),
    Mutant(
        "augmented Lagrangians: the slope of a step without the samples left out",
        f"{SOLVERS}/second_order/proximal_newton.py",
        " + fixed @ dw + rest * db",
        "",
        (f"{AUGMENTED}::test_samples_left_out_change_nothing_but_the_work",),
    ),
    Mutant(
        "augmented Lagrangians: the intercept of a step by rows",
        f"{SOLVERS}/second_order/curved_samples.py",
        "(float(known.sum()) - total)",
        "(float(known.sum()) + total)",
        (f"{AUGMENTED_STEPS}::test_newton_steps_solve_the_dense_system",),
    ),
    Mutant(
        "samples near the upper end of their band are taken for far",
        f"{SOLVERS}/second_order/smoothed_loss.py",
        "self.hi / self.rate + reach",
        "self.hi / self.rate - reach",
        (f"{AUGMENTED_STEPS}::test_the_slope_is_the_maximiser_and_the_near_are_all_that_may_move",),
    ),
    Mutant(
        "the perceptron skips a sample",
        f"{SOLVERS}/stochastic/perceptron.py",
        "i = (seen - 1) % n",
        "i = seen % n",
        (f"{SUBGRADIENTS}::test_perceptron",),
    ),
    Mutant(
        "SGD draws by permutations",
        f"{SOLVERS}/stochastic/sgd.py",
        "draws = rng.integers(objective.n, size=(every, batch))",
        "draws = rng.permuted(np.arange(every * batch) % objective.n).reshape(every, batch)",
        (f"{DRAWS}::test_samples_are_drawn_uniformly_with_replacement",),
    ),
    Mutant(
        "SGD never draws the last sample",
        f"{SOLVERS}/stochastic/sgd.py",
        "draws = rng.integers(objective.n, size=(every, batch))",
        "draws = rng.integers(objective.n - 1, size=(every, batch))",
        (f"{DRAWS}::test_samples_are_drawn_uniformly_with_replacement",),
    ),
    Mutant(
        "SGD draws one sample too often",
        f"{SOLVERS}/stochastic/sgd.py",
        "draws = rng.integers(objective.n, size=(every, batch))",
        "draws = rng.integers(objective.n + 2, size=(every, batch)) % objective.n",
        (f"{DRAWS}::test_samples_are_drawn_uniformly_with_replacement",),
    ),
    Mutant(
        "equal seeds",
        "convexml/models/rates/audit.py",
        "[recorded.seed + k for k in range(count)]",
        "[recorded.seed for k in range(count)]",
        (f"{DRAWS}::test_the_64_seeds_of_an_audit_differ",),
    ),
    Mutant(
        "nothing measured holds",
        "convexml/models/rates/result.py",
        "return True if True in verdicts else None",
        "return True",
        (f"{CLAIMS}::test_a_run_without_a_step_tests_nothing_and_says_so",),
    ),
    Mutant(
        "P = inf holds",
        "convexml/models/rates/audit.py",
        "np.flatnonzero(~np.isfinite(run.values[1:])) + 1",
        "np.flatnonzero(np.isnan(run.values[1:])) + 1",
        (f"{CLAIMS}::test_a_run_whose_objective_is_infinite_fails",),
    ),
    Mutant(
        "the floor is P",
        "convexml/models/rates/reference.py",
        "floor = solution.dual_objective - solution.certificate.rounding",
        "floor = solution.objective",
        (f"{UNKNOWN}::test_the_floor_of_a_rough_reference_is_below_the_optimum",),
    ),
    Mutant(
        "half the radius",
        "convexml/models/rates/reference.py",
        "radius=float(np.sqrt(2.0 * gap / mu))",
        "radius=float(np.sqrt(0.5 * gap / mu))",
        (f"{UNKNOWN}::test_the_floor_is_certified_and_the_radius_follows_from_it",),
    ),
    Mutant(
        "a radius where none is known",
        "convexml/models/rates/reference.py",
        "    return reference\n\n\ndef separating",
        "    return replace(reference, radius=1e-8)\n\n\ndef separating",
        (f"{UNKNOWN}::test_the_radius_is_a_radius_or_infinite",),
    ),
    Mutant(
        "the reference in other units than the run",
        "convexml/models/rates/reference.py",
        "        floor /= frame.factor\n",
        "",
        (f"{UNKNOWN}::test_runs_in_other_units_are_audited_in_theirs",),
    ),
    Mutant(
        "the perceptron's reference is any solution",
        "convexml/models/rates/audit.py",
        "if isinstance(theorem, PerceptronBound):",
        "if not isinstance(theorem, PerceptronBound) and False:",
        (f"{FACTS}::test_perceptron_updates_are_counted_and_its_reference_is_the_hard_margin",),
    ),
]
