"""Checks of the connection to the server: name, TLS, answer, clock, rights, object store."""

import re
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import msgspec
import urllib3

from graveler_cli import transport
from graveler_cli.client import ApiRefusedError, LakeClient
from graveler_cli.configuration import Configuration, RequestRetries
from graveler_cli.errors import CommandError
from graveler_cli.findings import Finding, error, ok, skipped, warning
from graveler_cli.schemas import (
    Config,
    CurrentUser,
    ObjectStats,
    Repository,
    ResultPage,
    VersionConfig,
)
from graveler_cli.transport import KeptConnections, WholeAnswer, proxy_of, reason_of

# S3 refuses requests that differ by 15 minutes; presigned URLs may live for less.
_SKEW_WARNING_S = 60.0
_SKEW_ERROR_S = 900.0

_REPOSITORIES_MAX = 5  # in which an object is looked for
_API = "/api/v1"
_CODE = re.compile(r"<Code>(\w+)</Code>")


def check_connection(configuration: Configuration) -> Iterator[Finding]:
    """Yield findings on the server's answer, or on why there is none."""
    endpoint, (key_id, secret) = configuration.endpoint, configuration.key_pair
    headers = urllib3.make_headers(basic_auth=f"{key_id}:{secret}")
    try:
        answer = _get(f"{endpoint}/user", headers)
    except urllib3.exceptions.HTTPError as failure:
        yield _unreachable(endpoint, failure)
        return
    proxy = urlsplit(proxy_of(endpoint)).hostname
    yield ok("endpoint", f"{endpoint} answers" + (f" through the proxy {proxy}" if proxy else ""))
    yield from _clock(answer)
    if answer.status == 200 and _is_json(answer):
        # Without repetitions, which would only delay the findings.
        server = LakeClient(endpoint, (key_id, secret), RequestRetries(attempts_max=0))
        yield from _as_user(server)
    else:
        yield _wrong_answer(endpoint, answer)


def _get(url: str, headers: dict[str, str]) -> WholeAnswer:
    """Return the answer to one attempt; redirects are answers."""
    connections = KeptConnections()
    try:
        return WholeAnswer.of(connections.send("GET", url, None, headers))
    finally:
        connections.close()


def _is_json(answer: WholeAnswer) -> bool:
    try:
        return isinstance(msgspec.json.decode(answer.content), dict)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _unreachable(endpoint: str, failure: urllib3.exceptions.HTTPError) -> Finding:
    """Return why there is no answer."""
    if isinstance(failure, urllib3.exceptions.ProxyError):
        proxy = urlsplit(proxy_of(endpoint))
        text = f"the proxy {proxy.hostname}:{proxy.port} does not work: {reason_of(failure)}"
        remedy = "correct the variables of proxies, or name the server's host in NO_PROXY"
        return error("endpoint", text, remedy)
    parts = urlsplit(endpoint)
    place = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    for cause in _causes(failure):
        if (why := _reason(cause, place, parts.hostname or "")) is not None:
            return error("endpoint", *why)
    text = f"{place} does not answer as a web server: {reason_of(failure)}"
    return error("endpoint", text, "check host and port; if the server has TLS, write https://")


def _reason(cause: BaseException, place: str, host: str) -> tuple[str, str] | None:
    """Return the meaning of an error and a remedy; None if another cause explains more."""
    why: tuple[str, str] | None = None
    match cause:
        case ssl.SSLCertVerificationError():
            why = (
                f"the certificate of {place} is not accepted: {cause.verify_message}",
                "write the host name of the certificate; set SSL_CERT_FILE for your own authority",
            )
        case ssl.SSLError():
            why = (
                f"{place} does not speak TLS as expected: {cause.reason or cause}",
                f"if the server has no TLS, write http://{place}",
            )
        case socket.gaierror() | urllib3.exceptions.NameResolutionError():
            why = (
                f"the name {host} is not known",
                "correct server.endpoint_url, or look at VPN and DNS",
            )
        case ConnectionRefusedError():
            why = (
                f"nothing listens at {place}: connection refused",
                "start the server, or correct host and port",
            )
        case urllib3.exceptions.NewConnectionError():
            why = None  # for urllib3 also a time-out; the cause is the system's error
        case urllib3.exceptions.ConnectTimeoutError():
            why = (
                f"{place} cannot be reached: no connection in {transport.CONNECT_S:g} s",
                "look at firewall, VPN, proxy and the host name",
            )
        case urllib3.exceptions.ReadTimeoutError():
            why = (
                f"{place} accepts connections, but does not answer in {transport.ANSWER_S:g} s",
                "check that host and port are those of the server",
            )
    return why


def _causes(failure: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes."""
    found: BaseException | None = failure
    while found is not None:
        yield found
        inner = getattr(found, "reason", None)
        if isinstance(inner, BaseException):
            yield from _causes(inner)
        found = found.__cause__ or found.__context__


def _clock(answer: WholeAnswer) -> Iterator[Finding]:
    """Compare this machine's clock with that of the server."""
    try:
        theirs = parsedate_to_datetime(answer.headers.get("Date", ""))
    except ValueError:
        yield skipped("clock", "the server's answer has no date")
        return
    skew_s = (datetime.now(UTC) - theirs).total_seconds()
    text = f"this machine's clock is {abs(skew_s):.0f} s {'ahead of' if skew_s > 0 else 'behind'}"
    remedy = "set the clock, or let NTP set it"
    if abs(skew_s) >= _SKEW_ERROR_S:
        text = f"{text} the server's: S3 and presigned URLs refuse requests"
        yield error("clock", text, remedy)
    elif abs(skew_s) >= _SKEW_WARNING_S:
        yield warning("clock", f"{text} the server's: presigned URLs end earlier", remedy)
    else:
        yield ok("clock", "agrees with the server's")


def _wrong_answer(endpoint: str, answer: WholeAnswer) -> Finding:
    """Return a finding on an answer that is not the API's to a user."""
    if answer.status == 401:
        return error(
            "key pair",
            "the server does not accept it: the access key ID or the secret is wrong, or deleted",
            "ask for a new key pair (`graveler auth users credentials create`), and write it into "
            "the configuration",
        )
    if answer.status == 403:
        text = "the server forbids the request: a firewall in front of it may do that"
        return error("endpoint", text, "ask the operator of the server")
    if answer.status == 429 or answer.status >= 500:
        text = f"the server is in trouble: it answers {answer.status} {answer.reason}".rstrip()
        return error("endpoint", text, "try again later, or tell the operator of the server")
    if target := answer.headers.get("Location"):
        text = f"{endpoint} is redirected to {_origin(target)}"
        return error("endpoint", text, f"write {_origin(target)}, if that is your server")
    right = _right_endpoint(endpoint)
    remedy = f"write {right}" if right else "correct host and path of server.endpoint_url"
    if answer.status < 300:
        return error("endpoint", f"{endpoint} is a web page and not the API", remedy)
    text = f"{endpoint} is not the API: it answers {answer.status} {answer.reason}".rstrip()
    return error("endpoint", text, remedy)


def _right_endpoint(endpoint: str) -> str:
    """Return the endpoint at the usual path, if the API answers there."""
    right = f"{_origin(endpoint)}{_API}"
    if right == endpoint:
        return ""
    try:
        answer = _get(f"{right}/user", {})
    except urllib3.exceptions.HTTPError:
        return ""
    return _origin(endpoint) if _is_json(answer) else ""


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _as_user(server: LakeClient) -> Iterator[Finding]:
    """Yield findings on the user, the server and the object store."""
    try:
        user = server.ask("GET", "/user", {}, CurrentUser).user
        yield ok("key pair", f"belongs to the user {user.id}")
        config = server.ask("GET", "/config", {}, Config)
        yield ok("server", _name_of(config.version_config))
        if config.storage_config.pre_sign_support:
            yield from _object_store(server)
        else:
            text = "the server has no presigned URLs: objects go through it"
            yield skipped("object store", text)
    except CommandError as failure:
        yield error("server", str(failure), "ask the operator of the server")


def _name_of(server: VersionConfig) -> str:
    """Return which system answers, and its version."""
    if server.graveler_version:
        return f"Graveler, version {server.graveler_version}, API of lakeFS {server.version}"
    return f"lakeFS, version {server.version}"


def _object_store(server: LakeClient) -> Iterator[Finding]:
    """Fetch a byte of some object by a presigned URL, as `fs download` does."""
    try:
        url = _some_presigned_url(server)
    except ApiRefusedError as refused:
        yield skipped("object store", f"cannot look for an object: {refused}")
        return
    if not url:
        yield skipped("object store", "there is no object that you may read, to try it with")
        return
    host = urlsplit(url).netloc
    remedy = f"open the way to {host}, or add --pre-sign=false to fs commands"
    try:
        answer = _get(url, {"Range": "bytes=0-0"})
    except urllib3.exceptions.HTTPError as failure:
        yield error("object store", f"cannot reach {host}: {reason_of(failure)}", remedy)
        return
    found = _CODE.search(answer.content.decode(errors="replace"))
    code = found[1] if found else answer.reason
    # The store checks the URL before it looks for the data, which may have been collected.
    if answer.status in {200, 206, 416} or code == "NoSuchKey":
        yield ok("object store", f"presigned URLs of {host} work")
        return
    text = f"{host} refuses a presigned URL: {answer.status} {code}".rstrip()
    if code == "RequestTimeTooSkewed":
        remedy = "set this machine's clock"
    yield error("object store", text, remedy)


def _some_presigned_url(server: LakeClient) -> str:
    """Return the presigned URL of an object in one of the first repositories, or ""."""
    found = server.page("/repositories", {}, Repository, {"amount": _REPOSITORIES_MAX})
    for repository in found.results:
        names = {"repository": repository.id, "ref": repository.default_branch}
        template = "/repositories/{repository}/refs/{ref}/objects/ls"
        try:
            objects: ResultPage[ObjectStats] = server.page(
                template, names, ObjectStats, {"amount": 1, "presign": True}
            )
        except ApiRefusedError:
            continue  # a policy may forbid this repository and allow others
        for each in objects.results:
            if each.physical_address.startswith(("http://", "https://")):
                return each.physical_address
    return ""
