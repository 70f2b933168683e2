"""Files as nobody would write them: known ones with other bytes, words, nodes of YAML, entries of
the schema, expressions and units.

Input number k of a seed is always the same text, so that a fault is told by two numbers.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from costly_texts import costly

import varimech
from varimech.benchmarks import BENCHMARKS
from varimech.core.expressions import CONSTANTS, FUNCTIONS
from varimech.files.document import document_class

ROOT = Path(__file__).parents[2]
STARTER = Path(varimech.__file__).parent / "files" / "starter.yaml"
EXAMPLES = ROOT / "examples"
STUDIES = """\
varimech: 1
name: controlled arm
gravity: [0, -9.81]
parameters:
  L: {value: 0.8 m, unit: m, bounds: [0.5, 1.5], tolerance: 1 mm}
  k: {value: 3 N*m/rad, unit: N*m/rad, distribution: {name: norm, loc: 3, scale: 0.1}}
  T: {value: 5 ms, unit: s}
ground: {O: [0, 0]}
bodies:
  arm: {bar: [O, P], length: L, mass: 0.3}
joints: {O: revolute}
states:
  wear: {rate: "angular_velocity('arm')**2", initial: 0}
modes: {locked: {initial: 0}}
signals:
  error: {signal: "0.5 - angle('O')", unit: rad}
  controller: {pid: "signal('error')", kp: k, ki: 1, kd: 0.1, filter_time: 10 ms, low: -5, high: 5}
  torque: {lag: "signal('controller')", time_constant: T}
forces:
  motor: {torque: arm, value: "(1 - mode('locked'))*signal('torque')"}
events:
  caught: {when: "angle('O') - 0.4", direction: rising, do: {locked: 1}}
  end: {when: "0.5 - t", do: stop}
start: {angle: {arm: 0}, speed: {arm: 0.1}}
studies:
  simulate: {duration: 0.1, tolerance: 1e-6}
  objectives:
    tip: {final: "angle('O')", unit: rad}
    most: {peak: "angular_velocity('arm')", unit: rad/s}
    moment: {time_of: "angle('O') - 0.2", unit: s}
    mean_tip: {mean: tip}
    spread: {std: tip}
    safe: {probability: {tip: {at_most: 0.5}}}
  uncertainty: {method: monte-carlo, samples: 64, sampling: sobol, seed: 3}
  reliability: {limits: {tip: {above: 0.5}, most: {above: 9}}, system: any, method: subset, level: 0.95}
  optimize: {minimize: tip, over: [L], constraints: {most: {at_most: 5}}, starts: 2}
  robust: {minimize: spread, over: [L], constraints: {mean_tip: {at_least: 0.1}}, statistics: chaos, degree: 3}
  allocate: {tolerances: [L], constraints: {spread: {at_most: 0.01}}, statistics: moments, order: 1, verify: 64}
  fit:
    over: [k]
    posterior: nuts
    draws: 8
    chains: 1
    warmup: 8
    data:
      swing: {value: "angle('O')", times: [0, 0.05, 0.1], values: [0, 0.01, 0.03], unit: rad, sigma: 0.1 deg}
"""
"""Sections and studies that no other file here has."""
WORD = re.compile(r"[\w.]+|\s+|.", flags=re.DOTALL)
BYTES = [
    b"\0",
    b"\t",
    b"\r",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\x1b",
    b"\xf0\x9f\x92\xa9",
    b"\xed\xa0\x80",
]
SIGNS = [
    "&a ",
    "*a",
    "!!int ",
    "---\n",
    "...\n",
    "? ",
    "- ",
    ": ",
    "|\n",
    ">-\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    "#",
    "'",
    '"',
    "%YAML 9\n",
    "<<: ",
]
NUMBERS = [
    "0",
    "-1",
    "1e308",
    "-1e-308",
    "1e400",
    "5e-324",
    ".nan",
    ".inf",
    "nan",
    "inf",
    "0x10",
    "1_000",
    "1:30",
    "01",
    "9" * 400,
    "+.5",
    "-0.0",
]
NUMBERS += ["9007199254740993", "٣", "1e9999999999", "yes", "null", "~", "true", "2020-01-01"]
UNITS = [
    "m",
    "mm",
    "kg",
    "s",
    "N",
    "deg",
    "rad",
    "Hz",
    "rpm",
    "degC",
    "µm",
    "μm",
    "°",
    "N·m",
    "m/s²",
    "kg·m²",
    "m**99",
    "m^-3",
    "lb",
    "%",
    "dB",
]
UNITS += [
    "1/s",
    "m/0",
    "((m))",
    "(m",
    "m/",
    "m m",
    "rod",
    "Δ_degC",
    "delta_degC",
    "count",
    "ohm",
    "m**m",
    "a" * 59,
    "m*" * 20 + "m",
    "in",
    "e",
    "pi",
    "nm/Nm",
]
BOMBS = [
    "10**10**10",
    "9**9**9**9",
    "(" * 300 + "1" + ")" * 300,
    "-" * 3000 + "1",
    "[" * 80 + "1" + "]" * 80,
    "sin(" * 90 + "t" + ")" * 90,
    "rate(rate(rate(sin(t))))",
    "1" + "+1" * 4000,
    "dot([1,2],[1,2])**1e300",
    "'a'*10**9",
    "[0]*10**9",
    "(lambda: 0)()",
    "{x: 1 for x in y}",
    'f"{1}"',
    "1 if 2 else 3",
    "a := 1",
    "t.__class__",
    "rotation([0,0,0],1)",
    "rotation([0,0,1],t)",
    "1e308*10",
    "0/0",
    "0**-1",
    "(-8)**(1/3)",
    "sqrt(-1)",
    "log(0)",
    "[1,2][-1]",
    "[1,2][0.5]",
    "[1,2][t]",
    "[]",
    "()",
    "",
    " ",
    "1j",
    "1_0",
    "0b11",
    "b'x'",
    "...",
    "None",
    "True",
    "t<t",
    "1<2",
    "[1<2, 3]",
    "position('tip')@position('tip')",
    "cross([1,2,3],[1,2,3])",
    "norm([0,0])",
    "where(t,t,[t,t])",
    "minimum()",
    "angle(t)",
    "velocity(velocity('P'))",
    "parameter('t')",
    "time",
    "x\ny",
    "1;2",
    "# only a comment",
    "\\",
    "µ+μ",
    "𝐋",
    "ℯ",
    "²",
    "1 m" + "x" * 5000,
    "1" + " " * 5000 + "§",
    "1 " + "m*" * 3000 + "m",
    "x" * 5000,
    "9" * 5000,
    "1 " + "a" * 50 + "!",
]


@cache
def corpus() -> tuple[str, ...]:
    """Model files that are right: those of benchmarks, the starter, the examples, and those of the
    documentation.
    """
    pages = "\n".join(
        page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").rglob("*.md"))
    )
    texts = [
        STARTER.read_text(encoding="utf-8"),
        *re.findall(r"```yaml\n(varimech: 1.*?)```", pages, re.DOTALL),
    ]
    files = [*sorted(EXAMPLES.glob("*.yaml")), *(entry.model_file for entry in BENCHMARKS.values())]
    return (*texts, STUDIES, *(file.read_text(encoding="utf-8") for file in files))


@cache
def contents() -> tuple[str, ...]:
    """What they hold, as JSON."""
    return tuple(json.dumps(yaml.safe_load(text)) for text in corpus())


@cache
def robots() -> tuple[str, ...]:
    """URDF files that are right."""
    return tuple(
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "tests" / "data" / "urdf").glob("*.urdf"))
    )


@cache
def schema() -> dict[str, Any]:
    """What the published schema says."""
    return dict(json.loads(json.dumps(document_class().model_json_schema(mode="validation"))))


@cache
def keys() -> tuple[str, ...]:
    """All words that are keys somewhere."""
    return tuple(
        sorted(
            set(re.findall(r"\w+(?=: )|\w+(?=:\n)", "\n".join(corpus())))
            | set(schema()["properties"])
        )
    )


def model_file(seed: int, number: int) -> bytes:
    """The model file of this number: what it holds is changed first, then what is written of it."""
    dice = random.Random(f"{seed}:{number}")
    which = dice.randrange(len(corpus()))
    inside, outside = dice.choice(((1, 0), (1, 0), (2, 0), (4, 0), (0, 1), (0, 2), (1, 1)))
    text = corpus()[which]
    if inside:
        data = json.loads(contents()[which])
        for _ in range(inside):
            if places := _places(data):
                dice.choice(CHANGES)(dice, data, *dice.choice(places))
        text = _dumped(dice, data)
    for _ in range(outside):
        text = in_words(dice, text)
    return (
        in_bytes(dice, text)
        if outside and dice.random() < 0.5
        else text.encode("utf-8", "surrogatepass")
    )


def robot_file(seed: int, number: int) -> bytes:
    """The URDF file of this number."""
    dice = random.Random(f"{seed}:urdf:{number}")
    text = dice.choice(robots())
    for _ in range(dice.choice((1, 1, 2, 4))):
        text = in_words(dice, text)
    return in_bytes(dice, text) if dice.random() < 0.3 else text.encode("utf-8", "surrogatepass")


# --- changes of texts


def in_bytes(dice: random.Random, text: str) -> bytes:
    """Bytes that are lost, doubled, inserted or turned."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(dice.choice((1, 1, 2, 8))):
        if not data:
            break
        at = dice.randrange(len(data))
        to = min(len(data), at + dice.choice((1, 1, 2, 10, 100)))
        match dice.randrange(6):
            case 0:
                del data[at:to]
            case 1:
                data[at:at] = data[at:to] * dice.choice((1, 2, 50))
            case 2:
                data[at:at] = dice.choice(BYTES)
            case 3:
                data[at] ^= 1 << dice.randrange(8)
            case 4:
                del data[at:]
            case _:
                data[at:to] = dice.randbytes(to - at)
    return bytes(data)


def in_words(dice: random.Random, text: str) -> str:
    """Words, numbers and signs that are lost, doubled, exchanged, or others."""
    words = WORD.findall(text)
    if not words:
        return dice.choice(SIGNS)
    at, other = dice.randrange(len(words)), dice.randrange(len(words))
    match dice.randrange(6):
        case 0:
            del words[at : at + dice.choice((1, 1, 3))]
        case 1:
            words[at] *= dice.choice((2, 2, 30))
        case 2:
            words[at], words[other] = words[other], words[at]
        case 3:
            words[at] = dice.choice((dice.choice(NUMBERS), dice.choice(keys()), dice.choice(SIGNS)))
        case 4:
            words.insert(at, dice.choice(SIGNS))
        case _:
            words[at:at] = words[other : other + dice.randrange(1, 30)]
    return "".join(words)


# --- changes of what YAML holds


def _dumped(dice: random.Random, data: Any) -> str:
    """As JSON, which is YAML too and takes less time, or as people write it."""
    if dice.random() < 0.8:
        return json.dumps(data, indent=dice.choice((None, 1)), ensure_ascii=False)
    style = {
        "sort_keys": False,
        "allow_unicode": True,
        "default_flow_style": dice.choice((None, False, True)),
        "width": 120,
    }
    return str(yaml.dump(data, Dumper=yaml.CSafeDumper, **style))


def _places(data: Any) -> list[tuple[Any, Any]]:
    """(container, key) of all that is in it."""
    computed, todo = list[tuple[Any, Any]](), [data]
    while todo and len(computed) < 5000:
        here = todo.pop()
        inside = (
            here.items()
            if isinstance(here, dict)
            else enumerate(here)
            if isinstance(here, list)
            else ()
        )
        for key, value in inside:
            computed.append((here, key))
            todo.append(value)
    return computed


def _node(dice: random.Random, data: Any, holder: Any, key: Any) -> None:
    """A node that is lost, another, doubled, renamed or wrapped."""
    match dice.randrange(7):
        case 0:
            del holder[key]
        case 1:
            holder[key] = _scalar(dice)
        case 2:
            other, name = dice.choice(_places(data))
            holder[key] = json.loads(json.dumps(other[name]))
        case 3 if isinstance(holder, dict):
            holder[dice.choice((dice.choice(keys()), str(_scalar(dice))))] = holder.pop(key)
        case 4:
            holder[key] = dice.choice(
                ([holder[key]], {"value": holder[key]}, [holder[key]] * 3, {str(key): holder[key]})
            )
        case 5 if isinstance(holder, list):
            holder.extend([holder[key]] * dice.choice((1, 2, 40)))
        case _:
            other, name = dice.choice(_places(json.loads(dice.choice(contents()))))
            holder[key] = other[name]


def _scalar(dice: random.Random) -> Any:
    return dice.choice(
        (
            None,
            True,
            0,
            -1,
            1.5,
            1e300,
            float("nan"),
            float("inf"),
            10**30,
            "",
            "x",
            [],
            {},
            dice.choice(NUMBERS),
            dice.choice(keys()),
        )
    )


def _by_schema(dice: random.Random, data: Any, holder: Any, key: Any) -> None:
    """Something that the schema knows, put in a section where it belongs or somewhere else."""
    if not isinstance(data, dict):
        return
    names = [str(k) for _, k in _places(data) if isinstance(k, str)]
    definitions = schema()["$defs"]
    section = dice.choice(sorted(schema()["properties"]))
    if dice.random() < 0.3:
        holder[key] = _instance(
            dice, {"$ref": f"#/$defs/{dice.choice(sorted(definitions))}"}, names
        )
    elif (
        isinstance(data.get(section), dict)
        and "additionalProperties" in schema()["properties"][section]
    ):
        entry = _instance(dice, schema()["properties"][section]["additionalProperties"], names)
        data[section][dice.choice((*names, "new"))] = entry
    else:
        data[section] = _instance(dice, schema()["properties"][section], names)


def _instance(dice: random.Random, rule: Any, names: list[str], depth: int = 0) -> Any:
    """Some value that a part of the schema allows."""
    if not isinstance(rule, dict) or depth > 8:
        return _scalar(dice)
    if "$ref" in rule:
        return _instance(dice, schema()["$defs"][rule["$ref"].rsplit("/", 1)[-1]], names, depth + 1)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in rule:
            return _instance(dice, dice.choice(rule[several]), names, depth + 1)
    if "const" in rule:
        return rule["const"]
    if "enum" in rule:
        return dice.choice(rule["enum"])
    match rule.get("type"):
        case "object" if "properties" in rule:
            needed = rule.get("required", [])
            chosen = [k for k in rule["properties"] if k in needed or dice.random() < 0.3]
            return {k: _instance(dice, rule["properties"][k], names, depth + 1) for k in chosen}
        case "object":
            inside = rule.get("additionalProperties")
            return {
                dice.choice((*names, "new")): _instance(dice, inside, names, depth + 1)
                for _ in range(dice.randrange(3))
            }
        case "array":
            return [
                _instance(dice, rule.get("items"), names, depth + 1)
                for _ in range(dice.choice((1, 2, 2, 3, 3)))
            ]
        case "string":
            return dice.choice((*names[:40], expression(dice, names), quantity(dice)))
        case "number" | "integer":
            return dice.choice((0, 1, 2, 3, -1, 0.5, 1e-9, 1e9, dice.randrange(1, 40)))
        case "boolean":
            return dice.random() < 0.5
    return None


def _alike(dice: random.Random, data: Any, holder: Any, key: Any) -> None:
    """Something of its own kind in the place of a leaf: most of these are mechanisms still."""
    leaves = [(h, k) for h, k in _places(data) if isinstance(h[k], (str, int, float))]
    if not leaves:
        return
    holder, key = dice.choice(leaves)
    here = holder[key]
    given = data.get("parameters") if isinstance(data, dict) else None
    parameters = [*given] if isinstance(given, dict) and given else ["L"]
    others = [h[k] for h, k in leaves if type(h[k]) is type(here)]
    if isinstance(here, str):
        holder[key] = dice.choice(
            (
                dice.choice(others),
                f"({here})/2",
                f"-{here}",
                f"2*{here}",
                f"{here} + 1",
                here.upper(),
            )
        )
    else:
        some = dice.choice(parameters)
        changed = (
            -here,
            0,
            2 * here,
            here * 1.001,
            here + 1,
            f"{here}*{some}/{some}",
            f"{some}",
            f"{here} + 0*sin({some})",
        )
        holder[key] = dice.choice((dice.choice(others), *changed))


def _text(dice: random.Random, data: Any, holder: Any, key: Any) -> None:
    """An expression or a quantity in the place of a text or a number."""
    leaves = [(h, k) for h, k in _places(data) if isinstance(h[k], (str, int, float))]
    if leaves:
        holder, key = dice.choice(leaves)
    names = [str(k) for _, k in _places(data) if isinstance(k, str)]
    holder[key] = dice.choice(
        (expression(dice, names), quantity(dice), dice.choice(BOMBS), costly(dice))
    )


def expression(dice: random.Random, names: list[str], depth: int = 0) -> str:
    """An expression of numbers, names and functions, most of it grammatical."""
    roll = dice.random()
    if depth > 4 or roll < 0.35:
        return dice.choice(
            (
                dice.choice(names or ["x"]),
                dice.choice(NUMBERS),
                "t",
                "s",
                "time",
                *CONSTANTS,
                repr(dice.choice(names or ["x"])),
            )
        )

    def inner() -> str:
        return expression(dice, names, depth + 1)

    if roll < 0.6:
        return f"{inner()}{dice.choice(['+', '-', '*', '/', '**', '<', '>=', '@', '//', '%', '^', '==', ' and ', ','])}{inner()}"
    if roll < 0.85:
        called = [
            "position",
            "velocity",
            "acceleration",
            "angle",
            "reaction",
            "distance",
            "displacement",
            "rate",
            "parameter",
            "energy",
        ]
        return f"{dice.choice([*FUNCTIONS, *called])}({', '.join(inner() for _ in range(dice.choice((0, 1, 1, 1, 2, 2, 3))))})"
    if roll < 0.93:
        return f"[{', '.join(inner() for _ in range(dice.randrange(4)))}]"
    return f"{inner()}[{dice.choice((inner(), '0', '1', '2', '-1', ':'))}]"


def quantity(dice: random.Random) -> str:
    """A number with a unit."""
    units = dice.choice(("*", "/", " ", "·", "")).join(
        dice.choice(UNITS) for _ in range(dice.choice((1, 1, 2, 3)))
    )
    power = dice.choice(("", "", "²", "**2", "^3", "⁻¹", "**-9"))
    return f"{dice.choice((*NUMBERS, '30', '1.5', '2e-3'))}{dice.choice((' ', '', '  '))}{units}{power}"


CHANGES: tuple[Callable[[random.Random, Any, Any, Any], None], ...] = (
    _node,
    _by_schema,
    _text,
    _text,
    _alike,
    _alike,
    _alike,
    _alike,
)
"""Of one place of the data."""
