"""Writes the tables of docs/limitations.md:  python tools/write_limitations.py.

Every cell is tried: a small model with a feature is built and analysed, and either there is a result
or an error of Varimech with its remedy. Anything else is a fault, and ends the program.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import varimech as vm
from varimech.coordinates.systems import COORDINATES
from varimech.schemes import FORMULATIONS, INTEGRATORS, formulations_of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "limitations.md"
DURATION, STEP = 0.02, 5e-3
"""Short: whether a combination is taken is decided before the first step or within it."""
DERIVATIVES = ("direct", "adjoint", "complex-step", "composite", "finite-difference")
Analysis = Callable[[vm.Mechanism], object]


def pendulum(name: str = "pendulum", **joint: Any) -> vm.Mechanism:
    """A bar on a pin; `joint`: options of the pin."""
    m = vm.Mechanism(name, gravity=(0, -9.81))
    m.parameter("p", 1.0, unit="m", tolerance=0.01)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "P", length="p", mass=2.0)
    m.revolute("O", **joint)
    m.start(angle={"rod": -1.0}, speed={"rod": 0.5})
    return m


def slider(name: str = "slider") -> vm.Mechanism:
    """A block on a horizontal guide, which moves at 1 m/s."""
    m = vm.Mechanism(name, gravity=(0, -9.81))
    m.parameter("p", 0.005, unit="m", tolerance=0.0001)
    m.ground_point("O", (0, 0))
    m.body("block", mass=2.0, inertia=0.1, points={"C": (0, 0)})
    m.prismatic("guide", "ground.O", "block.C", axis=(1, 0))
    m.spring("spring", "ground.O", "block.C", stiffness=50.0, natural_length="0.3 + p")
    m.start(displacement={"guide": 0.3}, speed={"guide": 1.0})
    return m


def four_bar(*, cranks: int = 2) -> vm.Mechanism:
    """A parallelogram; from the third crank on, its constraints are redundant."""
    m = vm.Mechanism("parallelogram", gravity=(0, -9.81))
    m.parameter("p", 1.0, unit="m", tolerance=0.01)
    pins = {f"Q{k}": (k, 0) for k in range(cranks)}
    m.body("coupler", mass=2.0, inertia=0.3, points=pins)
    for k in range(cranks):
        m.ground_point(f"O{k}", (k, 0))
        m.bar(f"crank {k}", f"O{k}", f"P{k}", length="p", mass=1.0)
        m.revolute(f"O{k}")
        m.revolute(f"pin {k}", f"crank {k}.P{k}", f"coupler.Q{k}")
    near = {f"crank {k}": 1.0 for k in range(1, cranks)}
    m.start(angle={"crank 0": 1.0}, near=near)
    return m


def driven() -> vm.Mechanism:
    m = vm.Mechanism("driven", gravity=(0, -9.81))
    m.parameter("p", 1.0, unit="m", tolerance=0.01)
    m.ground_point("O", (0, 0))
    m.bar("arm", "O", "A", length="p", mass=1.0)
    m.bar("rod", "A", "P", length=0.5, mass=1.0)
    m.revolute("O")
    m.revolute("A")
    m.drive_angle("motor", "O", "1 + 6*t")
    m.start(angle={"A": 0.5})
    return m


def spatial() -> vm.Mechanism:
    """A top, whose rotations are free, on a slide."""
    m = vm.Mechanism("top", gravity=(0, 0, -9.81))
    m.parameter("p", 0.1, unit="m", tolerance=0.001)
    m.ground_point("O", (0, 0, 0))
    m.body("slide", mass=1.0, inertia=(0.1, 0.1, 0.1), points={"O": (0, 0, 0), "C": (0, 0, 0)})
    inertia = (2e-3, 2e-3, 1e-3)
    m.body("top", mass=0.5, inertia=inertia, com=(0, 0, "p"), points={"C": (0, 0, 0)})
    m.cylindrical("O", "ground.O", "slide.O", axis=(1, 0, 0))
    m.spherical("C")
    tilt = vm.rotation((1, 0, 0), 0.3)
    m.start(
        angle={"O": 0.1},
        displacement={"O": 0.0},
        orientation={"top": tilt},
        speed={"O": (0.5, 0.5), "top": tilt @ vm.vector(0, 0, 20)},
    )
    return m


def beam() -> vm.Mechanism:
    m = vm.Mechanism("beam", gravity=(0, -9.81))
    m.parameter("p", 1.0, unit="m", tolerance=0.01)
    m.ground_point("O", (0, 0))
    section: dict[str, Any] = {"section": vm.tube(0.012, 0.010), "E": 1e6, "density": 2700}
    m.beam("rod", "O", "P", segments=2, length="p", **section)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    return m


def rolling() -> vm.Mechanism:
    m = vm.Mechanism("wheel", gravity=(0, -9.81))
    m.parameter("p", 0.3, unit="m", tolerance=0.01)
    m.ground_point("O", (0, 0))
    m.body("wheel", mass=1.0, inertia=0.05, points={"C": (0, 0)}, floating=True)
    m.rolling("roll", "wheel.C", "ground.O", radius="p", normal=(0, 1))
    m.start(position={"C": (0, None)}, angle={"wheel": 0.0}, speed={"C": (1.0, None)})
    return m


def with_element(base: Callable[[], vm.Mechanism], add: Callable[[vm.Mechanism], object]) -> Any:
    """A model with one more element."""

    def build() -> vm.Mechanism:
        m = base()
        add(m)
        return m

    return build


def _stop(m: vm.Mechanism, **law: Any) -> None:
    m.stop("wall", lambda s: s.displacement("guide"), upper="0.3 + p", **law)


def _event(m: vm.Mechanism) -> None:
    m.mode("on", initial=1)
    m.force("push", "block.C", ["mode('on')", 0])
    m.event("off", when="displacement('guide') - 0.3 - p", do={"on": 0})


FEATURES: Mapping[str, Callable[[], vm.Mechanism]] = {
    "open tree": pendulum,
    "spatial joints": spatial,
    "closed loop": four_bar,
    "redundant constraints": lambda: four_bar(cranks=3),
    "drivers": driven,
    "beams": beam,
    "states, signals, control": with_element(
        slider, lambda m: m.state("z", initial=0.0, rate="displacement('guide') - state('z')")
    ),
    "rolling, velocity constraints": rolling,
    "compliant contact": with_element(slider, lambda m: _stop(m, stiffness=1e5)),
    "rigid contact, impacts": with_element(slider, lambda m: _stop(m, restitution=0.5)),
    "Coulomb friction": with_element(
        slider,
        lambda m: m.dry_friction("rub", lambda s: s.displacement_rate("guide"), sliding=2.0),
    ),
    "friction in joints": lambda: pendulum(friction=0.1, friction_radius=0.02),
    "user-defined events": with_element(slider, _event),
}


def objective(m: vm.Mechanism) -> dict[str, vm.Objective]:
    """The kinetic energy at the end, which every model has."""
    return {"T": vm.final("kinetic_energy()")}


def by_formulation(name: str) -> Analysis:
    return lambda m: m.simulate(DURATION, formulation=name)


def by_integrator(name: str) -> Analysis:
    """With the formulation that suits it best, by a tolerance if it takes one."""
    integrator = INTEGRATORS[name]
    options: dict[str, Any] = {} if integrator.traits.adaptive else {"step": STEP}
    best = formulations_of(integrator)[0]
    return lambda m: m.simulate(DURATION, integrator=name, formulation=best, **options)


def by_coordinates(name: str) -> Analysis:
    return lambda m: m.simulate(DURATION, coordinates=name)


def by_derivative(name: str) -> Analysis:
    return lambda m: m.sensitivity(objective(m), "p", duration=DURATION, method=name)


def exported(target: str) -> Analysis:
    def export(m: vm.Mechanism) -> object:
        with tempfile.TemporaryDirectory() as folder:
            p = m.problem(objective(m), duration=DURATION, step=STEP, integrator="rk4")
            return p.export(Path(folder) / "bundle", target=target)

    return export


ANALYSES: Mapping[str, Analysis] = {
    "second derivatives": lambda m: m.hessian(objective(m), "p", duration=DURATION),
    "moments": lambda m: m.moments(objective(m), duration=DURATION),
    "Monte Carlo": lambda m: m.monte_carlo(objective(m), duration=DURATION, samples=20),
    "equilibrium": lambda m: m.equilibrium(),
    "modes": lambda m: m.modes("start"),
    "equations": lambda m: m.equations(),
    "export to C": exported("c"),
    "export to CUDA": exported("cuda"),
}
TABLES: Mapping[str, Mapping[str, Analysis]] = {
    "formulations": {name: by_formulation(name) for name in FORMULATIONS},
    "integrators": {name: by_integrator(name) for name in INTEGRATORS},
    "coordinates": {name: by_coordinates(name) for name in COORDINATES if name != "auto"},
    "derivatives": {name: by_derivative(name) for name in DERIVATIVES},
    "analyses": ANALYSES,
}


TRAITS = {
    "tolerance": "adaptive",
    "fixed steps": "equal_steps",
    "adjoint": "adjoint",
    "complex-step": "complex_step",
    "composite": "composite",
    "second derivatives": "second_order",
    "redundant constraints": "redundant",
    "large models": "large_models",
    "damping of fast vibrations": "damping",
}
"""Columns of the table of traits, and what they are called in the code."""


def traits() -> dict[str, dict[str, str]]:
    """What integrators say that they cannot do."""
    return {
        f"`{name}`": {
            column: "" if getattr(integrator.traits, trait) else "not offered"
            for column, trait in TRAITS.items()
        }
        for name, integrator in INTEGRATORS.items()
    }


def tried(m: vm.Mechanism, analysis: Analysis) -> str:
    """The message of the error with which a combination is refused; empty if it works."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            analysis(m)
        except vm.VarimechError as error:
            return str(error)
    return ""


def refusals(columns: Mapping[str, Analysis]) -> dict[str, dict[str, str]]:
    """Messages for each feature and column."""
    return {
        feature: {name: tried(m, analysis) for name, analysis in columns.items()}
        for feature, build in FEATURES.items()
        for m in [build()]
        if not _fault(feature, m)
    }


def _fault(feature: str, m: vm.Mechanism) -> bool:
    """Models are right: by default they run."""
    if message := tried(m, lambda m: m.simulate(DURATION)):
        raise AssertionError(f"the model of {feature!r} does not run: {message}")
    return False


def table(messages: Mapping[str, Mapping[str, str]]) -> str:
    """Works (✓) or is refused (–), for each feature and column."""
    columns = list(next(iter(messages.values())))
    lines = [
        "| | " + " | ".join(columns) + " |",
        "|---|" + ":-:|" * len(columns),
        *(
            f"| {feature} | " + " | ".join("–" if row[c] else "✓" for c in columns) + " |"
            for feature, row in messages.items()
        ),
    ]
    return "\n".join(lines)


def replaced(page: str, name: str, text: str) -> str:
    """The page with a table between its marks."""
    marks = f"<!-- table of {name} -->", f"<!-- end of {name} -->"
    pattern = f"({re.escape(marks[0])}).*?({re.escape(marks[1])})"
    return re.sub(pattern, lambda m: f"{m[1]}\n\n{text}\n\n{m[2]}", page, flags=re.DOTALL)


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, columns in TABLES.items():
        messages = refusals(columns)
        page = replaced(page, name, table(messages))
        for feature, row in messages.items():
            for column, message in row.items():
                if message:
                    print(f"{name}: {feature} × {column}: {message}")
    page = replaced(page, "traits", table(traits()))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
