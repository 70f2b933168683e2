"""A run: all its outputs (`named_outputs`, `array_outputs`), with files, tables, plots and
drawings.

A saved run contains all outputs and is loaded without a mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.markup import counted, html_text
from ..core.messages import PYTHON, PythonSyntax
from ..plotting.figure import Line, Panel, line_figure, picture
from ..plotting.mechanism_drawing import Shape, draw
from ..plotting.style import in_style
from .array_outputs import ArrayOutputs
from .catalog import ENERGIES, OUTPUTS
from .events import Events, listed
from .labels import (
    Wrt,
    along_time,
    axis_label,
    components,
    derivative_units,
    with_units,
)
from .lost_motion import LostMotion, lost_motion
from .plan import sliders_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

MOST_MARKED = 200
"""Largest number of events that plots mark."""
MOST_SHOWN = 6
"""Largest number of angles, and of displacements, that a notebook shows for a run."""


class Run(ArrayOutputs):
    """The motion of a mechanism over time.

    `run.position("2")`, `run.velocity("2")`, `run.angle("A1")`, `run.reaction("B")`, `run.energy()`
    … are xarray arrays over time. Where the run was differentiated, `wrt="L"` (or a list of names,
    or "all") gives the derivative with respect to parameters. `save("run.nc")` writes all of it;
    `varimech.load_run` reads it again, without its mechanism.
    """

    _dims = ("time",)

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """Read a run that was saved as .nc or .json; it needs no mechanism.

        Args:
            path: the file.

        Returns:
            The run with all its saved outputs, bit by bit.

        Raises:
            ModelError: if the file is missing, was damaged or changed, or has another result.
        """
        dataset, info = cls._read(Path(path))
        info.pop("text", None)
        return cls(None, info, dataset)

    @property
    def events(self) -> Events:
        """Impacts, contacts that open, transitions between sticking and sliding: time, name, and
        the speed before and after.
        """
        return listed(self.info.get("events", []))

    def lost_motion(self, joint: str) -> LostMotion:
        """How far, how often and how hard a joint with clearance departs from an ideal one.

        Offsets are those at stored times; store often enough that they hardly change. Times in
        contact and impacts of rigid surfaces are exact. As objectives, with derivatives, they are
        functions of `s.deviation(joint)` and `s.in_contact(joint)`.

        Args:
            joint: its name.

        Returns:
            Largest offset and its root mean square (m), share of the time in contact, number of
            impacts, and the largest speed of one (m/s).

        Raises:
            ModelError: if the run was read from a file, or has no such joint.
        """
        return lost_motion(self, joint)

    def actuation(self, actuators: Any, *, weights: Any = None, wrt: Wrt = None) -> xr.DataArray:
        """Forces and torques of actuators that move the mechanism as the drivers of the run do, with
        the least effort ½ Σ w u² at each instant where there are more of them than necessary.

        Args:
            actuators: names of joints that turn or slide, drivers, planar bodies, forces and
                torques (their components, beside their own values), and pairs of points (forces
                along their distance).
            weights: w, positive: a list, or {actuator: number}; 1 if not given.
            wrt: as for `position`.

        Returns:
            (time, actuator[, parameter]), N or N·m, positive where it increases what it moves.

        Raises:
            ModelError: for unknown actuators, bad weights, a run without drivers or read from a
                file, and models with contacts or with friction that depends on loads.
            VarimechError: if the actuators cannot produce the motion.
        """
        import xarray as xr

        from .actuation import least_effort, read_actuators

        live = self.live
        chosen = None if wrt is None else self._selected(wrt)
        read = read_actuators(live.equations, actuators, weights)
        values, derivatives = least_effort(live, read, differentiate=wrt is not None)
        coords = {**along_time(self.time), **with_units("actuator", read.names, read.units)}
        unit = " or ".join(sorted(set(read.units)))
        if derivatives is None:
            dims = ["time", "actuator"]
            return xr.DataArray(values, coords, dims, "actuation", {"units": unit})
        parameters = live.equations.model.parameter_set.parameters
        names = self.parameter_names
        coords |= with_units("parameter", names, [parameters[n].unit for n in names])
        dims = ["time", "actuator", "parameter"]
        array = xr.DataArray(derivatives, coords, dims, "actuation_wrt", derivative_units(unit))
        return array.sel(parameter=chosen)

    def to_dataframe(self) -> pd.DataFrame:
        """All outputs as a table.

        Returns:
            A row for each time (s), a column for each number.
        """
        import pandas as pd

        columns: dict[str, np.ndarray] = {}
        for name, array in self.dataset.data_vars.items():
            rest = [d for d in array.dims if d != "time"]
            for index in np.ndindex(*[array.sizes[d] for d in rest]):
                labels = [str(array[d].values[k]) for d, k in zip(rest, index, strict=True)]
                columns[" ".join([str(name), *labels])] = array.isel(
                    dict(zip(rest, index, strict=True))
                ).to_numpy()
        return pd.DataFrame(columns, index=pd.Index(self.time, name="time"))

    def plot(
        self,
        *,
        wrt: Wrt = None,
        title: str | None = None,
        style: str | None = None,
        **outputs: object,
    ) -> Figure:
        """Plot named outputs, one panel for each kind; dotted lines mark events.

        Args:
            wrt: parameters, whose derivatives are plotted instead: a name, several, or "all".
            title: title; the mechanism if not given.
            style: "paper" for the width of a journal column.
            outputs: names by kind: `run.plot(position="2", angle=["A1", "12"], energy="total")`.

        Returns:
            A figure; save it with `.savefig("file.pdf")`.

        Raises:
            ModelError: for an unknown output or name.
        """
        if not outputs:
            raise ModelError(
                "no output is named",
                element="plot",
                remedy='name some, as in run.plot(position="2")',
            )
        heading = ("" if style else self.info["mechanism"]) if title is None else title
        marks = self.events.times[:MOST_MARKED]
        panels = self.panels(wrt=wrt, **outputs)
        return line_figure(panels, title=heading, style=style, marks=marks)

    def panels(self, *, wrt: Wrt = None, **outputs: object) -> list[Panel]:
        """Named outputs as labelled curves, which `plot` draws.

        Args:
            wrt: as for `plot`.
            outputs: as for `plot`.

        Returns:
            A panel for each kind.
        """
        panels = []
        for kind, names in outputs.items():
            if kind not in (kinds := [k for k, what in OUTPUTS.items() if not what.spatial_only]):
                raise unknown_name("output", kind, kinds)
            if wrt is None:
                lines = [Line(n, self.time, y) for n, y in self.columns(kind, _names(kind, names))]
                unit = self.unit_of(kind, _names(kind, names))
                panels.append(Panel(axis_label(kind, unit, []), lines))
                continue
            arrays = {name: getattr(self, kind)(name, wrt=wrt) for name in _names(kind, names)}
            lines = [
                Line(label, self.time, y)
                for name, array in arrays.items()
                for label, y in components(name, array)
            ]
            panels.append(
                Panel(axis_label(kind, self.unit_of(kind, [*arrays]), [*arrays.values()]), lines)
            )
        return panels

    def draw(
        self,
        *,
        times: float | Iterable[float] = 0.0,
        trace: Sequence[str] | str = (),
        title: str | None = None,
        style: str | None = None,
    ) -> Figure:
        """Draw the mechanism at given times, the last one in strong colours, with paths of points.

        Args:
            times: one or more times (s).
            trace: points whose paths are drawn.
            title: title; mechanism and time if not given.
            style: "paper" for the format of a paper.

        Returns:
            A figure.

        Raises:
            ModelError: for times outside the run.
        """
        plan = self.drawing_plan
        shapes = [Shape(kind, name, tuple(points)) for kind, name, points in plan["shapes"]]
        needed = {p for s in shapes for p in s.points} | set(plan["labels"])
        needed |= {p for joint in plan.get("joints", ()) for p in joint["points"]}
        paths = self.paths(sorted(needed))
        rows = self._rows_at(times if isinstance(times, Iterable) else [times])
        frames = [{p: path[k] for p, path in paths.items()} for k in rows]
        traces = {
            name: self.position(name).transpose("time", "component").to_numpy()
            for name in _names("trace", trace)
        }
        standard = "" if style else f"{self.info['mechanism']}, t = {self.time[rows[-1]]:g} s"
        heading = standard if title is None else title
        figure = draw(
            shapes,
            frames,
            traces,
            plan["labels"],
            plan["fixed"],
            sliders_of(plan, paths, rows[-1]),
            title=heading,
        )
        return in_style(figure, style, titled=title is not None)

    def animate(
        self,
        path: str | Path = "run.gif",
        *,
        frames: int = 60,
        seconds: float | None = None,
        trace: Sequence[str] | str = (),
    ) -> Path:
        """Write the motion as an animated picture.

        Args:
            path: file that ends with .gif, or with .mp4 where ffmpeg is installed.
            frames: pictures, at equal intervals of time.
            seconds: time that it takes on the screen (s); real time if not given.
            trace: points whose paths are drawn.

        Returns:
            The path.

        Raises:
            ModelError: for another ending, fewer than 2 frames, or a run of one instant without
                `seconds`.
        """
        from ..plotting.movie import check_movie, fixed_picture, write_movie

        path = Path(path)
        length = float(self.time[-1] - self.time[0])
        shown = length if seconds is None else seconds
        check_movie(path, frames, shown)
        drawn = {p for _, _, points in self.drawing_plan["shapes"] for p in points}
        drawn |= set(self.drawing_plan["labels"])
        places = np.concatenate(list(self.paths(sorted(drawn)).values()))
        pictures = (
            fixed_picture(self.draw(times=time, trace=trace), places)
            for time in np.linspace(self.time[0], self.time[-1], frames)
        )
        return write_movie(path, pictures, frames, shown)

    def _rows_at(self, times: Iterable[float]) -> list[int]:
        """The stored rows nearest to given times of the run."""
        first, last = self.time[0], self.time[-1]
        try:
            times = [float(t) for t in times]
        except (TypeError, ValueError):
            raise ModelError(
                "must be a time of the run, or several (s)",
                element="draw",
                field="times",
                value=times,
            ) from None
        for t in times:
            if not first <= round(float(t), 12) <= max(last, round(float(last), 12)):
                raise ModelError(
                    f"time {t:g} s is outside the run, {first:g} to {last:g} s",
                    element="draw",
                    value=t,
                )
        return [int(np.abs(self.time - t).argmin()) for t in times]

    def at_rows(self, rows: np.ndarray) -> Run:
        """Restrict the run to some of its stored times; angles keep the turns counted over all of
        them.

        Args:
            rows: indices of stored times.

        Returns:
            A shorter run.
        """
        if self._live is None:
            return Run(None, self.info, self.dataset.isel(time=rows))
        return Run(self._live.at_rows(rows), self.info)

    def text(self, syntax: PythonSyntax = PYTHON) -> str:
        """Text that `print` shows."""
        return f"<{self._title}>"

    @property
    def _title(self) -> str:
        i = self.info
        if "steps" not in i:
            return (
                f"Run of {i['mechanism']!r}: {i['method']}, found in"
                f" {counted(i['iterations'], 'iteration', 'iterations')}"
            )
        residuals = ", ".join(f"{r:.1e}" for r in i["residuals"])
        length = f"{self.time[-1]:g} s" + (
            f" of {i['stopped']['duration']:g} s" if "stopped" in i else ""
        )
        chosen = f" for a tolerance of {i['tolerance']:g}" if "tolerance" in i else ""
        configuration = f"; {i['configuration']}" if "configuration" in i else ""
        return (
            f"Run of {i['mechanism']!r}: {length} in {i['steps']} steps of {step_text(i)}{chosen},"
            f" {i['method']}; largest constraint residuals (position, velocity, acceleration)"
            f" {residuals}{configuration}"
        )

    def _display(self) -> str:
        """HTML of angles, displacements and energies over time, and the last position."""
        last = picture(self.draw(times=[float(self.time[-1])], title=""))
        if self.time.size == 1:
            return html_text(self._title) + last
        shown: dict[str, Any] = {
            "angle": self.names_of("turn")[:MOST_SHOWN],
            "displacement": self.names_of("slide")[:MOST_SHOWN],
        }
        return (
            html_text(self._title)
            + picture(
                self.plot(**{k: v for k, v in shown.items() if v}, energy=list(ENERGIES), title="")
            )
            + last
        )


def _names(kind: str, requested: Any) -> list[str]:
    """Names to show, from one name or several."""
    names = (
        [requested]
        if isinstance(requested, str) or not isinstance(requested, Iterable)
        else list(requested)
    )
    if not all(isinstance(name, str) for name in names):
        example = "total" if kind == "energy" else "P"
        raise ModelError(
            f"must be a name or a list of names, such as {kind}={example!r}",
            field=kind,
            value=requested,
        )
    return names


def step_text(info: dict[str, Any]) -> str:
    """The step, or the shortest and the longest adaptive step, as text."""
    if not isinstance(info["step"], float):
        return "{:.3g} to {:.3g} s".format(*info["step"])
    shorter = (
        f", down to {info['shortest_step']:.3g} s where the model changes fast"
        if "shortest_step" in info
        else ""
    )
    return f"{info['step']:g} s{shorter}"


def load_run(path: str | Path) -> Run:
    """Read a run that was saved with `Run.save`: `Run.load`.

    Args:
        path: the file, .nc or .json.

    Returns:
        The run, without its mechanism.

    Raises:
        ModelError: if the file is missing, was damaged or changed, or has another result.
    """
    return Run.load(path)
