"""Invalid optimisations, and their error messages."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import pytest
from oscillator import GOAL, of, oscillator, x_of
from pendulums import wheel

import varimech as vm
from varimech.optimization.quantities import named_constraints


@pytest.fixture(scope="module")
def m() -> vm.Mechanism:
    return oscillator()


@pytest.mark.parametrize(
    "step", [ca.floor, ca.ceil, vm.sign, lambda x: vm.where(x > 0.05, 1, 0), lambda x: x > 0.05]
)
@pytest.mark.parametrize("kind", [vm.final, vm.integral, vm.peak])
def test_objectives_without_a_gradient(m: vm.Mechanism, step: Any, kind: Any) -> None:
    with pytest.raises(vm.ModelError, match="no gradient"):
        m.optimize(kind(lambda s: step(x_of(s))), ["k"], duration=0.1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"over": []}, "over is empty"),
        ({"over": ["A"]}, "no parameter of mechanism 'oscillator' is called 'A'"),
        ({"over": ["a", "a"]}, "twice"),
        ({"over": ["a", "m"]}, "nothing depends on parameter 'm'"),
        ({"over": ["k"]}, "nothing depends on parameter 'k'"),
        (
            {"over": ["a"], "constraints": {"c": vm.final(x_of) <= 1}},
            "constraint 'c' depends on none of 'a'",
        ),
        (
            {"over": ["a"], "bounds": {"a": (1, 2)}},
            r"nominal value 0.9 of 'a' is outside its bounds \(1, 2\)",
        ),
        ({"over": ["a"], "bounds": {"a": (1, 2)}, "start": {"a": 3}}, "start value 3"),
        ({"over": ["a"], "bounds": {"a": (2, 1)}}, "are empty"),
        ({"over": ["a"], "bounds": {"b": (0, 1)}}, "over= does not"),
        ({"over": ["a"], "start": {"z": 1}}, "'z'"),
        ({"over": ["a"], "starts": 3}, "'a' has none; give bounds="),
        ({"over": ["a"], "starts": 0}, "starts = 0"),
        ({"over": ["a"], "solver": "simplex"}, "no solver is called 'simplex'"),
        ({"over": ["a"], "solver": "BFGS", "bounds": {"a": (0, 1)}}, "supports no bounds"),
        (
            {"over": ["a"], "solver": "L-BFGS-B", "constraints": [of(lambda a, b: a) <= 1]},
            "supports no constraints",
        ),
        ({"over": ["a"], "solver": "trust-exact"}, "needs second derivatives"),
        ({"over": ["a"], "hessian": "precise"}, "kind of hessian"),
        ({"over": ["a"], "max_iterations": 0}, "max_iterations = 0"),
        ({"over": ["a"], "tolerance_optimality": -1}, "tolerance_optimality"),
        ({"over": ["a"], "method": "guess"}, "'guess'"),
        ({"over": ["a"], "constraints": [vm.final(x_of) == 1]}, r"write .equals\(value\)"),
        ({"over": ["a"], "constraints": [3]}, "not a constraint"),
        (
            {"over": ["a"], "constraints": {"c": vm.final(lambda s: s.time)}},
            r"^constraint 'c': has no bound; compare the quantity with a number",
        ),
        (
            {"over": ["a"], "objective": {"c": GOAL}, "constraints": {"c": GOAL <= 1}},
            "both called 'c'",
        ),
        ({"over": ["a"], "objective": {"f": GOAL, "g": GOAL}}, "takes one objective"),
        ({"over": ["a"], "objective": vm.path(x_of)}, "minimise vm.peak"),
        ({"over": ["a"], "objective": 3}, "not an objective"),
        ({"over": ["a"], "duration": -1}, "duration"),
        ({"over": ["a"], "seed": "a"}, "seed = 'a' must be a whole number"),
        ({"over": ["a"], "parameters": 3}, "must be a dictionary"),
        (
            {"over": ["k"], "objective": vm.peak(x_of), "method": "adjoint"},
            "'adjoint' provides derivatives at the end of a run only",
        ),
        (
            {"over": ["a"], "objective": of(lambda a, b: ca.floor(a) * b)},
            "may depend on it through jumps",
        ),
    ],
)
def test_bad_input(m: vm.Mechanism, words: dict[str, Any], message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        m.optimize(words.pop("objective", GOAL), **{"duration": 0.01, **words})


def test_bounds_are_quantities() -> None:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.parameter("L", 1.0, unit="m", bounds=("200 mm", "3 m"))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "P", length="L", mass=1.0)
    m.revolute("O")
    m.start(angle={"rod": 0.3})
    lowest = vm.final(lambda s: s.position("P")[1])
    optimum = m.optimize(lowest, ["L"], bounds={"L": ("800 mm", "1.2 m")}, duration=0.3)
    assert optimum.parameters["L"] in (pytest.approx(0.8), pytest.approx(1.2))
    with pytest.raises(vm.ModelError, match="bound = '2 kg' has the wrong dimension; expected m"):
        m.optimize(lowest, ["L"], bounds={"L": (None, "2 kg")}, duration=0.3)


def test_bad_comparisons() -> None:
    f = vm.final(x_of)
    with pytest.raises(vm.ModelError, match=r"write f\.between"):
        assert 1 <= f <= 3
    with pytest.raises(vm.ModelError, match="is empty; give lower < upper"):
        f.between(3, 1)
    for bad in (math.nan, "1", None, True):
        with pytest.raises(vm.ModelError, match="finite number"):
            _ = f <= bad
    with pytest.raises(vm.ModelError, match="from above only"):
        named_constraints(vm.peak(x_of) >= 1)
    assert (f <= 2) == (f < 2) and (vm.peak(x_of, unit="m") <= 2).rule == "≤ 2 m"
    assert [c.rule for c in (f >= 1, f.equals(1), f.between(1, 2))] == [
        "≥ 1",
        "= 1",
        "between 1 and 2",
    ]


def test_a_start_that_fails_says_why(m: vm.Mechanism) -> None:
    with pytest.raises(vm.ModelError, match="mass"):
        m.optimize(GOAL, ["a", "m"], duration=0.01, start={"m": -1.0})


def test_bounds_in_the_place_of_names_are_refused() -> None:
    """They would be ignored otherwise."""
    m = wheel()
    p = m.problem(vm.final("angle('O')"), duration=0.1)
    wrong: Any = {"k": (2.0, 4.0)}
    named: Any = m.parameters
    with pytest.raises(vm.ModelError, match=r"over = .*names parameters, not values; give bounds"):
        p.optimize(wrong)
    with pytest.raises(vm.ModelError, match=r"wrt = .*names parameters, not values"):
        m.sensitivity(vm.final("angle('O')"), wrong, duration=0.1)
    assert m.sensitivity(vm.final("angle('O')"), named, duration=0.1).gradient.size == 1
