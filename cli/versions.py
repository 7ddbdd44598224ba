"""The versions of the program and of the server."""

from collections.abc import Iterator

from cli.errors import CommandError
from cli.session import CommandSession


def versions(session: CommandSession) -> dict[str, str]:
    """Return the version of the program, and that of the server if it can be reached."""
    # Imported late, because it takes as long as a whole command.
    from importlib import metadata  # noqa: PLC0415

    found = {"graveler": metadata.version("graveler")}
    if version := _server_version(session):
        found["lakeFS"] = version
    return found


def lines_of(versions: dict[str, str]) -> Iterator[str]:
    """Yield a line for each version."""
    for name, version in versions.items():
        yield f"{name} version: {version}"


def _server_version(session: CommandSession) -> str:
    """Return the version of lakeFS that the server is as; "" if it does not say."""
    from cli.client import LakeClient  # noqa: PLC0415
    from cli.configuration import RetryPolicy  # noqa: PLC0415
    from cli.shapes import Config  # noqa: PLC0415

    try:
        known = session.configuration
        server = LakeClient(known.endpoint, known.key_pair, RetryPolicy(attempts_max=0))
        return server.ask("GET", "/config", {}, Config).version_config.version
    except CommandError:
        return ""
