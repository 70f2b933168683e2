"""The interpreted backend: the loop in Python, each function evaluated by CasADi's virtual machine.
Needs no compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..core.progress import ProgressCallback
from ..integrators.runge_kutta import RungeKutta
from .backward import Backward
from .bound import bound, evaluated
from .chain_calls import ChainCalls, Trouble
from .events import (
    CHANGED,
    CONTACT,
    EVENT,
    FRICTION,
    GAP_RATE,
    NEVER,
    NONE,
    NORMAL,
    NOTED,
    NUDGE,
    OVERLAPS,
    QUIET,
    REVISIONS,
    SLIP,
)
from .explicit import BRIDGE, PROGRESS, SHORTEST, TRIES, ExplicitScheme, Stages, added, combined
from .failures import (
    ENDLESS,
    NO_CONVERGENCE,
    NOT_FINITE,
    OVERLAP,
    SINGULAR,
    STALLED,
    UNDERFLOW,
    Amplified,
    StartFailure,
    StepFailure,
)
from .inputs import Inputs
from .modes import EventCalls, EventFailure, ModalUnits
from .passage import PassageCalls, PassageRecord
from .program import ChainFunctions, Function, Program
from .records import STOPS, EventRecord, Record, Records
from .samples import AT_START, Samples
from .selection import select
from .switching import Switches, ahead, integrands_jump, is_short, jumps
from .trajectory import Trajectory, broken_off


def run_interpreted(
    program: Program,
    inputs: Inputs,
    progress: ProgressCallback | None = None,
) -> Trajectory:
    """Carry out a program; `progress` is told the share of the time that is done, now and then.

    Raises:
        StartFailure: if no start is found from the guess.
        StepFailure: if a step fails.
        BrokenOff: on Ctrl-C, with what is stored, unless there is a sweep backwards.
    """
    with np.errstate(all="ignore"):  # what is not finite is found and named, as with compiled code
        return _Run(program, inputs).execute(progress)


class _Run:
    """The arrays that the functions work on in place, and the bound calls; see driver.c, which does
    the same.
    """

    def __init__(self, program: Program, inputs: Inputs):
        self.program, self.inputs, self.schedule = program, inputs, inputs.schedule
        self.watches = program.watches(inputs.schedule)
        self.chooses = self.watches or bool(inputs.schedule.tolerance)
        n, o, p, row = (
            program.state_size,
            program.objective_count,
            program.direction_count or 0,
            program.row_length,
        )
        self.count = p
        self.time, self.step = np.zeros(1), np.array([self.schedule.step])
        self.penalty, self.chosen = (
            np.zeros(program.penalty.numel_out(0)),
            np.zeros(program.coordinates),
        )
        if inputs.chosen is not None:
            self.chosen[:] = inputs.chosen
        self.scheme = None if program.scheme is None else self._explicit_scheme(program.scheme)
        stages = (
            2 if self.scheme is None else self.scheme.tables.stages + 1 + self.scheme.tables.extra
        )
        self.last = 1 if self.scheme is None else self.scheme.tables.stages
        # the state at the beginning of a step is the first stage, the one at its end stands at
        # `last`
        self.X, self.X_ = np.zeros((stages, n)), np.zeros((stages, n, row))
        self.G, self.G_ = np.zeros((stages, o)), np.zeros((stages, o, p))
        self.new, self.new_ = np.zeros(n), np.zeros((n, row))
        self.ψ, self.ψ_ = np.zeros(o), np.zeros((o, p))
        self.worst, self.iterations, self.rejected, self.selections = (
            np.zeros(3),
            0,
            0,
            int(inputs.chosen is not None),
        )
        self.ends, self.proposal, self.kept_proposal, self.grid = [0.0], NEVER, 0.0, 0
        self.velocity_scale, self.integrand_scales = 0.0, np.zeros(o)
        self.piece, self.check_time, self.check_tries = 0, 0.0, 0
        self.longer, self.crossed = 0.0, [0]
        self.switches = (
            None
            if program.switching is None
            else Switches(program, inputs.parameters, self.schedule)
        )
        modal = program.units is not None or program.passage is not None
        self.parameters = inputs.parameters.copy() if modal else inputs.parameters
        self.units = None
        if program.units is not None:
            self.units = ModalUnits(program, self.parameters, self.schedule)
        self.samples = None if program.samples is None else Samples(program, self.parameters)
        self.stopped, self.shift = False, np.zeros(p)
        self.triggers, self.notes = [0.0], [np.zeros(NOTED)]
        self.modes = [] if self.units is None else [self.units.modes.copy()]
        self.event_time, self.events_there = 0.0, 0
        ρ_t = [self.parameters, self.time]
        settings = [self.penalty, *ρ_t]
        if program.jacobian is not None:
            settings.insert(0, self.chosen)
        q = program.coordinates
        # combined positions and velocities, from which rates and the end of an explicit step follow
        self.Y, self.Y_ = np.zeros(2 * q), np.zeros((2 * q, row))
        self.seeds = program.seeds.copy()

        def calls(
            chain: ChainFunctions, settings: list[np.ndarray], *, whole: bool = False
        ) -> ChainCalls:
            return ChainCalls(
                chain,
                self.X[0] if whole else self.Y,
                self.X_[0] if whole else self.Y_,
                settings,
                self.new,
                self.new_,
                inputs.max_iterations,
                self.seeds,
            )

        self.passage = (
            None
            if program.passage is None
            else PassageCalls(program, self.parameters, self.penalty, inputs.max_iterations)
        )
        implicit = self.scheme is None
        self.finish = calls(
            program.step, [self.step, *settings] if implicit else settings, whole=implicit
        )
        self.rates = self.finish if program.rates is None else calls(program.rates, settings)
        if self.units is not None:
            chain = program.impact
            self.impact = None if chain is None else calls(chain, [self.penalty, *ρ_t])
            self.events = EventCalls(self.units, self.impact, self.rates, self.Y)
            self.units.sample_rate = self._sample_rate
        self._bind(ρ_t)
        self.records = Records(program, inputs) if program.adjoint else None
        self.start_unknowns = np.zeros(sum(program.solved_sizes))
        self.solved: list[np.ndarray] = []
        self.stored_count, self.passed = 0, 1
        rows = self.schedule.stored_count
        self.times, self.states, self.objectives = (
            np.zeros(rows),
            np.zeros((rows, n)),
            np.zeros((rows, o)),
        )
        self.sensitivities, self.gradients = np.zeros((rows, n, p)), np.zeros((rows, o, p))

    def _explicit_scheme(self, scheme: RungeKutta) -> ExplicitScheme:
        floors = self.inputs.sensitivity_floors if self.count else np.zeros(0)
        return ExplicitScheme(
            scheme,
            self.program.coordinates,
            self.inputs,
            floors,
            self.program.objective_count,
            may_rest=self.program.units is not None,
        )

    @property
    def _stages(self) -> Stages:
        return self.X, self.X_[:, :, : self.count], self.G

    def _bind(self, ρ_t: list[np.ndarray]) -> None:
        p, o = self.program, self.program.objectives
        q = p.coordinates
        self.guess, self.anchor = np.zeros(q), np.zeros(q)
        self.weigh = bound(p.penalty, [self.anchor, self.inputs.nominal, self.time], [self.penalty])
        self.value, self.slope = (
            np.zeros(p.objective_count),
            np.zeros((p.objective_count, self.count)),
        )

        def measure(function: Function, tangent: Function | None) -> Callable[[], None]:
            value = bound(function, [self.new, *ρ_t], [self.value])
            if tangent is None:
                return value
            slope = bound(tangent, [self.new, self.new_, *ρ_t], [self.slope])

            def both() -> None:
                value()
                slope()

            return both

        self.integrands = measure(o.integrands, o.integrand_tangent)
        self.finals = measure(o.finals, o.final_tangent)
        if p.jacobian is not None:
            self.jacobian = np.zeros((q, p.jacobian.size1_out(0)))
            self.differentiate = bound(p.jacobian, [self.new[:q], *ρ_t], [self.jacobian])

    def execute(self, progress: ProgressCallback | None) -> Trajectory:
        try:
            self._take_steps(progress)
        except KeyboardInterrupt:
            if self.records is not None:
                raise
            raise broken_off(self._trajectory, self.stored_count) from None
        if self.records is None:
            return self._trajectory
        given = replace(self.inputs, parameters=self.parameters)  # with the last modes
        back = Backward(self.program, given, self.penalty, self.guess, self.start_unknowns)
        back.crossed, back.samples = self.crossed, self.samples
        back.chosen[:] = self.chosen
        return replace(
            self._trajectory,
            sensitivities=None,
            gradients=back.sweep(self.records.list, self.X[0])[None],
        )

    @property
    def _trajectory(self) -> Trajectory:
        """What it has yielded."""
        rows = slice(self.stored_count if self.schedule.at_steps or self.stopped else None)
        slopes = (
            (self.sensitivities[rows], self.gradients[rows])
            if self.program.direction_count is not None
            else (None, None)
        )
        ends = np.array(self.ends) if self.chooses else self.schedule.known_ends
        counts = self.rejected, self.selections
        return Trajectory(
            self.times[rows],
            self.states[rows],
            self.objectives[rows],
            self.worst,
            self.iterations,
            ends,
            *counts,
            sensitivities=slopes[0],
            gradients=slopes[1],
            crossed=None if self.switches is None else np.array(self.crossed),
            triggers=None if self.units is None else np.array(self.triggers),
            notes=None if self.units is None else np.array(self.notes),
            modes=None if self.units is None else np.array(self.modes),
            sample_values=None if self.samples is None else self.samples.values.copy(),
            sample_places=None if self.samples is None else np.array(self.samples.places),
        )

    def _take_steps(self, progress: ProgressCallback | None) -> None:
        schedule = self.schedule
        self._begin()
        now, done = 0.0, 0
        if self.units is not None and self.chooses:
            done += self._first_contacts(self.units)
        while not self.stopped and (
            (self.grid if self.watches else done) < schedule.steps
            if schedule.steps
            else now < schedule.duration
        ):
            row = schedule.passage(done + 1)
            if self.passage is not None and row is not None:
                done += 1
                now = self._pass_by_map(self.passage, row, now, done)
                continue
            trigger = 0.0 if schedule.triggers is None else schedule.triggers[done + 1]
            if self.units is not None and trigger < 0:
                done += self._settle_start(self.units)
                continue
            if self.units is not None and trigger:
                self._pass_event(self.units, now, int(trigger) - 1)
                done += 1
                continue
            h, end = self._next_step(now, done)
            try:
                self._look_for_progress(now, done)
                error = self._try(now, h, end)
            except Trouble as trouble:
                reason = str(trouble)
                if self._retries(h, reason):
                    self.proposal = h / 2  # an implicit step may have no solution before a jump
                    self.rejected += 1
                    continue
                if schedule.tolerance and reason not in (UNDERFLOW, STALLED):
                    if self.units is not None:
                        self.units.sought = NONE
                    self.proposal = 0.25 * h
                    self.rejected += 1
                    continue
                raise self._failure(done + 1, end, h, reason) from None
            if error is None:  # a jump lies ahead
                assert self.switches is not None
                self.longer = max(self.longer, h)
                self.proposal = self.switches.approach(h)
                self.rejected += 1
                continue
            if not error <= 1:
                if self.units is not None:
                    self.units.sought = NONE
                self.proposal = h * (self._explicit.growth(error) if error > 1 else 0.25)
                self.rejected += 1
                continue
            event = NONE
            if self.units is not None:
                self.units.after = self.units.at(end, self.X[self.last])
                if self.chooses:
                    event, length = self.units.first_event(h)
                    if event >= 0 and 0 < length <= self.units.shortest:  # at once
                        if self.watches:
                            self.proposal = NEVER
                        self._pass_event(self.units, now, event)
                        done += 1
                        continue
                    if event != NONE and length > 0:
                        self.longer, self.proposal = max(self.longer, h), length
                        self.rejected += 1
                        continue
            np.maximum(self.worst, self.finish.residuals, out=self.worst)
            if self.records is not None:
                states = self.X[: 1 if self.scheme is None else self.last].copy()
                self.records.append(Record(now, h, end, states, self.solved, self.chosen.copy()))
            if schedule.outputs is not None and self.scheme is not None and not schedule.at_steps:
                try:
                    self._store_within(now, h, end)
                except Trouble as trouble:
                    raise self._failure(done + 1, end, h, str(trouble)) from None
            now, done = end, done + 1
            self._accept(now, h, done)
            if self.watches:
                self.proposal = NEVER
            elif schedule.tolerance:
                self._explicit.scale(self._stages)
                self.proposal = h * self._explicit.growth(error)
                if schedule.pieces is not None and end == schedule.pieces.stops[self.piece]:
                    self.proposal = max(
                        self.proposal, self.kept_proposal
                    )  # it was not the error that made it short
                across = self.switches is not None and self.switches.is_across(h)
                if across or event >= 0:
                    self.proposal, self.longer = max(self.proposal, self.longer), 0.0
            if self.units is not None and event >= 0:
                self._pass_event(self.units, now, event)
                done += 1
            if progress is not None and done % 64 == 0:
                progress(now / schedule.duration)
        if self.stopped:
            self._store_stop(now)

    @property
    def _explicit(self) -> ExplicitScheme:
        assert self.scheme is not None
        return self.scheme

    def _next_step(self, time: float, done: int) -> tuple[float, float]:
        """Its length and its end."""
        schedule = self.schedule
        if self.watches:  # a step that an event or a jump divides is continued to its end
            stop = self._given_end(self.grid + 1)
            end = time + self.proposal if self.proposal < stop - time else stop
            return end - time, end
        if not schedule.tolerance:
            end = self._given_end(done + 1)
            return (end - time if schedule.ends is not None else schedule.step), end
        stop, longest, pieces = schedule.duration, schedule.longest_chosen, schedule.pieces
        if pieces is not None:
            while pieces.stops[self.piece] <= time:
                self.piece += 1
            stop, longest = float(pieces.stops[self.piece]), float(pieces.limits[self.piece])
        left = stop - time
        h = self.kept_proposal = min(self.proposal, longest)
        # an event or a jump lies ahead, and the length is meant
        sought = self.units is not None and self.units.sought >= 0
        sought = sought or (self.switches is not None and self.longer > 0)
        if h >= left * (1 if sought else 1 - 1e-10):
            h = left
        elif 2 * h > left and not sought:
            h = left / 2
        end = stop if h == left else time + h
        return end - time, end  # as rounded, so that a run over the same ends takes the same steps

    def _retries(self, h: float, reason: str) -> bool:
        """Whether a step of an implicit integrator is tried once more, shorter."""
        if not self.watches or self.switches is None or self.scheme is not None:
            return False
        failed = reason in (NO_CONVERGENCE, NOT_FINITE)
        return failed and not is_short(self.program, h, self.schedule)

    def _given_end(self, number: int) -> float:
        """Given end of a step."""
        schedule = self.schedule
        return float(schedule.step * number if schedule.ends is None else schedule.ends[number])

    def _look_for_progress(self, time: float, done: int) -> None:
        """A run that chooses its steps must not come to a halt."""
        tries, schedule = done + self.rejected, self.schedule
        if not self.chooses or tries < self.check_tries + TRIES:
            return
        if time < self.check_time + PROGRESS * schedule.duration:
            raise Trouble(STALLED)
        self.check_time, self.check_tries = time, tries

    def _begin(self) -> None:
        """Find or take the start."""
        i = self.inputs
        given = i.state if i.guess is None else i.guess
        assert given is not None
        self.guess[: given.size] = given[: self.guess.size]
        self.anchor[:] = self.guess
        if i.anchor is not None:
            self.anchor[: i.anchor.size] = i.anchor
        self.weigh()
        if i.guess is not None:
            assert self.program.start is not None
            way = self.parameters.copy()
            results = self.new, self.new_, i.max_iterations, self.program.seeds
            start = ChainCalls(
                self.program.start,
                self.guess[: self.program.start.finish.numel_in(0)],
                None,
                [self.penalty, way, self.time],
                *results,
            )
            for k in range(1, i.parts + 1):
                way[:] = (
                    i.parameters
                    if k == i.parts
                    else i.nominal + k / i.parts * (i.parameters - i.nominal)
                )
                try:
                    start.solve()
                except Trouble:
                    raise StartFailure from None
                if not np.isfinite(self.new).all() or not (start.residuals <= 1e-6).all():
                    raise StartFailure
                if k < i.parts:
                    self.guess[:] = self.new[: self.guess.size]
            np.maximum(self.worst, start.residuals, out=self.worst)
            self.start_unknowns[:] = start.solved(self.program.solved_sizes)
        else:
            self.new[:] = given
            if i.sensitivities is not None:
                self.new_[:, : i.sensitivities.shape[1]] = i.sensitivities
        self._keep(0)
        if self.switches is not None:
            self.switches.before = self.switches.at(0.0, self.X[0])
        if self.units is not None:
            self.units.before = self.units.at(0.0, self.X[0])
            self._scale_contacts(self.units)
            self.units.first_sides()
            self._take_samples(0.0, NONE, moves=False, place=AT_START)
            self.new[:], self.new_[:] = self.X[0], self.X_[0]
        self._choose()
        self._store(0.0, self.ψ, self.ψ_)
        if self.schedule.tolerance:
            self.proposal = self._explicit.first_step(
                self._stages, self._integrands_at, self._accelerations_at
            )

    def _integrands_at(self, state: np.ndarray, time: float = 0.0) -> np.ndarray:
        """Integrands at a state, at the start's time or another one."""
        kept, start = self.new.copy(), self.time[0]
        self.new[:], self.time[0] = state, time
        self.integrands()
        self.new[:], self.time[0] = kept, start
        return self.value.copy()

    def _accelerations_at(self, time: float) -> np.ndarray | None:
        """Accelerations of the start's positions and velocities at another time; None where there
        are none.
        """
        n, start = self.program.coordinates, self.time[0]
        try:
            self._evaluate(self.rates, time, 0.0, np.zeros(0))
        except Trouble:
            return None
        finally:
            self.time[0] = start
        found = self.new[2 * n : 3 * n].copy()
        self.new[:], self.new_[:] = self.X[0], self.X_[0]
        return found

    def _try(self, begin: float, h: float, end: float) -> float | None:
        """A step; returns its error over the one allowed, 0 where that is not known, None where a
        jump lies within.
        """
        tolerance, pieces = self.schedule.tolerance, self.schedule.pieces
        # from one side of a jump to the other, or what is left of a given step
        bridge = h <= BRIDGE * self.schedule.duration and (
            end == self._given_end(self.grid + 1)
            if self.watches
            else pieces is not None and end == pieces.stops[self.piece]
        )
        if self.chooses and not bridge and not h > SHORTEST * self.schedule.duration:
            raise Trouble(UNDERFLOW)
        self.solved = []
        if is_short(self.program, h, self.schedule):
            n = self.program.coordinates
            self.time[0], self.Y[:], self.Y_[:] = (
                end,
                ahead(self.X[0], n, h),
                ahead(self.X_[0], n, h),
            )
            self._solve(self.rates)
            self._keep(1)
        elif self.scheme is None:
            self.step[0], self.time[0] = h, end
            self._solve(self.finish)
            self._keep(1)
        else:
            t = self.scheme.tables
            for k in range(1, t.stages):
                self._evaluate(self.rates, min(begin + t.c[k] * h, end), h, t.a[k])
                self._keep(k)
            self._evaluate(self.finish, end, h, t.b)
            self._keep(t.stages)
        across = False
        if self.switches is not None:
            looks = self.watches and not self.switches.is_across(h)
            peeks = looks and self._peeks(self.switches, begin, h, end)
            self.switches.after = self.switches.at(end, self.X[self.last])
            crossing = self.switches.changed.size > 0
            across = crossing and self.switches.is_across(h)
            beyond = crossing or peeks or (looks and self.switches.hidden(h) > 0)
            if beyond and not across and not bridge and self.chooses:
                return None
        projects = self.program.rates is not None or self.program.jacobian is not None
        if tolerance and projects and self._explicit.projections_failed(self.finish.residuals):
            raise Trouble(NO_CONVERGENCE)
        known = tolerance and not bridge and not across
        error = self._explicit.error(self._stages, h) if known else 0.0
        if (
            error <= 1
            and self.program.sharp
            and self._explicit.amplified(self.X, self.finish.residuals)
        ):
            raise Amplified
        return error

    def _peeks(self, switches: Switches, begin: float, h: float, end: float) -> bool:
        """Whether a stage of an explicit step of given length lies beyond a change of sides: no error
        estimate would see that. The same of an implicit step for what its first accelerations lead
        to: if its end has not changed sides, its last ones may be those beyond.
        """
        if self.scheme is None:
            n, state = self.program.coordinates, self.X[0].copy()
            if is_short(self.program, h, self.schedule):
                return False
            state[: 2 * n] = ahead(state, n, h)
            return switches.changes_at(end, state)
        t = self.scheme.tables
        return any(
            switches.changes_at(min(begin + t.c[k] * h, end), self.X[k]) for k in range(1, t.stages)
        )

    def _evaluate(self, chain: ChainCalls, time: float, h: float, weights: np.ndarray) -> None:
        self.time[0] = time
        self.Y[:] = combined(self.X, self.program.coordinates, h, weights)
        self.Y_[:] = combined(self.X_, self.program.coordinates, h, weights)
        self._solve(chain)

    def _solve(self, chain: ChainCalls) -> None:
        self.iterations += chain.solve()
        if self.records is not None:
            self.solved.append(chain.solved(self.program.solved_sizes))
        if not np.isfinite(self.new).all():
            raise Trouble(NOT_FINITE)

    def _keep(self, k: int) -> None:
        """Take the new state as stage k, with its integrands."""
        self.integrands()
        self.X[k], self.X_[k], self.G[k], self.G_[k] = self.new, self.new_, self.value, self.slope

    def _accept(self, time: float, h: float, done: int) -> None:
        """Take the end of a step as the beginning of the next."""
        if self.scheme is None:
            self.ψ += h / 2 * (self.G[0] + self.G[1])
            self.ψ_ += h / 2 * (self.G_[0] + self.G_[1])
        else:
            self.ψ += added(self.G, h, self.scheme.tables.b)
            self.ψ_ += added(self.G_, h, self.scheme.tables.b)
        if self.switches is not None:
            self._pass_jump(self.switches, h, time)
        for stages in (self.X, self.X_, self.G, self.G_):
            stages[0] = stages[self.last]
        self.ends.append(time)
        if self.watches:
            n = self.program.coordinates
            speed = float(np.abs(self.X[0, n : 2 * n]).max(initial=0.0))
            self.velocity_scale = max(self.velocity_scale, speed)
            np.maximum(self.integrand_scales, np.abs(self.G[0]), out=self.integrand_scales)
            self.grid += time == self._given_end(self.grid + 1)
        if self.units is not None:
            self.units.before, self.units.sought = self.units.after, NONE
            self._scale_contacts(self.units)
            self.triggers.append(0.0)
            self.notes.append(np.zeros(NOTED))
            self.modes.append(self.units.modes.copy())
        self.time[0], self.new[:], self.new_[:] = time, self.X[0], self.X_[0]
        if self._is_due(time, done):
            self._store(time, self.ψ, self.ψ_)
        self._choose()

    def _pass_jump(self, switches: Switches, h: float, end: float) -> None:
        """Note a jump that the step has passed, and what it contributes to derivatives."""
        n, k, changed = self.program.coordinates, self.last, switches.changed
        a, b = self.X[0, 2 * n : 3 * n], self.X[k, 2 * n : 3 * n]
        self.crossed.append(0)
        if changed.size and switches.is_across(h):
            speed, scales = self.velocity_scale, self.integrand_scales
            if self.schedule.tolerance:
                speed, scales = self._explicit.velocity_scale, self._explicit.integrand_scales
            scale = speed / self.schedule.duration
            jump = jumps(a, b, scale) or (
                changed[-1] >= switches.of_forces and integrands_jump(self.G[0], self.G[k], scales)
            )
            first = int((switches.moving if switches.moving.size else changed)[0])
            self.crossed[-1] = (1 if jump else -1) * (first + 1)
            if self.count and jump:
                switches.differentiate(self.ends[-1], self.X[0])
                shifts = switches.shifts(self.X_[0, :, : self.count])
                self.X_[k, n : 2 * n, : self.count] += np.outer(a - b, shifts)
                self.ψ_ += np.outer(self.G[0] - self.G[k], shifts)
                self.time[0], self.Y[:], self.Y_[:] = end, self.X[k, : 2 * n], self.X_[k, : 2 * n]
                kept = self.X[k].copy()
                self.rates.solve()
                self.new[:] = kept
                self._keep(k)
        switches.before = switches.after

    def _scale_contacts(self, units: ModalUnits) -> None:
        n, sizes, x = self.program.coordinates, self.inputs.sizes, self.X[0]
        lengths = x[:n] if sizes is None else np.append(x[:n][sizes.turns == 0], sizes.length)
        length = float(np.abs(lengths).max(initial=0.0))
        units.scale(length, float(np.abs(x[n : 2 * n]).max(initial=0.0)))

    def _first_contacts(self, units: ModalUnits) -> int:
        """Contacts at the start of a run: those that touch are settled; returns the number of
        events.
        """
        gaps = np.where(units.kind == CONTACT, units.before[:, 0], np.inf)
        if (gaps < -OVERLAPS * units.length).any():
            raise self._failure(1, 0.0, 0.0, OVERLAP, int(np.argmin(gaps)))
        return self._settle_start(units) if units.any_at_start else 0

    def _settle_start(self, units: ModalUnits) -> int:
        """Settle contacts that touch at the start; what was stored there is stored anew."""
        self._pass_event(units, 0.0, NONE)
        self.new[:], self.new_[:] = self.X[0], self.X_[0]
        self.stored_count = 0
        self._store(0.0, self.ψ, self.ψ_)
        return 1

    def _pass_by_map(
        self, passage: PassageCalls, row: np.ndarray, begin: float, done: int
    ) -> float:
        """Pass an event at a given step by the map of the state; returns the end of that step."""
        n, ends = self.program.state_size, self.schedule.ends
        assert ends is not None
        end = float(ends[done])
        if self.records is not None:
            self.records.append(PassageRecord(begin, end, self.X[:1].copy(), row))
        try:
            result, slopes = passage.execute(begin, row, self.X[0], self.X_[0])
        except Trouble as trouble:
            raise self._failure(done, end, 0.0, str(trouble)) from None
        self.new[:], self.new_[:], self.time[0] = result[:n], slopes[:n], end
        self._keep(0)
        self.ψ += result[n:]
        self.ψ_ += slopes[n:, : self.count]
        self.ends.append(end)
        again = begin == end and (end == 0 or done == self.schedule.steps)
        if again:  # in place of what is stored
            self.stored_count -= 1
        if again or self._is_due(end, done):
            self._store(end, self.ψ, self.ψ_)
        self._choose()
        return end

    def _pass_event(self, units: ModalUnits, time: float, trigger: int) -> None:
        """An event at the beginning of a step: the mode of `trigger` ends; where that is none, contacts
        that touch at the start of a run are settled.
        """
        before, S, modes = self.X[0].copy(), self.X_[0].copy(), units.modes.copy()
        stated = trigger >= 0 and units.kind[trigger] >= EVENT
        fires = trigger >= 0 and units.fires(trigger)
        if stated:
            hit = fires and bool(units.resets[trigger])
        else:
            hit = units.first_impacts() if trigger < 0 else fires and units.kind[trigger] == CONTACT
        halts = trigger >= 0 and units.halts(trigger)
        function, rate, self.time[0] = -1, 1.0, time
        turns = trigger >= 0 and units.turns(trigger)
        if trigger >= 0 and (fires or not stated) and not turns:
            function = units.function_of(trigger)
            if self.count or self.records is not None:
                units.differentiate(time, before)
                rate = self._watched_rate(units, before, function)
        self._shift_event(units, function, rate, S)
        number, moves = len(self.ends), function >= 0
        self._take_samples(time, trigger if fires else NONE, moves=moves, place=2 * number)
        if stated and fires:
            self.stopped = units.act(trigger)
        z, after, impulse, together = before, before, 0.0, 0
        if not self.stopped:
            try:
                if hit:
                    z = self.events.impact(before, trigger, time, self.new)
                    together = units.closing
                    impulse = (
                        float(units.after[trigger, NORMAL]) if trigger >= 0 and not stated else 0.0
                    )
                if halts:
                    z = self.events.halt(before, trigger, self.new)
                if not stated or fires:  # modes that are about to end have their own event
                    after = self.events.settle(z, trigger, time, self.new)
            except EventFailure as failure:
                reason = str(failure)
                raise self._failure(number, time, 0.0, reason, failure.culprit) from None
        kind = STOPS if self.stopped else int(hit or halts)
        if self.records is not None:
            held = np.array([before, z])
            self.records.append(EventRecord(time, held, function, rate, kind, modes, number))
        if self.stopped:
            self._end_by_event(time)
        else:
            integrands, self.X[0] = self.G[0].copy(), after
            self.new[:], self.new_[:] = after, S
            self._keep(0)
            if self.count:
                self._differentiate_event(hit or halts, before, z, integrands)
            self._take_samples(time, NONE, moves=moves, place=2 * number + 1)
        speed = units.before[trigger, 1]
        noted = rate, impulse, together, function, kind
        self._note_event(units, time, trigger, fires, noted)
        if stated and hit and not self.stopped and units.accumulates(trigger, speed):
            raise self._failure(len(self.ends), time, 0.0, ENDLESS, trigger)

    def _note_event(
        self,
        units: ModalUnits,
        time: float,
        trigger: int,
        fires: bool,
        numbers: tuple[float, float, int, int, int],
    ) -> None:
        """Count an event and note it."""
        which = SLIP if trigger >= 0 and units.kind[trigger] == FRICTION else GAP_RATE
        values, note = units.at(time, self.X[0]), np.zeros(NOTED)
        speed = units.before[trigger, which] if trigger >= 0 else 0.0
        units.before, units.sought = values, NONE
        rate, impulse, together, function, kind = numbers
        speed_after, mode = 0.0, 0.0
        if trigger >= 0:
            stated = units.kind[trigger] >= EVENT
            mode = float(fires) if stated else units.mode(trigger, 0)
            if units.kind[trigger] == FRICTION and not fires:
                mode = QUIET
            speed_after = values[trigger, which]
        moved = self._moved
        note[:] = speed, speed_after, impulse, rate, moved, together, function, kind, mode
        self._scale_contacts(units)
        if not self.stopped:
            units.renew_sides(trigger, jumps=fires or trigger < 0 or units.kind[trigger] < EVENT)
        self.ends.append(time)
        self.crossed.append(0)
        self.triggers.append(-1.0 if trigger < 0 else trigger + 1.0)
        self.notes.append(note)
        self.modes.append(units.modes.copy())
        if time > self.event_time + units.instant:
            self.events_there = 0
        self.event_time, self.events_there = time, self.events_there + 1
        if self.events_there > REVISIONS * (units.count + 1):
            raise self._failure(len(self.ends), time, 0.0, ENDLESS, trigger)

    def _shift_event(self, units: ModalUnits, function: int, rate: float, S: np.ndarray) -> None:
        """Derivatives of the time of an event."""
        self.shift = np.zeros(self.count)
        if function >= 0 and self.count:
            along = units.slopes[1][function] + units.slopes[0][function] @ S[:, : self.count]
            self.shift = -along / rate

    @property
    def _moved(self) -> float:
        """By what share of the run a relative change of a parameter moves the event, at most."""
        if not self.count:
            return 0.0
        floors = self.inputs.sensitivity_floors
        some = floors > 0
        shares = np.abs(self.shift[some]) / (floors[some] * self.schedule.duration)
        return float(shares.max(initial=0.0))

    def _end_by_event(self, time: float) -> None:
        """The end of a run by an event: derivatives of the state at its time, which moves."""
        if self.count:
            motion = self._motion(self.X[0])
            self.X_[0][:, : self.count] += np.outer(motion, self.shift)
            self.ψ_ += np.outer(self.G[0], self.shift)
        self.new[:], self.new_[:] = self.X[0], self.X_[0]

    def _store_stop(self, time: float) -> None:
        """Store the state at which an event has ended the run, in place of the one at the end of the
        last step, if that was stored.
        """
        if self.stored_count and self.times[self.stored_count - 1] == time:
            self.stored_count -= 1
        k, self.time[0] = self.stored_count, time
        self.new[:], self.new_[:] = self.X[0], self.X_[0]
        self._store(time, self.ψ, self.ψ_)
        final_time = self.program.objectives.final_time
        if self.count and final_time is not None:
            rate = evaluated(final_time, self.X[0], self.parameters, self.time)[0]
            self.gradients[k] += np.outer(rate, self.shift)

    def _take_samples(self, time: float, trigger: int, *, moves: bool, place: int) -> None:
        """Take the samples that are due at the beginning of a step."""
        samples, state = self.samples, self.X[0]
        if samples is None:
            return
        values, motion, known = samples.at(time, state), None, False
        for k in range(samples.count):
            if not samples.due(k, float(values[k]), trigger):
                continue
            samples.values[k], samples.places[k] = values[k], place
            if not self.count:
                continue
            if not known:
                motion = self._motion(state.copy()) if moves else None
                samples.differentiate(time, state)
                known = True
            S = self.X_[0][:, : self.count]
            samples.gradient[k] = samples.derivative(k, S, motion, self.shift)

    def _sample_rate(self, time: float, state: np.ndarray, k: int) -> float:
        """Rate of a sampled function along the motion, by a central difference."""
        assert self.samples is not None
        n, short = self.program.coordinates, NUDGE * self.schedule.duration
        q, v, a = state[:n].copy(), state[n : 2 * n].copy(), state[2 * n : 3 * n].copy()
        kept, values = (self.new.copy(), self.new_.copy(), float(self.time[0])), []
        for dt in (-short, short):
            self.time[0] = time + dt
            self.Y[:] = np.concatenate([q + dt * (v + dt / 2 * a), v + dt * a])
            try:
                self.rates.solve()
            except Trouble:
                values.append(np.nan)
                continue
            values.append(float(self.samples.at(time + dt, self.new)[k]))
        self.new[:], self.new_[:], self.time[0] = kept
        change = values[1] - values[0]
        size = abs(values[0]) + abs(values[1])
        return 0.0 if abs(change) <= CHANGED * size else change / (2 * short)

    def _motion(self, state: np.ndarray) -> np.ndarray:
        """Rates of a whole state along the motion: those of accelerations and multipliers are
        derivatives of the rates with time for a parameter, in one column; zero where these are not
        known.
        """
        n, motion = self.program.coordinates, np.zeros(state.size)
        motion[: 2 * n] = state[n : 3 * n]
        if not self.program.along_time or not self.count:
            return motion
        kept = self.seeds.copy(), self.new.copy(), self.new_.copy()
        self.seeds[:], self.Y_[:] = 0.0, 0.0
        self.seeds[-1, 0], self.Y[:] = 1.0, state[: 2 * n]
        self.Y_[:, 0] = state[n : 3 * n]
        self.rates.solve()
        motion[2 * n :] = self.new_[2 * n :, 0]
        self.seeds[:], self.new[:], self.new_[:] = kept
        return motion

    def _watched_rate(self, units: ModalUnits, state: np.ndarray, function: int) -> float:
        """Rate of a watched function along the motion; its gradients are known."""
        n, slopes = self.program.coordinates, units.slopes[0][function]
        deep = bool(slopes[2 * n :].any())
        if deep and not (self.program.along_time and self.count):
            return np.nan
        motion = self._motion(state) if deep else np.append(state[n : 3 * n], np.zeros(n))
        count = state.size if deep else 2 * n
        return float(units.slopes[3][function, 0] + slopes[:count] @ motion[:count])

    def _differentiate_event(
        self, hit: bool, before: np.ndarray, z: np.ndarray, integrands: np.ndarray
    ) -> None:
        """Derivatives across an event; see `events`."""
        n, p, S, after = self.program.coordinates, self.count, self.X_[0], self.X[0].copy()
        self.Y_[:] = S[: 2 * n]
        self.Y_[:, :p] += np.outer(before[n : 3 * n], self.shift)
        if hit:
            assert self.impact is not None
            self.Y[:] = before[: 2 * n]
            if self.program.along_time:
                self.seeds[-1, :p] = self.shift
            self.impact.solve()
            if self.program.along_time:
                self.seeds[-1] = 0.0
            self.Y_[:] = self.new_[: 2 * n]
        self.Y[:] = z[: 2 * n]
        self.Y_[:, :p] -= np.outer(after[n : 3 * n], self.shift)
        self.ψ_ += np.outer(integrands - self.G[0], self.shift)
        self.rates.solve()
        self.new[:] = after
        self._keep(0)

    def _is_due(self, time: float, done: int) -> bool:
        """Whether the end of a step is stored."""
        s, number = self.schedule, self.grid if self.watches else done
        if self.watches and time != self._given_end(number):
            return False
        if s.outputs is None:
            return number % s.every == 0 or number == s.steps
        if not s.at_steps:
            return bool(time == s.outputs[self.stored_count])
        due = bool(s.outputs[self.passed] <= time)
        self.passed = int(np.searchsorted(s.outputs[:-1], time, side="right"))
        return due

    def _store(self, time: float, ψ: np.ndarray, ψ_: np.ndarray) -> None:
        """Store the new state; it counts when all of it is there, because Ctrl-C may come in
        between.
        """
        k = self.stored_count
        self.finals()
        self.times[k], self.states[k], self.objectives[k] = time, self.new, self.value + ψ
        self.sensitivities[k], self.gradients[k] = self.new_[:, : self.count], self.slope + ψ_
        if self.samples is not None:
            self._store_samples(self.samples, time, k)
        self.stored_count = k + 1

    def _store_samples(self, samples: Samples, time: float, row: int) -> None:
        """Add samples to objectives at a state that is stored; it may be an extremum itself."""
        values, gradient = samples.values.copy(), samples.gradient.copy()
        here = samples.at(time, self.new)
        if time < self.schedule.duration and not self.stopped:  # nothing before its event
            values[np.isnan(values)] = 0.0
        for k in range(samples.count):
            if samples.exceeds(k, float(here[k])):
                values[k] = here[k]
                if self.count:
                    samples.differentiate(time, self.new)
                    S = self.new_[:, : self.count]
                    gradient[k] = samples.derivative(k, S, None, self.shift)
        for i, factors in enumerate(samples.factors):
            for k in np.flatnonzero(factors).tolist():
                self.objectives[row, i] += factors[k] * values[k]
                self.gradients[row, i] += factors[k] * gradient[k]

    def _store_within(self, begin: float, h: float, end: float) -> None:
        """Store what dense output gives at all times wanted before the end of a step."""
        outputs, t = self.schedule.outputs, self._explicit.tables
        assert outputs is not None
        first = True
        while outputs[self.stored_count] < end:
            time = float(outputs[self.stored_count])
            for k in range(t.extra if first else 0):
                self._evaluate(
                    self.rates, min(begin + t.more_c[k] * h, end), h, t.more[k][: t.stages + 1 + k]
                )
                self._keep(t.stages + 1 + k)
            first = False
            weights = self._explicit.dense_weights((time - begin) / h)
            self._evaluate(self.finish, time, h, weights)
            self._store(
                time, self.ψ + added(self.G, h, weights), self.ψ_ + added(self.G_, h, weights)
            )

    def _choose(self) -> None:
        """Choose independent coordinates anew where the present ones have become poor."""
        if self.program.jacobian is None:
            return
        self.differentiate()
        found, singular = select(self.jacobian.T, self.chosen if self.selections else None)
        if found is not self.chosen:
            self.chosen[:] = found
            self.selections += 1
        if singular:
            raise self._failure(len(self.ends), self.ends[-1], 0.0, SINGULAR)

    def _failure(
        self, step: int, end: float, length: float, reason: str, culprit: int = -1
    ) -> StepFailure:
        state, penalty = self.X[0].copy(), self.penalty.copy()
        return StepFailure(step, end, length, state, penalty, reason, culprit)
