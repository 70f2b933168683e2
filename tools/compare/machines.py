"""Real machines as plain data that every engine can state: bodies, joints, springs, torques, drives,
and where they start. Needs NumPy only.

Numbers pass through `number(name, value)`, which may return a parameter of Varimech in place of a
value; so the same functions state models with any number of parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

GROUND = "ground"
Number = Callable[[str, float], Any]
"""A number of a model, by name and value."""
Vector = tuple[Any, ...]
FRAME = np.eye(3)


@dataclass(frozen=True)
class Body:
    """Mass, principal inertia about the centre of mass, and points in its own frame."""

    name: str
    mass: Any
    inertia: Any
    points: Mapping[str, Vector]
    com: Vector | None = None
    floating: bool = False


@dataclass(frozen=True)
class Joint:
    """A joint between two points `body.point`; axes are given in the frames of their bodies."""

    kind: str
    name: str
    first: str
    second: str
    axis: Vector | None = None
    axis_on_second: Vector | None = None


@dataclass(frozen=True)
class Spring:
    name: str
    first: str
    second: str
    stiffness: Any
    natural_length: Any
    damping: Any = 0.0


@dataclass(frozen=True)
class Rod:
    """A massless rod of fixed length."""

    name: str
    first: str
    second: str
    length: Any


@dataclass(frozen=True)
class Drive:
    """offset + amplitude · sin(frequency · t + phase) for a prismatic joint, or for a coordinate of
    a point.
    """

    name: str
    of: str
    offset: Any
    amplitude: float
    frequency: float
    phase: float
    direction: Vector | None = None


@dataclass
class Machine:
    """A mechanism, the time that is simulated, and the point that is compared."""

    name: str
    gravity: Vector
    duration: float
    watched: str
    ground: dict[str, Vector] = field(default_factory=dict)
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    springs: list[Spring] = field(default_factory=list)
    rods: list[Rod] = field(default_factory=list)
    torques: list[tuple[str, str, Any]] = field(default_factory=list)
    """Name, body, and torque in the fixed frame."""
    drives: list[Drive] = field(default_factory=list)
    start: dict[str, Any] = field(default_factory=dict)
    """Initial conditions, in the terms of Varimech."""
    near: dict[str, Any] = field(default_factory=dict)
    """Approximate orientations of bodies, and positions of points."""

    def place(self, body: str, com: np.ndarray, orientation: Any) -> None:
        """Where a body approximately is."""
        self.near[body] = orientation
        self.near[f"{body}.com"] = tuple(map(float, com))

    def join(self, kind: str, name: str, first: str, second: str, *axes: Any) -> None:
        """Add a joint; axes are those on the first and on the second body."""
        self.joints.append(Joint(kind, name, first, second, *(tuple(a) for a in axes)))


def direction(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle), 0.0])


def along(axis: np.ndarray, side: np.ndarray) -> np.ndarray:
    """The frame whose first axis is given, and whose second one is perpendicular to it and to a
    direction.
    """
    second = np.cross(side, axis)
    second /= np.linalg.norm(second)
    return np.column_stack([axis, second, np.cross(axis, second)])


ARM_AXES = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0.3, 0.2))


def arm(joints: int, number: Number) -> Machine:
    """A serial arm: links on revolute joints whose axes alternate."""
    machine = Machine(f"arm of {joints} joints", (0, 0, -9.81), 1.0, f"link{joints - 1}.end")
    machine.ground["base"] = (0, 0, 0)
    before, angles = f"{GROUND}.base", {}
    for k in range(joints):
        length, mass = number(f"length{k}", 0.4), number(f"mass{k}", 3.0 / (1 + 0.1 * k))
        inertia = tuple(
            number(f"inertia{c}{k}", value)
            for c, value in zip("xyz", (0.01, 0.05, 0.05), strict=True)
        )
        com = tuple(
            number(f"com{c}{k}", value) for c, value in zip("xyz", (0.2, 0.01, 0.02), strict=True)
        )
        points = {"start": (0, 0, 0), "end": (length, 0, 0)}
        machine.bodies.append(Body(f"link{k}", mass, inertia, points, com))
        axis = ARM_AXES[k % len(ARM_AXES)]
        machine.join("revolute", f"J{k}", before, f"link{k}.start", axis, axis)
        before, angles[f"J{k}"] = f"link{k}.end", 0.3 * (-1) ** k
    machine.start["angle"] = angles
    return machine


def platform_points(spacing: float) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Base points and platform points of six legs in pairs, and the angles of the base points."""
    points = []
    for leg in range(6):
        middle, side = 2 * math.pi * (leg // 2) / 3, 1 if leg % 2 else -1
        at = middle + 0.25 * side
        points.append((direction(at), 0.6 * direction(middle + spacing * side), at))
    return points


def in_plane(name: str, place: np.ndarray, number: Number) -> Vector:
    """A point whose first two coordinates may be parameters."""
    return (number(f"{name}x", place[0]), number(f"{name}y", place[1]), float(place[2]))


def plate(
    points: list[tuple[np.ndarray, np.ndarray, float]], number: Number, *, floating: bool
) -> Body:
    mass = number("plate.mass", 20.0)
    inertia = tuple(number(f"plate.inertia{k}", value) for k, value in enumerate((1.0, 1.0, 2.0)))
    places = {f"P{k}": in_plane(f"P{k}", top, number) for k, (_, top, _) in enumerate(points)}
    return Body("plate", mass, inertia, places, floating=floating)


def ups_platform(_: int, number: Number) -> Machine:
    """A platform on six telescopic legs: universal, prismatic and spherical joints, and springs."""
    height, points = 1.2, platform_points(0.8)
    machine = Machine("UPS platform", (0, 0, -9.81), 1.0, "plate.com")
    machine.bodies.append(plate(points, number, floating=True))
    centre = np.array([0, 0, height])
    machine.place("plate", centre, FRAME)
    for k, (base, top, _angle) in enumerate(points):
        leg = centre + top - base
        length = float(np.linalg.norm(leg))
        frame = along(leg / length, np.array([0, 0, 1.0]))
        machine.ground[f"B{k}"] = in_plane(f"B{k}", base, number)
        for name, mass, com, point in (("lower", 2.0, 0.3, "B"), ("upper", 1.5, -0.3, "P")):
            machine.bodies.append(
                Body(
                    f"{name}{k}",
                    number(f"{name}{k}.mass", mass),
                    (0.01, 0.1, 0.1),
                    {point: (0, 0, 0)},
                    (com, 0, 0),
                )
            )
        machine.place(f"lower{k}", base + 0.3 * frame[:, 0], frame)
        machine.place(f"upper{k}", centre + top - 0.3 * frame[:, 0], frame)
        cross = np.cross(frame[:, 1], [0, 0, 1.0])
        machine.join("universal", f"U{k}", f"{GROUND}.B{k}", f"lower{k}.B", cross, (0, 1, 0))
        machine.join("prismatic", f"S{k}", f"lower{k}.B", f"upper{k}.P", (1, 0, 0))
        machine.join("spherical", f"K{k}", f"plate.P{k}", f"upper{k}.P")
        stiffness = number(f"stiffness{k}", 5000.0)
        ends = f"{GROUND}.B{k}", f"plate.P{k}"
        machine.springs.append(Spring(f"spring{k}", *ends, stiffness, length + 0.05, 100.0))
    machine.start = {
        "position": {"plate.com": (0.05, 0.02, height)},
        "orientation": {"plate": FRAME},
        "speed": {"plate.com": (0.2, 0.1, 0.0)},
    }
    return machine


def rus_platform(_: int, number: Number) -> Machine:
    """A platform on six cranks with rods: revolute, universal and spherical joints, and motors."""
    height, radius, points = 0.9, 0.25, platform_points(0.5)
    machine = Machine("RUS platform", (0, 0, -9.81), 0.3, "plate.com")
    machine.bodies.append(plate(points, number, floating=False))
    centre = np.array([0, 0, height])
    machine.place("plate", centre, FRAME)
    for k, (base, top, angle) in enumerate(points):
        radial, tangential = direction(angle), direction(angle + math.pi / 2)
        tip = base + radius * radial
        rod = centre + top - tip
        length = float(np.linalg.norm(rod))
        axis = rod / length
        frame = along(axis, radial if abs(axis @ radial) < 0.9 else tangential)
        machine.ground[f"B{k}"] = in_plane(f"B{k}", base, number)
        crank = Body(
            f"crank{k}",
            number(f"crank{k}.mass", 1.0),
            (0.001, 0.01, 0.01),
            {"B": (0, 0, 0), "T": (number(f"crank{k}.length", radius), 0, 0)},
            (radius / 2, 0, 0),
        )
        machine.bodies += [
            crank,
            Body(
                f"rod{k}",
                number(f"rod{k}.mass", 1.5),
                (0.01, 0.1, 0.1),
                {"T": (0, 0, 0), "P": (number(f"rod{k}.length", length), 0, 0)},
                (length / 2, 0, 0),
            ),
        ]
        machine.place(
            f"crank{k}",
            base + radius / 2 * radial,
            np.column_stack([radial, tangential, [0, 0, 1]]),
        )
        machine.place(f"rod{k}", tip + length / 2 * axis, frame)
        cross = np.cross(tangential, axis)
        on_rod = frame.T @ (cross / np.linalg.norm(cross))
        machine.join("revolute", f"R{k}", f"{GROUND}.B{k}", f"crank{k}.B", tangential, (0, 1, 0))
        machine.join("universal", f"U{k}", f"crank{k}.T", f"rod{k}.T", (0, 1, 0), on_rod)
        machine.join("spherical", f"K{k}", f"plate.P{k}", f"rod{k}.P")
        machine.torques.append((f"motor{k}", f"crank{k}", tuple(-40.0 * tangential)))
    machine.start = {"position": {"plate.com": tuple(centre)}, "orientation": {"plate": FRAME}}
    return machine


CORNERS = {"fl": (1.3, 1), "fr": (1.3, -1), "rl": (-1.3, 1), "rr": (-1.3, -1)}
"""Of the vehicle: position along it, and side."""


def vehicle(_: int, number: Number) -> Machine:
    """A vehicle with four double wishbones, a steering rack, and wheels that follow a road."""
    machine = Machine("vehicle", (0, 0, -9.81), 1.0, "chassis.com")

    def add(
        name: str,
        com: tuple[float, float, float],
        mass: float,
        inertia: Vector,
        points: dict[str, tuple[float, float, float]],
        parameters: str = "",
        *,
        floating: bool = False,
    ) -> None:
        """A body in the axes of the vehicle, with points in the vehicle's frame, of which those
        with some initials have parameters as coordinates.
        """
        local = {
            point: tuple(
                number(f"{name}.{point}{c}", x) if point[0] in parameters and abs(x) > 1e-9 else x
                for c, x in zip("xyz", np.subtract(place, com).tolist(), strict=True)
            )
            for point, place in points.items()
        }
        mass = number(f"{name}.mass", mass)
        machine.bodies.append(Body(name, mass, inertia, local, floating=floating))
        machine.place(name, np.array(com), FRAME)

    mounts = {"F": (1.18, 0.0, 0.12)}
    for c, (x, s) in CORNERS.items():
        mounts |= {f"L{c}": (x, s * 0.35, 0.0), f"U{c}": (x, s * 0.42, 0.25)}
        mounts[f"S{c}"] = (x, s * 0.5, 0.5)
        if c[0] == "r":
            mounts[f"T{c}"] = (x - 0.12, s * 0.38, 0.12)
    add("chassis", (0, 0, 0.3), 1200.0, (400.0, 1500.0, 1700.0), mounts, "LUT", floating=True)
    ends = {"F": (1.18, 0.0, 0.12), "Tfl": (1.18, 0.38, 0.12), "Tfr": (1.18, -0.38, 0.12)}
    add("rack", (1.18, 0.0, 0.12), 5.0, (0.3, 0.01, 0.3), ends, "T")
    machine.join("prismatic", "guide", "chassis.F", "rack.F", (0, 1, 0))
    machine.drives.append(Drive("steering", "guide", 0.02, 0.02, 6.0, -math.pi / 2))
    for c, (x, s) in CORNERS.items():
        inner = "rack" if c[0] == "f" else "chassis"
        lower, upper, tie = (x, s * 0.70, -0.02), (x, s * 0.68, 0.27), (x - 0.12, s * 0.70, 0.12)
        wheel = (x, s * 0.78, 0.12)
        arm_points = {"A": (x, s * 0.35, 0.0), "B": lower, "S": (x, s * 0.55, 0.0)}
        add(f"lower{c}", (x, s * 0.52, 0.0), 6.0, (0.1, 0.1, 0.2), arm_points, "B")
        arm_points = {"A": (x, s * 0.42, 0.25), "B": upper}
        add(f"upper{c}", (x, s * 0.55, 0.26), 4.0, (0.05, 0.05, 0.1), arm_points, "B")
        hub = {"L": lower, "U": upper, "T": tie, "W": wheel}
        add(f"upright{c}", (x, s * 0.74, 0.12), 15.0, (0.3, 0.3, 0.3), hub, "LUT")
        rod = {"I": (x - 0.12, s * 0.38, 0.12), "O": tie}
        add(f"tie{c}", (x - 0.12, s * 0.54, 0.12), 1.0, (0.01, 0.001, 0.01), rod, "O")
        add(f"wheel{c}", wheel, 18.0, (0.6, 1.0, 0.6), {"W": wheel})
        machine.join("revolute", f"RL{c}", f"chassis.L{c}", f"lower{c}.A", (1, 0, 0), (1, 0, 0))
        machine.join("revolute", f"RU{c}", f"chassis.U{c}", f"upper{c}.A", (1, 0, 0), (1, 0, 0))
        machine.join("spherical", f"BL{c}", f"lower{c}.B", f"upright{c}.L")
        machine.join("spherical", f"BU{c}", f"upper{c}.B", f"upright{c}.U")
        machine.join("universal", f"TI{c}", f"{inner}.T{c}", f"tie{c}.I", (0, 0, 1), (1, 0, 0))
        machine.join("spherical", f"TO{c}", f"upright{c}.T", f"tie{c}.O")
        machine.join("revolute", f"W{c}", f"upright{c}.W", f"wheel{c}.W", (0, 1, 0), (0, 1, 0))
        stiffness, damping = number(f"stiffness{c}", 40000.0), number(f"damping{c}", 3000.0)
        strut = f"chassis.S{c}", f"lower{c}.S"
        machine.springs.append(Spring(f"strut{c}", *strut, stiffness, 0.62, damping))
        phase = 0.5 * x + 0.3 * s
        machine.drives.append(
            Drive(f"road{c}", f"upright{c}.W", 0.12, 0.02, 8.0, phase, direction=(0, 0, 1))
        )
    machine.start = {
        "position": {"chassis.com": (0, 0, 0.3)},
        "orientation": {"chassis": FRAME},
        "angle": {f"W{c}": 0.0 for c in CORNERS},
        "speed": {f"W{c}": 20.0 for c in CORNERS},
    }
    return machine


def scissor(levels: int, number: Number) -> Machine:
    """A tower of scissors on a square: 12 · levels + 4 bodies, one degree of freedom, many
    redundant constraints.
    """
    angle, corners = 0.9, ((0, 0), (1, 0), (1, 1), (0, 1))
    width, height = math.cos(angle), math.sin(angle)
    machine = Machine(f"scissor structure of {12 * levels + 4} bodies", (0, 0, -9.81), 0.2, "")
    machine.watched = f"hub{levels}_2.O"
    machine.ground["G"] = (0, 0, 0)

    def hub(level: int, corner: int) -> np.ndarray:
        x, y = corners[corner]
        return np.array([x * width, y * width, level * height])

    for level in range(levels + 1):
        for corner in range(4):
            name = f"hub{level}_{corner}"
            mass = number(f"{name}.mass", 0.2)
            machine.bodies.append(Body(name, mass, (1e-3, 1e-3, 1e-3), {"O": (0, 0, 0)}))
            machine.place(name, hub(level, corner), FRAME)
    machine.join("fixed", "base", f"{GROUND}.G", "hub0_0.O")
    for level in range(levels):
        for side in range(4):
            a, b = side, (side + 1) % 4
            axis = (0, 1, 0) if side % 2 == 0 else (1, 0, 0)
            for k, (low, high) in enumerate(((a, b), (b, a))):
                name, begin, end = f"bar{level}_{side}_{k}", hub(level, low), hub(level + 1, high)
                mass, across = number(f"{name}.mass", 0.5), np.array(axis, float)
                points = {"S": (-0.5, 0, 0), "E": (0.5, 0, 0)}
                machine.bodies.append(Body(name, mass, (1e-4, 0.5 / 12, 0.5 / 12), points))
                bar = end - begin
                machine.place(
                    name, (begin + end) / 2, np.column_stack([bar, across, np.cross(bar, across)])
                )
                hubs = f"hub{level}_{low}.O", f"hub{level + 1}_{high}.O"
                machine.join("revolute", f"{name}S", hubs[0], f"{name}.S", axis, (0, 1, 0))
                machine.join("revolute", f"{name}E", f"{name}.E", hubs[1], (0, 1, 0), axis)
            pair = [f"bar{level}_{side}_{k}.com" for k in range(2)]
            machine.join("revolute", f"X{level}_{side}", *pair, (0, 1, 0), (0, 1, 0))
    machine.start = {"distance": {("hub0_0.O", "hub0_1.O"): width}}
    return machine


JANSEN = dict(
    zip(
        "abcdefghijklm",
        (38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0),
        strict=True,
    )
)
"""Jansen's lengths, cm."""


def jansen(legs: int, number: Number) -> Machine:
    """Jansen's legs in pairs on one crank: planar, six bodies and three loops a leg."""
    length = {name: 0.01 * value for name, value in JANSEN.items()}
    machine = Machine(f"{legs} Jansen legs", (0, -9.81), 1.0, "foot0.S")
    pivots = {"B1": (-length["a"], -length["l"]), "B2": (length["a"], -length["l"])}
    machine.ground |= {"O": (0, 0), **pivots}
    phases = [2 * math.pi * (leg // 2) / max(1, (legs + 1) // 2) for leg in range(legs)]
    pins = {
        f"C{leg}": tuple((length["m"] * direction(phase))[:2].tolist())
        for leg, phase in enumerate(phases)
    }
    crank = Body("crank", 2.0, number("crank.inertia", 0.05), {"O": (0, 0), **pins}, (0, 0))
    machine.bodies.append(crank)
    machine.join("revolute", "O", f"{GROUND}.O", "crank.O")
    for leg in range(legs):
        _jansen_leg(machine, leg, np.array(pins[f"C{leg}"]), length, number)
    machine.torques.append(("motor", "crank", 5.0))
    machine.start = {"angle": {"crank": 0.0}, "speed": {"crank": 6.0}}
    return machine


def _jansen_leg(
    machine: Machine, leg: int, pin: np.ndarray, length: dict[str, float], number: Number
) -> None:
    side = -1 if leg % 2 == 0 else 1
    pivot = np.array([side * length["a"], -length["l"]])
    knee = crossing(pivot, length["b"], pin, length["j"], -side)
    ankle = crossing(pivot, length["c"], pin, length["k"], side)
    hip = crossing(pivot, length["d"], knee, length["e"], -side)
    heel = crossing(hip, length["f"], ankle, length["g"], -side)
    sole = crossing(heel, length["h"], ankle, length["i"], -side)

    def bar(name: str, letter: str, mass: float, ends: Mapping[str, np.ndarray]) -> None:
        (first, begin), (second, end) = ends.items()
        own, long = f"{name}{leg}", number(f"{letter}{leg}", length[letter])
        points = {first: (0, 0), second: (long, 0)}
        inertia = mass * long**2 / 12
        machine.bodies.append(Body(own, mass, inertia, points, (long / 2, 0)))
        machine.near[own] = heading(begin, end)
        machine.near[f"{own}.{second}"] = tuple(end.tolist())

    def triangle(name: str, letter: str, corners: Mapping[str, np.ndarray]) -> None:
        (first, begin), (second, end), (third, off) = corners.items()
        own, axis = f"{name}{leg}", (end - begin) / np.linalg.norm(end - begin)
        x, y = (
            float((off - begin) @ axis),
            float(axis[0] * (off - begin)[1] - axis[1] * (off - begin)[0]),
        )
        mass = number(f"{own}.mass", 0.8)
        points = {
            first: (0, 0),
            second: (number(f"{letter}{leg}", length[letter]), 0),
            third: (number(f"{own}.x", x), number(f"{own}.y", y)),
        }
        machine.bodies.append(Body(own, mass, 0.02, points, (0.13, y / 3)))
        machine.near[own] = heading(begin, end)
        machine.near[f"{own}.{third}"] = tuple(off.tolist())

    bar("j", "j", 0.5, {"C": pin, "P": knee})
    bar("k", "k", 0.6, {"C": pin, "Q": ankle})
    bar("c", "c", 0.4, {"B": pivot, "Q": ankle})
    bar("f", "f", 0.4, {"P": hip, "R": heel})
    triangle("thigh", "b", {"B": pivot, "P": knee, "H": hip})
    triangle("foot", "g", {"Q": ankle, "R": heel, "S": sole})
    pivot_name = f"{GROUND}.B{1 if side < 0 else 2}"
    for first, second in (
        (f"crank.C{leg}", f"j{leg}.C"),
        (f"crank.C{leg}", f"k{leg}.C"),
        (f"j{leg}.P", f"thigh{leg}.P"),
        (pivot_name, f"thigh{leg}.B"),
        (pivot_name, f"c{leg}.B"),
        (f"c{leg}.Q", f"k{leg}.Q"),
        (f"k{leg}.Q", f"foot{leg}.Q"),
        (f"thigh{leg}.H", f"f{leg}.P"),
        (f"f{leg}.R", f"foot{leg}.R"),
    ):
        machine.join("revolute", f"{first}-{second}".replace(".", "_"), first, second)


def crossing(
    first: np.ndarray, radius: float, second: np.ndarray, other: float, side: int
) -> np.ndarray:
    """Where two circles meet, to the left of the line between their centres (side 1) or to its
    right (−1).
    """
    between = second - first
    distance = float(np.linalg.norm(between))
    x = (distance**2 + radius**2 - other**2) / (2 * distance)
    axis = between / distance
    return first + x * axis + side * math.sqrt(radius**2 - x**2) * np.array([-axis[1], axis[0]])


def heading(begin: np.ndarray, end: np.ndarray) -> float:
    return math.atan2(end[1] - begin[1], end[0] - begin[0])


HARDPOINTS = {
    "LF": (0.15, 0.30, 0.20),
    "LR": (-0.20, 0.30, 0.20),
    "LO": (0.0, 0.70, 0.18),
    "UF": (0.12, 0.38, 0.45),
    "UR": (-0.18, 0.38, 0.46),
    "UO": (-0.02, 0.66, 0.48),
    "TI": (0.12, 0.33, 0.24),
    "TO": (0.13, 0.68, 0.22),
    "W": (0.0, 0.76, 0.30),
    "SB": (0.0, 0.50, 0.185),
    "ST": (0.0, 0.42, 0.60),
}
"""Of the double wishbone, in the frame of the vehicle, m."""


def wishbone(_: int, number: Number) -> Machine:
    """A double wishbone whose wheel is moved up and down; all coordinates of hardpoints may be
    parameters.
    """
    at = {
        name: tuple(number(f"{name}{c}", x) for c, x in zip("xyz", place, strict=True))
        for name, place in HARDPOINTS.items()
    }
    machine = Machine("double wishbone", (0, 0, -9.81), 0.25, "upright.W")
    machine.ground = {name: at[name] for name in ("LF", "LR", "UF", "UR", "TI", "ST")}
    small = (0.02, 0.02, 0.02)
    for name, mass, inertia, com, points in (
        ("lower", 3.0, small, (0, 0.5, 0.19), ("LF", "LR", "LO", "SB")),
        ("upper", 2.0, small, (0, 0.5, 0.46), ("UF", "UR", "UO")),
        ("upright", 25.0, (0.5, 0.8, 0.5), HARDPOINTS["W"], ("LO", "UO", "TO", "W")),
    ):
        machine.bodies.append(Body(name, mass, inertia, {p: at[p] for p in points}, com))
        machine.near[name] = FRAME
    for name, rear, body in (("LF", "LR", "lower"), ("UF", "UR", "upper")):
        axis = tuple(a - b for a, b in zip(at[name], at[rear], strict=True))
        machine.joints.append(Joint("revolute", name, f"{GROUND}.{name}", f"{body}.{name}", axis))
    machine.join("spherical", "LO", "lower.LO", "upright.LO")
    machine.join("spherical", "UO", "upper.UO", "upright.UO")
    length = sum((a - b) ** 2 for a, b in zip(at["TI"], at["TO"], strict=True)) ** 0.5
    machine.rods.append(Rod("tie rod", f"{GROUND}.TI", "upright.TO", length))
    machine.springs.append(Spring("coil", f"{GROUND}.ST", "lower.SB", 60e3, 0.50, 3e3))
    travel = Drive("travel", "upright.W", at["W"][2], 0.06, 2 * math.pi, 0.0, direction=(0, 0, 1))
    machine.drives.append(travel)
    return machine


@dataclass(frozen=True)
class Kind:
    """A machine of the comparison: its size, and what the first and later gradients may take."""

    build: Callable[[int, Number], Machine]
    size: int
    parameters: int
    first: float
    later: float


KINDS = {
    "wishbone": Kind(wishbone, 0, 33, 2.0, 0.04),
    "ups": Kind(ups_platform, 0, 40, 5.0, 0.1),
    "rus": Kind(rus_platform, 0, 40, 5.0, 0.1),
    "vehicle": Kind(vehicle, 0, 40, 10.0, 0.3),
    "arm": Kind(arm, 30, 40, 5.0, 0.2),
    "scissor": Kind(scissor, 5, 40, 10.0, 0.5),
    "jansen": Kind(jansen, 12, 40, 8.0, 0.2),
}
SCISSORS = (2, 5, 10, 20)
"""Levels of scissor structures of 28, 64, 124 and 244 bodies."""
HESSIAN = 5.0
"""Seconds that the first exact Hessian of the spatial slider-crank may take."""
MEMORY = 1000.0
"""MB that a process and its compiler may take together."""


def nominal(kind: str) -> Machine:
    """The machine in plain numbers."""
    return KINDS[kind].build(KINDS[kind].size, lambda name, value: value)


class Placed:
    """A body at the start, in three dimensions whatever the machine has.

    Args:
        body: the body.
        state: its position, orientation and velocities, as Varimech reports them.
    """

    def __init__(self, body: Body, state: Mapping[str, Any]):
        self.body = body
        self.position = spatial(state["position"])
        self.velocity = spatial(state["velocity"])
        if isinstance(state["orientation"], float):  # planar
            x = direction(state["orientation"])
            self.frame = np.column_stack([x, np.cross([0, 0, 1], x), [0, 0, 1]])
            self.turning = np.array([0, 0, state["turning"]])
            self.inertia = np.full(3, body.inertia)
        else:
            self.frame = np.array(state["orientation"])
            self.turning = np.array(state["turning"])
            self.inertia = np.array(body.inertia, float)

    def local(self, point: str) -> np.ndarray:
        """A point in the frame of the body, from its centre of mass."""
        com = np.zeros(3) if self.body.com is None else spatial(self.body.com)
        return np.zeros(3) if point == "com" else spatial(self.body.points[point]) - com

    def place(self, point: str) -> np.ndarray:
        """The same in the fixed frame."""
        return self.position + self.frame @ self.local(point)


def spatial(vector: Any) -> np.ndarray:
    """A vector of the plane with a third component."""
    return np.array([*vector, 0.0][:3], float)


def split(place: str) -> tuple[str, str]:
    """Body and point of `body.point`."""
    body, point = place.split(".")
    return body, point


def fixed_axes(joint: Joint, frames: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Axes of a joint in the fixed frame: on its first and on its second body."""
    first, second = (split(place)[0] for place in (joint.first, joint.second))
    on_first = np.array(joint.axis, float)
    on_second = np.array(joint.axis_on_second or joint.axis, float)
    pair = frames[first] @ on_first, frames[second] @ on_second
    return pair[0] / np.linalg.norm(pair[0]), pair[1] / np.linalg.norm(pair[1])
