"""The mathematics that users write in: of numbers, parameters and quantities of the state, and what
it says of anything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

import varimech as vm
from varimech.core.mathematics import FUNCTIONS

WORD: Any = "rod"


def pendulum() -> tuple[vm.Mechanism, vm.Parameter]:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 1.5, unit="m")
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=1.0)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    return m, L


def number(expression: Any, parameter: vm.Parameter) -> np.ndarray:
    return np.array(
        ca.Function("f", [parameter.symbol], [ca.SX(expression)])(parameter.value)
    ).squeeze()


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) & set(dir(math)) - {"dot"}))
def test_of_numbers_they_are_those_of_math(name: str) -> None:
    given = (0.6, 0.8) if name == "atan2" else (0.6,)
    computed = FUNCTIONS[name](*given)
    assert isinstance(computed, float) and computed == pytest.approx(
        getattr(math, name)(*given), rel=1e-15
    )


def test_the_smallest_and_the_largest_of_many() -> None:
    assert vm.minimum(3, 1, 2) == 1 and vm.maximum(3, 1, 4, 2) == 4


def test_vectors_may_be_lists_of_parameters_and_numbers() -> None:
    """They may hold parameters and numbers beside each other."""
    _, L = pendulum()
    assert number(vm.norm((L, 2)), L) == pytest.approx(2.5)
    assert number(vm.dot((L, 1), [2, L]), L) == pytest.approx(4.5)
    assert number(vm.cross((L, 0), (1, L)), L) == pytest.approx(2.25)
    np.testing.assert_allclose(
        number(vm.rotation((0, 0, L), math.pi / 2) @ ca.SX([1, 0, 0]), L), [0, 1, 0], atol=1e-15
    )
    np.testing.assert_allclose(number(vm.where(L > 1, (1, L), (0, 0)), L), [1, 1.5])
    np.testing.assert_allclose(np.array(vm.absolute([[1, -2], [-3, 4]])), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: vm.sin("rod"),
            "sin: 'rod' is not a number, a parameter, a state quantity or a vector of these",
        ),
        (lambda: vm.norm([1, None]), "norm: None is not a number"),
        (lambda: vm.maximum(lambda s: s.time), "the largest value along a run is varimech.peak"),
        (
            lambda: vm.maximum(1),
            r"maximum: missing a required argument: 'b'; it takes \(a, b, \*more\)",
        ),
        (lambda: vm.atan2(1), r"atan2: missing a required argument: 'x'; it takes \(y, x\)"),
        (lambda: vm.where(1, 2), r"it takes \(condition, yes, no\)"),
        (lambda: vm.dot((1, 2), (1, 2, 3)), "dot cannot be computed for sizes 2x1 and 3x1"),
        (lambda: vm.cross((1, 2), (1, 2, 3)), "cross cannot be computed for sizes 2x1 and 3x1"),
        (lambda: vm.vector([1, [2, 3]]), "has rows of different lengths"),
        (
            lambda: vm.rotation((0, 1), 1.0),
            r"rotation: axis = \(0, 1\), angle = 1.0; an axis has 3 components",
        ),
        (lambda: vm.rotation(None, (1, 2)), r"rotation: axis = None, angle = \(1, 2\)"),
    ],
)
def test_what_cannot_be_computed_is_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(vm.ModelError, match=words):
        call()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda s: s.position("tip")[2], "'height' takes a component that a vector does not have"),
        (lambda s: sum(s.position("tip")), "'height' takes a vector apart by iterating over it"),
        (
            lambda s: np.dot(s.position("tip"), [1, 0]),
            "'height' combines vectors or matrices whose sizes do not match",
        ),
        (
            lambda s: s.position("tip")["y"],
            "'height' takes a component by an index that is not a whole number",
        ),
        (
            lambda s: s.position("tip") + np.zeros(3),
            "'height' combines vectors or matrices whose sizes do not match",
        ),
        (lambda s: ca.sin(WORD), "'height' computes with something that is neither a number"),
        (
            lambda s: np.linalg.det(s.position("tip")),
            "'height' cannot be computed: matrix must be square",
        ),
    ],
)
def test_what_objectives_do_with_symbols_in_vain_is_refused(
    function: Callable[[vm.State], Any], words: str
) -> None:
    m, _ = pendulum()
    with pytest.raises(vm.ModelError, match=words):
        m.sensitivity({"height": vm.final(function)}, duration=0.1)


def test_a_forgotten_name_is_not_taken_for_computing_with_the_state() -> None:
    m, _ = pendulum()
    with pytest.raises(
        TypeError, match=r"position\(\) missing 1 required positional argument: 'point'"
    ):
        m.sensitivity({"height": vm.final(lambda s: s.position())}, duration=0.1)  # type: ignore[call-arg]
