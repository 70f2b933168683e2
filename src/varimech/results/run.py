"""A run: every measure of it as a labelled array, with units; derivatives likewise where it was differentiated.

Measures are computed when asked for. A saved run holds all of them and needs no mechanism to be read again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..angles import unwrapped
from ..errors import ModelError, unknown_name
from ..markup import Displayed, html_text
from ..sensitivity.objective import StateFunction
from ..symbols import SX
from ..view.drawing import Shape, draw
from ..view.figure import Line, Panel, line_figure, picture
from ..view.style import in_style
from .catalog import ENERGIES, MEASURES, names_of
from .labels import BEAM_PARTS, axis_label, labels_along, shape_of, slope_label, word_of
from .live import LiveRun
from .plan import drawing_plan, point_aliases, sliders_of
from .saving import save_dataset

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

MOST_SHOWN = 6
"""Angles, and displacements, that a notebook shows of a run."""


class Run(Displayed):
    """The motion of a mechanism over time.

    `run.position("2")`, `run.velocity("2")`, `run.angle("A1")`, `run.reaction("B")`, `run.energy()` … are xarray arrays over time.
    Where the run was differentiated, `wrt="L"` (or a list of names, or "all") gives the derivative with respect to parameters.
    """

    def __init__(self, live: LiveRun | None, info: dict[str, Any], dataset: xr.Dataset | None = None):
        self._live = live
        self._dataset = dataset
        self._angle_of_all: Callable[[str], xr.DataArray] | None = None
        self.info = info
        """Mechanism, method, step (or the shortest and the longest chosen), residuals, iterations, times taken, versions; and of a run that
        was interrupted, when it `stopped` and its whole duration (s)."""

    @property
    def live(self) -> LiveRun:
        """The trajectory with its equations; only of a run of this session."""
        if self._live is None:
            raise ModelError("a run read from a file has only its saved measures; run the mechanism again for new ones")
        return self._live

    @property
    def is_live(self) -> bool:
        """Whether it is of this session: with its mechanism at hand, and not read from a file."""
        return self._live is not None

    @property
    def time(self) -> np.ndarray:
        """Stored times (s)."""
        return self._live.trajectory.time if self._live is not None else self.dataset["time"].to_numpy()

    @property
    def step_ends(self) -> np.ndarray | None:
        """Ends of the time steps taken, from 0 on (s); None for a run that was read from a file, or whose integrator does not tell them."""
        if self._live is None or self._live.trajectory.steps is not None:
            return None
        return self._live.trajectory.step_ends

    @property
    def parameter_names(self) -> list[str]:
        """Parameters that the run was differentiated for."""
        if self._live is not None:
            return self._live.parameter_names if self._live.trajectory.sensitivities is not None else []
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
        """Angle of a planar body or of a joint (rad), without jumps, from the value given at the start or else one in (−π, π].

        Whole turns between two stored results are told from the rates at both: store often enough that these hardly change between them.
        """
        return self._measure("angle", name, wrt)

    def angular_velocity(self, name: str, *, wrt: Any = None) -> xr.DataArray:
        """Angular velocity of a body, or rate of a joint's angle (rad/s)."""
        return self._measure("body_angular_velocity" if self._turns_in_space(name) else "angular_velocity", name, wrt)

    def angular_acceleration(self, name: str, *, wrt: Any = None) -> xr.DataArray:
        """Angular acceleration of a body or of a joint's angle (rad/s²)."""
        return self._measure("body_angular_acceleration" if self._turns_in_space(name) else "angular_acceleration", name, wrt)

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
        """Lagrange multiplier of a constraint of the equations."""
        return self._measure("multiplier", constraint, wrt)

    def axial_force(self, beam: str, *, wrt: Any = None) -> xr.DataArray:
        """Tension in each segment of a beam (N)."""
        return self._measure("axial_force", beam, wrt)

    def bending_moment(self, beam: str, *, wrt: Any = None) -> xr.DataArray:
        """Bending moment at each node between the ends of a beam (N·m): positive where it bends to the left (plane), or its size (space)."""
        return self._measure("bending_moment", beam, wrt)

    def energy(self, kind: str = "total", *, wrt: Any = None) -> xr.DataArray:
        """Kinetic, potential or total energy (J)."""
        if kind not in ENERGIES:
            raise unknown_name("kind of energy", kind, ENERGIES)
        return self._measure("energy", kind, wrt)

    def distance(self, first: str, second: str, *, wrt: Any = None) -> xr.DataArray:
        """Distance between two points (m)."""
        gap = self.position(second).drop_vars("point") - self.position(first).drop_vars("point")
        length = ((gap**2).sum("component") ** 0.5).assign_attrs(units="m").rename(f"distance {first}–{second}")
        if wrt is None:
            return length
        slope = self.position(second, wrt=wrt).drop_vars("point") - self.position(first, wrt=wrt).drop_vars("point")
        return ((gap * slope).sum("component") / length).assign_attrs(units="(m) per parameter unit")

    def measure(self, function: StateFunction | str, *, wrt: Any = None, name: str = "measure", unit: str = "") -> xr.DataArray:
        """Any function of the state, or the text of one, over time: a scalar or a vector. Only for a run of this session."""
        expression = self.live.expression(function, name)
        return self._labelled(expression, name, ("component",) if expression.numel() > 1 else (), unit, wrt)

    @property
    def dataset(self) -> xr.Dataset:
        """All named measures (and their derivatives, as `…_wrt`) in one xarray Dataset."""
        if self._dataset is None:
            self._dataset = self._collect()
        return self._dataset

    def save(self, path: str | Path, *, measures: Sequence[str] | str | None = None) -> Path:
        """Write the run to a file, by the ending of its name: .nc (netCDF, which `varimech.load_run` reads), .csv or .mat (MATLAB).

        `measures` chooses some by name, such as ["position", "angle", "angle_wrt"], for tables and MATLAB; a netCDF file has all.
        """
        if measures is not None and Path(path).suffix == ".nc":
            raise ModelError(
                f"{str(path)!r}: a run in a netCDF file has all its measures; leave measures=… out, or save .csv or .mat"
            )
        return save_dataset(self.dataset, path, only=measures)

    def to_dataframe(self) -> pd.DataFrame:
        """All measures as a table with one row a time and one column a number."""
        import pandas as pd

        columns: dict[str, np.ndarray] = {}
        for name, array in self.dataset.data_vars.items():
            rest = [d for d in array.dims if d != "time"]
            for index in np.ndindex(*[array.sizes[d] for d in rest]):
                words = [str(array[d].values[k]) for d, k in zip(rest, index, strict=True)]
                columns[" ".join([str(name), *words])] = array.isel(dict(zip(rest, index, strict=True))).to_numpy()
        return pd.DataFrame(columns, index=pd.Index(self.time, name="time"))

    def plot(self, *, wrt: Any = None, title: str | None = None, style: str | None = None, **measures: Any) -> Figure:
        """A figure of named measures, one panel each: `run.plot(position="2", angle=["A1", "12"], energy="total")`.

        `wrt="L"` (or a list, or "all") shows their derivatives with respect to parameters. Save it with `.savefig("file.png")` (.pdf, .svg);
        `style="paper"` makes it as wide as a column of a journal, with a title only if one is given.
        """
        if not measures:
            raise ModelError('say what to plot, such as run.plot(position="2")')
        heading = ("" if style else self.info["mechanism"]) if title is None else title
        return line_figure(self.panels(wrt=wrt, **measures), title=heading, style=style)

    def panels(self, *, wrt: Any = None, **measures: Any) -> list[Panel]:
        """Named measures as labelled curves, a panel a kind: what `plot` draws."""
        panels = []
        for kind, names in measures.items():
            if kind not in (known := [k for k, what in MEASURES.items() if not what.spatial_only]):
                raise unknown_name("measure", kind, known)
            arrays = {name: getattr(self, kind)(name, wrt=wrt) for name in ([names] if isinstance(names, str) else names)}
            lines = [line for name, array in arrays.items() for line in self._lines(name, array)]
            panels.append(Panel(axis_label(kind, self.unit_of(kind, [*arrays]), [*arrays.values()]), lines))
        return panels

    def draw(
        self,
        *,
        times: Iterable[float] | None = None,
        trace: Sequence[str] | str = (),
        title: str | None = None,
        style: str | None = None,
    ) -> Figure:
        """A drawing of the mechanism at given times (the last one strong; the start if not given), with paths of points.

        `style="paper"` makes it fit for a paper, as for `plot`.
        """
        plan = self.drawing_plan
        shapes = [Shape(kind, name, tuple(points)) for kind, name, points in plan["shapes"]]
        needed = {p for s in shapes for p in s.points} | set(plan["labels"])
        needed |= {p for joint in plan.get("joints", ()) for p in joint["points"]}
        paths = self.paths(sorted(needed))
        rows = [int(np.abs(self.time - t).argmin()) for t in ([0.0] if times is None else times)]
        frames = [{p: path[k] for p, path in paths.items()} for k in rows]
        traced = [trace] if isinstance(trace, str) else trace
        traces = {name: self.position(name).transpose("time", "component").to_numpy() for name in traced}
        told = "" if style else f"{self.info['mechanism']}, t = {self.time[rows[-1]]:g} s"
        heading = told if title is None else title
        figure = draw(shapes, frames, traces, plan["labels"], plan["fixed"], sliders_of(plan, paths, rows[-1]), title=heading)
        return in_style(figure, style, titled=title is not None)

    @property
    def drawing_plan(self) -> dict[str, Any]:
        """What a drawing shows, by names of points: `results/plan.py` tells what is in it; runs saved earlier have less."""
        return drawing_plan(self._live.equations.model) if self._live is not None else self.info["drawing"]

    def at_rows(self, rows: np.ndarray) -> Run:
        """The same at some of its stored times only; angles keep the turns that are counted at all of them."""
        if self._live is None:
            return Run(None, self.info, self.dataset.isel(time=rows))
        few = Run(self._live.at_rows(rows), self.info)
        few._angle_of_all = lambda name: self.angle(name).isel(time=rows)
        return few

    def paths(self, points: list[str]) -> dict[str, np.ndarray]:
        """Positions of many points (m), (time, component) each; faster than one by one."""
        if self._live is None:
            return {p: self.position(p).transpose("time", "component").to_numpy() for p in points}
        places = self._live.evaluate(self._places(points))
        return dict(zip(points, np.split(places, len(points), axis=1), strict=True))

    def curves(self, kind: str) -> dict[str, np.ndarray]:
        """Angles or displacements of all things that have one, over time; faster than one by one."""
        what, names = MEASURES[kind], self.names_of(MEASURES[kind].of)
        if self._live is None or not names:
            return {n: self._measure(kind, n, None).to_numpy() for n in names}
        state = self._live.equations.state
        values = self._live.evaluate(ca.vertcat(*[what.get(state, n) for n in names]))
        if what.rate is not None:
            rates = self._live.evaluate(ca.vertcat(*[what.rate(state, n) for n in names]))
            columns = [unwrapped(values[:, [k]], rates[:, [k]], self.time, self._live.held_angle(n)) for k, n in enumerate(names)]
            values = np.hstack(columns)
        return dict(zip(names, values.T, strict=True))

    def path_rates(self, points: list[str]) -> dict[str, np.ndarray]:
        """Their velocities (m/s), likewise."""
        if self._live is None:
            return {p: self.velocity(p).transpose("time", "component").to_numpy() for p in points}
        state = self._live.equations.state
        rates = self._live.evaluate(ca.vertcat(*[state.velocity(p) for p in points]))
        return dict(zip(points, np.split(rates, len(points), axis=1), strict=True))

    def directions(self, given: Sequence[tuple[str | None, Sequence[float]]]) -> np.ndarray:
        """Where directions of bodies (None: of the ground) point to, (time, direction, component)."""
        turned = []
        for body, direction in given:
            R = (
                np.eye(len(direction))[None]
                if body is None
                else self.rotation(body).transpose("time", "row", "column").to_numpy()
            )
            turned.append(np.broadcast_to(R @ np.asarray(direction), (self.time.size, len(direction))))
        return np.stack(turned, axis=1)

    def path_slopes(self, points: list[str]) -> dict[str, np.ndarray]:
        """Derivatives of the positions of many points with respect to all `parameter_names`, (time, component, parameter) each."""
        self._selected("all")
        if self._live is None:
            dims = ("time", "component", "parameter")
            return {p: self.position(p, wrt="all").transpose(*dims).to_numpy() for p in points}
        slopes = self._live.derivative(self._places(points))
        return dict(zip(points, np.split(slopes, len(points), axis=1), strict=True))

    def _places(self, points: list[str]) -> SX:
        return ca.vertcat(*[self.live.equations.state.position(p) for p in points])

    def __repr__(self) -> str:
        i = self.info
        if "steps" not in i:
            return f"<Run of {i['mechanism']!r}: {i['method']}, found in {i['iterations']} iterations>"
        residuals = ", ".join(f"{r:.1e}" for r in i["residuals"])
        steps = f"{i['step']:g} s" if isinstance(i["step"], float) else "{:.3g} to {:.3g} s".format(*i["step"])
        length = f"{self.time[-1]:g} s" + (f" of {i['stopped']['duration']:g} s" if "stopped" in i else "")
        chosen = f" for a tolerance of {i['tolerance']:g}" if "tolerance" in i else ""
        return (
            f"<Run of {i['mechanism']!r}: {length} in {i['steps']} steps of {steps}{chosen}, {i['method']}; "
            f"largest constraint residuals (position, velocity, acceleration) {residuals}>"
        )

    def _display(self) -> str:
        """What turns, what slides and energies over time, and the last position."""
        words = repr(self).removeprefix("<").rstrip(">")
        last = picture(self.draw(times=[float(self.time[-1])], title=""))
        if self.time.size == 1:
            return html_text(words) + last
        told: dict[str, Any] = {"angle": self.names_of("turn")[:MOST_SHOWN], "displacement": self.names_of("slide")[:MOST_SHOWN]}
        return (
            html_text(words) + picture(self.plot(**{k: v for k, v in told.items() if v}, energy=list(ENERGIES), title="")) + last
        )

    def unit_of(self, kind: str, names: list[str]) -> str:
        """Of a measure; drivers make forces or torques."""
        units = {self.drawing_plan.get("efforts", {}).get(name) for name in names} if kind == "effort" else set()
        return next(iter(units)) or MEASURES[kind].unit if len(units) == 1 else MEASURES[kind].unit

    def _lines(self, name: str, array: xr.DataArray) -> list[Line]:
        dims = [d for d in array.dims if d != "time"]
        lines = []
        for index in np.ndindex(*[array.sizes[d] for d in dims]):
            words = [word_of(str(d), array[d].to_numpy()[k]) for d, k in zip(dims, index, strict=True) if d != "parameter"]
            curve = array.isel(dict(zip(dims, index, strict=True)))
            if array.sizes.get("parameter", 1) > 1:
                words.append(f"/ {slope_label(curve)}")
            lines.append(Line(" ".join([name, *words]), self.time, curve.to_numpy()))
        return lines

    def _measure(self, kind: str, name: str, wrt: Any) -> xr.DataArray:
        what = MEASURES[kind]
        if what.rate is not None and wrt is None and self._angle_of_all is not None:
            return self._angle_of_all(name)
        if self._live is not None:
            e = self._live.equations
            array = self._labelled(what.get(e.state, name), kind, what.dims, what.unit, wrt)
            if what.rate is not None and wrt is None:
                rates = self._live.evaluate(what.rate(e.state, name))
                array = array.copy(data=unwrapped(array.to_numpy()[:, None], rates, self.time, self._live.held_angle(name))[:, 0])
            return array.assign_coords({what.of: e.model.find_point(name).label if what.of == "point" else name})
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

    def _labelled(self, expression: SX, name: str, dims: tuple[str, ...], unit: str, wrt: Any) -> xr.DataArray:
        import xarray as xr

        assert self._live is not None
        shape, dims = shape_of(expression, dims)
        coords: dict[str, Any] = {"time": ("time", self.time, {"units": "s"})}
        coords |= {d: labels_along(d, n) for d, n in zip(dims, shape, strict=True)}
        if wrt is None:
            values = self._live.evaluate(expression)
            values = values.reshape(values.shape[0], *shape, order="F")
            return xr.DataArray(values, coords=coords, dims=["time", *dims], name=name, attrs={"units": unit})
        chosen = self._selected(wrt)
        slopes = self._live.derivative(expression)
        slopes = slopes.reshape(slopes.shape[0], *shape, slopes.shape[2], order="F")
        parameters = self._live.equations.model.numbers.parameters
        coords["parameter"] = self.parameter_names
        coords["parameter_unit"] = ("parameter", [parameters[n].unit for n in self.parameter_names])
        attrs = {"units": f"({unit}) per parameter unit"}
        array = xr.DataArray(slopes, coords=coords, dims=["time", *dims, "parameter"], name=f"{name}_wrt", attrs=attrs)
        return array.sel(parameter=chosen)

    def _selected(self, wrt: Any) -> Any:
        known = self.parameter_names
        if not known:
            raise ModelError(
                "this run was not differentiated along the way; get one from Mechanism.sensitivity(…, method='direct').run"
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

    def names_of(self, of: str) -> list[str]:
        """All names of things that a measure can be of."""
        if self._live is not None:
            return names_of(self._live.equations)[of]
        return self._coordinate(of)

    def _coordinate(self, dim: str) -> list[str]:
        return [str(n) for n in self.dataset[dim].to_numpy()] if dim in self.dataset.coords else []

    def _collect(self) -> xr.Dataset:
        import xarray as xr

        assert self._live is not None
        variables: dict[str, xr.DataArray] = {}
        for kind, what in MEASURES.items():
            names = [] if what.spatial_only and self._live.equations.model.dimension == 2 else self.names_of(what.of)
            for key, wrt in ((kind, None), (f"{kind}_wrt", "all")):
                if names and (wrt is None or self.parameter_names):
                    parts = [self._measure(kind, n, wrt).drop_vars(what.of) for n in names]
                    variables[key] = xr.concat(parts, dim=xr.IndexVariable(what.of, names), join="outer").transpose("time", ...)
        model = self._live.equations.model
        info = {**self.info, "aliases": point_aliases(model), "drawing": drawing_plan(model)}
        return xr.Dataset(variables, attrs={"varimech": json.dumps(info)})


def load_run(path: str | Path) -> Run:
    """Read a run that was saved with `Run.save`."""
    import xarray as xr

    path = Path(path)
    if not path.exists():
        raise ModelError(f"there is no file {str(path)!r}")
    try:
        dataset = xr.load_dataset(path, engine="h5netcdf")
    except OSError as error:
        raise ModelError(f"file {str(path)!r} is not a saved run: {error}") from None
    if "varimech" not in dataset.attrs:
        raise ModelError(f"file {str(path)!r} is not a saved run: it has no 'varimech' attribute")
    return Run(None, json.loads(dataset.attrs["varimech"]), dataset)
