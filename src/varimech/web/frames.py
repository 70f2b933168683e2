"""Positions and velocities of points at the frames of a page, between which it draws cubic curves;
and whether these curves are reliable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..results.run import Run
from .encoding import floats

STRETCHED = 0.05
"""Frames are too far apart if the drawn length of a body deviates by more than this fraction
between them: a rotation by 2.1 rad at constant speed.
"""
SWUNG = 0.6
"""For bodies without a length: largest deviation of a displacement from that of the mean velocity
of both ends, relative to the path; an oscillation by 2.1 rad of its phase.
"""
SEEN = 0.02
"""Lengths and paths below this fraction of the picture are ignored: they are hardly visible."""
BETWEEN = (0.25, 0.5, 0.75)
"""Fractions of the time between two frames at which lengths are checked."""


@dataclass(eq=False)
class Frames:
    """A motion as it is drawn."""

    run: Run
    places: np.ndarray
    """Positions (m), (time, point, component)."""
    rates: np.ndarray
    """Velocities (m/s)."""
    links: Sequence[tuple[int, int]]
    """Pairs of points of a body with a length, whose distance is constant."""
    masses: Sequence[int]
    """Points of bodies without a length."""

    @property
    def time(self) -> np.ndarray:
        """Times (s)."""
        return self.run.time

    @cached_property
    def too_far_apart(self) -> bool:
        """Whether some body turns or oscillates so far between two frames that interpolation fails."""
        if self.time.size < 2:
            return False
        least = SEEN * float(np.linalg.norm(np.ptp(self.places, axis=(0, 1))))
        return any(self._stretched(a, b, least) for a, b in self.links) or self._swung(least)

    def _stretched(self, a: int, b: int, least: float) -> bool:
        """Whether the interpolated distance between two points of a body changes between frames."""
        h, arm, rate = (
            np.diff(self.time)[:, None],
            self.places[:, b] - self.places[:, a],
            self.rates[:, b] - self.rates[:, a],
        )
        length = np.linalg.norm(arm, axis=1)
        kept = np.minimum(length[1:], length[:-1])
        for s in BETWEEN:
            place = arm[:-1] + s * s * (3 - 2 * s) * np.diff(arm, axis=0)
            place += h * (s * (1 - s) ** 2 * rate[:-1] + s * s * (s - 1) * rate[1:])
            if (
                (np.abs(np.linalg.norm(place, axis=1) - kept) > STRETCHED * kept) & (kept > least)
            ).any():
                return True
        return False

    def _swung(self, least: float) -> bool:
        """Whether the displacement of a point of another body does not match its velocities."""
        free = sorted(set(self.masses) - {k for link in self.links for k in link})
        places, rates, h = self.places[:, free], self.rates[:, free], np.diff(self.time)[:, None]
        speeds = np.linalg.norm(rates, axis=2)
        path = h * (speeds[1:] + speeds[:-1]) / 2
        deviation = np.linalg.norm(
            np.diff(places, axis=0) - h[..., None] * (rates[1:] + rates[:-1]) / 2, axis=2
        )
        return bool(((path > least) & (deviation > SWUNG * path)).any())

    def encoded(self, encode: Callable[[np.ndarray], object] = floats) -> dict[str, object]:
        """The motion as page data, with arrays by `encode`."""
        return {
            "time": encode(self.time),
            "places": encode(self.places),
            "rates": encode(self.rates),
            "frames": self.time.size,
            "stepwise": self.too_far_apart,
        }


def frames_of(
    run: Run, points: list[str], links: Sequence[tuple[int, int]], masses: Sequence[int]
) -> Frames:
    """Frames at all stored times of a run."""
    return Frames(
        run,
        stacked(run.paths(points), points),
        stacked(run.path_rates(points), points),
        links,
        masses,
    )


def stacked(paths: Mapping[str, np.ndarray], points: Sequence[str]) -> np.ndarray:
    """Paths as one array, (time, point, …)."""
    return np.stack([paths[p] for p in points], axis=1)
