"""Linear equations of state: ẋ = A x + B u,  y = C x + D u."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.pid_law import is_zero
from ..model.signal_element import SignalElement
from ..model.signal_fields import Coefficients, MatrixOf, SignalFunction
from ..model.state import State
from ..model.user_functions import collecting, trial_state


class StateSpace(SignalElement):
    """A linear state-space model with any number of inputs and outputs: an observer, filter or
    controller.

    A single output is the signal `name`; several outputs are `name [0]`, `name [1]`, …. The states are
    `name state 0`, `name state 1`, ….
    """

    kind = "state space"
    input = SignalFunction(
        "Inputs u: a function of the state, a string with an expression in t and the state, or a list of"
        " these. They may use any signals and states, even if they are defined later.",
        size="any",
        positional=True,
    )
    A = MatrixOf("State matrix A, as rows of numbers.", positional=True)
    B = MatrixOf("Input matrix B, with a column for each input.", positional=True)
    C = MatrixOf("Output matrix C, with a row for each output.", positional=True)
    D = MatrixOf("Feedthrough matrix D; zero if not given.", default=None, positional=True)
    initial = Coefficients(
        "Initial states; zero if not given.",
        default=(0.0,),
    )
    size = fields.Scalar(
        "Typical value of the states, for the error control.", rule="positive", default=1.0
    )

    def prepare(self, model: ModelData) -> None:
        n, inputs = self.A.shape[0], self.B.shape[1]
        count = self.input(trial_state(model, self.label, later=collecting([]))).numel()
        self._D = self.D if self.D.numel() else SX.zeros(self.C.shape[0], inputs)
        expected = {
            "A": (self.A, (n, n)),
            "B": (self.B, (n, count)),
            "C": (self.C, (self.C.shape[0], n)),
            "D": (self._D, (self.C.shape[0], count)),
        }
        for name, (matrix, shape) in expected.items():
            if matrix.shape != shape:
                have, want = ("×".join(map(str, x)) for x in (matrix.shape, shape))
                raise ModelError(
                    f"{name} is {have} but must be {want} ({n} states, {count} inputs)",
                    element=self.label,
                )
        self._first = [SX(0)] * n if len(self.initial) == 1 and n > 1 else self.initial
        if len(self.initial) == 1 and n > 1 and not is_zero(self.initial[0]):
            self._first = self.initial
        if len(self._first) != n:
            raise ModelError(
                f"initial has {len(self._first)} values for {n} states", element=self.label
            )
        self._size = float(model.parameter_set.evaluate(self.size).item())

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        return tuple(
            OwnCoordinate(f"{self.name} state {k}", 1, x, size=self._size)
            for k, x in enumerate(self._first)
        )

    def _states(self, state: State) -> SX:
        return ca.vertcat(*[state.state(c.name) for c in self.coordinates()])

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        return ca.vertsplit(self.A @ self._states(state) + self.B @ self.input(state))

    def signal_units(self) -> dict[str, str]:
        rows = self.C.shape[0]
        names = [self.name] if rows == 1 else [f"{self.name} [{k}]" for k in range(rows)]
        return dict.fromkeys(names, self.unit)

    def signals(self, frames: Frames, state: State) -> Sequence[SX]:
        y = self.C @ self._states(state)
        if (
            not self._D.is_zero()
        ):  # without D, y does not depend on the input, which may be part of a loop
            y += self._D @ self.input(state)
        return ca.vertsplit(y)
