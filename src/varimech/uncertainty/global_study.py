"""Global sensitivity and reliability with OpenTURNS: the study as an OpenTURNS function, and the
three most common analyses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..analyses.row_runs import RowRuns
from ..analyses.simulation import Simulation
from ..core.errors import ModelError, check_level, check_whole
from ..core.memory import check_memory
from ..plotting.table import table
from ..results.labels import with_units
from ..sensitivity.comparison import Constraint
from ..sensitivity.failure import SystemEvent
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import check_gradients
from .expanding import at_means
from .function import Runs, function_of
from .limits import named
from .openturns_distributions import distribution_of, openturns
from .parameter_distributions import Correlation, Given, ParameterDistributions, distributions_of

if TYPE_CHECKING:
    from .chaos import Chaos
    from .reliability import Reliability
    from .sobol import SobolIndices


@dataclass(frozen=True, eq=False)
class GlobalStudy:
    """Objectives at the end of the run as a function of the varying parameters, and their
    distribution.

    `function` and `distribution` are OpenTURNS objects for any of its algorithms; `chaos`, `sobol`
    and `probability` are the most common analyses.
    """

    label: str
    objective_names: tuple[str, ...]
    units: tuple[str, ...]
    distributions: ParameterDistributions
    runs: Runs = field(repr=False)
    function: Any
    """`openturns.Function`: varying parameters → objectives; exact gradients and Hessians, many
    points at once on all cores.
    """
    distribution: Any
    """`openturns.Distribution` of the varying parameters."""
    _others: dict[tuple[Objective, ...], GlobalStudy] = field(
        default_factory=dict, init=False, repr=False
    )
    """Studies of other objectives whose probabilities were requested."""

    @property
    def names(self) -> tuple[str, ...]:
        """Varying parameters, in the order of the function's arguments."""
        return self.distributions.names

    def chaos(
        self, *, runs: int = 256, checks: int = 64, degree: int | None = None, seed: int = 0
    ) -> Chaos:
        """Polynomial chaos: objectives as sparse sums of polynomials that are orthogonal under the
        distribution.

        Args:
            runs: number of runs for the fit, at points of a scrambled Sobol sequence.
            checks: number of further runs, at random points, that validate the fit.
            degree: largest total degree; by default such that there are half as many candidate
                polynomials as runs.
            seed: seed of both sets of points.

        Returns:
            A `Chaos`: `.mean`, `.std`, `.q2` (1 for perfect), `.sobol`, `.metamodel`, …

        Raises:
            ModelError: if an argument is invalid.
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
        """Sobol indices by sampling, with confidence intervals; those of `chaos(…).sobol` need far
        fewer runs if polynomials fit.

        Args:
            samples: n of n (2d + 2) runs, for d varying parameters (4n for two of them).
            estimator: "martinez", "saltelli", "jansen" or "mauntz-kucherenko".
            level: probability with which intervals contain the true index.
            seed: seed of the random numbers.

        Raises:
            ModelError: if an argument is invalid.

        Returns:
            Indices by objective and parameter.
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
        self,
        event: Constraint | SystemEvent,
        *,
        method: str = "form",
        samples: int | None = None,
        level: float = 0.95,
        seed: int = 0,
    ) -> Reliability:
        """Probability that a limit is exceeded, or one or all of several, by FORM and SORM with
        exact derivatives at all design points, or by samples.

        The objectives need not be those of this study. A path is exceeded at any time of the run:
        `vm.path(h) >= 3.0` is `vm.peak(h) >= 3.0`, and `vm.path(h) <= 0.1` is `vm.lowest(h) <=
        0.1`.

        Args:
            event: comparison of an objective, a peak or a path with a number: `ψ >= 3.0`, or `ψ <=
                0.1`; or several of them in `vm.any_of(…)` or `vm.all_of(…)`.
            method: "form"; "importance", the same with samples around the design points; "subset",
                subset simulation, or "samples", plain sampling, both without derivatives.
            samples: number of runs around the design points and the origin, which check FORM and
                SORM by importance sampling (0 with "form", 2000 with "importance" if not given); of
                each level of a subset simulation (1000); or of plain samples (10,000).
            level: probability with which their interval contains the true value.
            seed: seed of the random numbers.

        Returns:
            A `Reliability`: `.probability`, `.form`, `.sorm`, `.beta`, `.design`, `.importance`,
            `.points`, `.limits`, `.sampled`, `.sensitivity_table()`, `.notes` (warnings about the
            numbers), …

        Raises:
            ModelError: if an argument is invalid.
            VarimechError: if no design point is found, or no level of a subset simulation reaches
                the event.
        """
        from .reliability_methods import reliability

        check_whole("probability", 0, samples=samples or 0, seed=seed)
        check_level("probability", level)
        self._check_memory(
            f"probability: samples = {samples}", float(samples or 0), "use fewer samples"
        )
        count = None if samples is None else int(samples)
        return reliability(self, event, method, count, float(level), int(seed))

    def _check_memory(self, what: str, points: float, remedy: str) -> None:
        """Check the memory for all points and their values, which OpenTURNS keeps."""
        numbers = len(self.names) + self.runs.rows.simulation.ρ.size + len(self.objective_names)
        check_memory(f"{what} of {numbers} numbers", points * numbers, remedy)

    def __repr__(self) -> str:
        s = self.distributions
        rows = [
            [n, m.mean, m.sigma, u, m.family]
            for n, m, u in zip(s.names, s.marginals, s.units, strict=True)
        ]
        lines = [
            f"<GlobalStudy of {self.label!r}: {', '.join(self.objective_names)} at t ="
            f" {self.runs.rows.simulation.duration:g} s>"
        ]
        return "\n".join(
            [*lines, table(["parameter", "mean", "sigma", "unit", "distribution"], rows)]
        )


def global_study(
    s: Simulation,
    objectives: Mapping[str, Objective],
    given: Given | None,
    correlation: Correlation | None,
    *,
    differentiable: bool = True,
) -> GlobalStudy:
    """Check the input and build the study, without any run.

    Args:
        s: simulation.
        objectives: by name.
        given: distributions of the parameters, as for `distributions_of`.
        correlation: correlation of the parameters, as for `distributions_of`.
        differentiable: whether the objectives need derivatives.

    Raises:
        ModelError: for invalid input.
    """
    openturns()
    distributions = distributions_of(s.solvers.data.parameter_set.parameters, given, correlation)
    means = at_means(s, distributions)
    if differentiable:
        check_gradients(means.solver(objectives).equations, objectives)
    runs = Runs(RowRuns(means, objectives, distributions.indices), distributions)
    return _study(s.name, runs, distribution_of(distributions))


def study_of(study: GlobalStudy, objectives: Sequence[Objective]) -> GlobalStudy:
    """Return the study of the given objectives, which is the same study if it contains all of
    them.
    """
    known = study.runs.rows.objectives
    if all(objective in known.values() for objective in objectives):
        return study
    key = tuple(dict.fromkeys(objectives))
    if key not in study._others:
        rows = replace(study.runs.rows, objectives=named(key, known))
        runs = Runs(rows, study.distributions)
        study._others[key] = _study(study.label, runs, study.distribution)
    return study._others[key]


def _study(label: str, runs: Runs, distribution: Any) -> GlobalStudy:
    objectives = runs.rows.objectives
    units = tuple(o.unit for o in objectives.values())
    return GlobalStudy(
        label,
        tuple(objectives),
        units,
        runs.distributions,
        runs,
        function_of(runs),
        distribution,
    )


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the random numbers of OpenTURNS; the state of its generator is restored afterwards."""
    generator = openturns().RandomGenerator
    before = generator.GetState()
    generator.SetSeed(seed)
    try:
        yield
    finally:
        generator.SetState(before)


def check_varies(study: GlobalStudy, values: Any) -> None:
    """Check that each objective varies in a sample of OpenTURNS, because Sobol indices are
    fractions of its variance.

    Raises:
        ModelError: if an objective does not vary.
    """
    for k, name in enumerate(study.objective_names):
        if not values.getMarginal(k).computeVariance()[0] > 0:
            problem = (
                f"it does not vary: none of the parameters {', '.join(study.names)} changes it"
            )
            raise ModelError(problem, element=f"objective {name!r}")


def labelled(study: GlobalStudy, *parameters: str) -> dict[str, Any]:
    """Coordinates of arrays by objective and, once for each of the named dimensions, by
    parameter.
    """
    coords = with_units("objective", study.objective_names, study.units)
    return coords | {name: list(study.names) for name in parameters}
