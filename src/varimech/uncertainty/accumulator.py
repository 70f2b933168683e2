"""What is known of a study so far: chunk by chunk, in their order, the statistics of its samples
and those that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .histogram import Histogram
from .sketch import Sketch
from .statistics import CoMoments, Summary, both

REMEMBERED = 100
"""Failures that are told in full."""


@dataclass(frozen=True)
class Failure:
    """A sample that failed."""

    sample: int
    """Its number in the study, from 0."""
    parameters: dict[str, float]
    """Of those that vary."""
    kind: str
    """Name of the error: "ModelError", "AssemblyError" or "SimulationError"."""
    message: str


@dataclass
class Accumulator:
    """Sums over samples."""

    groups: list[CoMoments | None]
    """Of each replicate."""
    summary: Summary | None = None
    """Of all samples that are done."""
    taken: int = 0
    """Samples so far, those that failed among them."""
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)
    """The first of those that failed."""
    seconds: float = 0.0
    """That it took so far."""

    def add(
        self,
        chunk: int,
        samples: int,
        summary: Summary | None,
        comoments: CoMoments | None,
        failures: list[Failure],
    ) -> None:
        """Count the samples of a chunk in."""
        place = chunk % len(self.groups)
        self.summary, self.groups[place] = (
            both(self.summary, summary),
            both(self.groups[place], comoments),
        )
        self.taken += samples
        self.failed += len(failures)
        self.failures += failures[: REMEMBERED - len(self.failures)]

    @property
    def count(self) -> int:
        """Samples that are done."""
        return self.taken - self.failed

    @property
    def known(self) -> list[CoMoments]:
        """Replicates that have samples."""
        return [g for g in self.groups if g is not None]

    def stored(self) -> dict[str, Any]:
        """As plain arrays and numbers."""
        arrays: dict[str, Any] = {
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
        """From what was stored."""

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


def _plain(array: np.ndarray) -> Any:
    return array if array.ndim else array.item()
