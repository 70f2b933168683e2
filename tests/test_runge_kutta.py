"""Coefficients of explicit schemes: every condition of their orders (Butcher's rooted trees), and
the steps that vibrations allow.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from varimech.integrators.dop853 import DOP853
from varimech.integrators.dopri5 import DOPRI5
from varimech.integrators.registry import INTEGRATORS
from varimech.integrators.rk4 import RK4
from varimech.integrators.runge_kutta import RungeKutta

Tree = tuple["Tree", ...]
"""A rooted tree: what hangs on its root."""
EXPLICIT = [i.coefficients for i in INTEGRATORS.values() if i.coefficients is not None]
SCHEMES = pytest.mark.parametrize("scheme", EXPLICIT, ids=lambda scheme: scheme.name)
DENSE_ORDER = {"dopri5": 4, "dop853": 7}
ERROR_ORDERS = {"dopri5": (4,), "dop853": (5, 3)}
"""Orders of the solutions that errors are estimated by."""


@cache
def forests(nodes: int) -> frozenset[Tree]:
    """All ways to hang so many nodes on one root."""
    if nodes == 0:
        return frozenset([()])
    return frozenset(
        tuple(sorted((*others, tree)))
        for size in range(1, nodes + 1)
        for tree in forests(size - 1)
        for others in forests(nodes - size)
    )


def size(tree: Tree) -> int:
    return 1 + sum(map(size, tree))


def density(tree: Tree) -> int:
    return size(tree) * math.prod(map(density, tree))


def stages(tree: Tree, a: np.ndarray) -> np.ndarray:
    """What an elementary differential is at each stage."""
    return np.asarray(math.prod((a @ stages(child, a) for child in tree), start=np.ones(len(a))))


def all_stages(scheme: RungeKutta) -> np.ndarray:
    """a of all stages: those of a step, its end, and those that dense output adds."""
    rows = [*scheme.a, scheme.b, *scheme.extra]
    return np.array([[*row, *[0.0] * (len(rows) - len(row))] for row in rows])


def test_trees_are_as_many_as_there_are() -> None:
    assert [len(forests(n)) for n in range(8)] == [1, 1, 2, 4, 9, 20, 48, 115]


@SCHEMES
def test_steps_are_of_their_order_and_of_no_higher_one(scheme: RungeKutta) -> None:
    a = all_stages(scheme)
    off = [
        max(
            abs(scheme.b @ stages(tree, a)[: len(scheme.b)] * density(tree) - 1)
            for tree in forests(order - 1)
        )
        for order in range(1, scheme.order + 2)
    ]
    assert max(off[:-1]) < 1e-11 and off[-1] > 1e-3


@pytest.mark.parametrize("scheme", [DOPRI5, DOP853], ids=lambda scheme: scheme.name)
def test_errors_are_differences_to_solutions_of_lower_order(scheme: RungeKutta) -> None:
    a = all_stages(scheme)
    estimates = [e for e in (scheme.error, scheme.second_error) if e]
    for e, order in zip(estimates, ERROR_ORDERS[scheme.name], strict=True):
        seen = [
            max(abs(e @ stages(tree, a)[: len(e)]) for tree in forests(n)) for n in range(order + 1)
        ]
        assert max(seen[:-1]) < 1e-12 and seen[-1] > 1e-5


@pytest.mark.parametrize("scheme", [DOPRI5, DOP853], ids=lambda scheme: scheme.name)
def test_dense_output_is_of_its_order_everywhere(scheme: RungeKutta) -> None:
    a, dense = all_stages(scheme), np.array(scheme.dense)
    for order in range(1, DENSE_ORDER[scheme.name] + 1):
        expected = 1.0 * (
            np.arange(1, dense.shape[1] + 1) == order
        )  # θ to the power of the order, and no other
        for tree in forests(order - 1):
            assert dense.T @ stages(tree, a) == pytest.approx(expected / density(tree), abs=1e-11)


def test_the_longest_step_for_a_vibration_is_that_of_the_stability_limit() -> None:
    assert RK4.longest_vibration_step == pytest.approx(math.sqrt(8), abs=0.02)
