"""What shows only when the whole is seen: mechanisms that cannot move, and starts that say too
little or too much.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from refusals import Call, check_refused, pendulum, refused

import varimech as vm


def check_run_refused(m: vm.Mechanism, match: str) -> None:
    with pytest.raises(vm.ModelError, match=match):
        m.simulate(0.02, step=0.01)


def test_empty_mechanism() -> None:
    with pytest.raises(
        vm.ModelError,
        match=r"mechanism 'nothing' has no bodies; add one with body\(…\) or bar\(…\)",
    ):
        vm.Mechanism("nothing").simulate(1)


def test_a_mechanism_that_cannot_move() -> None:
    m = pendulum()
    m.bar("strut", "Q", "end", length=2.5, mass=1)
    m.revolute("Q")
    m.revolute("peak", "rod.tip", "strut.end")
    check_run_refused(
        m, r"mechanism 'pendulum': the joints fix every body: .*remove a joint or free a body"
    )


def test_a_body_pinned_at_two_points_cannot_move() -> None:
    m = pendulum()
    m.revolute("pin", "rod.com", m.ground_point("C", (0.5, 0)))
    check_run_refused(m, "mechanism 'pendulum': the joints fix every body")


def test_a_body_without_a_path_to_the_ground() -> None:
    m = pendulum()
    m.bar("left", "P", "R", length=1, mass=1)
    m.bar("right", "R", "S", length=1, mass=1)
    m.revolute("R")
    m.start(angle={"rod": -1.0, "left": 0.0, "right": 0.0}, position={"P": (5, 5)})
    check_run_refused(
        m, r"no path of joints connects 'left', 'right' to the ground; .*floating=True"
    )


def test_a_floating_body_falls_freely() -> None:
    m = pendulum()
    m.bar("left", "P", "R", length=1, mass=1, floating=True)
    m.bar("right", "R", "S", length=1, mass=1)
    m.revolute("R")
    m.start(
        angle={"rod": -1.0, "left": 0.0, "right": 0.0}, position={"P": (5, 5)}, speed={"P": (1, 2)}
    )
    fall = m.simulate(0.1, step=0.01).position("P").isel(time=-1)
    assert fall.values == pytest.approx([5 + 0.1, 5 + 0.2 - 9.81 * 0.1**2 / 2], abs=1e-12)


def test_a_motion_without_inertia() -> None:
    m = vm.Mechanism("needle", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("rod", mass=1, inertia=(0, 0.1, 0.1), com=(0.5, 0, 0), points={"O": (0, 0, 0)})
    m.spherical("O")
    m.start(orientation={"rod": np.eye(3)})
    with pytest.raises(
        vm.ModelError, match=r"mechanism 'needle': .*'rod.* can move without inertia; give the body"
    ):
        m.simulate(0.02, step=0.01)


@refused(
    (
        "nothing",
        lambda m: m.simulate(1),
        (
            "the initial conditions leave 1 of 1 DOF undetermined (given: nothing)",
            "fixes the angle of 'rod'",
        ),
    ),
    (
        "both kinds of speed",
        lambda m: m.start(angle={"rod": 0}, speed={"tip": (0, 1)}),
        ("speed is given for 'tip' but no initial value",),
    ),
    (
        "speed alone",
        lambda m: m.start(speed={"rod": 1.0}),
        ("speed is given for 'rod'", "angle, displacement, distance, position or orientation"),
    ),
    (
        "speed of an open component",
        lambda m: m.start(position={"tip": (0.5, None)}, speed={"tip": (0, 3.0)}),
        ("start: speed of 'tip' along y is given, but not its position there",),
    ),
    (
        "vector speed",
        lambda m: m.start(angle={"rod": 0}, speed={"rod": (0, 1)}),
        ("speed: angle of 'rod'", "single number"),
    ),
    (
        "no slide",
        lambda m: m.start(displacement={"O": 0.0}),
        ("joint 'O' is revolute: it has no displacement",),
    ),
)
def test_starts_that_say_too_little(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@pytest.mark.parametrize(
    "start",
    [
        {"angle": {"rod": -1.0, "O": -1.0}},
        {"position": {"tip": (math.cos(1), -math.sin(1))}},
        {"angle": {"rod": -1.0}, "position": {"tip": (math.cos(1), None)}},
    ],
)
def test_starts_that_say_too_much(start: dict[str, Any]) -> None:
    m = pendulum()
    m.start(**start)
    with pytest.raises(
        vm.ModelError,
        match=(
            r"redundant or conflicting .*1 unconstrained DOF: specify exactly one initial value$"
        ),
    ):
        m.simulate(0.02, step=0.01)
    m.start(angle={"rod": -1.0})
    m.simulate(0.02, step=0.01)


def test_a_start_value_beside_a_driver() -> None:
    m = pendulum()
    m.drive_angle("motor", "rod", lambda t: t - 1)
    m.start(angle={"rod": -1.0})
    check_run_refused(
        m, r"conflicting \(angle of 'rod'\); drivers prescribe all degrees of freedom"
    )
    m.start()
    m.simulate(0.02, step=0.01)


def test_what_is_open_is_named() -> None:
    m = pendulum()
    m.body("disc", mass=1, inertia=1, floating=True)
    m.start(angle={"rod": -1.0, "disc": 0.0})
    with pytest.raises(
        vm.ModelError, match=r"leave 2 of 4 DOF undetermined .*fixes 'disc\.com\.x', 'disc\.com\.y'"
    ):
        m.simulate(0.02, step=0.01)
