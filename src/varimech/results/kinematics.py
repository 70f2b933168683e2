"""Kinematics over the values of drivers: named outputs, with derivatives, plots and drawings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.symbols import SX
from ..model.conditions import Coincident
from ..plotting.figure import Line, Panel, line_figure
from ..plotting.mechanism_drawing import Shape, draw
from ..plotting.style import in_style
from .catalog import names_in
from .kinematic_outputs import KINDS, KinematicOutputs
from .labels import Wrt, derivative_units
from .plan import drawing_plan, sliders_of
from .result import Description
from .run import Run

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class Kinematics(KinematicOutputs):
    """Positions, velocities and accelerations of a mechanism over values of its drivers.

    `k.position("P")`, `k.angle("rod")`, `k.velocity("P")`, … are arrays along `input`; `wrt="L"`
    gives exact derivatives. Without rates of the drivers, velocities and accelerations are the
    first and second kinematic coefficients: derivatives with respect to the driver.
    """

    def speed_ratio(
        self,
        *,
        angle: str | None = None,
        displacement: str | None = None,
        distance: tuple[str, str] | None = None,
        wrt: Wrt = None,
    ) -> xr.DataArray:
        """Speed of an output over the speed of the driver; of a mechanism with one driver.

        Args:
            angle: body or joint whose angle is the output; or
            displacement: joint that slides; or
            distance: pair of points.
            wrt: as for `position`.

        Returns:
            (input[, parameter]), unit of the output per unit of the driver.

        Raises:
            ModelError: if not exactly one output is named, or there are several drivers.
        """
        expression, unit = self._speed(angle, displacement, distance, "speed_ratio")
        array = self._labelled(expression, "speed_ratio", (), f"{unit}/{self.driver_units[0]}", wrt)
        rate = 1.0 if self.rates is None else float(self.rates[0])
        return array if rate == 1.0 else (array / rate).assign_attrs(array.attrs)

    def mechanical_advantage(
        self,
        *,
        angle: str | None = None,
        displacement: str | None = None,
        distance: tuple[str, str] | None = None,
        wrt: Wrt = None,
    ) -> xr.DataArray:
        """Force or torque at an output over that of the driver, without losses: the speed of the
        driver over that of the output. Infinite where the output is at rest.

        Args:
            angle, displacement, distance, wrt: as for `speed_ratio`.

        Returns:
            (input[, parameter]), unit of the driver per unit of the output.
        """
        output_arguments = {"angle": angle, "displacement": displacement, "distance": distance}
        ratio = self.speed_ratio(**output_arguments)  # type: ignore[arg-type]
        unit = "/".join(reversed(str(ratio.attrs["units"]).split("/")))
        with np.errstate(divide="ignore"):
            if wrt is None:
                return (1 / ratio).assign_attrs(units=unit).rename("mechanical_advantage")
            change = self.speed_ratio(**output_arguments, wrt=wrt)  # type: ignore[arg-type]
            return (
                (-change / ratio**2)
                .assign_attrs(derivative_units(unit))
                .rename("mechanical_advantage_wrt")
            )

    def transmission_angle(
        self,
        joint: str,
        *,
        first: str | None = None,
        second: str | None = None,
        wrt: Wrt = None,
    ) -> xr.DataArray:
        """Acute angle between two bars at the joint that connects them: μ = ∠(first, joint, second),
        or π − μ where that is less.

        Args:
            joint: its name.
            first: point of its first body towards which this body extends; the other end of a bar
                if not given.
            second: the same of its second body.
            wrt: as for `position`; at 90° the derivative has two sides.

        Returns:
            (input[, parameter]), rad, from 0 (locked) to π/2.

        Raises:
            ModelError: for an unknown joint, one whose points do not coincide, or a body that is not
                a bar if no point is given.
        """
        model = self.live.equations.model
        if joint not in model.joints:
            raise unknown_name("joint", joint, model.joints)
        hinge = model.joints[joint]
        if not any(isinstance(c, Coincident) for c in hinge.conditions()):
            raise ModelError(
                f"joint {joint!r} is {hinge.kind}: two bars do not meet there",
                element="transmission_angle",
                remedy="name a hinge; k.measure(…) computes the angle between a rod and a guide",
            )
        here, ends = hinge.first, []
        for point, end, which in (
            (hinge.first, first, "first"),
            (hinge.second, second, "second"),
        ):
            if end is not None:
                ends.append(end)
                continue
            others = [p for p in point.body.spine if p != point.name]
            if len(others) != 1 or point.body.is_ground:
                raise ModelError(
                    f"body {point.body.name!r} is not a bar with an end at joint {joint!r}",
                    element="transmission_angle",
                    remedy=f"name the point that it extends to, {which}=…",
                )
            ends.append(f"{point.body.name}.{others[0]}")

        def angle(s: Any) -> SX:
            centre = s.position(here)
            u, v = s.position(ends[0]) - centre, s.position(ends[1]) - centre
            dot = ca.fabs(ca.dot(u, v))
            if u.numel() == 2:
                return ca.atan2(ca.fabs(u[0] * v[1] - u[1] * v[0]), dot)
            return ca.atan2(ca.norm_2(ca.cross(u, v)), dot)

        return self.measure(angle, wrt=wrt, name=f"transmission angle {joint}", unit="rad")

    def plot(
        self,
        *,
        path: str | Sequence[str] = (),
        wrt: Wrt = None,
        title: str | None = None,
        style: str | None = None,
        **outputs: object,
    ) -> Figure:
        """Plot outputs over the driver, or paths of points (coupler curves).

        Args:
            path: points whose paths are drawn with the mechanism; in place of outputs.
            wrt: parameters, whose derivatives are plotted instead.
            title: title; the mechanism if not given.
            style: "paper" for the width of a journal column.
            outputs: names by kind: `k.plot(position="P", angle=["rod"])`; all driven angles and
                displacements if neither they nor a path are given.

        Returns:
            A figure; save it with `.savefig("file.pdf")`.

        Raises:
            ModelError: for an unknown output or name.
        """
        heading = ("" if style else self.info["mechanism"]) if title is None else title
        if path:
            if outputs or wrt is not None:
                raise ModelError("a path is drawn alone", element="plot", field="path")
            return self.draw(trace=path, title=heading, style=style)
        if not outputs:
            names = names_in(self.live.equations.model)
            shown = {"angle": names["turn"][:6], "displacement": names["slide"][:6]}
            outputs = {kind: some for kind, some in shown.items() if some}
        panels = [self._panel(kind, names, wrt) for kind, names in outputs.items()]
        return line_figure(panels, title=heading, style=style, xlabel=self._axis)

    def draw(
        self,
        *,
        rows: int | Iterable[int] = 0,
        trace: str | Sequence[str] = (),
        title: str | None = None,
        style: str | None = None,
    ) -> Figure:
        """Draw the mechanism at some values of the drivers, the last one in strong colours, with
        paths of points.

        Args:
            rows: indices of values.
            trace: points whose paths are drawn.
            title: title; the mechanism if not given.
            style: "paper" for the format of a paper.

        Returns:
            A figure.

        Raises:
            ModelError: for rows that do not exist.
        """
        chosen = [rows] if isinstance(rows, int) else list(rows)
        if not chosen or any(not -len(self.values) <= k < len(self.values) for k in chosen):
            raise ModelError(
                f"must be indices of the {len(self.values)} values",
                element="draw",
                field="rows",
                value=rows,
            )
        plan: dict[str, Any] = drawing_plan(self.live.equations.model)
        run = Run(self.live, self.info)
        shapes = [Shape(kind, name, tuple(points)) for kind, name, points in plan["shapes"]]
        needed = {p for s in shapes for p in s.points} | set(plan["labels"])
        needed |= {p for joint in plan.get("joints", ()) for p in joint["points"]}
        paths = run.paths(sorted(needed))
        frames = [{p: points[k] for p, points in paths.items()} for k in chosen]
        names = [trace] if isinstance(trace, str) else list(trace)
        traces = {name: self.position(name).to_numpy() for name in names}
        heading = ("" if style else self.info["mechanism"]) if title is None else title
        sliders = sliders_of(plan, paths, chosen[-1])
        figure = draw(shapes, frames, traces, plan["labels"], plan["fixed"], sliders, title=heading)
        return in_style(figure, style, titled=title is not None)

    def _panel(self, kind: str, names: object, wrt: Wrt) -> Panel:
        if kind not in KINDS or kind == "rotation":
            raise unknown_name("output", kind, [k for k in KINDS if k != "rotation"])
        lines, unit = [], ""
        for name in [names] if isinstance(names, str) else list(names):  # type: ignore[call-overload]
            array = getattr(self, kind)(name, wrt=wrt)
            unit = str(array.attrs["units"])
            rest = [d for d in array.dims if d != "input"]
            for index in np.ndindex(*[array.sizes[d] for d in rest]):
                labels = [str(array[d].to_numpy()[k]) for d, k in zip(rest, index, strict=True)]
                curve = array.isel(dict(zip(rest, index, strict=True))).to_numpy()
                lines.append(Line(" ".join([name, *labels]), self._abscissa, curve))
        derivative = "" if wrt is None else "derivative of "
        return Panel(f"{derivative}{kind.replace('_', ' ')} ({unit})", lines)

    @property
    def _axis(self) -> str:
        return f"{self.drivers[0]} ({self.driver_units[0]})" if len(self.drivers) == 1 else "input"

    def _speed(
        self,
        angle: str | None,
        displacement: str | None,
        distance: tuple[str, str] | None,
        element: str,
    ) -> tuple[SX, str]:
        if len(self.drivers) != 1:
            raise ModelError(
                f"is of one driver, and there are {len(self.drivers)}",
                element=element,
                remedy="use coefficients(…)",
            )
        if sum(x is not None for x in (angle, displacement, distance)) != 1:
            raise ModelError(
                "needs one output",
                element=element,
                remedy="name it: angle=…, displacement=… or distance=(…, …)",
            )
        state = self.live.kinematic_state
        if angle is not None:
            return self.live.equations.model.find_angle(angle).rate(
                self.live.equations.frames
            ), "rad"
        if displacement is not None:
            return state.displacement_rate(displacement), "m"
        assert distance is not None
        return state.distance_rate(*distance), "m"

    def _described(self) -> Description:
        count = len(self.values)
        ranges = [
            [name, float(self.values[0, k]), float(self.values[-1, k]), unit]
            for k, (name, unit) in enumerate(zip(self.drivers, self.driver_units, strict=True))
        ]
        title = (
            f"Kinematics of {self.info['mechanism']!r}: {count} positions in {self.steps} steps,"
            f" largest residual {self.residual:.1e}"
        )
        notes = [f"stopped: {self.stopped}"] if self.stopped else []
        return Description(title, tables=[(["driver", "from", "to", "unit"], ranges)], notes=notes)
