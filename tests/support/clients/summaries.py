"""The lines of `graveler --help`, as the commands' own help begins.

`python -m tests.support.clients.summaries` writes them into graveler_cli/summaries.py, after a command was added.
"""

from pathlib import Path

import click

from graveler_cli import summaries
from graveler_cli.main import MODULES, app


def first_sentences() -> dict[str, str]:
    """Return the first paragraph of each command's help, on one line."""
    paragraphs = {name: _help_of(name).split("\n\n")[0] for name in MODULES}
    return {name: " ".join(text.split()) for name, text in paragraphs.items()}


def _help_of(name: str) -> str:
    command = app.get_command(click.Context(app), name)
    return (command and command.help) or ""


if __name__ == "__main__":
    file = Path(summaries.__file__)
    before, _, _ = file.read_text(encoding="utf-8").partition("SUMMARIES =")
    lines = [f'    "{name}": "{text}",\n' for name, text in first_sentences().items()]
    file.write_text(f"{before}SUMMARIES = {{\n{''.join(lines)}}}\n", encoding="utf-8")
