"""Faults of the losses and penalties: conjugates, proxes, domains, bounds, compiled slopes."""

from __future__ import annotations

from mutant import Mutant

LOSSES = "tests/laws/test_losses.py"
PENALTIES = "tests/laws/test_penalties.py"
STEPS = "tests/laws/test_stochastic_iterates.py"
LOOPS = "tests/numerics/test_compiled_loops.py"
COMPILED = f"{STEPS}::test_the_compiled_parts_are_those_of_the_loss_and_the_penalty"


def loss(name: str, file: str, old: str, new: str, *laws: str) -> Mutant:
    """A formula of a loss, against its laws."""
    tests = tuple(f"{LOSSES}::test_law[{law}]" for law in laws)
    return Mutant(name, f"convexml/losses/{file}.py", old, new, tests)


def penalty(name: str, file: str, old: str, new: str, *laws: str) -> Mutant:
    """A formula of a penalty, against its laws."""
    tests = tuple(law if "::" in law else f"{PENALTIES}::test_law[{law}]" for law in laws)
    return Mutant(name, f"convexml/penalties/{file}.py", old, new, tests)


MUTANTS = [
    loss(
        "squared: twice the conjugate's square",
        "squared",
        "value = 0.5 * v + y",
        "value = v + y",
        "conjugate-Squared()",
    ),
    loss(
        "squared: half the conjugate's square, which would be believed",
        "squared",
        "value = 0.5 * v + y",
        "value = 0.25 * v + y",
        "conjugate-Squared()",
    ),
    loss(
        "huber: a conjugate without its end",
        "huber",
        "np.where(np.abs(v) <= self.delta, v * (0.5 * v + y), np.inf)",
        "v * (0.5 * v + y)",
        "domain-Huber(delta=1)",
    ),
    loss(
        "huber: the prox of twice the step",
        "huber",
        "soft_threshold(r, step * self.delta)",
        "soft_threshold(r, 2.0 * step * self.delta)",
        "prox-Huber(delta=1)",
    ),
    loss(
        "logistic: an entropy with one of its terms",
        "logistic",
        "p * np.log(p) + (1.0 - p) * np.log1p(-p)",
        "p * np.log(p)",
        "conjugate-Logistic()",
    ),
    loss(
        "hinge: a domain of twice the size",
        "hinge",
        "np.minimum(-y, 0.0), np.maximum(-y, 0.0)",
        "2.0 * np.minimum(-y, 0.0), 2.0 * np.maximum(-y, 0.0)",
        "domain-Hinge()",
    ),
    loss(
        "pinball: the prox with the shares of the two sides exchanged",
        "pinball",
        "from_below = np.minimum(z + step * self.tau, y)",
        "from_below = np.minimum(z + step * (1.0 - self.tau), y)",
        "prox-Pinball(tau=0.1)",
    ),
    loss(
        "poisson: the conjugate off by v",
        "poisson",
        "s * np.log1p(ratio) + v * (log_y - 1.0), direct",
        "s * np.log1p(ratio) + v * log_y, direct",
        "conjugate-Poisson()",
    ),
    loss(
        "exponential: half the curvature",
        "exponential",
        "z: Array) -> Array:\n        return self.value(y, z)",
        "z: Array) -> Array:\n        return 0.5 * self.value(y, z)",
        "curvature-Exponential()",
    ),
    Mutant(
        "logistic: the compiled slope of the other class",
        "convexml/losses/logistic.py",
        "return -y * (odds if y * z > 0.0 else 1.0)",
        "return -y * (odds if y * z < 0.0 else 1.0)",
        (f"{COMPILED}[Logistic()-Zero()]",),
    ),
    Mutant(
        "a compiled slope outlives the derivative that it belongs to",
        "convexml/losses/base.py",
        '            if "derivative" in vars(kind):\n                break\n',
        "",
        (f"{LOOPS}::test_a_loss_of_ones_own_runs_by_hand_and_ends_in_the_same_point",),
    ),
    penalty(
        "l1: the prox of half the step",
        "l1",
        "return soft_threshold(w, step * self._levels)",
        "return soft_threshold(w, 0.5 * step * self._levels)",
        "prox-L1(lam=0.8)",
    ),
    penalty(
        "l1: its domain twice as wide",
        "l1",
        "(np.abs(v) > self._levels + slack).any()",
        "(np.abs(v) > 2.0 * self._levels + slack).any()",
        "domain scale-L1(lam=0.8)",
        f"{PENALTIES}::test_conjugate_expression_ends_where_the_domain_ends",
    ),
    penalty(
        "l2: half the conjugate",
        "l2",
        "return 0.5 * float(np.sum(held**2 / level))",
        "return 0.25 * float(np.sum(held**2 / level))",
        "Fenchel-Young-L2(lam=0.7)",
    ),
    penalty(
        "elastic net: the square without its weight",
        "l1",
        "0.5 * residual**2 / self._l2",
        "0.5 * residual**2",
        "Fenchel-Young-ElasticNet(lam=0.9, l1_ratio=0.3)",
    ),
    penalty(
        "group lasso: a group is shrunk by the sum of its thresholds",
        "group_l2",
        "ratio = np.where(positive, threshold, 1.0)",
        "ratio = np.where(positive, 2.0 * threshold, 1.0)",
        "prox-GroupL2(lam=1.1, groups=[4 3 2 1 0])",
    ),
    penalty(
        "l1 ball: the threshold of one coordinate less",
        "ball",
        "np.arange(1, len(w) + 1)",
        "np.arange(2, len(w) + 2)",
        "prox-L1Ball(t=1.3)",
    ),
    penalty(
        "balls: half of their support function",
        "ball",
        "return self.t * self.dual_norm(v)",
        "return 0.5 * self.t * self.dual_norm(v)",
        "Fenchel-Young-L1Ball(t=1.3)",
    ),
    penalty(
        "balls: the support function of the square of the radius",
        "ball",
        "return self.t * self.dual_norm(v)",
        "return self.t**2 * self.dual_norm(v)",
        f"{PENALTIES}::test_conjugate_is_the_supremum",
    ),
    penalty(
        "box: the support function of its other end",
        "box",
        "end = np.where(v > 0.0, hi, lo)",
        "end = np.where(v > 0.0, lo, hi)",
        "Fenchel-Young-Box(lo=-1.0, hi=2.0)",
    ),
    penalty(
        "l1: v may leave the domain by its own rounding",
        "l1",
        "((np.abs(v) + error <= level) | (level == 0.0)).all()",
        "((np.abs(v) <= level) | (level == 0.0)).all()",
        "conjugate bound-L1(lam=0.8)",
    ),
    penalty(
        "surfaces with other rows are taken for the same",
        "base",
        "return same and np.array_equal(self.active, other.active)",
        "return np.array_equal(self.active, other.active)",
        "tests/truth/models/test_loss_and_penalty.py::test_a_tie_that_the_first_step_misses_is_found",
    ),
]
