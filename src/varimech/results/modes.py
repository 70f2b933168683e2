"""Modes of small motions: eigenvalues, frequencies, damping, shapes, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError
from ..plotting.style import in_style
from .result import Description, Result, Table, Variable

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from .mode_motion import ModeCoordinates
    from .run import Run

DRAWN = ("shapes", "labels", "fixed", "joints")
"""Entries of `drawing_plan` that drawings of modes need."""
ROUNDING = 1e-12
"""Modulus of an eigenvalue, over the largest, that counts as zero: it has no damping ratio."""


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Result):
    """Modes about a motion, slowest first; made by `Mechanism.modes`. Of conjugate eigenvalues the
    one with Im λ > 0 is shown.
    """

    mechanism: str
    at: str
    time: float
    """s"""
    steady: bool
    """Whether the linear equations are constant along the motion, so that modes are meaningful."""
    values: np.ndarray
    """Eigenvalues (1/s)."""
    point_names: tuple[str, ...]
    shape_array: np.ndarray
    """Displacements of points, complex: (mode, point, component)."""
    parameter_names: tuple[str, ...]
    value_derivatives: np.ndarray | None
    """(mode, parameter)"""
    repeated: tuple[tuple[int, ...], ...]
    """Modes (from 1) with the same eigenvalue."""
    position_array: np.ndarray
    """Positions of the points in the motion (m): (point, component)."""
    drawing: dict[str, Any]
    """Data for drawings, from `drawing_plan`, and positions of ground points (m)."""
    _coordinates: ModeCoordinates | None = None
    """Data that `motion` needs; None if the modes were read from a file."""

    frequency = Variable("Im λ / 2π (Hz); zero for modes that do not oscillate.")
    growth_rate = Variable("Re λ (1/s); negative for modes that decay.")
    damping_ratio = Variable("−Re λ / |λ|; NaN for eigenvalues that are zero.")
    _dims = ("mode",)

    @classmethod
    def load(cls, path: str | Path) -> Modes:
        """Read modes that were saved as .nc or .json; they can be drawn and animated.

        Args:
            path: the file.

        Returns:
            The modes.

        Raises:
            ModelError: if the file is missing, was damaged or changed, or has another result.
        """
        d, info = cls._read(Path(path))
        has_derivatives = "growth_rate_derivative" in d
        loaded = cls(
            info["mechanism"],
            info["at"],
            info["time"],
            info["steady"],
            d["growth_rate"].to_numpy() + 2j * np.pi * d["frequency"].to_numpy(),
            tuple(map(str, d["point"].to_numpy())),
            d["shape_real"].to_numpy() + 1j * d["shape_imaginary"].to_numpy(),
            tuple(map(str, d["parameter"].to_numpy())) if has_derivatives else (),
            None,
            tuple(tuple(group) for group in info["repeated"]),
            d["position"].to_numpy(),
            info["drawing"],
        )
        loaded.__dict__["dataset"] = d  # exactly as saved, including derivatives
        return loaded

    def _metadata(self) -> dict[str, object]:
        return {**self.info, "repeated": self.repeated, "drawing": self.drawing}

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, place and time."""
        return {
            "mechanism": self.mechanism,
            "at": self.at,
            "time": self.time,
            "steady": self.steady,
        }

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`growth_rate`, `frequency`, `damping_ratio`, real and imaginary parts of the shapes
        (`shape_real`, `shape_imaginary`), positions of the points (`position`, m), and derivatives
        (`frequency_derivative`, …).
        """
        import xarray as xr

        λ, size = self.values, np.abs(self.values)
        moves = size > ROUNDING * size.max(initial=0.0)
        safe = np.where(moves, size, 1.0)
        ζ = np.where(moves, -λ.real / safe, np.nan)
        shape = ("mode", "point", "component")
        variables: dict[str, object] = {
            "growth_rate": ("mode", λ.real, {"units": "1/s"}),
            "frequency": ("mode", λ.imag / (2 * np.pi), {"units": "Hz"}),
            "damping_ratio": ("mode", ζ),
            "shape_real": (shape, self.shape_array.real),
            "shape_imaginary": (shape, self.shape_array.imag),
            "position": (shape[1:], self.position_array, {"units": "m"}),
        }
        coords: dict[str, object] = {
            "mode": np.arange(1, λ.size + 1),
            "point": list(self.point_names),
            "component": [*"xyz"[: self.shape_array.shape[2]]],
        }
        if self.value_derivatives is not None:
            λ_, dims = self.value_derivatives, ("mode", "parameter")
            slope = (λ.conj()[:, None] * λ_).real / safe[:, None]  # of |λ|
            ζ_ = -λ_.real / safe[:, None] - (ζ / safe)[:, None] * slope
            variables |= {
                "growth_rate_derivative": (dims, λ_.real),
                "frequency_derivative": (dims, λ_.imag / (2 * np.pi)),
                "damping_ratio_derivative": (dims, ζ_),
            }
            coords["parameter"] = list(self.parameter_names)
        return xr.Dataset(variables, coords=coords)

    @property
    def eigenvalues(self) -> xr.DataArray:
        """λ (mode), complex, 1/s."""
        import xarray as xr

        return xr.DataArray(self.values, coords={"mode": self.dataset["mode"]}, dims=["mode"])

    @property
    def eigenvalue_derivatives(self) -> xr.DataArray:
        """∂λ/∂ρ (mode, parameter), complex; if derivatives were requested."""
        d = self.dataset
        return d["growth_rate_derivative"] + 2j * np.pi * d["frequency_derivative"]

    @property
    def shapes(self) -> xr.DataArray:
        """Displacements of points (mode, point, component), complex; the largest is 1."""
        return self.dataset["shape_real"] + 1j * self.dataset["shape_imaginary"]

    def draw(
        self,
        mode: int = 1,
        *,
        amplitude: float | None = None,
        phase: float = 0.0,
        trace: str | Sequence[str] = (),
        title: str | None = None,
        style: str | None = None,
    ) -> Figure:
        """Draw a mode shape: the mechanism displaced in strong colours, in its motion and displaced
        the other way behind it.

        Args:
            mode: number of the mode, from 1 on.
            amplitude: largest displacement of a point (m); 0.15 of the size of the mechanism if not
                given.
            phase: of the oscillation (rad); at 0 the point that moves farthest is at its end.
            trace: points whose paths over a cycle are drawn.
            title: title; mechanism, frequency and damping if not given.
            style: "paper" for the format of a paper.

        Returns:
            A figure.

        Raises:
            ModelError: for a mode that does not exist, or that moves no point.
        """
        from .mode_drawing import ModeDrawing

        figure = ModeDrawing.of(self, mode, amplitude).figure(phase, trace, title, bool(style))
        return in_style(figure, style, titled=title is not None)

    def animate(
        self,
        mode: int = 1,
        path: str | Path = "mode.gif",
        *,
        amplitude: float | None = None,
        frames: int = 24,
        seconds: float = 1.5,
        trace: str | Sequence[str] = (),
    ) -> Path:
        """Write a mode shape as an animated picture: one cycle, repeated. Growth and decay are left
        out; a mode that does not oscillate is shown moving to and fro.

        Args:
            mode, amplitude, trace: as for `draw`.
            path: file that ends with .gif, or with .mp4 where ffmpeg is installed.
            frames: pictures of a cycle.
            seconds: time that a cycle takes on the screen (s).

        Returns:
            The path.

        Raises:
            ModelError: as for `draw`, and for another ending or a number of frames below 2.
        """
        from .mode_drawing import ModeDrawing

        drawing = ModeDrawing.of(self, mode, amplitude)
        return drawing.animate(Path(path), frames, seconds, trace)

    def motion(
        self,
        mode: int = 1,
        *,
        amplitude: float | None = None,
        frames: int = 48,
        seconds: float | None = None,
    ) -> Run:
        """A mode as a run, one cycle to first order, which reports and widgets of notebooks animate.
        Growth and decay are left out, as by `animate`; lengths of bodies hold to first order, and
        there are no forces.

        Args:
            mode, amplitude: as for `draw`.
            frames: stored times of the cycle.
            seconds: time of the cycle; the period of the mode if not given, and 1 s for one that
                does not oscillate.

        Returns:
            The run.

        Raises:
            ModelError: as for `draw`; for fewer than 2 frames, a time that is not positive, and
                modes that were read from a file.
        """
        from .mode_drawing import amplitude_of

        if self._coordinates is None:
            raise ModelError(
                "these modes were read from a file, and have no equations",
                element="motion",
                remedy="compute them anew with m.modes(…); draw and animate do without",
            )
        if not isinstance(frames, int) or frames < 2:
            raise ModelError("must be 2 or more", element="motion", field="frames", value=frames)
        scale, ω = amplitude_of(self, mode, amplitude), self.values[mode - 1].imag
        period = (2 * np.pi / ω if ω else 1.0) if seconds is None else float(seconds)
        if not (np.isfinite(period) and period > 0):
            raise ModelError(
                "must be a positive time (s)", element="motion", field="seconds", value=seconds
            )
        return self._coordinates.motion(mode, scale, frames, period)

    def _described(self) -> Description:
        d = self.dataset
        names = ("growth_rate", "frequency", "damping_ratio")
        rows = [[k + 1, *(float(d[name][k]) for name in names)] for k in range(self.values.size)]
        notes = [
            f"modes {', '.join(map(str, group))} have the same eigenvalue"
            for group in self.repeated
        ]
        if not self.steady:
            notes.append(
                "the linear equations change along the motion: these hold at one instant only"
            )
        title = f"Modes of {self.mechanism!r}, {self.at}, t = {self.time:g} s"
        head = ["mode", "growth rate (1/s)", "frequency (Hz)", "damping ratio"]
        return Description(title, tables=[(head, rows), *self._derivative_table()], notes=notes)

    def _derivative_table(self) -> list[Table]:
        """Tables of the derivatives of growth rates and frequencies, if there are any."""
        d = self.dataset
        if "growth_rate_derivative" not in d:
            return []
        names = ("growth_rate_derivative", "frequency_derivative", "damping_ratio_derivative")
        rows = [
            [k, str(p), *(float(d[name].sel(mode=k, parameter=p)) for name in names)]
            for k in d["mode"].to_numpy().tolist()
            for p in d["parameter"].to_numpy()
        ]
        head = ["mode", "per unit of", "growth rate (1/s)", "frequency (Hz)", "damping ratio"]
        return [(head, rows)]
