"""A run: every measure of it as a labelled array, with units; derivatives likewise where it was differentiated.

Measures are computed when asked for. A saved run holds all of them and needs no mechanism to be read again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, unknown_name
from ..model.state import State, as_column
from ..symbols import SX
from .live import LiveRun

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

COMPONENTS = ("x", "y", "z")


@dataclass(frozen=True)
class MeasureKind:
    """How a named measure is labelled: what it is of, its dimensions beyond time, and its unit."""

    of: str
    dims: tuple[str, ...]
    unit: str
    get: Callable[[State, str], SX]
    unwrap: bool = False


MEASURES: dict[str, MeasureKind] = {
    "position": MeasureKind("point", ("component",), "m", lambda s, n: s.position(n)),
    "velocity": MeasureKind("point", ("component",), "m/s", lambda s, n: s.velocity(n)),
    "acceleration": MeasureKind("point", ("component",), "m/s²", lambda s, n: s.acceleration(n)),
    "angle": MeasureKind("turn", (), "rad", lambda s, n: s.angle(n), unwrap=True),
    "angular_velocity": MeasureKind("turn", (), "rad/s", lambda s, n: s.angular_velocity(n)),
    "angular_acceleration": MeasureKind("turn", (), "rad/s²", lambda s, n: s.angular_acceleration(n)),
    "displacement": MeasureKind("slide", (), "m", lambda s, n: s.displacement(n)),
    "displacement_rate": MeasureKind("slide", (), "m/s", lambda s, n: s.displacement_rate(n)),
    "rotation": MeasureKind("body", ("row", "column"), "1", lambda s, n: s.rotation(n)),
    "body_angular_velocity": MeasureKind("body", ("component",), "rad/s", lambda s, n: s.angular_velocity(n)),
    "reaction": MeasureKind("joint", ("component",), "N", lambda s, n: s.reaction(n)),
    "reaction_torque": MeasureKind("joint", ("torque_component",), "N·m", lambda s, n: s.reaction_torque(n)),
    "effort": MeasureKind("driver", (), "N or N·m", lambda s, n: s.effort(n)),
    "multiplier": MeasureKind("constraint", (), "N or N·m", lambda s, n: s.multiplier(n)),
    "energy": MeasureKind(
        "energy_kind", (), "J", lambda s, n: {"kinetic": s.kinetic_energy, "potential": s.potential_energy, "total": s.energy}[n]
    ),
}


class Run:
    """The motion of a mechanism over time.

    `run.position("2")`, `run.velocity("2")`, `run.angle("A1")`, `run.reaction("B")`, `run.energy()` … are xarray arrays over time.
    Where the run was differentiated, `wrt="L"` (or a list of names, or "all") gives the derivative with respect to parameters.
    """

    def __init__(self, live: LiveRun | None, info: dict[str, Any], dataset: xr.Dataset | None = None):
        self._live = live
        self._dataset = dataset
        self.info = info
        """Mechanism, method, step, residuals, iterations, times taken, versions."""

    @property
    def time(self) -> np.ndarray:
        """Stored times (s)."""
        return self._live.trajectory.time if self._live is not None else self._stored()["time"].values

    @property
    def parameter_names(self) -> list[str]:
        """Parameters that the run was differentiated for."""
        if self._live is not None:
            return self._live.parameter_names if self._live.trajectory.sensitivities is not None else []
        return [str(n) for n in self._stored().coords.get("parameter", np.zeros(0))]

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
        """Angle of a planar body or of a joint (rad), without jumps."""
        return self._measure("angle", name, wrt)

    def angular_velocity(self, name: str, *, wrt: Any = None) -> xr.DataArray:
        """Angular velocity of a body, or rate of a joint's angle (rad/s)."""
        spatial_body = self._names("turn") is not None and name not in self._names("turn") and name in self._names("body")
        return self._measure("body_angular_velocity" if spatial_body else "angular_velocity", name, wrt)

    def angular_acceleration(self, name: str, *, wrt: Any = None) -> xr.DataArray:
        """Angular acceleration of a planar body or of a joint's angle (rad/s²)."""
        return self._measure("angular_acceleration", name, wrt)

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
        return self._measure("reaction", joint, wrt)

    def reaction_torque(self, joint: str, *, wrt: Any = None) -> xr.DataArray:
        """Torque of a joint on its second body about the joint's point (N·m)."""
        return self._measure("reaction_torque", joint, wrt)

    def effort(self, driver: str, *, wrt: Any = None) -> xr.DataArray:
        """Force or torque of a driver (N or N·m)."""
        return self._measure("effort", driver, wrt)

    def multiplier(self, constraint: str, *, wrt: Any = None) -> xr.DataArray:
        """Lagrange multiplier of a constraint."""
        return self._measure("multiplier", constraint, wrt)

    def energy(self, kind: str = "total", *, wrt: Any = None) -> xr.DataArray:
        """Kinetic, potential or total energy (J)."""
        if kind not in (kinds := ("kinetic", "potential", "total")):
            raise unknown_name("kind of energy", kind, kinds)
        return self._measure("energy", kind, wrt)

    def distance(self, first: str, second: str, *, wrt: Any = None) -> xr.DataArray:
        """Distance between two points (m)."""
        if self._live is not None:
            return self.measure(lambda s: s.distance(first, second), wrt=wrt, name=f"distance {first}–{second}", unit="m")
        gap = self.position(second).drop_vars("point") - self.position(first).drop_vars("point")
        length = (gap**2).sum("component") ** 0.5
        if wrt is None:
            return length
        slope = self.position(second, wrt=wrt).drop_vars("point") - self.position(first, wrt=wrt).drop_vars("point")
        return (gap * slope).sum("component") / length

    def measure(
        self, function: Callable[[State], Any], *, wrt: Any = None, name: str = "measure", unit: str = ""
    ) -> xr.DataArray:
        """Any function of the state, over time: a scalar or a vector. Only for a run of this session."""
        if self._live is None:
            raise ModelError("a run read from a file has only its saved measures; run the mechanism again for new ones")
        value = function(self._live.equations.state)
        size = len(value) if isinstance(value, (list, tuple)) else getattr(value, "numel", lambda: 1)()
        expression = as_column(value, size, f"measure {name!r}")
        return self._labelled(expression, name, ("component",) if size > 1 else (), unit, wrt)

    @property
    def dataset(self) -> xr.Dataset:
        """All named measures (and their derivatives, as `…_wrt`) in one xarray Dataset."""
        if self._dataset is None:
            self._dataset = self._collect()
        return self._dataset

    def save(self, path: str | Path) -> Path:
        """Write all measures to a netCDF file."""
        path = Path(path)
        self.dataset.to_netcdf(path, engine="h5netcdf")
        return path

    def to_dataframe(self) -> pd.DataFrame:
        """All measures as a table with one row a time and one column a number."""
        import pandas as pd

        columns: dict[str, np.ndarray] = {}
        for name, array in self.dataset.data_vars.items():
            rest = [d for d in array.dims if d != "time"]
            flat = array.stack(label=rest) if rest else array.expand_dims(label=[("",)], axis=-1)
            for k, label in enumerate(flat["label"].values):
                words = [str(w) for w in (label if isinstance(label, tuple) else (label,)) if str(w)]
                columns[" ".join([str(name), *words])] = flat.isel(label=k).values
        return pd.DataFrame(columns, index=pd.Index(self.time, name="time"))

    def __repr__(self) -> str:
        i = self.info
        return (
            f"<Run of {i['mechanism']!r}: {self.time[-1]:g} s in {i['steps']} steps of {i['step']:g} s, {i['method']}; "
            f"largest residuals {', '.join(f'{r:.1e}' for r in i['residuals'])}>"
        )

    def _measure(self, kind: str, name: str, wrt: Any) -> xr.DataArray:
        what = MEASURES[kind]
        if self._live is not None:
            expression = what.get(self._live.equations.state, name)
            array = self._labelled(expression, kind, what.dims, what.unit, wrt, unwrap=what.unwrap)
            return array.assign_coords({what.of: name})
        data, key = self._stored(), kind if wrt is None else f"{kind}_wrt"
        aliases = self.info.get("aliases", {})
        label = aliases.get(name, name) if what.of == "point" else name
        if key not in data or label not in data[what.of].values:
            raise unknown_name(what.of, name, [*data.coords.get(what.of, np.zeros(0)), *aliases])
        found = data[key].sel({what.of: label})
        return found if wrt is None else found.sel(parameter=self._selected(wrt))

    def _labelled(
        self, expression: SX, name: str, dims: tuple[str, ...], unit: str, wrt: Any, *, unwrap: bool = False
    ) -> xr.DataArray:
        import xarray as xr

        assert self._live is not None
        shape, dims_ = _shape(expression, dims)
        coords: dict[str, Any] = {"time": ("time", self.time, {"units": "s"})}
        coords |= {d: list(COMPONENTS[:n]) for d, n in zip(dims_, shape, strict=True)}
        if wrt is None:
            values = self._live.evaluate(expression)
            if unwrap:
                values = np.unwrap(values, axis=0)
            values = values.reshape(values.shape[0], *shape, order="F")
            return xr.DataArray(values, coords=coords, dims=["time", *dims_], name=name, attrs={"units": unit})
        chosen = self._selected(wrt)
        slopes = self._live.derivative(expression)
        slopes = slopes.reshape(slopes.shape[0], *shape, slopes.shape[2], order="F")
        units = [self._live.equations.model.numbers.parameters[n].unit for n in self.parameter_names]
        coords |= {"parameter": self.parameter_names, "parameter_unit": ("parameter", units)}
        array = xr.DataArray(
            slopes,
            coords=coords,
            dims=["time", *dims_, "parameter"],
            name=f"{name}_wrt",
            attrs={"units": f"({unit}) per parameter unit"},
        )
        return array.sel(parameter=chosen)

    def _selected(self, wrt: Any) -> Any:
        known = self.parameter_names
        if not known:
            raise ModelError("this run was not differentiated; get one from Mechanism.sensitivity(…).run")
        if isinstance(wrt, str) and wrt == "all":
            return known
        names = [wrt] if not isinstance(wrt, (list, tuple)) else list(wrt)
        names = [getattr(n, "name", n) for n in names]
        for n in names:
            if n not in known:
                raise unknown_name("parameter of this run", n, known)
        return names if isinstance(wrt, (list, tuple)) else names[0]

    def _stored(self) -> xr.Dataset:
        assert self._dataset is not None
        return self._dataset

    def _names(self, of: str) -> list[str]:
        """All names of things that a measure can be of."""
        if self._live is None:
            return [str(n) for n in self._stored().coords.get(of, np.zeros(0))]
        e = self._live.equations
        m = e.model
        planar = m.dimension == 2
        turning = [j.name for j in m.joints.values() if j.turn is not None]
        return {
            "point": [p.label for b in m.bodies.values() for p in b.points.values()],
            "turn": ([b.name for b in m.moving_bodies] if planar else []) + turning,
            "slide": [j.name for j in m.joints.values() if j.slide is not None],
            "body": [] if planar else [b.name for b in m.moving_bodies],
            "joint": list(m.joints),
            "driver": list(m.drivers),
            "constraint": list(e.constraint_names),
            "energy_kind": ["kinetic", "potential", "total"],
        }[of]

    def _collect(self) -> xr.Dataset:
        import xarray as xr

        variables: dict[str, xr.DataArray] = {}
        for kind, what in MEASURES.items():
            names = self._names(what.of)
            if not names:
                continue
            index = xr.IndexVariable(what.of, names)
            variables[kind] = xr.concat([self._measure(kind, n, None).drop_vars(what.of) for n in names], dim=index)
            if self.parameter_names:
                slopes = [self._measure(kind, n, "all").drop_vars(what.of) for n in names]
                variables[f"{kind}_wrt"] = xr.concat(slopes, dim=index)
        variables = {k: v.transpose("time", ...) for k, v in variables.items()}
        info = {**self.info, "aliases": self._aliases()}
        return xr.Dataset(variables, attrs={"varimech": json.dumps(info)})

    def _aliases(self) -> dict[str, str]:
        """Short names of points that mean one place."""
        assert self._live is not None
        model = self._live.equations.model
        found = {}
        for name in {p.name for b in model.bodies.values() for p in b.points.values()}:
            try:
                found[name] = model.find_point(name).label
            except ModelError:
                continue
        return found


def load_run(path: str | Path) -> Run:
    """Read a run that was saved with `Run.save`."""
    import xarray as xr

    path = Path(path)
    if not path.exists():
        raise ModelError(f"there is no file {str(path)!r}")
    dataset = xr.load_dataset(path, engine="h5netcdf")
    if "varimech" not in dataset.attrs:
        raise ModelError(f"file {str(path)!r} is not a saved run: it has no 'varimech' attribute")
    return Run(None, json.loads(dataset.attrs["varimech"]), dataset)


def _shape(expression: SX, dims: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Shape and dimensions of a measure; a single number has none."""
    if len(dims) == 2:
        return expression.shape, dims
    return ((expression.numel(),), dims) if dims and expression.numel() > 1 else ((), ())
