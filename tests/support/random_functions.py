"""Explicit functions of random parameters as objectives of a mechanism with a trivial motion: their
statistics are known in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import varimech as vm
from varimech.robust.evaluator import StatisticsEvaluator
from varimech.robust.random_design import random_design

OPTIONS: Any = {"duration": 0.01, "step": 0.01}


def carrier(parameters: Mapping[str, tuple[float, Any]]) -> vm.Mechanism:
    """A pendulum that does not depend on its parameters, name → (value, distribution)."""
    m = vm.Mechanism("carrier", gravity=(0, -9.81))
    for name, (value, distribution) in parameters.items():
        m.parameter(name, value, distribution=distribution)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=1.0, mass=1.0)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    return m


def function_of(expression: str) -> vm.Objective:
    """An objective from an expression of parameters."""
    return vm.final(expression)


def evaluator(
    m: vm.Mechanism,
    quantities: Mapping[str, Any],
    *,
    nominals: Sequence[str],
    widths: Sequence[str] = (),
    correlation: Any = None,
    method: str = "moments",
) -> StatisticsEvaluator:
    """An evaluator of quantities of a carrier."""
    s = m.problem(list(_plain(quantities)), **OPTIONS)._simulation
    design = random_design(
        s, None, correlation, nominals=nominals, widths=widths, with_correlations=True
    )
    return StatisticsEvaluator(s, design, quantities, method=method)


def _plain(quantities: Mapping[str, Any]) -> list[vm.Objective]:
    return [q for q in quantities.values() if isinstance(q, vm.Objective)]


def differences(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, step: float) -> np.ndarray:
    """Central differences of order 4, (value, variable)."""
    columns = []
    for e in np.eye(x.size):
        h = step * e
        columns.append((8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * step))
    return np.array(columns).T
