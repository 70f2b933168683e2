"""Every benchmark in natural and in relative coordinates, with both reference points: the same
motion, reactions and sensitivities.

What a tight tolerance leaves of the integrator's error is the same continuous solution; with equal
steps the coordinates show in errors of the scheme's order, and in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.benchmarks import BENCHMARKS, chain, four_bar
from varimech.coordinates.systems import Automatic
from varimech.elements.registry import BUILT_IN
from varimech.model.joint import Joint

RELATIVE = ("rtdyn0", "rtdyn1")
DURATIONS = {
    "five-bar": 0.5,
    "pendulum": 1.0,
    "four-bar": 0.6,  # before its links lie on one line, where any difference is amplified
    "andrews": 0.02,
    "bricard": 0.5,
    "governor": 0.002,
    "spatial-slider-crank": 0.3,
    "tree": 0.1,
    "chain": 0.3,
    "pendulum-tolerance": 1.0,
    "slider-crank-tolerance": 0.5,
    "two-balls": 0.5,
    "bouncing-ball": 1.0,
    "friction-oscillator": 5.0,
    "clearance-slider-crank": 4e-3,
    "newtons-cradle": 0.105,  # rows beside the impacts, where velocities jump
    "rocking-block": 0.7,
    "sliding-block": 0.5,
    "rotating-pendulum": 0.5,
    "rolling-disc": 0.5,
    "gear-train": 0.5,
    "cam-follower": 0.1,
}
"""Simulated times (s): long enough to move all bodies far, short enough that no error grows."""
STEPS = {"andrews": 2e-5, "governor": 5e-5}
"""Equal steps (s) where 1e-3 is too long."""

CONTACTS = (
    "two-balls",
    "bouncing-ball",
    "friction-oscillator",
    "clearance-slider-crank",
    "newtons-cradle",
    "rocking-block",
    "sliding-block",
)
"""Benchmarks with located events, which need a tolerance."""
SLOW = {"tree": 1e-2, "governor": 5e-5}
"""Benchmarks that are expensive to compile in natural coordinates: a few equal steps (s) of order 8
do.
"""


def mechanism_of(name: str) -> vm.Mechanism:
    """The mechanism of a benchmark."""
    built: vm.Mechanism = import_module(
        f"varimech.benchmarks.{BENCHMARKS[name].module}"
    ).mechanism()
    return built


@cache
def gradient(name: str, coordinates: str) -> vm.Gradient:
    """A run with sensitivities to a tight tolerance."""
    duration = DURATIONS[name]
    few: dict[str, Any] = {"tolerance": 1e-11, "output": duration / 10}
    if name in SLOW:
        few = {"step": SLOW[name], "integrator": "dop853"}
    return mechanism_of(name).sensitivity(duration=duration, coordinates=coordinates, **few)


def points(m: vm.Mechanism) -> list[str]:
    """All points that move."""
    return [p.label for b in m.data.moving_bodies for p in b.points.values()]


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Largest difference over the size of the first."""
    return float(np.abs(one - other).max() / max(np.abs(one).max(), 1e-6))


def differences(name: str, coordinates: str) -> dict[str, float]:
    """Of motion, sensitivities (each parameter for itself) and reactions in natural and in other
    coordinates, the largest.
    """
    runs, m = (gradient(name, "natural").run, gradient(name, coordinates).run), mechanism_of(name)
    computed = {}
    for measure in ("position", "velocity", "acceleration"):
        one, other = (
            np.stack([getattr(r, measure)(p).to_numpy() for p in points(m)]) for r in runs
        )
        computed[measure] = apart(one, other)
    for parameter in m.parameters:
        one, other = (
            np.stack([r.position(p, wrt=parameter).to_numpy() for p in points(m)]) for r in runs
        )
        computed[f"∂position/∂{parameter}"] = apart(one, other)
    if not m.joints:
        return computed
    one, other = (np.stack([r.reaction(joint).to_numpy() for joint in m.joints]) for r in runs)
    return computed | {"reactions": apart(one, other)}


def test_all_rigid_benchmarks_are_compared() -> None:
    # the bicycle's steady motion has no accelerations to compare; test_linear_analysis.py compares
    # its modes in all coordinates
    rigid = {name for name in BENCHMARKS if not mechanism_of(name).data.beams}
    assert set(DURATIONS) == rigid - {"bicycle"}


def test_every_joint_can_be_part_of_a_tree() -> None:
    joints = [kind for kind in BUILT_IN if issubclass(kind, Joint)]
    always_cut = [j.kind for j in joints if j.relative_motion is Joint.relative_motion]
    assert always_cut == ["distance", "clamp"]  # those of rods and beams


@pytest.mark.parametrize("coordinates", RELATIVE)
@pytest.mark.parametrize("name", DURATIONS)
@pytest.mark.filterwarnings("ignore::varimech.RedundantReactionWarning")
def test_motion_reactions_and_sensitivities_agree(name: str, coordinates: str) -> None:
    computed = differences(name, coordinates)
    assert max(computed.values()) < 1e-9, computed


@pytest.mark.parametrize("coordinates", RELATIVE)
@pytest.mark.parametrize(("make", "size"), [(four_bar.mechanism, 20), (chain.mechanism, 60)])
def test_large_models_agree(
    make: Callable[[int], vm.Mechanism], size: int, coordinates: str
) -> None:
    """Closed loops, assembled from pieces; an open tree, swept."""
    m = make(size)
    settings: dict[str, Any] = {
        "duration": 0.02,
        "step": 0.01,
        "integrator": "dop853",
    }
    natural, relative = (
        m.sensitivity(coordinates=c, **settings).run for c in ("natural", coordinates)
    )
    some = points(m)[::5]
    typical = max(
        float(np.abs(natural.acceleration(p)).max()) for p in some
    )  # parameters are one, and some do not matter here
    for wrt in (None, *m.parameters):
        one, other = (
            np.stack([r.acceleration(p, wrt=wrt).to_numpy() for p in some])
            for r in (natural, relative)
        )
        assert np.abs(one - other).max() < 1e-9 * max(1e-3 * typical, float(np.abs(one).max())), wrt


@pytest.mark.parametrize("coordinates", RELATIVE)
@pytest.mark.parametrize("name", [n for n in DURATIONS if n not in ("tree", "chain", *CONTACTS)])
def test_equal_steps_differ_by_the_order_of_the_scheme(name: str, coordinates: str) -> None:
    m, step = mechanism_of(name), STEPS.get(name, 1e-3)

    def difference(h: float) -> float:
        runs = [
            m.simulate(20 * step, step=h, every=round(step / h), coordinates=c)
            for c in ("natural", coordinates)
        ]
        one, other = (np.stack([r.position(p).to_numpy() for p in points(m)]) for r in runs)
        return float(np.abs(one - other).max())

    coarse, fine = difference(step), difference(step / 2)
    assert coarse < 1e-4
    assert fine < 1e-11 or 3.5 < coarse / fine < 4.5


@pytest.mark.parametrize(
    ("name", "options", "chosen", "reason"),
    [
        ("five-bar", {}, "natural", "planar"),
        ("andrews", {}, "natural", "planar"),
        ("pendulum", {}, "natural", "planar"),
        ("chain", {}, "rtdyn1", "an open tree of 10 bodies"),
        ("chain", {"step": 1e-3}, "natural", "planar"),
        ("tree", {}, "rtdyn1", "an open tree"),
        ("bricard", {}, "rtdyn1", "spatial"),
        ("governor", {"step": 5e-5}, "rtdyn1", "spatial"),
        ("spatial-slider-crank", {}, "rtdyn1", "spatial"),
        ("flexible-five-bar", {"step": 1e-3}, "natural", "beams"),
    ],
)
def test_coordinates_are_chosen_by_topology(
    name: str, options: dict[str, Any], chosen: str, reason: str
) -> None:
    m, duration = mechanism_of(name), 1e-3
    run = m.simulate(duration, **options)
    assert reason in run.info["coordinates"]
    same = m.simulate(duration, coordinates=chosen, **options)
    assert "coordinates" not in same.info
    assert (
        same.info["method"] == run.info["method"] == m.problem(duration=duration, **options).method
    )
    point = points(m)[-1]
    np.testing.assert_array_equal(run.position(point).values, same.position(point).values)


def test_natural_coordinates_where_relative_ones_find_no_initial_state() -> None:
    """The conditions of a loop that only parallel hinges close are rounding in relative ones."""
    m = vm.Mechanism("door", gravity=(0, 0, 0))
    axis = (0.3, 0.7, 0.9)
    m.ground_point("A", (0.1, 0.2, 0.7))
    m.ground_point("B", (0.4, 0.9, 1.6))
    m.body(
        "door", mass=2.0, inertia=(0.1, 0.1, 0.1), points={"a": (0.1, 0, 0), "b": (0.4, 0.7, 0.9)}
    )
    m.revolute("lower", "ground.A", "door.a", axis=axis)
    m.revolute("upper", "ground.B", "door.b", axis=axis)
    m.start(angle={"lower": 0.0}, speed={"lower": 1.0})
    with pytest.raises(vm.ModelError, match=r"rounding errors; use coordinates='natural'"):
        m.simulate(0.1, coordinates="rtdyn1")
    run = m.simulate(0.1)
    assert "find no initial state" in run.info["coordinates"]
    assert run.angle("lower").values[-1] == pytest.approx(0.1)


def test_bodies_far_from_the_ground_with_loops_are_natural() -> None:
    assert "joints away from the ground" in Automatic().chosen(deep_loop().data, recursive=True)[1]


def deep_loop() -> vm.Mechanism:
    """A closed chain of 30 spatial bodies: the tree has two branches of 15."""
    m = vm.Mechanism("deep", gravity=(0, 0, -9.81))
    m.ground_point("A", (0, 0, 0))
    m.ground_point("B", (1, 0, 0))
    previous = "ground.A"
    for k in range(30):
        m.body(f"b{k}", mass=1.0, inertia=(1, 1, 1), points={"a": (0, 0, 0), "b": (0.1, 0, 0)})
        m.spherical(f"J{k}", previous, f"b{k}.a")
        previous = f"b{k}.b"
    m.spherical("end", previous, "ground.B")
    return m
