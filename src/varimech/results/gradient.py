"""Result of a sensitivity analysis: objectives and their gradient, at the end of the run and over
time, and the differentiated run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..coordinates.redundancy import not_unique
from ..core.errors import ModelError
from ..core.messages import PYTHON, PythonSyntax
from ..plotting.bars import bar_figure
from ..plotting.figure import Line, Panel, line_figure, picture
from ..plotting.style import in_style
from ..sensitivity.objective import Objective, functions_of
from .labels import along_time, table_text
from .result import Derivatives, Description

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from .certificate import Certificate

    Certifier = Callable[
        ["Gradient", Sequence[float] | None, float, ArrayLike, bool | None], Certificate
    ]


@dataclass(frozen=True, repr=False)
class Gradient(Derivatives):
    """Objectives ψ and their derivatives with respect to parameters, labelled.

    `method` names the derivative method; `sweep` has, for differences, the estimates for all
    perturbations tried. `final_values` and `final_gradient` are ψ and dψ/dρ at the end of the run as
    plain arrays. Both over time, and the outputs of `run` with their derivatives, come from a
    second run over the same steps when they are first requested (direct and adjoint methods).
    Complex steps give derivatives at the end of the run only: `gradient_history` has that row
    alone, and `history` is not a number before. `certify()` estimates the trustworthy digits.
    """

    final_values: np.ndarray
    """ψ at the end of the run: (objective,)."""
    final_gradient: np.ndarray
    """dψ/dρ at the end of the run: (objective, parameter)."""
    sweep: xr.DataArray | None = None
    repeat: Callable[..., Gradient] | None = field(default=None, repr=False, compare=False)
    """Repeat the analysis with other arguments of `Mechanism.sensitivity`:
    `repeat(method="finite-difference")`.
    """
    objectives: Mapping[str, Objective] = field(default_factory=dict, repr=False, compare=False)
    """The differentiated objectives."""
    certifier: Certifier | None = field(default=None, repr=False, compare=False)
    """The function that certifies it: `certification.certify`, which analyses pass on."""
    small_motions: tuple[str, ...] = ()
    """Objectives of small motions; they come last, and are constant over time."""

    @property
    def values(self) -> xr.DataArray:
        """ψ at the end of the run, by objective."""
        import xarray as xr

        return xr.DataArray(self.final_values, self._coords(), ("objective",), "value")

    @property
    def gradient(self) -> xr.DataArray:
        """dψ/dρ at the end of the run, by objective and parameter."""
        import xarray as xr

        dims = ("objective", "parameter")
        return xr.DataArray(self.final_gradient, self._coords("parameter"), dims, "gradient")

    @property
    def time(self) -> np.ndarray:
        """Output times (s)."""
        return self.run.time

    @property
    def value_history(self) -> np.ndarray:
        """ψ over time, as if the run ended then: (time, objective)."""
        values = self.run.live.trajectory.objectives
        return np.hstack([values, self._constant(self.final_values, len(values))])

    @property
    def gradient_history(self) -> np.ndarray:
        """dψ/dρ over time, as if the run ended then: (time, objective, parameter)."""
        gradients = self.run.live.derivatives.gradients
        assert gradients is not None
        constant = self._constant(self.final_gradient, len(gradients))
        return np.concatenate([gradients, constant], axis=1)

    def _constant(self, final: np.ndarray, times: int) -> np.ndarray:
        """Repeat the final values of objectives of small motions at that many times."""
        own = final[len(final) - len(self.small_motions) :]
        return np.broadcast_to(own, (times, *own.shape))

    @cached_property
    def history(self) -> xr.Dataset:
        """ψ and dψ/dρ over time: their values if the run ended at each time."""
        import xarray as xr

        unknown = self.time.size - len(self.gradient_history)
        gradient = np.pad(
            self.gradient_history, ((unknown, 0), (0, 0), (0, 0)), constant_values=np.nan
        )
        return xr.Dataset(
            {
                "value": (("time", "objective"), self.value_history),
                "gradient": (("time", "objective", "parameter"), gradient),
            },
            coords={**along_time(self.time), **self._coords("parameter")},
            attrs=self._attrs,
        )

    @property
    def dataset(self) -> xr.Dataset:
        """`history`."""
        return self.history

    def certify(
        self,
        *,
        relative_steps: Sequence[float] | None = None,
        wanted: float = 3.0,
        sizes: ArrayLike = 0.0,
        progress: bool | None = None,
    ) -> Certificate:
        """Determine how many digits of the gradient at the end of the run can be trusted, and
        what limits them.

        Recompute the gradient with every available method (direct, adjoint, complex step, a sweep
        of central differences) and with refined steps, and check the motion for chaos, singular
        positions and forces that are not smooth.

        Args:
            relative_steps: perturbations of the sweep, relative to each parameter; 1e-1, 1e-2, …
                1e-12 if not given.
            wanted: digits from which on a gradient counts as trusted.
            sizes: of derivatives that matter, one for all or (objective, parameter): smaller ones
                are measured by them. At an optimum derivatives vanish, and a zero has no relative
                accuracy.
            progress: show a progress bar if it takes long; on a terminal if not given.

        Returns:
            A `Certificate`: `print` it; `.trusted`, `.digits`, `.table()`, `.findings`, `.plot()`,
            `.save("file.json")`.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m")
        >>> origin = m.ground_point("O", (0, 0))
        >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
        >>> joint = m.revolute("O")
        >>> m.start(angle={"rod": -1.0})
        >>> height = vm.final(lambda s: s.position("tip")[1], unit="m")
        >>> m.sensitivity(height, "L", duration=0.5, tolerance=1e-8).certify().trusted
        True
        """
        if self.certifier is None:
            remedy = "certify it in the session that computed it"
            raise ModelError("has no mechanism any more", element="this gradient", remedy=remedy)
        for name in self.small_motions:
            raise ModelError(
                f"objective {name!r} is one of small motions, and certificates are of runs",
                element="certify",
                remedy="certify the other objectives in a problem of their own",
            )
        return self.certifier(self, relative_steps, wanted, sizes, progress)

    def to_dataframe(self) -> pd.DataFrame:
        """The gradient at the end of the run as a table.

        Returns:
            A row for each objective, a column for each parameter.
        """
        import pandas as pd

        names = [
            pd.Index(n, name=k)
            for n, k in ((self.objective_names, "objective"), (self.parameter_names, "parameter"))
        ]
        return pd.DataFrame(self.final_gradient, index=names[0], columns=names[1])

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot dψ/dρ over time.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure with a panel for each objective and a line for each parameter.

        Raises:
            ModelError: if the method gives the gradient at the end only.
        """
        if len(self.gradient_history) < self.time.size:
            problem = "gives the gradient at the end of the run only"
            remedy = "over time it needs method='direct'"
            raise ModelError(problem, field="method", value=self.method, remedy=remedy)
        panels = []
        for k, objective in enumerate(self.objective_names):
            lines = [
                Line(name, self.time, self.gradient_history[:, k, i])
                for i, name in enumerate(self.parameter_names)
            ]
            panels.append(Panel(f"d{objective}/dρ", lines))
        return line_figure(
            panels,
            title="" if style else f"{self.run.info['mechanism']}: gradient ({self.method})",
            style=style,
        )

    def bars(self, *, style: str | None = None) -> Figure:
        """Plot ρ dψ/dρ at the end of the run: the effect of changing each parameter by its own
        value.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure with a panel for each objective, the largest parameter first.
        """
        values = self.run.info["parameters"]
        scaled = self.final_gradient * np.array([values[name] for name in self.parameter_names])
        units = [f" ({u})" if u else "" for u in self.units]
        panels = {
            f"ρ d{n if n.isidentifier() else f'({n})'}/dρ{u}": row
            for n, u, row in zip(self.objective_names, units, scaled, strict=True)
        }
        figure = bar_figure(
            panels,
            self.parameter_names,
            title=f"{self.run.info['mechanism']}: gradient ({self.method})",
        )
        return in_style(figure, style)

    def _described(self) -> Description:
        head = [
            f"dψ/d {n} ({u})" if u else f"dψ/d {n}"
            for n, u in zip(self.parameter_names, self.parameter_units, strict=True)
        ]
        columns = (
            self.objective_names,
            self.final_values,
            self.units,
            self.final_gradient,
        )
        rows = [[n, v, u, *g] for n, v, u, g in zip(*columns, strict=True)]
        title = f"Gradient of {self.run.info['mechanism']!r}, {self.method}"
        return Description(
            title,
            tables=[(["objective ψ", "value", "unit", *head], rows)],
            notes=[note for note in (self._idle, self._shares) if note],
        )

    def _display(self) -> str:
        return self._described().html() + picture(self.bars())

    @property
    def _idle(self) -> str:
        """A note on parameters without any effect, which the user may have forgotten to use in the
        model.
        """
        zero = (self.final_gradient == 0).all(axis=0)
        names = [repr(name) for name, idle in zip(self.parameter_names, zero, strict=True) if idle]
        return (
            f"exactly zero: derivatives with respect to {', '.join(names)}"
            if names and self.objective_names
            else ""
        )

    @property
    def not_unique(self) -> tuple[str, ...]:
        """Objectives that depend on the shares of redundant constraints in a load;
        `run.redundant_reactions` names the joints.
        """
        if not self.run.is_live:
            return ()
        return tuple(
            name
            for name, o in self.objectives.items()
            if self.run.live.depends_on_shares(*functions_of(o))
        )

    @property
    def _shares(self) -> str:
        return not_unique(map(repr, self.not_unique), self.run.redundant_reactions)

    def text(self, syntax: PythonSyntax = PYTHON) -> str:
        """Text that `print` shows."""
        d = self._described()
        return "\n".join([f"<{d.title}>", table_text(self.to_dataframe()), *map(str, d.notes)])
