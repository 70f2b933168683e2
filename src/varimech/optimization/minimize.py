"""SciPy's `minimize` by any of its methods: what each takes, and how it is told to stop."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .scaled import Scaled
from .settings import MEMORY, Ended, Settings, Tell

NEWTON = ("Newton-CG", "dogleg", "trust-ncg", "trust-krylov", "trust-exact")
CONSTRAINED = ("SLSQP", "trust-constr", "COBYLA", "COBYQA")
WITHOUT_SLOPES = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
BOUNDED = ("Nelder-Mead", "L-BFGS-B", "TNC", "Powell", *CONSTRAINED)
SCIPY = ("CG", "BFGS", *NEWTON, *BOUNDED)


def by_scipy(scaled: Scaled, settings: Settings, tell: Tell) -> Ended:
    """Solve from the start of the scaled problem."""
    from scipy.optimize import Bounds, NonlinearConstraint, minimize

    last, worst = scaled.z0, -np.inf

    def value(z: np.ndarray) -> float:
        """Where runs fail, a value worse than all seen, so that any line search turns back."""
        nonlocal last, worst
        if not scaled.works(z):
            return worst + 10.0 + abs(worst)
        last, found = np.array(z), scaled.objective(z)
        worst = max(worst, found)
        return found

    def near(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
        return lambda z: function(z if scaled.works(z) else last)

    name = settings.solver
    arguments: dict[str, Any] = {"options": _options(scaled, settings)}
    if name not in WITHOUT_SLOPES:
        arguments["jac"] = near(scaled.gradient)
    if settings.exact and name in (*NEWTON, "trust-constr"):
        arguments["hess"] = near(lambda z: scaled.hessian(z, 1.0, np.zeros(0)))
    if name in BOUNDED:
        arguments["bounds"] = Bounds(scaled.lower, scaled.upper)
    if scaled.row_lower.size:
        second = (
            {"hess": lambda z, λ: scaled.hessian(z, 0.0, λ)}
            if settings.exact and name == "trust-constr"
            else {}
        )
        rows = near(scaled.constraints), scaled.row_lower, scaled.row_upper
        arguments["constraints"] = NonlinearConstraint(*rows, jac=near(scaled.jacobian), **second)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a solver that meets its limits says so in its message
        found = minimize(
            value, scaled.z0, method=name, callback=lambda z, *_: tell(np.array(z)), **arguments
        )
    iterations = int(found.get("nit", 0))
    return Ended(
        np.asarray(found.x, dtype=float),
        str(found.message),
        iterations,
        iterations >= settings.max_iterations,
    )


def _options(scaled: Scaled, settings: Settings) -> dict[str, Any]:
    """When a method is to stop, in its own words."""
    name, tight = settings.solver, settings.tolerance
    if name == "TNC":
        return {"maxfun": 20 * settings.max_iterations, "ftol": 0.0, "gtol": tight, "xtol": 0.0}
    inequalities = bool(
        (scaled.row_lower < scaled.row_upper).any()
        or np.isfinite([scaled.lower, scaled.upper]).any()
    )
    own = {
        "SLSQP": {"ftol": min(1e-15, tight**2)},
        "L-BFGS-B": {"ftol": 0.0, "gtol": tight, "maxcor": MEMORY},
        # with inequalities its gradient vanishes long before its barrier does, so that only short
        # steps may end it
        "trust-constr": {
            "gtol": 0.0 if inequalities else tight,
            "xtol": 1e-10,
            "barrier_tol": tight,
        },
    }
    otherwise = {"gtol": tight} if name in ("BFGS", "CG", *NEWTON) and name != "Newton-CG" else {}
    return {"maxiter": settings.max_iterations, **own.get(name, otherwise)}
