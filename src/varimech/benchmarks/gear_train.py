"""A gear train over many turns: planetary gear, gear pair, belt, rack; and a lead screw.

The sun of a planetary gear (z_s = 24, z_p = 18 teeth, fixed ring z_r = 60) is turned by a torque T; its
carrier drives a gear pair (20 and z₂ = 50 teeth), this an open belt (radii b = 0.06 m and 0.15 m) and this
a rack of mass m by a pinion of radius r. With φ the angle of the sun, the others are

    carrier   φ_c = φ z_s/(z_s + z_r)            planet against the carrier   −(φ − φ_c) z_s/z_p
    wheel     φ_w = −φ_c 20/z₂                    drum   φ_d = φ_w b/0.15       rack   s = r φ_d

(R. Willis 1841), so that φ = T t²/2J with the equivalent inertia J = Σ J_k i_k² + Σ m_k v_k²/φ̇². Forces
of teeth and belt follow from the balance of each body: F = m s̈ on the rack, J_d φ̈_d + r F on the drum,
and so on. The lead screw, of pitch p, moves a nut that a pin keeps from turning: s = −p φ/2π, and
φ̈ = T/(J + m p²/4π²).

Checked after 8 s (505 turns of the sun): angles, displacements and forces, and their derivatives with
respect to tooth number, radii, pitch, mass and torque, by the direct method and by the adjoint.
"""

from __future__ import annotations

import math

import numpy as np

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
DURATION = 8.0
SUN, PLANET, RING, DRIVER = 24, 18, 60, 20
"""Numbers of teeth."""
ARM, DRUM = 0.084, 0.15
"""Radius at which the planet rotates about the sun, and radius of the second pulley (m)."""
INERTIAS = {"sun": 2e-3, "carrier": 0.02, "planet": 5e-4, "wheel": 0.05, "drum": 0.08}
"""Moments of inertia about the bodies' own axes (kg·m²)."""
PLANET_MASS = 0.6
VALUES = {"T": 0.5, "z2": 50.0, "b": 0.06, "r": 0.04, "m": 6.0}
"""Torque (N·m), teeth of the wheel, radius of the first pulley (m), of the pinion (m), rack (kg)."""
UNITS = {"T": "N·m", "z2": "1", "b": "m", "r": "m", "m": "kg", "p": "m"}
SCREW = {"T": 0.05, "p": 0.01, "m": 6.0}
"""Torque, pitch (m) and mass of the nut of the lead screw."""
SCREW_INERTIA = 1e-3

RELATIVE = 1e-8
"""Tolerance: hundreds of turns cost natural coordinates some digits of rates."""


def mechanism(kind: str = "train") -> vm.Mechanism:
    """The gear train, in the plane, or the lead screw, in space.

    Args:
        kind: "train" or "screw".
    """
    return train() if kind == "train" else screw()


def train() -> vm.Mechanism:
    """Planetary gear, gear pair, belt and rack."""
    m = vm.Mechanism("gear train", dimension=2)
    p = {name: m.parameter(name, value, unit=UNITS[name]) for name, value in VALUES.items()}
    for name, at in (("O", (0, 0)), ("W", (0.35, 0)), ("D", (0.8, 0)), ("R", (0.8, -0.04))):
        m.ground_point(name, at)
    points = {
        "sun": {"O": (0, 0), "s": (0.05, 0)},
        "carrier": {"O": (0, 0), "P": (ARM, 0)},
        "planet": {"P": (0, 0), "p": (0.03, 0)},
        "wheel": {"W": (0, 0), "w": (0.2, 0)},
        "drum": {"D": (0, 0), "d": (DRUM, 0)},
    }
    for name, inertia in INERTIAS.items():
        m.body(name, mass=PLANET_MASS, inertia=inertia, points=points[name])
    m.body("rack", mass=p["m"], inertia=0.01, points={"R": (0, 0), "Q": (0.2, 0)})
    m.revolute("shaft", "ground.O", "carrier.O")
    m.revolute("centre", "carrier.O", "sun.O")
    m.revolute("bearing", "carrier.P", "planet.P")
    m.revolute("W")
    m.revolute("D")
    m.prismatic("R", axis=(1, 0))
    m.gear("sun mesh", "centre", "bearing", teeth=(SUN, PLANET))
    m.gear("ring mesh", "bearing", "shaft", teeth=(PLANET, RING), mesh="internal")
    m.gear("pair", "shaft", "W", teeth=(DRIVER, p["z2"]))
    m.belt("belt", "W", "D", radii=(p["b"], DRUM))
    m.rack_and_pinion("rack mesh", "D", "R", radius=p["r"])
    m.torque("motor", "sun", p["T"])
    m.start(angle={"shaft": 0.0})
    return m


def screw() -> vm.Mechanism:
    """A shaft with a thread, and its nut; a pin in a groove keeps the nut from turning."""
    m = vm.Mechanism("lead screw", dimension=3)
    p = {name: m.parameter(name, value, unit=UNITS[name]) for name, value in SCREW.items()}
    m.ground_point("O", (0, 0, 0))
    J = SCREW_INERTIA
    m.body("shaft", mass=1.0, inertia=(0.01, 0.01, J), points={"O": (0, 0, 0), "N": (0, 0, 0)})
    nut = {"N": (0, 0, 0), "G": (0.1, 0, 0)}
    m.body("nut", mass=p["m"], inertia=(0.02, 0.02, 0.02), points=nut)
    m.revolute("O", axis=(0, 0, 1))
    m.screw("thread", "shaft.N", "nut.N", axis=(0, 0, 1), pitch=p["p"])
    m.point_on_plane("groove", "ground.O", "nut.G", normal=(0, 1, 0))
    m.torque("motor", "shaft", (0, 0, p["T"]))
    m.start(angle={"O": 0.0})
    return m


def objectives(kind: str = "train") -> dict[str, vm.Objective]:
    """Angles and displacements at the end, and forces there."""
    if kind == "screw":
        texts = {
            "shaft": ("angle('O')", "rad"),
            "nut": ("position('nut.N')[2]", "m"),
            "axial force": ("reaction('thread')[2]", "N"),
        }
    else:
        texts = {
            "sun": ("angle('sun')", "rad"),
            "carrier": ("angle('shaft')", "rad"),
            "planet against the carrier": ("angle('bearing')", "rad"),
            "wheel": ("angle('W')", "rad"),
            "drum": ("angle('D')", "rad"),
            "rack": ("displacement('R')", "m"),
            "force on the rack": ("effort('rack mesh')", "N"),
            "torque on the drum": ("effort('belt')", "N·m"),
            "torque on the wheel": ("effort('pair')", "N·m"),
            "torque on the planet": ("effort('sun mesh')", "N·m"),
        }
    return {name: vm.final(text, unit=unit) for name, (text, unit) in texts.items()}


def of_train(T: complex, z2: complex, b: complex, r: complex, m: complex) -> list[complex]:
    """Objectives of the train in closed form."""
    J = INERTIAS
    carrier = SUN / (SUN + RING)
    planet = -(1 - carrier) * SUN / PLANET
    wheel = -carrier * DRIVER / z2
    drum = wheel * b / DRUM
    rack = r * drum
    # the planet rotates with its carrier and relative to it
    total: complex = J["sun"] + carrier**2 * (J["carrier"] + PLANET_MASS * ARM**2)
    total += (carrier + planet) ** 2 * J["planet"] + wheel**2 * J["wheel"]
    total += drum**2 * J["drum"] + rack**2 * m
    α = T / total
    ratios = [1.0, carrier, planet, wheel, drum, rack]
    force = m * rack * α
    on_drum = J["drum"] * drum * α + r * force
    on_wheel = J["wheel"] * wheel * α + on_drum * b / DRUM
    # the sun takes −i T₂ with i = −z_s/z_p: J_s α = T + T₂ z_s/z_p
    on_planet = (J["sun"] * α - T) * PLANET / SUN
    return [*[i * α * DURATION**2 / 2 for i in ratios], force, on_drum, on_wheel, on_planet]


def of_screw(T: complex, p: complex, m: complex) -> list[complex]:
    """Objectives of the lead screw in closed form."""
    h = p / (2 * math.pi)
    α = T / (SCREW_INERTIA + m * h**2)
    φ = α * DURATION**2 / 2
    return [φ, -h * φ, -m * h * α]


def references(kind: str = "train") -> dict[str, tuple[float, dict[str, float]]]:
    """Objective → value, and derivatives of the closed form by complex steps."""
    values = VALUES if kind == "train" else SCREW

    def solved(changed: str = "", by: complex = 0.0) -> np.ndarray:
        arguments = [value + (by if name == changed else 0) for name, value in values.items()]
        return np.array(of_train(*arguments) if kind == "train" else of_screw(*arguments))

    h = 1e-30
    derivatives = {name: solved(name, 1j * h).imag / h for name in values}
    return {
        name: (float(value.real), {p: float(derivatives[p][k]) for p in values})
        for k, (name, value) in enumerate(zip(objectives(kind), solved(), strict=True))
    }


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    stored = o.stored_at(settings, 0.1)
    checks: list[o.Check] = []
    runs: dict[str, vm.Run] = {}
    for kind, values in (("train", VALUES), ("screw", SCREW)):
        solved = o.both_methods(
            mechanism(kind), objectives(kind), list(values), DURATION, _of(kind, stored)
        )
        checks += o.check_both_methods(solved, references(kind), RELATIVE, which=f" ({kind})")
        runs[kind] = solved["direct"].run
    return o.Checked("gear-train", tuple(runs.values()), tuple(checks), lambda: figures(runs))


def _of(kind: str, settings: o.Settings) -> o.Settings:
    """Restrict the settings to the parameters of a mechanism."""
    names = VALUES if kind == "train" else SCREW
    parameters = settings.get("parameters")
    if not parameters:
        return settings
    return {**settings, "parameters": {k: v for k, v in parameters.items() if k in names}}


def figures(runs: dict[str, vm.Run]) -> o.Figures:
    """Turns over time."""
    r = runs["train"]
    outputs = {"sun": r.angle("sun"), "carrier": r.angle("shaft"), "wheel": r.angle("W")}
    lines = [
        vm.Line(name, r.time, angle.to_numpy() / (2 * np.pi)) for name, angle in outputs.items()
    ]
    nut = runs["screw"].position("nut.N").to_numpy()[:, 2]
    panels = [
        vm.Panel("turns", lines),
        vm.Panel("rack (m)", [vm.Line("", r.time, r.displacement("R").to_numpy())]),
        vm.Panel("nut (m)", [vm.Line("", runs["screw"].time, nut)]),
    ]
    return {"motion": vm.line_figure(panels, title="Gear train and lead screw")}
