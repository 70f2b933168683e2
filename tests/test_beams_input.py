"""Input that makes no sense for beams is refused with the name and the remedy, and leaves the model
as it was.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from refusals import contents, refused

import varimech as vm

Call = Callable[[Any], object]
GOOD: dict[str, Any] = {
    "segments": 4,
    "length": 1,
    "E": 1e6,
    "area": 1e-2,
    "inertia": 1e-6,
    "mass": 1,
}
NAN, INF = math.nan, math.inf


def model(dimension: int) -> vm.Mechanism:
    """Two beams, a bar and points to join them with."""
    m = vm.Mechanism("m", dimension=dimension)
    m.ground_point("A", np.zeros(dimension))
    m.bar("bar", "T", "U", length=1, mass=1)
    m.beam("beam", "A", "B", **GOOD)
    m.beam("other", "C", "D", **GOOD)
    return m


def check(m: vm.Mechanism, call: Call, words: tuple[str, ...]) -> None:
    before, named, joined = contents(m), list(m.data._named), dict(m.data._groups)
    with pytest.raises(vm.ModelError) as caught:
        call(m)
    for word in words:
        assert word in str(caught.value)
    assert (contents(m), list(m.data._named), dict(m.data._groups)) == (before, named, joined)


def beam(start: Any = "X", end: Any = "Y", **options: Any) -> Call:
    """A third beam with some options that differ; `...` leaves one out."""
    chosen = {k: v for k, v in (GOOD | options).items() if v is not ...}
    return lambda m: m.beam("x", start, end, **chosen)


def sectioned(make: Callable[[], Any]) -> Call:
    return lambda m: beam(area=..., inertia=..., section=make())(m)


def curved(shape: Any) -> Call:
    return beam(length=..., shape=shape)


def inside(name: str, part: Any) -> Call:
    return measured(lambda s: getattr(s, name)("beam", part))


def measured(function: Callable[[Any], Any], dimension: int = 2) -> Call:
    """A force that asks for something of the state."""
    return lambda m: m.force("f", "bar.T", lambda s: (function(s), *[0] * (dimension - 1)))


NOT_A_NUMBER = "no parameter or quantity is called 'a'"


@refused(
    *[(f"segments {n!r}", beam(segments=n), (f"'x': segments = {n!r}", "whole number, 1 or more")) for n in (0, -1, 2.5, True, "4", None)],
    *[
        (f"{name} {value!r}", beam(**{name: value}), (f"beam 'x': {name} = ", words))
        for name in ("E", "area", "mass", "length", "natural_length")
        for value, words in ((0, "must be positive"), (-1, "must be positive"), (NAN, "is not finite"), ("a", NOT_A_NUMBER))
    ],
    ("inertia", beam(inertia=-1), ("beam 'x': inertia = -1 must not be negative",)),
    ("infinite inertia", beam(inertia=INF), ("beam 'x': inertia = inf is not finite",)),
    ("a vector", beam(E=(1, 2)), ("beam 'x': E = (1, 2) must be a single number",)),
    ("density", beam(mass=..., density=-1), ("beam 'x': density = -1 must be positive",)),
    ("no E", beam(E=None), ("beam 'x': E = None is not a number",)),
    ("no area", beam(area=...), ("beam 'x' needs area=… (m²) and inertia=… (m⁴), or section=…", "varimech.circle(diameter)")),
    ("no inertia", beam(inertia=...), ("beam 'x' needs area=", "or section=…")),
    ("section and area", beam(section=vm.circle(0.1)), ("beam 'x': give either section=… or area=… and inertia=…, not both",)),
    ("density and mass", beam(density=1), ("beam 'x' needs either density=… (kg/m³) or mass=… (kg)",)),
    ("neither density nor mass", beam(mass=...), ("beam 'x' needs either density=… (kg/m³) or mass=… (kg)",)),
    ("neither length nor shape", beam(length=...), ("beam 'x' needs either length=… (m) or, if it is curved, shape=…",)),
    ("length and shape", beam(shape=[(k, k**2) for k in range(5)]), ("beam 'x' needs either length=… (m) or",)),
    ("material", beam(material="rubber"), ("beam 'x': material = 'rubber' must be one of 'logarithmic', 'linear'",)),
    ("masses", beam(masses="lump"), ("beam 'x': masses = 'lump' must be one of 'consistent', 'lumped'",)),
    *[(f"damping {d!r}", beam(damping=d), (f"'x': damping = {d!r} must be a pair", "γ in 1/s, β in s")) for d in (1, (1,), (1, 2, 3), None)],
    ("negative damping", beam(damping=(0, -1)), ("beam 'x': damping[1] = -1 must not be negative",)),
    ("damping in words", beam(damping="ab"), ("beam 'x': damping[0] = 'a': no parameter",)),
    ("another's parameter", beam(E=vm.Parameter("q", 1.0)), ("beam 'x': E uses 'q' of another mechanism", "make it there")),
    ("both ends", beam("X", "X"), ("beam 'x': both ends are called 'X'; give them different names",)),
    ("an end as a node", beam("n1"), ("'n1'", "choose another name")),
    ("an end without a name", beam(""), ("a point needs a name",)),
    ("a name twice", lambda m: m.beam("bar", "X", "Y", **GOOD), ("the name 'bar' is already used", "choose another name")),
)  # fmt: skip
def test_numbers_and_names_no_beam_can_have(call: Call, words: tuple[str, ...]) -> None:
    check(model(2), call, words)


@refused(
    ("a number", curved(5), ("beam 'x': shape must be a function of s in [0, 1], or 5 places, one for each node",)),
    ("too few", curved([(0, 0), (1, 0)]), ("or 5 places, one for each node",)),
    ("in space", curved([(k, k, 0) for k in range(5)]), ("beam 'x': shape[0] = (0, 0, 0) has 3 components", "planar, give 2")),
    ("of numbers", curved(lambda s: s), ("beam 'x': shape[0] = 0.0 must have 2 components",)),
    ("not finite", curved(lambda s: (s, NAN)), ("beam 'x': shape[0][1] = nan is not finite",)),
    ("standing still", curved([(0, 0), (1, 0), (1, 0), (2, 1), (3, 0)]), ("beam 'x'", "shape[1] and shape[2] = 0 must be positive")),
    ("closed", curved([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]), ("beam 'x': squared distance of its ends = 0 must be positive",)),
    ("circle", sectioned(lambda: vm.circle(-1)), ("section: diameter = -1 must not be negative",)),
    ("circle of nothing", sectioned(lambda: vm.circle(None)), ("section: diameter = None is not a number",)),
    ("tube", sectioned(lambda: vm.tube(0.1, 0.2)), ("beam 'x': area = -0.0235619 must be positive",)),
    ("inner", sectioned(lambda: vm.tube(0.1, -0.05)), ("section: inner diameter = -0.05 must not be negative",)),
    ("rectangle", sectioned(lambda: vm.rectangle(-1, -1)), ("section: width = -1 must not be negative",)),
    ("flat", sectioned(lambda: vm.rectangle(1, 0)), ("beam 'x': area = 0 must be positive",)),
    ("square", sectioned(lambda: vm.square("a")), ("section: side = 'a': no parameter",)),
    ("no section", sectioned(lambda: 0.1), ("beam 'x': section = 0.1 is none; use varimech.circle(diameter), tube",)),
)  # fmt: skip
def test_shapes_and_sections_no_beam_can_have(call: Call, words: tuple[str, ...]) -> None:
    check(model(2), call, words)


ONE_BY_ONE = "needs a point of a rigid body or the ground first, then the end of a beam"


@refused(
    ("inner", lambda m: m.clamp("c", "ground.A", "beam.n1", direction=(1, 0)), ("clamp 'c': 'beam.n1' is not an end", "use 'beam.A' or")),
    ("swapped", lambda m: m.clamp("c", "beam.A", "ground.A", direction=(1, 0)), (f"clamp 'c' {ONE_BY_ONE}, not 'beam.A' and 'ground.A'",)),
    ("two beams", lambda m: m.clamp("c", "beam.B", "other.C", direction=(1, 0)), (ONE_BY_ONE, "two beams need a body between them")),
    ("a bar", lambda m: m.clamp("c", "ground.A", "bar.T", direction=(1, 0)), (ONE_BY_ONE, "not 'ground.A' and 'bar.T'")),
    ("no direction", lambda m: m.clamp("A", direction=(0, 0)), ("clamp 'A': direction = (0, 0)", "give a direction that is not zero")),
    ("in space", lambda m: m.clamp("A", direction=(1, 0, 0)), ("clamp 'A': direction = (1, 0, 0) has 3 components", "planar, give 2")),
    ("none", lambda m: m.clamp("A", direction=None), ("clamp 'A' needs direction=…, such as direction=(1, 0)",)),
    ("one point", lambda m: m.clamp("c", "ground.A", direction=(1, 0)), ("clamp 'c': give both points, or none",)),
    ("no such node", lambda m: m.clamp("c", "ground.A", "beam.n9", direction=(1, 0)), ("no point of body 'beam' is called 'n9'",)),
    ("a name twice", lambda m: m.clamp("bar", "ground.A", "beam.A", direction=(1, 0)), ("the name 'bar' is already used",)),
    ("prismatic", lambda m: m.prismatic("j", "beam.B", "bar.T", axis=(1, 0)), ("prismatic joint 'j': 'beam' is a beam", "use revolute")),
    ("fixed", lambda m: m.fixed("j", "bar.T", "beam.B"), ("fixed joint 'j': 'beam' is a beam", "use revolute, distance, clamp")),
    ("first on a line", lambda m: m.point_on_line("j", "beam.B", "bar.T", axis=(1, 0)), ("'beam' is a beam", "its point as the second one")),
    ("to itself", lambda m: m.revolute("j", "beam.n1", "beam.B"), ("revolute joint 'j': both points are on body 'beam'",)),
    ("a point", lambda m: m.point("beam", "Q", (0.5, 0)), ("point 'Q': 'beam' is a beam",)),
    ("torque", lambda m: m.torque("t", "beam", 1), ("torque 't': beam 'beam'", "name one of its points, such as 'beam.B'")),
    ("against", lambda m: m.torque("t", "bar", 1, against="beam"), ("torque 't': against: beam 'beam'", "such as 'beam.B'")),
    ("torque on a bar's point", lambda m: m.torque("t", "bar.T", 1), ("'bar.T' is a point of a rigid body; name the body, 'bar'",)),
    ("torque on no node", lambda m: m.torque("t", "beam.n7", 1), ("no point of body 'beam' is called 'n7'",)),
    ("start", lambda m: m.start(angle={"beam.n1": 1}), ("no body or joint is called 'beam.n1'; did you mean 'beam'?",)),
    *[
        (f"{name} {k!r}", inside(name, k), (f"beam 'beam' has no {part} {k!r}", where))
        for name, part, where, wrong in (
            ("axial_force", "segment", "counted from 0 to 3", (-1, 4, 1.5, True)),
            ("bending_moment", "inner node", "counted from 1 to 3", (0, 4, 1.0)),
        )
        for k in wrong
    ],
    ("forces in a bar", measured(lambda s: s.axial_force("bar", 0)), ("'bar' is a rigid body; only beams have internal forces and moments",)),
    ("forces in nothing", measured(lambda s: s.axial_force("bean", 0)), ("no body is called 'bean'; did you mean 'beam'?",)),
)  # fmt: skip
def test_what_beams_cannot_do_in_the_plane(call: Call, words: tuple[str, ...]) -> None:
    check(model(2), call, words)


X, Y = (1, 0, 0), (0, 1, 0)
INSTEAD = (
    "use spherical, distance, clamp, or point_on_line or point_on_plane with its point as the"
    " second one"
)


@refused(
    ("rectangle", sectioned(lambda: vm.rectangle(0.1, 0.2)), ("beam 'x': in space a beam bends alike in all directions; use a circle",)),
    ("straight", curved(lambda s: (s, 2 * s, 0)), ("beam 'x': shape is straight; give length=… instead",)),
    ("revolute", lambda m: m.revolute("j", "beam.B", "bar.T", axis=X), ("revolute joint 'j': 'beam' is a beam", INSTEAD)),
    ("universal", lambda m: m.universal("j", "bar.T", "beam.B", axis=X, axis_on_second=Y), ("universal joint 'j': 'beam'", INSTEAD)),
    ("cylindrical", lambda m: m.cylindrical("j", "bar.T", "beam.B", axis=X), ("cylindrical joint 'j': 'beam' is a beam", INSTEAD)),
    ("planar", lambda m: m.planar("j", "bar.T", "beam.B", normal=X), ("planar joint 'j': 'beam' is a beam", INSTEAD)),
    ("prismatic", lambda m: m.prismatic("j", "beam.B", "other.C", axis=X), ("prismatic joint 'j': 'beam' is a beam", INSTEAD)),
    ("first on a plane", lambda m: m.point_on_plane("j", "beam.B", "bar.T", normal=X), ("'beam' is a beam", INSTEAD)),
    ("torque", lambda m: m.torque("t", "beam.B", X, frame="body"), ("torque 't': a beam has no body axes", "omit frame='body'")),
    ("force", lambda m: m.force("f", "beam.B", X, frame="body"), ("force 'f': a beam has no body axes", "omit frame='body'")),
    ("scalar torque", lambda m: m.torque("t", "beam.B", 1), ("torque 't' = 1 must have 3 components",)),
    ("spring", lambda m: m.torsional_spring("s", "beam", stiffness=1), ("body 'beam' is spatial: it has no single angle",)),
    ("orientation", lambda m: m.start(orientation={"beam": np.eye(3)}), ("start: orientation of 'beam': 'beam' is a beam",)),
    ("rotation", measured(lambda s: s.rotation("beam")[0, 0], 3), ("rotation: 'beam' is a beam, which has no single orientation",)),
    ("turning", measured(lambda s: s.angular_velocity("beam")[0], 3), ("angular velocity: 'beam' is a beam",)),
)  # fmt: skip
def test_what_beams_cannot_do_in_space(call: Call, words: tuple[str, ...]) -> None:
    check(model(3), call, words)


def test_a_clamp_does_not_replace_a_force_of_the_name_of_its_bending() -> None:
    m = model(2)
    m.force("c.bending", "bar.T", (1, 0))
    check(
        m,
        lambda m: m.clamp("c", "ground.A", "beam.A", direction=(1, 0)),
        ("the name 'c.bending' is already used",),
    )


def test_a_whole_number_of_numpy_is_a_number_of_segments() -> None:
    assert (
        vm.Mechanism("m").beam("beam", "A", "B", **(GOOD | {"segments": np.int64(3)})).segments == 3
    )


# runs


def pendulum(n: int, **options: Any) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.beam("beam", "A", "B", **(GOOD | {"segments": n} | options))
    m.revolute("A")
    m.start(angle={"beam": 0.0})
    return m


@pytest.mark.parametrize("coordinates", ["rtdyn0", "rtdyn1", vm.Relative()])
def test_relative_coordinates_are_those_of_rigid_bodies(coordinates: Any) -> None:
    with pytest.raises(
        vm.ModelError,
        match=r"'beam' is a beam; relative coordinates .* use coordinates='natural'",
    ):
        pendulum(2).simulate(0.1, step=0.01, coordinates=coordinates)


@pytest.mark.parametrize("masses", ["consistent", "lumped"])
@pytest.mark.parametrize("integrator", ["rk4", "dopri5", "dop853"])
def test_explicit_steps_that_are_too_long_are_refused_with_the_longest_stable_one(
    integrator: str, masses: str
) -> None:
    m = pendulum(8, E=1e9, masses=masses)
    with pytest.raises(
        vm.SimulationError, match="Beam 'beam' vibrates along its segments"
    ) as caught:
        m.simulate(0.5, step=2e-3, integrator=integrator)
    advice = re.search(
        f"{integrator} needs steps of at most (\\S+) s for it, or fewer segments", str(caught.value)
    )
    assert advice is not None
    run = m.simulate(0.05, step=float(advice.group(1)), integrator=integrator, every=100)
    assert np.abs(run.energy().to_numpy()).max() < 1e-3


def test_an_implicit_run_that_stops_names_the_beam_and_what_to_use() -> None:
    m = vm.Mechanism("five-bar", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    for start, end, square in (
        ("A", "1", 2.0),
        ("1", "2", 3.25),
        ("2", "3", 3.25),
        ("3", "B", 2.0),
    ):
        steel: dict[str, Any] = {"E": 206.94e9, "section": vm.circle(0.01), "density": 7850}
        m.beam(start + end, start, end, segments=32, length=math.sqrt(square), **steel)
    for joint in "A123B":
        m.revolute(joint)
    m.spring("s1", "1", "B", stiffness=100, natural_length=math.sqrt(5))
    m.spring("s2", "2", "B", stiffness=100, natural_length=math.sqrt(4.25))
    m.start(angle={"A1": -3 * math.pi / 4, "12": math.atan2(-1, 1.5)}, near={"3": (2, -1)})
    with pytest.raises(
        vm.SimulationError,
        match=r"try a smaller step, or integrator='generalised-alpha'.*beam '(A1|3B)' vibrates",
    ):
        m.simulate(5.0, step=0.01)
    m.simulate(5.0, step=0.01, integrator="generalised-alpha")
