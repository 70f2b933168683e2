"""A gradient once more, by another method or with other settings; what fails is noted with its
reason.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import VarimechError

if TYPE_CHECKING:
    from ..results.gradient import Gradient

FAILURES = (VarimechError, ArithmeticError, ValueError, RuntimeError)
"""What a run may raise, NumPy and CasADi included, without an end to all others."""


@dataclass(frozen=True)
class DerivativeCheck:
    """One way to the gradient, and what it gives: (objective, parameter). Where it gives nothing,
    `refusal` says why.
    """

    name: str
    gradient: np.ndarray | None
    refusal: str = ""
    seconds: float = 0.0


def rerun(
    gradient: Gradient, method: str, **changes: Any
) -> tuple[DerivativeCheck, Gradient | None]:
    """The gradient by a method, with some arguments of `Mechanism.sensitivity` changed."""
    assert gradient.repeat is not None
    began = time.perf_counter()
    try:
        found = gradient.repeat(method=method, progress=False, **changes)
    except FAILURES as error:
        return DerivativeCheck(method, None, str(error) or repr(error)), None
    last = found.gradient_history[-1]
    if not np.isfinite(last).all():
        return DerivativeCheck(method, None, "it is not finite"), None
    return DerivativeCheck(method, last, "", time.perf_counter() - began), found
