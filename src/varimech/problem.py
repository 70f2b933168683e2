"""`Problem`: objectives, parameters and a run, defined once for every analysis.

A problem contains objectives ψ, the parameters ρ to differentiate for, and a checked `Simulation`
(duration, parameter values, scheme, times). Analyses are functions of these; each method here
passes them on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Required, Unpack

from .analyses.gradients import gradient, with_small_motions
from .analyses.hessians import MEMORY, hessian, hessian_product
from .analyses.motion import simulate
from .analyses.simulation import Simulation, Values, simulation
from .analyses.solvers import ModelSolvers
from .core.errors import ModelError, unknown_name
from .core.markup import Displayed, html_heading, html_table
from .core.messages import Call, Message, Text
from .optimization.quantities import (
    DesignQuantity,
    Goals,
    Target,
    named_goals,
    of_runs,
    of_small_motions,
)
from .results.labels import Wrt
from .schemes import RunOptions
from .sensitivity.finite_difference import RELATIVE_STEPS
from .sensitivity.objective import Objective
from .sensitivity.stability_objective import StabilityObjective

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import ArrayLike

    from .analyses.ensembles import Samples
    from .analyses.function import Function
    from .analyses.linear import Inputs
    from .analyses.stability import StabilityObjectives
    from .frameworks.jax_function import JaxFunction
    from .frameworks.torch_function import TorchFunction
    from .identification.experiment import ExperimentOptions
    from .identification.experiment_result import Experiment
    from .identification.fit import Fit
    from .identification.fitting import FitOptions
    from .identification.measurement import Measurements
    from .identification.sensors import Sensors
    from .model.state import State
    from .optimization.design_problem import DesignProblem
    from .optimization.optimum import Optimum
    from .optimization.quantities import Constraints
    from .optimization.space import Over
    from .results.certificate import Certificate
    from .results.ensemble import Ensemble
    from .results.gradient import Gradient
    from .results.hessian import Hessian
    from .results.linear_model import LinearModel
    from .results.modes import Modes
    from .results.run import Run
    from .robust.allocate import AllocationOptions
    from .robust.allocation import Allocation
    from .robust.allocation_curve import AllocationCurve
    from .robust.design import RobustDesignOptions, RobustOptions
    from .robust.statistics import StatisticsArguments, Wanted
    from .robust.statistics_result import Statistics
    from .sensitivity.comparison import Constraint
    from .sensitivity.failure import SystemEvent
    from .uncertainty.global_study import GlobalStudy
    from .uncertainty.moments import Moments
    from .uncertainty.monte_carlo import StudyOptions
    from .uncertainty.parameter_distributions import Correlation, Given
    from .uncertainty.reliability import Reliability
    from .uncertainty.study import Study


class ProblemOptions(RunOptions, total=False):
    """Duration, parameter values and run options, as arguments of `Mechanism.problem`."""

    duration: Required[float]
    parameters: Values | None


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Displayed):
    """Objectives of a mechanism, the parameters to differentiate with respect to, a duration,
    parameter values and run options: defined once with `Mechanism.problem`. Its methods are the
    analyses.

    A problem never changes; `with_options` returns another one. It belongs to the mechanism as it
    was when the problem was defined: after a change of the mechanism, analyses raise an error that
    asks for a new problem.

    >>> import varimech as vm
    >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    >>> L = m.parameter("L", 1.0, unit="m", distribution=vm.Tolerance(0.01))
    >>> O = m.ground_point("O", (0, 0))
    >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
    >>> joint = m.revolute("O")
    >>> m.start(angle={"rod": -1.0})
    >>> angle = vm.final(lambda s: s.angle("rod"), unit="rad")
    >>> p = m.problem({"angle": angle}, wrt="L", duration=1.0)
    >>> f"{p.gradient().gradient.item():.4f}, {p.hessian().hessian.item():.4f}"
    '-0.6158, 2.5793'
    >>> expanded = p.moments()
    >>> f"{expanded.mean[-1].item():.4f} ± {3 * expanded.std[-1].item():.4f}"
    '-2.0376 ± 0.0062'
    >>> study = p.monte_carlo(samples=256, sampling="sobol")
    >>> f"{study.mean[-1].item():.4f} ± {3 * study.std[-1].item():.3f}"
    '-2.0376 ± 0.006'
    >>> f"{p.openturns().probability(angle >= -2.03).form:.3g}"
    '0.000151'
    """

    objectives: Mapping[str, Target]
    """Objectives by name; unnamed ones are called psi1, psi2, …"""
    _indices: list[int] | None
    """Positions of the parameters to differentiate for; None where none were named."""
    _simulation: Simulation

    @property
    def wrt(self) -> tuple[str, ...] | None:
        """Names of the parameters to differentiate for; None where none were named."""
        if self._indices is None:
            return None
        return tuple(p.name for p in self._simulation.solvers.parameters(self._indices))

    @property
    def duration(self) -> float:
        """Duration of the run (s)."""
        return self._simulation.duration

    @property
    def parameters(self) -> dict[str, float]:
        """The values of all parameters, by name."""
        s = self._simulation
        return dict(zip(s.solvers.data.parameter_set.parameters, s.ρ.tolist(), strict=False))

    @property
    def method(self) -> str:
        """Formulation, integrator and coordinates selected by the options, in words."""
        s = self._simulation
        return s.scheme.resolved(s.solvers.data).title

    def with_options(
        self,
        *,
        duration: float | None = None,
        parameters: Values | None = None,
        **options: Unpack[RunOptions],
    ) -> Problem:
        """The same problem with another duration (s), other parameter values or run options.

        Args:
            duration: s; unchanged if not given.
            parameters: values that differ from the nominal ones, in place of those of this problem.
            options: run options to change, as for `Mechanism.simulate`.

        Returns:
            Another problem.
        """
        s = self._simulation.with_options(duration=duration, **options)
        return replace(self, _simulation=s if parameters is None else s.at(parameters))

    def run(self) -> Run:
        """Simulate from t = 0.

        Returns:
            The run, without derivatives.

        Raises:
            VarimechError: as `Mechanism.simulate` does.
        """
        return simulate(self._simulation)

    def gradient(
        self,
        method: str = "auto",
        *,
        relative_steps: Sequence[float] = RELATIVE_STEPS,
        memory: float = MEMORY,
    ) -> Gradient:
        """Objectives and their derivatives with respect to `wrt` (all parameters if none were
        named); also those of every output over time.

        Args:
            method: "direct" (exact derivative of the discrete solution, chosen steps held fixed),
                "adjoint" (the same by one sweep backwards for any number of parameters), "auto"
                (one of these two, the faster one by the numbers of parameters and objectives),
                "composite" (motion and derivative as one differential-algebraic system, after
                Serban and Freeman), "finite-difference" (central, over a sweep of perturbations) or
                "complex-step" (the run in complex numbers: exact without any derivative; at the end
                of the run only).
            relative_steps: the perturbations of that sweep, relative to each parameter.
            memory: MB that an adjoint may record; of longer runs, parts are executed once more.

        Returns:
            A `Gradient`: `.values`, `.gradient`, `.history`, and `.run`, whose outputs take
            `wrt=`. Objectives of small motions come last.

        Raises:
            Interrupted: on Ctrl-C with method="direct"; its `result` is the gradient of the motion
                up to then. Other methods have no partial results and raise a plain
                KeyboardInterrupt.
        """
        self._check_of_runs("gradient")
        s, indices = self._simulation, self._differentiated()
        small = of_small_motions(self.objectives)
        if small and method not in ("auto", "direct", "adjoint"):
            raise ModelError(
                f"is for runs, and objective {next(iter(small))!r} is one of small motions",
                element="gradient",
                field="method",
                value=method,
                remedy="leave it out, or state the other objectives in a problem of their own",
            )
        computed = gradient(s, of_runs(self.objectives), indices, method, relative_steps, memory)
        if not small:
            return computed
        return with_small_motions(computed, small, *self._small_motions.evaluate(s.ρ, indices))

    def hessian(self, method: str = "auto", *, memory: float = MEMORY) -> Hessian:
        """Exact second derivatives of objectives, and of any function of the state over time.

        They are those of the discrete solution itself, chosen steps held fixed.

        Args:
            method: "forward" (over forward: also over time), "backward" (over forward,
                by an adjoint), or "auto", the faster one by the numbers of parameters and
                objectives.
            memory: MB that each of the adjoints that run at once may record.

        Returns:
            A `Hessian`: `.values`, `.gradient`, `.hessian`, `.measure(function)`, `.run`.
        """
        objectives = self._of_runs("hessian")
        return hessian(self._simulation, objectives, self._differentiated(), method, memory)

    def hessian_product(self, along: Mapping[str, float], method: str = "auto") -> xr.DataArray:
        """Hessians of objectives times a vector, (objective, parameter), by one run.

        Args:
            along: the vector, parameter → number; parameters that are not named do not change.
            method: as for `hessian`.

        Returns:
            (objective, parameter).
        """
        objectives = self._of_runs("hessian_product")
        return hessian_product(self._simulation, objectives, along, self._differentiated(), method)

    def linearize(
        self,
        at: str = "equilibrium",
        *,
        time: float | None = None,
        inputs: Inputs = (),
        outputs: Mapping[str, Callable[[State], object] | str] | None = None,
    ) -> LinearModel:
        """Linear equations of small motions, with derivatives with respect to `wrt` where that
        names parameters.

        Args:
            at, inputs, outputs: as for `Mechanism.linearize`.
            time: instant of the run of this problem (s), in place of `at`.

        Returns:
            A `LinearModel`.

        Raises:
            VarimechError: as `Mechanism.linearize` does.
        """
        from .analyses.linear import linearize

        s = self._simulation
        place, values = self._place(at, time)
        return linearize(s.solvers, place, time, inputs, outputs, self.wrt, values, "natural")

    def modes(self, at: str = "equilibrium", *, time: float | None = None) -> Modes:
        """Modes of small motions: eigenvalues, shapes, and derivatives with respect to `wrt` where
        that names parameters.

        Args:
            at: as for `Mechanism.modes`.
            time: instant of the run of this problem (s), in place of `at`.

        Returns:
            `Modes`.

        Raises:
            VarimechError: as `Mechanism.modes` does.
        """
        from .analyses.modes import modes

        place, values = self._place(at, time)
        return modes(self._simulation.solvers, place, time, self.wrt, values, "natural")

    def _place(self, at: str, time: float | None) -> tuple[str | Run, Values | None]:
        """Return the motion to linearise, and parameter values where it does not have its own."""
        s = self._simulation
        s.check_unchanged("state the problem anew")
        if time is None:
            return at, s.given
        if self.wrt is None:
            return self.run(), None
        return replace(self, objectives={}).gradient("direct").run, None

    def certify(
        self,
        method: str = "auto",
        *,
        relative_steps: Sequence[float] | None = None,
        wanted: float = 3.0,
        sizes: ArrayLike = 0.0,
    ) -> Certificate:
        """Determine how many digits of the gradient can be trusted, and what limits their number.

        Args:
            method: of the gradient that is certified, as for `gradient`.
            relative_steps, wanted, sizes: as for `Gradient.certify`.

        Returns:
            A `Certificate`: `print` it; `.trusted`, `.digits`, `.table()`, `.findings`, …
        """
        return self.gradient(method).certify(
            relative_steps=relative_steps,
            wanted=wanted,
            sizes=sizes,
            progress=self._simulation.progress,
        )

    def ensemble(
        self,
        samples: Samples,
        *,
        threads: int | None = None,
        executor: Literal["cuda"] | None = None,
        method: Literal["auto", "direct", "adjoint"] = "auto",
    ) -> Ensemble:
        """Run the mechanism for many sets of parameter values at once, over all cores or on a GPU;
        with derivatives where `wrt` names parameters.

        Args:
            samples: parameter → values, one for each sample, or a table with a column for each;
                parameters that are not named keep the values of the problem.
            threads: number of simultaneous runs; one for each core if not given.
            executor: "cuda" for one GPU thread a sample (values and derivatives equal to those of
                the CPU within rounding). Samples that fail there are rerun
                individually on the CPU, in `threads`.
            method: of derivatives: "direct", along the motion; "adjoint", by a reverse sweep of each
                sample; "auto", the faster one: the adjoint beyond 40 parameters per objective, 14
                on a GPU unless steps are equal, or 8 for large mechanisms. An adjoint that is short
                of memory executes each sample twice.

        Returns:
            An `Ensemble` in the order of the samples. A sample that fails is reported in
            `.failures`; the others go on.

        Raises:
            ModelError: if there is no GPU that can be used, or the mechanism is too large for it.
            VarimechError: if the memory of the GPU is too small for the samples, though they are
                divided.
        """
        from .analyses.ensembles import ensemble

        objectives = self._of_runs("ensemble")
        return ensemble(
            self._simulation, objectives, samples, self._indices, threads, executor, method
        )

    def moments(
        self,
        distributions: Given | None = None,
        *,
        correlation: Correlation | None = None,
        order: int = 2,
        accuracy: float = 0.1,
    ) -> Moments:
        """Mean and variance of objectives at every stored time, by exact derivatives at the means
        of the parameters.

        The history of `vm.final(f)` is f over time, so that means and bands of any output follow.
        A hundred times are stored where a tolerance chooses the steps and `output` is not given.

        Args:
            distributions: parameter → `vm.Tolerance` about its nominal value, a distribution with
                its numbers (of scipy.stats, or any object with ppf(p), mean() and var()), or None
                for one that does not vary. Parameters that are not named keep their own
                (`distribution=`).
            correlation: {("a", "b"): 0.5}, or a matrix in the order of the parameters that vary;
                none if not given. Between parameters that are not normal it is that of the normal
                variables behind them (a Gaussian copula).
            order: 1 (one run with first derivatives, two without) or 2 (also second derivatives, a
                run for each parameter that varies). Objectives of small motions
                (`vm.growth_rate`, …) have order 1 only; they are constant over time.
            accuracy: error of means and standard deviations, in standard deviations, up to which
                they count as good.

        Returns:
            `Moments`: `.mean`, `.variance`, `.std`, `.contributions`, `.horizon`, `.bands()`,
            `.table()`, `.plot()`, …

        Warns:
            HorizonWarning: if the run is longer than the horizon of the moments.
        """
        from .uncertainty.expanding import moments

        self._check_of_runs("moments")
        if order != 1:
            self._of_runs("moments")
        self._check_some("moments")
        return moments(
            self._simulation,
            of_runs(self.objectives),
            self._small_motions,
            distributions,
            correlation,
            order,
            accuracy,
        )

    def monte_carlo(
        self, distributions: Given | None = None, **options: Unpack[StudyOptions]
    ) -> Study:
        """Mean, variance, quantiles and histograms of objectives at every stored time, from many
        runs with parameters drawn at random.

        Memory does not grow with the number of samples unless they are kept. The same seed gives
        the same numbers, to the last bit, in threads and on a cluster, whatever their number.

        Args:
            distributions, correlation: as for `moments`.
            samples: largest number of runs; 10,000 if not given.
            sampling: "random" (if not given), "latin-hypercube" or "sobol" (scrambled Sobol
                sequences, 32 of them side by side; best with 32 times a power of two). The latter
                two fill the space of the parameters more evenly, and need fewer samples for smooth
                objectives.
            seed: of the random numbers; 0 if not given.
            executor: number of threads; a `dask.distributed.Client`; "cuda", one GPU thread for
                each sample (equal to the others within rounding); or `GpuWorkers(client)`, the same
                on the GPUs of a Dask cluster. A thread on each core if not given.
            control: correct means by the first-order model, whose mean is known: fewer samples for
                the same error. Not used where samples failed.
            target: half of the 95 % confidence interval of the mean at the end of the run at which
                to stop, in the unit of the objective; one number, or {objective: number}. It is
                compared every 16 chunks (32 of hypercubes or sequences), of 256 samples at most.
            keep: keep all samples (`.samples`), in memory, or with a checkpoint in its folder.
            allowed_failures: share a of the samples that may fail, judged at the end (0.05 if not
                given); and from 50 samples on, the study is given up early where of n samples more
                than a n + 3 √(a (1 − a) n) failed.
            checkpoint: folder for the state of the study after every chunk. Where there is one, the
                study continues from it: after an interruption, or with more samples.
            chunk: samples that are run and added up together; chosen by their number if not given,
                1024 for 100,000, 8192 at most.

        Returns:
            A `Study`: `.mean`, `.variance`, `.std`, `.interval()`, `.quantile(0.95)`,
            `.histogram()`, `.failures`, `.table()`, `.plot()`, …

        Raises:
            StudyError: if too many samples fail; the study up to then is its `study`.
            Interrupted: on Ctrl-C; the study of the samples up to then is its `result`, and a
                checkpoint continues from there.
        """
        from .uncertainty.monte_carlo import monte_carlo

        return monte_carlo(self._simulation, self._some("monte_carlo"), distributions, **options)

    def openturns(
        self, distributions: Given | None = None, *, correlation: Correlation | None = None
    ) -> GlobalStudy:
        """The mechanism as a function of OpenTURNS, for global sensitivity and reliability; nothing
        is run yet.

        The function goes from the parameters that vary to the objectives at the end of the run,
        with exact gradients and Hessians, and evaluates many points at once on all cores. Needs
        `pip install 'varimech[uq]'`.

        Args:
            distributions, correlation: as for `moments`.

        Returns:
            A `GlobalStudy`: `.chaos()` (polynomial chaos), `.sobol()` (Sobol indices),
            `.probability(ψ >= 3.0)` (FORM and SORM), and `.function` and `.distribution` for
            everything else that OpenTURNS has.
        """
        from .uncertainty.global_study import global_study

        return global_study(self._simulation, self._some("openturns"), distributions, correlation)

    def statistics(
        self,
        statistics: Wanted | None = None,
        distributions: Given | None = None,
        **options: Unpack[StatisticsArguments],
    ) -> Statistics:
        """Statistics of objectives over the random parameters, with exact derivatives with respect
        to nominal values, tolerance widths and correlations.

        Args:
            statistics: `vm.mean(f)`, `vm.std(f)`, `vm.quantile(f, 0.999)`, `vm.worst(f, sigma=3)` or
                `vm.probability(f <= limit, …)`, alone, in a list or by name; those that the problem
                was stated with if not given.
            distributions, correlation: as for `moments`.
            method: "moments", "samples", "form", "chaos", or "auto" (if not given): the cheapest
                one whose estimated error is small, for each statistic.
            order: of moments, 1 or 2; chosen if not given.
            samples: runs with gradients of "samples" and "chaos"; chosen if not given.
            degree: of the polynomials of "chaos"; chosen if not given.
            seed: of the samples; 0 if not given.

        Returns:
            `Statistics`: `.value`, `.error`, `.nominal_derivatives`, `.width_derivatives`,
            `.correlation_derivatives`, `.bound_derivatives()`, `.bands`, `.methods`, `.table()`, …

        Raises:
            ModelError: for invalid input, a probability that a method does not resolve, or
                distributions that it does not support.
            VarimechError: if a run fails.
        """
        from .robust.statistics import named_statistics, statistics_of

        named = named_statistics(statistics, self.objectives)
        return statistics_of(self._simulation, named, self.wrt, distributions, **options)

    def reliability(
        self,
        event: Constraint | SystemEvent,
        distributions: Given | None = None,
        *,
        correlation: Correlation | None = None,
        method: str = "form",
        samples: int | None = None,
        level: float = 0.95,
        seed: int = 0,
    ) -> Reliability:
        """Probability that a limit is exceeded, at the end or at any time of the run, or that one or
        all of several are.

        The objectives of the event need not be those of this problem, which give theirs their
        names. Needs `pip install 'varimech[uq]'`.

        Args:
            event: `ψ >= 3.0`, `vm.peak(h) >= 500.0`, `vm.path(h) <= 0.1` (at any time), or several
                of them in `vm.any_of(…)` or `vm.all_of(…)`.
            distributions, correlation: as for `moments`.
            method, samples, level, seed: as for `GlobalStudy.probability`.

        Returns:
            A `Reliability`: `.probability`, `.form`, `.sorm`, `.beta`, `.design`, `.importance`,
            `.limits`, `.sampled`, `.sensitivity_table()`, `.notes`, …

        Raises:
            ModelError: if an argument is invalid.
            VarimechError: if the limit cannot be reached, or the method does not resolve its
                probability.
        """
        from .uncertainty.global_study import global_study
        from .uncertainty.limits import objectives_of

        objectives = objectives_of(event, of_runs(self.objectives))
        study = global_study(
            self._simulation,
            objectives,
            distributions,
            correlation,
            differentiable=method in ("form", "importance"),
        )
        return study.probability(event, method=method, samples=samples, level=level, seed=seed)

    def function(
        self, method: str = "auto", *, executor: int | str | None = None, failures: str = "nan"
    ) -> Function:
        """The objectives at the end of the run as a function of `wrt` (all parameters if none were
        named), with derivatives, for any other program; nothing is run yet.

        Args:
            method: of first derivatives: "direct", "adjoint", or "auto", the faster one by the
                numbers of parameters and objectives.
            executor: what runs batches: a number of threads, or "cuda", one GPU thread for each row
                (values, Jacobians and Hessian-vector products, equal to the others
                within rounding; second derivatives across events come from threads). A thread on
                each core if not given.
            failures: "nan": results of a run that fails are NaN, and a warning gives the reason,
                while the rest of the batch continues; "raise": an error.

        Returns:
            A `Function`: `f(x)`, `.jacobian(x)`, `.jvp(x, ẋ)`, `.vjp(x, w)`, `.hessian(x)`,
            `.hessian_product(x, ẋ)`, …

        Raises:
            ModelError: for options that make no sense.
        """
        from .analyses.function import function_of

        objectives, indices = self._some("function"), self._differentiated()
        return function_of(self._simulation, objectives, indices, method, executor, failures)

    def jax(
        self, method: str = "auto", *, executor: int | str | None = None, failures: str = "nan"
    ) -> JaxFunction:
        """The same as a function of JAX, with `jit`, `vmap` and derivatives up to the second, forward
        and reverse. Needs `pip install 'varimech[jax]'`, and double precision:
        `jax.config.update("jax_enable_x64", True)`.

        Args:
            method, executor, failures: as for `function`.

        Returns:
            A function f(x) of a float64 array (…, parameter) with values (…, objective).

        Raises:
            ModelError: if JAX is not installed.
        """
        from .frameworks.packages import check_installed

        check_installed("jax", "JAX")
        from .frameworks.jax_function import JaxFunction

        return JaxFunction(self.function(method, executor=executor, failures=failures))

    def torch(
        self, method: str = "auto", *, executor: int | str | None = None, failures: str = "nan"
    ) -> TorchFunction:
        """The same as a function of PyTorch, with derivatives up to the second by `autograd` and
        `torch.func`. Needs `pip install 'varimech[torch]'`.

        Args:
            method, executor, failures: as for `function`.

        Returns:
            A function f(x) of a float64 tensor (…, parameter) with values (…, objective).

        Raises:
            ModelError: if PyTorch is not installed.
        """
        from .frameworks.packages import check_installed

        check_installed("torch", "PyTorch")
        from .frameworks.torch_function import TorchFunction

        return TorchFunction(self.function(method, executor=executor, failures=failures))

    def export(self, folder: str | os.PathLike[str], *, target: str = "cuda") -> Path:
        """Write a program that executes many runs at once on machines without Varimech.

        It includes derivatives if `wrt` names parameters.

        The folder contains the source of the program, a description (bundle.json) and a small
        runner. In this folder, `python run.py` checks the machine, and `python run.py samples.csv
        results.csv` runs the samples of a file and writes the results at the end and the failed
        runs. The runner checks the bounds of parameters, which include how far functions of time
        stay as slow as the exported steps need, and the conditions on single parameters;
        bundle.json lists the conditions that it does not check. Objectives are stored only at the
        start and at the end if neither `every` nor `output` is given.

        Args:
            folder: target folder; created if it does not exist.
            target: "cuda" (a kernel with a thread for each run; needs numpy and cupy there) or "c"
                (needs numpy and a C compiler).

        Returns:
            The folder.
        """
        from .uncertainty.export import export

        objectives = self._some("export")
        return export(self._simulation, objectives, self._indices, Path(folder), target)

    def optimize(
        self, over: Over = None, *, minimize: str | None = None, **options: Unpack[RobustOptions]
    ) -> Optimum:
        """Find parameter values that minimise an objective and meet constraints: a local optimum,
        or the best one of several.

        A search ends at a local optimum, which is checked to second order: the search continues
        from saddle points and maxima. Other local optima may be better; `starts=8` looks for them.
        Runs have a tolerance of 1e-10 if neither `tolerance` nor `step` is given.

        Args:
            over: parameters that may change; those of `wrt` if not given, else all that have no
                value in `parameters`.
            minimize: name of the objective to minimise, where there are several.
            constraints: comparisons such as `vm.final(f) <= 0.1` or `vm.path(h).between(-1, 1)`, in
                a list or by name.
            bounds: parameter → (lower, upper), None where open; within the parameter's own.
            start: parameter → value to begin with; nominal ones if not given.
            method: of gradients, as for `gradient`; "auto" if not given.
            starts: number of searches (1 if not given): the first from the given design, others from
                designs within the bounds, which all of `over` need.
            solver: "ipopt" (if not given), "scipy" (the best of SciPy for the problem), or a method
                of `scipy.optimize.minimize` by name.
            hessian: "approximate" second derivatives from changes of the gradient (if not given),
                or "exact" ones: fewer iterations, more to compile at first.
            max_iterations: from each start; 100 if not given.
            tolerance_optimality: what may be left of the gradient, relative to that at the start;
                1e-9 if not given.
            seed: of the starts within the bounds; 0 if not given.
            distributions, correlation: of random parameters, as for `moments`, where the objective
                or a constraint is a statistic (`vm.worst(f) <= 1`, `vm.probability(f <= 1) >=
                0.999`, …). Then `over` may also name tolerance widths, "± crank", each with
                `bounds`.
            statistics: the method, as `method` of `statistics`; "auto" if not given.
            order, samples, degree: as for `statistics`.
            verify: number of independent samples that verify the statistics of the optimum;
                chosen if not given (10,000 or more), False for none.

        Returns:
            An `Optimum`: `.parameters`, `.objective`, `.constraints`, `.multipliers`,
            `.local_optima`, `.second_order`, `.history`, `.before`, `.after`, `.plot()`, …; with
            statistics a `RobustOptimum`, which adds `.verification` and `.widths`.

        Raises:
            ModelError: for invalid input, such as objectives without a gradient or
                parameters that change nothing.
            InfeasibleError: if no design meets the constraints, with the nearest
                one.
            Interrupted: on Ctrl-C after an iteration or more; its `result` is the best design up to
                then.
        """
        from .optimization.design import optimize
        from .robust.design import is_robust, optimize_robustly

        name, goal = self._goal(minimize)
        if is_robust(goal, options.get("constraints", ()), options):
            return optimize_robustly(self._simulation, name, goal, self._over(over), **options)
        assert not isinstance(goal, DesignQuantity)
        searching: Any = options  # none of the options of statistics is among them
        return optimize(self._simulation, name, goal, self._over(over), **searching)

    def allocate(
        self, constraints: Constraints, **options: Unpack[AllocationOptions]
    ) -> Allocation:
        """Find the cheapest tolerances that satisfy constraints on statistics.

        Tolerances that can be chosen are declared with `Mechanism.tolerance`, with bounds and a
        cost. The objectives of the problem are not used.

        Args:
            constraints: comparisons of statistics, such as `vm.std(f) <= 0.1` or
                `vm.probability(f <= 1) >= 0.999`, and of objectives at the nominal values, alone,
                in a list or by name.
            over: parameters whose nominal values may change, too; none if not given.
            bounds, start: of these, as for `optimize`.
            tolerances: parameters whose tolerances are chosen; all that have one with a cost if not
                given.
            distributions, correlation: of other random parameters, as for `moments`.
            statistics, order, samples, degree: as for `optimize`.
            grades: True for tolerances in grades of ISO 286-1, or the names of the parameters whose
                tolerances come in grades; any tolerance within its bounds if not given.
            correct: whether a target is moved, and the search repeated, where independent samples
                show that the method of statistics is off; True if not given.
            verify: number of independent samples that verify the result; chosen if not given, False
                for none.
            solver, max_iterations, tolerance_optimality: as for `optimize`.
            seed: of samples; 0 if not given.

        Returns:
            An `Allocation`: `.tolerances`, `.cost`, `.saving`, `.tighten_first`, `.may_relax`,
            `.multipliers`, `.verification`, `.distributions`, `.table()`, `.to_csv()`, `.plot()`, …

        Raises:
            ModelError: for invalid input, such as a tolerance without a cost.
            InfeasibleError: if no tolerances reach the target, with how close they come.
            Interrupted: on Ctrl-C after an iteration or more; its `result` are the best tolerances
                up to then.
        """
        from .robust.allocate import allocate

        return allocate(self._simulation, constraints, options)

    def allocation_curve(
        self,
        targets: Sequence[Constraint],
        constraints: Constraints = (),
        **options: Unpack[AllocationOptions],
    ) -> AllocationCurve:
        """Cost against risk: the cheapest tolerances for several targets of one statistic.

        Args:
            targets: bounds of one statistic, such as `[vm.std(f) <= s for s in (0.1, 0.2)]`.
            constraints: further constraints, which apply to all targets.
            options: those of `allocate`.

        Returns:
            An `AllocationCurve`: `.cost`, `.equal_cost`, `.tolerance`, `.allocations`, `.plot()`, …

        Raises:
            ModelError: as `allocate` does.
            InfeasibleError: if no tolerances reach any of the targets.
            Interrupted: on Ctrl-C; its `result` is the curve up to then.
        """
        from .robust.allocation_curve import allocation_curve

        return allocation_curve(self._simulation, targets, constraints, options)

    def design_problem(
        self,
        over: Over = None,
        *,
        minimize: str | None = None,
        **options: Unpack[RobustDesignOptions],
    ) -> DesignProblem:
        """The design problem as plain functions of a vector, for any other optimiser.

        Args:
            over, minimize, constraints, bounds, start, method: as for `optimize`.
            distributions, correlation, statistics, order, samples, degree: as for `optimize`.

        Returns:
            A `DesignProblem`: `.fun(x)`, `.jac(x)`, `.hess(x)`, `.constraints(x)`,
            `.constraints_jac(x)`, `.constraint_bounds`, `.x0`, `.bounds`, `.names`.
        """
        from .optimization.design import design_problem
        from .robust.design import is_robust, robust_problem, split_statistics

        name, goal = self._goal(minimize)
        statistics, design = split_statistics(options)
        if is_robust(goal, options.get("constraints", ()), options):
            own = self._over(over)
            return robust_problem(self._simulation, name, goal, own, design, statistics)
        assert not isinstance(goal, DesignQuantity)
        return design_problem(self._simulation, name, goal, self._over(over), **design)

    def fit(self, measured: Measurements, over: Over = None, **options: Unpack[FitOptions]) -> Fit:
        """Fit parameter values to measured data by least squares, with confidence intervals. The
        objectives of the problem are not used.

        Results are stored at the sample times, so equal steps have to meet these.

        Args:
            measured: one or more of `vm.measurement(function, times, values, sigma=…)`, alone, in a
                list or by name.
            over: parameters to find; as for `optimize`.
            start, bounds, max_iterations, method: as for `optimize`.
            level: probability that a confidence interval contains the true value; 0.95 if not
                given.

        Returns:
            A `Fit`: `.parameters`, `.intervals`, `.covariance`, `.correlation`,
            `.residual_deviation`, `.chi2`, `.plot()`, …
        """
        from .identification.fitting import fit

        return fit(self._simulation, measured, self._over(over), **options)

    def experiment(
        self, sensors: Sensors, over: Over = None, **options: Unpack[ExperimentOptions]
    ) -> Experiment:
        """Find the sensors and the excitation that determine parameters best, by the Fisher
        information of exact sensitivities. The objectives of the problem are not used.

        Parameters have the values of the problem: the experiment is the best one near these.

        Args:
            sensors: one or more of `vm.sensor(function, times, sigma)`, alone, in a list or by
                name.
            over: parameters to determine; as for `optimize`, without those of `settings` and
                `tune`.
            choose: number of sensors to choose, each under one of the settings; all sensors
                together if not given, under each setting.
            settings: settings of the excitation to choose from, each parameter → value.
            tune: parameter of the excitation → (lower, upper), within which the best value is
                searched for.
            criterion: "D" (if not given): smallest volume of the confidence region; "A": smallest
                sum of variances, relative to the values of the parameters.
            narrow: a parameter whose variance alone is to be small, in place of the criterion.
            prior: what is known before, as for `Fit.posterior`.

        Returns:
            An `Experiment`: `.best`, `.sensors`, `.settings`, `.std`, `.efficiency`, `.table()`,
            `.plot()`, …

        Raises:
            ModelError: for invalid input, and if no choice determines the parameters.
        """
        from .identification.experiment import experiment

        return experiment(self._simulation, sensors, self._over(over), **options)

    def _differentiated(self) -> list[int]:
        return self._simulation.solvers.indices(None) if self._indices is None else self._indices

    def _over(self, over: Over) -> Over:
        return self.wrt if over is None else over

    @property
    def _small_motions(self) -> StabilityObjectives:
        """Objectives that are computed from eigenvalues."""
        from .analyses.stability import StabilityObjectives

        solvers = self._simulation.solvers
        return StabilityObjectives(solvers, of_small_motions(self.objectives))

    def _of_runs(self, analysis: str) -> dict[str, Objective]:
        """Return the objectives; refuse any that is not evaluated on a run."""
        self._check_of_runs(analysis)
        for name in of_small_motions(self.objectives):
            remedy: Text = "state the other objectives in a problem of their own"
            if analysis in ("moments", "monte_carlo", "openturns"):
                remedy = Message("use {} with {order}", Call("moments"), order=1)
            raise ModelError(
                f"objective {name!r} is one of small motions, with a value and first derivatives"
                " only, and no run",
                element=analysis,
                remedy=remedy,
            )
        return of_runs(self.objectives)

    def _check_of_runs(self, analysis: str) -> None:
        """Refuse statistics, which are objectives of designs, not of runs."""
        for name, objective in self.objectives.items():
            if isinstance(objective, DesignQuantity):
                raise ModelError(
                    f"objective {name!r} is a statistic over random parameters, not one of a run",
                    element=analysis,
                    remedy=Message(
                        "use {} or {}, or state objectives of runs in a problem of their own",
                        Call("statistics"),
                        Call("optimize"),
                    ),
                )

    def _some(self, analysis: str) -> dict[str, Objective]:
        """Return the objectives; refuse none at all, and any that is not evaluated on a run."""
        self._check_some(analysis)
        return self._of_runs(analysis)

    def _check_some(self, analysis: str) -> None:
        if not self.objectives:
            remedy = "give at least one objective, such as varimech.final(lambda s: s.angle('rod'))"
            raise ModelError("there is no objective", element=analysis, remedy=remedy)

    def _goal(self, minimize: str | None) -> tuple[str, Target]:
        """Return the objective to minimise, with its name."""
        if minimize is None and len(self.objectives) != 1:
            problem = f"takes one objective, not {len(self.objectives)}"
            remedy = (
                "name it with minimize=, add them with weights, or bound all but one by constraints"
            )
            raise ModelError(problem, element="optimize", remedy=remedy)
        name = next(iter(self.objectives)) if minimize is None else minimize
        if name not in self.objectives:
            raise unknown_name("objective", name, self.objectives)
        return name, self.objectives[name]

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(label) for label, _ in rows)
        lines = [f"{label:<{width}}  {text}" for label, text in rows]
        return "\n".join([f"<Problem of {self._simulation.name!r}>", *lines])

    def _display(self) -> str:
        return html_heading(f"Problem of {self._simulation.name}") + html_table(
            ["", ""], self._rows()
        )

    def _rows(self) -> list[tuple[str, str]]:
        """Rows of the display of the problem, each with its label."""
        s = self._simulation
        step, tolerance = s.schedule.step, s.schedule.tolerance
        steps = f"tolerance {tolerance:g}" if tolerance else f"{s.schedule.steps} steps"
        given = s.given or {}
        units = [f"{name} ({o.unit})" if o.unit else name for name, o in self.objectives.items()]
        rows = [
            ("objectives", ", ".join(units) or "none"),
            ("wrt", "all parameters" if self.wrt is None else ", ".join(self.wrt)),
            ("duration", f"{s.duration:g} s, {steps}" + (f" of {step:g} s" if step else "")),
            ("method", self.method),
            ("parameters", ", ".join(f"{name} = {value}" for name, value in given.items())),
            ("backend", s.backend),
        ]
        return [(label, text) for label, text in rows if text]


def stated(
    solvers: ModelSolvers,
    objectives: Goals,
    wrt: Wrt,
    duration: float,
    parameters: Values | None,
    options: RunOptions,
) -> Problem:
    """Check all components of a problem, and create it.

    Raises:
        ModelError: for invalid objectives, parameters, values or options.
    """
    s = simulation(solvers, duration, parameters, options)
    named = named_goals(objectives)
    if of_small_motions(named):
        from .analyses.stability import with_unit

        named = {
            n: with_unit(solvers, g) if isinstance(g, StabilityObjective) else g
            for n, g in named.items()
        }
    return Problem(named, None if wrt is None else solvers.indices(wrt), s)
