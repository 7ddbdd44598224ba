"""`graveler fs snippet`: code that reads a path with other programs."""

import re
from itertools import islice
from urllib.parse import urlsplit

import click

from graveler_cli.arguments import path_argument
from graveler_cli.client import ApiRefusedError
from graveler_cli.commands.fs.options import OBJECT, names_of
from graveler_cli.commands.fs.transferring import folder_of
from graveler_cli.commands.fs.viewing import listed
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import option
from graveler_cli.schemas import ObjectStats
from graveler_cli.session import CommandSession
from graveler_cli.uris import PathUri

_LOOKED_AT = 1000  # files of a folder
# Nothing that code or SQL could take for more than a host.
_ENDPOINT = re.compile(r"(?i)https?://([\w.-]+|\[[0-9a-f:.]+\])(:\d+)?")


@path_argument("uri")
@option(
    "--for",
    "program",
    type=click.Choice(["all", "duckdb", "pandas", "polars", "spark", "aws", "sdk", "graveler"]),
    default="all",
    help="The program.",
)
@option(
    "--s3-endpoint",
    default="",
    envvar="AWS_ENDPOINT_URL",
    help="The S3 gateway.",
    show_default="the host of the API",
)
def snippet(session: CommandSession, uri: str, *, program: str, s3_endpoint: str) -> None:
    """Print code that reads an object or a folder: with DuckDB, pandas, Polars, Spark and others.

    The code has no secrets; its first lines name the variables that it reads.
    """
    # Imported late, because no other command needs it.
    from graveler_cli.snippets import snippets  # noqa: PLC0415

    api = urlsplit(session.configuration.endpoint)
    endpoint = s3_endpoint.rstrip("/") or f"{api.scheme}://{api.netloc}"
    if not _ENDPOINT.fullmatch(endpoint):
        raise UsageError(f"--s3-endpoint is {endpoint!r}: write http://HOST or https://HOST")
    found, kind = _found(session, session.path(uri))
    if not s3_endpoint and program not in {"sdk", "graveler"}:
        _require_gateway(endpoint)
    texts = dict(snippets(found, kind, endpoint))
    if program != "all":
        if program not in texts:
            raise CommandError(f"{program} does not read {found}: use {', '.join(texts)}")
        texts = {program: texts[program]}
    session.output.item(texts, lambda each: ["\n".join(each.values()).rstrip("\n")])


def _require_gateway(endpoint: str) -> None:
    """Check that a host serves S3: a deployment's gateway has a host of its own.

    Raises:
        CommandError: it does not.
    """
    from graveler_cli.configuration import RequestRetries  # noqa: PLC0415
    from graveler_cli.transfers.requests import RepeatedRequests  # noqa: PLC0415

    # S3 refuses this signature with a document of its own, the API in another form.
    headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=none"}
    answer = RepeatedRequests(RequestRetries()).ask("GET", f"{endpoint}/", headers)
    if b"<Error>" not in answer.content:
        raise CommandError(
            f"{endpoint} is no S3 gateway: name one with --s3-endpoint, start one with "
            "graveler gateway, or use --for sdk"
        )


def _found(session: CommandSession, uri: PathUri) -> tuple[PathUri, str]:
    """Return what is at the path, and its kind; the path of a folder ends with a slash.

    Raises:
        CommandError: nothing is there.
    """
    from graveler_cli.snippets import FOLDERS, kind_of  # noqa: PLC0415

    if uri.path and not uri.path.endswith("/"):
        try:
            query = {"path": uri.path}
            session.server.ask("GET", f"{OBJECT}/stat", names_of(uri), ObjectStats, query=query)
        except ApiRefusedError as error:
            if error.status != 404:
                raise
        else:
            return uri, kind_of(uri.path)
    folder = PathUri(uri.repository, uri.ref, folder_of(uri.path))
    names = [each.path for each in islice(listed(session, folder), _LOOKED_AT)]
    if not names:
        parent = folder_of(uri.path.rstrip("/").rpartition("/")[0])
        shown = PathUri(uri.repository, uri.ref, parent)
        raise CommandError(f"nothing is at {uri}: fs ls {shown} shows what there is")
    kinds = (FOLDERS.get(kind_of(name)) for name in names)
    return folder, next(filter(None, kinds), "/")
