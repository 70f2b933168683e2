"""Linear equations of small motions, ẇ = A w + B u, z = C w + D u, with names of states, inputs and
outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.expressions import fixed_number
from .labels import with_units
from .margins import Margins, margins
from .result import Description, Result, Variable

if TYPE_CHECKING:
    import xarray as xr
    from scipy.signal import StateSpace


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Result):
    """Linear equations about a motion; made by `Mechanism.linearize`.

    States are deviations of independent coordinates and of their rates from the motion. A driver
    that is an input has its acceleration as the input, and its value and rate as states.
    """

    mechanism: str
    at: str
    time: float
    """s"""
    steady: bool
    """Whether the equations are constant along the motion."""
    states: tuple[str, ...]
    state_units: tuple[str, ...]
    inputs: tuple[str, ...]
    input_units: tuple[str, ...]
    outputs: tuple[str, ...]
    parameter_names: tuple[str, ...]
    matrix: np.ndarray
    """[A B; C D]."""
    matrix_derivatives: np.ndarray | None
    """(row, column, parameter)"""
    distributions: tuple[object, ...] = ()
    """Distributions of the parameters in the mechanism; None for a parameter without one."""

    A = Variable("(rate, state).")
    B = Variable("(rate, input).")
    C = Variable("(output, state).")
    D = Variable("(output, input).")
    _dims = ("rate", "state")

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, place and time."""
        return {
            "mechanism": self.mechanism,
            "at": self.at,
            "time": self.time,
            "steady": self.steady,
        }

    @cached_property
    def dataset(self) -> xr.Dataset:
        """A, B, C and D, and their derivatives (`A_derivative`, …) where there are any."""
        import xarray as xr

        n = len(self.states)
        blocks = {
            "A": (("rate", "state"), slice(0, n), slice(0, n)),
            "B": (("rate", "input"), slice(0, n), slice(n, None)),
            "C": (("output", "state"), slice(n, None), slice(0, n)),
            "D": (("output", "input"), slice(n, None), slice(n, None)),
        }
        variables: dict[str, object] = {
            k: (dims, self.matrix[i, j]) for k, (dims, i, j) in blocks.items()
        }
        coords: dict[str, object] = {
            **with_units("state", self.states, self.state_units),
            **with_units("input", self.inputs, self.input_units),
            "rate": list(self.states),
            "output": list(self.outputs),
        }
        if self.matrix_derivatives is not None:
            coords["parameter"] = list(self.parameter_names)
            for k, (dims, i, j) in blocks.items():
                variables[f"{k}_derivative"] = ((*dims, "parameter"), self.matrix_derivatives[i, j])
        return xr.Dataset(variables, coords=coords)

    def to_matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """A, B, C and D as plain arrays, for `control.ss(*model.to_matrices())` of python-control.

        Returns:
            The four matrices.
        """
        n, S = len(self.states), self.matrix
        return S[:n, :n], S[:n, n:], S[n:, :n], S[n:, n:]

    def to_scipy(self) -> StateSpace:
        """The model as a state space of SciPy.

        Returns:
            `scipy.signal.StateSpace`.

        Raises:
            ModelError: without inputs.
        """
        from scipy.signal import StateSpace

        if not self.inputs:
            raise ModelError(
                "there is no input", element="to_scipy", remedy="name some: inputs=['push']"
            )
        return StateSpace(*self.to_matrices())

    def frequency_response(
        self, frequencies: str | Sequence[float | str] | np.ndarray
    ) -> xr.Dataset:
        """H(iω) = C (iω − A)⁻¹ B + D, with derivatives where the model has any.

        Args:
            frequencies: Hz, or texts such as "2 kHz".

        Returns:
            `response` (frequency, output, input), complex, and `derivative` with (parameter) as its
            last dimension.

        Raises:
            ModelError: for frequencies that are not finite, and for that of an undamped mode.
        """
        import xarray as xr

        listed = [frequencies] if isinstance(frequencies, str) else frequencies
        if not isinstance(listed, np.ndarray) and np.iterable(listed):
            label = "frequency_response: frequency"
            listed = [fixed_number(x, "Hz", label) if isinstance(x, str) else x for x in listed]
        try:
            f = np.atleast_1d(np.asarray(listed, dtype=float))
        except (TypeError, ValueError):
            f = np.array([np.nan])
        if f.ndim != 1 or not np.isfinite(f).all():
            raise ModelError(
                "must be finite numbers (Hz)", element="frequency_response", value=frequencies
            )
        n, (A, B, C, D) = len(self.states), self.to_matrices()
        values, derivatives = [], []
        for each in f:
            K = 2j * np.pi * each * np.eye(n) - A
            try:
                X, Y = np.linalg.solve(K, B + 0j), np.linalg.solve(K.T, C.T + 0j).T
            except np.linalg.LinAlgError:
                raise ModelError(
                    "is that of a mode without damping, whose response is infinite",
                    element="frequency_response",
                    value=float(each),
                ) from None
            values.append(C @ X + D)
            if self.matrix_derivatives is not None:
                left = np.hstack([Y, np.eye(len(C))])
                right = np.vstack([X, np.eye(B.shape[1])])
                derivatives.append(
                    np.einsum("or,rcp,ci->oip", left, self.matrix_derivatives, right)
                )
        dims = ("frequency", "output", "input")
        coords: dict[str, object] = {
            "frequency": ("frequency", f, {"units": "Hz"}),
            "output": list(self.outputs),
            "input": list(self.inputs),
        }
        data: dict[str, object] = {"response": (dims, np.array(values))}
        if self.matrix_derivatives is not None:
            coords["parameter"] = list(self.parameter_names)
            data["derivative"] = ((*dims, "parameter"), np.array(derivatives))
        return xr.Dataset(data, coords=coords)

    def open_loop(self, input: str, output: str) -> LinearModel:
        """Open a loop that is closed in the model: between a controller's output u and the input
        w = u + d, where the disturbance d is `input`.

        Args:
            input: name of the input d that is added to the controller's output, such as the force
                that it commands, or a parameter of value 0 in the expression that uses it.
            output: name of the output u.

        Returns:
            The model from w to −u, L(s), for negative feedback 1 + L = 0, with derivatives where
            this model has them.

        Raises:
            ModelError: for an unknown name.

        >>> import varimech as vm
        >>> m = vm.Mechanism("cart", dimension=2)
        >>> origin = m.ground_point("O", (0, 0))
        >>> cart = m.body("cart", mass=2.0, inertia=1.0, points={"P": (0, 0)})
        >>> joint = m.prismatic("guide", "ground.O", "cart.P", axis=(1, 0))
        >>> law = "-8*displacement('guide') - 4*displacement_rate('guide')"
        >>> push = m.force("push", "cart.P", [law, 0])
        >>> m.start(displacement={"guide": 0.0})
        >>> linear = m.linearize(inputs="push", outputs={"u": law})
        >>> loop = linear.open_loop("push.x", "u")
        >>> A, B, C, D = loop.to_matrices()
        >>> A.round(9) + 0.0  # the cart alone
        array([[0., 1.],
               [0., 0.]])
        >>> C.round(9)
        array([[8., 4.]])
        """
        row, column = self._entry(input, output)
        n, (A, B, C, D) = len(self.states), self.to_matrices()
        b, c, d = B[:, [column]], C[[row]], D[row, column]
        r = 1 / (1 + d)
        matrix = np.block([[A - r * b @ c, r * b], [-r * c, np.array([[-r * d]])]])
        derivatives = None
        if self.matrix_derivatives is not None:
            S = self.matrix_derivatives[np.ix_([*range(n), n + row], [*range(n), n + column])]
            # in terms of w and x: x' = A x + b d, u = c x + D d, d = (w − c x)/(1 + D)
            left = np.block([[np.eye(n), -r * b], [np.zeros((1, n)), np.array([[-r]])]])
            right = np.block([[np.eye(n), np.zeros((n, 1))], [-r * c, np.array([[r]])]])
            derivatives = np.einsum("ar,rsp,sb->abp", left, S, right)
        return replace(
            self,
            inputs=(input,),
            input_units=(self.input_units[column],),
            outputs=(output,),
            matrix=matrix,
            matrix_derivatives=derivatives,
        )

    def margins(self, input: str, output: str) -> Margins:
        """Gain and phase margins of an open loop L(s), for negative feedback 1 + L = 0.

        Args:
            input: name of the loop's input.
            output: name of its output; a loop that is closed in the model is opened by `open_loop`
                first.

        Returns:
            Margins, crossover frequencies (Hz), whether the closed loop is stable, and derivatives of
            the margins where the model has them; `std()` of it gives standard deviations over tolerances.

        Raises:
            ModelError: for an unknown name.
        """
        self._entry(input, output)
        return margins(self, input, output)

    def _entry(self, input: str, output: str) -> tuple[int, int]:
        """Indices of an output and an input."""
        if input not in self.inputs:
            raise unknown_name("input", input, self.inputs)
        if output not in self.outputs:
            raise unknown_name("output", output, self.outputs)
        return self.outputs.index(output), self.inputs.index(input)

    def _described(self) -> Description:
        n, head = len(self.states), ["", *self.states, *self.inputs]
        names = [*(f"d/dt {s}" for s in self.states), *self.outputs]
        rows = [[name, *row] for name, row in zip(names, self.matrix.tolist(), strict=True)]
        counts = f"{n} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        title = f"Linear equations of {self.mechanism!r}, {self.at}, t = {self.time:g} s: {counts}"
        changing = "the linear equations change along the motion: these hold at one instant only"
        return Description(title, tables=[(head, rows)], notes=[] if self.steady else [changing])
