"""Who solves a scaled problem: IPOPT, or SciPy's `minimize`."""

from __future__ import annotations

from ..core.errors import ModelError, unknown_name
from ..core.messages import Message
from .ipopt import by_ipopt
from .minimize import BOUNDED, CONSTRAINED, NEWTON, SCIPY, by_scipy
from .scaled import Scaled
from .settings import Ended, Settings, Tell

HESSIANS = ("approximate", "exact")


def find_solver(name: str, *, constrained: bool, bounded: bool, exact: bool) -> str:
    """The solver's own name, if it can do what is asked."""
    known = {s.lower(): s for s in ("ipopt", *SCIPY)} | {
        "scipy": "trust-constr" if exact else "SLSQP"
    }
    if str(name).lower() not in known:
        raise unknown_name("solver", name, ["ipopt", "scipy", *SCIPY])
    found = known[str(name).lower()]
    if found in SCIPY and constrained and found not in CONSTRAINED:
        raise ModelError(
            f"solver {found!r} takes no constraints (and no peaks): use 'ipopt',"
            f" {', '.join(map(repr, CONSTRAINED))}"
        )
    if found in SCIPY and bounded and found not in BOUNDED:
        raise ModelError(
            f"solver {found!r} takes no bounds: use 'ipopt', {', '.join(map(repr, BOUNDED))}"
        )
    if exact and found not in ("ipopt", "trust-constr", *NEWTON):
        raise ModelError(
            f"solver {found!r} makes no use of second derivatives",
            remedy=Message("use 'ipopt' or 'trust-constr', or {hessian}", hessian="approximate"),
        )
    if not exact and found in NEWTON:
        raise ModelError(
            f"solver {found!r} needs second derivatives",
            remedy=Message(
                "give {hessian}, or use 'ipopt' or 'BFGS' without them", hessian="exact"
            ),
        )
    return found


def solve(scaled: Scaled, settings: Settings, tell: Tell) -> Ended:
    """Solve from the start of the scaled problem."""
    return (by_ipopt if settings.solver == "ipopt" else by_scipy)(scaled, settings, tell)
