"""Options of relative coordinates; in a separate module, as the others are loaded on first use
only.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...core.errors import ModelError
from ...model.joint import Joint

CENTRE_OF_MASS, ORIGIN = "centre of mass", "origin"


def cut_names(cut: Iterable[str | Joint], user: str) -> tuple[str, ...]:
    """Return names of joints to cut, which are given by name or as objects; a text is refused,
    although it is iterable.
    """
    if isinstance(cut, str) or not isinstance(cut, Iterable):
        problem = f"must be a list of joints, such as [{str(cut)!r}]"
        raise ModelError(problem, element=user, field="cut", value=cut)
    names = tuple(joint.name if isinstance(joint, Joint) else joint for joint in cut)
    for name in names:
        if not isinstance(name, str):
            problem = f"contains {name!r}, which is neither a joint nor the name of one"
            raise ModelError(problem, element=user, field="cut")
    return names
