"""States, signals, controllers and actuators of random mechanisms: each reads an output of the
motion or an earlier signal, and its output acts as a force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from random_geometry import direction_of

import varimech as vm

if TYPE_CHECKING:
    from random_mechanisms import Builder


@dataclass(frozen=True)
class Input:
    """A function of the state with magnitude about 1, and whether it depends on positions and time
    only.
    """

    function: Callable[[Any], Any]
    is_of_positions: bool


def control(b: Builder, name: str, method: str, label: str, rng: np.random.Generator) -> None:
    """Add a block of a kind and a force on a point by its output, or an actuator."""
    if method in ("dc_motor", "servo"):
        ACTUATORS[method](b, name, _input(b, label, rng), rng)
        return
    BLOCKS[method](b, name, _input(b, label, rng), rng)
    b.signals.append(name)
    output = "state" if method == "state" else "signal"
    force = rng.uniform(-3, 3) * direction_of(b.recipe, rng)
    act = lambda s: [float(x) * getattr(s, output)(name) for x in force]  # noqa: E731
    b.m.force(f"{name}force", label, act)


def _input(b: Builder, label: str, rng: np.random.Generator) -> Input:
    """A position, a velocity, a function of time, or an earlier signal."""
    d, size = direction_of(b.recipe, rng), b.g.scale
    speed, scheme = float(np.sqrt(10 * size)), int(rng.integers(5))
    if scheme == 0:
        return Input(lambda s: vm.dot(d, s.position(label)) / size, True)
    if scheme == 1:
        return Input(lambda s: vm.dot(d, s.velocity(label)) / speed, False)
    if scheme == 2:
        return Input(lambda s: 1 + vm.sin(0.5 + 3 * s.time / np.sqrt(size)), True)
    if scheme == 3 and b.signals:
        earlier = b.signals[int(rng.integers(len(b.signals)))]
        read = "state" if earlier in b.states else "signal"
        return Input(lambda s: getattr(s, read)(earlier), False)
    target = b.number(float(rng.uniform(-1, 1)))
    return Input(lambda s: target - vm.dot(d, s.position(label)) / size, True)


def _time(b: Builder, rng: np.random.Generator) -> float:
    """Draw a time constant of about the duration of a run."""
    return float(b.duration * np.exp(rng.uniform(-0.5, 2)))


def _state(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    b.states.add(name)
    T, initial = b.number(_time(b, rng)), b.number(float(rng.uniform(-1, 1)))
    b.m.state(name, rate=lambda s: (u.function(s) - s.state(name)) / T, initial=initial)


def _signal(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    gain = b.number(float(rng.uniform(-1, 1)))
    b.m.signal(name, lambda s: gain * vm.sin(u.function(s)))


def _lag(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    b.m.lag(name, u.function, time_constant=b.number(_time(b, rng)), gain=b.number(1.5))


def _lead(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    lead, lag = (b.number(_time(b, rng)) for _ in range(2))
    b.m.lead(name, u.function, lead_time=lead, lag_time=lag, gain=b.number(0.8))


def _transfer_function(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    T, order = _time(b, rng), int(rng.integers(1, 4))
    poles = np.poly(-rng.uniform(0.3, 1.5, order) / T)
    zeros = rng.uniform(-1, 1, int(rng.integers(1, order + 2)))
    numerator = [float(x) / T ** (order - len(zeros) + 1 + k) for k, x in enumerate(zeros)]
    b.m.transfer_function(
        name, u.function, [b.number(x) for x in numerator], [b.number(float(x)) for x in poles]
    )


def _state_space(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    n, T = int(rng.integers(1, 4)), _time(b, rng)
    A = (rng.uniform(-1, 1, (n, n)) - 1.5 * np.eye(n)) / T
    rows: list[list[Any]] = A.tolist()
    rows[0][0] = b.number(rows[0][0])
    B, C = rng.uniform(-1, 1, (n, 2)) / T, rng.uniform(-1, 1, (1, n))
    D = rng.uniform(-1, 1, (1, 2)).tolist() if rng.random() < 0.5 else None
    b.m.state_space(
        name,
        lambda s: [u.function(s), vm.cos(s.time)],
        rows,
        B.tolist(),
        C.tolist(),
        D,
        initial=[b.number(float(x)) for x in rng.uniform(-1, 1, n)],
    )


def _pid(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    T = _time(b, rng)
    given: dict[str, Any] = {}
    if rng.random() < 0.7:
        given["ki"] = b.number(1.0 / T)
    if rng.random() < 0.7:
        given["kd"] = b.number(0.3 * T)
        if not u.is_of_positions or rng.random() < 0.5:
            given |= {"filter_time": b.number(T), "initial_input": float(rng.uniform(-1, 1))}
    if rng.random() < 0.3:
        given |= {"low": b.number(-1.2), "high": 0.9}
    b.m.pid(name, u.function, kp=b.number(float(rng.uniform(0.3, 2))), **given)


def _rate_limit(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    T = _time(b, rng)
    given = {"falling": b.number(0.4 / T)} if rng.random() < 0.5 else {}
    initial = float(rng.uniform(-1, 1))
    rising = b.number(float(rng.uniform(0.2, 2)) / T)
    b.m.rate_limit(name, u.function, rising=rising, time_constant=T, initial=initial, **given)


def _delay(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    b.m.delay(name, u.function, time=b.number(_time(b, rng)), order=int(rng.integers(1, 4)))


def _sample_and_hold(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    period = float(b.duration * rng.uniform(0.2, 1.5))
    b.m.sample_and_hold(name, u.function, period=b.number(period))


def _dc_motor(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    turns, size = b._turns, b.g.scale
    if not turns:
        return
    R, k = float(rng.uniform(0.5, 2)), size * float(rng.uniform(-1, 1))
    given: dict[str, Any] = {}
    if rng.random() < 0.7:
        given = {"inductance": b.number(R * _time(b, rng)), "initial": size, "size": size}
    volts = b.number(size * float(rng.uniform(-3, 3)))
    b.m.dc_motor(
        name,
        turns[int(rng.integers(len(turns)))][0],
        voltage=volts if rng.random() < 0.3 else lambda s: volts * u.function(s),
        resistance=b.number(R),
        constant=b.number(k),
        **given,
    )


def _servo(b: Builder, name: str, u: Input, rng: np.random.Generator) -> None:
    turning = [x[0] for x in b._turns]
    moved = [(x, b.g.scale**2, 1.0) for x in turning]
    moved += [(x[0], 1.0, b.g.scale) for x in b._slides if x[0] not in turning]
    if not moved:
        return
    joint, unit, size = moved[int(rng.integers(len(moved)))]
    T = _time(b, rng)
    given: dict[str, Any] = {}
    if rng.random() < 0.7:
        given["ki"] = b.number(10.0 * unit / T)
    if rng.random() < 0.7:
        given["kd"] = b.number(unit)
        if not u.is_of_positions:
            given["target_rate"] = 0.1 * size
    if rng.random() < 0.3:
        given["limit"] = b.number(4.0 * unit * size)
    b.m.servo(name, joint, lambda s: size * u.function(s), kp=b.number(10.0 * unit), **given)


BLOCKS: dict[str, Callable[[Builder, str, Input, np.random.Generator], None]] = {
    "state": _state,
    "signal": _signal,
    "lag": _lag,
    "lead": _lead,
    "transfer_function": _transfer_function,
    "state_space": _state_space,
    "pid": _pid,
    "rate_limit": _rate_limit,
    "delay": _delay,
    "sample_and_hold": _sample_and_hold,
}
ACTUATORS = {"dc_motor": _dc_motor, "servo": _servo}
