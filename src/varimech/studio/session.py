"""The state of a studio: one model text, parameter values that are being tried, and the undo
history. All pages of a studio show the same session.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..core.atomic_files import write_text
from ..core.errors import FileError, ModelError, VarimechError, unknown_name
from ..core.expressions import fixed_number
from ..files.editing import DIGITS, with_values
from ..files.reading import mechanism_of_text, named_files
from .building import changed
from .engine import Designed, Engine
from .findings import drawing, undrawn
from .history import History
from .jobs import Jobs
from .linear import LinearChoice
from .sketch import Sketch
from .written_units import units_of

LINEAR = frozenset({"modes", "locus"})
"""Results about small motions."""


class Session:
    """A model that is being designed: its text, read by `make`, the class of mechanisms.

    The text is the single source of truth: sliders change the values in it, undo restores an
    earlier text. While a slider moves, `tried` holds values that are not in the text yet.
    """

    def __init__(self, make: Callable[..., Any], text: str, path: Path | None = None):
        self._lock, self._make = threading.RLock(), make
        self.path, self.saved = path, text if path is not None else ""
        self._known_files = named_files(text, path)
        self.identity = secrets.token_hex(8)
        """Identifies the session, so that pages detect a reconnection to another one."""
        self.source = path.name if path is not None else hashlib.sha256(text.encode()).hexdigest()
        """Identifies the model, so that pages detect that a new session is about the same one."""
        self.history = History(text)
        self.tried: dict[str, float] = {}
        self.engine: Engine | None = None
        self.problem: dict[str, object] | None = None
        """Error in the text: message, line and remedy."""
        self.kept: dict[str, str] = {}
        """Designs that are kept for comparison: texts by name."""
        self.ghost: str | None = None
        """The kept design that is drawn behind the current one."""
        self.handle: dict[str, Any] | None = None
        """Result of the last pull of a handle."""
        self.jobs = Jobs()
        self.watched: set[str] = set()
        """Results that are computed only while a page shows them."""
        self.notify: Callable[[], None] = lambda: None
        """Sends the changed state to pages, from any thread."""
        self.revision = 0
        """Counts changes of the design."""
        self.linear = LinearChoice()
        """Selection of the pages for small motions."""
        self.drawing = False
        """Whether a page shows the drawing of the mechanism, and needs a sketch."""
        self._units: dict[str, dict[str, object]] = {}
        """Units in which the text gives the values of parameters."""
        self._moved: dict[str, float] = {}
        """Values in the text that differ from those of the engine's mechanism."""
        self._read()

    @property
    def text(self) -> str:
        """Text of the model file."""
        return self.history.now

    @property
    def values(self) -> dict[str, float]:
        """Values that are being tried, combined with those that differ from the engine's mechanism."""
        return {**self._moved, **self.tried}

    def state_of(self, kind: str) -> object:
        """Data that a result depends on: it is out of date when they have changed."""
        return (self.revision, self.linear) if kind in LINEAR else self.revision

    @property
    def design(self) -> tuple[Engine | None, dict[str, float], int]:
        """Engine, values and revision, consistent with each other."""
        with self._lock:
            return self.engine, self.values, self.revision

    def state(self) -> dict[str, Any]:
        """State of the session itself, for pages."""
        with self._lock:
            parameters = [] if self.engine is None else self.engine.parameters
            values = self.values
            return {
                "session": self.identity,
                "source": self.source,
                "revision": self.revision,
                "name": "" if self.engine is None else self.engine.mechanism.name,
                "file": None if self.path is None else self.path.name,
                "text": self.text,
                "changed": self.text != self.saved,
                "can_undo": self.history.can_undo,
                "can_redo": self.history.can_redo,
                "problem": self.problem,
                "parameters": [
                    {
                        **p,
                        "now": values.get(str(p["name"]), p["value"]),
                        "shown": self._units.get(str(p["name"])),
                    }
                    for p in parameters
                ],
                "kept": list(self.kept),
                "drawing": self._drawing() if self.drawing else None,
                "ghost": self.ghost,
                "handle": self.handle,
                "job": self.jobs.state(),
                "linear": vars(self.linear),
            }

    def set_values(
        self, values: Mapping[str, float | str], *, final: bool, digits: int = DIGITS
    ) -> None:
        """Try values of parameters (SI, or texts with units); a final change goes into the text and can be undone.

        Raises:
            ModelError: for an unknown parameter, or a value that is out of bounds.
        """
        with self._lock:
            if self.engine is None:
                raise ModelError("the model has errors", remedy="correct its text first")
            known_parameters = self.engine.mechanism.data.parameter_set.parameters
            tried = dict(self.tried)
            for name, value in values.items():
                if name not in known_parameters:
                    raise unknown_name("parameter", name, known_parameters)
                if isinstance(value, str):
                    value = fixed_number(value, known_parameters[name].unit, f"parameter {name!r}")
                tried[name] = known_parameters[name].check(value)
            self.tried = tried
            self.handle = None
            self.revision += 1
            if final:
                self._commit(with_values(self.text, self.tried, digits))

    def edit(self, text: str) -> None:
        """Replace the text; a text with errors is kept, while the mechanism stays as before.

        Raises:
            ModelError: for characters that cannot be written to a file.
        """
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ModelError("the text contains half of a surrogate pair", remedy="remove it")
        with self._lock:
            self._commit(text)

    def change(self, edited: Callable[[str], str]) -> None:
        """Replace the text by a function of it, atomically with respect to other pages.

        Raises:
            ModelError: for characters that cannot be written to a file.
        """
        with self._lock:
            self.edit(edited(self.text))

    def draw(self, stroke: str, **arguments: Any) -> None:
        """Change the drawn mechanism by one stroke, which can be undone; see `building`.

        Raises:
            ModelError: if the stroke is impossible, or produces a text with errors.
        """
        with self._lock:
            if self.problem is not None:
                raise ModelError("the text has errors", remedy="correct them before you draw")
            text = changed(self.text, self._sketch(), stroke, arguments)
            try:
                self._mechanism(text)
            except FileError as error:
                raise ModelError(error.reason) from None
            self._commit(text)

    def _sketch(self) -> Sketch:
        return Sketch(self.text, self._mechanism(self.text) if self.problem is None else None)

    def _drawing(self) -> dict[str, object]:
        try:
            return drawing(self._sketch())
        except Exception:  # pages continue, whatever errors a text has
            return undrawn()

    def _mechanism(self, text: str) -> Any:
        """Build the mechanism of a text. The text may come from a page, so it must not read other
        files.
        """
        return mechanism_of_text(self._make, text, self.path, self._known_files)

    def undo(self) -> None:
        """Go back to the text before the last change."""
        with self._lock:
            self.history.undo()
            self._commit(self.history.now)

    def redo(self) -> None:
        """Reverse the last undo."""
        with self._lock:
            self.history.redo()
            self._commit(self.history.now)

    def revert(self) -> None:
        """Restore the text of the file; this can be undone, too."""
        with self._lock:
            if self.saved:
                self._commit(self.saved)

    def keep(self, name: str) -> None:
        """Keep this design for comparison.

        Raises:
            ModelError: if its text has errors.
        """
        with self._lock:
            if self.problem is not None:
                raise ModelError("the text has errors", remedy="correct them before you keep it")
            self.kept[name] = self.text
            self._link_designs()
            self.revision += 1

    def forget(self, name: str) -> None:
        """Remove a kept design."""
        with self._lock:
            if name not in self.kept:
                raise unknown_name("design", name, self.kept)
            del self.kept[name]
            self.compare(None if self.ghost == name else self.ghost)

    def compare(self, name: str | None) -> None:
        """Draw a kept design behind the current one; None for none."""
        with self._lock:
            if name is not None and name not in self.kept:
                raise unknown_name("design", name, self.kept)
            self.ghost = name
            self._link_designs()
            self.revision += 1

    def start_job(self, kind: str) -> None:
        """Begin a long computation for the present text."""
        with self._lock:
            if self.problem is not None:
                raise ModelError("the model has errors", remedy="correct its text first")
            self.jobs.start(kind, self._make, self.text, self.path, self.notify)

    def look_at(self, **choice: Any) -> None:
        """Select a motion for linearisation, a mode, or the parameter of the root locus.

        Raises:
            ModelError: for a selection that does not exist.
        """
        with self._lock:
            known_parameters = (
                {} if self.engine is None else self.engine.mechanism.data.parameter_set.parameters
            )
            self.linear = self.linear.changed(known_parameters, **choice)
            if self.engine is not None:
                self.engine.linear = self.linear

    def take(self, name: str) -> None:
        """Continue with a kept design."""
        with self._lock:
            if name not in self.kept:
                raise unknown_name("design", name, self.kept)
            self._commit(self.kept[name])

    def save(self) -> None:
        """Write the text to the opened file.

        Raises:
            ModelError: if no file was opened, or another program has changed it since.
        """
        with self._lock:
            if self.path is None:
                raise ModelError("no file was opened", remedy="copy the text, or download it")
            if self.path.exists() and self.path.read_text(encoding="utf-8") != self.saved:
                raise ModelError(
                    f"{self.path.name} has been changed by another program since it was opened",
                    remedy="copy your text, and open the studio again",
                )
            write_text(self.path, self.text)
            self.saved = self.text

    def _commit(self, text: str) -> None:
        self.history.add(text)
        self.tried, self.handle = {}, None
        self.revision += 1
        self._read()

    def _read(self) -> None:
        """Build the mechanism of the text; the existing one is reused if only values differ."""
        try:
            mechanism = self._mechanism(self.text)
        except FileError as error:
            self.problem = {
                "message": error.reason,
                "line": error.line,
                "remedy": str(error.remedy or ""),
            }
            return
        except VarimechError as error:
            self.problem = {"message": str(error), "line": None, "remedy": ""}
            return
        self.problem = None
        self._units = units_of(self.text)
        moved = None if self.engine is None else _moved(self.engine.mechanism, mechanism)
        self._moved = moved or {}
        if moved is None:
            self.engine = Engine(mechanism)
            self.engine.linear = self.linear
            self._link_designs()

    def _link_designs(self) -> None:
        """Pass the kept designs to the engine: their values, None for another mechanism."""
        if self.engine is None:
            return
        self.engine.kept = {
            name: self._kept_values(self.engine.mechanism, text) for name, text in self.kept.items()
        }
        self.engine.ghost = self.ghost

    def _kept_values(self, mechanism: Designed, text: str) -> dict[str, float] | None:
        try:
            return _moved(mechanism, self._mechanism(text))
        except VarimechError:  # one of its tables was deleted: `take` reports that
            return None


def _moved(old: Designed, new: Designed) -> dict[str, float] | None:
    """Values of parameters in which two mechanisms differ; None if they differ in anything else."""
    before, after = (m.data.parameter_set.parameters for m in (old, new))
    if list(before) != list(after):
        return None
    values = {name: p.value for name, p in after.items()}
    try:
        texts = {m.to_text(studies=m.studies, values=values) for m in (old, new)}
        if len(texts) > 1:
            return None
    except ModelError:
        return None
    return {name: value for name, value in values.items() if value != before[name].value}
