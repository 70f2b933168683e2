"""The verbs of a mechanism whose parameters have spreads: `moments`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..derivatives import Derivatives

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from ..methods import RunOptions
    from ..sensitivity.objective import Objectives
    from .moments import Moments
    from .spreads import Correlation, Given


class Uncertain(Derivatives):
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
        """Mean and variance of objectives at every stored time, by exact derivatives at the means of the parameters.

        The history of `vm.final(f)` is f over time, so that means and bands of any measure follow.

        Args:
            objectives: one, a list, or a mapping from names.
            spreads: parameter → `vm.Tolerance` about its nominal value, a frozen distribution of scipy.stats, or None for one that does not
                vary; those that parameters carry themselves (`spread=`) where nothing else is given.
            correlation: {("a", "b"): 0.5}, or a matrix in the order of the parameters that vary; none if not given. Between parameters that
                are not normal it is that of the normal variables behind them (a Gaussian copula).
            duration: s.
            order: 1 (one run with first derivatives, two without) or 2 (also second derivatives, a run for each parameter that varies).
            accuracy: error of means and standard deviations, in standard deviations, up to which they count as good.
            parameters: values of parameters that do not vary, where they differ from the nominal ones.
            how: step, every, tolerance, output, … as for `simulate`; a hundred stored times where steps are chosen and nothing is said.

        Returns:
            `Moments`: `.mean`, `.variance`, `.std`, `.contributions`, `.horizon`, `.bands()`, `.table()`, `.plot()`, …

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
