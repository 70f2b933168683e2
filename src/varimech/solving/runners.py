"""Runners by their content: equal expressions are one program, however often a
user writes their functions anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..backends.runner import Runner
from ..backends.sundials import SundialsRunner
from ..formulations.formulation import Conditioning
from ..sensitivity.objective import Objective
from ..sensitivity.objective_functions import ObjectiveFunctions
from .derivative_request import DerivativeRequest

KEPT = 32
"""Runners that are kept of a mechanism."""
AnyRunner = Runner | SundialsRunner


class Source(Protocol):
    """What makes runners."""

    def objectives(
        self, objectives: Mapping[str, Objective], wanted: DerivativeRequest
    ) -> ObjectiveFunctions:
        """Integrands and final terms, and the derivatives of them that are wanted."""
        ...

    def runner(
        self,
        functions: ObjectiveFunctions,
        wanted: DerivativeRequest,
        conditioning: Conditioning,
    ) -> AnyRunner:
        """The runner with these."""
        ...


class Runners:
    """Those of one mechanism by one method, as many as are kept."""

    def __init__(self, source: Source):
        self._source = source
        self._of_objects: dict[tuple[object, ...], AnyRunner] = {}
        self._of_expressions: dict[tuple[object, ...], AnyRunner] = {}

    def of(
        self,
        objectives: Mapping[str, Objective],
        wanted: DerivativeRequest,
        conditioning: Conditioning,
    ) -> AnyRunner:
        """The one for these objectives, with the derivatives that are wanted."""
        same_objects = (tuple(objectives.items()), wanted.key, conditioning)
        if same_objects not in self._of_objects:
            _allocate(self._of_objects)
            functions = self._source.objectives(objectives, wanted)
            key = (
                functions.integrands.serialize(),
                functions.finals.serialize(),
                _sampled(functions),
                wanted.key,
                conditioning,
            )
            if key not in self._of_expressions:
                _allocate(self._of_expressions)
                self._of_expressions[key] = self._source.runner(functions, wanted, conditioning)
            self._of_objects[same_objects] = self._of_expressions[key]
        return self._of_objects[same_objects]


def _sampled(functions: ObjectiveFunctions) -> tuple[object, ...]:
    """Equal where samples are."""
    samples = functions.samples
    if samples is None:
        return () if functions.event_map is None else functions.event_map.key
    return samples.values.serialize(), samples.table.tobytes(), samples.factors.tobytes()


def _allocate(cache: dict[Any, Any]) -> None:
    if len(cache) >= KEPT:
        cache.pop(next(iter(cache)))
