"""Benchmark problems with reference values, most of them published, solved through the public
interface only.

Each benchmark is one file with `mechanism(…)`, its solver settings `SETTINGS` and a function
`run(settings) → Outcome`. Its mechanism is defined once: in `models/`, or in Python if it has
arguments or follows from formulas. Names and titles are listed here, so that listing them imports
no benchmark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from ..backends.compiler import find_compiler
from ..core.errors import unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..mechanism import Mechanism
    from .outcome import Check, Settings


class Outcome(Protocol):
    """Result of a benchmark."""

    @property
    def checks(self) -> Sequence[Check]:
        """Computed numbers with their references."""
        ...

    @property
    def passed(self) -> bool:
        """Whether all errors are within their tolerances."""
        ...

    @property
    def results(self) -> tuple[Any, ...]:
        """Results for a report."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The numbers as plain data: `benchmark`, `method`, `passed`, `checks`, `seconds`, and
        further keys of the benchmark.
        """
        ...

    def tables(self) -> list[object]:
        """The numbers as rich tables."""
        ...

    def write(self, folder: Path) -> list[Path]:
        """Write result files and figures; returns their paths."""
        ...


@dataclass(frozen=True)
class Entry:
    """A benchmark that can be run by name."""

    title: str
    module: str

    @property
    def _module(self) -> ModuleType:
        return import_module(f".{self.module}", __package__)

    @property
    def settings(self) -> Settings:
        """Default solver settings: keyword arguments of `simulate` and `sensitivity`."""
        settings: Settings = self._module.SETTINGS
        return settings.copy()

    @property
    def mechanism(self) -> Callable[[], Mechanism]:
        """Import the benchmark; returns the function that builds its mechanism in its standard
        form.
        """
        function: Callable[[], Mechanism] = self._module.mechanism
        return function

    @property
    def run(self) -> Callable[[Settings], Outcome]:
        """Import the benchmark; returns its `run` function."""
        function: Callable[[Settings], Outcome] = self._module.run
        return function

    def solve(self, **settings: Any) -> Outcome:
        """Solve the benchmark with its default settings, except for those given.

        A step replaces a tolerance and vice versa. The native backend is used if there is a
        compiler, so that times are those of compiled code.

        Args:
            **settings: keyword arguments of `simulate` and `sensitivity`.
        """
        backend = "auto" if find_compiler() is None else "native"
        used: Settings = {"backend": backend, **self.settings}
        if "step" in settings:
            used.pop("tolerance", None)
        elif "tolerance" in settings:
            used.pop("step", None)
        return self.run({**used, **settings})

    @property
    def model_file(self) -> Path:
        """The mechanism as a file, with objectives and settings; `tools/write_models.py` writes those
        of benchmarks that are built in Python.
        """
        return Path(__file__).parent / "models" / f"{self.module}.yaml"


BENCHMARKS: dict[str, Entry] = {
    "five-bar": Entry("Sensitivity analysis of a five-bar mechanism (Dopico 2023)", "five_bar"),
    "flexible-five-bar": Entry(
        "Five-bar mechanism with a flexible bar, including sensitivities (CILAMCE 2023)",
        "flexible_five_bar",
    ),
    "pendulum": Entry("Simple pendulum (IFToMM A01)", "pendulum"),
    "four-bar": Entry(
        "Row of N connected four-bars in motion through a singular position, N = 2 and 40 (IFToMM A02)",
        "four_bar",
    ),
    "andrews": Entry("Andrews' squeezing mechanism (IFToMM A03, DAE test set)", "andrews"),
    "bricard": Entry("Bricard's overconstrained mechanism (IFToMM A04)", "bricard"),
    "governor": Entry("Flyball governor with stiff springs (IFToMM A05)", "governor"),
    "spatial-slider-crank": Entry(
        "Spatial slider-crank with springs, including sensitivities (IFToMM)",
        "spatial_slider_crank",
    ),
    "flexible-slider-crank": Entry(
        "Spatial slider-crank with a flexible rod, including sensitivities", "flexible_slider_crank"
    ),
    "tree": Entry(
        "Branched tree in space with every type of joint for open chains, including sensitivities",
        "tree",
    ),
    "chain": Entry("Hanging chain of N bars, N = 10 and 100, including sensitivities", "chain"),
    "pendulum-tolerance": Entry(
        "Pendulum whose length has a tolerance: means and variances of its angle (Choi 2005)",
        "pendulum_tolerance",
    ),
    "slider-crank-tolerance": Entry(
        "Slider-crank whose crank mass has a tolerance: mean and standard deviation of a reaction (Choi 2005)",
        "slider_crank_tolerance",
    ),
    "two-balls": Entry(
        "Impact between two equal balls, including sensitivities (nimblephysics issue 97)",
        "two_balls",
    ),
    "bouncing-ball": Entry(
        "Ball that bounces infinitely often before it rests, including sensitivities (Siconos)",
        "bouncing_ball",
    ),
    "friction-oscillator": Entry(
        "Oscillator with Coulomb friction that finally sticks, including sensitivities",
        "friction_oscillator",
    ),
    "clearance-slider-crank": Entry(
        "Slider-crank with clearance in its guide, including sensitivities (Flores 2010)",
        "clearance_slider_crank",
    ),
    "newtons-cradle": Entry("Newton's cradle, including sensitivities", "newtons_cradle"),
    "rocking-block": Entry(
        "Rocking block, including sensitivities (Housner 1963)", "rocking_block"
    ),
    "sliding-block": Entry(
        "Block on an incline with dry friction, including sensitivities", "sliding_block"
    ),
    "rotating-pendulum": Entry(
        "Rotating pendulum: vibrations about a driven steady motion, including sensitivities",
        "rotating_pendulum",
    ),
    "cam-follower": Entry(
        "Eccentric cam: speed at which a flat follower lifts off, including its sensitivity",
        "cam_follower",
    ),
    "rolling-disc": Entry("Disc and hoop rolling upright, including sensitivities", "rolling_disc"),
    "gear-train": Entry(
        "Many turns of a planetary gear set, a gear pair, a belt, a rack and a screw, including sensitivities",
        "gear_train",
    ),
    "bicycle": Entry(
        "Weave and capsize speeds of a bicycle, including sensitivities (IFToMM)", "bicycle"
    ),
}


def find_benchmark(name: str) -> Entry:
    """Return a benchmark by name.

    Raises:
        ModelError: for an unknown name.
    """
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name]
