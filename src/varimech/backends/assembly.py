"""The initial state of an interpreted run, given or assembled from a guess; driver.c does the same
(vm_assemble).
"""

from __future__ import annotations

import numpy as np

from .bound import bound
from .chain_calls import AttemptFailure, ChainCalls
from .failures import StartFailure
from .step_log import StepLog
from .workspace import Workspace


class Assembly:
    """Assembly of the initial state: the guess, the penalty factors that it sets, and the state."""

    def __init__(self, workspace: Workspace):
        self._workspace = w = workspace
        q = w.program.coordinates
        self.guess, self._anchor = np.zeros(q), np.zeros(q)
        self.unknowns = np.zeros(sum(w.program.solved_sizes))
        """Unknowns and multipliers of the assembled state."""
        arguments = [self._anchor, w.inputs.nominal, w.time]
        self._set_penalty = bound(w.program.penalty, arguments, [w.penalty])

    def begin(self, log: StepLog) -> None:
        """Assemble the initial state, or copy the given one, to the first stage.

        Raises:
            StartFailure: if no initial state is found from the guess.
        """
        w, i = self._workspace, self._workspace.inputs
        initial = i.state if i.guess is None else i.guess
        assert initial is not None
        self.guess[: initial.size] = initial[: self.guess.size]
        self._anchor[:] = self.guess
        if i.anchor is not None:
            self._anchor[: i.anchor.size] = i.anchor
        self._set_penalty()
        if i.guess is not None:
            self._assemble(log)
        else:
            w.new[:] = initial
            if i.sensitivities is not None:
                w.new_[:, : i.sensitivities.shape[1]] = i.sensitivities
        w.keep(0)

    def _assemble(self, log: StepLog) -> None:
        """Assemble from the guess, which is valid for nominal values; values far from nominal are
        reached in several continuation steps.
        """
        w, i, program = self._workspace, self._workspace.inputs, self._workspace.program
        assert program.start is not None
        values = w.parameters.copy()
        start = ChainCalls(
            program.start,
            self.guess[: program.start.finish.numel_in(0)],
            None,
            [w.penalty, values, w.time],
            w.new,
            w.new_,
            i.max_iterations,
            program.seeds,
        )
        for k in range(1, i.parts + 1):
            last = k == i.parts
            values[:] = (
                i.parameters if last else i.nominal + k / i.parts * (i.parameters - i.nominal)
            )
            try:
                start.solve()
            except AttemptFailure:
                raise StartFailure from None
            if not np.isfinite(w.new).all() or not (start.residuals <= 1e-6).all():
                raise StartFailure
            if not last:
                self.guess[:] = w.new[: self.guess.size]
        log.keep_largest(start.residuals)
        self.unknowns[:] = start.solved(program.solved_sizes)
