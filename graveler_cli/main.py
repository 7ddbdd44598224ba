"""The program `graveler`: its commands, and the options that all of them share."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from graveler_cli.errors import CommandError
from graveler_cli.grammar import Program, flag
from graveler_cli.session import CommandSession
from graveler_cli.summaries import SUMMARIES

if TYPE_CHECKING:
    from graveler_cli.schemas import VersionConfig

_HIDDEN = True

# By command: its module in graveler_cli.commands, and whether the help leaves it out. lakectl's
# order.
MODULES: dict[str, tuple[str, bool]] = {
    "actions": ("actions", False),
    "annotate": ("annotate", False),
    "auth": ("auth", False),
    "bisect": ("bisect", False),
    "blame": ("annotate", _HIDDEN),
    "branch": ("branch", False),
    "branch-protect": ("branch_protect", False),
    "cat-hook-output": ("cat_hook_output", _HIDDEN),
    "cat-sst": ("cat_sst", _HIDDEN),
    "cherry-pick": ("cherry_pick", False),
    "commit": ("commit", False),
    "completion": ("completion", False),
    "config": ("config", False),
    "diff": ("diff", False),
    "doctor": ("doctor", False),
    "drill": ("drill", False),
    "events": ("events", False),
    "export": ("export", False),
    "find-merge-base": ("find_merge_base", _HIDDEN),
    "fs": ("fs", False),
    "gateway": ("gateway", False),
    "gc": ("gc", False),
    "identity": ("identity", False),
    "import": ("import_", False),
    "local": ("local", False),
    "log": ("log", False),
    "merge": ("merge", False),
    "plugin": ("plugin", False),
    "pr": ("pr", False),
    "refs-dump": ("refs_dump", False),
    "refs-restore": ("refs_restore", False),
    "repo": ("repo", False),
    "serve": ("serve", False),
    "show": ("show", False),
    "sst": ("sst", False),
    "tables": ("tables", False),
    "tag": ("tag", False),
    "tasks": ("tasks", False),
    "usage": ("usage", _HIDDEN),
}


class _Graveler(Program):
    modules = MODULES
    summaries = SUMMARIES


@click.group(
    "graveler",
    cls=_Graveler,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 200},
)
@flag("--version", "-v", help="Show the program's and the server's version.")
@click.pass_context
def app(context: click.Context, *, version: bool) -> None:
    """Work with Graveler, the serverless lakeFS, from the command line.

    Endpoint and credentials are lakectl's: ~/.lakectl.yaml, or the
    variables LAKECTL_SERVER_ENDPOINT_URL, LAKECTL_CREDENTIALS_ACCESS_KEY_ID and
    LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY.
    """
    session: CommandSession = context.obj
    if version:
        session.output.item(_versions(session), _version_lines)
        context.exit()
    if context.invoked_subcommand is None:
        session.output.line(context.get_help())


def _versions(session: CommandSession) -> dict[str, str]:
    """Return the version of the program, and those of the server if it can be reached."""
    # Imported late, because the engine is not needed otherwise.
    from graveler.version import VERSION  # noqa: PLC0415

    asked = _server_version(session)
    found = {"graveler": VERSION, "server": asked.graveler_version, "lakeFS": asked.version}
    return {name: version for name, version in found.items() if version}


def _version_lines(versions: dict[str, str]) -> Iterator[str]:
    """Yield a line for each version; beside Graveler's server, lakeFS's is that of the API."""
    for name, version in versions.items():
        is_api = name == "lakeFS" and "server" in versions
        yield f"{name} {'API' if is_api else 'version'}: {version}"


def _server_version(session: CommandSession) -> "VersionConfig":
    """Return what the server says of its version, without any if it does not answer."""
    from graveler_cli.client import LakeClient  # noqa: PLC0415
    from graveler_cli.configuration import RequestRetries  # noqa: PLC0415
    from graveler_cli.schemas import Config, VersionConfig  # noqa: PLC0415

    try:
        known = session.configuration
        server = LakeClient(known.endpoint, known.key_pair, RequestRetries(attempts_max=0))
        return server.ask("GET", "/config", {}, Config).version_config
    except CommandError:
        return VersionConfig()
