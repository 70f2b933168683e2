"""Who solves a scaled problem: IPOPT through CasADi, or SciPy's `minimize`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..errors import ModelError, unknown_name
from ..interrupts import HeldBack, held_back
from .scaled import Scaled

NEWTON = ("Newton-CG", "dogleg", "trust-ncg", "trust-krylov", "trust-exact")
CONSTRAINED = ("SLSQP", "trust-constr", "COBYLA", "COBYQA")
WITHOUT_SLOPES = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
BOUNDED = ("Nelder-Mead", "L-BFGS-B", "TNC", "Powell", *CONSTRAINED)
SCIPY = ("CG", "BFGS", *NEWTON, *BOUNDED)
HESSIANS = ("approximate", "exact")
WARM = {
    "mu_strategy": "monotone",
    "mu_init": 1e-7,
    **{f"{kind}_{how}": 1e-9 for kind in ("bound", "slack_bound") for how in ("push", "frac")},
}
"""Options of IPOPT for starts close to the optimum, and so close to bounds, from which it would go away at first."""
MEMORY = 30
"""Pairs of steps and changes of the gradient that IPOPT's approximate second derivatives are made of."""


@dataclass(frozen=True)
class Settings:
    """Which solver, and when it is to stop."""

    solver: str
    exact: bool
    """Whether second derivatives are asked of the evaluator."""
    max_iterations: int
    tolerance: float
    warm: bool = False
    """Whether the start is nearly the optimum."""


@dataclass(frozen=True, eq=False)
class Ended:
    """Where a solver ended, and what it says about that."""

    z: np.ndarray
    message: str
    iterations: int
    exhausted: bool
    """Whether it ran out of iterations."""


Tell = Callable[[np.ndarray], None]
"""Called with z after each iteration."""


def find_solver(name: str, *, constrained: bool, bounded: bool, exact: bool) -> str:
    """The solver's own name, if it can do what is asked."""
    known = {s.lower(): s for s in ("ipopt", *SCIPY)} | {"scipy": "trust-constr" if exact else "SLSQP"}
    if str(name).lower() not in known:
        raise unknown_name("solver", name, ["ipopt", "scipy", *SCIPY])
    found = known[str(name).lower()]
    if found in SCIPY and constrained and found not in CONSTRAINED:
        raise ModelError(
            f"solver {found!r} takes no constraints (and no peaks): use 'ipopt', {', '.join(map(repr, CONSTRAINED))}"
        )
    if found in SCIPY and bounded and found not in BOUNDED:
        raise ModelError(f"solver {found!r} takes no bounds: use 'ipopt', {', '.join(map(repr, BOUNDED))}")
    if exact and found not in ("ipopt", "trust-constr", *NEWTON):
        raise ModelError(
            f"solver {found!r} makes no use of second derivatives: use 'ipopt' or 'trust-constr', or hessian='approximate'"
        )
    if not exact and found in NEWTON:
        raise ModelError(
            f"solver {found!r} needs second derivatives: give hessian='exact', or use 'ipopt' or 'BFGS' without them"
        )
    return found


def solve(scaled: Scaled, settings: Settings, tell: Tell) -> Ended:
    """Solve from the start of the scaled problem."""
    return (_ipopt if settings.solver == "ipopt" else _scipy)(scaled, settings, tell)


Shapes = dict[str, tuple[int, int]]


class _Raised:
    """What functions that IPOPT calls have raised: CasADi would print it and go on. It is raised when IPOPT has ended, which it soon does,
    because from then on nothing is computed any more. Ctrl-C comes where one of them is at work."""

    def __init__(self, held: HeldBack):
        self.first: BaseException | None = None
        self._held = held

    def call(self, function: Callable[[], list[Any]]) -> list[Any] | None:
        """What a function gives; None where it raises, or another did before."""
        if self.first is None:
            try:
                with self._held.let_through():
                    return function()
            except BaseException as error:
                self.first = error
        return None


class _Plain(ca.Callback):
    """A Python function of vectors as a CasADi function; where it raises, it gives `otherwise`."""

    def __init__(
        self,
        name: str,
        function: Callable[..., list[Any]],
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
        return ca.Sparsity.upper(shape[0]) if self._out[i][0].startswith("triu") else ca.Sparsity.dense(*shape)

    def eval(self, arguments: Sequence[ca.DM]) -> list[ca.DM]:
        found = self._raised.call(lambda: self._function(*[np.array(a) for a in arguments]))
        if found is None:
            found = [np.full(shape, self._otherwise) for _, shape in self._out]
        shapes = [shape for _, shape in self._out]
        dense = [ca.DM(np.asarray(v, dtype=float).reshape(s)) for v, s in zip(found, shapes, strict=True)]
        return [ca.triu(d) if name.startswith("triu") else d for d, (name, _) in zip(dense, self._out, strict=True)]


def _ipopt(scaled: Scaled, settings: Settings, tell: Tell) -> Ended:
    with held_back() as held:
        return _by_ipopt(scaled, settings, tell, _Raised(held))


def _by_ipopt(scaled: Scaled, settings: Settings, tell: Tell, raised: _Raised) -> Ended:
    n, m = scaled.z0.size, scaled.row_lower.size
    inputs, one, rows = {"x": (n, 1), "p": (0, 1)}, (1, 1), (m, 1)

    def flat(function: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
        """IPOPT takes a step back where it meets NaN; infinite numbers it would believe."""
        return lambda z: np.asarray(function(z.ravel())) + (0.0 if scaled.works(z.ravel()) else np.nan)

    f, g = flat(scaled.objective), flat(scaled.constraints)
    df, dg = flat(scaled.gradient), flat(scaled.jacobian)
    problem = _Plain("nlp", lambda z, p: [f(z), g(z)], inputs, {"f": one, "g": rows}, raised)
    kept: list[Any] = [
        _Plain("nlp_grad_f", lambda z, p: [f(z), df(z)], inputs, {"f": one, "grad_f_x": (n, 1)}, raised),
        _Plain("nlp_jac_g", lambda z, p: [g(z), dg(z)], inputs, {"g": rows, "jac_g_x": (m, n)}, raised),
    ]
    options: dict[str, Any] = {
        "grad_f": kept[0],
        "jac_g": kept[1],
        "no_nlp_grad": True,
        "print_time": False,
        "show_eval_warnings": False,
    }
    if settings.exact:
        weighted = {**inputs, "lam_f": one, "lam_g": rows}
        both = lambda z, p, σ, λ: [scaled.hessian(z.ravel(), float(σ.item()), λ.ravel())]  # noqa: E731
        kept.append(_Plain("nlp_hess_l", both, weighted, {"triu_hess_gamma_x_x": (n, n)}, raised))
        options["hess_lag"] = kept[-1]
    shapes = {"x": (n, 1), "f": one, "g": rows, "lam_x": (n, 1), "lam_g": rows, "lam_p": (0, 1)}
    after = {ca.nlpsol_out(k): shapes[ca.nlpsol_out(k)] for k in range(ca.nlpsol_n_out())}

    def iterated(z: np.ndarray, *rest: np.ndarray) -> list[Any]:
        tell(z.ravel())
        return [0.0]

    kept.append(_Plain("iterated", iterated, after, {"stop": one}, raised, otherwise=1.0))
    options["iteration_callback"] = kept[-1]
    options["ipopt"] = {
        "print_level": 0,
        "sb": "yes",
        "tol": settings.tolerance,
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
    solver = ca.nlpsol("design", "ipopt", problem, options)
    bounds = {"lbx": scaled.lower, "ubx": scaled.upper, "lbg": scaled.row_lower, "ubg": scaled.row_upper}
    found, stats = solver(x0=scaled.z0, **bounds), solver.stats()
    if raised.first is not None:
        raise raised.first
    status = str(stats["return_status"])
    return Ended(np.array(found["x"]).ravel(), status.replace("_", " "), int(stats["iter_count"]), "Maximum_Iterations" in status)


def _scipy(scaled: Scaled, settings: Settings, tell: Tell) -> Ended:
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

    name, tight = settings.solver, settings.tolerance
    options: dict[str, Any] = {"maxiter": settings.max_iterations}
    inequalities = bool((scaled.row_lower < scaled.row_upper).any() or np.isfinite([scaled.lower, scaled.upper]).any())
    options |= {
        "SLSQP": {"ftol": min(1e-15, tight**2)},
        "L-BFGS-B": {"ftol": 0.0, "gtol": tight, "maxcor": MEMORY},
        "TNC": {"ftol": 0.0, "gtol": tight, "xtol": 0.0},
        # with inequalities its gradient vanishes long before its barrier does, so that only short steps may end it
        "trust-constr": {"gtol": 0.0 if inequalities else tight, "xtol": 1e-10, "barrier_tol": tight},
    }.get(name, {"gtol": tight} if name in ("BFGS", "CG", *NEWTON) and name != "Newton-CG" else {})
    if name == "TNC":
        options["maxfun"] = 20 * options.pop("maxiter")
    arguments: dict[str, Any] = {"options": options}
    if name not in WITHOUT_SLOPES:
        arguments["jac"] = near(scaled.gradient)
    if settings.exact and name in (*NEWTON, "trust-constr"):
        arguments["hess"] = near(lambda z: scaled.hessian(z, 1.0, np.zeros(0)))
    if name in BOUNDED:
        arguments["bounds"] = Bounds(scaled.lower, scaled.upper)
    if scaled.row_lower.size:
        second = {"hess": lambda z, λ: scaled.hessian(z, 0.0, λ)} if settings.exact and name == "trust-constr" else {}
        rows = near(scaled.constraints), scaled.row_lower, scaled.row_upper
        arguments["constraints"] = NonlinearConstraint(*rows, jac=near(scaled.jacobian), **second)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a solver that meets its limits says so in its message
        found = minimize(value, scaled.z0, method=name, callback=lambda z, *_: tell(np.array(z)), **arguments)
    iterations = int(found.get("nit", 0))
    return Ended(np.asarray(found.x, dtype=float), str(found.message), iterations, iterations >= settings.max_iterations)
