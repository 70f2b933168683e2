"""Pictures of the tutorial, made by its own code blocks:  python
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
sys.path[:0] = [str(ROOT / "tests"), str(TUTORIAL)]

from markdown_pages import run_page  # noqa: E402


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in sorted(TUTORIAL.glob("[0-9]_*.md")):
            run_page(page)
        for picture in Path().glob("*.png"):
            shutil.copy(picture, IMAGES)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
