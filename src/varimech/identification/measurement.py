"""Measured data: function, times, values and standard deviations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ..core.errors import ModelError
from ..model.scalar_outputs import Distance, Slide, Turn
from ..sensitivity.objective import StateFunction, checked_callable


@dataclass(frozen=True, eq=False)
class Measurement:
    """Samples of a function of the state; created by `measurement`."""

    function: StateFunction
    times: np.ndarray
    values: np.ndarray
    """(time, component)"""
    sigma: np.ndarray | None
    """(time, component): standard deviations, if known."""
    name: str
    unit: str

    @property
    def components(self) -> int:
        """Number of components of each sample."""
        return int(self.values.shape[1])


Measurements = Measurement | Sequence[Measurement] | Mapping[str, Measurement]


def measurement(
    function: StateFunction | Turn | Slide | Distance | str,
    times: ArrayLike,
    values: ArrayLike,
    sigma: ArrayLike | None = None,
    *,
    name: str = "",
    unit: str = "",
) -> Measurement:
    """Measured samples of a quantity, for `Mechanism.fit`.

    Args:
        function: the measured function of the state (a number or a vector), an output of the
            model, or an expression as text: `"angle('rod')"`.
        times: times of the samples (s).
        values: a number, or a row of numbers, for each time.
        sigma: standard deviation of the noise: one for all, or like `values`; None if unknown.
        name: name in tables and figures.
        unit: unit of the values.

    Raises:
        ModelError: if shapes do not match or numbers are not finite.

    Returns:
        A `Measurement`, for `Mechanism.fit`.

    >>> import varimech as vm
    >>> angles = [0.98, 0.93, 0.85]
    >>> swing = vm.measurement(lambda s: s.angle("rod"), [0.1, 0.2, 0.3], angles, unit="rad")
    """
    label = f"measurement {name!r}" if name else "measurement"
    state_function = measured_function(function)
    when, numbers = sample_times(label, times), _numbers(label, "values", values)
    table = numbers[:, None] if numbers.ndim == 1 else numbers
    if table.ndim != 2 or table.shape[0] != when.size:
        problem = f"of shape {numbers.shape} for {when.size} times"
        raise ModelError(
            problem, element=label, field="values", remedy="give a number or a row for each time"
        )
    deviations = (
        None
        if sigma is None
        else _deviations(label, _numbers(label, "sigma", sigma), numbers, table.shape)
    )
    return Measurement(state_function, when, table, deviations, name, unit)


def _deviations(
    label: str, sigma: np.ndarray, values: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """Standard deviations, (time, component), from a single one, or one for each time, each
    component, or each value.
    """
    count = shape[0]
    if (
        sigma.ndim == 1
        and sigma.size > 1
        and values.ndim == 2
        and values.shape[0] == values.shape[1] == sigma.size
    ):
        problem = "may be one for each time or for each component: give it as a table like values"
        raise ModelError(problem, element=label, field="sigma")
    try:
        deviations = np.broadcast_to(
            sigma[:, None] if sigma.ndim == 1 and sigma.size == count else sigma, shape
        ).copy()
    except ValueError:
        problem = f"of shape {sigma.shape} does not match values of shape {values.shape}"
        raise ModelError(problem, element=label, field="sigma") from None
    if (deviations <= 0).any():
        problem, least = "must be positive", float(deviations.min())
        raise ModelError(problem, element=label, field="sigma", value=least)
    return deviations


def measured_function(function: StateFunction | Turn | Slide | Distance | str) -> StateFunction:
    """Convert the measured quantity to a function of the state."""
    if isinstance(function, (Turn, Slide, Distance)):
        return lambda s: s.output(function)
    return checked_callable(function)


def sample_times(label: str, times: ArrayLike) -> np.ndarray:
    """Checked times of samples (s).

    Raises:
        ModelError: unless they are numbers from 0 on.
    """
    when = _numbers(label, "times", times)
    if when.ndim != 1 or when.size == 0 or (when < 0).any():
        problem = "must be a list of numbers from 0 on"
        raise ModelError(problem, element=label, field="times", value=times)
    return when


def component_suffix(m: Measurement, component: int) -> str:
    """Suffix that identifies one of several components."""
    if m.components == 1:
        return ""
    return f" {'xyz'[component]}" if m.components <= 3 else f" {component}"


def named_measurements(measured: Measurements) -> dict[str, Measurement]:
    """Measurements by name; unnamed ones are called y1, y2, …"""
    if isinstance(measured, Mapping):
        pairs = list(measured.items())
    else:
        several = (
            [measured]
            if isinstance(measured, Measurement) or not isinstance(measured, Sequence)
            else measured
        )
        pairs = [(getattr(m, "name", "") or f"y{k + 1}", m) for k, m in enumerate(several)]
    if not pairs:
        raise ModelError(
            "no measurements; give at least one varimech.measurement(function, times, values)",
            element="fit",
        )
    named: dict[str, Measurement] = {}
    for name, one in pairs:
        if not isinstance(one, Measurement):
            problem = (
                "is not a measurement; make one with varimech.measurement(function, times, values)"
            )
            raise ModelError(problem, element="fit", field=repr(name), value=one)
        if name in named:
            problem = f"two measurements are called {name!r}; choose another name"
            raise ModelError(problem, element="fit")
        named[str(name)] = replace(one, name=str(name))
    has_sigma = {m.sigma is not None for m in named.values()}
    if len(has_sigma) > 1:
        raise ModelError(
            "give sigma for all measurements or for none: otherwise their weights are undefined",
            element="fit",
        )
    if has_sigma == {False} and len({m.unit for m in named.values()}) > 1:
        raise ModelError(
            "measurements of different units need sigma= for their relative weights", element="fit"
        )
    return named


def _numbers(label: str, what: str, numbers: object) -> np.ndarray:
    try:
        array = np.asarray(numbers, dtype=float)
    except (TypeError, ValueError):
        raise ModelError("are not numbers", element=label, field=what, value=numbers) from None
    if not np.isfinite(array).all():
        problem = "are not all finite; remove samples without a value"
        raise ModelError(problem, element=label, field=what)
    return array
