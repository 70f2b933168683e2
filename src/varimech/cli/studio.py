"""The command that opens the studio."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..benchmarks import BENCHMARKS
from . import completion as c
from . import options as o

EMPTY = """\
varimech: 1
name: mechanism
gravity: [0, -9.81]
studies:
  simulate: {duration: 2 s}
"""


def studio(
    model: Annotated[
        str | None,
        typer.Argument(
            help="Model file (YAML), or the name of a benchmark. Default: an empty model.",
            autocompletion=c.models,
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Port on this computer; 0: any free port.")] = 0,
    browser: Annotated[
        bool, typer.Option(help="Open the page in the browser, or only print its address.")
    ] = True,
) -> None:
    """Open a model in the browser and see the effect of every change immediately.

    The page is served to this computer only. The model file changes only when you press Save.

    Examples:

      varimech studio my.yaml

      varimech studio five-bar

      varimech studio my.yaml --port 8765 --no-browser
    """
    from ..mechanism import Mechanism
    from ..studio.launch import start

    if model is None:
        text, path = EMPTY, None
    elif (path := Path(model)).is_file():
        text = path.read_text(encoding="utf-8")
    else:
        o.find_model(model)  # reports the error in the name
        text, path = BENCHMARKS[model].model_file.read_text(encoding="utf-8"), None
    start(Mechanism, text, path, port=port, browser=browser, tell=typer.echo)
