"""What a page shows of a design: its motion, curves, numbers and derivatives, as messages."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ..analyses.simulation import Values
from ..coordinates.redundancy import RedundantReactionWarning
from ..core.errors import VarimechError
from ..files.studies import Studies
from ..files.study_runner import Stating, objectives_of, problem_of, resolved
from ..model.parameter import Parameter, Tolerance
from ..plotting.figure import COLOURS
from ..problem import Problem
from ..reports.outputs import chosen
from ..results.gradient import Gradient
from ..results.run import Run
from ..web.animation import moving
from ..web.encoding import thinned
from .messages import Message

FRAMES = 500
"""Stored times of a run whose study asks for none."""
SHOWN = 1000
"""Most times that a page is sent."""
DURATION = 2.0
"""s, of a model without studies"""
MOST_PARAMETERS = 12
"""Parameters that a live gradient is taken for."""
SHARE = 0.5
"""Of the value of a parameter without bounds that its slider moves to both sides."""


class Designed(Stating, Protocol):
    """A mechanism, as far as the studio needs it."""

    name: str
    studies: Studies | None

    def to_text(self, *, studies: Any = None, values: Values | None = None) -> str:
        """The text of its model file."""
        ...


class Engine:
    """One mechanism, with what its studies ask for."""

    def __init__(self, mechanism: Designed):
        self.mechanism = mechanism
        self.studies: Studies = mechanism.studies or Studies.model_validate({})
        self.objectives = self._objectives()
        self._shown: tuple[dict[str, list[str]], list[str]] | None = None
        self._problem: Problem | None = None
        self._kept: tuple[object, Gradient] | None = None

    @property
    def parameters(self) -> list[dict[str, object]]:
        """What a page needs for the slider of each parameter."""
        return [_slider(p) for p in self.mechanism.data.parameter_set.parameters.values()]

    def problem(self, values: Values | None = None) -> Problem:
        """The problem that the studies state, with values that differ from the nominal ones."""
        if self._problem is None:
            self._problem = problem_of(
                self.mechanism, self.objectives, self._settings(), self._wrt()
            )
        return self._problem if not values else self._problem.with_options(parameters=values)

    def motion(self, values: Values) -> Message:
        """The animated mechanism, and curves over time."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RedundantReactionWarning)
            return self._seen(self.problem(values).run())

    def derivatives(self, values: Values) -> Message:
        """Objectives with their derivatives, and those of all curves and points."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RedundantReactionWarning)
            message = self._seen(self._gradient(values).run)
        message.kind = "derivatives"
        return message

    def numbers(self, values: Values) -> Message:
        """Objectives with their derivatives."""
        rows = _objective_rows(self._gradient(values)) if self.objectives else []
        return Message("numbers", objectives=rows)

    def _gradient(self, values: Values) -> Gradient:
        """With derivatives of all outputs; numbers and curves of one design share it."""
        key = tuple(sorted(values.items()))
        if self._kept is None or self._kept[0] != key:
            self._kept = key, self.problem(values).gradient("direct")
        return self._kept[1]

    def _seen(self, run: Run) -> Message:
        message = Message("motion")
        run = run.at_rows(thinned(run.time.size, SHOWN))
        outputs, traces = self._outputs(run)
        message.content.update(
            animation=moving(run, traces, encode=message.single, loads=bool(run.parameter_names)),
            parameters=[{"name": n, **_magnitude(run, n)} for n in run.parameter_names],
            plots=[self._plot(run, kind, names, message) for kind, names in outputs.items()],
            events=[{"time": e.time, "what": e.what, "name": e.name} for e in run.events],
            seconds=run.info.get("seconds"),
            method=run.info["method"],
        )
        return message

    def _outputs(self, run: Run) -> tuple[dict[str, list[str]], list[str]]:
        """What is shown: what the file says, or what changes most in the first run."""
        if self._shown is None:
            self._shown = chosen(run, self.studies.show)
        return self._shown

    def _plot(self, run: Run, kind: str, names: list[str], message: Message) -> dict[str, object]:
        panel = run.panels(**{kind: names})[0]
        curves: list[dict[str, object]] = [
            {
                "name": line.label,
                "y": message.double(line.y),
                "colour": COLOURS[k % len(COLOURS)],
            }
            for k, line in enumerate(panel.lines)
        ]
        if run.parameter_names:
            for curve, derivative in zip(
                curves, self._curve_derivatives(run, kind, names), strict=True
            ):
                curve["derivatives"] = [message.single(d) for d in derivative.T]
        return {
            "title": kind.replace("_", " "),
            "unit": run.unit_of(kind, names),
            "x": message.double(run.time),
            "curves": curves,
        }

    @staticmethod
    def _curve_derivatives(run: Run, kind: str, names: list[str]) -> list[np.ndarray]:
        """(time, parameter) of each curve, in the order of the lines of a panel."""
        found: list[np.ndarray] = []
        for name in names:
            array = getattr(run, kind)(name, wrt="all").transpose("time", ..., "parameter")
            flat = array.to_numpy().reshape(run.time.size, -1, len(run.parameter_names))
            found += list(flat.transpose(1, 0, 2))
        return found

    def _settings(self) -> dict[str, Any]:
        changes: dict[str, object] = {}
        simulate = self.studies.simulate
        given = {} if simulate is None else simulate.given()
        if given.get("duration") is None:
            changes["duration"] = DURATION
        settings = resolved(self.mechanism.data, self.studies, "simulate", changes)
        if "step" not in settings and settings.get("output") is None:
            settings["output"] = settings["duration"] / FRAMES
        return {**settings, "progress": False}

    def _objectives(self) -> Mapping[str, Any]:
        try:
            return objectives_of(self.studies)
        except VarimechError:
            return {}

    def _wrt(self) -> list[str]:
        known = list(self.mechanism.data.parameter_set.parameters)
        study = self.studies.sensitivity
        wrt = (study.wrt if study is not None else None) or known
        return wrt[:MOST_PARAMETERS]


def _slider(p: Parameter) -> dict[str, object]:
    low, high = p.bounds or (None, None)
    value = p.value
    reach = SHARE * abs(value) or 1.0
    tolerance = p.distribution
    return {
        "name": p.name,
        "value": value,
        "unit": p.unit,
        "low": value - reach if low is None else low,
        "high": value + reach if high is None else high,
        "bounds": [low, high],
        "tolerance": tolerance.sigma * 3 if isinstance(tolerance, Tolerance) else None,
        "varies": tolerance is not None,
    }


def _magnitude(run: Run, name: str) -> dict[str, object]:
    value = float(run.info["parameters"][name])
    return {"value": value, "scale": abs(value) or 1.0, "unit": ""}


def _objective_rows(gradient: Gradient) -> list[dict[str, object]]:
    """Each objective: value, unit, and derivative with respect to each parameter."""
    return [
        {
            "name": name,
            "value": float(value),
            "unit": unit,
            "derivatives": dict(zip(gradient.parameter_names, map(float, row), strict=True)),
        }
        for name, unit, value, row in zip(
            gradient.objective_names,
            gradient.units,
            gradient.final_values,
            gradient.final_gradient,
            strict=True,
        )
    ]
