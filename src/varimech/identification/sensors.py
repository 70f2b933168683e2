"""Sensors: quantities that an experiment may measure, sample times, and accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from ..core.errors import ModelError
from ..model.scalar_outputs import Distance, Slide, Turn
from ..sensitivity.objective import StateFunction
from .measurement import measured_function, sample_times


@dataclass(frozen=True, eq=False)
class Sensor:
    """A function of the state that may be measured; created by `sensor`."""

    function: StateFunction
    times: np.ndarray
    """s"""
    sigma: float
    """Standard deviation of its noise."""
    name: str
    unit: str


Sensors = Sensor | Sequence[Sensor] | Mapping[str, Sensor]


def sensor(
    function: StateFunction | Turn | Slide | Distance | str,
    times: ArrayLike,
    sigma: float,
    *,
    name: str = "",
    unit: str = "",
) -> Sensor:
    """A quantity that may be measured, for `Mechanism.experiment`.

    Args:
        function: function of the state (a number or a vector), an output of the model, or an
            expression as text.
        times: times of the samples (s).
        sigma: standard deviation of the noise of each sample, in the unit of the function.
        name: name in tables.
        unit: unit of the function.

    Returns:
        A `Sensor`.

    Raises:
        ModelError: if times or sigma make no sense.

    >>> import varimech as vm
    >>> encoder = vm.sensor("angle('rod')", [0.1, 0.2, 0.3], 1e-3, name="encoder", unit="rad")
    """
    label = f"sensor {name!r}" if name else "sensor"
    if not isinstance(sigma, Real) or not 0 < float(sigma) < np.inf:
        raise ModelError("must be a positive number", element=label, field="sigma", value=sigma)
    when = sample_times(label, times)
    return Sensor(measured_function(function), when, float(sigma), name, unit)


def named_sensors(sensors: Sensors) -> dict[str, Sensor]:
    """Sensors by name; unnamed ones are called y1, y2, …

    Raises:
        ModelError: if there is none, or one of another kind or with the name of another.
    """
    if isinstance(sensors, Mapping):
        pairs = list(sensors.items())
    else:
        several = [sensors] if isinstance(sensors, Sensor) else list(sensors)
        pairs = [(getattr(s, "name", "") or f"y{k + 1}", s) for k, s in enumerate(several)]
    if not pairs:
        raise ModelError(
            "no sensors; give at least one varimech.sensor(function, times, sigma)",
            element="experiment",
        )
    named: dict[str, Sensor] = {}
    for name, one in pairs:
        if not isinstance(one, Sensor):
            problem = "is not a sensor; make one with varimech.sensor(function, times, sigma)"
            raise ModelError(problem, element="experiment", field=repr(name), value=one)
        if name in named:
            problem = f"two sensors are called {name!r}; choose another name"
            raise ModelError(problem, element="experiment")
        named[str(name)] = replace(one, name=str(name))
    return named


def last_sample_of(sensors: Sensors) -> float:
    """Time of the last sample (s), and so the duration of the experiment."""
    last = max(float(one.times.max()) for one in named_sensors(sensors).values())
    if last == 0:
        raise ModelError("all samples are at t = 0; give duration=", element="experiment")
    return last
