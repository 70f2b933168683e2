"""Content of a page for a design: its motion, curves, numbers and derivatives, as messages."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
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
from ..results.modes import Modes
from ..results.root_locus import RootLocus
from ..results.run import Run
from ..web.animation import moving
from ..web.encoding import thinned
from .linear import LinearChoice, locus_message, modes_message
from .messages import Message
from .tolerances import SAMPLES, moment_rows, sampled, summary

FRAMES = 500
"""Number of stored times of a run if its study does not set it."""
SHOWN = 1000
"""Largest number of times that are sent to a page."""
DURATION = 2.0
"""Duration (s) for a model without studies."""
MOST_PARAMETERS = 12
"""Largest number of parameters of a live gradient."""
MOST_DESIGNS = 50
"""Number of designs whose results are cached."""
CHOICES = 101
"""Number of tolerances of a slider: steps of 5 % over two decades."""
SHARE = 0.5
"""Range of the slider of a parameter without bounds, to either side, relative to its value."""


class Designed(Stating, Protocol):
    """The interface of a mechanism that the studio uses."""

    name: str
    studies: Studies | None

    def to_text(self, *, studies: Any = None, values: Values | None = None) -> str:
        """The text of its model file."""
        ...

    @property
    def modes(self) -> Callable[..., Modes]:
        """The method that computes modes."""
        ...

    @property
    def root_locus(self) -> Callable[..., RootLocus]:
        """The method that computes root loci."""
        ...


class Engine:
    """One mechanism, with the settings of its studies."""

    def __init__(self, mechanism: Designed):
        self.mechanism = mechanism
        self.studies: Studies = mechanism.studies or Studies.model_validate({})
        self.objectives = self._objectives()
        self._shown: tuple[dict[str, list[str]], list[str]] | None = None
        self._problem: Problem | None = None
        self.of_samples: Problem | None = None
        """Problem for samples, defined when they are first requested."""
        self._numbers: dict[object, list[dict[str, object]]] = {}
        self._behind: tuple[object, Run] | None = None
        self._last: tuple[object, Gradient] | None = None
        self.kept: dict[str, dict[str, float] | None] = {}
        """Parameter values of the kept designs; None for another mechanism."""
        self.ghost: str | None = None
        """Name of the kept design that is drawn behind the current one."""
        self.linear = LinearChoice()
        """Selection of the page for small motions."""

    @property
    def parameters(self) -> list[dict[str, object]]:
        """Data for the slider of each parameter."""
        return [_slider(p) for p in self.mechanism.data.parameter_set.parameters.values()]

    def problem(self, values: Values | None = None) -> Problem:
        """The problem that the studies define, with values that differ from the nominal ones."""
        if self._problem is None:
            self._problem = problem_of(
                self.mechanism, self.objectives, self.settings(), self.wrt or None
            )
        return self._problem if not values else self._problem.with_options(parameters=values)

    def motion(self, values: Values) -> Message:
        """The animated mechanism, and curves over time."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RedundantReactionWarning)
            return self._seen(self.problem(values).run())

    def derivatives(self, values: Values) -> Message:
        """Objectives with their derivatives, and derivatives of all curves and points."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RedundantReactionWarning)
            run = self.gradient(values).run if self.wrt else self.problem(values).run()
            message = self._seen(run)
        message.kind = "derivatives"
        return message

    def numbers(self, values: Values) -> Message:
        """Objectives with their derivatives."""
        rows = _objective_rows(self.gradient(values)) if self._has_gradient else []
        parameters = self.mechanism.data.parameter_set.parameters
        return Message(
            "numbers", objectives=rows, without=[n for n in parameters if n not in self.wrt]
        )

    def run_with_derivatives(self, values: Values) -> Run:
        """The motion with derivatives of all outputs."""
        return self.gradient(values).run

    def gradient(self, values: Values) -> Gradient:
        """Gradient with derivatives of all outputs, shared by numbers and curves of one design."""
        key = tuple(sorted(values.items()))
        last = self._last  # read once, because threads may replace it
        if last is None or last[0] != key:
            self._last = last = key, self.problem(values).gradient("direct")
        return last[1]

    def tolerances(self, values: Mapping[str, float]) -> Message:
        """Standard deviations of objectives to first order, and the contribution of each parameter."""
        return Message("tolerances", objectives=moment_rows(self, values))

    def samples(self, values: Mapping[str, float]) -> Message:
        """Distributions of objectives, from many runs."""
        message = Message("samples")
        message.content["objectives"] = [
            {
                "name": name,
                "values": message.double(column),
                "failed": SAMPLES - column.size,
                **summary(column),
            }
            for name, column in sampled(self, values).items()
        ]
        return message

    def modes(self, values: Mapping[str, float]) -> Message:
        """Modes of small motions."""
        return modes_message(self, values, self.linear)

    def locus(self, values: Mapping[str, float]) -> Message:
        """The root locus over the range of a slider."""
        return locus_message(self, values, self.linear)

    def designs(self, values: Values) -> Message:
        """Numbers of the current and the kept designs."""
        rows = [{"name": None, **self._design(values)}]
        rows += [
            {"name": name, **({"objectives": None} if kept is None else self._design(kept))}
            for name, kept in self.kept.items()
        ]
        return Message("designs", designs=rows)

    def _design(self, values: Values) -> dict[str, object]:
        nominal = {n: p.value for n, p in self.mechanism.data.parameter_set.parameters.items()}
        key = tuple(sorted(values.items()))
        if key not in self._numbers:
            gradient = self.gradient(values) if self._has_gradient else None
            self._numbers = {
                **dict(list(self._numbers.items())[-MOST_DESIGNS:]),
                key: [] if gradient is None else _objective_rows(gradient),
            }
        return {"values": {**nominal, **values}, "objectives": self._numbers[key]}

    def _ghost_run(self) -> Run | None:
        """Motion of the design that is drawn behind the current one."""
        values = None if self.ghost is None else self.kept.get(self.ghost)
        if values is None:
            return None
        key = tuple(sorted(values.items()))
        if self._behind is None or self._behind[0] != key:
            run = self.problem(values).run()
            self._behind = key, run.at_rows(thinned(run.time.size, SHOWN))
        return self._behind[1]

    def _seen(self, run: Run) -> Message:
        message = Message("motion")
        run = run.at_rows(thinned(run.time.size, SHOWN))
        outputs, traces = self._outputs(run)
        message.content.update(
            animation=moving(
                run,
                traces,
                self._ghost_run(),
                encode=message.single,
                loads=bool(run.parameter_names),
            ),
            parameters=self._magnitudes(run),
            plots=[self._plot(run, kind, names, message) for kind, names in outputs.items()],
            events=[{"time": e.time, "what": e.what, "name": e.name} for e in run.events],
            seconds=run.info.get("seconds"),
            method=run.info["method"],
        )
        return message

    def _magnitudes(self, run: Run) -> list[dict[str, object]]:
        """Parameters of the derivatives, with the amounts by which a page changes them."""
        parameters = self.mechanism.data.parameter_set.parameters
        values = {name: float(run.info["parameters"][name]) for name in run.parameter_names}
        return [
            {
                "name": name,
                "value": value,
                "scale": abs(value) or 1.0,
                "unit": parameters[name].unit,
            }
            for name, value in values.items()
        ]

    def _outputs(self, run: Run) -> tuple[dict[str, list[str]], list[str]]:
        """The displayed outputs: those that the file names, or those that vary most in the first
        run.
        """
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
        """Derivatives of each curve, (time, parameter), in the order of the lines of a panel."""
        derivatives: list[np.ndarray] = []
        for name in names:
            array = getattr(run, kind)(name, wrt="all").transpose("time", ..., "parameter")
            flat = array.to_numpy().reshape(run.time.size, -1, len(run.parameter_names))
            derivatives += list(flat.transpose(1, 0, 2))
        return derivatives

    def settings(self) -> dict[str, Any]:
        """Duration and run options of the studies; parameter values come from the sliders."""
        changes: dict[str, object] = {}
        simulate = self.studies.simulate
        options = {} if simulate is None else simulate.given()
        if options.get("duration") is None:
            changes["duration"] = DURATION
        settings = resolved(self.mechanism.data, self.studies, "simulate", changes)
        if "step" not in settings and settings.get("output") is None:
            settings["output"] = settings["duration"] / FRAMES
        settings.pop("parameters", None)
        return {**settings, "progress": False}

    def _objectives(self) -> Mapping[str, Any]:
        try:
            return objectives_of(self.studies)
        except VarimechError:
            return {}

    @property
    def _has_gradient(self) -> bool:
        return bool(self.objectives and self.wrt)

    @property
    def wrt(self) -> list[str]:
        """Parameters of live gradients."""
        names = list(self.mechanism.data.parameter_set.parameters)
        study = self.studies.sensitivity
        wrt = (study.wrt if study is not None else None) or names
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
        "tolerance": tolerance.width if isinstance(tolerance, Tolerance) else None,
        "varies": tolerance is not None,
        "choice": _choice(tolerance),
    }


def _choice(tolerance: object) -> dict[str, list[float]] | None:
    """Tolerances of a slider, from the finest to the widest, and their costs; None for a tolerance
    without a cost.
    """
    if not isinstance(tolerance, Tolerance) or tolerance.cost is None:
        return None
    widths = np.geomspace(*tolerance.limits, CHOICES).tolist()
    return {"widths": widths, "costs": [float(tolerance.cost.value(t)) for t in widths]}


def _objective_rows(gradient: Gradient) -> list[dict[str, object]]:
    """Value, unit, and derivative with respect to each parameter, for each objective."""
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
