"""Tables of numbers as functions: linear, monotone cubic or spline interpolation in one variable, or in
two on a rectangular grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from numbers import Real
from os import PathLike
from typing import Any, Literal, get_args

import casadi as ca
import numpy as np

from .errors import ModelError, near_names
from .mathematics import _expression
from .piecewise import Selection, pieces_of, wrapped_argument
from .symbols import NOT_SYMBOLIC, SX
from .table_files import read_columns, read_grid
from .units import si_value

Kind = Literal["linear", "pchip", "cubic"]
Outside = Literal["linear", "hold", "repeat", "error"]
Ends = Literal["not-a-knot", "natural", "clamped", "periodic"]
MOST = 20_000
"""Largest number of values of a table: an evaluation takes some ten operations for each, whatever
the argument.
"""
SAME = 1e-12
"""A function through the points of a table; created by `varimech.table`. Call it with numbers,
arrays, parameters or state quantities.

Attributes:
    x: arguments, increasing.
    y: values at x; in a table of two variables, the second arguments.
    z: values at x and y of a table of two variables, otherwise None.
    kind: kind of interpolation.
    outside: extrapolation outside of the range, for each variable.
    ends: end conditions of a cubic spline.
"""


class Table:
    """A function through the points of a table; created by `varimech.table`. Call it with numbers,
    arrays, parameters or state quantities.

    Attributes:
        x: arguments, increasing.
        y: values at x; in a table of two variables, the second arguments.
        z: values at x and y of a table of two variables, otherwise None.
        kind: kind of interpolation.
        outside: extrapolation outside of the range, for each variable.
        ends: end conditions of a cubic spline.
    """

    def __init__(
        self,
        x: object,
        y: object,
        z: object = None,
        *,
        kind: str = "linear",
        outside: object = "linear",
        ends: str | None = None,
        label: str = "table",
    ):
        self._label = label
        self.kind: str = _one_of(label, "kind", kind, Kind)
        self.x = _grid(label, "x", x)
        self.z: np.ndarray | None = None
        if z is None:
            self.y = _values(label, "y", y, self.x.size)
            self._grids: tuple[np.ndarray, ...] = (self.x,)
        else:
            self.y = _grid(label, "y", y)
            self.z = _matrix(label, z, self.x.size, self.y.size)
            self._grids = (self.x, self.y)
        if self.values.size > MOST:
            problem = f"has {self.values.size} values; at most {MOST} are allowed"
            raise ModelError(problem, element=label, remedy="leave out rows between others")
        self.outside = self._checked_outside(outside)
        self.ends = self._checked_ends(ends)

    @property
    def values(self) -> np.ndarray:
        """Interpolated values: y, or z of a table of two variables."""
        return self.y if self.z is None else self.z

    def _checked_outside(self, outside: object) -> tuple[str, ...]:
        given = (outside,) * len(self._grids) if isinstance(outside, str) else outside
        if not isinstance(given, (tuple, list)) or len(given) != len(self._grids):
            remedy = "give one word, or one for each variable"
            raise ModelError("", element=self._label, field="outside", value=outside, remedy=remedy)
        words = tuple(_one_of(self._label, "outside", word, Outside) for word in given)
        for axis, word in enumerate(words):
            if word == "repeat":
                self._check_repeating(axis)
        return words

    def _check_repeating(self, axis: int) -> None:
        """Check that the first and the last value are equal."""
        first, last = (np.take(self.values, k, axis=axis).ravel() for k in (0, -1))
        if self.values.dtype == object:
            same = all(_is_same(a, b) for a, b in zip(first, last, strict=True))
        else:
            same = bool(np.abs(last - first).max() <= SAME * np.ptp(self.values))
        if same:
            return
        problem = f": the first value, {first[0]}, and the last one, {last[0]}, differ"
        remedy = "a table that repeats ends with the value it begins with"
        raise ModelError(problem, element=self._label, field="outside", remedy=remedy)

    def _checked_ends(self, ends: str | None) -> str:
        repeats = "repeat" in self.outside
        if ends is None:
            return "periodic" if repeats and self.kind == "cubic" else "not-a-knot"
        if self.kind != "cubic":
            remedy = 'leave it out, or take kind="cubic"'
            problem = "belongs to cubic splines"
            raise ModelError(problem, element=self._label, field="ends", value=ends, remedy=remedy)
        _one_of(self._label, "ends", ends, Ends)
        if (ends == "periodic") != repeats or (repeats and set(self.outside) != {"repeat"}):
            remedy = 'give ends="periodic" with outside="repeat" in all variables, or neither'
            raise ModelError("", element=self._label, field="ends", value=ends, remedy=remedy)
        return ends

    def __call__(self, x: object, y: object = None, /) -> Any:
        """Evaluate the table.

        Args:
            x: number, array, or expression.
            y: second argument of a table of two variables.

        Returns:
            A float or an array for numbers, otherwise an expression, entry by entry.

        Raises:
            ModelError: for numbers outside of a table with `outside="error"`, and for a wrong
                number of arguments.
        """
        given = (x,) if y is None else (x, y)
        if len(given) != len(self._grids):
            problem = f"takes {len(self._grids)} arguments, not {len(given)}"
            raise ModelError(problem, element=self._label)
        expressions = [_argument(self._label, value) for value in given]
        if any(isinstance(value, SX) for value in expressions) or self._symbols:
            return self._entry_by_entry([SX(value) for value in expressions])
        arrays = np.broadcast_arrays(*expressions)
        self._check_range(arrays)
        interpolated = np.array(self._function(*[a.reshape(1, -1) for a in arrays])).reshape(
            arrays[0].shape
        )
        return float(interpolated) if interpolated.ndim == 0 else interpolated

    def _entry_by_entry(self, arguments: list[SX]) -> SX:
        shape = max((a.shape for a in arguments), key=lambda s: s[0] * s[1])
        if any(not a.is_scalar() and a.shape != shape for a in arguments):
            sizes = " and ".join(a.dim() for a in arguments)
            raise ModelError(f"cannot be computed for sizes {sizes}", element=self._label)
        numbers = [np.array(ca.DM(a)) if a.is_constant() else np.zeros(0) for a in arguments]
        self._check_range(numbers)
        entries = [
            self._function(*[a if a.is_scalar() else a[k] for a in arguments], *self._symbols)
            for k in range(shape[0] * shape[1])
        ]
        return ca.reshape(ca.vertcat(*entries), *shape)

    def _check_range(self, arguments: Sequence[np.ndarray]) -> None:
        for name, a, grid, word in zip("xy", arguments, self._grids, self.outside, strict=False):
            wrong = a[~((a >= grid[0]) & (a <= grid[-1]))] if word == "error" else a[np.isnan(a)]
            if wrong.size:
                problem = f"is outside of its range, {grid[0]:g} to {grid[-1]:g}"
                remedy = 'take outside="linear" or "hold", or add rows'
                raise ModelError(
                    problem, element=self._label, field=name, value=float(wrong[0]), remedy=remedy
                )

    @cached_property
    def _symbols(self) -> list[SX]:
        """Parameters that occur in the values."""
        if self.values.dtype != object:
            return []
        return list(ca.symvar(ca.vertcat(*self.values.ravel().tolist())))

    @cached_property
    def _function(self) -> ca.Function:
        """The value as a function of the arguments and of the parameters that occur in the values."""
        arguments = [SX.sym(name) for name in "xy"[: len(self._grids)]]
        inside = [
            wrapped_argument(a, grid) if word == "repeat" else a
            for a, grid, word in zip(arguments, self._grids, self.outside, strict=True)
        ]
        values: Any = self.values
        if self.z is not None:
            values = self._along_rows(inside[1])
        pieces = pieces_of(self.x, values, self.kind, self.outside[0], self.ends)
        value = Selection(inside[0], pieces).value(pieces)
        return ca.Function("table", [*arguments, *self._symbols], [value])

    def _along_rows(self, y: SX) -> list[SX]:
        """Return the values of a table of two variables at all x, for one y."""
        rows = [
            pieces_of(self.y, row, self.kind, self.outside[1], self.ends) for row in self.values
        ]
        selection = Selection(y, rows[0])
        return [selection.value(row) for row in rows]

    @property
    def operations(self) -> int:
        """Number of scalar operations of one evaluation."""
        return int(self._function.n_instructions())

    def __repr__(self) -> str:
        sizes = " × ".join(str(grid.size) for grid in self._grids)
        return f"<Table: {self.kind}, {sizes} values, outside {'/'.join(self.outside)}>"


def table(
    x: object,
    y: object = None,
    z: object = None,
    *,
    kind: Kind = "linear",
    outside: Outside | tuple[Outside, Outside] = "linear",
    ends: Ends | None = None,
    columns: Sequence[str | int] | None = None,
    units: Sequence[str] | None = None,
) -> Table:
    """Make a function from a table, for use in any expression.

    "linear" is continuous, with kinks. "pchip" (Fritsch and Butland) has a continuous derivative and no
    overshoot, "cubic" two continuous derivatives; both are those of SciPy. Steps of adaptive runs end at
    the rows of a table.

    Args:
        x: arguments, increasing; or the path of a CSV file with the columns x and y, or with a grid: y in
            the first row, x in the first column.
        y: values, numbers or expressions of parameters; second arguments if z is given.
        z: values of a table in two variables: `z[i][j]` belongs to `x[i]` and `y[j]`.
        kind: "linear", "pchip" or "cubic"; one variable after the other if there are two.
        outside: what it is outside of the range of x: "linear" (continues with the slope at the
            end), "hold" (the value at the end), "repeat" (periodic), "error" (numbers and runs
            raise an error). A pair in two variables.
        ends: of cubic splines: "not-a-knot" (default), "natural", "clamped" or "periodic" (with "repeat").
        columns: names or numbers, from 0, of the columns of a CSV file; a file with two columns needs none.
        units: those of x and y, or of x, y and z, if not SI: ("deg", "mm").

    Returns:
        The function.

    Raises:
        ModelError: for rows that are not sorted, repeated or not finite, for fewer than two rows, for values
            of another shape, and for a file that cannot be read.

    >>> import varimech as vm
    >>> lift = vm.table([0, 90, 180], [0, 5, 0], kind="pchip", units=("deg", "mm"))
    >>> round(lift(0.75), 6)  # m, at 0.75 rad
    0.003635
    """
    if isinstance(x, (str, PathLike)):
        if y is not None or z is not None:
            problem = "has its values in the file"
            raise ModelError(
                problem, element="table", field="x", value=str(x), remedy="omit y and z"
            )
        x, y, z = read_columns(x, columns) if columns is not None else read_grid(x)
    elif columns is not None:
        problem = "belongs to a CSV file"
        raise ModelError(
            problem, element="table", field="columns", value=columns, remedy="leave it out"
        )
    x, y, z = in_si_units(x, y, z, units, "table")
    return Table(x, y, z, kind=kind, outside=outside, ends=ends)


def in_si_units(x: Any, y: Any, z: Any, units: Sequence[str] | None, label: str) -> tuple[Any, ...]:
    """Convert the columns of a table to SI units."""
    columns = (x, y, z)
    if units is None:
        return columns
    count = 2 if z is None else 3
    if isinstance(units, str) or len(units) != count:
        remedy = f"give one for each of {', '.join('xyz'[:count])}"
        raise ModelError("", element=label, field="units", value=units, remedy=remedy)
    factors = [si_value(1.0, unit, f"{label}: units") for unit in units]
    return (*[_scaled(c, f) for c, f in zip(columns, factors, strict=False)], *columns[count:])


def _scaled(column: Any, factor: float) -> Any:
    """Multiply numbers by a factor; values that cannot be multiplied are rejected later."""
    if factor == 1.0:
        return column
    if isinstance(column, (list, tuple)):
        return [_scaled(each, factor) for each in column]
    try:
        return column * factor
    except NOT_SYMBOLIC:
        return column


def _argument(label: str, value: Any) -> Any:
    """Return an array of numbers, or an expression."""
    if isinstance(value, Real) or (isinstance(value, np.ndarray) and value.dtype != object):
        return np.asarray(value, dtype=float)
    expression = _expression(label, value)
    if isinstance(expression, SX) and not expression.is_constant():
        return expression
    if isinstance(value, SX):  # a constant, in an expression
        return expression
    return np.array(ca.DM(expression)).ravel()


def _one_of(label: str, field: str, value: Any, words: Any) -> str:
    known = get_args(words)
    if value in known:
        return str(value)
    near = near_names(str(value), known)
    remedy = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(map(repr, known))}"
    raise ModelError("is not known", element=label, field=field, value=value, remedy=remedy)


def _is_same(a: Any, b: Any) -> bool:
    return bool(SX(a).is_constant() and SX(b).is_constant() and float(a) == float(b)) or bool(
        ca.is_equal(SX(a), SX(b), 20)
    )


def _numbers(label: str, field: str, values: Any) -> np.ndarray:
    """Return an array of floats, or of expressions where some values are not numbers."""
    if isinstance(values, ca.DM):
        values = np.array(values)
    elif isinstance(values, SX):
        values = _entries(values)
    array = np.array(values, dtype=float) if _is_plain(values) else _symbolic(label, field, values)
    if array.dtype != object and not np.isfinite(array).all():
        k = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = "".join(f"[{i}]" for i in k)
        raise ModelError(
            "is not finite",
            element=label,
            field=f"{field}{place}",
            value=float(array[k]),
            remedy="remove the row, or give a number",
        )
    return array


def _is_plain(values: Any) -> bool:
    """Return whether values are numbers, in an array or in rows of equal length."""
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "iuf"
    if not isinstance(values, (list, tuple, range)):
        return False
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        return True
    return all(map(_is_plain, values)) and len({np.shape(row) for row in values}) == 1


def _entries(values: SX) -> list[Any]:
    """Return the entries of a vector, or the rows of a matrix."""
    rows, count = values.shape
    if 1 in (rows, count):
        return [values[k] for k in range(rows * count)]
    return [[values[i, j] for j in range(count)] for i in range(rows)]


def _symbolic(label: str, field: str, values: Any) -> np.ndarray:
    """Return an array of numbers and scalar expressions."""
    try:
        rows = [list(v) if isinstance(v, (list, tuple, np.ndarray)) else v for v in values]
    except TypeError:
        raise ModelError(
            "must be a list of numbers", element=label, field=field, value=values
        ) from None
    if len({len(row) if isinstance(row, list) else None for row in rows}) > 1:
        raise ModelError("has rows of different lengths", element=label, field=field)
    shape = (len(rows), len(rows[0])) if rows and isinstance(rows[0], list) else (len(rows),)
    array = np.empty(shape, dtype=object)
    for k in np.ndindex(*shape):
        value = rows[k[0]][k[1]] if len(shape) == 2 else rows[k[0]]
        place = f"{field}{''.join(f'[{i}]' for i in k)}"
        if isinstance(value, (str, bool)) or value is None:
            remedy = "give a number, or an expression of parameters"
            if isinstance(value, str):
                remedy = "give a number or an expression; m.table(name, …) reads texts"
            raise ModelError(
                "is not a number", element=label, field=place, value=value, remedy=remedy
            )
        entry = array[k] = SX(_expression(f"{label}: {place}", value))
        if not entry.is_scalar():
            raise ModelError("must be a single number", element=label, field=place, value=value)
        if entry.is_constant() and not np.isfinite(float(entry)):
            raise ModelError(
                "is not finite",
                element=label,
                field=place,
                value=float(entry),
                remedy="remove the row",
            )
    if all(value.is_constant() for value in array.ravel()):
        return np.array([float(value) for value in array.ravel()]).reshape(shape)
    return array


def _grid(label: str, field: str, values: Any) -> np.ndarray:
    """Return an array of increasing numbers."""
    grid = _numbers(label, field, values)
    if grid.dtype == object:
        remedy = "arguments of a table are numbers; only its values may depend on parameters"
        raise ModelError("is an expression", element=label, field=field, remedy=remedy)
    if grid.ndim != 1 or grid.size < 2:
        problem = f"has the shape {grid.shape}" if grid.ndim != 1 else f"has {grid.size} values"
        remedy = "a table has a list of two or more"
        raise ModelError(problem, element=label, field=field, remedy=remedy)
    wrong = np.flatnonzero(~(np.diff(grid) > 0))
    if wrong.size:
        k = int(wrong[0])
        again = grid[k] == grid[k + 1]
        remedy = "keep one of the two rows" if again else "sort the rows by it, in increasing order"
        problem = f"{'repeats' if again else 'is less than'} {field}[{k}] = {grid[k]:g}"
        raise ModelError(
            problem,
            element=label,
            field=f"{field}[{k + 1}]",
            value=float(grid[k + 1]),
            remedy=remedy,
        )
    return grid


def _values(label: str, field: str, values: Any, count: int) -> np.ndarray:
    array = _numbers(label, field, values)
    array = array.ravel() if array.ndim == 2 and 1 in array.shape else array
    if array.shape != (count,):
        problem = f"has the shape {array.shape}, and x has {count} values"
        remedy = "give one value for each x; a table in two variables needs z, too"
        raise ModelError(problem, element=label, field=field, remedy=remedy)
    return array


def _matrix(label: str, values: Any, rows: int, columns: int) -> np.ndarray:
    array = _numbers(label, "z", values)
    if array.shape != (rows, columns):
        problem = f"has the shape {array.shape}; x and y make it ({rows}, {columns})"
        remedy = "z[i][j] belongs to x[i] and y[j]"
        raise ModelError(problem, element=label, field="z", remedy=remedy)
    return array
