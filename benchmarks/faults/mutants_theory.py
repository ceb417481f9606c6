"""Faults of the theorems: each bound weakened, each check left out."""

from __future__ import annotations

from mutant import Mutant

THEORY = "convexml/theory"
LITERALS = "tests/laws/test_theory_literals.py"
HOLD = "tests/laws/test_theorems_hold.py"
BROKEN = "tests/laws/test_broken_methods.py"


def bound(name: str, file: str, old: str, new: str, test: str) -> Mutant:
    """A bound or constant that is off, against the numbers worked out by hand."""
    return Mutant(name, f"{THEORY}/{file}.py", old, new, (f"{LITERALS}::{test}",))


MUTANTS = [
    bound(
        "gradient descent, distance: square root of the rate",
        "gradient_rates",
        "np.maximum(1.0 - step * mu, 0.0) **",
        "np.maximum(1.0 - 0.5 * step * mu, 0.0) **",
        "test_bounds",
    ),
    bound(
        "gradient descent, claim: half of mu",
        "gradient_rates",
        "np.maximum(1.0 - taken * mu, 0.0)",
        "np.maximum(1.0 - 0.5 * taken * mu, 0.0)",
        "test_rates_by_hand",
    ),
    bound(
        "gradient descent, value: twice",
        "gradient_rates",
        "np.divide(distance, 2.0 * step * np.asarray(t, dtype=float))\n",
        "np.divide(distance, step * np.asarray(t, dtype=float))\n",
        "test_rates_by_hand",
    ),
    bound(
        "proximal gradient: no factor of the penalty",
        "gradient_rates",
        "/ (1.0 + step * mu_g)",
        "/ (1.0 + 0.0 * step * mu_g)",
        "test_rates_by_hand",
    ),
    bound(
        "acceleration: twice",
        "gradient_rates",
        "return 2.0 * L * distance",
        "return 4.0 * L * distance",
        "test_rates_by_hand",
    ),
    bound(
        "acceleration: counted from T, not T + 1",
        "gradient_rates",
        "+ 1.0) ** 2",
        "+ 0.0) ** 2",
        "test_rates_by_hand",
    ),
    bound(
        "subgradient: twice the noise",
        "gradient_rates",
        "step * rho**2 / 2.0",
        "step * rho**2",
        "test_rates_by_hand",
    ),
    bound(
        "subgradient: twice the distance",
        "gradient_rates",
        "np.divide(distance, 2.0 * step * np.asarray(t, dtype=float)) +",
        "np.divide(distance, step * np.asarray(t, dtype=float)) +",
        "test_rates_by_hand",
    ),
    bound(
        "Newton: twice",
        "newton_rates",
        "M * r**2 / (2.0 * np",
        "M * r**2 / (1.0 * np",
        "test_rates_by_hand",
    ),
    bound(
        "Newton: third derivative of the logistic loss",
        "newton_rates",
        "1.0 / (6.0 * np.sqrt(3.0))",
        "1.0 / (3.0 * np.sqrt(3.0))",
        "test_rates_by_hand",
    ),
    bound(
        "regret: twice the slope's share",
        "stochastic",
        "distance / (2.0 * step) + 0.5 * step * slope**2",
        "distance / (2.0 * step) + step * slope**2",
        "test_rates_by_hand",
    ),
    bound(
        "SGD: twice the floor",
        "stochastic",
        "2.0 * step / mu * noise",
        "4.0 * step / mu * noise",
        "test_rates_by_hand",
    ),
    bound(
        "SGD: the floor of one sample for a mini-batch",
        "stochastic",
        'noise=noise / float(np.nan_to_num(run.fact("batch"), nan=1.0))',
        "noise=noise",
        "test_rates_by_hand",
    ),
    bound(
        "SAGA: half the rate",
        "stochastic",
        "q - 0.75 * (2.0",
        "q - 0.375 * (2.0",
        "test_bounds",
    ),
    bound(
        "SAGA: the table's share doubled",
        "stochastic",
        "(1.0 + 3.0 * objective.n",
        "(1.0 + 6.0 * objective.n",
        "test_rates_by_hand",
    ),
    bound(
        "Pegasos: twice",
        "stochastic",
        "/ (2.0 * lam * t)",
        "/ (lam * t)",
        "test_rates_by_hand",
    ),
    bound(
        "Pegasos: rho = 4 R",
        "stochastic",
        "return 2.0 * float(np.max(sizes",
        "return 4.0 * float(np.max(sizes",
        "test_rates_by_hand",
    ),
    bound(
        "perceptron: twice",
        "stochastic",
        "return radius**2 *",
        "return 2.0 * radius**2 *",
        "test_rates_by_hand",
    ),
    bound(
        "strong convexity of the penalty with a free b",
        "constants",
        "return 0.0 if objective.fit_intercept else",
        "return 0.1 if objective.fit_intercept else",
        "test_constants_of_two_samples",
    ),
    bound(
        "rho: one by one only",
        "constants",
        "return min(one_by_one, float(together)) +",
        "return one_by_one +",
        "test_constants_of_two_samples",
    ),
    bound(
        "noise: the mean gradient is not taken off",
        "constants",
        "row_squares(objective)) - square",
        "row_squares(objective)) + square",
        "test_the_noise_of_two_samples_that_pull_apart",
    ),
    bound(
        "L: the penalty left out",
        "constants",
        "return loss_smoothness(objective) + objective.penalty.curvature_bound",
        "return loss_smoothness(objective)",
        "test_constants_of_two_samples",
    ),
    Mutant(
        "the upper limit over seeds is the mean",
        "convexml/theory/stochastic.py",
        "table.mean(axis=0) + Z99",
        "table.mean(axis=0) + 0.0 * Z99",
        (f"{BROKEN}::test_every_run_of_an_expectation_has_a_seed_of_its_own",),
    ),
    Mutant(
        "room 1e-3",
        "convexml/theory/theorem.py",
        "ROUNDING * np.abs(before)",
        "1e-3 * np.abs(before)",
        (
            "tests/numerics/test_claims.py::test_never_increases_takes_its_room_from_the_earlier_value",
        ),
    ),
    Mutant(
        "room of the later value",
        "convexml/theory/theorem.py",
        "ROUNDING * np.abs(before)",
        "ROUNDING * np.abs(values[1:])",
        (
            "tests/numerics/test_claims.py::test_never_increases_takes_its_room_from_the_earlier_value",
        ),
    ),
    Mutant(
        "nan and inf in a claim",
        "convexml/theory/theorem.py",
        "np.flatnonzero(~(met & np.isfinite(self.measured)))",
        "np.flatnonzero(self.measured > self.bound + self.room)",
        (f"{HOLD}::test_a_bound_that_says_nothing_tests_nothing",),
    ),
    Mutant(
        "an infinite bound is a test passed",
        "convexml/theory/theorem.py",
        "np.flatnonzero(self.bound + self.room != np.inf)",
        "np.flatnonzero(self.bound == self.bound)",
        (f"{HOLD}::test_a_bound_that_says_nothing_tests_nothing",),
    ),
    Mutant(
        "a fact is its last value",
        "convexml/theory/theorem.py",
        "return float(known.max()) if known.size else np.nan",
        "return float(known[-1]) if known.size else np.nan",
        (f"{BROKEN}::test_only_the_right_method_keeps_its_theorem",),
    ),
    Mutant(
        "restarts told are believed",
        "convexml/theory/gradient_rates.py",
        "away if told in (origin, k) else np.inf",
        "0.0 * away",
        (f"{BROKEN}::test_only_the_right_method_keeps_its_theorem",),
    ),
    Mutant(
        "a restart point is judged from itself",
        "convexml/theory/gradient_rates.py",
        'run.facts["restarted_at"].astype(int)[:-1]',
        'np.minimum(run.facts["restarted_at"].astype(int)[1:], np.arange(len(run.values) - 1))',
        (f"{BROKEN}::test_a_restart_point_is_judged_against_its_previous_origin",),
    ),
    Mutant(
        "ADMM's equations are not checked",
        "convexml/theory/dual_rates.py",
        "moves.append((away + shown, allowed))",
        "moves.append((0.0 * away, allowed))",
        (f"{BROKEN}::test_only_the_right_method_keeps_its_theorem",),
    ),
    Mutant(
        "ADMM's residual without its second half",
        "convexml/theory/dual_rates.py",
        "return float(rho * (first + second)), float(",
        "return float(rho * first), float(",
        (f"{BROKEN}::test_the_residual_of_ADMM_is_that_of_its_copies",),
    ),
    Mutant(
        "the moves of gradient descent are not checked",
        "convexml/theory/theorem.py",
        "yield float(np.linalg.norm(reached - goal)), room(x, goal, reached)",
        "yield 0.0, room(x, goal, reached)",
        (f"{BROKEN}::test_a_descent_that_says_a_step_which_it_did_not_take_is_noticed",),
    ),
    Mutant(
        "interior points: s'z of the solver's own word",
        "convexml/theory/newton_rates.py",
        "    return np.concatenate(parts), largest_step(*terms), float(np.sum(s * z))",
        "    return np.concatenate(parts), largest_step(*terms), np.inf",
        (f"{BROKEN}::test_only_the_right_method_keeps_its_theorem",),
    ),
    Mutant(
        "interior points: residuals may grow",
        "convexml/theory/newton_rates.py",
        "measured.append(float(np.abs(after - share * before).max(initial=0.0)))",
        "measured.append(0.0)",
        (f"{BROKEN}::test_a_linear_program_whose_points_are_not_newtons_fails",),
    ),
    Mutant(
        "the room of a value is the value",
        "convexml/theory/theorem.py",
        "return self.doubt + ROUNDING * largest",
        "return self.doubt + largest",
        (f"{LITERALS}::test_rates_by_hand",),
    ),
    Mutant(
        "the ball that holds the reference is not asked for",
        "convexml/theory/stochastic.py",
        "if not size <= ball * (1.0 + 1e-9):",
        "if not size <= 1e9 * ball:",
        ("tests/laws/test_broken_methods.py::test_a_ball_that_leaves_the_solution_out_is_noticed",),
    ),
]
