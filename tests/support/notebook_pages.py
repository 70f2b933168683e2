"""A page that replaces a notebook: it loads the module of a widget as anywidget does, with a model
that is connected to the widget in Python.
"""

from __future__ import annotations

import base64
import queue
import time
from typing import Any

from studio_pages import PATIENCE

HOST = """async ([esm, state]) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  const listeners = {};
  window.outbox = [];
  window.model = {
    state, changed: {},
    get(key) { return this.state[key]; },
    set(key, value) { if (this.state[key] !== value) { this.state[key] = this.changed[key] = value; this.emit(`change:${key}`); } },
    save_changes() { window.outbox.push({ update: this.changed }); this.changed = {}; },
    send(content) { window.outbox.push({ custom: content }); },
    on(name, act) { (listeners[name] ??= new Set()).add(act); },
    off(name, act) { listeners[name]?.delete(act); },
    emit(name, ...content) { for (const act of [...(listeners[name] ?? [])]) act(...content); },
  };
  window.show = () => { const el = document.body.appendChild(document.createElement("div")); return { el, clean: widget.render({ model: window.model, el }) }; };
  window.shown = [window.show()];
}"""
DELIVER = """([content, buffers]) => {
  const bytes = buffers.map((text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer));
  window.model.emit("msg:custom", content, bytes);
}"""
TRAITS = ("page", "title", "height", "time", "playing")


class NotebookPage:
    """A widget, displayed in a browser."""

    def __init__(self, context: Any, widget: Any):
        self.widget = widget
        self._outgoing: queue.Queue[tuple[Any, Any]] = queue.Queue()
        widget.send = lambda content, buffers=None: self._outgoing.put((content, buffers))
        self.page = context.new_page()
        self.page.goto("about:blank")
        names = [name for name in TRAITS if widget.has_trait(name)]
        state = {name: getattr(widget, name) for name in names}
        widget.observe(lambda change: self._outgoing.put((None, change)), names)
        self.page.evaluate(HOST, [widget._esm, state])

    @property
    def frames(self) -> list[Any]:
        """Displayed pages."""
        return self.page.frames[1:]

    def pass_on(self) -> None:
        """Transfer messages in both directions."""
        for message in self.page.evaluate("window.outbox.splice(0)"):
            if "custom" in message:
                self.widget._handle_custom_msg(message["custom"], [])
            else:
                self.widget.set_state(message["update"])
        while not self._outgoing.empty():
            content, rest = self._outgoing.get()
            if content is None:
                self.page.evaluate(
                    "([key, value]) => window.model.set(key, value)", [rest["name"], rest["new"]]
                )
            else:
                texts = [base64.b64encode(part).decode() for part in rest]
                self.page.evaluate(DELIVER, [content, texts])

    def until(self, expression: str, frame: int = 0) -> None:
        """Wait until an expression is true in a frame."""
        end = time.monotonic() + PATIENCE
        while True:
            self.pass_on()
            if self.frames and self.frames[frame].evaluate(expression):
                return
            assert time.monotonic() < end, f"{expression} does not become true"
            self.page.wait_for_timeout(10)

    def until_here(self, condition: Any) -> None:
        """Wait until a condition is true in Python."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "it does not become true"
            self.pass_on()
            self.page.wait_for_timeout(10)
