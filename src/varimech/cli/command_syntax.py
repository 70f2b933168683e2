"""Command-line syntax for arguments and calls in messages: options of the command, other commands,
and keys of the model file for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..core.messages import BARE, Call, alternatives
from ..files.file_syntax import FileSyntax

COMMANDS = {
    "simulate": "varimech run",
    "sensitivity": "varimech sensitivity",
    "moments": "varimech uncertainty --method moments",
    "monte_carlo": "varimech uncertainty --method monte-carlo",
    "reliability": "varimech reliability",
    "optimize": "varimech optimize",
    "statistics": "varimech robust",
    "allocate": "varimech allocate",
    "fit": "varimech fit",
}
"""Methods that analyse a model → the corresponding command."""
RENAMED = {"parameters": "set_", "objectives": "objective"}
"""Arguments whose options have other names."""


class CommandSyntax(FileSyntax):
    """Options of one command.

    Args:
        options: name of a parameter of the command → its option, such as "--step".
    """

    def __init__(self, options: Mapping[str, str]):
        self._options = options

    @classmethod
    def of(cls, parameters: Iterable[Any]) -> CommandSyntax:
        """Build the syntax of a command from its parameters, as typer describes them."""
        options = {str(p.name): p.opts[0] for p in parameters}
        return cls({name: option for name, option in options.items() if option[:2] == "--"})

    def argument(self, name: str, value: object = BARE) -> str:
        """Write an argument as an option, if the command has it."""
        option = self._options.get(RENAMED.get(name, name))
        if option is None:
            return super().argument(name, value)
        bare = value is BARE or value is ...
        return option if bare else f"{option} {alternatives(value, quoted=False)}"

    def given(self, name: str, value: object) -> str:
        """Write an argument as an option with the value that the user gave, if the command has it."""
        option = self._options.get(RENAMED.get(name, name))
        return super().given(name, value) if option is None else f"{option} {value}"

    def call(self, call: Call) -> str:
        """Write a call as a command, if there is one."""
        if call.method not in COMMANDS:
            return super().call(call)
        options = [
            f"--{name.replace('_', '-')} {alternatives(value, quoted=False)}"
            for name, value in call.arguments.items()
        ]
        return f"`{' '.join([COMMANDS[call.method], *options])}`"
