"""Every measure of a run by name, as a labelled array with its unit; derivatives likewise where it
was differentiated.

Measures are computed from stored states when asked for, or looked up in what was read from a file.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..coordinates.redundancy import LOADS, RedundantReactionWarning, not_unique
from ..core.errors import ModelError, unknown_name
from ..core.names import Named
from ..core.symbols import SX
from ..model.driver import Driver
from ..model.joint import Joint
from ..sensitivity.objective import StateFunction, checked_callable
from .catalog import ENERGIES, MEASURES, names_of
from .labels import BEAM_PARTS, along_time, labels_along, shape_of, with_units
from .live_run import LiveRun
from .plan import drawing_plan, point_aliases
from .result import Result

if TYPE_CHECKING:
    import xarray as xr


class NamedOutputs(Result):
    """What a run is asked for, one name at a time."""

    def __init__(
        self, live: LiveRun | None, info: dict[str, Any], dataset: xr.Dataset | None = None
    ):
        self._live = live
        self._dataset = dataset
        self._info = info

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, method, step (or the shortest and the longest chosen), residuals, iterations,
        times taken, versions; and of a run that was interrupted, when it `stopped` and its whole
        duration (s).
        """
        return self._info

    @property
    def live(self) -> LiveRun:
        """The trajectory with its equations; only of a run of this session."""
        if self._live is None:
            raise ModelError(
                "a run read from a file has only its saved measures; run the mechanism again for"
                " new ones"
            )
        return self._live

    @property
    def is_live(self) -> bool:
        """Whether it is of this session: with its mechanism at hand, and not read from a file."""
        return self._live is not None

    @property
    def time(self) -> np.ndarray:
        """Stored times (s)."""
        return (
            self._live.trajectory.time
            if self._live is not None
            else self.dataset["time"].to_numpy()
        )

    @property
    def step_ends(self) -> np.ndarray | None:
        """Ends of the time steps taken, from 0 on (s); None for a run that was read from a file, or
        whose integrator does not tell them.
        """
        if self._live is None or self._live.trajectory.steps is not None:
            return None
        return self._live.trajectory.step_ends

    @property
    def parameter_names(self) -> list[str]:
        """Parameters that the run was differentiated for."""
        if self._live is not None:
            return (
                self._live.parameter_names
                if self._live.trajectory.sensitivities is not None
                else []
            )
        return self._coordinate("parameter")

    def position(self, point: str, *, wrt: Any = None) -> xr.DataArray:
        """Position of a point (m)."""
        return self._measure("position", point, wrt)

    def velocity(self, point: str, *, wrt: Any = None) -> xr.DataArray:
        """Velocity of a point (m/s)."""
        return self._measure("velocity", point, wrt)

    def acceleration(self, point: str, *, wrt: Any = None) -> xr.DataArray:
        """Acceleration of a point (m/s²)."""
        return self._measure("acceleration", point, wrt)

    def angle(self, name: str, *, wrt: Any = None) -> xr.DataArray:
        """Angle of a planar body or of a joint (rad), without jumps, from the value given at the
        start or else one in (−π, π].

        Whole turns between two stored results are told from the rates at both: store often enough
        that these hardly change between them.
        """
        return self._measure("angle", name, wrt)

    def angular_velocity(self, name: str, *, wrt: Any = None) -> xr.DataArray:
        """Angular velocity of a body, or rate of a joint's angle (rad/s)."""
        return self._measure(
            "body_angular_velocity" if self._turns_in_space(name) else "angular_velocity", name, wrt
        )

    def angular_acceleration(self, name: str, *, wrt: Any = None) -> xr.DataArray:
        """Angular acceleration of a body or of a joint's angle (rad/s²)."""
        return self._measure(
            "body_angular_acceleration" if self._turns_in_space(name) else "angular_acceleration",
            name,
            wrt,
        )

    def displacement(self, joint: str, *, wrt: Any = None) -> xr.DataArray:
        """Displacement along a joint that slides (m)."""
        return self._measure("displacement", joint, wrt)

    def displacement_rate(self, joint: str, *, wrt: Any = None) -> xr.DataArray:
        """Rate of the displacement along a joint that slides (m/s)."""
        return self._measure("displacement_rate", joint, wrt)

    def rotation(self, body: str, *, wrt: Any = None) -> xr.DataArray:
        """Rotation matrix of a body."""
        return self._measure("rotation", body, wrt)

    def reaction(self, joint: str, *, wrt: Any = None) -> xr.DataArray:
        """Force of a joint on its second body (N)."""
        return self._load("reaction", joint, wrt)

    def reaction_torque(self, joint: str, *, wrt: Any = None) -> xr.DataArray:
        """Torque of a joint on its second body about the joint's point (N·m)."""
        return self._load("reaction_torque", joint, wrt)

    def effort(self, driver: str, *, wrt: Any = None) -> xr.DataArray:
        """Force or torque of a driver, or torque of a gear along its second angle (N or N·m)."""
        return self._load("effort", driver, wrt)

    def multiplier(self, constraint: str, *, wrt: Any = None) -> xr.DataArray:
        """Lagrange multiplier of a constraint of the equations."""
        array = self._measure("multiplier", constraint, wrt)
        if self._live is not None and self._live.depends_on_shares(
            lambda s: s.multiplier(constraint)
        ):
            _warn(
                f"multiplier of {constraint!r}",
                self.redundant_reactions
                or "Its constraints depend on each other in these coordinates",
            )
        return array

    def axial_force(self, beam: str, *, wrt: Any = None) -> xr.DataArray:
        """Tension in each segment of a beam (N)."""
        return self._measure("axial_force", beam, wrt)

    def bending_moment(self, beam: str, *, wrt: Any = None) -> xr.DataArray:
        """Bending moment at each node between the ends of a beam (N·m): positive where it bends to
        the left (plane), or its size (space).
        """
        return self._measure("bending_moment", beam, wrt)

    def energy(self, kind: str = "total", *, wrt: Any = None) -> xr.DataArray:
        """Kinetic, potential or total energy (J)."""
        if kind not in ENERGIES:
            raise unknown_name("kind of energy", kind, ENERGIES)
        return self._measure("energy", kind, wrt)

    def state(self, name: str, *, wrt: Any = None) -> xr.DataArray:
        """A state or coordinate that an element owns, in its unit."""
        return self._measure("state", name, wrt)

    def distance(self, first: str, second: str, *, wrt: Any = None) -> xr.DataArray:
        """Distance between two points (m)."""
        gap = self.position(second).drop_vars("point") - self.position(first).drop_vars("point")
        length = (
            ((gap**2).sum("component") ** 0.5)
            .assign_attrs(units="m")
            .rename(f"distance {first}–{second}")
        )
        if wrt is None:
            return length
        slope = self.position(second, wrt=wrt).drop_vars("point") - self.position(
            first, wrt=wrt
        ).drop_vars("point")
        return ((gap * slope).sum("component") / length).assign_attrs(
            units="(m) per parameter unit"
        )

    def measure(
        self,
        function: StateFunction | str,
        *,
        wrt: Any = None,
        name: str = "measure",
        unit: str = "",
    ) -> xr.DataArray:
        """Any function of the state, or the text of one, over time: a scalar or a vector. Only for
        a run of this session.
        """
        expression = self.live.expression(function, name)
        if self.live.depends_on_shares(checked_callable(function, "a measure")):
            _warn(f"measure {name!r}", self.redundant_reactions)
        return self._labelled(
            expression, name, ("component",) if expression.numel() > 1 else (), unit, wrt
        )

    @property
    def redundant_reactions(self) -> str:
        """Joints and drivers that share loads by redundant constraints, with the components of
        their reactions that are not unique; empty where all reactions are unique.
        """
        if self._live is None:
            return str(self.info.get("redundant_reactions", {}).get("text", ""))
        return str(self._live.redundant_reactions) if self._live.redundant_reactions else ""

    @property
    def dataset(self) -> xr.Dataset:
        """All named measures (and their derivatives, as `…_wrt`) in one xarray Dataset."""
        if self._dataset is None:
            self._dataset = self._collect()
        return self._dataset

    def names_of(self, of: str) -> list[str]:
        """All names of things that a measure can be of."""
        if self._live is not None:
            return names_of(self._live.equations)[of]
        return self._coordinate(of)

    @property
    def drawing_plan(self) -> dict[str, Any]:
        """What a drawing shows, by names of points: `results/plan.py` tells what is in it; runs
        saved earlier have less.
        """
        return (
            drawing_plan(self._live.equations.model)
            if self._live is not None
            else self.info["drawing"]
        )

    def unit_of(self, kind: str, names: list[str]) -> str:
        """Of a measure; drivers make forces or torques, states have units of their own."""
        by_name = {"effort": "efforts", "state": "states"}
        known = self.drawing_plan.get(by_name[kind], {}) if kind in by_name else {}
        units = {known.get(name) for name in names} if kind in by_name else set()
        return next(iter(units)) or MEASURES[kind].unit if len(units) == 1 else MEASURES[kind].unit

    def _measure(self, kind: str, name: str, wrt: Any) -> xr.DataArray:
        what = MEASURES[kind]
        if not isinstance(name, (str, Named)):
            raise ModelError(
                f"{kind}: {name!r} is not a name; several are plotted by run.plot({kind}=[…]), and"
                " run.dataset has all"
            )
        if isinstance(name, (Joint, Driver)):
            name = name.name
        if self._live is not None:
            e = self._live.equations
            array = self._labelled(
                what.get(e.state, name), kind, what.dims, self.unit_of(kind, [name]), wrt
            )
            if kind == "angle" and wrt is None:
                array = array.copy(data=self._live.angles([name])[:, 0])
            return array.assign_coords(
                {what.of: e.model.find_point(name).label if what.of == "point" else name}
            )
        key = kind if wrt is None else f"{kind}_wrt"
        label = self.info["aliases"].get(name, name) if what.of == "point" else name
        chosen = None if wrt is None else self._selected(wrt)
        if label not in self.names_of(what.of):
            known = [*self.names_of(what.of), *(self.info["aliases"] if what.of == "point" else ())]
            raise unknown_name(what.of, name, known)
        found = self.dataset[key].sel({what.of: label})
        for dim in what.dims:
            if dim in BEAM_PARTS:  # beams with fewer of them leave the rest of the table empty
                found = found.dropna(dim, how="all")
        return found if chosen is None else found.sel(parameter=chosen)

    def _load(self, kind: str, name: str, wrt: Any) -> xr.DataArray:
        """A measure whose components may not be unique: its attribute `not_unique` names them, and
        a warning who shares them.
        """
        array = self._measure(kind, name, wrt)
        name = str(array[MEASURES[kind].of].item())
        shared = self._shared_components(kind).get(name, "")
        if not shared:
            return array
        _warn(f"{kind} of {name!r}", self.redundant_reactions)
        return array.assign_attrs(not_unique=shared)

    def _shared_components(self, kind: str) -> dict[str, str]:
        """By joint or driver, the components of a load that are not unique."""
        if self._live is None:
            return dict(self.info.get("redundant_reactions", {}).get(kind, {}))
        loads = self._live.redundant_reactions
        return {
            name: c
            for group in loads.groups
            for name in group
            if (c := loads.components(kind, name))
        }

    def _labelled(
        self, expression: SX, name: str, dims: tuple[str, ...], unit: str, wrt: Any
    ) -> xr.DataArray:
        import xarray as xr

        assert self._live is not None
        shape, dims = shape_of(expression, dims)
        coords = along_time(self.time)
        coords |= {d: labels_along(d, n) for d, n in zip(dims, shape, strict=True)}
        if wrt is None:
            values = self._live.evaluate(expression)
            values = values.reshape(values.shape[0], *shape, order="F")
            return xr.DataArray(
                values, coords=coords, dims=["time", *dims], name=name, attrs={"units": unit}
            )
        chosen = self._selected(wrt)
        slopes = self._live.derivative(expression)
        slopes = slopes.reshape(slopes.shape[0], *shape, slopes.shape[2], order="F")
        parameters = self._live.equations.model.parameter_set.parameters
        coords |= with_units(
            "parameter", self.parameter_names, [parameters[n].unit for n in self.parameter_names]
        )
        attrs = {"units": f"({unit}) per parameter unit"}
        array = xr.DataArray(
            slopes,
            coords=coords,
            dims=["time", *dims, "parameter"],
            name=f"{name}_wrt",
            attrs=attrs,
        )
        return array.sel(parameter=chosen)

    def _selected(self, wrt: Any) -> Any:
        known = self.parameter_names
        if not known:
            raise ModelError(
                "this run was not differentiated along the way; get one from"
                " Mechanism.sensitivity(…, method='direct').run"
            )
        if isinstance(wrt, str) and wrt == "all":
            return known
        names = [getattr(n, "name", n) for n in (wrt if isinstance(wrt, (list, tuple)) else [wrt])]
        for n in names:
            if n not in known:
                raise unknown_name("parameter of this run", str(n), known)
        return names if isinstance(wrt, (list, tuple)) else names[0]

    def _turns_in_space(self, name: str) -> bool:
        return self.info["dimension"] == 3 and name in self.names_of("body")

    def _coordinate(self, dim: str) -> list[str]:
        return [str(n) for n in self.dataset[dim].to_numpy()] if dim in self.dataset.coords else []

    def _collect(self) -> xr.Dataset:
        import xarray as xr

        assert self._live is not None
        variables: dict[str, xr.DataArray] = {}
        for kind, what in MEASURES.items():
            names = (
                []
                if what.spatial_only and self._live.equations.model.dimension == 2
                else self.names_of(what.of)
            )
            for key, wrt in ((kind, None), (f"{kind}_wrt", "all")):
                if names and (wrt is None or self.parameter_names):
                    parts = [self._measure(kind, n, wrt).drop_vars(what.of) for n in names]
                    variables[key] = xr.concat(
                        parts, dim=xr.IndexVariable(what.of, names), join="outer"
                    ).transpose("time", ...)
                    unit = self.unit_of(kind, names)  # of all of them
                    variables[key].attrs["units"] = (
                        unit if wrt is None else f"({unit}) per parameter unit"
                    )
        if self.redundant_reactions:
            for kind in LOADS:
                for key in {kind, f"{kind}_wrt"} & {*variables}:
                    variables[key].attrs["note"] = self.redundant_reactions
        return xr.Dataset(variables)

    def _metadata(self) -> dict[str, Any]:
        """`info`, and what a run needs to be drawn and asked without its mechanism."""
        if self._live is None:
            return self.info
        model = self._live.equations.model
        info = {**self.info, "aliases": point_aliases(model), "drawing": drawing_plan(model)}
        if self.redundant_reactions:
            info["redundant_reactions"] = {
                "text": self.redundant_reactions,
                **{kind: self._shared_components(kind) for kind in LOADS},
            }
        return info


def _warn(what: str, shared: str) -> None:
    warnings.warn(RedundantReactionWarning(not_unique([what], shared)), stacklevel=4)
