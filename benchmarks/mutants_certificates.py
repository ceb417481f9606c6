"""Faults of the certificates: guards left out, scales and floors that are not those of the data."""

from __future__ import annotations

from mutant import Mutant

CERTIFICATES = "convexml/certificates"
FAULTS = "tests/test_certificate_faults.py"

MUTANTS = [
    Mutant(
        "Farkas value: below plus its rounding, not minus",
        f"{CERTIFICATES}/farkas.py",
        "proven = bound.within is None and bool(value < -bound.rounding)",
        "proven = bound.within is None and bool(value < bound.rounding)",
        (f"{FAULTS}::test_a_value_of_0_excludes_nothing",),
    ),
    Mutant(
        "Farkas multipliers: what they leave is taken for rounding",
        f"{CERTIFICATES}/farkas.py",
        "proven = bound.within is None and bool(value < -bound.rounding)",
        "proven = bool(value < -bound.rounding)",
        (f"{FAULTS}::test_what_multipliers_leave_is_no_rounding",),
    ),
    Mutant(
        "scale: a hundredth of the null model",
        f"{CERTIFICATES}/scale.py",
        "NULL_SHARE = 1e-6",
        "NULL_SHARE = 1e-2",
        (f"{FAULTS}::test_an_almost_exact_fit_is_not_measured_by_the_null_model",),
    ),
    Mutant(
        "the gain of a repaired dual point is credited",
        f"{CERTIFICATES}/gap.py",
        "bound = min(bound, inner.dual_formula(theirs, v))",
        "bound = max(bound, inner.dual_formula(theirs, v))",
        (f"{FAULTS}::test_the_gain_of_a_repaired_dual_point_is_not_credited",),
    ),
    Mutant(
        "the gain of a repaired point is credited",
        f"{CERTIFICATES}/gap.py",
        "if plain.value > primal:",
        "if plain.value < primal:",
        (f"{FAULTS}::test_the_gain_of_a_repaired_point_is_not_credited",),
    ),
    Mutant(
        "sphere: half of the radius about one centre",
        f"{CERTIFICATES}/spheres.py",
        "np.sqrt(2.0 * gap)",
        "np.sqrt(0.5 * gap)",
        (f"{FAULTS}::test_spheres_hold_all_that_their_gap_allows",),
    ),
    Mutant(
        "sphere: half of the radius about the midpoint",
        f"{CERTIFICATES}/spheres.py",
        "Sphere(0.5 * (one + other), float(np.sqrt(max(room, 0.0))), weights)",
        "Sphere(0.5 * (one + other), 0.5 * float(np.sqrt(max(room, 0.0))), weights)",
        (f"{FAULTS}::test_spheres_hold_all_that_their_gap_allows",),
    ),
    Mutant(
        "CVXPY problems: the floor is P",
        "convexml/audit/problems.py",
        "        value + offset,\n",
        "        primal,\n",
        (f"{FAULTS}::test_a_bound_of_a_cvxpy_problem_is_not_its_value",),
    ),
]
