"""A vehicle of twenty bodies: chassis, engine and rack; at each corner two arms, an upright and a wheel with
a compliant tyre; the measure of the studio for large models.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import varimech as vm

CORNERS = {"fl": (1.3, 1), "fr": (1.3, -1), "rl": (-1.3, 1), "rr": (-1.3, -1)}
"""Place forwards (m), and side: 1 for left."""
AXLE = 0.3
"""Height of wheels (m)."""
LOADS = {"f": 3400.0, "r": 3300.0}
"""Weight that a wheel carries (N), about: springs and tyres begin near their equilibrium."""
SPEED = 15.0
"""Of the road below the vehicle (m/s)."""


def vehicle() -> vm.Mechanism:
    """Build the vehicle; a road with a bump of the left track passes below it."""
    m = vm.Mechanism("vehicle", gravity=(0, 0, -9.81))
    values = {"spring": (45e3, "N/m"), "damper": (3e3, "N*s/m"), "tyre": (2e5, "N/m")}
    for name, (value, unit) in values.items():
        m.parameter(name, value, unit=unit, bounds=(0.5 * value, 2 * value))
    m.parameter("bump", 0.05, unit="m", bounds=(0.0, 0.1))
    mounts: dict[str, Any] = {"C": (0, 0, 0.5), "R": (1.15, 0, 0.35), "G": (0.9, 0, 0.5)}
    for c, (x, s) in CORNERS.items():
        mounts |= {f"L{c}": (x, s * 0.35, 0.25), f"U{c}": (x, s * 0.40, 0.45)}
        mounts |= {f"S{c}": (x, s * 0.5, 0.75), f"T{c}": (x - 0.15, s * 0.38, 0.35)}
    shape = vm.box((3.6, 0.7, 0.3), at=(0, 0, 0.55))
    inertia = (300.0, 1300.0, 1500.0)
    m.body(
        "chassis",
        mass=1000.0,
        inertia=inertia,
        com=(0, 0, 0.5),
        points=mounts,
        floating=True,
        shape=shape,
    )
    m.body(
        "engine",
        mass=150.0,
        inertia=(5.0, 8.0, 8.0),
        com=(0.9, 0, 0.5),
        points={"G": (0.9, 0, 0.5)},
        floating=True,
    )
    m.bushing(
        "mount",
        "chassis.G",
        "engine.G",
        stiffness=(8e5,) * 3,
        damping=(8e3,) * 3,
        rotational_stiffness=(5e4,) * 3,
        rotational_damping=(500.0,) * 3,
    )
    ends = {"R": (1.15, 0, 0.35), "Tfl": (1.15, 0.38, 0.35), "Tfr": (1.15, -0.38, 0.35)}
    m.body("rack", mass=5.0, inertia=(0.3, 0.02, 0.3), com=(1.15, 0, 0.35), points=ends)
    m.prismatic("steering", "chassis.R", "rack.R", axis=(0, 1, 0))
    m.drive_displacement("steer", "steering", 0.0)
    for c, corner in CORNERS.items():
        _corner(m, c, *corner)
    level = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    places: dict[str, Any] = {"chassis.C": (0, 0, 0.5), "engine.G": (0.9, 0, 0.5)}
    places |= {f"upright_{c}.W": (None, None, AXLE) for c in CORNERS}
    m.start(
        position=places,
        orientation={"chassis": level, "engine": level},
        angle={f"W{c}": 0.0 for c in CORNERS},
        speed={f"W{c}": SPEED / AXLE for c in CORNERS},
    )
    return m


def _corner(m: vm.Mechanism, c: str, x: float, s: int) -> None:
    """One wheel with its arms, tie rod, spring and tyre."""
    lower, upper, tie = (x, s * 0.70, 0.22), (x, s * 0.68, 0.47), (x - 0.15, s * 0.70, 0.35)
    centre = (x, s * 0.78, AXLE)
    hub = {"L": lower, "U": upper, "T": tie, "W": centre}
    arm = {f"L{c}": (x, s * 0.35, 0.25), "L": lower, "S": (x, s * 0.58, 0.24)}
    small = (0.1, 0.1, 0.1)
    m.body(f"lower_{c}", mass=6.0, inertia=small, com=(x, s * 0.52, 0.24), points=arm)
    arm = {f"U{c}": (x, s * 0.40, 0.45), "U": upper}
    m.body(f"upper_{c}", mass=4.0, inertia=small, com=(x, s * 0.54, 0.46), points=arm)
    m.body(f"upright_{c}", mass=15.0, inertia=(0.3, 0.3, 0.3), com=centre, points=hub)
    tyre = vm.cylinder(AXLE, 0.2, rotation=vm.rotation((1, 0, 0), np.pi / 2))
    m.body(f"wheel_{c}", mass=20.0, inertia=(0.6, 1.0, 0.6), points={"W": (0, 0, 0)}, shape=tyre)
    for part in ("lower", "upper"):
        end = part[0].upper()
        m.revolute(f"{end}{c}", f"chassis.{end}{c}", f"{part}_{c}.{end}{c}", axis=(1, 0, 0))
        m.spherical(f"{part} ball {c}", f"{part}_{c}.{end}", f"upright_{c}.{end}")
    inner = "rack" if c[0] == "f" else "chassis"
    length = float(np.linalg.norm(np.subtract((x - 0.15, s * 0.38, 0.35), tie)))
    m.distance(f"tie {c}", f"{inner}.T{c}", f"upright_{c}.T", length=length)
    m.revolute(f"W{c}", f"upright_{c}.W", f"wheel_{c}.W", axis=(0, 1, 0))
    natural = float(np.linalg.norm(np.subtract((x, s * 0.5, 0.75), (x, s * 0.58, 0.24)))) + 0.09
    m.spring(
        f"spring {c}",
        f"chassis.S{c}",
        f"lower_{c}.S",
        stiffness="spring",
        natural_length=natural,
        damping="damper",
    )
    road = f"bump*exp(-(({SPEED}*t + {x - 2.5})/0.4)**2)" if s > 0 else "0"
    at = f"'upright_{c}.W'"
    m.force(
        f"tyre {c}",
        f"upright_{c}.W",
        (
            "0",
            f"-4e3*velocity({at})[1]",
            f"{LOADS[c[0]]} + tyre*({AXLE} + {road} - position({at})[2]) - 300*velocity({at})[2]",
        ),
    )


def text() -> str:
    """The model file: 500 frames, three plots."""
    studies = {
        "simulate": {"duration": 1.0, "tolerance": 1e-4, "output": 0.002},
        "show": {
            "position": ["chassis.C"],
            "velocity": ["chassis.C"],
            "angular_velocity": ["chassis"],
            "trace": ["chassis.C"],
        },
    }
    return vehicle().to_text(studies=studies)
