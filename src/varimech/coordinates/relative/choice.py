"""What a user chooses of relative coordinates; apart from these, they are loaded only where they
are used.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...core.errors import ModelError
from ...model.joint import Joint

CENTRE_OF_MASS, ORIGIN = "centre of mass", "origin"


def cut_names(cut: Iterable[str | Joint], user: str) -> tuple[str, ...]:
    """Names of joints to cut, given by name or as they are; a text is no list of them, although it
    can be taken apart.
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
