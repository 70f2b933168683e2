"""The verbs of a mechanism whose parameters have spreads: `moments`, `monte_carlo`, `openturns`;
and `export`, for runs elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analyses.hessians import TwiceDifferentiable

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Unpack

    from ..schemes import RunOptions
    from ..sensitivity.objective import Objectives
    from .global_study import GlobalStudy
    from .moments import Moments
    from .monte_carlo import Target
    from .parameter_distributions import Correlation, Given
    from .study import Study


class Uncertain(TwiceDifferentiable):
    """What spreads of parameters make of results."""

    def moments(
        self,
        objectives: Objectives,
        spreads: Given | None = None,
        *,
        correlation: Correlation | None = None,
        duration: float,
        order: int = 2,
        accuracy: float = 0.1,
        parameters: Mapping[str, float] | None = None,
        **how: Unpack[RunOptions],
    ) -> Moments:
        """Mean and variance of objectives at every stored time, by exact derivatives at the means
        of the parameters.

        The history of `vm.final(f)` is f over time, so that means and bands of any measure follow.

        Args:
            objectives: one, a list, or a mapping from names.
            spreads: parameter → `vm.Tolerance` about its nominal value, a distribution with its
                numbers (of scipy.stats, or any object with ppf(p), mean() and var()), or None for
                one that does not vary; those that parameters carry themselves (`spread=`) where
                nothing else is given.
            correlation: {("a", "b"): 0.5}, or a matrix in the order of the parameters that vary;
                none if not given. Between parameters that are not normal it is that of the normal
                variables behind them (a Gaussian copula).
            duration: s.
            order: 1 (one run with first derivatives, two without) or 2 (also second derivatives, a
                run for each parameter that varies).
            accuracy: error of means and standard deviations, in standard deviations, up to which
                they count as good.
            parameters: values of parameters that do not vary, where they differ from the nominal
                ones.
            how: step, every, tolerance, output, … as for `simulate`; a hundred stored times where
                steps are chosen and nothing is said.

        Returns:
            `Moments`: `.mean`, `.variance`, `.std`, `.contributions`, `.horizon`, `.bands()`,
            `.table()`, `.plot()`, …

        Warns:
            HorizonWarning: if the run is longer than the moments hold.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m", spread=vm.Tolerance(0.01))
        >>> O = m.ground_point("O", (0, 0))
        >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
        >>> joint = m.revolute("O")
        >>> m.start(angle={"rod": -1.0})
        >>> found = m.moments({"angle": vm.final(lambda s: s.angle("rod"), unit="rad")}, duration=1.0)
        >>> f"{found.mean[-1].item():.4f} ± {3 * found.std[-1].item():.4f}"
        '-2.0376 ± 0.0062'
        """
        from .expanding import moments

        return moments(
            self,
            objectives,
            spreads,
            correlation,
            duration,
            order=order,
            accuracy=accuracy,
            parameters=parameters,
            how=how,
        )

    def monte_carlo(
        self,
        objectives: Objectives,
        spreads: Given | None = None,
        *,
        correlation: Correlation | None = None,
        duration: float,
        samples: int = 10_000,
        sampling: str = "random",
        seed: int = 0,
        executor: Any = None,
        control: bool = False,
        target: Target = None,
        keep: bool = False,
        allowed_failures: float = 0.05,
        checkpoint: str | os.PathLike[str] | None = None,
        chunk: int | None = None,
        parameters: Mapping[str, float] | None = None,
        **how: Unpack[RunOptions],
    ) -> Study:
        """Mean, variance, quantiles and histograms of objectives at every stored time, from many
        runs with parameters drawn at random.

        Memory does not grow with the number of samples unless they are kept. The same seed gives
        the same numbers, to the last bit, in threads and on a cluster, whatever their number.

        Args:
            objectives, spreads, correlation, duration, parameters: as for `moments`.
            samples: how many runs, at most.
            sampling: "random", "latin-hypercube" or "sobol" (scrambled Sobol sequences, 32 of them
                side by side; best with 32 times a power of two). The latter two fill the space of
                the parameters more evenly, and need fewer samples for smooth objectives.
            seed: of the random numbers.
            executor: how many threads; a `dask.distributed.Client`; or "cuda", a thread of the card
                a sample (small mechanisms; equal to the others within rounding). A thread on each
                core if not given.
            control: correct means by the first-order model, whose mean is known: fewer samples for
                the same error. Not used where samples failed.
            target: half of the 95 % confidence interval of the mean at the end of the run at which
                to stop, in the unit of the objective; one number, or {objective: number}. It is
                compared every 16 chunks (32 of hypercubes or sequences), of 256 samples at most.
            keep: keep all samples (`.samples`), in memory, or with a checkpoint in its folder.
            allowed_failures: share a of the samples that may fail, judged at the end; and from 50
                samples on, the study is given up early where of n samples more than a n + 3 √(a (1
                − a) n) failed.
            checkpoint: folder for the state of the study after every chunk. Where there is one, the
                study goes on from it: after a break, or with more samples.
            chunk: samples that are run and added up together; chosen by their number if not given,
                1024 for 100,000, 8192 at most.
            how: step, every, tolerance, output, … as for `simulate`; a hundred stored times where
                steps are chosen and nothing is said.

        Returns:
            A `Study`: `.mean`, `.variance`, `.std`, `.interval()`, `.quantile(0.95)`,
            `.histogram()`, `.failures`, `.table()`, `.plot()`, …

        Raises:
            StudyError: if too many samples fail; what was found up to then is its `study`.
            Interrupted: on Ctrl-C; the study of the samples up to then is its `result`, and a
                checkpoint goes on from there.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m", spread=vm.Tolerance(0.01))
        >>> O = m.ground_point("O", (0, 0))
        >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
        >>> joint = m.revolute("O")
        >>> m.start(angle={"rod": -1.0})
        >>> angle = vm.final(lambda s: s.angle("rod"), unit="rad")
        >>> study = m.monte_carlo({"angle": angle}, duration=1.0, samples=256, sampling="sobol")
        >>> f"{study.mean[-1].item():.4f} ± {3 * study.std[-1].item():.3f}"
        '-2.0376 ± 0.006'
        """
        from .monte_carlo import monte_carlo

        return monte_carlo(
            self,
            objectives,
            spreads,
            correlation,
            duration,
            samples=samples,
            sampling=sampling,
            seed=seed,
            chunk=chunk,
            executor=executor,
            control=control,
            target=target,
            keep=keep,
            allowed_failures=allowed_failures,
            checkpoint=checkpoint,
            parameters=parameters,
            how=how,
        )

    def openturns(
        self,
        objectives: Objectives,
        spreads: Given | None = None,
        *,
        correlation: Correlation | None = None,
        duration: float,
        parameters: Mapping[str, float] | None = None,
        **how: Unpack[RunOptions],
    ) -> GlobalStudy:
        """The mechanism as a function of OpenTURNS, for global sensitivity and reliability; nothing
        is run yet.

        The function goes from the parameters that vary to the objectives at the end of the run,
        with exact gradients and Hessians, and takes many points at once over all cores. Needs `pip
        install 'varimech[uq]'`.

        Args:
            objectives, spreads, correlation, duration, parameters: as for `moments`.
            how: step, tolerance, integrator, … as for `simulate`.

        Returns:
            A `GlobalStudy`: `.chaos()` (polynomial chaos), `.sobol()` (Sobol indices),
            `.probability(ψ >= 3.0)` (FORM and SORM), and `.function` and `.distribution` for
            everything else that OpenTURNS has.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m", spread=vm.Tolerance(0.01))
        >>> O = m.ground_point("O", (0, 0))
        >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
        >>> joint = m.revolute("O")
        >>> m.start(angle={"rod": -1.0})
        >>> angle = vm.final(lambda s: s.angle("rod"), unit="rad")
        >>> found = m.openturns(angle, duration=1.0).probability(angle >= -2.03)
        >>> f"{found.form:.3g}"
        '0.000151'
        """
        from .global_study import global_study

        return global_study(
            self, objectives, spreads, correlation, duration, parameters=parameters, how=how
        )

    def export(
        self,
        folder: str | os.PathLike[str],
        objectives: Objectives,
        *,
        target: str = "cuda",
        duration: float,
        **how: Unpack[RunOptions],
    ) -> Path:
        """Write what carries out runs, many at once, on machines without Varimech.

        The folder gets the source of the program, a description (bundle.json) and a small runner:
        `python run.py` there checks the machine, `python run.py samples.csv results.csv` runs what
        a file asks for, and writes results at the end and which runs failed. Bounds of parameters,
        and what each has to follow by itself, are checked there; bundle.json lists what is not.

        Args:
            folder: where to; made if it is not there.
            objectives: as for `sensitivity`; at least one.
            target: "cuda" (a kernel with a thread a run; needs numpy and cupy there) or "c" (needs
                numpy and a C compiler).
            duration: s.
            how: step, every, tolerance, output, … as for `simulate`; where neither `every` nor
                `output` is given, objectives at the start and at the end only are stored.

        Returns:
            The folder.
        """
        from .export import export

        return export(self, folder, objectives, target, duration, how)
