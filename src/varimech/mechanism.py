"""`Mechanism`: a model, built with element methods, and its analyses.

The element methods are inherited from the builder class. Analyses are functions of other packages
that take the data and the solvers of a mechanism. `problem` defines a problem once; most other
analysis methods are short forms of `problem(…)` and one of its methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, final

from .analyses.hessians import MEMORY
from .analyses.motion import simulate
from .analyses.simulation import Values, simulation
from .analyses.solvers import ModelSolvers
from .core.errors import ModelError, VarimechError
from .core.markup import html_heading, html_table, html_text, shown
from .elements.builder import Model
from .plotting.figure import picture
from .problem import Problem, ProblemOptions, stated
from .results.labels import Wrt
from .results.plan import composition, element_counts
from .schemes import RunOptions
from .sensitivity.finite_difference import RELATIVE_STEPS

if TYPE_CHECKING:
    import os

    import xarray as xr
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from .analyses.ensembles import Samples
    from .analyses.linear import Inputs
    from .coordinates.systems import Coordinates
    from .files.studies import Studies
    from .identification.experiment import ExperimentOptions
    from .identification.experiment_result import Experiment
    from .identification.fit import Fit
    from .identification.fitting import FitOptions
    from .identification.measurement import Measurements
    from .identification.sensors import Sensors
    from .interchange.motion_equations import MotionEquations
    from .model.joint import Joint
    from .model.parameter import Parameter, Vector
    from .model.state import State
    from .optimization.optimum import Optimum
    from .optimization.quantities import Constraints, Goals, Target
    from .optimization.space import Over
    from .optimization.synthesis_result import Synthesis
    from .results.campbell import Campbell
    from .results.ensemble import Ensemble
    from .results.gradient import Gradient
    from .results.hessian import Hessian
    from .results.kinematics import Kinematics
    from .results.linear_model import LinearModel
    from .results.modes import Modes
    from .results.root_locus import RootLocus
    from .results.run import Run
    from .results.topology import Topology
    from .results.workspace import Workspace
    from .robust.allocate import AllocationOptions
    from .robust.allocation import Allocation
    from .robust.allocation_curve import AllocationCurve
    from .robust.design import RobustOptions
    from .robust.statistics import StatisticsArguments, Wanted
    from .robust.statistics_result import Statistics
    from .sensitivity.comparison import Constraint
    from .sensitivity.failure import SystemEvent
    from .studio.launch import OpenStudio
    from .uncertainty.moments import Moments
    from .uncertainty.monte_carlo import StudyOptions
    from .uncertainty.parameter_distributions import Correlation, Given
    from .uncertainty.reliability import Reliability
    from .uncertainty.reliability_methods import ReliabilityOptions
    from .uncertainty.study import Study

    class OptimizeOptions(ProblemOptions, RobustOptions, total=False):
        """Options of `Mechanism.optimize`."""

    class AllocatingOptions(ProblemOptions, AllocationOptions, total=False):
        """Options of `Mechanism.allocate`."""

    class StatisticsOfOptions(ProblemOptions, StatisticsArguments, total=False):
        """Options of `Mechanism.statistics`."""

        wrt: Wrt

    class FittingOptions(RunOptions, FitOptions, total=False):
        """Options of `Mechanism.fit`."""

    class ExperimentingOptions(RunOptions, ExperimentOptions, total=False):
        """Options of `Mechanism.experiment`."""

    class MonteCarloOptions(ProblemOptions, StudyOptions, total=False):
        """Options of `Mechanism.monte_carlo`."""

    class FailureOptions(ProblemOptions, ReliabilityOptions, total=False):
        """Options of `Mechanism.reliability`."""


MOST_DRAWN = 200
"""Bodies up to which a notebook shows a drawing: about a second for that many."""


@final
class Mechanism(Model):
    """A mechanism: bodies, joints, forces and initial conditions, defined once. Varimech derives
    the motion and its derivatives.

    Two components of gravity (or `dimension=2`) make it planar, three (or `dimension=3`) spatial.
    SI units throughout.

    >>> import varimech as vm
    >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    >>> L = m.parameter("L", 1.0, unit="m")
    >>> origin = m.ground_point("O", (0, 0))
    >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
    >>> joint = m.revolute("O")
    >>> m.start(angle={"rod": -1.0})
    >>> run = m.simulate(1.0, step=0.01)
    >>> run.position("tip").sizes["time"]
    101
    """

    studies: Studies | None = None
    """The studies of its model file; None for a mechanism built in Python."""

    def __init__(self, name: str, *, gravity: Vector | None = None, dimension: int | None = None):
        super().__init__(name, gravity=gravity, dimension=dimension)
        self._solvers = ModelSolvers(self.data)

    def simulate(
        self, duration: float, *, parameters: Values | None = None, **options: Unpack[RunOptions]
    ) -> Run:
        """Simulate from t = 0.

        Without `step` the steps are chosen for a relative error of `tolerance` (1e-8 if not given),
        by an explicit scheme of order 8 with projections. With `step` they are equal, by the
        trapezoidal rule with ALI3-P, which also passes singular positions. `varimech methods` lists
        all methods.

        Args:
            duration: s.
            parameters: values that differ from the nominal ones: numbers in the unit of the
                parameter, or strings such as "30 mm".
            step: equal time steps, s; shortened a little if they do not divide the duration.
            every: number of steps between stored results; 1 if not given.
            tolerance: relative error for which steps are chosen.
            output: time between stored results where steps are chosen, s; shortened a little if it
                does not divide the duration, and a five-hundredth of it if not given. Or a list of
                the times themselves; both ends are stored too.
            ends: times between steps, from 0 to the duration, in place of chosen ones:
                `run.step_ends` of another run.
            longest_step: longest step that a tolerance may choose, s; if not given, a twenty-fifth of
                the duration, or a fiftieth where a force or an integrand may vary faster than the
                motion; less where explicit functions of time (pulses, fast oscillations) need it:
                these are found before the run.
            integrator: "trapezoidal", "newmark", "hht", "generalised-alpha" (implicit, equal
                steps), "rk4" (explicit, equal steps), "dopri5", "dop853" (explicit, either),
                "cvodes", "idas" (to a tolerance); or one with constants, such as
                `varimech.Newmark(gamma=0.7)`.
            formulation: "ali3p", "index1", "index1-stabilised", "independent", "penalty", or one
                with constants, such as `varimech.Penalty(factor=1e8)`; the best one for the
                integrator if not given.
            coordinates: "auto" (if not given): chosen by the topology, with the reason in
                `run.info["coordinates"]`; "natural", or those of the joints along a tree: "rtdyn0"
                (recursion about centres of mass), "rtdyn1" (about the global origin), or
                `varimech.Relative(cut=["C"])` to choose the cut joints. Results are the same.
            backend: "native" (compiled C), "interpreted", or "auto" (if not given): compiled where
                that saves time. The numbers are the same.
            progress: show a progress bar if it takes long; on a terminal if not given.

        Returns:
            The run: outputs by name over time, plots, drawings, files.

        Raises:
            ModelError: for invalid input.
            AssemblyError: if the mechanism cannot be assembled in its initial position.
            SimulationError: if a step fails, with its time and the constraint or force involved.
            Interrupted: on Ctrl-C; the run up to then is its `result`. (CVODES and IDAS keep
                nothing: a plain KeyboardInterrupt.)
        """
        return simulate(simulation(self._solvers, duration, parameters, options))

    def problem(
        self,
        objectives: Goals = (),
        wrt: Wrt = None,
        *,
        duration: float,
        parameters: Values | None = None,
        **options: Unpack[RunOptions],
    ) -> Problem:
        """State a problem once, for any number of analyses: `p.run()`, `p.gradient()`,
        `p.hessian()`, `p.certify()`, `p.ensemble(…)`, `p.moments()`, `p.monte_carlo()`,
        `p.openturns()`, `p.statistics(…)`, `p.optimize()`, `p.allocate(…)`, `p.fit(…)`,
        `p.experiment(…)`, `p.linearize(…)`, `p.modes(…)`, `p.export(…)`.

        Args:
            objectives: one, a list, or a mapping from names (see `varimech.integral`,
                `varimech.final`, `varimech.peak`, and of small motions `varimech.growth_rate`); may
                be empty.
            wrt: names of the parameters to differentiate with respect to, or "all". If it is not
                given, derivatives are with respect to all of them, and ensembles have none.
            duration: s.
            parameters: values that differ from the nominal ones, as for `simulate`.
            options: step, every, tolerance, output, ends, longest_step, integrator, formulation,
                coordinates, backend, progress, as for `simulate`.

        Returns:
            A `Problem`; nothing is run yet.

        Raises:
            ModelError: for invalid input; all of it is checked before anything is run.
        """
        return stated(self._solvers, objectives, wrt, duration, parameters, options)

    def sensitivity(
        self,
        objectives: Goals = (),
        wrt: Wrt = None,
        *,
        method: str = "auto",
        relative_steps: Sequence[float] = RELATIVE_STEPS,
        memory: float = MEMORY,
        **options: Unpack[ProblemOptions],
    ) -> Gradient:
        """Objectives and their derivatives with respect to parameters; also those of every output
        over time: short for `problem(…).gradient(…)`.

        Args:
            objectives, wrt, options: as for `problem`.
            method, relative_steps, memory: as for `Problem.gradient`.

        Returns:
            A `Gradient`: `.values`, `.gradient`, `.history`, and `.run`, whose outputs take
            `wrt=`.
        """
        return self.problem(objectives, wrt, **options).gradient(
            method, relative_steps=relative_steps, memory=memory
        )

    def hessian(
        self,
        objectives: Goals = (),
        wrt: Wrt = None,
        *,
        method: str = "auto",
        memory: float = MEMORY,
        **options: Unpack[ProblemOptions],
    ) -> Hessian:
        """Exact second derivatives of objectives, and of any function of the state over time: short for
        `problem(…).hessian(…)`.

        Args:
            objectives, wrt, options: as for `problem`.
            method, memory: as for `Problem.hessian`.

        Returns:
            A `Hessian`.
        """
        return self.problem(objectives, wrt, **options).hessian(method, memory=memory)

    def ensemble(
        self,
        objectives: Goals,
        samples: Samples,
        *,
        wrt: Wrt = None,
        threads: int | None = None,
        executor: Literal["cuda"] | None = None,
        method: Literal["auto", "direct", "adjoint"] = "auto",
        **options: Unpack[ProblemOptions],
    ) -> Ensemble:
        """Run the mechanism for many sets of parameter values at once: short for
        `problem(…).ensemble(samples)`.

        Args:
            objectives, options: as for `problem`.
            samples, threads, executor, method: as for `Problem.ensemble`.
            wrt: parameters to differentiate with respect to ("all" for all of them); none if not
                given.

        Returns:
            An `Ensemble` in the order of the samples.
        """
        problem = self.problem(objectives, wrt, **options)
        return problem.ensemble(samples, threads=threads, executor=executor, method=method)

    def moments(
        self,
        objectives: Goals,
        distributions: Given | None = None,
        *,
        correlation: Correlation | None = None,
        order: int = 2,
        accuracy: float = 0.1,
        **options: Unpack[ProblemOptions],
    ) -> Moments:
        """Mean and variance of objectives at every stored time, by exact derivatives: short for
        `problem(…).moments(…)`.

        Args:
            objectives, options: as for `problem`.
            distributions, correlation, order, accuracy: as for `Problem.moments`.

        Returns:
            `Moments`.
        """
        return self.problem(objectives, **options).moments(
            distributions, correlation=correlation, order=order, accuracy=accuracy
        )

    def statistics(
        self,
        statistics: Wanted,
        distributions: Given | None = None,
        **options: Unpack[StatisticsOfOptions],
    ) -> Statistics:
        """Statistics of objectives over the random parameters, with derivatives: short for
        `problem(…).statistics(…)`.

        Args:
            statistics, distributions: as for `Problem.statistics`.
            options: those of `Problem.statistics` and of `problem`; `wrt` names parameters to
                differentiate with respect to, besides the random ones (all if not given).

        Returns:
            `Statistics`.
        """
        from .robust.statistics import StatisticsArguments

        own, rest = _split(options, StatisticsArguments)
        wrt = rest.pop("wrt", None)
        return self.problem((), wrt, **rest).statistics(statistics, distributions, **own)

    def reliability(
        self,
        event: Constraint | SystemEvent,
        distributions: Given | None = None,
        **options: Unpack[FailureOptions],
    ) -> Reliability:
        """Probability that a limit is exceeded, at the end or at any time of the run, or that one or
        all of several are: short for `problem(…).reliability(…)`.

        Args:
            event: `ψ >= 3.0`, `vm.peak(h) >= 500.0`, `vm.path(h) <= 0.1` (at any time), or several
                of them in `vm.any_of(…)` or `vm.all_of(…)`.
            distributions, correlation, method, samples, level, seed: as for `Problem.reliability`.
            options: as for `problem`.

        Returns:
            A `Reliability`.
        """
        from .uncertainty.reliability_methods import ReliabilityOptions

        own, rest = _split(options, ReliabilityOptions)
        return self.problem((), **rest).reliability(event, distributions, **own)

    def monte_carlo(
        self,
        objectives: Goals,
        distributions: Given | None = None,
        **options: Unpack[MonteCarloOptions],
    ) -> Study:
        """Mean, variance, quantiles and histograms of objectives, from many runs with random
        parameters:
        short for `problem(…).monte_carlo(…)`.

        Args:
            objectives: as for `problem`.
            distributions: as for `Problem.monte_carlo`.
            options: those of `Problem.monte_carlo` and of `problem`.

        Returns:
            A `Study`.
        """
        from .uncertainty.monte_carlo import StudyOptions

        own, rest = _split(options, StudyOptions)
        return self.problem(objectives, **rest).monte_carlo(distributions, **own)

    def optimize(
        self,
        objective: Target | Mapping[str, Target],
        over: Over = None,
        **options: Unpack[OptimizeOptions],
    ) -> Optimum:
        """Find parameter values that minimise an objective and meet constraints: short for
        `problem(…).optimize(over, …)`, with its arguments.

        Args:
            objective: what to minimise: `vm.integral`, `vm.final`, `vm.peak`, `vm.growth_rate`, …,
                or a statistic of one (`vm.std`, `vm.worst`, …), alone or as {name: objective}.
            over: parameters that may change; all of them if not given.
            options: those of `Problem.optimize` and of `problem`.

        Returns:
            An `Optimum`.
        """
        from .robust.design import RobustOptions

        own, rest = _split(options, RobustOptions)
        return self.problem(_named(objective), **rest).optimize(over, **own)

    def allocate(
        self, constraints: Constraints, **options: Unpack[AllocatingOptions]
    ) -> Allocation:
        """Find the cheapest tolerances that satisfy constraints on statistics: short for
        `problem(…).allocate(constraints, …)`, with its arguments.

        Args:
            constraints: comparisons of statistics, such as `vm.std(f) <= 0.1`.
            options: those of `Problem.allocate` and of `problem`.

        Returns:
            An `Allocation`.
        """
        from .robust.allocate import AllocationOptions

        own, rest = _split(options, AllocationOptions)
        return self.problem(**rest).allocate(constraints, **own)

    def allocation_curve(
        self,
        targets: Sequence[Constraint],
        constraints: Constraints = (),
        **options: Unpack[AllocatingOptions],
    ) -> AllocationCurve:
        """Cost against risk: short for `problem(…).allocation_curve(targets, constraints, …)`, with
        its arguments.

        Args:
            targets: bounds of one statistic, such as `[vm.std(f) <= s for s in (0.1, 0.2)]`.
            constraints: further constraints, which apply to all targets.
            options: those of `Problem.allocate` and of `problem`.

        Returns:
            An `AllocationCurve`.
        """
        from .robust.allocate import AllocationOptions

        own, rest = _split(options, AllocationOptions)
        return self.problem(**rest).allocation_curve(targets, constraints, **own)

    def fit(
        self,
        measured: Measurements,
        over: Over = None,
        *,
        duration: float | None = None,
        parameters: Values | None = None,
        **options: Unpack[FittingOptions],
    ) -> Fit:
        """Find parameter values for which the motion meets measured data, by least squares: short
        for `problem(…).fit(measured, over, …)`, with its arguments.

        Args:
            measured: one or more of `vm.measurement(function, times, values, sigma=…)`, alone, in a
                list or by name.
            over: parameters to find; all of them if not given.
            duration: s; up to the last sample if not given.
            parameters: values of others, where these differ from the nominal ones.
            options: those of `Problem.fit` and of `problem`.

        Returns:
            A `Fit`.
        """
        from .identification.fitting import FitOptions, last_sample

        own, rest = _split(options, FitOptions)
        seconds = last_sample(measured) if duration is None else duration
        problem = self.problem(duration=seconds, parameters=parameters, **rest)
        return problem.fit(measured, over, **own)

    def experiment(
        self,
        sensors: Sensors,
        over: Over = None,
        *,
        duration: float | None = None,
        parameters: Values | None = None,
        **options: Unpack[ExperimentingOptions],
    ) -> Experiment:
        """Find the sensors and the excitation that determine parameters best: short for
        `problem(…).experiment(sensors, over, …)`, with its arguments.

        Args:
            sensors: one or more of `vm.sensor(function, times, sigma)`, alone, in a list or by
                name.
            over: parameters to determine; all but those of the excitation if not given.
            duration: s; up to the last sample if not given.
            parameters: values where these differ from the nominal ones, such as
                `fit.parameters`.
            options: those of `Problem.experiment` and of `problem`.

        Returns:
            An `Experiment`.
        """
        from .identification.experiment import ExperimentOptions
        from .identification.sensors import last_sample_of

        own, rest = _split(options, ExperimentOptions)
        seconds = last_sample_of(sensors) if duration is None else duration
        problem = self.problem(duration=seconds, parameters=parameters, **rest)
        return problem.experiment(sensors, over, **own)

    @property
    def dofs(self) -> int:
        """Number of degrees of freedom at the initial position, driven ones included."""
        return self._solvers.default.start.dofs

    def topology(self, cut: Iterable[str | Joint] = ()) -> Topology:
        """The kinematic tree, the joints at which closed loops are cut, and the equations that
        remain to be solved.

        This is the tree that `simulate(…, coordinates="rtdyn0")` and `"rtdyn1"` use.

        Args:
            cut: names of joints that close loops and are not part of the tree; the cheapest ones if
                not given.

        Returns:
            A `Topology`: `print` it or `draw()` it; `.coordinates`, `.tree`, `.roots`, `.cut` and
            `.loops` are plain data.

        >>> import varimech as vm
        >>> m = vm.Mechanism("four-bar", gravity=(0, -9.81))
        >>> grounded = [m.ground_point("A", (0, 0)), m.ground_point("D", (2, 0))]
        >>> bars = [m.bar(a + b, a, b, length=L, mass=1) for a, b, L in (("A", "B", 0.5), ("B", "C", 1.8), ("D", "C", 1.2))]
        >>> joints = [m.revolute(name) for name in "ABCD"]
        >>> print(m.topology())
        four-bar: 3 bodies, 4 joints, 1 loop, depth 2
        3 relative coordinates, 2 closure equations
        <BLANKLINE>
        ground
        ├─ AB     revolute A  A.angle
        │  └─ BC  revolute B  B.angle
        └─ DC     revolute D  D.angle
        <BLANKLINE>
        cut
          revolute C between BC and DC: 2 equations; loop A – B – C – D
        >>> m.topology(cut=["B"]).loops
        {'B': ('A', 'B', 'C', 'D')}
        """
        # imported late: it loads relative coordinates, which other analyses do not need
        from .results.topology import topology_of

        return topology_of(self.data, cut)

    def draw(
        self,
        *,
        parameters: Values | None = None,
        title: str | None = None,
        style: str | None = None,
    ) -> Figure:
        """Draw the mechanism in its initial position.

        Args:
            parameters: values that differ from the nominal ones.
            title: title; the name of the mechanism if not given.
            style: "paper" for the format of a paper.

        Returns:
            A figure.

        Raises:
            AssemblyError: if the mechanism cannot be assembled there.
        """
        from .analyses.at_rest import draw

        return draw(self._solvers, parameters, title, style)

    def equilibrium(self, wrt: Wrt = None, *, parameters: Values | None = None) -> Run:
        """The stable equilibrium that is reached from the initial position by decreasing the
        potential energy, with the forces at t = 0.

        Args:
            wrt: parameters to differentiate with respect to ("all" for all of them); none if not
                given.
            parameters: values that differ from the nominal ones.

        Returns:
            A `Run` with that one state: `.position("tip")`, `.reaction("A")`, `.draw()`, and with
            `wrt=` all derivatives.

        Raises:
            VarimechError: if no equilibrium is found.

        >>> import varimech as vm
        >>> m = vm.Mechanism("cantilever", gravity=(0, -9.81))
        >>> A = m.ground_point("A", (0, 0))
        >>> beam = m.beam("beam", "A", "tip", segments=8, length=1.0, E=206e9, section=vm.circle(0.01), density=7850)
        >>> clamp = m.clamp("A", direction=(1, 0))
        >>> f"{m.equilibrium().position('tip').sel(component='y').item():.5f}"
        '-0.00736'
        """
        from .analyses.at_rest import equilibrium

        return equilibrium(self._solvers, wrt, parameters)

    def frequencies(self, count: int = 6, *, parameters: Values | None = None) -> xr.DataArray:
        """Natural frequencies (Hz) of the slowest small vibrations about the equilibrium, without
        damping.

        Zero for motions without stiffness; NaN for vibrations that grow, as forces without
        potential (those that turn with a body) can do.

        Args:
            count: number of frequencies.
            parameters: values that differ from the nominal ones.

        Returns:
            (mode), Hz, in ascending order.

        Raises:
            ModelError: if a driver moves the mechanism, or a speed at its start does and nothing
                resists it.
            VarimechError: if no stable equilibrium is found.
        """
        from .analyses.at_rest import frequencies

        return frequencies(self._solvers, count, parameters)

    def linearize(
        self,
        at: str | Run = "equilibrium",
        *,
        time: float | None = None,
        inputs: Inputs = (),
        outputs: Mapping[str, Callable[[State], object] | str] | None = None,
        wrt: Wrt = None,
        parameters: Values | None = None,
        coordinates: str | Coordinates = "natural",
    ) -> LinearModel:
        """Linear equations of small motions about a motion, in independent coordinates:
        ẇ = A w + B u, z = C w + D u.

        Args:
            at: "equilibrium" (the stable one that `equilibrium` returns), "steady" (a motion
                without accelerations of the independent coordinates, near the initial state and
                with its speeds; drivers keep moving), "start" (the initial state itself), or a run.
            time: instant of the run (s), the nearest stored one; its end if not given.
            inputs: names of forces, torques, drivers and parameters. That of a driver is its
                acceleration.
            outputs: functions of the state, by name; the states if not given.
            wrt: parameters to differentiate the matrices with respect to ("all" for all of them).
            parameters: values that differ from the nominal ones.
            coordinates: in which equations are written, as for `simulate`; the result is the same.

        Returns:
            A `LinearModel`: `.A`, `.B`, `.C`, `.D`, `.to_scipy()`, `.to_matrices()`,
            `.frequency_response(…)`.

        Raises:
            ModelError: for contacts and dry friction, unknown names, and motions that are not
                steady.
            VarimechError: if there is no such motion.
        """
        from .analyses.linear import linearize

        return linearize(self._solvers, at, time, inputs, outputs, wrt, parameters, coordinates)

    def modes(
        self,
        at: str | Run = "equilibrium",
        *,
        time: float | None = None,
        wrt: Wrt = None,
        parameters: Values | None = None,
        coordinates: str | Coordinates = "natural",
    ) -> Modes:
        """Modes of small motions about a motion: eigenvalues with frequencies and damping, shapes,
        and derivatives with respect to parameters.

        Args:
            at, time, parameters, coordinates: as for `linearize`.
            wrt: parameters to differentiate eigenvalues for, the change of the motion included;
                none if not given.

        Returns:
            `Modes`: `.eigenvalues`, `.frequency`, `.damping_ratio`, `.shapes`, `.dataset`, …

        Raises:
            ModelError, VarimechError: as for `linearize`, and for derivatives of repeated
                eigenvalues that lack eigenvectors.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m")
        >>> O = m.ground_point("O", (0, 0))
        >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
        >>> joint = m.revolute("O")
        >>> m.start(angle={"rod": -1.0})
        >>> modes = m.modes(wrt="L")
        >>> f"{modes.frequency.item():.4f} Hz, {modes.dataset['frequency_derivative'].item():.4f} Hz/m"
        '0.6105 Hz, -0.3053 Hz/m'
        """
        from .analyses.modes import modes

        return modes(self._solvers, at, time, wrt, parameters, coordinates)

    def root_locus(
        self,
        parameter: str | Parameter,
        values: Sequence[float | str] | ArrayLike,
        *,
        at: str = "equilibrium",
        wrt: Wrt = None,
        parameters: Values | None = None,
        coordinates: str | Coordinates = "natural",
        progress: bool | None = None,
    ) -> RootLocus:
        """Eigenvalues of small motions over a parameter: branches are followed by their derivatives,
        and values at which a growth rate passes zero are solved for.

        Args:
            parameter: the parameter to vary, such as a gain, a stiffness or a speed.
            values: increasing or decreasing, or (start, stop, count). Two crossings of one branch
                between neighbouring values are not seen.
            at: "equilibrium", "steady" or "start", as for `linearize`.
            wrt: further parameters to differentiate with respect to.
            parameters, coordinates: as for `linearize`.
            progress: as for `simulate`.

        Returns:
            A `RootLocus`: `.growth_rate`, `.frequency`, `.crossings`, `.plot()`, `.dataset`.

        Raises:
            ModelError: for values in no order, and as for `linearize`.

        >>> import varimech as vm
        >>> m = vm.Mechanism("cart", dimension=2)
        >>> k, c = m.parameter("k", 8.0, unit="N/m"), m.parameter("c", 0.5, unit="N*s/m")
        >>> O = m.ground_point("O", (0, 0))
        >>> cart = m.body("cart", mass=2.0, inertia=1.0, points={"P": (0, 0)})
        >>> joint = m.prismatic("guide", "ground.O", "cart.P", axis=(1, 0))
        >>> law = "-k*displacement('guide') - (c - 0.3)*displacement_rate('guide')"
        >>> push = m.force("push", "cart.P", [law, 0])
        >>> m.start(displacement={"guide": 0.0})
        >>> locus = m.root_locus("c", (0.0, 1.0, 5), wrt="k")
        >>> [f"{x:.4f}" for x in locus.crossings[["c", "frequency (Hz)"]].iloc[0]]
        ['0.3000', '0.3183']
        """
        from .analyses.eigenvalue_curves import root_locus

        return root_locus(
            self._solvers, parameter, values, at, wrt, parameters, coordinates, progress
        )

    def campbell(
        self,
        speed: str | Parameter,
        values: Sequence[float | str] | ArrayLike,
        *,
        orders: Sequence[float] | float = (1,),
        revolutions: float | None = None,
        at: str = "steady",
        wrt: Wrt = None,
        parameters: Values | None = None,
        coordinates: str | Coordinates = "natural",
        progress: bool | None = None,
    ) -> Campbell:
        """A Campbell diagram: frequencies of small motions over a speed, with orders of it; and the
        critical speeds, at which a frequency equals an order.

        Args:
            speed: the parameter that is a speed of rotation.
            values: as for `root_locus`.
            orders: multiples of the rotational frequency that excite.
            revolutions: revolutions per second at a speed of one unit; 1/2π for rad/s and 1 for Hz
                if not given.
            at, wrt, parameters, coordinates, progress: as for `root_locus`.

        Returns:
            A `Campbell`: `.frequency`, `.growth_rate`, `.critical_speeds`, `.plot()`, `.dataset`.

        Raises:
            ModelError: for orders that are not positive, a speed of another unit without
                `revolutions`, and as for `root_locus`.
        """
        from .analyses.eigenvalue_curves import campbell

        return campbell(
            *(self._solvers, speed, values, orders, revolutions),
            *(at, wrt, parameters, coordinates, progress),
        )

    def kinematics(
        self,
        driver: Any,
        values: Any = None,
        *,
        rates: Any = None,
        accelerations: Any = None,
        wrt: Wrt = None,
        parameters: Values | None = None,
        unreachable: str = "error",
    ) -> Kinematics:
        """Positions over values of drivers, with velocities, accelerations and derivatives; no
        masses are needed.

        Positions are continued from the initial assembly, in steps that stay on its branch. As many
        drivers as degrees of freedom are needed; other drivers of the model keep their values at
        t = 0.

        Args:
            driver: joint that turns or slides, planar body, pair of points (their distance), or a
                driver of the model; or {driver: values} for several, along a common path.
            values: rad or m, or strings such as "30 deg": a list or array, or the tuple
                (start, stop, count).
            rates: rates of the drivers (rad/s, m/s): a number, or {driver: number}. Velocities and
                accelerations are then those in time; without rates, first and second derivatives
                with respect to the one driver.
            accelerations: of the drivers (rad/s², m/s²); zero if not given.
            wrt: parameters to differentiate with respect to ("all" for all of them); none if not
                given.
            parameters: values that differ from the nominal ones.
            unreachable: "error" for values that it cannot reach, or "truncate" for the range up to
                there.

        Returns:
            `Kinematics`: `.position("P")`, `.angle("rod")`, `.transmission_angle("C")`,
            `.speed_ratio(angle="rocker")`, `.plot(path="P")`, …

        Raises:
            ModelError: for unknown drivers, too few or too many of them, and values that are no
                numbers.
            AssemblyError: if it does not close initially.
            VarimechError: for a value out of reach, with the last one that is reached.

        >>> import varimech as vm
        >>> m = vm.Mechanism("slider-crank", dimension=2)
        >>> O = m.ground_point("O", (0, 0))
        >>> crank = m.bar("crank", "O", "P", length=0.1)
        >>> rod = m.bar("rod", "P", "S", length=0.3)
        >>> block = m.body("block", points={"S": (0, 0)})
        >>> joints = [m.revolute(name) for name in "OPS"]
        >>> guide = m.prismatic("guide", "O", "block.S", axis=(1, 0))
        >>> m.start(angle={"crank": 0.0}, near={"S": (0.4, 0)})
        >>> k = m.kinematics("crank", ("0 deg", "360 deg", 5))
        >>> [f"{x:.4f}" for x in k.displacement("guide").to_numpy()]
        ['0.4000', '0.2828', '0.2000', '0.2828', '0.4000']
        """
        from .analyses.kinematics import kinematics

        return kinematics(
            self._solvers, driver, values, rates, accelerations, wrt, parameters, unreachable
        )

    def workspace(
        self,
        point: str,
        ranges: Mapping[Any, Any],
        *,
        count: int | None = None,
        wrt: Wrt = None,
        parameters: Values | None = None,
    ) -> Workspace:
        """Positions that a point reaches over ranges of two or three drivers, with their boundary
        and area; no masses are needed.

        Positions over a grid of values are continued from the initial assembly, so all of them are
        on its branch. Values out of reach are left out.

        Args:
            point: its name.
            ranges: {driver: (start, stop)}, or (start, stop, count), in rad or m, or strings such as
                "30 deg"; drivers as for `kinematics`, as many as degrees of freedom.
            count: values of each driver; 25 of two drivers and 11 of three if not given. Errors of
                the area decrease with its fourth power.
            wrt: parameters to differentiate positions and the area for ("all" for all of them).
            parameters: values that differ from the nominal ones.

        Returns:
            `Workspace`: `.position`, `.reached`, `.conditioning`, `.manipulability`, and of two
            drivers in the plane `.area`, `.area_derivatives` and `.boundary`; `.plot()`.

        Raises:
            ModelError: for unknown names, too few or too many drivers, and ranges that do not
                increase.
            AssemblyError: if it does not close initially.
            VarimechError: if nothing in the ranges is reached.

        >>> import math
        >>> import varimech as vm
        >>> m = vm.Mechanism("arm", dimension=2)
        >>> O = m.ground_point("O", (0, 0))
        >>> upper = m.bar("upper arm", "O", "A", length=1.0)
        >>> lower = m.bar("forearm", "A", "P", length=0.6)
        >>> joints = [m.revolute(name) for name in "OA"]
        >>> m.start(angle={"O": 1.0, "A": 0.5})
        >>> w = m.workspace("P", {"O": ("0 deg", "360 deg"), "A": ("0 deg", "180 deg")})
        >>> f"{w.area:.3f} m², exactly {math.pi * (1.6**2 - 0.4**2):.3f} m²"
        '7.540 m², exactly 7.540 m²'
        """
        from .analyses.workspace import workspace

        return workspace(self._solvers, point, ranges, count, wrt, parameters)

    def synthesize(
        self,
        driver: Any,
        targets: Any,
        over: Any = None,
        *,
        values: Any = None,
        span: tuple[Any, Any] | None = None,
        starts: int = 1,
        seed: int = 0,
        parameters: Values | None = None,
    ) -> Synthesis:
        """Dimensional synthesis: parameters for which outputs meet targets, by least squares with
        exact Jacobians. Path, function and motion generators differ only in their outputs.

        All targets lie on the assembly branch of the start of each search.

        Args:
            driver: as for `kinematics`, one.
            targets: outputs and their values at all targets, {point: [(x, y), …]}, or a list of
                pairs (output, values); outputs are points, functions of the state, or strings such as
                "angle('rocker')".
            over: parameters that may change, or {name: (lower, upper)}; all, within their own
                bounds, if not given.
            values: of the driver at the targets (prescribed timing); free if not given.
            span: range of the driver in which free timings are first looked for; a turn if not
                given.
            starts: number of searches: from the nominal design, then from within the bounds.
            seed: of these designs.
            parameters: values of others, where these differ from the nominal ones.

        Returns:
            `Synthesis`: `.parameters`, `.error`, `.residuals`, `.local_optima`, `.defects`,
            `.kinematics`, `.plot(point=…)`.

        Raises:
            ModelError: for invalid input.
            VarimechError: if no start reaches all targets on one branch.
        """
        from .optimization.synthesis import synthesize

        return synthesize(
            self._solvers, driver, targets, values, over, span, starts, seed, parameters
        )

    def equations(
        self,
        *,
        coordinates: str | Coordinates = "natural",
        outputs: Mapping[str, Callable[[State], object]] | None = None,
    ) -> MotionEquations:
        """Return the equations of motion as a CasADi function for use in other programs;
        `.to_c(folder)` writes them as plain C.

        Args:
            coordinates: as for `simulate`; "rtdyn1" has fewest.
            outputs: further outputs by name, functions of the state without accelerations.

        Returns:
            `MotionEquations`: `.function(q, v, t, rho)` gives M, Q, Phi, Phi_q and gamma of M a +
            Phi_qᵀ λ = Q, Phi_q a = gamma; `.q`, `.v` and `.parameters` are those of the start,
            `.coordinate_names`, `.constraint_names` and `.parameter_names` name the entries.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> O = m.ground_point("O", (0, 0))
        >>> rod = m.bar("rod", "O", "tip", length=1.0, mass=3.0)
        >>> joint = m.revolute("O")
        >>> m.start(angle={"rod": 0.0})
        >>> e = m.equations(coordinates="rtdyn1")
        >>> M, Q, *_ = e.function(e.q, e.v, 0.0, e.parameters)
        >>> f"{float(Q / M):.3f}"  # −3 g / 2 L
        '-14.715'
        """
        from .interchange.motion_equations import motion_equations

        return motion_equations(self._solvers, coordinates, outputs or {})

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a mechanism, with its studies, from a model file (YAML).

        Args:
            path: the file.

        Returns:
            The mechanism.

        Raises:
            FileError: with file, line, field and remedy.
        """
        from .files.reading import read_mechanism

        return read_mechanism(cls, Path(path))

    def to_file(
        self,
        path: str | os.PathLike[str],
        *,
        studies: Studies | Mapping[str, object] | None = None,
        values: Values | None = None,
    ) -> Path:
        """Write the mechanism, and its studies, to a model file; read again it is the same
        mechanism, to the last bit.

        Args:
            path: of the file, such as "crank.yaml".
            studies: what to compute, as in files ({"simulate": {"duration": 2.0}, …}); those that
                the mechanism has if not given.
            values: parameter → value that replaces the nominal one, such as `optimum.parameters`.

        Returns:
            The path.

        Raises:
            ModelError: for Python functions (forces, motions, shapes), which a file cannot contain;
                write these as expressions in text form.
        """
        from .core.atomic_files import write_text

        write_text(Path(path), self.to_text(studies=studies, values=values))
        return Path(path)

    def to_text(
        self, *, studies: Studies | Mapping[str, object] | None = None, values: Values | None = None
    ) -> str:
        """Return the text that `to_file` writes.

        Args:
            studies, values: as for `to_file`.

        Returns:
            YAML.

        Raises:
            ModelError: for Python functions, which a file cannot contain.
        """
        from .files.model_files import model_text

        return model_text(self.data, self.studies if studies is None else studies, values)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the mechanism as the text of a model file; copies and other processes get the same
        mechanism, to the last bit.
        """
        from .files.model_files import pickled

        return pickled(type(self), self.data, self.studies)

    def studio(
        self, *, port: int = 0, browser: bool | None = None, wait: bool = False
    ) -> OpenStudio:
        """Open the mechanism in the studio: a page where every change shows its consequences at once.

        The page shows a copy: this mechanism stays as it is, and no file is written. The extra
        `studio` installs what it needs. With the extra `notebook`, too, a notebook shows the studio
        itself, live, at the end of a cell.

        Args:
            port: on this computer; 0 for any that is free.
            browser: whether to open the page; if not given, unless a notebook shows it itself.
            wait: until the studio is stopped, by Ctrl-C or in another thread.

        Returns:
            The studio, with `address`, `text` (the model file of the design as it is now),
            `stop()` and `wait()`.

        Raises:
            ModelError: for Python functions, which a model file cannot contain; if packages are
                missing or the port is taken.
        """
        from .notebook.kernel import shows_widgets
        from .studio.launch import prepared, show

        studio = prepared(type(self), self.to_text(), port=port)
        studio.serve_in_background()
        if not shows_widgets() if browser is None else browser:
            show(studio)
        if wait:
            studio.wait()
        return studio

    def study(self, kind: str, **changes: object) -> Any:
        """Execute a study of the model file: "simulate", "sensitivity", "uncertainty",
        "reliability", "optimize", "robust", "allocate" (with its "allocation_curve") or "fit".

        Args:
            kind: of the study; one that the file does not have runs with the settings that all
                share.
            changes: settings that differ from those of the file, such as `duration=2.0` or
                `wrt=["L"]`.

        Returns:
            A `Run`, `Gradient`, `Moments` or `Study`, `Reliability`, `Optimum`, `Statistics` or
            `RobustOptimum`, `Allocation`, `AllocationCurve`, `Fit` or `Posterior`, as the analysis
            of that name does.
        """
        from .files.study_runner import conduct

        if self.studies is None:
            problem = f"mechanism {self.name!r} has no studies: it was not read from a file"
            raise ModelError(
                problem, value=kind, remedy="call simulate, sensitivity, moments, … instead"
            )
        return conduct(self, self.studies, kind, changes)

    @classmethod
    def from_urdf(
        cls,
        path: str | os.PathLike[str],
        *,
        gravity: Vector = (0.0, 0.0, -9.81),
        positions: Mapping[str, object] | None = None,
        speeds: Mapping[str, object] | None = None,
        near: Mapping[str, object] | None = None,
        parameters: Sequence[str] = (),
        name: str | None = None,
    ) -> Self:
        """A mechanism from a URDF file, read by urdf_parser_py (`pip install 'varimech[urdf]'`);
        docs/interchange.md.

        The root link is fixed to the ground. Links with mass become bodies; links without mass
        become part of the body to which they are fixed. Joints keep their names, and their angles
        and displacements are those of the file; each joint is also a point of both of its bodies.
        Loops are closed by <loop_joint> tags. Limits are not enforced.

        Args:
            path: the file.
            gravity: m/s², in the frame of the root link.
            positions: joint values at the start, zero if not given: rad or m; (x, y, angle) of
                planar joints, (x, y, z, roll, pitch, yaw) of floating ones. Where there are loops,
                as many values as the mechanism has degrees of freedom; the rest is assembled.
            speeds: their rates, rad/s or m/s; of floating joints velocity and angular velocity in
                the joint's frame.
            near: rough values of other joints, that choose between two ways to close a loop.
            parameters: what becomes parameters: any of "mass" (`link.mass`), "com" (`link.com.x`,
                …), "origin" (of joints: `joint.x`, …) and "damping" (`joint.damping`); of places,
                components that are not zero.
            name: of the mechanism; the robot's if not given.

        Returns:
            The mechanism.

        Raises:
            ModelError: with the file, the link or joint, and the remedy.
        """
        from .interchange.urdf import Writer, load

        tree, chosen = load(path, parameters)
        mechanism = cls(tree.robot.name if name is None else name, gravity=gravity, dimension=3)
        writer = Writer(mechanism, tree, chosen)
        writer.write()
        writer.start(positions or {}, speeds or {}, near or {})
        return mechanism

    def __repr__(self) -> str:
        return f"<Mechanism {self.name!r}: {self._composition}>"

    @property
    def _composition(self) -> str:
        return ", ".join(composition(self.dimension, element_counts(self.data)))

    def _repr_html_(self) -> str:
        return shown(self, self._display)

    def _display(self) -> str:
        heading = html_heading(self.name, self._composition)
        parameters = self.parameters._display() if self.parameters else ""
        if len(self.data.moving_bodies) > MOST_DRAWN:
            return heading + parameters
        try:
            return heading + picture(self.draw()) + parameters
        except VarimechError as error:
            parts = [[b.name, "body", ", ".join(b.points)] for b in self.data.moving_bodies]
            parts += [
                [j.name, j.kind, " – ".join(b.name for b in j.bodies)] for j in self.joints.values()
            ]
            return (
                heading
                + html_text(f"not drawn: {error}")
                + html_table(["name", "kind", "points or bodies"], parts)
                + parameters
            )


def _split(options: Mapping[str, object], own: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into keys of a TypedDict, and all others, which `problem` takes."""
    keys = own.__annotations__  # inherited ones included
    return (
        {name: value for name, value in options.items() if name in keys},
        {name: value for name, value in options.items() if name not in keys},
    )


def _named(objective: Target | Mapping[str, Target]) -> Mapping[str, Target]:
    """Return the objective of a design by name; the default name is "objective"."""
    return objective if isinstance(objective, Mapping) else {"objective": objective}
