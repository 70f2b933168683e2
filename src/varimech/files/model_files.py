"""The verbs of a mechanism that lives in a file: `from_file`, `to_file`, `study`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.errors import ModelError
from ..core.whole_files import write_text
from ..elements.registry import ensure_registered, user_kinds
from ..model.element import Element
from ..model.writing import ModelBuilder

if TYPE_CHECKING:
    from .studies import Studies

M = TypeVar("M", bound="Filed")


class Filed(ModelBuilder):
    """Model files."""

    studies: Studies | None = None
    """What the file says is to be computed; None for a mechanism that was written in Python."""

    @classmethod
    def from_file(cls: type[M], path: str | os.PathLike[str]) -> M:
        """Read a mechanism, with its studies, from a model file (YAML).

        Raises:
            FileError: with file, line, field and remedy, for whatever is wrong in it.
        """
        from .reading import read_mechanism

        return read_mechanism(cls, Path(path))

    def to_file(
        self,
        path: str | os.PathLike[str],
        *,
        studies: Studies | Mapping[str, Any] | None = None,
        values: Mapping[str, float] | None = None,
    ) -> Path:
        """Write the mechanism, and its studies, to a model file; read again it is the same
        mechanism, to the last bit.

        Args:
            path: of the file, such as "crank.yaml".
            studies: what to compute, as in files ({"simulate": {"duration": 2.0}, …}); those that
                the mechanism has if not given.
            values: parameter → value that takes the place of the nominal one, such as
                `optimum.parameters`.

        Raises:
            ModelError: for Python functions (forces, motions, shapes), which a file cannot hold:
                write these as texts.
        """
        path = Path(path)
        write_text(path, self.to_text(studies=studies, values=values))
        return path

    def to_text(
        self,
        *,
        studies: Studies | Mapping[str, Any] | None = None,
        values: Mapping[str, float] | None = None,
    ) -> str:
        """The text of `to_file`."""
        from .studies import Studies
        from .writing import document_of, to_text

        given = self.studies if studies is None else studies
        plan = Studies.model_validate(given) if isinstance(given, Mapping) else given
        numbers = self.data.parameter_set
        changed = dict(zip(numbers.parameters, numbers.values(values).tolist(), strict=True))
        return to_text(document_of(self.data, plan, {name: changed[name] for name in values or {}}))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the text of a model file; copies and other processes get the same mechanism,
        to the last bit.
        """
        try:
            text = self.to_text()
        except ModelError as error:
            raise ModelError(
                f"mechanism {self.name!r} cannot be pickled or copied, because it is sent as the"
                f" text of a model file (to_text): {error}; or build it anew where it is needed"
            ) from None
        kinds = user_kinds(self.data)
        return _unpickled, (type(self), text, self.studies is None, kinds)

    def study(self, kind: str, **changes: Any) -> Any:
        """Carry out a study of the model file: "simulate", "sensitivity", "uncertainty" or
        "optimize".

        Args:
            kind: of the study; one that the file does not have runs with what all share.
            changes: settings that differ from those of the file, such as `duration=2.0` or
                `wrt=["L"]`.

        Returns:
            A `Run`, `Gradient`, `Moments` or `Study`, or `Optimum`, as the verb of that name does.
        """
        from .study_runner import conduct

        if self.studies is None:
            raise ModelError(
                f"mechanism {self.name!r} has no studies: it was not read from a file; call"
                " simulate, sensitivity, moments, … instead"
            )
        return conduct(self, self.studies, kind, changes)


def _unpickled(
    kind: type[M], text: str, without_studies: bool, kinds: tuple[type[Element], ...]
) -> M:
    from .reading import mechanism_of_text

    for each in kinds:
        ensure_registered(each)
    mechanism = mechanism_of_text(kind, text)
    if without_studies:
        mechanism.studies = None
    return mechanism
