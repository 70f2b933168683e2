"""The builder of a mechanism: a method for every kind of element, and the initial conditions.

Each method checks its arguments before it changes the model. `Mechanism` adds the analyses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..core.errors import Label, ModelError, check_named
from ..core.expressions import CONSTANTS, Scope
from ..core.mathematics import FUNCTIONS
from ..core.names import check_name
from ..core.tables import Ends, Kind, Outside, Table, in_si_units, table
from ..model.body import Body, Point
from ..model.driver import Driver
from ..model.force import ForceLaw
from ..model.initial_condition_reader import InitialConditionReader
from ..model.joint import Joint
from ..model.model_data import ModelData
from ..model.parameter import (
    Number,
    Parameter,
    Parameters,
    Tolerance,
    Vector,
    stated_tolerance,
)
from ..model.parameter_set import evaluated
from ..model.state import OUTPUTS_IN_TEXT
from ..model.tolerance_cost import Cost
from ..model.writing import change
from .methods import ElementMethods, method_of
from .registry import ELEMENTS


class Model(ElementMethods):
    """A mechanism under construction: builder methods fill `data`, which all analyses read."""

    def __init__(self, name: str, *, gravity: Vector | None = None, dimension: int | None = None):
        self.data = ModelData(name, gravity=gravity, dimension=dimension)
        """The contents of the mechanism."""

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.data.name

    @property
    def dimension(self) -> int:
        """2 for a planar mechanism, 3 for a spatial one."""
        return self.data.dimension

    @property
    def bodies(self) -> Mapping[str, Body]:
        """Bodies and beams by name, including the ground."""
        return self.data.bodies

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Joints by name."""
        return self.data.joints

    @property
    def forces(self) -> Mapping[str, ForceLaw]:
        """Forces, torques, springs and dampers by name."""
        return self.data.forces

    @property
    def drivers(self) -> Mapping[str, Driver]:
        """Drivers by name."""
        return self.data.drivers

    @change
    def parameter(
        self,
        name: str,
        value: float | str,
        *,
        unit: str = "",
        bounds: tuple[float | str | None, float | str | None] | None = None,
        distribution: object = None,
        tolerance: float | str | None = None,
    ) -> Parameter:
        """Define a parameter: a named number that may vary.

        Numbers are in SI units; strings ("30 mm") are converted to the unit of the parameter.

        Args:
            name: name of the parameter.
            value: nominal value.
            unit: SI unit, which labels results and is used to convert strings.
            bounds: (lower, upper); None for no bound.
            distribution: a `varimech.Tolerance` or a distribution, for uncertainty analyses.
            tolerance: short for `distribution=varimech.Tolerance(tolerance)`, a width that
                corresponds to three standard deviations.

        Returns:
            The parameter, which can be used in place of numbers and in arithmetic.

        Raises:
            ModelError: if the name is already used, the value is outside the bounds, or both a
                tolerance and a distribution are given.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m", bounds=(0.5, 2.0), tolerance="10 mm")
        >>> L / 2
        SX((L/2))
        """
        check_name("parameter", name, without="")
        if tolerance is not None:
            if distribution is not None:
                raise ModelError(
                    "tolerance and distribution state the same twice",
                    element=f"parameter {name!r}",
                    remedy="leave one out",
                )
            distribution = Tolerance(tolerance)
        parameter = Parameter(name, value, unit=unit, bounds=bounds, distribution=distribution)
        self.data.parameter_set.add(parameter)
        return parameter

    @change
    def tolerance(
        self,
        parameter: str | Parameter,
        width: float | str | None = None,
        *,
        at_least: float | str | None = None,
        at_most: float | str | None = None,
        sigmas: float | None = None,
        cost: Cost | str | Callable[[Any], Any] | None = None,
    ) -> Tolerance:
        """Define a tolerance that an analysis may choose, with its bounds and its cost.

        A tolerance is a deviation of ± its width from the nominal value. Give the width as a number
        in the unit of the parameter, as text ("0.1 mm") or, for a length, as a grade of ISO 286-1
        ("IT7": ± half of the tolerance zone).

        Args:
            parameter: the parameter, or its name. Arguments that are omitted keep the values of an
                earlier tolerance of the parameter.
            width: initial tolerance, also used by analyses that do not choose tolerances; `at_most`
                if the parameter had no tolerance before.
            at_least: finest tolerance that can be manufactured; by default, a tenth of the width.
            at_most: widest tolerance that is allowed; by default, ten times the width.
            sigmas: number of standard deviations in the width; by default, 3.
            cost: `vm.cost(a, b)`, `vm.exponential_cost(a, b, k)`, `vm.grade_cost({7: 8.0, …})`, an
                expression of the tolerance t such as "2 + (0.1 mm)/t", or a function that uses
                varimech's mathematical functions.

        Returns:
            The tolerance, which is now the distribution of the parameter.

        Raises:
            ModelError: if the parameter is unknown or has another distribution, if no tolerance
                satisfies the bounds, or if the cost is not defined within them.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m")
        >>> m.tolerance("L", "IT8", at_least="IT6", at_most="IT11", cost=vm.cost(1.0, "0.1 mm")).width
        7e-05
        """
        chosen = list(self.data.parameter_set.parameters.values())[
            self.data.parameter_set.indices([parameter])[0]
        ]
        before = chosen.distribution
        if before is not None and not isinstance(before, Tolerance):
            raise ModelError(
                "has a distribution, which is no tolerance",
                element=f"parameter {chosen.name!r}",
                field="distribution",
                value=before,
                remedy="leave its distribution out, or its tolerance",
            )
        chosen.distribution = stated_tolerance(
            chosen, before, width, at_least, at_most, sigmas, cost
        )
        return chosen.distribution

    @change
    def table(
        self,
        name: str,
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
        """Define a named table, which strings and model files can call: "lift(angle('cam'))".

        `varimech.table` describes the arguments in detail.

        Args:
            name: name of the table, an identifier.
            x: arguments, the path of a CSV file, or a `varimech.table`; numbers may be strings
                ("30 mm").
            y: values, or second arguments; strings may be expressions of parameters.
            z: values of a table in two variables.
            kind: interpolation: "linear", "pchip" or "cubic".
            outside: extrapolation: "linear", "hold", "repeat" or "error".
            ends: end conditions of cubic splines.
            columns: columns of a CSV file.
            units: units of x and y, or of x, y and z.

        Returns:
            The table, a function.

        Raises:
            ModelError: if the name is already used, or the rows do not define a table.

        >>> import varimech as vm
        >>> m = vm.Mechanism("press", gravity=(0, -9.81))
        >>> m.table("lift", [0, 1, 2], [0, "5 mm", 0], kind="cubic")
        <Table: cubic, 3 values, outside linear>
        """
        label = f"table {name!r}"
        check_name("table", name)
        _check_function(name)
        if isinstance(x, Table):
            return self.data.parameter_set.add_table(name, x)
        if isinstance(x, (str, PathLike)):
            made = table(
                x, y, z, kind=kind, outside=outside, ends=ends, columns=columns, units=units
            )
            return self.data.parameter_set.add_table(name, made)
        scope = self.data.parameter_set.scope
        x, y, z = (
            _without_texts(v, scope, f"{label}: {k}") for k, v in zip("xyz", (x, y, z), strict=True)
        )
        x, y, z = in_si_units(x, y, z, units, label)
        made = Table(x, y, z, kind=kind, outside=outside, ends=ends, label=label)
        return self.data.parameter_set.add_table(name, made)

    @property
    def parameters(self) -> Parameters:
        """All parameters by name."""
        return Parameters(self.data.parameter_set.parameters)

    @change
    def point(self, body: Body | str, name: str, local: Vector) -> Point:
        """Add a named point to a body or to the ground.

        Args:
            body: the body, or its name.
            name: name of the point.
            local: components in the body's frame (m).

        Returns:
            The point.

        Raises:
            ModelError: if the body is unknown or the name is already used.
        """
        body = self.data.find_rigid_body(body, f"point {name!r}")
        self.data.check_point(name, body.points)
        point = Point(
            body,
            name,
            self.data.parameter_set.vector_of(
                local, self.dimension, f"point {body.name}.{name}", unit="m"
            ),
        )
        return self.data.add_point(point)

    def ground_point(self, name: str, position: Vector) -> Point:
        """Add a named point to the ground.

        Args:
            name: name of the point.
            position: global components (m).

        Returns:
            The point.

        Raises:
            ModelError: if the name is already used.
        """
        return self.point(self.data.ground, name, position)

    @change
    def start(
        self,
        *,
        angle: Mapping[str, Number] | None = None,
        displacement: Mapping[str, Number] | None = None,
        distance: Mapping[tuple[str, str], Number] | None = None,
        position: Mapping[str, object] | None = None,
        orientation: Mapping[str, object] | None = None,
        speed: Mapping[Any, object] | None = None,
        near: Mapping[str, object] | None = None,
    ) -> None:
        """Set the initial conditions: one value for each degree of freedom. Assembly computes all other
        initial values.

        Args:
            angle: angles of planar bodies or rotating joints (rad).
            displacement: displacements of sliding joints (m).
            distance: distances between two named points (m), such as {("1", "B"): 2.0}.
            position: positions of points (m); None leaves a component free: {"P": (0.5, None)}.
            orientation: orientations of spatial bodies, 3×3 matrices (see `varimech.rotation`).
            speed: rates of the quantities above, with the same keys (rad/s, m/s); zero if not
                given. The rate of a position is a velocity vector, that of an orientation the
                angular velocity in global components. If both the angle and the displacement of a
                joint are given, its speed is the pair (rate of angle, rate of displacement).
            near: approximate angles (planar) or orientations (spatial) of bodies, or positions of
                points, which select one of several assembly configurations.
        """
        for key, (values, example) in {
            "angle": (angle, "{'crank': 1.0}"),
            "displacement": (displacement, "{'guide': 0.1}"),
            "distance": (distance, "{('1', 'B'): 2.0}"),
            "position": (position, "{'P': (0.5, None)}"),
            "orientation": (orientation, "{'arm': varimech.rotation((0, 0, 1), 0.5)}"),
            "speed": (speed, "{'crank': 6.0}"),
            "near": (near, "{'S': (0.3, 0)}"),
        }.items():
            check_named(Label("start", key), values, example)
        reader = InitialConditionReader(
            self.data, speed or {}, set(angle or {}) & set(displacement or {})
        )
        reader.angles(angle or {})
        reader.displacements(displacement or {})
        reader.distances(distance or {})
        reader.positions(position or {})
        reader.orientations(orientation or {})
        self.data.start_conditions = reader.finish(near or {})

    if not TYPE_CHECKING:  # type checkers know the built-in methods and report misspelt names

        def __getattr__(self, name: str) -> Callable[..., object]:
            """The builder method of a registered kind of element."""
            kind = None if name.startswith("_") else ELEMENTS.find(name)
            if kind is None:
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
                )
            return method_of(kind).__get__(self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *ELEMENTS]


def _check_function(name: str) -> None:
    """Check that the name of a table can be that of a function in strings."""
    taken = {*FUNCTIONS, *CONSTANTS, *OUTPUTS_IN_TEXT, "parameter", "t", "s"}
    taken |= {"energy", "kinetic_energy", "potential_energy"}
    if not name.isidentifier() or iskeyword(name) or name in taken:
        problem = "has a meaning in texts already" if name in taken else "is not an identifier"
        remedy = "choose another one: letters, digits and _, as in lift_2"
        raise ModelError(f"the name of table {name!r} {problem}", remedy=remedy)


def _without_texts(values: Any, scope: Scope, label: str) -> Any:
    """Replace strings such as "30 mm" and "L/2" by numbers and expressions."""
    if isinstance(values, str):
        return evaluated(values, scope, label)
    if isinstance(values, (list, tuple)):
        return [_without_texts(each, scope, f"{label}[{k}]") for k, each in enumerate(values)]
    return values.symbol if isinstance(values, Parameter) else values
