"""Every output of a run by name, as a labelled array with its unit; its derivatives likewise if the
run was differentiated.

Outputs are computed from stored states when they are requested, or looked up in the data read from
a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..coordinates.redundancy import LOADS, RedundantReactionWarning, not_unique
from ..core.caller_warnings import warn_caller
from ..core.errors import ModelError, unknown_name
from ..core.names import Named
from ..core.symbols import SX
from ..model.driver import Driver
from ..model.joint import Joint
from ..sensitivity.objective import StateFunction, checked_callable
from .catalog import ENERGIES, OUTPUTS, names_of
from .labels import (
    BEAM_PARTS,
    Wrt,
    along_time,
    derivative_units,
    labels_along,
    shape_of,
    with_units,
)
from .live_run import LiveRun
from .plan import drawing_plan, point_aliases
from .result import Result

if TYPE_CHECKING:
    import xarray as xr


class NamedOutputs(Result):
    """Named outputs of a run."""

    def __init__(
        self, live: LiveRun | None, info: dict[str, object], dataset: xr.Dataset | None = None
    ):
        self._live = live
        self._dataset = dataset
        self._info = info

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, method, step (or the shortest and the longest adaptive step), residuals,
        iterations, computing times, versions; for a run that was interrupted, the time at which it
        `stopped` and its full duration (s).
        """
        return self._info

    @property
    def live(self) -> LiveRun:
        """The trajectory with its equations; only for a run of this session."""
        if self._live is None:
            raise ModelError(
                "a run read from a file has only its saved outputs",
                remedy="run the mechanism again for new ones",
            )
        return self._live

    @property
    def is_live(self) -> bool:
        """Whether the run belongs to this session, so that its mechanism is available, and was not
        read from a file.
        """
        return self._live is not None

    @property
    def time(self) -> np.ndarray:
        """Stored times (s)."""
        return self._live.time if self._live is not None else self.dataset["time"].to_numpy()

    @property
    def step_ends(self) -> np.ndarray | None:
        """Ends of the time steps taken, from 0 on (s); None for a run that was read from a file, or
        whose integrator does not report them.
        """
        if self._live is None or self._live.computed.steps is not None:
            return None
        return self._live.computed.step_ends

    @property
    def parameter_names(self) -> list[str]:
        """Parameters with respect to which the run was differentiated."""
        if self._live is not None:
            return self._live.parameter_names if self._live.differentiated else []
        return self._coordinate("parameter")

    def position(self, point: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Position of a point.

        Args:
            point: its name.
            wrt: parameters to differentiate for: a name, several, or "all"; none if not given.

        Returns:
            (time, component), m; with `wrt` derivatives, (time, component, parameter).
        """
        return self._output("position", point, wrt)

    def velocity(self, point: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Velocity of a point.

        Args:
            point: its name.
            wrt: as for `position`.

        Returns:
            (time, component[, parameter]), m/s.
        """
        return self._output("velocity", point, wrt)

    def acceleration(self, point: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Acceleration of a point.

        Args:
            point: its name.
            wrt: as for `position`.

        Returns:
            (time, component[, parameter]), m/s².
        """
        return self._output("acceleration", point, wrt)

    def angle(self, name: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Angle of a planar body or of a joint, without jumps.

        It begins with the given initial value, or else with a value in (−π, π]. Whole turns
        between two
        stored results follow from the rates at both: store often enough that these hardly change.

        Args:
            name: name of the body or joint.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), rad.
        """
        return self._output("angle", name, wrt)

    def angular_velocity(self, name: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Angular velocity of a body, or rate of a joint's angle.

        Args:
            name: name of the body or joint.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), rad/s; (time, component[, parameter]) for a body in space.
        """
        return self._output(
            "body_angular_velocity" if self._turns_in_space(name) else "angular_velocity", name, wrt
        )

    def angular_acceleration(self, name: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Angular acceleration of a body or of a joint's angle.

        Args:
            name: name of the body or joint.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), rad/s²; (time, component[, parameter]) for a body in space.
        """
        return self._output(
            "body_angular_acceleration" if self._turns_in_space(name) else "angular_acceleration",
            name,
            wrt,
        )

    def displacement(self, joint: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Displacement along a sliding joint.

        Args:
            joint: its name.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), m.
        """
        return self._output("displacement", joint, wrt)

    def displacement_rate(self, joint: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Rate of the displacement along a sliding joint.

        Args:
            joint: its name.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), m/s.
        """
        return self._output("displacement_rate", joint, wrt)

    def deviation(self, joint: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Offset of the pin in its bore, or of the block across its slot, of a joint with clearance.

        Args:
            joint: its name.
            wrt: as for `position`.

        Returns:
            (time, component[, parameter]) in the frame of the joint's first body, m.
        """
        return self._output("deviation", joint, wrt)

    def rotation(self, body: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Rotation matrix of a body; its columns are the body's axes.

        Args:
            body: its name.
            wrt: as for `position`.

        Returns:
            (time, row, column[, parameter]).
        """
        return self._output("rotation", body, wrt)

    def reaction(self, joint: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Force of a joint on its second body, in global components.

        Args:
            joint: its name.
            wrt: as for `position`.

        Returns:
            (time, component[, parameter]), N.

        Warns:
            RedundantReactionWarning: if redundant constraints share the load.
        """
        return self._load("reaction", joint, wrt)

    def reaction_torque(self, joint: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Torque of a joint on its second body about the joint's point.

        Args:
            joint: its name.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), N·m; (time, component[, parameter]) in space.

        Warns:
            RedundantReactionWarning: if redundant constraints share the load.
        """
        return self._load("reaction_torque", joint, wrt)

    def effort(self, driver: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Force or torque of a driver, positive where it increases what it drives; torque of a gear
        along its second angle.

        Args:
            driver: name of the driver or gear.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), N or N·m.
        """
        return self._load("effort", driver, wrt)

    def multiplier(self, constraint: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Lagrange multiplier of a constraint of the equations.

        Args:
            constraint: its name in the equations, as in `names_of("constraint")`.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), J per unit of the constraint.
        """
        array = self._output("multiplier", constraint, wrt)
        if self._live is not None and self._live.depends_on_shares(
            lambda s: s.multiplier(constraint)
        ):
            _warn(
                f"multiplier of {constraint!r}",
                self.redundant_reactions
                or "Its constraints depend on each other in these coordinates",
            )
        return array

    def axial_force(self, beam: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Axial force in each segment of a beam; tension is positive.

        Args:
            beam: its name.
            wrt: as for `position`.

        Returns:
            (time, segment[, parameter]), N.
        """
        return self._output("axial_force", beam, wrt)

    def bending_moment(self, beam: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Bending moment at each node between the ends of a beam.

        Args:
            beam: its name.
            wrt: as for `position`.

        Returns:
            (time, node[, parameter]), N·m: positive where the beam bends to the left (plane), or
            the
            magnitude (space).
        """
        return self._output("bending_moment", beam, wrt)

    def energy(self, kind: str = "total", *, wrt: Wrt = None) -> xr.DataArray:
        """Energy of the mechanism, without that of compliant contacts.

        Args:
            kind: "kinetic", "potential" or "total".
            wrt: as for `position`.

        Returns:
            (time[, parameter]), J.
        """
        if kind not in ENERGIES:
            raise unknown_name("kind of energy", kind, ENERGIES)
        return self._output("energy", kind, wrt)

    def state(self, name: str, *, wrt: Wrt = None) -> xr.DataArray:
        """State or coordinate that an element owns.

        Args:
            name: its name.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), in its unit.
        """
        return self._output("state", name, wrt)

    def signal(self, name: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Output of a signal.

        Args:
            name: its name.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), in its unit.
        """
        return self._output("signal", name, wrt)

    def distance(self, first: str, second: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Distance between two points.

        Args:
            first: name of a point.
            second: name of another one.
            wrt: as for `position`.

        Returns:
            (time[, parameter]), m.
        """
        gap = self.position(second).drop_vars("point") - self.position(first).drop_vars("point")
        length = (
            ((gap**2).sum("component") ** 0.5)
            .assign_attrs(units="m")
            .rename(f"distance {first}–{second}")
        )
        if wrt is None:
            return length
        ends = [self.position(p, wrt=wrt).drop_vars("point") for p in (first, second)]
        change = (gap * (ends[1] - ends[0])).sum("component") / length
        return change.assign_attrs(derivative_units("m"))

    def measure(
        self,
        function: StateFunction | str,
        *,
        wrt: Wrt = None,
        name: str = "output",
        unit: str = "",
    ) -> xr.DataArray:
        """Evaluate a function of the state at all stored times; only for a run of this session.

        Args:
            function: a function of the state that returns a scalar or vector, or an expression as
                text.
            wrt: as for `position`.
            name: name of the array.
            unit: unit of the values.

        Returns:
            `(time[, component][, parameter])`.

        Raises:
            ModelError: if the run was read from a file, or the function cannot be evaluated.
        """
        expression = self.live.expression(function, name)
        if self.live.depends_on_shares(checked_callable(function, "an output")):
            _warn(f"output {name!r}", self.redundant_reactions)
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
        """All named outputs (and their derivatives, as `…_wrt`) in one xarray Dataset."""
        if self._dataset is None:
            self._dataset = self._collect()
        return self._dataset

    def names_of(self, of: str) -> list[str]:
        """Names of all objects that an output can belong to.

        Args:
            of: a dimension of `dataset`: "point", "turn", "slide", "clearance", "body", "joint",
                "driver", "beam", "constraint", "energy_kind", "state_name" or "block" (of signals).

        Returns:
            Their names.
        """
        if self._live is not None:
            return names_of(self._live.equations)[of]
        return self._coordinate(of)

    @property
    def drawing_plan(self) -> dict[str, Any]:
        """Contents of a drawing, by names of points, as described in `results/plan.py`; runs saved
        by earlier versions have less.
        """
        return (
            drawing_plan(self._live.equations.model)
            if self._live is not None
            else self.info["drawing"]
        )

    def unit_of(self, kind: str, names: list[str]) -> str:
        """Unit of an output; the units of efforts and states depend on the element.

        Args:
            kind: the output, such as "effort".
            names: of the objects; one unit must be common to all.

        Returns:
            The unit as text.
        """
        by_name = {"effort": "efforts", "state": "states", "signal": "signals"}
        stored_units = self.drawing_plan.get(by_name[kind], {}) if kind in by_name else {}
        units = {stored_units.get(name) for name in names} if kind in by_name else set()
        return next(iter(units)) or OUTPUTS[kind].unit if len(units) == 1 else OUTPUTS[kind].unit

    def _output(self, kind: str, name: str, wrt: Wrt) -> xr.DataArray:
        definition = OUTPUTS[kind]
        if not isinstance(name, (str, Named)):
            remedy = f"several are plotted by run.plot({kind}=[…]), and run.dataset has all"
            raise ModelError(f"{name!r} is not a name", element=kind, value=name, remedy=remedy)
        if isinstance(name, (Joint, Driver)):
            name = name.name
        if self._live is not None:
            e = self._live.equations
            expression, unit = definition.get(e.state, name), self.unit_of(kind, [name])
            label = e.model.find_point(name).label if definition.of == "point" else name
            array = self._labelled(
                expression, kind, definition.dims, unit, wrt, {definition.of: label}
            )
            if kind == "angle" and wrt is None:
                array = array.copy(data=self._live.angles([name])[:, 0])
            return array
        key = kind if wrt is None else f"{kind}_wrt"
        label = self.info["aliases"].get(name, name) if definition.of == "point" else name
        chosen = None if wrt is None else self._selected(wrt)
        if label not in self.names_of(definition.of):
            available = [
                *self.names_of(definition.of),
                *(self.info["aliases"] if definition.of == "point" else ()),
            ]
            raise unknown_name(definition.of, name, available)
        array = self.dataset[key].sel({definition.of: label})
        for dim in definition.dims:
            if dim in BEAM_PARTS:  # beams with fewer of them leave the rest of the table empty
                array = array.dropna(dim, how="all")
        return array if chosen is None else array.sel(parameter=chosen)

    def _load(self, kind: str, name: str, wrt: Wrt) -> xr.DataArray:
        """An output whose components may not be unique: its attribute `not_unique` names them, and
        a warning names the joints and drivers that share them.
        """
        array = self._output(kind, name, wrt)
        name = str(array[OUTPUTS[kind].of].item())
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
        self,
        expression: SX,
        name: str,
        dims: tuple[str, ...],
        unit: str,
        wrt: Wrt,
        labels: Mapping[str, str] = MappingProxyType({}),
    ) -> xr.DataArray:
        """Values of an expression with their coordinates. `labels` are scalar coordinates of the
        whole array: adding them to an existing array takes xarray several times as long.
        """
        import xarray as xr

        assert self._live is not None
        shape, dims = shape_of(expression, dims)
        coords = along_time(self.time)
        coords |= {d: labels_along(d, n) for d, n in zip(dims, shape, strict=True)}
        if wrt is None:
            values = self._live.evaluate(expression)
            values = values.reshape(values.shape[0], *shape, order="F")
            return xr.DataArray(
                values,
                coords={**coords, **labels},
                dims=["time", *dims],
                name=name,
                attrs={"units": unit},
            )
        chosen = self._selected(wrt)
        values = self._live.derivative(expression)
        values = values.reshape(values.shape[0], *shape, values.shape[2], order="F")
        parameters = self._live.equations.model.parameter_set.parameters
        coords |= with_units(
            "parameter", self.parameter_names, [parameters[n].unit for n in self.parameter_names]
        )
        array = xr.DataArray(
            values,
            coords={**coords, **labels},
            dims=["time", *dims, "parameter"],
            name=f"{name}_wrt",
            attrs=derivative_units(unit),
        )
        return array if chosen == self.parameter_names else array.sel(parameter=chosen)

    def _selected(self, wrt: Wrt) -> object:
        all_parameters = self.parameter_names
        if not all_parameters:
            remedy = "get one from Mechanism.sensitivity(…, method='direct').run"
            raise ModelError(
                ": this run was not differentiated", field="wrt", value=wrt, remedy=remedy
            )
        if isinstance(wrt, str) and wrt == "all":
            return all_parameters
        names = [getattr(n, "name", n) for n in (wrt if isinstance(wrt, (list, tuple)) else [wrt])]
        for n in names:
            if n not in all_parameters:
                raise unknown_name("parameter of this run", str(n), all_parameters)
        return names if isinstance(wrt, (list, tuple)) else names[0]

    def _turns_in_space(self, name: str) -> bool:
        return self.info["dimension"] == 3 and name in self.names_of("body")

    def _coordinate(self, dim: str) -> list[str]:
        return [str(n) for n in self.dataset[dim].to_numpy()] if dim in self.dataset.coords else []

    def _collect(self) -> xr.Dataset:
        import xarray as xr

        assert self._live is not None
        variables: dict[str, xr.DataArray] = {}
        for kind, definition in OUTPUTS.items():
            names = (
                []
                if definition.spatial_only and self._live.equations.model.dimension == 2
                else self.names_of(definition.of)
            )
            for key, wrt in ((kind, None), (f"{kind}_wrt", "all")):
                if names and (wrt is None or self.parameter_names):
                    arrays = [self._output(kind, n, wrt).drop_vars(definition.of) for n in names]
                    variables[key] = xr.concat(
                        arrays, dim=xr.IndexVariable(definition.of, names), join="outer"
                    ).transpose("time", ...)
                    unit = self.unit_of(kind, names)  # common to all names
                    variables[key].attrs |= derivative_units(unit) if wrt else {"units": unit}
        if self.redundant_reactions:
            for kind in LOADS:
                for key in {kind, f"{kind}_wrt"} & {*variables}:
                    variables[key].attrs["note"] = self.redundant_reactions
        return xr.Dataset(variables)

    def _metadata(self) -> dict[str, object]:
        """`info`, and the data with which a run can be drawn and evaluated without its mechanism."""
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


def _warn(definition: str, shared: str) -> None:
    warn_caller(RedundantReactionWarning(not_unique([definition], shared)))
