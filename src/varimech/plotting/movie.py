"""Sequences of figures as a GIF (pillow) or an MP4 (ffmpeg)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.atomic_files import atomic_write
from ..core.errors import ModelError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN = 0.08
"""Margin around an animation, relative to its size; a round value."""
ENDINGS = (".gif", ".mp4")


def check_movie(path: Path, frames: int, seconds: float) -> None:
    """Refuse other files than GIF and MP4, and invalid numbers of frames and durations.

    Raises:
        ModelError: for each of these, and for an MP4 without ffmpeg.
    """
    if path.suffix.lower() not in ENDINGS:
        problem = "must end with .gif or .mp4"
        raise ModelError(problem, element="animate", field="path", value=str(path))
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        remedy = "install ffmpeg, or write a .gif"
        raise ModelError("an MP4 needs the program ffmpeg", element="animate", remedy=remedy)
    if not isinstance(frames, int) or frames < 2:
        raise ModelError("must be 2 or more", element="animate", field="frames", value=frames)
    if not isinstance(seconds, Real) or not (np.isfinite(seconds) and seconds > 0):
        problem = "must be a positive time (s)"
        raise ModelError(problem, element="animate", field="seconds", value=seconds)


def fixed_picture(figure: Figure, places: np.ndarray) -> np.ndarray:
    """Pixels of a drawing whose axes contain all positions, (place, component), and are the same in
    all pictures.
    """
    ax: Any = figure.axes[0]
    low, high = places.min(axis=0), places.max(axis=0)
    half = (0.5 + MARGIN) * max(float((high - low).max()), 1e-12)
    for name, centre in zip("xyz", (low + high) / 2, strict=False):
        getattr(ax, f"set_{name}lim")(centre - half, centre + half)
    ax.set_aspect("equal", adjustable="box")
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()  # type: ignore[attr-defined]


def write_movie(path: Path, pictures: Iterable[np.ndarray], count: int, seconds: float) -> Path:
    """Write pictures, (row, column, colour), with a total duration in seconds; a GIF repeats them.

    Raises:
        ModelError: if ffmpeg fails.
    """
    with atomic_write(path) as beside:
        if path.suffix.lower() == ".gif":
            _write_gif(beside, list(pictures), seconds)
        else:
            _write_mp4(beside, pictures, count / seconds)
    return path


def _write_gif(path: Path, pictures: Sequence[np.ndarray], seconds: float) -> None:
    from PIL import Image

    first, *others = (
        Image.fromarray(p).convert("P", palette=Image.Palette.ADAPTIVE) for p in pictures
    )
    duration = max(20, round(1000 * seconds / len(pictures)))  # GIFs cannot be faster
    first.save(path, format="GIF", save_all=True, append_images=others, duration=duration, loop=0)


def _write_mp4(path: Path, pictures: Iterable[np.ndarray], rate: float) -> None:
    """Write an MP4 with a codec that every browser and presentation supports; it requires even
    sizes.
    """
    writer: subprocess.Popen[bytes] | None = None
    for picture in pictures:
        even = np.ascontiguousarray(
            picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2]
        )
        if writer is None:
            size = f"{even.shape[1]}x{even.shape[0]}"
            command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
            command += ["-s", size, "-r", f"{rate:g}", "-i", "-", "-pix_fmt", "yuv420p"]
            command += ["-f", "mp4", str(path)]
            writer = subprocess.Popen(
                command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, shell=False
            )
        assert writer.stdin is not None
        try:
            writer.stdin.write(even.tobytes())
        except BrokenPipeError:
            break  # ffmpeg has ended already, and reports the reason below
    assert writer is not None
    _, errors = writer.communicate()
    if writer.returncode:
        problem = f"ffmpeg failed: {errors.decode(errors='replace').strip()[-300:]}"
        raise ModelError(problem, element="animate", remedy="write a .gif")
