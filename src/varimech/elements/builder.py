"""The builder of a mechanism: a method for every kind of element, and the start.

Each method checks what it is given, at the call, before anything changes. `Mechanism` adds the
analyses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ..core.errors import check_named
from ..model.beam_words import BeamWords
from ..model.element import Element
from ..model.force_words import ForceWords
from ..model.initial_condition_reader import InitialConditionReader
from ..model.writing import ModelBuilder, Number, change
from .methods import ElementMethods
from .registry import find_kind


class Model(ElementMethods, BeamWords, ForceWords):
    """The methods to build a mechanism with: parameters, elements, start."""

    @change
    def start(
        self,
        *,
        angle: Mapping[str, Number] | None = None,
        displacement: Mapping[str, Number] | None = None,
        distance: Mapping[tuple[str, str], Number] | None = None,
        position: Mapping[str, Any] | None = None,
        orientation: Mapping[str, Any] | None = None,
        speed: Mapping[Any, Any] | None = None,
        near: Mapping[str, Any] | None = None,
    ) -> None:
        """Say how the mechanism starts: one value for each freedom; the rest is assembled from
        them.

        Args:
            angle: of planar bodies or of joints that turn, rad.
            displacement: of joints that slide, m.
            distance: between two named points, m: {("1", "B"): 2.0}.
            position: of points, m; None leaves a component open: {"P": (0.5, None)}.
            orientation: of spatial bodies, a 3×3 matrix (see `varimech.rotation`); its speed is the
                angular velocity in global components.
            speed: rate of any of the above by the same key (rad/s, m/s); zero if not given. A
                vector for positions and orientations; the pair (rate of angle, rate of
                displacement) for a joint of which both are given.
            near: rough angles (planar) or orientations (spatial) of bodies, or positions of points,
                that choose between two ways to assemble.
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
            check_named(f"start: {key}", values, example)
        reader = InitialConditionReader(
            self.data, speed or {}, set(angle or {}) & set(displacement or {})
        )
        reader.angles(angle or {})
        reader.displacements(displacement or {})
        reader.distances(distance or {})
        reader.positions(position or {})
        reader.orientations(orientation or {})
        self.data.start_conditions = reader.finish(near or {})

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """The builder method of a kind that was registered."""
        kind = find_kind(name)
        if kind is None:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
            )
        return method_of(kind).__get__(self)


@cache
def method_of(kind: type[Element]) -> Any:
    """The builder method of a kind, from its fields."""
    signature = kind.signature()

    def build(self: ModelBuilder, *args: Any, **kwargs: Any) -> Element:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        return self._add(kind, bound.arguments)

    build.__name__ = kind.method()
    build.__doc__ = kind.documentation()
    vars(build)["__signature__"] = signature
    return change(build)
