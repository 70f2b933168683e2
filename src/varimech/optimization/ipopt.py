"""IPOPT through CasADi: a scaled problem as CasADi functions that call Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..core.interrupts import DeferredInterrupt, deferred_interrupts
from .scaled import Scaled
from .settings import MEMORY, Ended, OnIteration, Settings

WARM = {
    "mu_strategy": "monotone",
    "mu_init": 1e-7,
    **{
        f"{kind}_{option}": 1e-9 for kind in ("bound", "slack_bound") for option in ("push", "frac")
    },
}
"""IPOPT options for initial points close to the optimum and thus close to bounds, from which IPOPT
would otherwise move away.
"""
QUIET = {"no_nlp_grad": True, "print_time": False, "show_eval_warnings": False}
Shapes = dict[str, tuple[int, int]]


class _Raised:
    """Stores the first exception of a function that IPOPT calls; CasADi would print it and
    continue.

    It is raised after IPOPT has ended, which is soon, because nothing is computed after the
    exception. Ctrl-C is allowed within these functions.
    """

    def __init__(self, held: DeferredInterrupt):
        self.first: BaseException | None = None
        self._held = held

    def call(self, function: Callable[[], list[object]]) -> list[object] | None:
        """Return the result of a function; None if it raises, or if another function has raised
        before.
        """
        if self.first is None:
            try:
                with self._held.allowed():
                    return function()
            except BaseException as error:
                self.first = error
        return None


class _Plain(ca.Callback):
    """A Python function of vectors as a CasADi function; it returns `otherwise` if it raises."""

    def __init__(
        self,
        name: str,
        function: Callable[..., list[object]],
        inputs: Shapes,
        outputs: Shapes,
        raised: _Raised,
        otherwise: float = np.nan,
    ):
        ca.Callback.__init__(self)
        self._function, self._in, self._out = function, list(inputs.items()), list(outputs.items())
        self._raised, self._otherwise = raised, otherwise
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._in)

    def get_n_out(self) -> int:
        return len(self._out)

    def get_name_in(self, i: int) -> str:
        return self._in[i][0]

    def get_name_out(self, i: int) -> str:
        return self._out[i][0]

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(*self._in[i][1])

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        shape = self._out[i][1]
        return (
            ca.Sparsity.upper(shape[0])
            if self._out[i][0].startswith("triu")
            else ca.Sparsity.dense(*shape)
        )

    def eval(self, arguments: Sequence[ca.DM]) -> list[ca.DM]:
        results = self._raised.call(lambda: self._function(*[np.array(a) for a in arguments]))
        if results is None:
            results = [np.full(shape, self._otherwise) for _, shape in self._out]
        shapes = [shape for _, shape in self._out]
        dense = [
            ca.DM(np.asarray(v, dtype=float).reshape(s))
            for v, s in zip(results, shapes, strict=True)
        ]
        return [
            ca.triu(d) if name.startswith("triu") else d
            for d, (name, _) in zip(dense, self._out, strict=True)
        ]


def by_ipopt(scaled: Scaled, settings: Settings, on_iteration: OnIteration) -> Ended:
    """Solve from the initial point of the scaled problem."""
    with deferred_interrupts() as held:
        raised = _Raised(held)
        problem, callbacks = _functions(scaled, settings, on_iteration, raised)
        solver = ca.nlpsol(
            "design", "ipopt", problem, {**callbacks, **QUIET, "ipopt": _options(settings)}
        )
        bounds = {
            "lbx": scaled.lower,
            "ubx": scaled.upper,
            "lbg": scaled.row_lower,
            "ubg": scaled.row_upper,
        }
        solution, stats = solver(x0=scaled.z0, **bounds), solver.stats()
        if raised.first is not None:
            raise raised.first
    z, status = np.array(solution["x"]).ravel(), str(stats["return_status"])
    return Ended(
        z, status.replace("_", " "), int(stats["iter_count"]), "Maximum_Iterations" in status
    )


def _functions(
    scaled: Scaled, settings: Settings, on_iteration: OnIteration, raised: _Raised
) -> tuple[_Plain, dict[str, _Plain]]:
    """Problem function, and the other functions by IPOPT option; CasADi does not keep references to
    them.
    """
    n, m = scaled.z0.size, scaled.row_lower.size
    inputs, one, rows = {"x": (n, 1), "p": (0, 1)}, (1, 1), (m, 1)

    def flat(function: Callable[[np.ndarray], object]) -> Callable[[np.ndarray], object]:
        """NaN makes IPOPT step back; it would accept infinite numbers."""
        return lambda z: (
            np.asarray(function(z.ravel())) + (0.0 if scaled.works(z.ravel()) else np.nan)
        )

    def hessian(z: np.ndarray, _: np.ndarray, σ: np.ndarray, λ: np.ndarray) -> list[object]:
        return [scaled.hessian(z.ravel(), float(σ.item()), λ.ravel())]

    def iterated(z: np.ndarray, *rest: np.ndarray) -> list[object]:
        on_iteration(z.ravel())
        return [0.0]

    f, g = flat(scaled.objective), flat(scaled.constraints)
    df, dg = flat(scaled.gradient), flat(scaled.jacobian)
    shapes = {"x": (n, 1), "f": one, "g": rows, "lam_x": (n, 1), "lam_g": rows, "lam_p": (0, 1)}
    after = {ca.nlpsol_out(k): shapes[ca.nlpsol_out(k)] for k in range(ca.nlpsol_n_out())}
    callbacks = {
        "grad_f": _Plain(
            "nlp_grad_f", lambda z, p: [f(z), df(z)], inputs, {"f": one, "grad_f_x": (n, 1)}, raised
        ),
        "jac_g": _Plain(
            "nlp_jac_g", lambda z, p: [g(z), dg(z)], inputs, {"g": rows, "jac_g_x": (m, n)}, raised
        ),
        "iteration_callback": _Plain(
            "iterated", iterated, after, {"stop": one}, raised, otherwise=1.0
        ),
    }
    if settings.exact:
        weighted = {**inputs, "lam_f": one, "lam_g": rows}
        callbacks["hess_lag"] = _Plain(
            "nlp_hess_l", hessian, weighted, {"triu_hess_gamma_x_x": (n, n)}, raised
        )
    return _Plain(
        "nlp", lambda z, p: [f(z), g(z)], inputs, {"f": one, "g": rows}, raised
    ), callbacks


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "print_level": 0,
        "sb": "yes",
        "tol": settings.tolerance,
        # for scaled constraints: well below `FEASIBLE`
        "constr_viol_tol": min(1e-8, settings.tolerance),
        "compl_inf_tol": settings.tolerance,
        "acceptable_iter": 0,
        "max_iter": settings.max_iterations,
        "mu_strategy": "adaptive",
        "nlp_scaling_method": "none",
        "bound_relax_factor": 0.0,
        "hessian_approximation": "exact" if settings.exact else "limited-memory",
        "limited_memory_max_history": MEMORY,
        **(WARM if settings.warm else {}),
    }
