"""SciPy's `minimize` with any of its methods: supported arguments and stopping criteria."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from .scaled import Scaled
from .settings import MEMORY, Ended, OnIteration, Settings

NEWTON = ("Newton-CG", "dogleg", "trust-ncg", "trust-krylov", "trust-exact")
CONSTRAINED = ("SLSQP", "trust-constr", "COBYLA", "COBYQA")
DERIVATIVE_FREE = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
BOUNDED = ("Nelder-Mead", "L-BFGS-B", "TNC", "Powell", *CONSTRAINED)
SCIPY = ("CG", "BFGS", *NEWTON, *BOUNDED)


def by_scipy(scaled: Scaled, settings: Settings, on_iteration: OnIteration) -> Ended:
    """Solve from the initial point of the scaled problem."""
    from scipy.optimize import Bounds, NonlinearConstraint, minimize

    last, worst = scaled.z0, -np.inf

    def value(z: np.ndarray) -> float:
        """Objective; if the run fails, a value worse than all previous ones, so that line searches
        step back.
        """
        nonlocal last, worst
        if not scaled.works(z):
            return worst + 10.0 + abs(worst)
        last, objective = np.array(z), scaled.objective(z)
        worst = max(worst, objective)
        return objective

    def near(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
        return lambda z: function(z if scaled.works(z) else last)

    name = settings.solver
    arguments: dict[str, object] = {"options": _options(scaled, settings)}
    if name not in DERIVATIVE_FREE:
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
        warnings.simplefilter("ignore")  # solvers report their limits in the message
        solution = minimize(
            value,
            scaled.z0,
            method=name,
            callback=lambda z, *_: on_iteration(np.array(z)),
            **arguments,
        )
    iterations = int(solution.get("nit", 0))
    return Ended(
        np.asarray(solution.x, dtype=float),
        str(solution.message),
        iterations,
        iterations >= settings.max_iterations,
    )


def _options(scaled: Scaled, settings: Settings) -> dict[str, object]:
    """Stopping criteria of a method by its option names."""
    name, tight = settings.solver, settings.tolerance
    if name == "TNC":  # TNC limits runs, not iterations: 20 for each iteration, a round value
        return {"maxfun": 20 * settings.max_iterations, "ftol": 0.0, "gtol": tight, "xtol": 0.0}
    inequalities = bool(
        (scaled.row_lower < scaled.row_upper).any()
        or np.isfinite([scaled.lower, scaled.upper]).any()
    )
    own = {
        # near a minimum the objective changes with the square of the gradient
        "SLSQP": {"ftol": min(1e-15, tight**2)},
        "L-BFGS-B": {"ftol": 0.0, "gtol": tight, "maxcor": MEMORY},
        # with inequalities, the gradient vanishes long before the barrier term, so only short
        # steps may end the search
        "trust-constr": {
            "gtol": 0.0 if inequalities else tight,
            "xtol": 1e-10,
            "barrier_tol": tight,
        },
    }
    otherwise = {"gtol": tight} if name in ("BFGS", "CG", *NEWTON) and name != "Newton-CG" else {}
    return {"maxiter": settings.max_iterations, **own.get(name, otherwise)}
