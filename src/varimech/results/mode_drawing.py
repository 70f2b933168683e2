"""Drawings and animations of mode shapes: points at x + a Re(u eⁱᵠ) with the shape u, whose largest
component is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, unknown_name
from ..plotting.mechanism_drawing import Shape, draw
from ..plotting.movie import check_movie, fixed_picture, write_movie
from .plan import sliders_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .modes import Modes

SHARE = 0.15
"""Largest displacement relative to the size of the mechanism: clearly visible, while bodies still
look rigid.
"""
UNDAMPED = 1e-9
"""Ratio of growth rate to eigenvalue below which the growth rate is rounding, and not shown."""
CYCLE = 48
"""Number of points of a path over a cycle."""


@dataclass(frozen=True)
class ModeDrawing:
    """One mode of a mechanism."""

    title: str
    plan: Mapping[str, Any]
    places: Mapping[str, np.ndarray]
    """Positions of all points (m)."""
    moves: Mapping[str, np.ndarray]
    """Displacements of the points that move, complex (m)."""

    @classmethod
    def of(cls, modes: Modes, mode: int, amplitude: float | None) -> ModeDrawing:
        """Prepare a mode with an amplitude (m).

        Raises:
            ModelError: for a mode that does not exist, or that moves no point.
        """
        scale = amplitude_of(modes, mode, amplitude)
        places = _places(modes)
        moves = dict(zip(modes.point_names, modes.shape_array[mode - 1] * scale, strict=True))
        λ = modes.values[mode - 1]
        oscillation = f"{λ.imag / (2 * np.pi):.4g} Hz" if λ.imag else "no oscillation"
        grows = abs(λ.real) > UNDAMPED * abs(λ)
        rate = f", growth rate {λ.real:.3g} 1/s" if grows else ""
        title = f"{modes.mechanism}, mode {mode}: {oscillation}{rate}"
        return cls(title, modes.drawing, places, moves)

    def frame(self, phase: float, factor: float = 1.0) -> dict[str, np.ndarray]:
        """Positions of all points at a phase (rad)."""
        turned = factor * np.exp(1j * phase)
        return {
            p: x + (self.moves[p] * turned).real if p in self.moves else x
            for p, x in self.places.items()
        }

    def figure(
        self, phase: float, trace: str | Sequence[str], title: str | None, plain: bool
    ) -> Figure:
        """Draw the mechanism displaced backwards, undisplaced, and displaced; with `plain`, without
        a default title.
        """
        frames = [self.frame(phase, factor) for factor in (-1.0, 0.0, 1.0)]
        heading = ("" if plain else self.title) if title is None else title
        return self._drawn(frames, trace, heading)

    def animate(self, path: Path, frames: int, seconds: float, trace: str | Sequence[str]) -> Path:
        """Write a cycle as a GIF or MP4."""
        check_movie(path, frames, seconds)
        cycle = [self.frame(φ) for φ in np.linspace(0, 2 * np.pi, CYCLE)]
        places = np.array([x for frame in cycle for x in frame.values()])
        rest = self.frame(0.0, 0.0)
        pictures = (
            fixed_picture(self._drawn([rest, self.frame(phase)], trace, self.title), places)
            for phase in 2 * np.pi * np.arange(frames) / frames
        )
        return write_movie(path, pictures, frames, seconds)

    def _drawn(
        self, frames: Sequence[Mapping[str, np.ndarray]], trace: str | Sequence[str], title: str
    ) -> Figure:
        plan = self.plan
        shapes = [Shape(kind, name, tuple(points)) for kind, name, points in plan["shapes"]]
        ends = [self.frame(0.0), self.frame(np.pi), self.frame(np.pi / 2), frames[-1]]
        paths = {p: np.array([frame[p] for frame in ends]) for p in self.places}
        cycle = np.linspace(0, 2 * np.pi, CYCLE)
        traces = {
            name: np.array([self.frame(φ)[self._point(name)] for φ in cycle])
            for name in ([trace] if isinstance(trace, str) else trace)
        }
        sliders = sliders_of(plan, paths, -1)
        return draw(shapes, frames, traces, plan["labels"], plan["fixed"], sliders, title=title)

    def _point(self, name: str) -> str:
        """Full name of a point."""
        aliases = {short: label for label, short in self.plan["labels"].items()}
        if (label := aliases.get(name, name)) not in self.places:
            raise unknown_name("point", name, [*aliases, *self.places])
        return label


def _places(modes: Modes) -> dict[str, np.ndarray]:
    """Positions of all points in the motion, including ground points."""
    places = dict(zip(modes.point_names, modes.position_array, strict=True))
    return places | {p: np.array(x) for p, x in modes.drawing["ground"].items()}


def amplitude_of(modes: Modes, mode: int, amplitude: float | None) -> float:
    """Factor of a mode shape for which its largest displacement is `amplitude` (m), or, without
    one, a visible fraction of the size of the mechanism.

    Raises:
        ModelError: for a mode that does not exist, or that moves no point, and amplitudes that are not a
            length.
    """
    count = modes.values.size
    if not isinstance(mode, (int, np.integer)) or not 1 <= mode <= count:
        raise ModelError(
            f"must be a number from 1 to {count}", element="draw", field="mode", value=mode
        )
    size = float(np.ptp(np.array(list(_places(modes).values())), axis=0).max()) or 1.0
    reach = SHARE * size if amplitude is None else amplitude
    if not isinstance(reach, Real) or not (np.isfinite(reach) and reach > 0):
        raise ModelError(
            "must be a positive length (m)", element="draw", field="amplitude", value=amplitude
        )
    U = modes.shape_array[mode - 1]
    largest = float(np.linalg.norm(U, axis=-1).max(initial=0.0))
    if not largest > 0:
        raise ModelError(
            f"mode {mode} of {modes.mechanism!r} moves no point",
            element="draw",
            field="mode",
            value=mode,
            remedy="give the bodies that turn further points, or look at the states:"
            " m.linearize(…).A",
        )
    return float(reach) / largest
