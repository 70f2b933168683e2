"""Global sensitivity and reliability through OpenTURNS: the study as its function, and the three
things most asked of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..analyses.simulation import Simulation
from ..core.errors import ModelError, check_level, check_whole
from ..core.memory import check_memory
from ..plotting.table import table
from ..results.labels import with_units
from ..schemes import RunOptions
from ..sensitivity.comparison import Constraint
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import check_gradients
from ..solving.task import Task
from .expanding import at_means
from .function import Runs, function_of
from .openturns_distributions import distribution_of, openturns
from .parameter_distributions import Correlation, Given, ParameterDistributions, distributions_of

if TYPE_CHECKING:
    from .chaos import Chaos
    from .reliability import Reliability
    from .sobol import SobolIndices


@dataclass(frozen=True, eq=False)
class GlobalStudy:
    """Objectives at the end of the run as a function of the parameters that vary, and the
    distribution of these.

    `function` and `distribution` are objects of OpenTURNS and go wherever it takes such; `chaos`,
    `sobol` and `probability` do what is most asked for.
    """

    label: str
    objective_names: tuple[str, ...]
    units: tuple[str, ...]
    spreads: ParameterDistributions
    runs: Runs = field(repr=False)
    function: Any
    """`openturns.Function`: parameters that vary → objectives; exact gradients and Hessians, many
    points at once over all cores.
    """
    distribution: Any
    """`openturns.Distribution` of the parameters that vary."""

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters that vary, in the order of the function's arguments."""
        return self.spreads.names

    def chaos(
        self, *, runs: int = 256, checks: int = 64, degree: int | None = None, seed: int = 0
    ) -> Chaos:
        """Polynomial chaos: objectives as sparse sums of polynomials that are orthogonal under the
        distribution.

        Args:
            runs: from which the polynomials are fitted, at points of a scrambled Sobol sequence.
            checks: further runs, at random points, that tell how good they are.
            degree: largest total degree; one by which there are half as many polynomials to choose
                from as runs, if not given.
            seed: of both sets of points.

        Returns:
            A `Chaos`: `.mean`, `.std`, `.q2` (1 for perfect), `.sobol`, `.metamodel`, …
        """
        from .chaos import chaos_of

        check_whole("chaos", 2, runs=runs, checks=checks)
        check_whole("chaos", 0, seed=seed)
        if degree is not None:
            check_whole("chaos", 1, degree=degree)
        self._check_memory(
            f"chaos: runs = {runs} with checks = {checks}", float(runs) + checks, "use fewer"
        )
        return chaos_of(self, int(runs), int(checks), degree, int(seed))

    def sobol(
        self,
        *,
        samples: int = 1024,
        estimator: str = "martinez",
        level: float = 0.95,
        seed: int = 0,
    ) -> SobolIndices:
        """Sobol indices by runs alone, with confidence intervals; those of `chaos(…).sobol` need
        far fewer where polynomials fit.

        Args:
            samples: n of n (2d + 2) runs, for d parameters that vary (4n for two of them).
            estimator: "martinez", "saltelli", "jansen" or "mauntz-kucherenko".
            level: probability with which intervals hold the true index.
            seed: of the random numbers.
        """
        from .sobol import sampled_sobol

        check_whole("sobol", 2, samples=samples)
        check_whole("sobol", 0, seed=seed)
        check_level("sobol", level)
        points = float(samples) * (2 * len(self.names) + 2)
        self._check_memory(
            f"sobol: samples = {samples} at {2 * len(self.names) + 2} points each",
            points,
            "use fewer samples",
        )
        return sampled_sobol(self, int(samples), estimator, float(level), int(seed))

    def probability(
        self, event: Constraint, *, samples: int = 0, level: float = 0.95, seed: int = 0
    ) -> Reliability:
        """Probability that an objective lies beyond a limit, by FORM and SORM with exact
        derivatives at all design points that are found.

        Args:
            event: an objective of this study compared with a number: `ψ >= 3.0`, or `ψ <= 0.1`.
            samples: runs drawn around the design points and about the origin, which check both by
                importance sampling; none if 0.
            level: probability with which their interval holds the true value.
            seed: of the random numbers.

        Returns:
            A `Reliability`: `.form`, `.sorm`, `.beta`, `.design`, `.importance`, `.points`,
            `.sampled`, `.notes` (what speaks against the numbers), …
        """
        from .reliability import reliability

        check_whole("probability", 0, samples=samples, seed=seed)
        check_level("probability", level)
        self._check_memory(f"probability: samples = {samples}", float(samples), "use fewer samples")
        return reliability(self, event, int(samples), float(level), int(seed))

    def _check_memory(self, what: str, points: float, remedy: str) -> None:
        """OpenTURNS keeps all points and their values."""
        numbers = len(self.names) + self.runs.simulation.ρ.size + len(self.objective_names)
        check_memory(f"{what} of {numbers} numbers", points * numbers, remedy)

    def __repr__(self) -> str:
        s = self.spreads
        rows = [
            [n, m.mean, m.sigma, u, m.words.split("(")[0]]
            for n, m, u in zip(s.names, s.marginals, s.units, strict=True)
        ]
        lines = [
            f"<GlobalStudy of {self.label!r}: {', '.join(self.objective_names)} at t ="
            f" {self.runs.task.schedule.duration:g} s>"
        ]
        return "\n".join(
            [*lines, table(["parameter", "mean", "sigma", "unit", "distribution"], rows)]
        )


def global_study(
    s: Simulation,
    objectives: Mapping[str, Objective],
    given: Given | None,
    correlation: Correlation | None,
) -> GlobalStudy:
    """Check everything; nothing is run yet."""
    openturns()
    spreads = distributions_of(s.solvers.data.parameter_set.parameters, given, correlation)
    means = at_means(s, spreads)
    solver = means.solver(objectives)
    check_gradients(solver.equations, objectives)
    # nothing but the end of a run is needed
    only_end: RunOptions = {"progress": False}
    if s.schedule.tolerance:
        only_end["output"] = s.duration
    elif s.schedule.ends is None:
        only_end["every"] = s.schedule.steps
    task = Task(s.schedule.last_only(), objectives, None, s.backend, False)
    runs = Runs(means.with_options(**only_end), objectives, spreads, solver, task)
    units = tuple(o.unit for o in objectives.values())
    return GlobalStudy(
        s.name,
        tuple(objectives),
        units,
        spreads,
        runs,
        function_of(runs),
        distribution_of(spreads),
    )


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers of OpenTURNS from a seed; afterwards its generator is where it was."""
    generator = openturns().RandomGenerator
    before = generator.GetState()
    generator.SetSeed(seed)
    try:
        yield
    finally:
        generator.SetState(before)


def check_varies(study: GlobalStudy, values: Any) -> None:
    """Shares of a variance need one: of each objective, by the values of a sample of OpenTURNS."""
    for k, name in enumerate(study.objective_names):
        if not values.getMarginal(k).computeVariance()[0] > 0:
            raise ModelError(
                f"objective {name!r} does not vary: none of the parameters {', '.join(study.names)}"
                " changes it"
            )


def labelled(study: GlobalStudy, *parameters: str) -> dict[str, Any]:
    """Coordinates of arrays by objective, and by parameter as often as named."""
    coords = with_units("objective", study.objective_names, study.units)
    return coords | {name: list(study.names) for name in parameters}
