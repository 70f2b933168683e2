"""The state of a studio: one model text, values that are being tried, and what can be undone. All
pages of a studio show the same session.
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

    Its text is the only truth: sliders change the values in it, undo goes back to an earlier text.
    While a slider moves, `tried` holds values that are not in the text yet.
    """

    def __init__(self, make: Callable[..., Any], text: str, path: Path | None = None):
        self._lock, self._make = threading.RLock(), make
        self.path, self.saved = path, text if path is not None else ""
        self._known_files = named_files(text, path)
        self.identity = secrets.token_hex(8)
        """By which pages notice that they are connected to another session."""
        self.source = path.name if path is not None else hashlib.sha256(text.encode()).hexdigest()
        """By which they notice that it is about the same model."""
        self.history = History(text)
        self.tried: dict[str, float] = {}
        self.engine: Engine | None = None
        self.problem: dict[str, object] | None = None
        """What is wrong with the text: message, line and remedy."""
        self.kept: dict[str, str] = {}
        """Designs that are kept beside this one: texts by name."""
        self.ghost: str | None = None
        """The kept design that is drawn behind this one."""
        self.handle: dict[str, Any] | None = None
        """What the last pull of a handle has reached."""
        self.jobs = Jobs()
        self.watched: set[str] = set()
        """Results that are computed only while a page shows them."""
        self.notify: Callable[[], None] = lambda: None
        """Sends the changed state to pages, from any thread."""
        self.revision = 0
        """Counts changes of the design."""
        self.linear = LinearChoice()
        """What pages look at of small motions."""
        self.drawing = False
        """Whether a page draws the mechanism, and needs a sketch of it."""
        self._units: dict[str, dict[str, object]] = {}
        """Units in which the text gives values of parameters."""
        self._moved: dict[str, float] = {}
        """Values of the text that differ from those of the engine's mechanism."""
        self._read()

    @property
    def text(self) -> str:
        """Of the model file."""
        return self.history.now

    @property
    def values(self) -> dict[str, float]:
        """That are tried, in addition to those of the engine's mechanism."""
        return {**self._moved, **self.tried}

    def state_of(self, kind: str) -> object:
        """What a result depends on: it is out of date when this has changed."""
        return (self.revision, self.linear) if kind in LINEAR else self.revision

    @property
    def design(self) -> tuple[Engine | None, dict[str, float], int]:
        """Engine, values and revision that belong together."""
        with self._lock:
            return self.engine, self.values, self.revision

    def state(self) -> dict[str, Any]:
        """What pages show of the session itself."""
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
                raise ModelError("the model has mistakes", remedy="mend its text first")
            known = self.engine.mechanism.data.parameter_set.parameters
            tried = dict(self.tried)
            for name, value in values.items():
                if name not in known:
                    raise unknown_name("parameter", name, known)
                if isinstance(value, str):
                    value = fixed_number(value, known[name].unit, f"parameter {name!r}")
                tried[name] = known[name].check(value)
            self.tried = tried
            self.handle = None
            self.revision += 1
            if final:
                self._commit(with_values(self.text, self.tried, digits))

    def edit(self, text: str) -> None:
        """Another text; one with mistakes is kept, and the mechanism stays as it was before.

        Raises:
            ModelError: for what cannot be written to a file.
        """
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ModelError("the text contains half a character", remedy="remove it")
        with self._lock:
            self._commit(text)

    def change(self, edited: Callable[[str], str]) -> None:
        """Replace the text by a function of it; no other page changes it in between.

        Raises:
            ModelError: for what cannot be written to a file.
        """
        with self._lock:
            self.edit(edited(self.text))

    def draw(self, stroke: str, **arguments: Any) -> None:
        """Change the drawn mechanism by one stroke, which can be undone; see `building`.

        Raises:
            ModelError: if the stroke makes no sense, or makes a text with mistakes.
        """
        with self._lock:
            if self.problem is not None:
                raise ModelError("the text has mistakes", remedy="mend them before you draw")
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
        except Exception:  # pages go on, whatever stands in a text with mistakes
            return undrawn()

    def _mechanism(self, text: str) -> Any:
        """The mechanism of a text, which a page may have changed: it reads no other files."""
        return mechanism_of_text(self._make, text, self.path, self._known_files)

    def undo(self) -> None:
        """Go back to the text before the last change."""
        with self._lock:
            self.history.undo()
            self._commit(self.history.now)

    def redo(self) -> None:
        """Take back the last undo."""
        with self._lock:
            self.history.redo()
            self._commit(self.history.now)

    def revert(self) -> None:
        """Go back to the text of the file; this can be undone, too."""
        with self._lock:
            if self.saved:
                self._commit(self.saved)

    def keep(self, name: str) -> None:
        """Keep this design beside others.

        Raises:
            ModelError: if its text has mistakes.
        """
        with self._lock:
            if self.problem is not None:
                raise ModelError("the text has mistakes", remedy="mend them before you keep it")
            self.kept[name] = self.text
            self._link_designs()
            self.revision += 1

    def forget(self, name: str) -> None:
        """Keep a design no longer."""
        with self._lock:
            if name not in self.kept:
                raise unknown_name("design", name, self.kept)
            del self.kept[name]
            self.compare(None if self.ghost == name else self.ghost)

    def compare(self, name: str | None) -> None:
        """Draw a kept design behind this one; None for no one."""
        with self._lock:
            if name is not None and name not in self.kept:
                raise unknown_name("design", name, self.kept)
            self.ghost = name
            self._link_designs()
            self.revision += 1

    def start_job(self, kind: str) -> None:
        """Begin a long computation about the present text."""
        with self._lock:
            if self.problem is not None:
                raise ModelError("the model has mistakes", remedy="mend its text first")
            self.jobs.start(kind, self._make, self.text, self.path, self.notify)

    def look_at(self, **choice: Any) -> None:
        """Choose a motion about which small ones are computed, a mode, or the parameter of the root
        locus.

        Raises:
            ModelError: for what there is not.
        """
        with self._lock:
            known = (
                {} if self.engine is None else self.engine.mechanism.data.parameter_set.parameters
            )
            self.linear = self.linear.changed(known, **choice)
            if self.engine is not None:
                self.engine.linear = self.linear

    def take(self, name: str) -> None:
        """Go on with a design that was kept."""
        with self._lock:
            if name not in self.kept:
                raise unknown_name("design", name, self.kept)
            self._commit(self.kept[name])

    def save(self) -> None:
        """Write the text to the opened file.

        Raises:
            ModelError: if none was opened, or it has been changed by others since.
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
        """Make the mechanism of the text; one that differs in values only is the one there is."""
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
        """Pass the kept designs to the engine: values of each, None if it is another mechanism."""
        if self.engine is None:
            return
        self.engine.kept = {
            name: self._kept_values(self.engine.mechanism, text) for name, text in self.kept.items()
        }
        self.engine.ghost = self.ghost

    def _kept_values(self, mechanism: Designed, text: str) -> dict[str, float] | None:
        try:
            return _moved(mechanism, self._mechanism(text))
        except VarimechError:  # a table of it was deleted: `take` reports that
            return None


def _moved(old: Designed, new: Designed) -> dict[str, float] | None:
    """Values of parameters in which two mechanisms differ; None if they differ in more."""
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
