"""Every model that can be written can be read again, to the same bits: parameters, and all numbers
and expressions, at any values.
"""

from __future__ import annotations

import math
import struct
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from random_mechanisms import build
from random_recipes import BLOCKS, Recipe, recipes

import varimech as vm
from varimech.core.expressions import DEPTH

NAMES = (
    "p",
    "L",
    "s",
    "t",
    "m",
    "k",
    "N",
    "pi",
    "e5",
    "µ",
    "sin",
    "my length",
    "null",
    "1",
    "if",
    "[a]",
)
"""Units, the time, constants, functions, keywords, and what is no word at all."""
finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e3, 1e3, allow_subnormal=False) | st.sampled_from(
    (0.1, 1 / 3, 1e-5, 2.0, 21.0, -0.0, 5e-324, math.pi)
)


def read_again(m: vm.Mechanism) -> vm.Mechanism:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.yaml"
        m.to_file(path)
        return vm.Mechanism.from_file(path)


def bits(values: Any) -> list[bytes]:
    return [struct.pack("d", float(x)) for x in values]


def facts(m: vm.Mechanism, values: np.ndarray) -> dict[str, bytes]:
    """All numbers that were checked when the model was made, and those of its elements."""
    numbers = m.data.parameter_set
    known: dict[str, Any] = {f"gravity of {m.name}": m.data.gravity}
    for body in m.data.moving_bodies:
        for point in body.points.values():
            known[point.label] = point.local
    for k, hold in enumerate(m.data.start_conditions.conditions if m.data.start_conditions else ()):
        known |= {
            f"start {k} {field}": x for field, x in vars(hold).items() if isinstance(x, ca.SX)
        }
    for k, requirement in enumerate(sorted(numbers.requirements, key=lambda r: (r.label, r.rule))):
        known[f"{requirement.label} {requirement.rule} {k}"] = requirement.expression
    computed = numbers.evaluate_all([ca.densify(ca.SX(x)) for x in known.values()], values)
    return dict(zip(known, (x.tobytes() for x in computed), strict=True))


def check_same(m: vm.Mechanism, rng: np.random.Generator) -> None:
    again = read_again(m)
    assert again.to_text() == m.to_text()
    first, second = m.parameters, again.parameters
    assert list(first) == list(second)
    for one, other in zip(first.values(), second.values(), strict=True):
        assert (bits([one.value]), one.unit, one.bounds, one.distribution) == (
            bits([other.value]),
            other.unit,
            other.bounds,
            other.distribution,
        )
    nominal = m.data.parameter_set.nominal
    for values in (nominal, nominal * rng.uniform(0.5, 1.0, nominal.size)):
        assert facts(m, values) == facts(again, values)


# expressions of parameters


@st.composite
def operations(draw: st.DrawFn) -> list[tuple[str, Any, Any]]:
    """Instructions on a stack of values: the operands are numbers, parameters and
    earlier results.
    """
    kinds = (
        "+",
        "-",
        "*",
        "/",
        "**",
        "neg",
        "sqrt",
        "sin",
        "atan2",
        "where",
        "minimum",
        "norm",
        "1/",
        "==",
        "sq",
    )
    operand = (
        st.tuples(st.just("number"), moderate)
        | st.tuples(st.just("name"), st.integers(0, 3))
        | st.tuples(st.just("earlier"), st.integers(0, 9))
    )
    return draw(
        st.lists(st.tuples(st.sampled_from(kinds), operand, operand), min_size=1, max_size=7)
    )


def compute(program: list[tuple[str, Any, Any]], parameters: list[Any]) -> Any:
    done: list[Any] = [parameters[0] * 1.5]

    def value(operand: tuple[str, Any]) -> Any:
        kind, at = operand
        return (
            ca.SX(at)
            if kind == "number"
            else parameters[at].symbol
            if kind == "name"
            else done[at % len(done)]
        )

    apply = {
        **{
            "+": lambda a, b: a + b,
            "-": lambda a, b: a - b,
            "*": lambda a, b: a * b,
            "/": lambda a, b: a / b,
            "**": lambda a, b: a**b,
        },
        **{
            "neg": lambda a, b: -a,
            "sqrt": lambda a, b: vm.sqrt(a),
            "sin": lambda a, b: vm.sin(a),
            "atan2": vm.atan2,
        },
        **{
            "where": lambda a, b: vm.where(a < b, a, b),
            "minimum": vm.minimum,
            "norm": lambda a, b: vm.norm([a, b]),
        },
        **{
            "1/": lambda a, b: 1 / a,
            "==": lambda a, b: vm.where(a == b, 1, a),
            "sq": lambda a, b: a**2,
        },
    }
    for kind, left, right in program:
        done.append(ca.SX(apply[kind](value(left), value(right))))
    return done[-1]


@given(
    operations(),
    st.permutations(NAMES),
    st.lists(moderate.map(abs), min_size=4, max_size=4),
    st.integers(0, 99),
)
@example([("/", ("number", 21.0), ("name", 0))], ["s", "L", "t", "m"], [1.0, 2.0, 3.0, 4.0], 0)
@example([("*", ("number", 1e-5), ("name", 0))], ["L1", "L", "t", "m"], [2e4, 2.0, 3.0, 4.0], 0)
@example([("1/", ("name", 0), ("name", 0))], ["rad", "L", "t", "m"], [2e4, 2.0, 3.0, 4.0], 0)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_expressions_are_read_as_they_were_computed(
    program: Any, names: list[str], values: list[float], seed: int
) -> None:
    m = vm.Mechanism("e", gravity=(0, -9.81))
    parameters = [m.parameter(name, value) for name, value in zip(names[:4], values, strict=True)]
    try:
        expression = compute(program, parameters)
        m.body("b", mass=1.0, inertia=1.0, points={"P": (expression, 0)}, floating=True)
        m.start(
            position={"b.P": (expression, 1)},
            angle={"b": expression},
            speed={"b": 21 / parameters[0]} if values[0] else None,
        )
    except vm.ModelError:
        return  # not finite
    check_same(m, np.random.default_rng(seed))


@given(finite, finite, st.sampled_from(("m", "", "N/m")))
@settings(max_examples=60, deadline=None)
def test_every_number_is_read_again_to_the_bit(first: float, second: float, unit: str) -> None:
    m = vm.Mechanism("n", gravity=(first, second))
    m.parameter("a", first, unit=unit, bounds=(None, math.inf))
    m.parameter(
        "b", str(second), unit=unit, bounds=(f"{second!r}", None) if second > -1e308 else None
    )
    m.ground_point("O", (first, f"{second!r} m"))
    m.ground_point("Q", (np.float64(second), ca.SX(first)))
    check_same(m, np.random.default_rng(0))


# whole models


@given(recipes(3))
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_random_mechanisms_are_read_again_to_the_bit(recipe: Recipe) -> None:
    """Without forces, control, drivers and equations, which are Python functions there."""
    functions = ("force", "torque", *BLOCKS)
    loads = tuple(load for load in recipe.loads if load.method not in functions)
    couplings = tuple(c for c in recipe.couplings if c in ("gear", "rack_and_pinion", "belt"))
    check_same(
        build(replace(recipe, loads=loads, couplings=couplings, drivers=())).mechanism,
        np.random.default_rng(recipe.seed),
    )


# an order that files do not have


def rod(**given: Any) -> vm.Mechanism:
    m = vm.Mechanism("order", gravity=(0, "-9.81 m/s^2"))
    m.ground_point("O", ("1 m", "20 mm"))
    m.bar("rod", "O", "P", length="1 m", mass="300 g")
    m.revolute("O")
    m.start(angle={"rod": "2 deg"}, speed={"rod": "21/s"})
    for name, value in given.items():
        m.parameter(name, value)
    return m


def test_parameters_that_were_made_later_do_not_change_what_texts_mean() -> None:
    m = rod(m=3.0, s=7.0, deg=2.0, g=1.0)
    assert (
        "length: 1.0" in m.to_text()
        and "speed: {rod: 21.0}" in m.to_text()
        and "mass: 0.3" in m.to_text()
    )
    check_same(m, np.random.default_rng(0))
    assert "length: 1 m" in rod().to_text()


def test_a_text_that_a_file_would_not_understand_is_refused() -> None:
    m = rod()
    m.drive_angle("motor", "rod", "2*t")
    check_same(m, np.random.default_rng(0))
    m.parameter("t", 7.0)
    with pytest.raises(
        vm.ModelError,
        match=r"drive_angle.*'2[*]t': a parameter 't' was made later.*rename the parameter",
    ):
        m.to_text()


def test_what_is_too_long_to_be_read_is_not_written() -> None:
    for terms, written in ((DEPTH - 10, True), (DEPTH + 10, False)):
        m = vm.Mechanism("long", gravity=(0, 0))
        p = m.parameter("p", 1.0)
        total: Any = p
        for k in range(terms):
            total = total + vm.sin(p * k) if k % 2 else total - p**3
        m.ground_point("O", (total, 0))
        if written:
            check_same(m, np.random.default_rng(0))
        else:
            with pytest.raises(vm.ModelError, match="nested too deeply; at most 500 levels"):
                m.to_text()
