"""Plugins: executables in PATH that extend the program, such as graveler-NAME or lakectl-NAME."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import click
from msgspec import Struct

from graveler_cli import completion
from graveler_cli.configuration import CONFIG_VARIABLE

PREFIXES = ("graveler-", "lakectl-")


class Plugin(Struct, frozen=True):
    """A command that another program implements."""

    name: str
    path: str


class PluginCommand(click.Command):
    """Runs a plugin with unchanged arguments."""

    def __init__(self, plugin: Plugin) -> None:
        words = click.Argument(["words"], nargs=-1, shell_complete=completion.local_paths)
        super().__init__(plugin.name, params=[words], callback=lambda: None)
        self._plugin = plugin

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.args = list(args)
        return []

    def invoke(self, ctx: click.Context) -> NoReturn:
        # The plugin reads the same configuration.
        given = {CONFIG_VARIABLE: ctx.obj.config, "LAKECTL_BASE_URI": ctx.obj.base_uri}
        environment = {**os.environ, **{name: str(text) for name, text in given.items() if text}}
        words = [self._plugin.path, *ctx.args]
        raise click.exceptions.Exit(subprocess.run(words, env=environment, check=False).returncode)  # noqa: S603


def find(name: str) -> Plugin | None:
    """Return the plugin of a name, if there is one."""
    for prefix in PREFIXES:
        # With a slash, it would be a path.
        path = None if os.sep in name else shutil.which(f"{prefix}{name}")
        if path:
            return Plugin(name, path)
    return None


def every() -> list[Plugin]:
    """Return all plugins, by name."""
    names: set[str] = set()
    for folder in os.get_exec_path():
        try:
            files = [each.name for each in Path(folder or ".").iterdir()]
        except OSError:
            continue  # PATH may name folders that do not exist
        for prefix in PREFIXES:
            names |= {each.removeprefix(prefix) for each in files if each.startswith(prefix)}
    return [found for name in sorted(names - {""}) if (found := find(name))]
