"""State of a study: statistics and failures of its samples, accumulated chunk by chunk in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .histogram import Histogram
from .sketch import Sketch
from .statistics import CoMoments, Summary, both

REMEMBERED = 100
"""Maximum number of failures that are stored in full; a round value that limits memory."""


@dataclass(frozen=True)
class Failure:
    """A sample that failed."""

    sample: int
    """Index of the sample in the study, from 0."""
    parameters: dict[str, float]
    """Values of the varying parameters."""
    kind: str
    """Class name of the error: "ModelError", "AssemblyError" or "SimulationError"."""
    message: str


@dataclass
class Accumulator:
    """Sums over the samples of a study."""

    groups: list[CoMoments | None]
    """Co-moments of each replicate."""
    summary: Summary | None = None
    """Statistics of all completed samples."""
    taken: int = 0
    """Number of samples so far, including failed ones."""
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)
    """The first failures, at most `REMEMBERED`."""
    seconds: float = 0.0
    """Elapsed time (s)."""

    def add(
        self,
        chunk: int,
        samples: int,
        summary: Summary | None,
        comoments: CoMoments | None,
        failures: list[Failure],
    ) -> None:
        """Add the samples of a chunk."""
        replicate = chunk % len(self.groups)
        self.summary, self.groups[replicate] = (
            both(self.summary, summary),
            both(self.groups[replicate], comoments),
        )
        self.taken += samples
        self.failed += len(failures)
        self.failures += failures[: REMEMBERED - len(self.failures)]

    @property
    def count(self) -> int:
        """Number of completed samples."""
        return self.taken - self.failed

    @property
    def nonempty(self) -> list[CoMoments]:
        """Co-moments of the replicates that have samples."""
        return [g for g in self.groups if g is not None]

    def stored(self) -> dict[str, object]:
        """Return the state as plain arrays and numbers."""
        arrays: dict[str, object] = {
            "taken": self.taken,
            "failed": self.failed,
            "replicates": len(self.groups),
        }
        arrays["seconds"] = self.seconds
        for k, group in enumerate(self.groups):
            if group is not None:
                arrays |= {f"group{k}.{name}": getattr(group, name) for name in GROUP}
        if self.summary is not None:
            arrays |= {f"summary.{name}": getattr(self.summary, name) for name in SUMMARY}
            arrays |= {
                f"histogram.{name}": getattr(self.summary.histogram, name) for name in HISTOGRAM
            }
            arrays |= {f"sketch.{name}": getattr(self.summary.sketch, name) for name in SKETCH}
        return arrays

    @classmethod
    def restored(cls, arrays: Mapping[str, Any], failures: list[Failure]) -> Accumulator:
        """Restore the state from stored arrays."""

        def read(prefix: str, names: tuple[str, ...]) -> dict[str, Any]:
            return {name: _plain(arrays[f"{prefix}.{name}"]) for name in names}

        groups = [
            CoMoments(**read(f"group{k}", GROUP)) if f"group{k}.count" in arrays else None
            for k in range(int(arrays["replicates"]))
        ]
        summary = None
        if "summary.mean" in arrays:
            histogram, sketch = (
                Histogram(**read("histogram", HISTOGRAM)),
                Sketch(**read("sketch", SKETCH)),
            )
            summary = Summary(**read("summary", SUMMARY), histogram=histogram, sketch=sketch)
        return cls(
            groups,
            summary,
            int(arrays["taken"]),
            int(arrays["failed"]),
            failures,
            float(arrays["seconds"]),
        )


GROUP = ("count", "mean", "control", "yy", "xy", "xx")
SUMMARY = ("mean", "m2", "m3", "m4")
HISTOGRAM = ("count", "low", "high", "exponent", "first", "counts")
SKETCH = ("centre", "near", "far", "same", "counts")


def _plain(array: np.ndarray) -> object:
    return array if array.ndim else array.item()
