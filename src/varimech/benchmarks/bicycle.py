"""A bicycle that rolls upright: weave and capsize speeds, and their sensitivities (IFToMM library).

Rear frame with rider, front frame and two wheels in space, which roll without slip. Upright and straight
at speed v, lean and steer obey four linear equations (`bicycle_matrices`). The bicycle is stable between
the weave speed, where the growth rate of an oscillation vanishes, and the capsize speed, where that of a
lean does. Found here as crossings of root loci, Re λ(v) = 0, by Newton's method with exact derivatives; and

    dv*/dρ = −Re λ_ρ / Re λ_v

for the wheel base w and the trail c. References: the published speeds, and complex steps through the
characteristic polynomial of the published matrices.

J. P. Meijaard, J. M. Papadopoulos, A. Ruina and A. L. Schwab, Proc. R. Soc. A 463 (2007) 1955–1982.
"""

from __future__ import annotations

import numpy as np

import varimech as vm

from . import bicycle_matrices as reference
from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
DURATION = 1.0
SPEED, TAP = 5.0, 1e-4
"""Speed (m/s), within the stable range, and lateral speed of the point T (m/s) of the run."""
CRITICAL = {"weave": 4.29238253634111, "capsize": 6.02426201538837}
"""Published speeds (m/s)."""
PARAMETERS = ["w", "c"]


def mechanism(tap: float = TAP) -> vm.Mechanism:
    """The bicycle; speed v, wheel base w, trail c and the lateral speed `tap` of T are parameters.

    Args:
        tap: initial lateral speed of a point 1 m above the rear contact (m/s).
    """
    p = reference.VALUES
    m = vm.Mechanism("bicycle", gravity=(0, 0, -p["g"]))
    w = m.parameter("w", p["w"], unit="m")
    c = m.parameter("c", p["c"], unit="m")
    v = m.parameter("v", SPEED, unit="m/s")
    m.parameter("tap", tap, unit="m/s")
    m.ground_point("O", (0, 0, 0))
    m.body(
        "rear frame",
        mass=p["m_B"],
        inertia=_inertia("B"),
        com=(p["x_B"], 0, -p["z_B"]),
        points={"P": (0, 0, 0), "R": (0, 0, p["r_R"]), "S": (w + c, 0, 0), "T": (0, 0, 1)},
        floating=True,
    )
    m.body(
        "front frame",
        mass=p["m_H"],
        inertia=_inertia("H"),
        com=(p["x_H"], 0, -p["z_H"]),
        points={"S": (w + c, 0, 0), "F": (w, 0, p["r_F"])},
    )
    for name, k, centre in (("rear wheel", "R", "R"), ("front wheel", "F", "F")):
        inertia = (p[f"I_{k}xx"], p[f"I_{k}yy"], p[f"I_{k}xx"])
        m.body(name, mass=p[f"m_{k}"], inertia=inertia, points={centre: (0, 0, 0)})
    m.revolute("rear hub", "rear frame.R", "rear wheel.R", axis=(0, 1, 0))
    tilt = (-float(np.sin(p["tilt"])), 0, float(np.cos(p["tilt"])))
    m.revolute("steer", "rear frame.S", "front frame.S", axis=tilt)
    m.revolute("front hub", "front frame.F", "front wheel.F", axis=(0, 1, 0))
    for name, k in (("rear", "R"), ("front", "F")):
        m.rolling(
            f"{name} contact",
            f"{name} wheel.{k}",
            "ground.O",
            radius=p[f"r_{k}"],
            normal=(0, 0, 1),
            axis=(0, 1, 0),
        )
    m.start(
        position={"P": (0, 0, None), "rear frame.S": (None, 0, None), "T": (None, 0, None)},
        angle={"rear hub": 0.0, "steer": 0.0, "front hub": 0.0},
        speed={"rear hub": v / p["r_R"], "steer": 0.0, "T": (None, "tap", None)},
    )
    return m


def _inertia(k: str) -> list[list[float]]:
    """Inertia matrix with z upwards; the references have z downwards."""
    xx, xz, yy, zz = (reference.VALUES[f"I_{k}{ij}"] for ij in ("xx", "xz", "yy", "zz"))
    return [[xx, 0, -xz], [0, yy, 0], [-xz, 0, zz]]


def objectives() -> dict[str, vm.Objective]:
    """Lateral position of T at the end."""
    return {"lean": vm.final("position('T')[1] - position('P')[1]", unit="m")}


def critical(
    m: vm.Mechanism, kind: str, coordinates: str, values: dict[str, float]
) -> tuple[float, np.ndarray]:
    """A critical speed (m/s) near the published one, and its derivatives for w and c."""
    near = CRITICAL[kind]
    locus = m.root_locus(
        "v",
        (near - 0.2, near + 0.3, 2),
        at="start",
        wrt=PARAMETERS,
        parameters={**values, "tap": 0.0},
        coordinates=coordinates,
    )
    root = locus.dataset.isel(crossing=0)
    derivatives = root["crossing_derivative"].sel(parameter=PARAMETERS)
    return root["crossing_value"].item(), derivatives.to_numpy()


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    values = dict(settings.get("parameters") or {})
    m, checks = mechanism(), []
    for coordinates in ("natural", "rtdyn1"):
        for kind, published in CRITICAL.items():
            v, derivatives = critical(m, kind, coordinates, values)
            name = f"{kind} speed, {coordinates}"
            checks.append(o.Check(f"{name} (m/s)", v, published, 1e-9 * published))
            for parameter, derivative in zip(PARAMETERS, derivatives, strict=True):
                r = reference.critical_speed_derivative(kind, parameter)
                checks.append(
                    o.Check(f"∂({name})/∂{parameter} (1/s)", derivative, r, 1e-9 * abs(r))
                )
    motion = m.simulate(DURATION, **o.stored_at(settings, 0.01))
    checks.append(o.check_energy(motion, 1e-9))
    return o.Checked("bicycle", (motion,), tuple(checks), lambda: figures(motion))


def figures(run: vm.Run) -> o.Figures:
    """Steer angle after the tap, over time."""
    line = vm.Line("", run.time, run.angle("steer").to_numpy())
    return {"motion": vm.line_figure([vm.Panel("steer angle (rad)", [line])], title="Bicycle")}
