"""Conversion of a mechanism to the text of a model file and back, for files and for pickles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..analyses.simulation import Values
from ..core.errors import ModelError
from ..elements.registry import ensure_registered, user_kinds
from ..model.element import Element
from ..model.model_data import ModelData
from .reading import mechanism_of_text
from .studies import Studies
from .writing import document_of, to_text

M = TypeVar("M", bound=Any)


def model_text(
    data: ModelData, studies: Studies | Mapping[str, object] | None, values: Values | None
) -> str:
    """Return the text of a model file, with other nominal values where `values` are given.

    Raises:
        ModelError: for Python functions, which a file cannot contain.
    """
    plan = Studies.model_validate(studies) if isinstance(studies, Mapping) else studies
    numbers = data.parameter_set
    changed = dict(zip(numbers.parameters, numbers.values(values).tolist(), strict=False))
    return to_text(document_of(data, plan, {name: changed[name] for name in values or {}}))


def pickled(
    make: Callable[..., M], data: ModelData, studies: Studies | None
) -> tuple[Callable[..., M], tuple[object, ...]]:
    """Return the value for `__reduce__`: a function that reads the text of the model, and its
    arguments.

    Raises:
        ModelError: for a mechanism that cannot be written as text.
    """
    try:
        text = model_text(data, studies, None)
    except ModelError as error:
        problem = (
            f"mechanism {data.name!r} cannot be pickled or copied, because it is sent as the"
            f" text of a model file (to_text): {error}"
        )
        raise ModelError(problem, remedy="or build it anew where it is needed") from None
    return _unpickled, (make, text, studies is None, user_kinds(data))


def _unpickled(
    make: Callable[..., M], text: str, without_studies: bool, kinds: tuple[type[Element], ...]
) -> M:
    for kind in kinds:
        ensure_registered(kind)
    mechanism = mechanism_of_text(make, text)
    if without_studies:
        mechanism.studies = None
    return mechanism
