"""Computation of results for pages, in a thread: the newest design first, its results in order of
priority. A result that is out of date before its computation begins is skipped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from ..analyses.simulation import Values
from ..core.errors import VarimechError
from ..core.progress import report_progress_to
from .engine import Engine
from .messages import Message
from .session import Session

PAUSE = 0.12
"""Time (s) without a change, and without a new motion, after which derivatives of all curves are
computed: they take longer than a frame.
"""
PROMPT = 0.05
"""Time (s) up to which gradients follow every change. Slower ones pause between changes, because
they would share the processor, and Python's lock, with the motion on the screen.
"""
REST = 3.0
"""Pause of such a gradient as a multiple of its computing time, unless the user pauses: it gets at
most a quarter of the time, and numbers still move while a slider does.
"""
LONG = 0.4
"""Computing time (s) of gradients that wait for a pause: to a designer who drags, slower ones look
like freezing.
"""
FAST = ("motion", "numbers", "tolerances", "designs")
"""Results that follow every change, in order of priority."""
OPTIONAL = frozenset({"samples", "designs", "modes", "locus"})
"""Results that are computed only while a page shows them."""
ABANDONED = frozenset({"locus"})
"""Results whose computation is cancelled when they go out of date."""
Publish = Callable[[bytes], None]


class OutOfDate(Exception):
    """The design changed while a result was being computed."""


class Worker:
    """Computes and publishes the results that pages show of a session: `kinds` after every change,
    `late` ones when there is a pause. A `polite` worker computes all of them less often once one
    has taken longer than `PROMPT`.
    """

    def __init__(
        self,
        session: Session,
        publish: Publish,
        kinds: tuple[str, ...] = FAST,
        late: tuple[str, ...] = ("derivatives",),
        polite: bool = False,
    ):
        self._session, self._publish = session, publish
        self._kinds, self._late, self._polite = kinds, late, polite
        self._took = self._rested = 0.0
        self._changed, self._ended = threading.Condition(), False
        self._changed_at = 0.0
        self._done: dict[str, object] = {}
        self._thread = threading.Thread(target=self._loop, name="studio", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Check for work: a design has changed, or a motion has been computed."""
        with self._changed:
            self._changed_at = time.monotonic()
            self._changed.notify()

    def end(self) -> None:
        """Stop after the present computation."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join(timeout=5)

    def _loop(self) -> None:
        while True:
            with self._changed:
                if self._ended:
                    return
                kinds, wait = self._next()
                if not kinds:
                    self._changed.wait(wait)
                    continue
                states = {kind: self._session.state_of(kind) for kind in kinds}
                engine, values, revision = self._session.design
                self._done |= states
            if engine is None:
                continue
            began = time.monotonic()
            for kind, state in states.items():
                with suppress(OutOfDate), report_progress_to(self._listener(kind, state)):
                    self._publish(_computed(engine, kind, values, revision))
            if kinds[0] in self._kinds:
                ended = time.monotonic()
                self._took = ended - began
                self._rested = ended + REST * self._took

    def _listener(self, kind: str, state: object) -> Callable[..., None]:
        """Return a listener that stops long computations of this thread whose result is out of
        date.
        """
        own = threading.get_ident()

        def listen(*progress: object) -> None:
            is_mine = threading.get_ident() == own and kind in ABANDONED
            if is_mine and (self._ended or self._session.state_of(kind) != state):
                raise OutOfDate

        return listen

    def _next(self) -> tuple[tuple[str, ...], float | None]:
        """The results to compute next, of one design; otherwise the time to wait. A polite worker
        computes all results that are out of date, since they share a gradient and are shown
        together.
        """
        now = time.monotonic()
        pause = PAUSE - (now - self._changed_at)
        unwatched = OPTIONAL - self._session.watched
        fast, late = (
            tuple(k for k in kinds if k not in unwatched and self._is_out_of_date(k))
            for kinds in (self._kinds, self._late)
        )
        if fast:
            rests = self._polite and self._took > PROMPT
            turn = pause if self._took > LONG else self._rested - now
            wait = min(pause, turn) if rests else 0.0
            return ((), wait) if wait > 0 else (fast if self._polite else fast[:1], None)
        if late:
            return ((), pause) if pause > 0 else (late[:1], None)
        return (), None

    def _is_out_of_date(self, kind: str) -> bool:
        return self._done.get(kind) != self._session.state_of(kind)


def _computed(engine: Engine, kind: str, values: Values, revision: int) -> bytes:
    """Compute a result as a message; a failure of any kind is also a result, so that pages
    continue.
    """
    try:
        message: Message = getattr(engine, kind)(values)
        message.content["revision"] = revision
        return message.encoded()
    except VarimechError as error:
        reason = str(error)
    except OutOfDate:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    return Message("failed", of=kind, message=reason, revision=revision).encoded()
