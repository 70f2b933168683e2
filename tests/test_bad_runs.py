"""Runs, objectives and functions of the state that make no sense."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from refusals import INF, NAN, Call, arm, check_refused, pendulum, refused, swinging

import varimech as vm


@pytest.mark.parametrize("value", [0, -1, -0.5, NAN, INF, "1", None, True], ids=str)
def test_times_must_be_positive(value: Any) -> None:
    words = f"= {value!r} must be a positive finite number of seconds"
    check_refused(pendulum(), lambda m: m.simulate(value), "duration " + words, finish=False)
    if value is not None:  # which chooses them
        check_refused(
            pendulum(), lambda m: m.simulate(1, step=value), "step " + words, finish=False
        )
    check_refused(
        pendulum(), lambda m: m.sensitivity(duration=value), "duration " + words, finish=False
    )


@refused(
    (
        "long step",
        lambda m: m.simulate(0.1, step=0.2),
        ("step = 0.2 s is longer than the whole run of 0.1 s",),
    ),
    (
        "every 0",
        lambda m: m.simulate(0.1, every=0),
        ("every = 0", "whole number of steps, 1 or more"),
    ),
    (
        "every -1",
        lambda m: m.simulate(0.1, every=-1),
        ("every = -1", "whole number of steps, 1 or more"),
    ),
    (
        "every 1.5",
        lambda m: m.simulate(0.1, every=1.5),
        ("every = 1.5", "whole number of steps, 1 or more"),
    ),
    (
        "every True",
        lambda m: m.simulate(0.1, every=True),
        ("every = True", "whole number of steps, 1 or more"),
    ),
    (
        "wrt nothing",
        lambda m: m.sensitivity(wrt=[], duration=1),
        ("wrt is empty", "at least one parameter"),
    ),
    (
        "wrt twice",
        lambda m: m.sensitivity(wrt=["L", "L"], duration=1),
        ("names a parameter twice",),
    ),
    (
        "gamma",
        lambda m: m.simulate(1, integrator=vm.Newmark(0.4)),
        ("gamma = 0.4 must lie between 0.5 and 1",),
    ),
    (
        "gamma nan",
        lambda m: m.simulate(1, integrator=vm.Newmark(NAN)),
        ("gamma = nan must lie between 0.5 and 1",),
    ),
    (
        "beta",
        lambda m: m.simulate(1, integrator=vm.Newmark(0.6, 0.1)),
        ("beta = 0.1 is below gamma/2 = 0.3",),
    ),
    (
        "plain functions",
        lambda m: m.sensitivity([lambda s: s.energy], duration=1),
        ("objective 'psi1'", "varimech.integral"),
    ),
    (
        "plain function",
        lambda m: m.sensitivity(lambda s: s.energy, duration=1),
        ("objective 'psi1'", "make one with varimech.integral, varimech.final,"),
    ),
    (
        "no function",
        lambda m: vm.final(m.parameters["L"].value),
        ("an objective needs a function of the state", "got 1.0"),
    ),
)
def test_runs_that_make_no_sense(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@pytest.mark.parametrize("steps", [(), (0.0,), (1e-3, NAN), (-1e-3,)], ids=str)
def test_relative_steps_must_be_positive(steps: tuple[float, ...]) -> None:
    m = swinging()
    with pytest.raises(
        vm.ModelError, match=r"relative_steps = .* must be one or more positive numbers"
    ):
        m.sensitivity(duration=0.02, step=0.01, method="finite-difference", relative_steps=steps)


def test_sensitivity_needs_parameters() -> None:
    m = arm()
    check_refused(
        m,
        lambda m: m.sensitivity(duration=1),
        "mechanism 'arm' has no parameters",
        "parameter(name, value)",
    )


def test_objectives_are_scaled_but_not_multiplied_with_each_other() -> None:
    once: Any = vm.final("angle('rod')")
    result = swinging().sensitivity({"half": once / 2, "whole": once}, duration=0.1, step=0.01)
    half, whole = result.final_values
    assert half == whole / 2
    for combine in (lambda: once * once, lambda: once / once, lambda: 2 / once):
        with pytest.raises(vm.ModelError, match="combine the values and gradients of the result"):
            combine()


@pytest.mark.parametrize("make", [vm.final, vm.integral])
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            lambda s: s.position("tip"),
            "returned 2 components; it must return a scalar (varimech.dot",
        ),
        (lambda s: [1.0, 2.0, 3.0], "returned 3 components; it must return a scalar"),
        (lambda s: None, "returned None, which is neither a number nor a vector"),
        (lambda s: "tip", "returned 'tip', which is neither a number nor a vector"),
        (
            lambda s: math.sin(s.angle("rod")),
            "has a value that is not finite; check for divisions by zero",
        ),
    ],
)
def test_objectives_must_return_a_scalar(
    make: Callable[[Any], vm.Objective], function: Any, words: str
) -> None:
    goal = {"goal": make(function)}
    check_refused(
        swinging(),
        lambda m: m.sensitivity(goal, duration=0.02, step=0.01),
        f"objective 'goal' {words}",
    )


def test_objectives_may_use_accelerations_and_reactions() -> None:
    pull = vm.final(lambda s: vm.norm(s.reaction("O")) + vm.norm(s.acceleration("tip")))
    assert np.isfinite(swinging().sensitivity(pull, duration=0.02, step=0.01).gradient).all()


@refused(
    (
        "acceleration",
        lambda s: s.acceleration("tip"),
        ("force 'F' may not depend on accelerations", "after the forces"),
    ),
    (
        "rate of a rate",
        lambda s: (s.rate(s.kinetic_energy), 0),
        ("force 'F' may not depend on accelerations",),
    ),
    (
        "reaction",
        lambda s: s.reaction("O"),
        ("force 'F' may not depend on reactions", "after the forces"),
    ),
    (
        "reaction torque",
        lambda s: (s.reaction_torque("O"), 0),
        ("force 'F' may not depend on reactions",),
    ),
    (
        "multiplier",
        lambda s: (s.multiplier("rigidity of rod"), 0),
        ("force 'F' may not depend on multipliers", "after the forces"),
    ),
    ("three", lambda s: (1, 2, 3), ("force 'F' returned 3 components; it must return 2",)),
    ("one", lambda s: 1.0, ("force 'F' returned 1 component; it must return 2",)),
    ("none", lambda s: None, ("force 'F' returned None, which is neither a number nor a vector",)),
    ("text", lambda s: "up", ("force 'F' returned 'up', which is neither a number nor a vector",)),
    (
        "unknown point",
        lambda s: s.position("tpi"),
        ("no point is called 'tpi'; did you mean 'tip'",),
    ),
    (
        "math",
        lambda s: (math.sin(s.time), 0),
        ("force 'F' has a value that is not finite", "varimech.sin", "not math or numpy"),
    ),
)
def test_force_functions_that_make_no_sense(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), lambda m: m.force("F", "tip", call), *words)


@refused(
    (
        "acceleration",
        lambda s: s.angular_acceleration("rod"),
        ("torque 'T' may not depend on accelerations",),
    ),
    ("reaction", lambda s: s.reaction_torque("O"), ("torque 'T' may not depend on reactions",)),
    ("effort", lambda s: s.effort("motor"), ("torque 'T' may not depend on reactions",)),
    ("two", lambda s: (1, 2), ("torque 'T' returned 2 components; it must return a scalar",)),
    ("none", lambda s: None, ("torque 'T' returned None, which is neither a number nor a vector",)),
    (
        "unknown body",
        lambda s: s.angle("rdo"),
        ("no body or joint is called 'rdo'; did you mean 'rod'",),
    ),
)
def test_torque_functions_that_make_no_sense(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), lambda m: m.torque("T", "rod", call), *words)
