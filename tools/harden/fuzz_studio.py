"""Sends a studio messages that no page would send, and tells which of them are not met with another
state or one refusal.

    python tools/harden/fuzz_studio.py --count 20000             # seed 0, messages 0 … 19999
    python tools/harden/fuzz_studio.py --first 4711 --count 1    # the text of one of them

Messages have wrong kinds, wrong contents and wrong orders; texts are those of `mutated_files`, which
are also drawn. A fault is an exception that ends the connection, more than one refusal or none where
nothing changed, a session that a page which comes later cannot be told, a changed session after a
refusal, or more than PATIENCE seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import traceback
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from fuzz_files import MEMORY, Hang, in_time
from mutated_files import BOMBS, NUMBERS, WORD, model_file

import varimech as vm
from varimech.studio.building import STROKES
from varimech.studio.live import ACTIONS, Live
from varimech.studio.session import Session

PATIENCE = 20.0
"""Seconds of the processor for a message: a pull runs the mechanism some dozens of times."""
OF_TEXT = 0.3
"""Share of messages that are texts of model files."""
CRANK = """\
varimech: 1
name: crank
gravity: [0, -9.81]
parameters:
  crank: {value: 100 mm, unit: m, bounds: [0.05, 0.2]}
  rod: {value: 250 mm, unit: m, tolerance: 0.3 mm}
ground: {O: [0, 0]}
bodies:
  crank: {bar: [O, P], length: crank, mass: 0.5}
  rod: {bar: [P, S], length: rod, mass: 0.8}
  slider: {mass: 1.2, inertia: 1e-3, points: {S: [0, 0]}}
joints: {O: revolute, P: revolute, S: revolute, guide: {prismatic: [ground.O, slider.S], axis: [1, 0]}}
start: {angle: {crank: 1.0}, near: {S: [0.3, 0]}}
studies:
  simulate: {duration: 0.02, step: 0.01}
  objectives: {travel: {final: displacement("guide"), unit: m}}
"""
NAMES = (
    "crank",
    "rod",
    "slider",
    "O",
    "P",
    "S",
    "guide",
    "travel",
    "A",
    "L1",
    "ground",
    "slider.S",
)
KEYS = (
    *(
        "values",
        "final",
        "text",
        "name",
        "on",
        "what",
        "stroke",
        "arguments",
        "point",
        "place",
        "time",
    ),
    *("points", "places", "objective", "value", "over", "at", "mode", "parameter", "width", "self"),
    *(
        "body",
        "begin",
        "end",
        "to",
        "node",
        "axis",
        "section",
        "key",
        "old",
        "new",
        "kind",
        "session",
    ),
)
SAID = {
    "set": ("values", "final"),
    "edit": ("text",),
    "keep": ("name",),
    "take": ("name",),
    "forget": ("name",),
    "compare": ("name",),
    "drawing": ("on",),
    "draw": ("stroke", "arguments"),
    "pull": ("point", "place", "time", "final", "objective", "value", "points", "places", "over"),
    "tolerance": ("name", "width"),
    "watch": ("what", "on"),
    "linear": ("at", "mode", "parameter"),
}
"""What messages of a kind hold; the others hold nothing."""
STROKE = {
    "ground": ("end",),
    "link": ("begin", "end"),
    "slider": ("end", "axis"),
    "spring": ("begin", "end"),
    "damper": ("begin", "end"),
    "driver": ("body",),
    "point": ("body", "at"),
    "move": ("node", "to"),
    "carry": ("body", "to"),
    "delete": ("kind", "name"),
    "value": ("section", "name", "key", "text"),
    "rename": ("kind", "old", "new"),
}
RARE = ("job",)
"""Kinds that start a process, which is not what is tried here."""


class Fault(Exception):
    """What no message may lead to."""


class Listener:
    """A page that keeps what it is sent."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()

    def put(self, kind: str, message: bytes) -> None:
        self.kinds[kind] += 1


def message(seed: int, number: int) -> str:
    """The message of this number."""
    dice = random.Random(f"{seed}:studio:{number}")
    if dice.random() < OF_TEXT:
        text = CRANK if dice.random() < 0.2 else _model(dice, seed, number)
        return json.dumps({"kind": "edit", "text": text})
    kind = dice.choice(sorted({*ACTIONS} - {*RARE}))
    content = {key: _fitting(dice, key) for key in SAID.get(kind, ()) if dice.random() < 0.9}
    if kind == "draw":
        stroke = dice.choice(sorted(STROKES))
        content |= {
            "stroke": stroke,
            "arguments": {key: _fitting(dice, key) for key in STROKE[stroke]},
        }
    for _ in range(dice.choice((0, 0, 0, 1, 1, 2))):
        content[dice.choice(KEYS)] = _anything(dice)
    said = json.dumps({"kind": kind, **content})
    if dice.random() < 0.1:
        words = WORD.findall(said)
        words[dice.randrange(len(words))] = dice.choice(
            (*NUMBERS, "[", "{", '"', "NaN", "1" * 5000)
        )
        said = "".join(words)
    return said


def _model(dice: random.Random, seed: int, number: int) -> str:
    if dice.random() < 0.5:
        return model_file(seed, number).decode(errors="replace")
    lines = CRANK.splitlines(keepends=True)
    at = dice.randrange(len(lines))
    words = WORD.findall(lines[at])
    words[dice.randrange(len(words))] = dice.choice(
        ("", "[", "{}", "[1, 2]", "null", "1", "~", "2020-99-99", "&a ", "ground", "P", ": ", "\n")
    )
    return "".join([*lines[:at], "".join(words), *lines[at + 1 :]])


def _fitting(dice: random.Random, key: str) -> Any:
    """What may stand under a key, most of the time."""
    place = [dice.uniform(-0.4, 0.4), dice.uniform(-0.4, 0.4)]
    name = dice.choice(NAMES)
    end = {"at": place} | ({"node": name} if dice.random() < 0.5 else {})
    known: dict[str, Any] = {
        "values": {name: dice.choice((0.1, 0.2, "110 mm", -1, 1e9))},
        "final": dice.random() < 0.3,
        "text": dice.choice(("0.2", "200 mm", "1 kg", "x")),
        "on": dice.random() < 0.5,
        "what": dice.choice(("samples", "designs", "modes", "locus")),
        "place": place,
        "at": dice.choice((place, "equilibrium", "steady")),
        "axis": place,
        "time": dice.choice((0.0, 0.01, None)),
        "begin": end,
        "end": end,
        "to": dice.choice((place, [place, place[::-1]])),
        "places": [place],
        "points": [name],
        "over": dice.choice((None, [name])),
        "mode": dice.choice((1, 2, None)),
        "value": dice.uniform(-1, 1),
        "width": dice.choice((1e-4, "0.1 mm")),
        "kind": dice.choice(("point", "body", "force", "driver")),
        "section": dice.choice(("bodies", "forces", "parameters")),
        "key": dice.choice(("length", "mass", "value")),
    }
    return known.get(key, name) if dice.random() < 0.85 else _anything(dice)


def _anything(dice: random.Random, depth: int = 0) -> Any:
    some = dice.randrange(14)
    if depth < 3 and some < 4:
        inner = [_anything(dice, depth + 1) for _ in range(dice.randrange(4))]
        return inner if some < 2 else {dice.choice((*KEYS, *NAMES)): x for x in inner}
    if some == 4:
        return json.loads("[" * 200 + "]" * 200)
    return dice.choice(
        (
            *(None, True, False, 0, -1, 1.5, 1e308, -1e-320, 10**400, 2**63, "", "\0", "\ud800"),
            *(float("nan"), float("inf"), "x" * 10_000, dice.choice(BOMBS), dice.choice(NAMES)),
        )
    )


def one(live: Live, text: str) -> str:
    """What becomes of a message: "accepted" or "refused"."""
    page, session = Listener(), live.session
    before = session.text, session.revision, session.values, session.ghost, [*session.kept]
    live.join(page)
    page.kinds.clear()
    try:
        with in_time(PATIENCE):
            live.receive(page, text)
    finally:
        live.leave(page)
    if page.kinds["refused"] > 1:
        raise Fault(f"refused {page.kinds['refused']} times")
    after = session.text, session.revision, session.values, session.ghost, [*session.kept]
    if page.kinds["refused"] and after != before:
        raise Fault("refused, and changed")
    live.join(Listener())
    live._pages.clear()
    return "refused" if page.kinds["refused"] else "accepted"


def fuzz(numbers: range, seed: int) -> dict[str, list[int]]:
    """Send messages, and count what becomes of them; a session is another one after a fault, and
    now and then.
    """
    outcomes: Counter[str] = Counter()
    faults: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        fresh = partial(_live, Path(folder) / "crank.yaml")
        live = fresh()
        for done, number in enumerate(numbers, 1):
            if done % 50 == 0:
                live = fresh()
            text = message(seed, number)
            try:
                outcomes[one(live, text)] += 1
            except (Exception, Hang) as error:
                frames = traceback.extract_tb(error.__traceback__)
                place = next(
                    f for f in reversed(frames) if "varimech" in f.filename or f is frames[0]
                )
                kind = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
                if kind not in faults:
                    print(f"FAULT, message {number}: {kind}: {str(error)[:200]}", flush=True)
                    print(f"    {text[:300]!r}\n    after {live.session.text[:300]!r}", flush=True)
                faults.setdefault(kind, []).append(number)
                live = fresh()
            if done % 1000 == 0 or done == len(numbers):
                print(f"{done:7d} messages, {dict(outcomes)}, {faults}", flush=True)
    return faults


def _live(path: Path) -> Live:
    path.write_text(CRANK, encoding="utf-8")
    live = Live(Session(vm.Mechanism, CRANK, path))
    live.session.drawing = True
    return live


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    faults = fuzz(range(given.first, given.first + given.count), given.seed)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
