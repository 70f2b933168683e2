"""Places and velocities of points at the times that a page has, between which it draws cubic
curves, and whether these can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..results.run import Run
from .encoding import floats

STRETCHED = 0.05
"""Share of its length by which a body may seem longer or shorter between two frames: they are too
far apart where it is more. A turn by 2.1 rad with a constant speed is.
"""
SWUNG = 0.6
"""For bodies without a length: the same of a way against that by the mean of the velocities at both
ends; a swing by 2.1 rad of its phase.
"""
SEEN = 0.02
"""Share of the size of the picture below which lengths and ways are not looked at."""
BETWEEN = (0.25, 0.5, 0.75)
"""Where between two frames lengths are looked at."""


@dataclass(eq=False)
class Frames:
    """A motion as it is drawn."""

    run: Run
    places: np.ndarray
    """(time, point, component), m"""
    rates: np.ndarray
    """Their velocities (m/s)."""
    links: Sequence[tuple[int, int]]
    """Points of bodies that have a length, which keep their distance."""
    masses: Sequence[int]
    """Points of bodies that have none."""

    @property
    def time(self) -> np.ndarray:
        """s"""
        return self.run.time

    @property
    def too_far_apart(self) -> bool:
        """Whether something turns or swings so far between two frames that velocities do not tell
        where it goes.
        """
        if self.time.size < 2:
            return False
        least = SEEN * float(np.linalg.norm(np.ptp(self.places, axis=(0, 1))))
        return any(self._stretched(a, b, least) for a, b in self.links) or self._swung(least)

    def _stretched(self, a: int, b: int, least: float) -> bool:
        """Whether two points of a body do not keep their distance between frames."""
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
        """Whether a point of another body is elsewhere than its velocities tell."""
        alone = sorted(set(self.masses) - {k for link in self.links for k in link})
        places, rates, h = self.places[:, alone], self.rates[:, alone], np.diff(self.time)[:, None]
        speeds = np.linalg.norm(rates, axis=2)
        way = h * (speeds[1:] + speeds[:-1]) / 2
        off = np.linalg.norm(
            np.diff(places, axis=0) - h[..., None] * (rates[1:] + rates[:-1]) / 2, axis=2
        )
        return bool(((way > least) & (off > SWUNG * way)).any())

    def encoded(self) -> dict[str, Any]:
        """As a page carries it."""
        return {
            "time": floats(self.time),
            "places": floats(self.places),
            "rates": floats(self.rates),
            "frames": self.time.size,
            "stepwise": self.too_far_apart,
        }


def frames_of(
    run: Run, points: list[str], links: Sequence[tuple[int, int]], masses: Sequence[int]
) -> Frames:
    """All stored times of a run."""
    return Frames(
        run,
        stacked(run.paths(points), points),
        stacked(run.path_rates(points), points),
        links,
        masses,
    )


def stacked(paths: Mapping[str, np.ndarray], points: Sequence[str]) -> np.ndarray:
    """(time, point, …)"""
    return np.stack([paths[p] for p in points], axis=1)
