"""A certificate: how many digits of a gradient can be trusted, with all the evidence, readable by
people and by programs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np

from ..core.errors import ModelError
from ..plotting.figure import Line
from ..plotting.perturbation_sweep import Level, sweep_figure
from ..plotting.style import in_style
from .certificate_evidence import Finding, GradientEvidence, Verdicts
from .result import ByParameter, Description, Variable
from .saving import load_dataset, load_json, plain, restored_array

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
"""Verdicts on one derivative. INDEPENDENT follows from the equations alone; ZERO from
numbers, with a bound.
"""
DISAGREE, UNCHECKED, ROUNDING, STEPS, SCALE_DEPENDENT, FAILING = (
    "methods disagree",
    "could not be checked",
    "rounding",
    "steps too long",
    "depends on the perturbation",
    "runs nearby fail",
)
COMPLIANT, UNRESOLVED = "constraints give way", "unresolved function"
ROUGH_EVENT = "event without a derivative"
CHAOS, SINGULAR, NON_SMOOTH_FORCE, NON_SMOOTH_OBJECTIVE = (
    "chaotic motion",
    "singular position",
    "non-smooth force",
    "non-smooth objective",
)
"""Reasons why a derivative is not trusted."""
OF = ("computed function", "true motion")
"""The functions whose derivative is assessed: the discrete result of the program with its steps,
and the exact motion that it approximates.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(ByParameter, GradientEvidence, Verdicts):
    """How far a gradient can be trusted; made by `Gradient.certify`. Arrays are by (objective,
    parameter).
    """

    mechanism: str
    method: str
    differentiated: str
    """Method of the gradient being certified."""
    wanted: float
    """Number of digits from which on a derivative is trusted."""
    plateau_value: np.ndarray
    """Value on which neighbouring perturbations agree; NaN where they do not agree."""
    plateau_error: np.ndarray
    plateau_decades: np.ndarray
    """Width of the plateau in decades of the perturbation."""
    findings: tuple[Finding, ...]
    seconds: float

    digits = Variable(
        "Digits that can be trusted, of the derivative of the computed function and of that of the"
        " true motion; NaN where it is zero."
    )
    _dims = ("objective", "parameter")

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, scheme, method of the gradient, verdict, and seconds."""
        origin = {"mechanism": self.mechanism, "method": self.method}
        verdict = {"derivatives": self.differentiated, "trusted": self.trusted}
        return {**origin, **verdict, "wanted": self.wanted, "seconds": self.seconds}

    @cached_property
    def dataset(self) -> xr.Dataset:
        """All arrays: `gradient`, `digits` and `errors` (of the computed function and of the true
        motion), `status`, `reason`, the sweep of differences and its plateau, …
        """
        import xarray as xr

        dims, of = ("objective", "parameter"), ("of", "objective", "parameter")
        plain_ones = ("gradient", "sizes", "plateau_value", "plateau_error", "plateau_decades")
        variables: dict[str, object] = {
            name: (dims, getattr(self, name)) for name in (*plain_ones, "slope", "order")
        }
        return xr.Dataset(
            {
                **variables,
                "status": (dims, self.status.astype(str)),
                "reason": (dims, self.reason.astype(str)),
                "digits": (of, self.digit_array),
                "errors": (of, self.errors),
                "sweep": (("relative_step", *dims), self.sweep),
                "amplification": ("objective", self.amplification),
            },
            coords={
                "of": list(OF),
                "relative_step": list(self.relative_steps),
                **self._coords("parameter"),
            },
        )

    @property
    def trusted(self) -> bool:
        """Whether every derivative is trusted, zero within rounding, or none."""
        return bool((self.status != NOT_TRUSTED).all())

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons why derivatives are not trusted; empty if all are trusted."""
        return tuple(dict.fromkeys(str(r) for r in self.reason.ravel() if r))

    def verdict(self, objective: int, parameter: int) -> str:
        """The verdict on one derivative.

        Args:
            objective: index of the objective.
            parameter: index of the parameter.

        Returns:
            Status with its reason or bound.
        """
        status, reason = str(self.status[objective, parameter]), self.reason[objective, parameter]
        if reason:
            return f"{status}: {reason}"
        bound = self.errors[0, objective, parameter]
        return f"{status}: below {bound:.0e}" if status == ZERO and bound > 0 else status

    def table(self) -> pd.DataFrame:
        """Value, digits, verdict, and relative difference of each method, by derivative.

        Returns:
            A row for each objective and parameter.
        """
        import pandas as pd

        others = {check.name: check.gradient for check in self.derivative_checks}
        others |= {"reference": self.reference.gradient, "differences": self.plateau_value}
        rows = []
        for (o, p), value in np.ndenumerate(self.gradient):
            size = float(self.sizes[o, p]) or np.nan
            rows.append(
                {
                    "objective": self.objective_names[o],
                    "parameter": self.parameter_names[p],
                    "derivative": float(value),
                    "digits of the computed function": float(self.digit_array[0, o, p]),
                    "digits of the true motion": float(self.digit_array[1, o, p]),
                    "verdict": str(self.status[o, p]),
                    "reason": str(self.reason[o, p]),
                    **{
                        name: np.nan if other is None else abs(float(other[o, p]) - value) / size
                        for name, other in others.items()
                    },
                    "plateau (decades)": float(self.plateau_decades[o, p]),
                    "order": float(self.order[o, p]),
                }
            )
        return pd.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        """Return the whole certificate as plain data.

        Returns:
            Its fields, and `trusted`; NaN is None.
        """
        return {"trusted": self.trusted, **plain(self)}

    def _metadata(self) -> dict[str, object]:
        """Complete metadata, including evidence that the dataset does not contain."""
        return self.to_json()

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a certificate that was saved as .json or .nc.

        Args:
            path: the file.

        Returns:
            The same certificate.

        Raises:
            ModelError: if the file is missing, was damaged or changed, or has another result.
        """
        path, kind = Path(path), cls.__name__
        json = path.suffix == ".json"
        return cls.from_json(load_json(path, kind) if json else load_dataset(path, kind)[1])

    @classmethod
    def from_json(cls, data: dict[str, object]) -> Certificate:
        """Rebuild a certificate from plain data.

        Args:
            data: the data that `to_json` returned.

        Returns:
            The same certificate.

        Raises:
            ModelError: if a field is missing, or of another type.
        """
        try:
            certificate: Certificate = _restored(cls, data)
        except (ValueError, KeyError, TypeError) as error:
            problem = f"this is not a saved certificate: {error!r}"
            raise ModelError(problem, element="Certificate", field="data") from None
        return certificate

    def plot(self, *, style: str | None = None) -> Figure:
        """Errors of finite differences over the perturbation, beside the exact methods and the
        error of the
        steps.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure with a panel for each parameter and a curve for each objective.
        """
        panels, against = self.sweep_panels()
        title = f"{self.mechanism}: gradient by {self.differentiated}, {self._verdict}"
        return in_style(
            sweep_figure(panels, self.objective_names, title=title, against=against), style
        )

    @property
    def _verdict(self) -> str:
        return "trusted" if self.trusted else f"not trusted: {', '.join(self.reasons)}"

    def sweep_panels(self) -> tuple[dict[str, tuple[list[Line], list[Level]]], str]:
        """Curves that `plot` draws.

        Returns:
            Curves and levels by parameter, and the reference method of all errors.
        """
        by_method = {c.name: c.gradient for c in self.derivative_checks if c.gradient is not None}
        against = next(reversed(by_method), "")
        exact = by_method.pop(against, self.gradient)
        panels: dict[str, tuple[list[Line], list[Level]]] = {}
        for p, parameter in enumerate(self.parameter_names):
            curves, levels = panels[parameter] = [], []
            for o, objective in enumerate(self.objective_names):
                value, own = float(exact[o, p]), float(self.gradient[o, p])
                size = max(float(self.sizes[o, p]), abs(value))
                if size == 0 or self.status[o, p] in (INDEPENDENT, ZERO):
                    continue
                differences = np.abs(self.sweep[:, o, p] - value) / size
                curves.append(Line(objective, np.array(self.relative_steps), differences))
                errors = {name: float(other[o, p]) - value for name, other in by_method.items()}
                repeated = (
                    exact if self.differentiated == against else by_method.get(self.differentiated)
                )
                if repeated is None or repeated[o, p] != own:
                    errors["the certified gradient"] = own - value
                steps = f"error by the {self.refinement.what}"
                errors[steps] = float(self.errors[1, o, p] - self.errors[0, o, p])
                levels += [Level(objective, name, abs(e) / size) for name, e in errors.items()]
        return panels, against or "the gradient"

    def _described(self) -> Description:
        rows = []
        for (o, p), value in np.ndenumerate(self.gradient):
            digits = [f"{d:.1f}" if np.isfinite(d) else "–" for d in self.digit_array[:, o, p]]
            named = self.objective_names[o] if p == 0 else "", self.parameter_names[p]
            rows.append([*named, f"{value:.9g}", *digits, self.verdict(o, p)])
        verdict = "TRUSTED" if self.trusted else f"NOT TRUSTED: {', '.join(self.reasons)}"
        if np.isfinite(self.digit_array).any():
            least = np.nanmin(self.digit_array, axis=(1, 2))
            verdict += (
                f" (at least {least[0]:.1f} digits of the computed function, {least[1]:.1f} of the"
                " true motion)"
            )
        return Description(
            f"Certificate of the gradient of {self.mechanism!r} by {self.differentiated};"
            f" {self.method}",
            tables=[
                (["objective", "parameter", "derivative", "computed", "motion", "verdict"], rows)
            ],
            notes=[verdict, *(f"• {finding.text}" for finding in self.findings)],
        )


def _restored(kind: object, value: Any) -> Any:
    """Rebuild a value from plain data, by its type; null is NaN where a number is expected."""
    if get_origin(kind) is UnionType:
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
        return None if value is None else _restored(kind, value)
    if get_origin(kind) is tuple:
        return tuple(_restored(get_args(kind)[0], each) for each in value)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{f.name: _restored(hints[f.name], value[f.name]) for f in fields(kind)})
    if kind is np.ndarray:
        array = restored_array(value)
        return array if array.dtype.kind == "U" else array.astype(float)
    if kind is float:
        return float("nan" if value is None else value)
    return value
