"""Mechanisms without masses, and their positions from independent closed forms or loop closures.

All references take complex numbers, so that derivatives follow by complex steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import varimech as vm

WHITWORTH = {"r": 0.1, "h": 0.25, "L": 0.6, "c": 0.4, "y": 0.5}
STEERING = {"arm": 0.12, "rod": 0.28, "track": 1.2, "rack": 0.5, "set": 0.09, "pinion": 0.008}
WISHBONE = {"lower": 0.35, "upper": 0.28, "rod": 0.3}


def four_bar(a: float, b: float, c: float, d: float) -> vm.Mechanism:
    """Crank a, coupler b, rocker c, ground d, assembled above the ground."""
    m = vm.Mechanism("four-bar", dimension=2)
    for name, value in {"a": a, "b": b, "c": c, "d": d}.items():
        m.parameter(name, value, unit="m")
    m.ground_point("A", (0, 0))
    m.ground_point("D", ("d", 0))
    m.bar("crank", "A", "B", length="a")
    m.bar("coupler", "B", "C", length="b", points={"P": (0.5, 0.3)})
    m.bar("rocker", "D", "C", length="c")
    for name in "ABCD":
        m.revolute(name)
    return m


def four_bar_positions(u: np.ndarray, a: complex, b: complex, c: complex, d: complex) -> np.ndarray:
    """Point P of the coupler (u, component), and angles of coupler and rocker."""
    bx, by = a * np.cos(u), a * np.sin(u)
    x, y = d - bx, -by
    r = np.sqrt(x * x + y * y)
    cosine = (b * b + r * r - c * c) / (2 * b * r)
    sine = np.sqrt(1 - cosine * cosine)  # above the ground
    # direction of the coupler: that of BD, turned by the angle in the triangle
    cb, sb = (x * cosine - y * sine) / r, (y * cosine + x * sine) / r
    return np.stack([bx + 0.5 * cb - 0.3 * sb, by + 0.5 * sb + 0.3 * cb], axis=-1)


def whitworth() -> vm.Mechanism:
    """A crank about O turns a slotted lever about Q, whose end drives a ram through a rod."""
    m = vm.Mechanism("Whitworth", dimension=2)
    for name, value in WHITWORTH.items():
        m.parameter(name, value, unit="m")
    m.ground_point("Q", (0, 0))
    m.ground_point("O", (0, "h"))
    m.ground_point("G", (0, "y"))
    m.bar("crank", "O", "P", length="r")
    m.body("die", points={"P": (0, 0)})
    m.bar("lever", "Q", "E", length="L")
    m.bar("rod", "E", "R", length="c")
    m.body("ram", points={"R": (0, 0)})
    for name in "OPQER":
        m.revolute(name)
    m.prismatic("slot", "lever.Q", "die.P", axis=(1, 0))
    m.prismatic("guide", "ground.G", "ram.R", axis=(1, 0))
    m.start(angle={"crank": 0.5}, near={"R": (-0.2, 0.5), "E": (0.2, 0.5)})
    return m


def whitworth_ram(u: np.ndarray, r: complex, h: complex, L: complex, c: complex, y: complex) -> Any:
    """Displacement of the ram."""
    px, py = r * np.cos(u), h + r * np.sin(u)
    length = np.sqrt(px * px + py * py)
    ex, ey = L * px / length, L * py / length
    return ex - np.sqrt(c * c - (ey - y) ** 2)


def steering() -> vm.Mechanism:
    """A pinion moves a rack, which turns both stub axles by rods."""
    m = vm.Mechanism("rack steering", dimension=2)
    for name, value in STEERING.items():
        m.parameter(name, value, unit="m")
    m.ground_point("G", (0, "-set"))
    m.ground_point("S", (0.0, -0.5))
    m.body("pinion", points={"S": (0, 0)})
    m.body("bar", points={"C": (0, 0), "L": ("-rack/2", 0), "R": ("rack/2", 0)})
    m.revolute("S")
    m.prismatic("slide", "ground.G", "bar.C", axis=(1, 0))
    m.constraint("mesh", "displacement('slide') - parameter('pinion') * angle('S')")
    for side, sign in (("L", "-"), ("R", "")):
        m.ground_point(f"K{side}", (f"{sign}track/2", 0))
        m.bar(f"arm{side}", f"K{side}", f"T{side}", length="arm")
        m.bar(f"tie{side}", f"{side}", f"T{side}", length="rod")
        for name in (f"K{side}", f"T{side}"):
            m.revolute(name)
        m.revolute(side, f"bar.{side}", f"tie{side}.{side}")
    m.start(angle={"S": 0.0}, near={"TL": (-0.55, -0.11), "TR": (0.55, -0.11)})
    return m


def steering_arm(
    u: np.ndarray,
    arm: complex,
    rod: complex,
    track: complex,
    rack: complex,
    set_: complex,
    pinion: complex,
) -> Any:
    """Direction (cos, sin) of the right arm."""
    x, y = rack / 2 + pinion * u - track / 2, -set_ + 0 * u
    r = np.sqrt(x * x + y * y)
    cosine = (arm * arm + r * r - rod * rod) / (2 * arm * r)
    sine = np.sqrt(1 - cosine * cosine)
    return np.stack([(x * cosine - y * sine) / r, (y * cosine + x * sine) / r], axis=-1)


AXES = {
    "lower": ((0.0, 0.35, 0.2), (0.0, 1.0, 0.0)),
    "upper": ((0.02, 0.4, 0.5), (0.05, 1.0, 0.08)),
}
UPRIGHT = {
    "B": (0.0, 0.0, 0.0),
    "U": (-0.01, 0.02, 0.28),
    "T": (-0.02, -0.12, 0.1),
    "W": (0.1, 0, 0.14),
}
RACK = (0.02, 0.2, 0.28)


def wishbone() -> vm.Mechanism:
    """Double wishbone: two arms about axes of the chassis, an upright between their ball joints,
    and a tie rod of given length to the rack.
    """
    m = vm.Mechanism("double wishbone", dimension=3)
    for name, value in WISHBONE.items():
        m.parameter(name, value, unit="m")
    m.ground_point("K", RACK)
    m.body("upright", points=UPRIGHT)
    for arm, end in (("lower", "B"), ("upper", "U")):
        place, axis = AXES[arm]
        m.ground_point(f"{arm}0", place)
        m.body(arm, points={f"{arm}0": (0, 0, 0), end: (arm, 0, 0)})
        m.revolute(
            f"{arm} axis", f"ground.{arm}0", f"{arm}.{arm}0", axis=axis, axis_on_second=(0, 1, 0)
        )
        m.spherical(end, f"{arm}.{end}", f"upright.{end}")
    m.distance("tie", "ground.K", "upright.T", length="rod")
    m.start(
        position={"B": (None, None, 0.2)},
        near={"B": (0.35, 0.35, 0.2), "U": (0.3, 0.4, 0.5), "T": (0.3, 0.25, 0.3)},
    )
    return m


def wishbone_points(
    z: np.ndarray,
    guess: dict[str, np.ndarray],
    lower: complex,
    upper: complex,
    rod: complex,
) -> dict[str, np.ndarray]:
    """Points B, U, T and W for heights z of B, from distances of points alone, by Newton's
    method.
    """
    local = {k: np.array(v) for k, v in UPRIGHT.items()}
    ends = {k: np.array(AXES[k][0]) for k in AXES}
    directions = {k: np.array(AXES[k][1]) / np.linalg.norm(AXES[k][1]) for k in AXES}
    pairs = [("B", "U"), ("B", "T"), ("U", "T"), ("B", "W"), ("U", "W"), ("T", "W")]

    def closure(x: np.ndarray, height: complex) -> np.ndarray:
        p = dict(zip("BUTW", x.reshape(4, 3), strict=True))
        rows = [sum((p[a] - p[b]) ** 2) - sum((local[a] - local[b]) ** 2) for a, b in pairs]
        for name, arm, length in (("B", "lower", lower), ("U", "upper", upper)):
            offset = p[name] - ends[arm]
            rows += [sum(offset**2) - length**2, sum(offset * directions[arm])]
        rows += [sum((p["T"] - np.array(RACK)) ** 2) - rod**2, p["B"][2] - height]
        return np.array(rows)

    points = []
    x = np.concatenate([guess[k] for k in "BUTW"]).astype(complex)
    for height in z:
        x = newton(partial(closure, height=height), x)
        points.append(x.reshape(4, 3))
    return dict(zip("BUTW", np.array(points).transpose(1, 0, 2), strict=True))


def newton(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """Solve quadratic equations by Newton's method: central differences with step 1 are their exact
    derivatives.
    """
    for _ in range(30):
        J = np.array([(f(x + e) - f(x - e)) / 2 for e in np.eye(x.size)]).T
        step = np.linalg.solve(J, -f(x))
        x = x + step
        if np.abs(step).max() < 1e-15:
            break
    return x


def complex_step(f: Callable[..., np.ndarray], values: dict[str, float], name: str) -> np.ndarray:
    """Derivative of f with respect to one of its arguments."""
    return np.imag(f(**{**values, name: values[name] + 1e-30j})) / 1e-30
