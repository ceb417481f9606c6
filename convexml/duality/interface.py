"""What is asked of CVXPY beyond its documented interface; a new release may move any of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

from ..modelling import cp
from ..numerics import Array
from ..problem.cones import ConePoint


def stored(leaf: Any) -> Any:
    """The value of a variable as it is stored: asked for it openly, CVXPY may copy it."""
    return leaf._value


def store(leaf: Any, value: Any) -> None:
    """Let a variable have a value that CVXPY neither checks nor projects."""
    leaf._value = value


def record(problem: Any, value: float, status: str, solver: str = "", **stats: Any) -> None:
    """What a problem shows of its solution: value, status, variables, duals; who took how long."""
    from cvxpy.problems.problem import SolverStats
    from cvxpy.reductions.solution import Solution

    primal = {variable.id: variable._value for variable in problem.variables()}
    dual = {constraint.id: constraint.dual_value for constraint in problem.constraints}
    problem._value, problem._status = value, status
    problem._solution = Solution(status, value, primal, dual, stats)
    problem._solver_stats = SolverStats(solver, **stats)


def is_atom(node: Any) -> bool:
    """Whether a part of an expression is an atom: no variable, parameter or constant."""
    return hasattr(node, "_domain")


def domain_of(atom: Any) -> list[Any]:
    """The constraints of an atom's domain, without those of its arguments."""
    return list(atom._domain())


def mixes_cones(perspective: Any) -> bool:
    """Whether CVXPY's cones of a perspective are not those of its expression.

    It takes second-order cones that the expression stacks, as sums of powers do, for a single one.
    """
    f = perspective.f
    alone = cp.Problem(cp.Minimize(f) if f.is_convex() else cp.Maximize(f))
    data = alone.get_problem_data("CLARABEL", solver_opts={"use_quad_obj": False})[0]
    cones = [each for each in data["param_prob"].constraints if isinstance(each, cp.SOC)]
    return any(each.num_cones() > 1 for each in cones)


def taken_for_another(atoms: list[Any]) -> Any:
    """One of several different atoms that CVXPY compiles as another one of them; or None.

    It tells them by their class and arguments: functions that they have beside have no say.
    """
    from cvxpy.reductions.subexpr_cache import StructuralKeyCache, UncacheableError, expr_key

    keys, met = StructuralKeyCache(), dict[Any, Any]()
    for atom in atoms:
        try:
            f = getattr(atom, "f", None)
            own = id(getattr(atom, "_parent", None)) if f is None else expr_key(f, keys)
            other = met.setdefault(expr_key(atom, keys), own)
        except UncacheableError:
            continue
        if own != other:
            return atom
    return None


def slopes_of(atom: Any, values: list[Array]) -> list[Any]:
    """Its transposed Jacobians in each argument at these values; None where it has none."""
    return list(atom._grad(values))


def reduced_value(variable: Any, value: Array) -> Array:
    """The entries of a value that the attributes leave free, column by column."""
    from cvxpy.reductions.cvx_attr2constr import lower_value

    value = value.reshape(variable.shape)
    if variable._has_dim_reducing_attr:
        value = np.asarray(lower_value(variable, value))
    return value.ravel(order="F")


def full_value(variable: Any, entries: Array) -> Any:
    """The value with these free entries."""
    from cvxpy.reductions.cvx_attr2constr import recover_value_for_leaf

    cut = variable._has_dim_reducing_attr
    shaped = entries if cut else entries.reshape(variable.shape, order="F")
    return recover_value_for_leaf(variable, shaped, project=False) if cut else shaped


@dataclass(frozen=True)
class Compiled:
    """A problem as CVXPY hands it to a solver: ``data`` is for the solver's interface."""

    problem: Any
    data: dict[str, Any]
    _chain: Any
    _inverse: Any

    @property
    def interface(self) -> Any:
        """CVXPY's interface to the solver."""
        return self._chain.solver

    @property
    def plain(self) -> dict[str, Any]:
        """The data that another process can be sent."""
        return {key: each for key, each in self.data.items() if key != "param_prob"}

    @property
    def offset(self) -> float:
        """The constant of the objective."""
        return float(np.sum(self._inverse[-1]["offset"]))

    @property
    def columns(self) -> dict[int, int]:
        """The first entry of x that belongs to a variable (by id) of CVXPY's last problem."""
        return dict(self.data["param_prob"].var_id_to_col)

    @property
    def reductions(self) -> tuple[tuple[Any, Any], ...]:
        """(reduction, its inverse data) in order."""
        return tuple(zip(self._chain.reductions, self._inverse, strict=True))

    def run(self, settings: Mapping[str, Any]) -> Any:
        """What the solver answers."""
        return self._chain.solve_via_data(self.problem, self.data, False, False, dict(settings))

    def fill(self, answer: Any) -> None:
        """Let the problem's variables and constraints have the values of an answer."""
        self.problem.unpack_results(answer, self._chain, self._inverse)

    def recover(self, x: Array, s: Array, y: Array) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """({variable: value}, {constraint: dual value}) of a point of Clarabel's form."""
        empty = {"obj_val": 0.0, "solve_time": 0.0, "iterations": 0}
        raw = SimpleNamespace(status="Solved", x=x, z=y, s=s, **empty)
        solution = self._chain.invert(raw, self._inverse)
        values = {v: solution.primal_vars.get(v.id) for v in self.problem.variables()}
        duals = {c: solution.dual_vars.get(c.id) for c in self.problem.constraints}
        return values, duals


def compiled(problem: Any, solver: str) -> Compiled:
    """Compile a problem for a solver, or take what CVXPY compiled when it chose this one itself."""
    name, kept = solver.upper(), problem._cache
    own = kept.key == (None, False, False, None) and kept.solving_chain.solver.name() == name
    return Compiled(problem, *problem.get_problem_data(None if own else name, solver_opts={}))


def last_answer(problem: Any) -> ConePoint | None:
    """Clarabel's last answer, of which CVXPY passes on a part only; None where none is kept."""
    solver = problem._solver_cache.get("CLARABEL")
    found = solver.get_solution() if hasattr(solver, "get_solution") else None
    parts = (found.x, found.s, found.z) if found is not None else ()
    return ConePoint(*(np.array(part, float) for part in parts)) if parts else None


def real_and_imaginary(reductions: tuple[tuple[Any, Any], ...], variable: Any) -> Any:
    """The pair of real variables, either may be None, that stands for a complex one; or None."""
    methods = [getattr(reduction, "canon_methods", None) for reduction, _ in reductions]
    pairs = [getattr(each, "_variables", None) or {} for each in methods]
    return next((each[variable] for each in pairs if variable in each), None)


def renamed(reductions: tuple[tuple[Any, Any], ...], identity: int) -> int:
    """The id of a variable after attributes have become constraints."""
    for reduction, inverse in reductions:
        if type(reduction).__name__ == "CvxAttr2Constr" and inverse:
            new = inverse[0].get(identity)
            identity = identity if new is None else new.id
    return identity


def affine_parts(problem: Any, reductions: Any) -> tuple[Any, list[Any], dict[int, int]]:
    """What coefficients are read off: objective, constraints in order; each variable's first."""
    for reduction, _ in reductions[:-1]:
        twin = copy(reduction)  # it remembers what it makes, which CVXPY keeps for later values
        twin.__dict__.update({name: copy(value) for name, value in vars(reduction).items()})
        last, problem = problem, twin.apply(problem)[0]
    return last.objective.expr, list(problem.constraints), dict(problem.var_id_to_col)


def evaluated(problem: Any) -> Any:
    """The problem with constants instead of parameters."""
    from cvxpy.reductions.eval_params import EvalParams

    return EvalParams().apply(problem)[0]


def minimised(problem: Any) -> Any:
    """Minimise -f instead of maximising f, and the other way round."""
    from cvxpy.reductions.flip_objective import FlipObjective

    return FlipObjective().apply(problem)[0]


def real_parts(problem: Any) -> tuple[Any, dict[int, int], dict[Any, tuple[Any, Any]]] | None:
    """In real numbers, {id of a constraint: its imaginary one}, {variable: both parts}; or None."""
    from cvxpy.reductions.complex2real.complex2real import Complex2Real, accepts

    if not accepts(problem):
        return None
    reduction = Complex2Real()
    real, inverse = reduction.apply(problem)
    canonical: Any = reduction.canon_methods
    return real, dict(inverse.real2imag), dict(canonical._variables)


def in_cones(
    problem: Any,
    heads: Mapping[Any, Callable[[Callable[..., Any]], Callable[..., Any]]],
    squares: Mapping[Any, Callable[..., Any]],
) -> tuple[Any, dict[int, int]]:
    """A minimisation with affine arguments of cones, and {id of a constraint: its successor's}.

    By atom class, ``heads`` changes CVXPY's canonicalizer, ``squares`` that of the objective.
    """
    from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone

    reduction = Dcp2Cone(quad_obj=True)
    standard = reduction.cone_canon_methods
    own = {atom: make(standard[atom]) for atom, make in heads.items()}
    reduction.cone_canon_methods = {**standard, **own}
    reduction.quad_canon_methods = {**reduction.quad_canon_methods, **squares}
    posed, inverse = reduction.apply(problem)
    return posed, dict(inverse.cons_id_map)


def quadratic_factor(P: Any) -> Any:
    """F with F'F = P; None for what is not positive semidefinite, or is 0."""
    from cvxpy.atoms.quad_form import decomp_quad

    scale, positive, negative = decomp_quad(P)
    return None if negative.size or not positive.size else np.sqrt(scale) * positive.T


def symbolic_square(variable: Any) -> Any:
    """The squares of a variable's entries, as they stand in a canonical objective."""
    from cvxpy.atoms.quad_form import SymbolicQuadForm

    return SymbolicQuadForm(variable, sparse.eye_array(variable.size), cp.square(variable))


class Coefficients:
    """Reads coefficients in stacked variables: ``starts`` has the first entry of each, by id."""

    def __init__(self, variables: list[Any], constraints: list[Any]) -> None:
        from cvxpy.reductions.inverse_data import InverseData
        from cvxpy.utilities.coeff_extractor import CoeffExtractor

        asked = {"variables": lambda: variables, "parameters": lambda: []}
        inverse = InverseData(SimpleNamespace(constraints=constraints, **asked))
        self.starts: dict[int, int] = dict(inverse.var_offsets)
        self.size = int(inverse.x_length)
        self._extractor = CoeffExtractor(inverse, "SCIPY")

    def affine(self, expression: Any) -> tuple[Any, Array]:
        """A and b of vec(expression) = A x + b."""
        return self._read(self._extractor.affine(expression))

    def quadratic(self, expression: Any) -> tuple[Any, Array, float]:
        """P, q and c of a canonical objective x'Px + q'x + c."""
        P_tensor, q_tensor = self._extractor.quad_form(expression.copy())
        q, offset = self._read(q_tensor)
        entries, n = sparse.coo_array(P_tensor), self.size
        P = sparse.csr_array((entries.data, (entries.row % n, entries.row // n)), shape=(n, n))
        return P, np.asarray(q.toarray()).ravel(), float(offset[0])

    def _read(self, tensor: Any) -> tuple[Any, Array]:
        from cvxpy.cvxcore.python.canonInterface import get_matrix_from_tensor

        matrix, constant = get_matrix_from_tensor(tensor, None, self.size, with_offset=True)
        return sparse.csc_array(matrix), np.ravel(constant)
