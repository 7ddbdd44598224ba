"""`graveler config`: write the configuration file."""

import os
import sys
import tempfile
from collections.abc import Callable
from getpass import getpass
from pathlib import Path

import click

from graveler_cli.configuration import DEFAULT_FILE, Configuration
from graveler_cli.errors import CommandError
from graveler_cli.grammar import Command
from graveler_cli.session import CommandSession

_KEY_ID = "credentials.access_key_id"
_SECRET = "credentials.secret_access_key"  # noqa: S105 - the name of the setting
_ENDPOINT = "server.endpoint_url"


@click.command(cls=Command)
def command(session: CommandSession) -> None:
    """Ask for the key pair and the endpoint, and write them into the configuration file.

    The other settings of the file stay. Only its owner can read it.
    """
    file = session.config or Path(DEFAULT_FILE).expanduser()
    session.output.line(f"Config file {file} will be used")
    current = Configuration.read(file) if file.is_file() else Configuration(file, dict(os.environ))

    def ask(label: str, name: str, *, hidden: bool = False) -> str:
        return _ask(label, current.get(name), hidden=hidden)

    given = {
        _KEY_ID: ask("Access key ID", _KEY_ID),
        _SECRET: ask("Secret access key", _SECRET, hidden=True),
        _ENDPOINT: _asked_until(
            lambda: ask("Server endpoint URL (e.g. http://localhost:8000)", _ENDPOINT),
            lambda url: Configuration(file, {_ENDPOINT: url}).endpoint,
        ),
    }
    _write(file, given)


def _ask(label: str, current: str, *, hidden: bool) -> str:
    """Ask on standard error and return the answer; an empty answer keeps the current value.

    Raises:
        CommandError: standard input is at its end.
    """
    shown = f" [{'*' * 8 if hidden else current}]" if current else ""
    question = f"{label}{shown}: "
    if hidden and sys.stdin.isatty():
        try:
            return getpass(question, sys.stderr) or current
        except EOFError:
            raise CommandError("aborted: the configuration stays as it was") from None
    click.echo(question, err=True, nl=False)
    answer = sys.stdin.readline()
    if not answer:
        click.echo(err=True)
        raise CommandError("aborted: the configuration stays as it was")
    return answer.strip() or current


def _asked_until(ask: Callable[[], str], check: Callable[[str], object]) -> str:
    """Ask until an answer passes the check, and return it."""
    while True:
        answer = ask()
        try:
            check(answer)
        except CommandError as error:
            click.echo(error.format_message(), err=True)
        else:
            return answer


def _write(file: Path, given: dict[str, str]) -> None:
    """Write the settings into the file, keep its others, and let only its owner read it.

    Raises:
        CommandError: the file cannot be written.
    """
    import yaml  # noqa: PLC0415 - late, as wherever it is needed

    try:
        content = yaml.safe_load(file.read_bytes()) if file.is_file() else None
        content = content or {}
        for name, value in given.items():
            section, _, key = name.partition(".")
            content[section] = {**(content.get(section) or {}), key: value}
        # If the file is a link, replace its target. The new file is readable by its owner alone,
        # and replaces the old one in one step.
        target = file.resolve()
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.")
        try:
            with os.fdopen(handle, "w") as stream:
                yaml.safe_dump(content, stream, sort_keys=False)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandError(f"cannot write {file}: {reason}") from error
