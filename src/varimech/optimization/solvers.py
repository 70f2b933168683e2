"""Selection of a solver for a scaled problem: IPOPT, or SciPy's `minimize`."""

from __future__ import annotations

from ..core.errors import ModelError, unknown_name
from ..core.messages import Message
from .ipopt import by_ipopt
from .minimize import BOUNDED, CONSTRAINED, NEWTON, SCIPY, by_scipy
from .scaled import Scaled
from .settings import Ended, OnIteration, Settings

HESSIANS = ("approximate", "exact")


def find_solver(name: str, *, constrained: bool, bounded: bool, exact: bool) -> str:
    """Return the full name of a solver.

    Raises:
        ModelError: if the solver is unknown or does not support the problem.
    """
    known = {s.lower(): s for s in ("ipopt", *SCIPY)} | {
        "scipy": "trust-constr" if exact else "SLSQP"
    }
    if str(name).lower() not in known:
        raise unknown_name("solver", name, ["ipopt", "scipy", *SCIPY])
    solver = known[str(name).lower()]
    problem, remedy = "", Message("")
    if solver in SCIPY and constrained and solver not in CONSTRAINED:
        problem = "supports no constraints (and no peaks)"
        remedy = Message("use 'ipopt', {}", ", ".join(map(repr, CONSTRAINED)))
    elif solver in SCIPY and bounded and solver not in BOUNDED:
        problem = "supports no bounds"
        remedy = Message("use 'ipopt', {}", ", ".join(map(repr, BOUNDED)))
    elif exact and solver not in ("ipopt", "trust-constr", *NEWTON):
        problem = "does not use second derivatives"
        remedy = Message("use 'ipopt' or 'trust-constr', or {hessian}", hessian="approximate")
    elif not exact and solver in NEWTON:
        problem = "needs second derivatives"
        remedy = Message("give {hessian}, or use 'ipopt' or 'BFGS' without them", hessian="exact")
    if problem:
        raise ModelError(problem, field="solver", value=solver, remedy=remedy)
    return solver


def solve(scaled: Scaled, settings: Settings, on_iteration: OnIteration) -> Ended:
    """Solve from the initial point of the scaled problem."""
    return (by_ipopt if settings.solver == "ipopt" else by_scipy)(scaled, settings, on_iteration)
