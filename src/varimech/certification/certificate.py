"""A certificate: how many digits of a gradient can be trusted, with all the evidence, readable by
people and by programs.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.atomic_files import write_text
from ..core.errors import ModelError
from ..core.markup import Displayed, html_heading, html_table, html_text
from ..plotting.figure import picture
from ..plotting.perturbation_sweep import Curve, Level, sweep_figure
from ..plotting.style import in_style
from ..results.seal import SEAL, data_digest
from .evidence import Growth, Refinement, Singularity
from .reference import Reference, Unresolved
from .rerun import DerivativeCheck

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

TRUSTED, NOT_TRUSTED, INDEPENDENT, ZERO = (
    "trusted",
    "not trusted",
    "does not depend",
    "zero within rounding",
)
"""What can be said of one derivative. INDEPENDENT follows from the equations alone; ZERO from
numbers, with a bound.
"""
DISAGREE, UNCHECKED, ROUNDING, STEPS, TWO_SLOPES, FAILING = (
    "roads disagree",
    "could not be checked",
    "rounding",
    "steps too long",
    "two slopes",
    "runs nearby fail",
)
COMPLIANT, UNRESOLVED = "constraints give way", "unresolved function"
CHAOS, SINGULAR, NON_SMOOTH_FORCE, NON_SMOOTH_OBJECTIVE = (
    "chaotic motion",
    "singular position",
    "non-smooth force",
    "non-smooth objective",
)
"""Why one is not trusted."""
OF = ("computed function", "true motion")
"""Of what it is the derivative: of the outcome of the program with its steps; and of the motion
that these approximate.
"""


@dataclass(frozen=True)
class Finding:
    """Something that was found, in plain words; `kind` is a reason why derivatives are not trusted,
    or what it is about.
    """

    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class Certificate(Displayed):
    """How far a gradient can be trusted; made by `Gradient.certify`. Arrays stand by (objective,
    parameter).
    """

    mechanism: str
    method: str
    differentiated: str
    """The method of the gradient in question."""
    objective_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    units: tuple[str, ...]
    parameter_units: tuple[str, ...]
    gradient: np.ndarray
    """The gradient in question."""
    sizes: np.ndarray
    """By what errors are measured: its derivatives, or the sizes given to `certify` where these are
    larger.
    """
    digit_array: np.ndarray
    """(of, objective, parameter); see `digits`"""
    errors: np.ndarray
    """(of, objective, parameter): estimated errors, absolute."""
    status: np.ndarray
    """"trusted", "not trusted", "does not depend" or "zero within rounding"."""
    reason: np.ndarray
    """Why not, in a word or two."""
    wanted: float
    """Digits from which on a derivative is trusted."""
    derivative_checks: tuple[DerivativeCheck, ...]
    relative_steps: tuple[float, ...]
    sweep: np.ndarray
    """Central differences: (perturbation, objective, parameter)."""
    plateau_value: np.ndarray
    """What neighbouring perturbations agree on; NaN where they do not."""
    plateau_error: np.ndarray
    plateau_decades: np.ndarray
    """Its width."""
    slope: np.ndarray
    """How errors of differences fall with the perturbation: 2 for smooth functions, NaN where they
    do not fall.
    """
    refinement: Refinement
    reference: Reference
    """The gradient by a run of another kind: exact constraints, steps of irregular length,
    functions of time resolved.
    """
    order: np.ndarray
    """Of convergence under halving of the step; NaN where rounding is reached, or
    steps are chosen.
    """
    amplification: np.ndarray
    """By objective: its rounding over that of one number."""
    residuals: tuple[float, ...]
    """Largest violations of constraints: position, velocity, acceleration."""
    growth: Growth | None
    singularity: Singularity | None
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def trusted(self) -> bool:
        """Whether every derivative is trusted, zero within rounding, or none."""
        return bool((self.status != NOT_TRUSTED).all())

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why derivatives are not trusted; empty if all are."""
        return tuple(dict.fromkeys(str(r) for r in self.reason.ravel() if r))

    def verdict(self, objective: int, parameter: int) -> str:
        """What is to be said of one derivative, in a few words."""
        said, reason = str(self.status[objective, parameter]), self.reason[objective, parameter]
        if reason:
            return f"{said}: {reason}"
        bound = self.errors[0, objective, parameter]
        return f"{said}: below {bound:.0e}" if said == ZERO and bound > 0 else said

    @property
    def digits(self) -> xr.DataArray:
        """Digits that can be trusted, of the derivative of the computed function and of that of the
        true motion; NaN where it is zero.
        """
        import xarray as xr

        coords = {
            "of": list(OF),
            "objective": list(self.objective_names),
            "parameter": list(self.parameter_names),
        }
        return xr.DataArray(
            self.digit_array, coords=coords, dims=["of", "objective", "parameter"], name="digits"
        )

    def table(self) -> pd.DataFrame:
        """A row a derivative: its value, digits, verdict, and how far each road is
        off, relative.
        """
        import pandas as pd

        rows = []
        for (o, p), value in np.ndenumerate(self.gradient):
            size = float(self.sizes[o, p]) or np.nan
            row: dict[str, Any] = {
                "objective": self.objective_names[o],
                "parameter": self.parameter_names[p],
                "derivative": float(value),
                "digits of the computed function": float(self.digit_array[0, o, p]),
                "digits of the true motion": float(self.digit_array[1, o, p]),
                "verdict": str(self.status[o, p]),
                "reason": str(self.reason[o, p]),
            }
            for derivative_check in self.derivative_checks:
                row[derivative_check.name] = (
                    np.nan
                    if derivative_check.gradient is None
                    else abs(float(derivative_check.gradient[o, p]) - value) / size
                )
            other = self.reference.gradient
            row["reference"] = np.nan if other is None else abs(float(other[o, p]) - value) / size
            row["differences"] = abs(float(self.plateau_value[o, p]) - value) / size
            row["plateau (decades)"] = float(self.plateau_decades[o, p])
            row["order"] = float(self.order[o, p])
            rows.append(row)
        return pd.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data, and `trusted`; what is not a number is null."""
        return {
            "trusted": self.trusted,
            **_plain({f.name: getattr(self, f.name) for f in fields(self)}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Certificate:
        """A certificate from what `to_json` gave."""
        values = {f.name: data[f.name] for f in fields(cls)}
        for name in _NUMBERS:
            values[name] = _array(values[name])
        for name in ("status", "reason"):
            values[name] = np.array(values[name], dtype=object)
        for name in (
            "objective_names",
            "parameter_names",
            "units",
            "parameter_units",
            "relative_steps",
            "residuals",
        ):
            values[name] = tuple(values[name])
        values["derivative_checks"] = tuple(
            DerivativeCheck(
                r["name"],
                None if r["gradient"] is None else _array(r["gradient"]),
                r["refusal"],
                r["seconds"],
            )
            for r in values["derivative_checks"]
        )
        r = values["refinement"]
        values["refinement"] = Refinement(
            r["what"], tuple(r["settings"]), _array(r["gradients"]), r["refusal"]
        )
        c = values["reference"]
        gradient = None if c["gradient"] is None else _array(c["gradient"])
        unresolved = tuple(Unresolved(**u) for u in c["unresolved"])
        values["reference"] = Reference(
            c["what"], gradient, c["refusal"], c["compliant"], unresolved
        )
        values["growth"] = None if values["growth"] is None else Growth(**values["growth"])
        values["singularity"] = (
            None if values["singularity"] is None else Singularity(**values["singularity"])
        )
        values["findings"] = tuple(Finding(**f) for f in values["findings"])
        return cls(**values)

    def save(self, path: str | Path) -> Path:
        """Write it to a JSON file; `Certificate.load` reads it again."""
        path = Path(path)
        data = self.to_json()
        write_text(
            path, json.dumps({**data, SEAL: data_digest(data)}, indent=1, ensure_ascii=False)
        )
        return path

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a certificate that was saved."""
        path = Path(path)
        if not path.exists():
            raise ModelError(f"there is no file {str(path)!r}")
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.pop(SEAL) != data_digest(data):
                raise ValueError("it was changed after it was saved")
            return cls.from_json(data)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
            raise ModelError(f"file {str(path)!r} is not a saved certificate: {error!r}") from None

    def plot(self, *, style: str | None = None) -> Figure:
        """For each parameter how far differences are off over the perturbation, a curve an
        objective, beside the exact roads and the error of the steps; `style="paper"` for a paper.
        """
        panels, against = self.sweep_panels()
        verdict = "trusted" if self.trusted else "not trusted: " + ", ".join(self.reasons)
        title = f"{self.mechanism}: gradient by {self.differentiated}, {verdict}"
        return in_style(
            sweep_figure(panels, self.objective_names, title=title, against=against), style
        )

    def sweep_panels(self) -> tuple[dict[str, tuple[list[Curve], list[Level]]], str]:
        """What `plot` draws, by parameter, and the road that all is measured against."""
        panels: dict[str, tuple[list[Curve], list[Level]]] = {}
        reference = next(
            (r for r in reversed(self.derivative_checks) if r.gradient is not None), None
        )
        exact = (
            self.gradient if reference is None or reference.gradient is None else reference.gradient
        )
        x = np.array(self.relative_steps)
        for p, parameter in enumerate(self.parameter_names):
            curves, levels = [], []
            for o, objective in enumerate(self.objective_names):
                value = exact[o, p]
                size = max(float(self.sizes[o, p]), abs(float(value)))
                if size == 0 or self.status[o, p] in (INDEPENDENT, ZERO):
                    continue
                curves.append(Curve(objective, x, np.abs(self.sweep[:, o, p] - value) / size))
                for derivative_check in self.derivative_checks:
                    if derivative_check.gradient is not None and derivative_check is not reference:
                        levels.append(
                            Level(
                                objective,
                                derivative_check.name,
                                abs(float(derivative_check.gradient[o, p] - value)) / size,
                            )
                        )
                if not any(
                    r.name == self.differentiated
                    and r.gradient is not None
                    and r.gradient[o, p] == self.gradient[o, p]
                    for r in self.derivative_checks
                ):
                    levels.append(
                        Level(
                            objective,
                            "the gradient in question",
                            abs(float(self.gradient[o, p] - value)) / size,
                        )
                    )
                stepping = self.errors[1, o, p] - self.errors[0, o, p]
                levels.append(
                    Level(
                        objective,
                        f"error by the {self.refinement.what}",
                        abs(float(stepping)) / size,
                    )
                )
            panels[parameter] = (curves, levels)
        return panels, "the gradient" if reference is None else reference.name

    def _display(self) -> str:
        rows = [
            [
                self.objective_names[o],
                self.parameter_names[p],
                value,
                *self.digit_array[:, o, p],
                self.verdict(o, p),
            ]
            for (o, p), value in np.ndenumerate(self.gradient)
        ]
        head = [
            "objective",
            "parameter",
            "derivative",
            "digits computed",
            "digits of the motion",
            "verdict",
        ]
        verdict = "trusted" if self.trusted else f"not trusted: {', '.join(self.reasons)}"
        told = html_heading(
            f"{self.mechanism}: {verdict}", f"gradient by {self.differentiated}; {self.method}"
        )
        return (
            told
            + html_table(head, rows)
            + html_text("\n".join(f"• {f.text}" for f in self.findings))
            + picture(self.plot())
        )

    def __repr__(self) -> str:
        heads = ("objective", "parameter", "derivative", "computed", "motion", "verdict")
        rows: list[tuple[str, ...]] = [heads]
        for (o, p), value in np.ndenumerate(self.gradient):
            digits = [f"{d:.1f}" if np.isfinite(d) else "–" for d in self.digit_array[:, o, p]]
            named = self.objective_names[o] if p == 0 else "", self.parameter_names[p]
            rows.append((*named, f"{value:.9g}", *digits, self.verdict(o, p)))
        widths = [max(len(row[k]) for row in rows) for k in range(len(heads))]
        lines = [
            "  ".join(_aligned(cell, widths[k], k) for k, cell in enumerate(row)).rstrip()
            for row in rows
        ]
        head = (
            f"Certificate of the gradient of {self.mechanism!r} by {self.differentiated};"
            f" {self.method}"
        )
        least = (
            np.nanmin(self.digit_array, axis=(1, 2))
            if np.isfinite(self.digit_array).any()
            else np.full(2, np.nan)
        )
        verdict = "TRUSTED" if self.trusted else f"NOT TRUSTED: {', '.join(self.reasons)}"
        if np.isfinite(least).all():
            verdict += (
                f" (at least {least[0]:.1f} digits of the computed function, {least[1]:.1f} of the"
                " true motion)"
            )
        told = [f"  • {f.text}" for f in self.findings]
        return "\n".join([head, "", *lines, "", verdict, *told])


_NUMBERS = (
    *("gradient", "sizes", "digit_array", "errors", "sweep", "slope", "order", "amplification"),
    *("plateau_value", "plateau_error", "plateau_decades"),
)
"""Fields that are arrays of numbers."""


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if 2 <= column <= 4 else cell.ljust(width)


def _plain(value: Any) -> Any:
    """Lists, mappings, texts and numbers; NaN becomes None."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None if np.isnan(value) else str(value)
    if isinstance(value, (DerivativeCheck, Refinement, Reference, Growth, Singularity, Finding)):
        return _plain(asdict(value))
    return value


def _array(values: Any) -> np.ndarray:
    """Numbers, with NaN for None and infinities by name."""
    return np.array(values, dtype=object).astype(float)
