"""Pictures of the tutorial and of the page on linear analysis, made by their own code blocks:  python
tools/draw/tutorial_pictures.py.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
TUTORIAL, IMAGES = ROOT / "docs" / "tutorial", ROOT / "docs" / "images" / "tutorial"
sys.path[:0] = [str(ROOT / "tests" / "support"), str(TUTORIAL)]

from markdown_pages import run_page  # noqa: E402


def main() -> None:
    draw(sorted(TUTORIAL.glob("[0-9]_*.md")), IMAGES)
    draw([ROOT / "docs" / "linear_analysis.md"], IMAGES.parent)


def draw(pages: list[Path], images: Path) -> None:
    """Run pages, and keep the pictures that they save."""
    images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in pages:
            run_page(page)
        for picture in Path().glob("*.png"):
            shutil.copy(picture, images)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
