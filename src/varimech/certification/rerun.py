"""Recompute a gradient by another method or with other settings; failures are noted with their
reason.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import VarimechError
from ..results.certificate_evidence import DerivativeCheck

if TYPE_CHECKING:
    from ..results.gradient import Gradient

FAILURES = (VarimechError, ArithmeticError, ValueError, RuntimeError)
"""What a run may raise, NumPy and CasADi included, without ending the other methods."""


def rerun(
    gradient: Gradient, method: str, **changes: object
) -> tuple[DerivativeCheck, Gradient | None]:
    """The gradient by a method, with some arguments of `Mechanism.sensitivity` changed.

    Returns:
        What is to be noted, and the gradient itself; None where it failed.
    """
    assert gradient.repeat is not None
    began = time.perf_counter()
    try:
        recomputed = gradient.repeat(method=method, progress=False, **changes)
    except FAILURES as error:
        return DerivativeCheck(method, None, str(error) or repr(error)), None
    last = recomputed.gradient_history[-1]
    if not np.isfinite(last).all():
        return DerivativeCheck(method, None, "it is not finite"), None
    return DerivativeCheck(method, last, "", time.perf_counter() - began), recomputed
