"""Faults of sums of terms: each charge of their gap is left out, by its kind.

e: what predictions may be off by; h: what exact multipliers may be away; the rounding of adjoints;
the least eigenvalue; domains that are rounded inward; the tilt, a shift of the maps; and the worse
of what was passed and what was repaired.
"""

from __future__ import annotations

from mutant import Mutant

AFFINE = "tests/numerics/test_affine_sums.py"
FAULTS = "tests/numerics/test_certificate_faults.py"
PLANTED = (f"{AFFINE}::test_no_gap_is_below_that_of_a_planted_optimum",)
LEFT = (f"{AFFINE}::test_what_multipliers_leave_fits_into_what_exact_ones_may_be_away",)
SUMS = "tests/numerics/test_sums_of_terms.py"
CLIPS = (f"{SUMS}::test_what_clips_is_exactly_inside",)
MOVED = (f"{SUMS}::test_multipliers_that_are_moved_count_where_they_are",)
ELIMINATED = (f"{SUMS}::test_what_is_left_for_the_squares_is_as_near_as_it_tells",)
PUSHES = (f"{AFFINE}::test_sums_of_pushes_are_as_near_as_they_tell",)
PRODUCTS = (f"{AFFINE}::test_products_are_as_near_as_they_tell",)
LOSSES = ("tests/laws/test_losses.py::test_an_excess_covers_the_neighbourhood_that_it_is_told",)
PENALTIES = (
    "tests/laws/test_penalties.py::test_an_excess_covers_the_neighbourhood_that_it_is_told",
)

MUTANTS = [
    Mutant(
        "e: products of the map are exact",
        "convexml/certificates/affine.py",
        "return z, UNIT * np.abs(z)",
        "return z, 0.0 * np.abs(z)",
        PRODUCTS,
    ),
    Mutant(
        "e: products of a large map are exact",
        "convexml/certificates/affine.py",
        "gamma(x.size + 4) * (1.0 + gamma(x.size + 4)) * sizes",
        "0.0 * sizes",
        PRODUCTS,
    ),
    Mutant(
        "e: the predictions of a loss are exact",
        "convexml/losses/base.py",
        "far = np.where(e > 0.0,",
        "far = np.where(e < 0.0,",
        LOSSES,
    ),
    Mutant(
        "e: the coefficients of a penalty are exact",
        "convexml/penalties/base.py",
        "float(h @ np.abs(w) + pull @ e)",
        "float(h @ np.abs(w))",
        PENALTIES,
    ),
    Mutant(
        "h: what is left moves nobody",
        "convexml/certificates/affine.py",
        "h[root > 0.0] = root[root > 0.0] * distance",
        "h[root > 0.0] = root[root > 0.0] * 0.0",
        PLANTED,
    ),
    Mutant(
        "h: the multipliers of a loss are exact",
        "convexml/losses/base.py",
        "off = np.where(h > 0.0,",
        "off = np.where(h < 0.0,",
        LOSSES,
    ),
    Mutant(
        "h: the multipliers of a multiple are exact",
        "convexml/problem/terms.py",
        "off = h / self.factor * (1.0 + 2.0 * EPS)",
        "off = 0.0 * h",
        PENALTIES,
    ),
    Mutant(
        "h: the multipliers of a penalty are exact",
        "convexml/penalties/base.py",
        "float(h @ np.abs(w) + pull @ e)",
        "float(pull @ e)",
        PENALTIES,
    ),
    Mutant(
        "adjoint: the rounding of the equations",
        "convexml/certificates/affine.py",
        "error = length(off[kept] * units) *",
        "error = 0.0 * length(off[kept] * units) *",
        LEFT,
    ),
    Mutant(
        "adjoint: the rounding of their sum",
        "convexml/problem/terms.py",
        "off = off + error + UNIT * np.abs(total)",
        "off = off + error",
        PUSHES,
    ),
    Mutant(
        "adjoint: the rounding of each",
        "convexml/problem/terms.py",
        "off = off + error + UNIT * np.abs(total)",
        "off = off + UNIT * np.abs(total)",
        ELIMINATED,
    ),
    Mutant(
        "least eigenvalue: 1 in its place",
        "convexml/certificates/affine.py",
        "left / self.sigma *",
        "left *",
        PLANTED,
    ),
    Mutant(
        "least eigenvalue: of a dense matrix it is the largest",
        "convexml/certificates/algebra/definite.py",
        "least = float(np.linalg.eigvalsh(gram)[0])\n    error",
        "least = float(np.linalg.eigvalsh(gram)[-1])\n    return float(np.sqrt(least))\n    error",
        PLANTED,
    ),
    Mutant(
        "least eigenvalue: of a sparse matrix nothing is proved",
        "convexml/certificates/affine.py",
        "least = least_eigenvalue(self.gram, self.solver) - error",
        "least = 1e6 * least_eigenvalue(self.gram, self.solver)",
        LEFT,
    ),
    Mutant(
        "least eigenvalue: columns that depend up to rounding need no equation",
        "convexml/certificates/affine.py",
        "np.setdiff1d(every, dependence(np.vstack(rows)).exact)",
        "every[:1]",
        PLANTED,
    ),
    Mutant(
        "inward: losses and multiples end where their domain does",
        "convexml/problem/terms.py",
        "INSIDE = 1.0 - 32.0 * EPS",
        "INSIDE = 1.0",
        PLANTED,
    ),
    Mutant(
        "inward: penalties clip to the end",
        "convexml/penalties/base.py",
        "(self.domain_scale(inside) * (1.0 - gamma(2 * len(v) + 32)))",
        "self.domain_scale(inside)",
        CLIPS,
    ),
    Mutant(
        "tilt: the shift of a map",
        "convexml/certificates/affine.py",
        "return _product(self.A, x, -self.a)",
        "return _product(self.A, x, 0.0 * self.a)",
        PLANTED,
    ),
    Mutant(
        "repaired: the multipliers of the rows",
        "convexml/certificates/sums.py",
        "problem.conditions(images, before if passed else near, given)",
        "problem.conditions(images, near, given)",
        MOVED,
    ),
    Mutant(
        "repaired: the gap of what was passed, which is no dual point",
        "convexml/certificates/sums.py",
        "problem.excess(images, near)",
        "problem.excess(images, before)",
        MOVED,
    ),
    Mutant(
        "repaired: the better of what was passed and what was repaired",
        "convexml/certificates/learning/gap.py",
        "bound = min(bound, inner.dual_formula(theirs, v))",
        "bound = max(bound, inner.dual_formula(theirs, v))",
        (f"{FAULTS}::test_the_gain_of_a_repaired_dual_point_is_not_credited",),
    ),
]
