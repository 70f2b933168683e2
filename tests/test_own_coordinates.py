"""Coordinates that elements own: first-order states and inertias of their own, against SciPy, with
every derivative method, in every kind of coordinates.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from fake_gpu import COMPILER, fake_cupy
from scipy.integrate import solve_ivp

import varimech as vm
from varimech.core.symbols import SX

RESISTANCE, INDUCTANCE, CONSTANT, VOLTAGE, FIRST = 0.8, 0.05, 0.3, 6.0, 2.0
INERTIA, DAMPING, DURATION = 0.02, 0.01, 0.7
COORDINATES = ["natural", "rtdyn0", "rtdyn1"]
WRT = ["R", "U", "i0"]


el = vm.elements


@pytest.fixture(autouse=True)
def _registered() -> None:
    vm.register(Motor)
    vm.register(Flywheel)


class Motor(el.Force):
    """A direct-current motor:  L di/dt = U − R i − k ω,  torque k i."""

    kind = "direct-current motor"
    joint = el.fields.Angle("Joint that it turns.")
    resistance = el.fields.Scalar("R.", unit="ohm")
    voltage = el.fields.Scalar("U.", unit="V")
    first = el.fields.Scalar("Current at the start.", unit="A")
    size: ClassVar[float] = 1.0

    def coordinates(self) -> tuple[el.OwnCoordinate, ...]:
        return (el.OwnCoordinate("current", 1, self.first, unit="A", size=self.size),)

    def efforts(self, frames: el.Frames, state: vm.State) -> list[tuple[SX, SX]]:
        return [(self.joint.rate(frames), CONSTANT * state.state("current"))]

    def rates(self, frames: el.Frames, state: vm.State) -> Sequence[SX]:
        i, ω = state.state("current"), self.joint.rate(frames)
        return (
            (self.voltage * vm.cos(3 * state.time) - self.resistance * i - CONSTANT * ω)
            / INDUCTANCE,
        )


def rotor(dimension: int) -> Any:
    m: Any = vm.Mechanism("motor", dimension=dimension)
    R, U, i0 = m.parameter("R", RESISTANCE), m.parameter("U", VOLTAGE), m.parameter("i0", FIRST)
    m.ground_point("O", (0,) * dimension)
    inertia = INERTIA if dimension == 2 else np.diag([0.03, 0.025, INERTIA])
    rim = (0.1, 0.0) if dimension == 2 else (0.1, 0.0, 0.0)
    m.body("wheel", mass=2.0, inertia=inertia, points={"hub": (0,) * dimension, "rim": rim})
    m.revolute("J", "ground.O", "wheel.hub", axis=None if dimension == 2 else (0, 0, 1))
    m.torsional_damper("drag", "J", damping=DAMPING)
    m.direct_current_motor("motor", "J", resistance=R, voltage=U, first=i0)
    m.start(angle={"J": 1.0}, speed={"J": -2.0})
    return m


OBJECTIVES = {
    "angle": vm.final(lambda s: s.angle("J")),
    "current": vm.final(lambda s: s.state("current")),
    "heat": vm.integral(lambda s: s.parameter("R") * s.state("current") ** 2),
    "slope": vm.final("rate(state('current'))"),
}


def exact(R: complex = RESISTANCE, U: complex = VOLTAGE, i0: complex = FIRST) -> np.ndarray:
    """The same by SciPy, in complex numbers for derivatives."""

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        _, ω, i, _ = x
        di = (U * np.cos(3 * t) - R * i - CONSTANT * ω) / INDUCTANCE
        return np.array([ω, (CONSTANT * i - DAMPING * ω) / INERTIA, di, R * i**2])

    start = np.array([1.0, -2.0, i0, 0.0], dtype=complex)
    x = solve_ivp(rate, (0, DURATION), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return np.array([x[0], x[2], x[3], rate(DURATION, x)[2]])


def exact_gradient() -> np.ndarray:
    h, columns = 1e-30, []
    for k in range(3):
        p = np.array([RESISTANCE, VOLTAGE, FIRST], dtype=complex)
        p[k] += 1j * h
        columns.append(exact(*p).imag / h)
    return np.column_stack(columns)


def exact_hessian() -> np.ndarray:
    """Central differences of complex steps: to some 1e-8."""
    h, p = 1e-30, np.array([RESISTANCE, VOLTAGE, FIRST], dtype=complex)
    H = np.zeros((4, 3, 3))
    for a in range(3):
        for b in range(3):
            sides = []
            for sign in (1, -1):
                x = p.copy()
                x[a] += sign * 1e-4
                x[b] += 1j * h
                sides.append(exact(*x).imag / h)
            H[:, a, b] = (sides[0] - sides[1]) / 2e-4
    return H


METHODS: list[dict[str, Any]] = [
    {"tolerance": 1e-9},
    {"tolerance": 1e-9, "method": "adjoint"},
    {"tolerance": 1e-9, "method": "complex-step"},
    {"tolerance": 1e-9, "formulation": "index1", "method": "composite"},
    {"tolerance": 1e-9, "formulation": "index1-stabilised"},
    {"tolerance": 1e-9, "formulation": "independent"},
    {"tolerance": 1e-9, "backend": "auto"},
    {"step": 5e-4},
    {"step": 5e-4, "method": "adjoint"},
    {"step": 5e-4, "integrator": "generalised-alpha"},
    {"step": 2e-3, "integrator": "rk4"},
    {"tolerance": 1e-8, "integrator": "cvodes"},
]


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("options", METHODS, ids=str)
def test_a_motor_with_every_method(coordinates: str, options: dict[str, Any]) -> None:
    given = {**options, "coordinates": coordinates}
    g = rotor(2).sensitivity(OBJECTIVES, WRT, duration=DURATION, **given)
    rel = 1e-3 if options.get("step") == 5e-4 else 1e-6
    values, derivatives = exact().real, exact_gradient()
    assert np.abs(g.values.to_numpy() - values).max() < rel * np.abs(values).max()
    assert np.abs(g.gradient.to_numpy() - derivatives).max() < rel * np.abs(derivatives).max()
    run = g.run
    assert float(run.state("current")[0]) == pytest.approx(FIRST, rel=1e-12)
    assert float(run.state("current")[-1]) == pytest.approx(float(g.values[1]), rel=1e-12)
    assert run.state("current").attrs["units"] == "A"
    ω = run.angular_velocity("J").to_numpy()
    assert run.energy("kinetic").to_numpy() == pytest.approx(INERTIA * ω**2 / 2, rel=1e-7)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ["forward", "backward"])
def test_second_derivatives_of_a_motor(coordinates: str, method: str) -> None:
    hessian = rotor(2).hessian(
        OBJECTIVES,
        WRT,
        duration=DURATION,
        method=method,
        tolerance=1e-9,
        coordinates=coordinates,
    )
    assert hessian.hessian.to_numpy() == pytest.approx(exact_hessian(), abs=2e-6)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_motor_in_space(coordinates: str) -> None:
    g = rotor(3).sensitivity(
        OBJECTIVES, WRT, duration=DURATION, tolerance=1e-9, coordinates=coordinates
    )
    assert g.values.to_numpy() == pytest.approx(exact().real, rel=1e-7, abs=1e-7)
    assert g.gradient.to_numpy() == pytest.approx(exact_gradient(), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("size", [1e-4, 1e3])
@pytest.mark.parametrize("integrator", ["dopri5", "cvodes"])
def test_the_size_of_a_state_changes_no_result(
    size: float, integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Motor, "size", size)
    g = rotor(2).sensitivity(
        OBJECTIVES, WRT, duration=DURATION, tolerance=1e-8, integrator=integrator
    )
    assert g.values.to_numpy() == pytest.approx(exact().real, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_ensembles_of_motors(coordinates: str) -> None:
    U = np.linspace(2.0, 9.0, 5)
    ensemble = rotor(2).ensemble(
        OBJECTIVES["current"],
        {"U": U},
        duration=DURATION,
        tolerance=1e-9,
        coordinates=coordinates,
        wrt=["R"],
    )
    values = [exact(U=u).real[1] for u in U]
    assert ensemble.values.to_numpy().ravel() == pytest.approx(values, rel=1e-7)


def test_frequencies_refuse_states() -> None:
    with pytest.raises(vm.ModelError, match=r"'current'.* which frequencies do not take"):
        rotor(2).frequencies()
    with pytest.raises(vm.VarimechError, match="no equilibrium"):  # nothing resists the motor
        rotor(2).equilibrium()


def test_a_state_is_no_degree_of_freedom() -> None:
    m = rotor(2)
    assert m.dofs == 1
    with pytest.raises(vm.ModelError, match="no state is called 'curent'"):
        m.sensitivity(vm.final(lambda s: s.state("curent")), duration=0.1)
    with pytest.raises(vm.ModelError, match="there is a state 'current' already"):
        m.direct_current_motor("second", "J", resistance=1, voltage=1, first=0)


class Flywheel(el.Force):
    """An inertia of its own behind a soft shaft on a joint."""

    kind = "flywheel"
    joint = el.fields.Angle("Joint that it is on.")
    inertia = el.fields.Scalar("About its axis.", unit="kg·m²")

    def coordinates(self) -> tuple[el.OwnCoordinate, ...]:
        return (el.OwnCoordinate("flywheel", 2, SX(0.5), SX(1.5), unit="rad"),)

    def kinetic_energy(self, frames: el.Frames, state: vm.State) -> SX:
        return self.inertia * state.rate(state.state("flywheel")) ** 2 / 2

    def potential_energy(self, frames: el.Frames, state: vm.State) -> SX:
        return 3.0 * (state.state("flywheel") - state.output(self.joint)) ** 2 / 2


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("options", METHODS[:3], ids=str)
def test_an_inertia_of_an_element(coordinates: str, options: dict[str, Any]) -> None:
    m: Any = vm.Mechanism("shaft", dimension=2)
    I = m.parameter("I", 0.05)
    m.ground_point("O", (0, 0))
    m.body("wheel", mass=2.0, inertia=INERTIA, points={"hub": (0, 0), "rim": (0.1, 0)})
    m.revolute("J", "ground.O", "wheel.hub")
    m.flywheel("behind", "J", inertia=I)
    m.start(angle={"J": 0.0}, speed={"J": 40.0})
    objectives = {"own": vm.final(lambda s: s.state("flywheel")), "J": vm.final("angle('J')")}
    g = m.sensitivity(objectives, duration=DURATION, coordinates=coordinates, **options)

    def solved(I: complex) -> np.ndarray:
        def rate(t: float, x: np.ndarray) -> np.ndarray:
            τ = 3.0 * (x[0] - x[1])
            return np.array([x[2], x[3], -τ / I, τ / INERTIA])

        start = np.array([0.5, 0.0, 1.5, 40.0], dtype=complex)
        return solve_ivp(rate, (0, DURATION), start, method="DOP853", rtol=1e-12, atol=1e-12).y[
            :2, -1
        ]

    assert g.values.to_numpy() == pytest.approx(solved(0.05).real, rel=1e-7)
    assert g.gradient.to_numpy().ravel() == pytest.approx(
        solved(0.05 + 1e-30j).imag / 1e-30, rel=1e-6
    )
    energy = g.run.energy().to_numpy()
    assert energy == pytest.approx(np.full(energy.size, energy[0]), rel=1e-7)


# a motor on a gear with a flywheel behind it: a state, an inertia, a constraint and counted angles

DRIVE = {
    "angle": vm.final("angle('J')"),
    "driven": vm.final("angle('K')"),
    "current": vm.final("state('current')"),
    "flywheel": vm.final("state('flywheel')"),
    "heat": vm.integral("R*state('current')**2"),
}


def drive() -> Any:
    m = rotor(2)
    ratio = m.parameter("ratio", -1.5, distribution=vm.Tolerance(0.1))
    m.ground_point("K", (0.3, 0))
    m.body("driven", mass=1.0, inertia=0.01, points={"K": (0, 0), "rim": (0.1, 0)})
    m.revolute("K")
    m.gear("mesh", "J", "K", ratio=ratio, phase=0.3)
    m.flywheel("behind", "K", inertia=m.parameter("I", 0.05, distribution=vm.Tolerance(0.01)))
    return m


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
@pytest.mark.parametrize(
    "options",
    [
        {"step": 5e-3},
        {"tolerance": 1e-7, "output": 0.35},
        {"tolerance": 1e-7, "output": 0.35, "coordinates": "rtdyn0"},
    ],
    ids=str,
)
def test_a_gpu_runs_own_coordinates(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    cpu, gpu = (
        drive().monte_carlo(
            DRIVE,
            {"U": vm.Tolerance(3.0)},
            duration=DURATION,
            samples=20,
            keep=True,
            executor=executor,
            backend="auto",
            **options,
        )
        for executor in (1, "cuda")
    )
    np.testing.assert_allclose(gpu.samples["values"], cpu.samples["values"], rtol=1e-10, atol=1e-11)
    assert gpu.failed == cpu.failed == 0


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_an_ensemble_of_drives_is_made_of_single_runs(coordinates: str) -> None:
    samples = {"U": np.array([2.0, 6.0, 9.0]), "ratio": np.array([-1.5, -1.0, 2.0])}
    m, wrt = drive(), ["R", "ratio", "I"]
    options: dict[str, Any] = {"tolerance": 1e-9, "coordinates": coordinates}
    ensemble = m.ensemble(DRIVE, samples, wrt=wrt, duration=DURATION, **options)
    for k in range(3):
        one = m.sensitivity(
            DRIVE,
            wrt,
            duration=DURATION,
            parameters={name: values[k] for name, values in samples.items()},
            **options,
        )
        assert ensemble.values[k].to_numpy() == pytest.approx(one.values.to_numpy(), rel=1e-7)
        assert ensemble.gradient[k].to_numpy() == pytest.approx(
            one.gradient.to_numpy(), rel=1e-6, abs=1e-6
        )
        driven = samples["ratio"][k] * one.values[0] + 0.3
        assert float(one.values[1]) == pytest.approx(float(driven), abs=1e-7)
