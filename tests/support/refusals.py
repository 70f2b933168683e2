"""Checks that invalid input raises an error at the call, naming the element, the value and the
remedy, and that the call changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from bodies import add_body

import varimech as vm

NAN, INF = math.nan, math.inf
Call = Callable[[Any], object]
OTHER_MECHANISM = (
    "of another mechanism, which mechanism 'pendulum' does not have; a parameter belongs to one"
    " mechanism"
)


def pendulum(name: str = "pendulum") -> vm.Mechanism:
    """A planar rod on a hinge, complete apart from initial conditions."""
    m = vm.Mechanism(name, gravity=(0, -9.81))
    L = m.parameter("L", 1.0, unit="m", bounds=(0.2, 5.0))
    M = m.parameter("M", 2.0, unit="kg")
    m.ground_point("O", (0, 0))
    m.ground_point("Q", (3, 0))
    m.bar("rod", "O", "tip", length=L, mass=M)
    m.revolute("O")
    return m


def swinging() -> vm.Mechanism:
    """A planar rod on a hinge, with initial conditions."""
    m = pendulum()
    m.start(angle={"rod": -1.0})
    return m


def arm() -> vm.Mechanism:
    """A spatial body on a hinge, complete apart from initial conditions."""
    m = vm.Mechanism("arm", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.ground_point("Q", (3, 0, 0))
    add_body(m, "rod", 1, (0.01, 0.1, 0.1), (0.5, 0, 0), O=(0, 0, 0), tip=(1, 0, 0))
    m.revolute("O", axis=(0, 1, 0))
    return m


OTHER = pendulum("other")
ROD, TIP, THEIRS = OTHER.bodies["rod"], OTHER.bodies["rod"].points["tip"], OTHER.parameters["M"]
HINGE = OTHER.joints["O"]


def contents(m: vm.Mechanism) -> tuple[object, ...]:
    """Everything that a call could have changed."""
    points = {b.name: list(b.points) for b in m.bodies.values()}
    parameters = {p.name: (p.value, p.bounds, p.unit) for p in m.parameters.values()}
    elements = [list(things) for things in (m.joints, m.forces, m.drivers)]
    return (
        m.data.revision,
        len(m.data.calls),
        points,
        parameters,
        elements,
        len(m.data.parameter_set.requirements),
        id(m.data.start_conditions),
    )


def check_refused(m: vm.Mechanism, call: Call, *words: str, finish: bool = True) -> None:
    before = contents(m)
    with pytest.raises(vm.ModelError) as caught:
        call(m)
    for word in words:
        assert word in str(caught.value)
    assert contents(m) == before
    if finish:
        m.start(angle={"O": -1.0})
        assert m.simulate(0.02, step=0.01).time[-1] == 0.02


def refused(*cases: tuple[str, Call, tuple[str, ...]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("call", "words"), [pytest.param(call, words, id=name) for name, call, words in cases]
    )
