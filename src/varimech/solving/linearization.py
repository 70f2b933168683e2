"""Linear equations of small motions about a motion of a mechanism, in independent coordinates:

    ẇ = A w + B u,     z = C w + D u,     w = (y, ẏ)

Along the motion, x = (q, q̇, q̈, λ) satisfies for all states w and inputs (among the π)

    Φ(q, π) = 0,          h(q) = y
    Φ̇(q, q̇, π) = 0,       ḣ(q, q̇) = ẏ                   or velocity constraints Ψ
    M q̈ + Φ_qᵀ λ = Q,     Φ̈(q, q̇, q̈, π) = 0             together P(x, π) = r(w),

and ẇ = (ḣ, ḧ) and the outputs z are functions F(x, π). So with P_x X = r_w for states, P_x X = −P_π
for inputs, the matrices are S = [A B; C D] = F_x X + F_π: exact, also for closed loops and drivers.
P_x is block triangular. Along any change (x', π') of the motion,

    P_x X' = −(P_u s)_u u',     S' = F_x X' + (F_u s)_u u',     u = (x, π),  s = (X, unit of π).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..coordinates.linear import column
from ..core.symbols import SX
from .independent_states import IndependentStates
from .linear_inputs import Input, InputEquations
from .regular_systems import Solve, solver_of


@dataclass(frozen=True)
class Place:
    """State of a motion at one instant, with parameters and time."""

    x: np.ndarray
    """q, q̇, q̈, λ."""
    ρ: np.ndarray
    t: float


@dataclass(frozen=True)
class Matrices:
    """S = [A B; C D] at an instant, with the intermediate results from which it was computed."""

    S: np.ndarray
    seeds: np.ndarray
    """(x and π, state or input)"""
    partials: np.ndarray
    """∂(P, F)/∂(x, π)."""
    solve: tuple[Solve, Solve, Solve]
    """Solvers with ∂P/∂q, ∂P/∂q̇ and ∂P/∂(q̈, λ) of the three lines."""


class Linearization:
    """The linearised equations of a mechanism for selected states, inputs and outputs."""

    def __init__(self, extended_equations: InputEquations, states: IndependentStates, outputs: SX):
        self.equations = e = extended_equations.equations
        self.inputs, self.states = extended_equations.inputs, states
        c = states.candidates
        further = ca.vertcat(extended_equations.symbols, extended_equations.since)
        self._x = e.packed
        self._π = ca.vertcat(e.ρ, e.t, further, c.q_ref, c.v_ref, c.a_ref)
        rates = c.differentiate(states.positions)
        velocities = states.velocities
        lines = [
            ca.vertcat(e.constraints, states.fixing),
            ca.vertcat(e.constraint_rate, velocities, states.resting),
            ca.vertcat(e.balance, e.constraint_acceleration),
        ]
        changes = [rates, c.differentiate(velocities), outputs]
        self._rows = [x.numel() for x in (*lines, *changes)]
        self._all = ca.densify(ca.vertcat(*lines, *changes))
        self._u = ca.vertcat(self._x, self._π)
        self._n, self._m = e.q.numel(), e.λ.numel()

    @property
    def state_count(self) -> int:
        """Number of states of the mechanism."""
        return self._rows[3] + self._rows[4]

    @property
    def position_count(self) -> int:
        """Number of states that are positions."""
        return self._rows[3]

    @property
    def velocity_count(self) -> int:
        """Number of states that are rates or of first order."""
        return self._rows[4]

    def at(self, place: Place, parameters: list[int] | None = None) -> Matrices:
        """Compute S at an instant: columns are states, then inputs (three of each driver), then
        parameters at the given positions; rows are rates of states, then outputs.
        """
        J = np.array(self._jacobian(place.x, self._values(place)))
        p, f = self._split
        n = self._n
        solve = (
            solver_of(J[: p[0], :n]),
            solver_of(J[p[0] : p[1], n : 2 * n]),
            solver_of(J[p[1] : p[2], 2 * n : 3 * n + self._m]),
        )
        units = self._seeds(parameters or [])
        r = self._right_hand_sides(units.shape[1])
        X = self._solved(J, solve, r - J[:f, self._size :] @ units)
        seeds = np.vstack([X, units])
        return Matrices(J[f:] @ seeds, seeds, J, solve)

    def along(self, place: Place, matrices: Matrices, changes: np.ndarray) -> np.ndarray:
        """Compute S' along changes of x and π, one per column: (row, column, change)."""
        f, k = self._split[1], matrices.seeds.shape[1]
        count = changes.shape[1]
        if not count or not k:
            return np.zeros((self._all.numel() - f, k, count))
        curvature = self._curvature.map(k * count)
        u = np.concatenate([place.x, self._values(place)])
        values = np.array(
            curvature(u, np.tile(matrices.seeds, (1, count)), np.repeat(changes, k, axis=1))
        )
        X = self._solved(matrices.partials, matrices.solve, -values[:f])
        S = matrices.partials[f:, : self._size] @ X + values[f:]
        return np.asarray(S.reshape(-1, count, k).transpose(0, 2, 1))

    def completed(
        self, matrices: Matrices, q_: np.ndarray, v_: np.ndarray, π_: np.ndarray
    ) -> np.ndarray:
        """Complete changes of q, q̇ and of ρ and t to changes of x and π."""
        (_, b, c), n = self._split[0], self._n
        J = matrices.partials
        s = self._size
        rest = np.zeros((self._π.numel() - π_.shape[0], π_.shape[1]))
        π = np.vstack([π_, rest])
        π[self._place_of_since] = π_[-1]
        right = J[b:c, :n] @ q_ + J[b:c, n : 2 * n] @ v_ + J[b:c, s:] @ π
        a_ = matrices.solve[2](-right)
        π[-3 * n :] = np.vstack([q_, v_, a_[:n]])
        return np.vstack([q_, v_, a_, π])

    def rates(self, place: Place) -> np.ndarray:
        """Compute ẇ."""
        p = self._split[1]
        return column(self._value(place.x, self._values(place)))[p : p + self.state_count]

    def velocities(self, place: Place) -> np.ndarray:
        """Compute ẏ and first-order states."""
        first = self._split[0][0] + self._m
        values = column(self._value(place.x, self._values(place)))
        return values[first : first + self.velocity_count]

    def velocities_for(self, place: Place, target: np.ndarray) -> np.ndarray:
        """Compute q̇ that yields the velocities `target`, at an instant whose velocities are zero."""
        (a, b, _), n = self._split[0], self._n
        missing = column(self._value(place.x, self._values(place)))[a:b]
        missing[self._m : self._m + self.velocity_count] -= target
        J = np.array(self._jacobian(place.x, self._values(place)))[a:b, n : 2 * n]
        return solver_of(J)(-missing[:, None])[:, 0]

    def accelerations(self, place: Place) -> np.ndarray:
        """Compute q̈ and λ at an instant where they are not set."""
        (_, b, c), n = self._split[0], self._n
        left = column(self._value(place.x, self._values(place)))[b:c]
        J = np.array(self._jacobian(place.x, self._values(place)))[b:c, 2 * n : 3 * n + self._m]
        return solver_of(J)(-left[:, None])[:, 0]

    def closure(self, q: np.ndarray, place: Place) -> tuple[np.ndarray, np.ndarray]:
        """Compute Φ and Φ_q at other positions."""
        x = np.concatenate([q, place.x[q.size :]])
        at = Place(x, place.ρ, place.t)
        Φ = column(self._value(x, self._values(at)))[: self._m]
        return Φ, np.array(self._jacobian(x, self._values(at)))[: self._m, : self._n]

    def moves_at_rest(self, place: Place) -> bool:
        """Whether constraints are violated at zero velocity, because a driver moves."""
        a, m = self._split[0][0], self._m
        rates = column(self._value(place.x, self._values(place)))[a : a + m]
        return bool(np.abs(rates).max(initial=0.0) > 0)

    def velocity_changes(self, matrices: Matrices, changes: np.ndarray) -> np.ndarray:
        """Compute changes of ẏ and of first-order states for changes of x and π."""
        first = self._split[0][0] + self._m
        return np.asarray(matrices.partials[first : first + self.velocity_count] @ changes)

    def speed(self, place: Place) -> float:
        """Return the largest velocity, over the size of positions (1/s)."""
        n = self._n
        moving = np.delete(place.x[n : 2 * n], self.states.first_order)
        q, v = (float(np.abs(x).max(initial=0.0)) for x in (place.x[:n], moving))
        # relative coordinates may all be near zero; their size is then that of angles, 1 rad
        return v / ((q or 1.0) if self.equations.sizes is None else max(q, 1.0))

    def _values(self, place: Place) -> np.ndarray:
        """Return the value of π."""
        inputs = np.zeros(self._π.numel() - place.ρ.size - 2 - 3 * self._n)
        return np.concatenate([place.ρ, [place.t], inputs, [place.t], place.x[: 3 * self._n]])

    @property
    def _place_of_since(self) -> int:
        return int(self._π.numel()) - 3 * self._n - 1

    @property
    def _size(self) -> int:
        return int(self._x.numel())

    @property
    def _split(self) -> tuple[tuple[int, int, int], int]:
        """Row indices: ends of the three lines, and the beginning of F."""
        a, b, c = (int(x) for x in np.cumsum(self._rows[:3]))
        return (a, b, c), c

    def _seeds(self, parameters: list[int]) -> np.ndarray:
        """Return the columns of units of π; zero for states."""
        size, p = self._π.numel(), self.equations.ρ.numel()
        names = list(self.equations.model.parameter_set.parameters)
        places: list[int] = []
        own = p + 1
        for i in self.inputs:
            if i.of == "parameter":
                places.append(names.index(i.name))
                continue
            places += range(own, own + i.symbols.numel())
            own += i.symbols.numel()
        places += parameters
        units = np.zeros((size, self.state_count + len(places)))
        units[places, range(self.state_count, units.shape[1])] = 1.0
        return units

    def _right_hand_sides(self, columns: int) -> np.ndarray:
        """Return r_w: ones where h or ḣ equal a state."""
        (a, _, c), m = self._split[0], self._m
        r = np.zeros((c, columns))
        positions, velocities = self.position_count, self.velocity_count
        r[range(m, m + positions), range(positions)] = 1.0
        r[range(a + m, a + m + velocities), range(positions, positions + velocities)] = 1.0
        return r

    def _solved(
        self, J: np.ndarray, solve: tuple[Solve, Solve, Solve], r: np.ndarray
    ) -> np.ndarray:
        """Solve P_x X = r for X, line by line."""
        (a, b, c), n = self._split[0], self._n
        q = solve[0](r[:a])
        v = solve[1](r[a:b] - J[a:b, :n] @ q)
        rest = solve[2](r[b:c] - J[b:c, :n] @ q - J[b:c, n : 2 * n] @ v)
        return np.vstack([q, v, rest])

    @cached_property
    def _value(self) -> ca.Function:
        return ca.Function("PF", [self._x, self._π], [self._all])

    @cached_property
    def _jacobian(self) -> ca.Function:
        return ca.Function("PF_u", [self._x, self._π], [ca.jacobian(self._all, self._u)])

    @cached_property
    def _curvature(self) -> ca.Function:
        """Compile (u, s, u') → ((P, F)_u s)_u u'."""
        s, d = (SX.sym(name, self._u.numel()) for name in ("s", "u'"))
        first = ca.jtimes(self._all, self._u, s)
        return ca.Function("curvature", [self._u, s, d], [ca.densify(ca.jtimes(first, self._u, d))])


def extended(S: np.ndarray, states: int, inputs: tuple[Input, ...]) -> np.ndarray:
    """Extend S, or its derivatives, by u and u̇ of driver inputs as further states, with ü as their
    inputs.

    Columns of further parameters are left out. Rows of the further states are zero:
    `add_driver_rates` fills them.
    """
    drivers = [i for i in inputs if i.of == "driver"]
    more, k = 2 * len(drivers), states
    kept, shifted = [], []
    for i in inputs:
        count = i.symbols.numel() if i.of == "driver" else 1
        shifted.append(k + count - 1)
        kept += [k, k + 1] if i.of == "driver" else []
        k += count
    chosen = S[:, [*range(states), *kept, *shifted]]
    zeros = np.zeros((more, *chosen.shape[1:]))
    return np.concatenate([chosen[:states], zeros, chosen[states:]])


def add_driver_rates(S: np.ndarray, states: int, inputs: tuple[Input, ...]) -> None:
    """Set u' = u̇ and u̇' = ü of driver inputs in a matrix returned by `extended`."""
    drivers = [k for k, i in enumerate(inputs) if i.of == "driver"]
    first_input = states + 2 * len(drivers)
    for j, k in enumerate(drivers):
        row = states + 2 * j
        S[row, row + 1] = 1.0
        S[row + 1, first_input + k] = 1.0
