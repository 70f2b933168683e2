"""Varimech's side of the comparison of machines: public calls with default options, in a process of
its own with an empty cache.

Asked for a motion, it states the machine, simulates it several times, and reports the initial state
for other engines; asked for a gradient, an exact Hessian or a start, it does that first.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

from machines import KINDS, Body, Machine
from machines_peers import GOAL
from problem import fastest, timed
from scale_problem import children_megabytes, own_megabytes

import varimech as vm
from varimech.backends.library_cache import cache_folder, entries_of
from varimech.benchmarks import spatial_slider_crank

WARM = 10.0
"""Seconds after the first call from which on later calls count."""
BUILT = 60.0
"""Seconds after which a gradient that is still being compiled is not waited for."""
LATER = 5
"""Later calls, of which the median counts."""
EXACT = 1e-10
"""Tolerance of the reference."""
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Of which the first is taken that is as accurate as other engines have to be."""


class Parameters:
    """The first numbers of a model as its parameters."""

    def __init__(self, mechanism: vm.Mechanism, count: int):
        self._mechanism, self._left = mechanism, count

    def __call__(self, name: str, value: float) -> Any:
        if self._left == 0:
            return value
        self._left -= 1
        return self._mechanism.parameter(name, value)


def stated(kind: str, parameters: int, size: int | None = None) -> tuple[vm.Mechanism, Machine]:
    """The machine with so many parameters."""
    known = KINDS[kind]
    gravity = (0, -9.81) if kind == "jansen" else (0, 0, -9.81)
    m = vm.Mechanism(kind, gravity=gravity)
    machine = known.build(known.size if size is None else size, Parameters(m, parameters))
    for name, place in machine.ground.items():
        m.ground_point(name, place)
    for body in machine.bodies:
        _add_body(m, body)
    for joint in machine.joints:
        axes = {"axis": joint.axis, "axis_on_second": joint.axis_on_second}
        given = {key: axis for key, axis in axes.items() if axis is not None}
        getattr(m, joint.kind)(joint.name, joint.first, joint.second, **given)
    for spring in machine.springs:
        law = {"stiffness": spring.stiffness, "natural_length": spring.natural_length}
        m.spring(spring.name, spring.first, spring.second, **law, damping=spring.damping)
    for rod in machine.rods:
        m.distance(rod.name, rod.first, rod.second, length=rod.length)
    for name, of, torque in machine.torques:
        m.torque(name, of, torque)
    _add_drives(m, machine)
    m.start(**machine.start, near=machine.near)
    return m, machine


def _add_body(m: vm.Mechanism, body: Body) -> None:
    given: dict[str, Any] = {} if body.com is None else {"com": body.com}
    if body.floating:
        given["floating"] = True
    m.body(body.name, mass=body.mass, inertia=body.inertia, points=body.points, **given)


def _add_drives(m: vm.Mechanism, machine: Machine) -> None:
    for d in machine.drives:

        def value(t: Any, d: Any = d) -> Any:
            return d.offset + d.amplitude * vm.sin(d.frequency * t + d.phase)

        if d.direction is None:
            m.drive_displacement(d.name, d.of, value)
        else:
            m.drive_coordinate(d.name, d.of, d.direction, value)


def objectives(kind: str, watched: str) -> dict[str, vm.Objective]:
    if kind == "wishbone":
        return {"camber": vm.final(lambda s: vm.asin(s.rotation("upright")[:, 1][2]), unit="rad")}
    return {
        "reach": vm.final(lambda s: vm.dot(s.position(watched), s.position(watched))),
        "speed": vm.integral(lambda s: vm.dot(s.velocity(watched), s.velocity(watched))),
    }


def later(call: Callable[[], Any], first: float) -> float:
    """Median seconds of calls once what is built in the background had time."""
    time.sleep(max(0.0, WARM - first))
    return statistics.median(timed(call)[0] for _ in range(LATER))


def motion(kind: str) -> dict[str, Any]:
    stating, (m, machine) = timed(lambda: stated(kind, 0))

    def simulate(**options: Any) -> vm.Run:
        return m.simulate(machine.duration, progress=False, **options)

    first, run = timed(simulate)
    report = {
        "stating": stating,
        "first": first,
        "later": later(simulate, first),
        "megabytes": megabytes(),
        "execution": simulate().info["execution"]["by"],
        "position": end(run, machine),
        "method": run.info["method"],
    }
    exact = end(simulate(tolerance=EXACT), machine)
    report |= {"exact": exact, "state": initial_state(run, machine)}
    for tolerance in TOLERANCES:
        call = partial(simulate, tolerance=tolerance)
        if (error := math.dist(end(call(), machine), exact)) <= GOAL:
            break
    loose = {"tolerance": tolerance, "error": error, "later": fastest(call, 1.0, at_least=3)[0]}
    return report | {"loose": loose}


def end(run: vm.Run, machine: Machine) -> list[float]:
    """The last position of the watched point."""
    return [float(x) for x in run.position(machine.watched).to_numpy()[-1]]


def initial_state(run: vm.Run, machine: Machine) -> dict[str, dict[str, Any]]:
    """Position, orientation and velocities of every body, for engines that do not assemble."""

    def of(output: str, name: str) -> Any:
        return getattr(run, output)(name).to_numpy()[0].tolist()

    planar = len(machine.gravity) == 2
    return {
        body.name: {
            "position": of("position", f"{body.name}.com"),
            "velocity": of("velocity", f"{body.name}.com"),
            "orientation": of("angle" if planar else "rotation", body.name),
            "turning": of("angular_velocity", body.name),
        }
        for body in machine.bodies
    }


def built(differentiate: Callable[[], vm.Gradient], began: float) -> str:
    """When compiled code took over, as text."""
    while time.perf_counter() - began < BUILT:
        if "building" not in differentiate().run.info["execution"]:
            return f" after {time.perf_counter() - began:.0f} s"
        time.sleep(0.5)
    return f" after {BUILT:.0f} s"


def gradient(kind: str) -> dict[str, Any]:
    m, machine = stated(kind, KINDS[kind].parameters)
    asked = objectives(kind, machine.watched)

    def differentiate() -> vm.Gradient:
        return m.sensitivity(asked, wrt="all", duration=machine.duration, progress=False)

    began = time.perf_counter()
    first, computed = timed(differentiate)
    after = built(differentiate, began)
    again = later(differentiate, time.perf_counter() - began)
    execution = computed.run.info["execution"]["by"]
    return {
        "first": first,
        "later": again,
        "megabytes": megabytes(),
        "execution": differentiate().run.info["execution"]["by"] + after,
        "first_execution": execution,
        "parameters": len(computed.parameter_names),
    }


def hessian() -> dict[str, Any]:
    """The exact Hessian of the spatial slider-crank with springs."""
    m, asked = spatial_slider_crank.mechanism(), spatial_slider_crank.objectives()

    def differentiate() -> vm.Hessian:
        return m.hessian(asked, duration=spatial_slider_crank.DURATION, progress=False)

    first, computed = timed(differentiate)
    return {
        "first": first,
        "later": later(differentiate, first),
        "megabytes": megabytes(),
        "parameters": len(computed.parameter_names),
    }


def start(levels: int) -> dict[str, Any]:
    """From the first statement of a scissor structure to the end of a first short motion."""
    stating, (m, _) = timed(lambda: stated("scissor", 0, levels))
    first, _ = timed(lambda: m.simulate(1e-3, progress=False))
    return {"stating": stating, "first": first, "megabytes": megabytes()}


def second(known: str, other: str) -> dict[str, Any]:
    """A machine after another one: libraries that its first motion has built, and seconds to its
    end. Both motions are short, so that no build in the background is under way.
    """
    m, _ = stated(known, 0)
    m.simulate(1e-3, progress=False)
    before = entries_of(cache_folder()).keys()
    stating, (m, _) = timed(lambda: stated(other, 0))
    first, run = timed(lambda: m.simulate(1e-3, progress=False))
    built = entries_of(cache_folder()).keys() - before
    by = run.info["execution"]["by"]
    return {"stating": stating, "first": first, "libraries": len(built), "execution": by}


def megabytes() -> float:
    """The peak of this process, and that of the largest of its children that have ended."""
    return own_megabytes() + children_megabytes()


ANALYSES: dict[str, Callable[..., dict[str, Any]]] = {
    "motion": motion,
    "gradient": gradient,
    "hessian": hessian,
    "start": start,
    "second": second,
}

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    report = ANALYSES[asked["analysis"]](*asked["arguments"])
    json.dump(report | {"versions": {"varimech": version("varimech")}}, sys.stdout)
