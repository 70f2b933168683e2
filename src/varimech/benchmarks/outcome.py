"""Outcome of a benchmark: checked numbers, times, tables and figures; and helpers that extract
numbers from a run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import varimech as vm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.table import Table

COMPONENTS = ("x", "y", "z")
DERIVATIVE_METHODS = ("direct", "adjoint")
Settings = dict[str, Any]
"""Options of a run, and `parameters`: arguments of `simulate` and `sensitivity`."""
Figures: TypeAlias = "dict[str, Figure]"
"""Figures by the names of their files."""


@dataclass(frozen=True)
class Check:
    """A computed number with its reference; its name ends with the unit."""

    name: str
    value: float
    reference: float
    tolerance: float

    @property
    def error(self) -> float:
        """|value − reference|."""
        return abs(float(self.value) - float(self.reference))

    @property
    def share(self) -> float:
        """Error divided by the tolerance."""
        return self.error / float(self.tolerance)

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance; NaN is not."""
        return self.share <= 1.0

    def to_json(self) -> dict[str, Any]:
        """The check as plain data."""
        return {
            "name": self.name,
            "value": float(self.value),
            "reference": float(self.reference),
            "tolerance": float(self.tolerance),
            "passed": self.passed,
        }


def worst(checks: Sequence[Check]) -> Check:
    """The check with the largest share of its tolerance; NaN counts as the largest."""
    return max(checks, key=lambda c: c.share if math.isfinite(c.share) else math.inf)


def summary(
    name: str, method: str, checks: Sequence[Check], seconds: Mapping[str, float]
) -> dict[str, object]:
    """Entries that the JSON of every benchmark has."""
    return {
        "benchmark": name,
        "method": method,
        "passed": all(c.passed for c in checks),
        "checks": [c.to_json() for c in checks],
        "seconds": {key: float(seconds[key]) for key in ("build", "run")},
    }


def check_table(checks: Sequence[Check], title: str = "Checks") -> Table:
    """The checks as a rich table."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for heading in ("what", "computed", "reference", "error", "allowed", "share", ""):
        table.add_column(
            heading,
            justify="left" if heading in ("what", "") else "right",
            no_wrap=heading != "what",
        )
    for c in checks:
        verdict = "[green]pass[/]" if c.passed else "[red]fail[/]"
        numbers = (
            f"{c.value:.8g}",
            f"{c.reference:.8g}",
            f"{c.error:.1e}",
            f"{c.tolerance:.1e}",
            f"{c.share:.2%}",
        )
        table.add_row(c.name, *numbers, verdict)
    return table


@dataclass(frozen=True)
class Checked:
    """A solved benchmark: its runs, its checks, and figures that are drawn on request."""

    name: str
    runs: tuple[vm.Run, ...]
    checks: tuple[Check, ...]
    figures: Callable[[], Figures]
    """File name → figure."""
    studies: tuple[vm.Study, ...] = ()

    @property
    def method(self) -> str:
        """Formulation and integrator; several if the runs differ."""
        return "; ".join(dict.fromkeys(str(r.info["method"]) for r in self.runs))

    @property
    def seconds(self) -> dict[str, float]:
        """Time for building and assembly, and for the time steps (s), of all runs and studies."""
        each = [r.info["seconds"] for r in self.runs] + [s.seconds for s in self.studies]
        return {key: sum(seconds[key] for seconds in each) for key in ("build", "run")}

    @property
    def results(self) -> tuple[object, ...]:
        """Results for a report."""
        return (self.runs[0], *self.studies)

    @property
    def passed(self) -> bool:
        """Whether all checks pass."""
        return all(c.passed for c in self.checks)

    def to_json(self) -> dict[str, Any]:
        """All numbers as plain data."""
        return summary(self.name, self.method, self.checks, self.seconds)

    def tables(self) -> list[Table]:
        """The checks as a table."""
        return [check_table(self.checks)]

    def write(self, folder: Path) -> list[Path]:
        """Write `results.json` and the figures; returns their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        results = folder / "results.json"
        results.write_text(json.dumps(self.to_json(), indent=2) + "\n", encoding="utf-8")
        written = [results]
        for name, figure in self.figures().items():
            figure.savefig(folder / f"{name}.png")
            written.append(folder / f"{name}.png")
        return written


def read_model(name: str) -> vm.Mechanism:
    """Read a mechanism, with its studies, from a model file of this package."""
    return vm.Mechanism.from_file(Path(__file__).parent / "models" / f"{name}.yaml")


def read_objectives(m: vm.Mechanism) -> dict[str, vm.Objective]:
    """The objectives of a mechanism that was read from its model file."""
    assert m.studies is not None, "mechanisms of files have studies"
    made = {name: entry.made() for name, entry in m.studies.objectives.items()}
    return {name: each for name, each in made.items() if isinstance(each, vm.Objective)}


def row_at(run: vm.Run, time: float) -> int:
    """Index of a stored time (s)."""
    row = int(np.abs(run.time - time).argmin())
    if abs(run.time[row] - time) > 1e-9:
        raise vm.ModelError(
            f"{run.info['mechanism']}: t = {time:g} s is not among the stored times; choose a step"
            " that divides it"
        )
    return row


def check_point(
    run: vm.Run,
    point: str,
    time: float,
    reference: Sequence[float],
    tolerance: float,
    *,
    called: str | None = None,
) -> list[Check]:
    """Checks of the position of a point at a time, one for each component.

    Args:
        run: the run.
        point: name of the point.
        time: stored time (s).
        reference: expected position (m).
        tolerance: largest error of a component (m).
        called: name of the point in the checks.
    """
    position = run.position(point).transpose("time", "component").to_numpy()[row_at(run, time)]
    return [
        Check(f"{c} of {called or point} at {time:g} s (m)", float(x), r, tolerance)
        for c, x, r in zip(COMPONENTS, position, reference, strict=False)
    ]


def check_gradient(
    solution: vm.Gradient, references: Mapping[str, float], allowed: Callable[[str, float], float]
) -> list[Check]:
    """Checks of the derivatives of the first objective, one for each parameter.

    Args:
        solution: the gradient.
        references: parameter → expected derivative.
        allowed: tolerance as a function of the parameter and its reference.
    """
    return [
        Check(f"∂ψ/∂{name} (SI)", float(derivative), reference, allowed(name, reference))
        for (name, reference), derivative in zip(
            references.items(), solution.final_gradient[0], strict=True
        )
    ]


def both_methods(
    m: vm.Mechanism,
    objectives: Mapping[str, vm.Objective],
    parameters: Sequence[str],
    duration: float,
    settings: Settings,
) -> dict[str, vm.Gradient]:
    """Gradients by the direct method and by the adjoint.

    Args:
        m: the mechanism.
        objectives: objectives by name.
        parameters: names of parameters.
        duration: duration of the run (s).
        settings: options of the run.

    Returns:
        Derivative method → gradient.
    """
    return {
        method: m.sensitivity(
            dict(objectives), list(parameters), duration=duration, method=method, **settings
        )
        for method in DERIVATIVE_METHODS
    }


def check_both_methods(
    solutions: Mapping[str, vm.Gradient],
    references: Mapping[str, tuple[float, Mapping[str, float]]],
    relative: float = 1e-9,
    *,
    which: str = "",
) -> list[Check]:
    """Checks of the objectives and of their derivatives by each derivative method.

    Args:
        solutions: derivative method → gradient, as `both_methods` returns them.
        references: objective → expected value, and parameter → expected derivative.
        relative: tolerance relative to the reference; absolute, in SI units, where that is 0.
        which: identifies the run in the names of the checks.
    """
    checks = []
    for objective, (value, derivatives) in references.items():
        for method, solution in solutions.items():
            k = solution.objective_names.index(objective)
            pairs = {f"{objective}{which}, {method} (SI)": (solution.final_values[k], value)}
            for parameter, expected in derivatives.items():
                j = solution.parameter_names.index(parameter)
                name = f"∂({objective})/∂{parameter}{which}, {method} (SI)"
                pairs[name] = (solution.final_gradient[k, j], expected)
            checks += [
                Check(name, float(computed), r, relative * (abs(r) or 1.0))
                for name, (computed, r) in pairs.items()
            ]
    return checks


def check_energy(run: vm.Run, tolerance: float, which: str = "") -> Check:
    """Check of energy conservation; `which` identifies the run."""
    return Check(
        f"drift of the energy / largest kinetic energy{which}",
        energy_drift(run),
        0.0,
        tolerance,
    )


def stored_every(settings: Settings, interval: float) -> Settings:
    """Return settings that store one row at each interval (s) if it is a whole number of steps;
    otherwise the unchanged settings.
    """
    step = settings.get("step")
    steps = round(interval / step) if step else 0
    if not step or steps < 1 or abs(steps * step - interval) >= 1e-12:
        return settings
    return {"every": steps, **settings}


def stored_at(settings: Settings, interval: float) -> Settings:
    """Return settings that store one row at each interval (s), also for adaptive steps."""
    if "step" in settings:
        return stored_every(settings, interval)
    return {"output": interval, **settings}


def sensitivity_panels(solution: vm.Gradient) -> list[vm.Panel]:
    """ψ (m²/s), the only objective, and its derivatives times the parameters, over time."""
    t, nominal = solution.time, solution.run.info["parameters"]
    scaled = [
        vm.Line(f"p = {p}", t, nominal[p] * solution.gradient_history[:, 0, k])
        for k, p in enumerate(solution.parameter_names)
    ]
    values = [vm.Line("", t, solution.value_history[:, 0])]
    return [vm.Panel("ψ (m²/s)", values), vm.Panel("p ∂ψ/∂p (m²/s)", scaled)]


def legend_beside(ax: Axes) -> None:
    """Place the legend of a panel to the right of it."""
    ax.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1), borderaxespad=0.3)


def energy_panel(run: vm.Run) -> vm.Panel:
    """Kinetic energy, and the changes of potential and total energy since the beginning (J)."""
    lines = [vm.Line("kinetic", run.time, run.energy("kinetic").to_numpy())]
    for kind in ("potential", "total"):
        energy = run.energy(kind).to_numpy()
        lines.append(vm.Line(f"{kind}, change", run.time, energy - energy[0]))
    return vm.Panel("energy (J)", lines)


def energy_drift(run: vm.Run) -> float:
    """Largest change of the total energy, relative to the largest kinetic energy."""
    total = run.energy().to_numpy()
    return float(np.abs(total - total[0]).max() / run.energy("kinetic").to_numpy().max())
