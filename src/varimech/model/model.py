"""The model: a mechanism written with the words an engineer uses.

Each word checks what it is given, at the call, before anything changes. `Mechanism` adds the verbs
(simulate, sensitivity, …).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import check_named
from .beam_words import BeamWords
from .force_words import ForceWords
from .initial_condition_reader import InitialConditionReader
from .joint_words import JointWords
from .writing import Number, change


class Model(BeamWords, JointWords, ForceWords):
    """The words to write a mechanism with: parameters, bodies, joints, forces, drivers, start."""

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
