"""`rtbot completion`: the script that makes a shell complete our commands."""

from __future__ import annotations

import click

from rtbot.cli.messages import echo
from rtbot.cli.shell_completion import VARIABLE

BASH_FOUND = "COMPREPLY+=($value)"
NO_SPACE = "\n            [[ $value == *= ]] && compopt -o nospace"
"""An addition for bash: no space after `name=`."""


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--debug", is_flag=True, help="Show a traceback where something fails.")
def command(shell: str, debug: bool) -> None:  # noqa: ARG001 (main reads it)
    """Print the script that completes verbs, files, operators, parameters and codes.

    \b
    bash: add  eval "$(rtbot completion bash)"  to ~/.bashrc
    zsh:  add  eval "$(rtbot completion zsh)"   to ~/.zshrc, below compinit
    fish: rtbot completion fish > ~/.config/fish/completions/rtbot.fish
    """  # noqa: D301 (click wants the character itself: it keeps the lines as they are)
    from click.shell_completion import get_completion_class

    from rtbot.cli.main import program

    made_for = get_completion_class(shell)
    assert made_for is not None, "click knows these shells"
    script = made_for(program, {}, "rtbot", VARIABLE).source()
    echo(script.replace(BASH_FOUND, BASH_FOUND + NO_SPACE))
