"""What can be said of a mechanism that does not move: its freedoms and its topology, where it comes
to rest, and how it vibrates there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..backends.trajectory import Trajectory
from ..core.errors import ModelError
from ..model.joint import Joint
from ..results.live_run import LiveRun
from ..results.run import Run
from ..schemes import choose
from .solved import Solved, Wrt, seconds_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from ..results.topology import Topology
    from ..solving.solver import Solver


class AtRest(Solved):
    """The verbs that need no time."""

    @property
    def _usual_solver(self) -> Solver:
        """The one that is chosen where nothing is said."""
        return self._solver(choose(1.0)[0])

    @property
    def dofs(self) -> int:
        """Number of freedoms at the start, drivers not counted."""
        return self._usual_solver.start.dofs

    def topology(self, cut: Iterable[str | Joint] = ()) -> Topology:
        """Which bodies hang on which by which joints, where closed loops are cut, and what that
        leaves to be solved for.

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
        from ..results.topology import (
            topology_of,
        )  # with relative coordinates, which others need not load

        return topology_of(self.data, cut)

    def draw(
        self,
        *,
        parameters: Mapping[str, float] | None = None,
        title: str | None = None,
        style: str | None = None,
    ) -> Figure:
        """A drawing of the mechanism at its start; `style="paper"` makes it fit for a paper.

        Raises:
            AssemblyError: if the mechanism does not close there.
        """
        ρ, solver = self.data.parameter_set.values(parameters), self._usual_solver
        solver.start.check_closure(ρ)
        q, e = solver.start.assemble(ρ), solver.equations
        state = np.concatenate([q, np.zeros(e.packed.numel() - q.size)])[None]
        trajectory = Trajectory(np.zeros(1), state, np.zeros((1, 0)), np.zeros(3), 0, np.zeros(1))
        run = Run(LiveRun(e, trajectory, ρ, []), self._info("start", trajectory, ρ, {}))
        return run.draw(title=self.name if title is None and style is None else title, style=style)

    def equilibrium(
        self,
        wrt: Wrt = None,
        *,
        parameters: Mapping[str, float] | None = None,
    ) -> Run:
        """Where the mechanism comes to rest under forces as they are at t = 0: the stable
        equilibrium that lies downhill of its start.

        Args:
            wrt: parameters to differentiate for ("all" for all of them); none if not given.
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
        began = time.perf_counter()
        ρ, solver = self.data.parameter_set.values(parameters), self._usual_solver
        indices = None if wrt is None else self._chosen(wrt)
        found, e = solver.statics.equilibrium(ρ, indices), solver.equations
        n, still = e.q.numel(), np.zeros(2 * e.q.numel())
        slopes = None
        if found.slopes is not None:
            slopes = np.vstack(
                [found.slopes[:n], np.zeros((2 * n, len(indices or []))), found.slopes[n:]]
            )[None]
        state = np.concatenate([found.q, still, found.λ])[None]
        none = np.zeros((1, 0))
        trajectory = Trajectory(
            np.zeros(1),
            state,
            none,
            np.array([found.residual, 0, 0]),
            found.iterations,
            np.zeros(1),
            sensitivities=slopes,
        )
        info = self._info("equilibrium, natural coordinates", trajectory, ρ, seconds_of(began, 0.0))
        return Run(LiveRun(e, trajectory, ρ, indices or []), info)

    def frequencies(
        self, count: int = 6, *, parameters: Mapping[str, float] | None = None
    ) -> xr.DataArray:
        """Natural frequencies (Hz) of the slowest small vibrations about the equilibrium, without
        damping.

        Zero for motions without stiffness; NaN for vibrations that grow, as forces without
        potential (those that turn with a body) can do.

        Args:
            count: how many.
            parameters: values that differ from the nominal ones.

        Raises:
            ModelError: if a driver moves the mechanism, or a speed at its start does and nothing
                resists it.
            VarimechError: if no stable equilibrium is found.
        """
        import xarray as xr

        if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
            raise ModelError(f"frequencies: count = {count!r} must be a whole number, 1 or more")
        ω = self._usual_solver.statics.frequencies(
            self.data.parameter_set.values(parameters), int(count)
        )
        modes = np.arange(1, ω.size + 1)
        return xr.DataArray(
            ω / (2 * np.pi),
            coords={"mode": modes},
            dims=["mode"],
            name="frequency",
            attrs={"units": "Hz"},
        )
