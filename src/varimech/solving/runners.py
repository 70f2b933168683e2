"""Cache of runners by their content: equal expressions share one program, however often a user
writes their functions anew.
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
"""Number of runners that are cached for a mechanism."""
AnyRunner = Runner | SundialsRunner


class Source(Protocol):
    """Factory of objective functions and runners."""

    def objectives(
        self, objectives: Mapping[str, Objective], request: DerivativeRequest
    ) -> ObjectiveFunctions:
        """Compile integrands and final terms, and their requested derivatives."""
        ...

    def runner(
        self,
        functions: ObjectiveFunctions,
        request: DerivativeRequest,
        conditioning: Conditioning,
    ) -> AnyRunner:
        """Build the runner with these functions and derivatives."""
        ...


class Runners:
    """Cached runners of one mechanism by one method."""

    def __init__(self, source: Source):
        self._source = source
        self._of_objects: dict[tuple[object, ...], AnyRunner] = {}
        self._of_expressions: dict[tuple[object, ...], AnyRunner] = {}

    def of(
        self,
        objectives: Mapping[str, Objective],
        request: DerivativeRequest,
        conditioning: Conditioning,
    ) -> AnyRunner:
        """Return the runner for these objectives, with the requested derivatives."""
        same_objects = (tuple(objectives.items()), request.key, conditioning)
        if same_objects not in self._of_objects:
            _allocate(self._of_objects)
            functions = self._source.objectives(objectives, request)
            key = (
                functions.integrands.serialize(),
                functions.finals.serialize(),
                _sampled(functions),
                request.key,
                conditioning,
            )
            if key not in self._of_expressions:
                _allocate(self._of_expressions)
                self._of_expressions[key] = self._source.runner(functions, request, conditioning)
            self._of_objects[same_objects] = self._of_expressions[key]
        return self._of_objects[same_objects]


def _sampled(functions: ObjectiveFunctions) -> tuple[object, ...]:
    """Key that is equal for equal samples."""
    samples = functions.samples
    if samples is None:
        return () if functions.event_map is None else functions.event_map.key
    return samples.values.serialize(), samples.table.tobytes(), samples.factors.tobytes()


def _allocate(cache: dict[Any, Any]) -> None:
    if len(cache) >= KEPT:
        cache.pop(next(iter(cache)))
