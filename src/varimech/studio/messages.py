"""Messages to pages: a header as JSON, and arrays in their memory layout.

4 bytes   length of the header, little endian
header    JSON; {"": k} stands for array k (no name is empty), "arrays" lists types, places and lengths
arrays    each at a multiple of 8 bytes
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np

TYPES = {"f4": "<f4", "f8": "<f8"}
ALIGNED = 8


class Message:
    """A message under construction."""

    def __init__(self, kind: str, **content: Any):
        self.kind, self.content = kind, content
        self._parts: list[tuple[str, bytes]] = []

    def single(self, values: np.ndarray) -> dict[str, int]:
        """Add an array in single precision; return its placeholder."""
        return self._add("f4", values)

    def double(self, values: np.ndarray) -> dict[str, int]:
        """Add an array in double precision; return its placeholder."""
        return self._add("f8", values)

    def _add(self, kind: str, values: np.ndarray) -> dict[str, int]:
        self._parts.append((kind, np.ascontiguousarray(values, dtype=TYPES[kind]).tobytes()))
        return {"": len(self._parts) - 1}

    def encoded(self) -> bytes:
        """The bytes of the message."""
        places, at = [], 0
        for kind, part in self._parts:
            places.append({"type": kind, "at": at, "length": len(part) // int(kind[1])})
            at += _padded(len(part))
        header = {"kind": self.kind, **finite(self.content), "arrays": places}
        text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode(errors="replace")
        text += b" " * (_padded(len(text) + 4) - len(text) - 4)
        body = b"".join(part.ljust(_padded(len(part)), b"\0") for _, part in self._parts)
        return struct.pack("<I", len(text)) + text + body


def kind_of(message: bytes) -> str:
    """The kind of a message."""
    length = int.from_bytes(message[:4], "little")
    return str(json.loads(message[4 : 4 + length])["kind"])


def finite(value: Any) -> Any:
    """Plain data with null in place of numbers that JSON cannot represent."""
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, (np.floating, np.integer)):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _padded(length: int) -> int:
    return -(-length // ALIGNED) * ALIGNED
