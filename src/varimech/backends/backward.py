"""Reverse sweeps over interpreted runs; adjoint.c does the same, operation by operation. All
records are kept in memory.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from .bound import Call, bound, evaluated
from .columns import all_columns
from .explicit import combined
from .inputs import Inputs
from .motion import Motion
from .passage import PassageRecord
from .program import ChainFunctions, Program
from .records import STOPS, AnyRecord, EventRecord, Record
from .samples import AT_END, AT_START, Samples
from .scheme_tables import SchemeTables
from .switching import Switches, ahead, is_short
from .units import Units


class Backward:
    """Costate and gradient of a reverse sweep, and the calls bound to them."""

    def __init__(
        self,
        program: Program,
        inputs: Inputs,
        penalty: np.ndarray,
        guess: np.ndarray,
        start_unknowns: np.ndarray,
    ):
        self.program, self.inputs = program, inputs
        self.guess, self.start_unknowns = guess, start_unknowns
        self.crossed: list[int] = []
        """For each step the number of the jump that it passes, from 1 on; 0 or negative if nothing
        jumps.
        """
        self.samples: Samples | None = None
        """Samples of the run, with the places where they were taken."""
        self.switches = (
            None
            if program.switching is None
            else Switches(program, inputs.parameters, inputs.schedule)
        )
        if program.units is not None:
            self.units = Units(program, inputs.parameters, inputs.schedule)
        self.tables = None if program.scheme is None else SchemeTables(program.scheme)
        self._allocate()
        self._bind_chains(penalty)
        self._bind_objectives()

    def _allocate(self) -> None:
        program = self.program
        n, row, q = program.state_size, program.costate_row, program.coordinates
        self.costate, self.gradient = np.zeros((n, row)), np.zeros((program.pulled, row))
        self.contribution = np.zeros((program.pulled, row))
        self.costate_in, self.pulled = np.zeros((n, row)), np.zeros((n, row))
        self.step, self.time, self.chosen = np.zeros(1), np.zeros(1), np.zeros(q)
        self.state, self.solved = np.zeros(n), np.zeros(sum(program.solved_sizes))
        self.combined = np.zeros(2 * q)

    def _bind_chains(self, penalty: np.ndarray) -> None:
        program, inputs = self.program, self.inputs
        bare = [penalty, inputs.parameters, self.time]
        settings = bare if program.jacobian is None else [self.chosen, *bare]
        if program.start is not None:
            guess = self.guess[: program.start.finish.numel_in(0)]
            self._start = self._bound(program.start, guess, bare)
        self._step = (
            self._bound(program.step, self.state, [self.step, *settings])
            if program.scheme is None
            else self._bound(program.step, self.combined, settings)
        )
        if program.has_rates:
            rates = program.step if program.rates is None else program.rates
            self._pull_rates = self._bound(rates, self.combined, settings)
            self._motion = Motion(program, settings, inputs)
        if program.impact is not None:
            self._impact = self._bound(program.impact, self.combined, bare)
        if program.passage is not None:
            self.data, self.passage_state = (
                np.zeros(program.passage.size),
                np.zeros(self.combined.size),
            )
            rows = program.state_size + program.objective_count
            self.passage_costate = np.zeros((rows, program.costate_row))
            settings = [penalty, self.data, inputs.parameters, self.time]
            self._pull_passage = self._bound(
                program.passage.chain, self.passage_state, settings, self.passage_costate
            )

    def _bind_objectives(self) -> None:
        o, parameters = self.program.objectives, self.inputs.parameters
        measured = o.integrands.numel_in(0)
        self.measure_pulled = np.zeros((measured, self.program.costate_row))
        # without the contribution of time
        self.own_contribution = self.contribution[: parameters.size]
        arguments = [self.state[:measured], parameters, self.time]
        results = [self.measure_pulled, self.own_contribution]
        self._integrands, self._finals = (
            None if f is None else bound(f, arguments, results)
            for f in (o.integrand_pullback, o.final_pullback)
        )

    def _bound(
        self,
        chain: ChainFunctions,
        state: np.ndarray,
        settings: list[np.ndarray],
        costate_in: np.ndarray | None = None,
    ) -> Call:
        """Bind the pullback of a chain: from `costate_in`, the costate of the chain's result, to
        `pulled` (as many entries as the chain's state has), and the contribution to the gradient.
        """
        assert chain.pullback is not None
        costate_in = self.costate_in if costate_in is None else costate_in
        arguments, pulled = [state], self.pulled.reshape(-1)[: state.size * self.pulled.shape[1]]
        if chain.iterate is not None:
            unknowns, multipliers = (chain.iterate.numel_out(k) for k in range(2))
            most = self.program.solved_sizes[0]
            arguments += [self.solved[:unknowns], self.solved[most : most + multipliers]]
        if chain.linearise is None:
            return bound(
                chain.pullback, [*arguments, costate_in, *settings], [pulled, self.contribution]
            )
        coefficients = np.zeros(chain.linearise.numel_out(0))
        linearise = bound(chain.linearise, [*arguments, *settings], [coefficients])
        assert isinstance(
            chain.pullback, ca.Function
        )  # an unrolled function, since there are coefficients for it
        every = all_columns(chain.pullback, self.program.objective_count, 1)
        pull = bound(every, [coefficients, costate_in], [pulled, self.contribution])

        def both() -> None:
            linearise()
            pull()

        return both

    def sweep(self, records: list[AnyRecord], end: np.ndarray) -> np.ndarray:
        """Sweep from the state at the end of a run back to its start; return dψ/dρ (objective,
        parameter).
        """
        last = records[-1]
        self._measure(self._finals, last.end, end, 1.0, self.costate)
        self._pull_last_samples(last.end, end)
        if self.tables is None:
            self._measure(self._integrands, last.end, end, last.length / 2, self.costate)
        for k in range(len(records) - 1, -1, -1):
            record = records[k]
            after = end if k == len(records) - 1 else records[k + 1].states[0]
            length_before = records[k - 1].length if k else 0.0
            if isinstance(record, PassageRecord):
                self._passage(record)
                if self.tables is None:
                    weight, before = length_before / 2, record.states[0]
                    self._measure(self._integrands, record.begin, before, weight, self.costate)
            elif isinstance(record, EventRecord):
                self._event(record, after)
                if self.tables is None:
                    before = record.states[0]
                    self._measure(
                        self._integrands, record.end, before, length_before / 2, self.costate
                    )
            elif self.switches is None or self.crossed[k + 1] <= 0:
                self._back(record, length_before)
            else:
                jump = self.crossed[k + 1] - 1
                self._across(record, length_before, self.switches, jump, after)
        self.time[0] = 0.0
        self._pull_samples(AT_START, records[0].states[0], None)
        if self.inputs.guess is not None:
            self.time[0], self.costate_in[:], self.solved[:] = (
                0.0,
                self.costate,
                self.start_unknowns,
            )
            self._start()
            self.gradient += self.contribution
        o = self.program.objective_count
        gradient = self.gradient[: self.inputs.parameters.size, :o].T
        start = self.inputs.start_slopes
        return gradient if start is None else gradient + self.costate[:, :o].T @ start

    def _measure(
        self, call: Call | None, time: float, state: np.ndarray, weight: float, costate: np.ndarray
    ) -> None:
        if call is None:
            return
        self.time[0], self.state[:] = time, state
        call()
        costate[: len(self.measure_pulled)] += weight * self.measure_pulled
        self.gradient[: len(self.own_contribution)] += weight * self.own_contribution

    def _pull_through_rates(self) -> None:
        """Pull back through the rates at `combined`. The unknowns of iterated rates are not
        recorded, so they are computed again.
        """
        if self._motion.chain.iterated:
            self.solved[:] = self._motion.solved_at(self.combined)
        self._pull_rates()

    def _back(self, r: Record, length_before: float) -> None:
        """Pull back over a step."""
        if self.tables is not None:
            self._explicit(r, self.tables)
            return
        short = is_short(self.program, r.length, self.inputs.schedule)
        (self._short if short else self._implicit)(r)
        weight = r.length / 2 + length_before / 2
        self._measure(self._integrands, r.begin, r.states[0], weight, self.costate)

    def _short(self, r: Record) -> None:
        """Pull back over a short step, which used the rates at its beginning."""
        n, h = self.program.coordinates, r.length
        self.time[0], self.costate_in[:] = r.end, self.costate
        self.combined[:] = ahead(r.states[0], n, h)
        self._pull_through_rates()
        self.gradient += self.contribution
        pulled_part = self.pulled[: 2 * n].copy()
        self.costate[:] = 0.0
        self.costate[: 2 * n] += pulled_part
        self.costate[n : 3 * n] += h * pulled_part
        self.costate[2 * n : 3 * n] += h * h / 2 * pulled_part[:n]

    def _implicit(self, r: Record) -> None:
        self.step[0], self.time[0], self.state[:], self.solved[:] = (
            r.length,
            r.end,
            r.states[0],
            r.solved[0],
        )
        self.costate_in[:] = self.costate
        self._step()
        self.gradient += self.contribution
        self.costate[:] = self.pulled

    def _across(
        self, r: Record, length_before: float, switches: Switches, i: int, after: np.ndarray
    ) -> None:
        """Pull back over a step across jump i, from the state after it."""
        n, o, before = self.program.coordinates, self.program.objective_count, r.states[0]
        self.chosen[:], self.time[0], self.combined[:] = r.chosen, r.end, after[: 2 * n]
        self.costate_in[:] = self.costate
        self._pull_through_rates()
        self.gradient += self.contribution
        self.costate[:] = 0.0
        self.costate[: 2 * n] = self.pulled[: 2 * n]
        height = before[2 * n : 3 * n] - after[2 * n : 3 * n]
        arguments = self.inputs.parameters, np.array([r.begin]), np.array([r.end])
        f = self.program.objectives.integrands
        states = before[: f.numel_in(0)], after[: f.numel_in(0)]
        g, g_next = (
            evaluated(f, x, arguments[0], time)[0]
            for x, time in zip(states, arguments[1:], strict=True)
        )
        shift = g - g_next + height @ self.costate[n : 2 * n, :o]
        self._back(r, length_before)
        rate = switches.at(r.begin, before)[2, i]
        switches.differentiate(r.begin, before)
        self.costate[: 2 * n, :o] -= np.outer(switches.gradients[0][i], shift / rate)
        of_parameters = np.outer(switches.gradients[2][i], shift / rate)
        self.gradient[: len(of_parameters), :o] -= of_parameters

    def _passage(self, r: PassageRecord) -> None:
        """Pull back over the passage of an event."""
        program, (n, row) = self.program, self.costate.shape
        passage, o = program.passage, program.objective_count
        assert passage is not None
        modes = slice(passage.mode_place, passage.mode_place + passage.modes)
        self.inputs.parameters[modes] = r.row[: passage.modes]
        self.passage_costate[:n], self.passage_costate[n:] = self.costate, np.eye(o, row)
        self.time[0], self.data[:] = r.begin, r.row
        self.passage_state[:] = r.states[0, : self.passage_state.size]
        self._pull_passage()
        self.gradient += self.contribution
        self._replace_costate(program.coordinates)

    def _event(self, r: EventRecord, after: np.ndarray) -> None:
        """Pull back over an event, from the state after it: the transpose of `events`."""
        n, o = self.program.coordinates, self.program.objective_count
        before, z = r.states
        shift, moves = np.zeros(o), r.function >= 0
        self.time[0] = r.end
        if r.kind == STOPS:
            shift += self._stop_shift(before)
        else:
            self._pull_samples(2 * r.number + 1, after, shift if moves else None)
            self.time[0], self.combined[:], self.costate_in[:] = r.end, z[: 2 * n], self.costate
            self._pull_through_rates()
            self.gradient += self.contribution
            self._replace_costate(n)
            shift -= self._integrands_at(after) + after[n : 3 * n] @ self.costate[: 2 * n, :o]
            if r.kind:
                self.combined[:], self.costate_in[:] = before[: 2 * n], self.costate
                self._impact()
                self.gradient += self.contribution
                if self.program.along_time:
                    shift += self.contribution[-1, :o]
                self._replace_costate(n)
            self.units.modes[:] = r.modes
            shift += self._integrands_at(before) + before[n : 3 * n] @ self.costate[: 2 * n, :o]
        self.units.modes[:] = r.modes
        self._pull_samples(2 * r.number, before, shift if moves else None)
        # nothing happens, or it happens at the start of a run whatever the parameters
        if not moves:
            return
        self.units.differentiate(r.end, before)
        self.costate[:, :o] -= np.outer(self.units.gradients[0][r.function], shift / r.rate)
        of_parameters = np.outer(self.units.gradients[2][r.function], shift / r.rate)
        self.gradient[: len(of_parameters), :o] -= of_parameters

    def _stop_shift(self, before: np.ndarray) -> np.ndarray:
        """Return the contribution of the time of the event that ended the run; the costate is that
        of the state at this time.
        """
        o, final_time = self.program.objective_count, self.program.objectives.final_time
        assert final_time is not None
        rate = evaluated(final_time, before, self.inputs.parameters, self.time)[0]
        motion = self._motion.at(before)
        return np.asarray(
            np.ravel(rate) + self._integrands_at(before) + motion @ self.costate[:, :o]
        )

    def _pull_samples(self, place: int, state: np.ndarray, shift: np.ndarray | None) -> None:
        """Add the contributions of samples taken at a place to the costate of the state there, to
        the gradient, and to `shift` where their time moves.
        """
        samples = self.samples
        if samples is None or not (taken := np.flatnonzero(samples.places == place)).size:
            return
        samples.differentiate(float(self.time[0]), state)
        motion = None if shift is None else self._motion.at(state)
        for k in taken:
            factors = samples.factors[:, k]
            o, of_parameters = factors.size, samples.function_gradients[2][k]
            self.costate[:, :o] += np.outer(samples.function_gradients[0][k], factors)
            self.gradient[: of_parameters.size, :o] += np.outer(of_parameters, factors)
            if shift is not None and motion is not None:
                shift += factors * float(
                    samples.function_gradients[0][k] @ motion + samples.function_gradients[3][k, 0]
                )

    def _pull_last_samples(self, time: float, state: np.ndarray) -> None:
        """Take extrema at the end of a run, and add their contributions."""
        if self.samples is None:
            return
        self.time[0] = time
        for k, value in enumerate(self.samples.at(time, state)):
            if self.samples.exceeds(k, float(value)):
                self.samples.places[k] = AT_END
        self._pull_samples(AT_END, state, None)

    def _replace_costate(self, n: int) -> None:
        """Make the pulled-back costate of positions and velocities the costate of the state."""
        self.costate[:] = 0.0
        self.costate[: 2 * n] = self.pulled[: 2 * n]

    def _integrands_at(self, state: np.ndarray) -> np.ndarray:
        f = self.program.objectives.integrands
        return evaluated(f, state[: f.numel_in(0)], self.inputs.parameters, self.time)[0]

    def _explicit(self, r: Record, t: SchemeTables) -> None:
        n, h = self.program.coordinates, r.length
        costates = np.zeros((t.stages, *self.costate.shape))
        self.chosen[:] = r.chosen
        for i in range(t.stages, 0, -1):
            weights = t.b if i == t.stages else t.a[i]
            self.combined[:] = combined(r.states[:i], n, h, weights)
            self.time[0], self.solved[:] = (
                (r.end if i == t.stages else min(r.begin + t.c[i] * h, r.end)),
                r.solved[i - 1],
            )
            self.costate_in[:] = self.costate if i == t.stages else costates[i]
            (self._step if i == t.stages else self._pull_rates)()
            self.gradient += self.contribution
            pulled_part = self.pulled[: 2 * n]
            costates[0, : 2 * n] += pulled_part
            for j in range(i):
                if weights[j] != 0:
                    costates[j, n : 3 * n] += h * weights[j] * pulled_part
            if t.b[i - 1] != 0:
                self._measure(
                    self._integrands,
                    min(r.begin + t.c[i - 1] * h, r.end),
                    r.states[i - 1],
                    h * t.b[i - 1],
                    costates[i - 1],
                )
        self.costate[:] = costates[0]
