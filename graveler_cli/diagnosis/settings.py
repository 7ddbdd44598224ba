"""Checks of the configuration file, the variables and the keys, without a request."""

import base64
import binascii
import difflib
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from graveler_cli.configuration import CONFIG_VARIABLE, DEFAULT_FILE, KEY_VARIABLES, Configuration
from graveler_cli.errors import CommandError
from graveler_cli.findings import Finding, error, ok, warning

PREFIX = "LAKECTL_"
_API = "/api/v1"

# The settings of lakectl and of this program.
SETTINGS = (
    "credentials.access_key_id",
    "credentials.secret_access_key",
    "credentials.session_token",
    "credentials.provider.type",
    "credentials.provider.aws_iam.token_ttl_seconds",
    "credentials.provider.aws_iam.url_presign_ttl_seconds",
    "credentials.provider.aws_iam.refresh_interval",
    "credentials.provider.aws_iam.token_request_headers",
    "credentials.provider.aws_iam.client_log_pre_signing_request",
    "network.http2.enabled",
    "server.endpoint_url",
    *(
        f"server.{kind}.{name}"
        for kind in ("retries", "login_retries")
        for name in ("enabled", "max_attempts", "min_wait_interval", "max_wait_interval")
    ),
    "options.parallelism",
    "local.skip_non_regular_files",
    "local.symlink_support",
    "experimental.local.posix_permissions.enabled",
    "experimental.local.posix_permissions.include_uid",
    "experimental.local.posix_permissions.include_gid",
)
_OTHER_VARIABLES = (CONFIG_VARIABLE, "LAKECTL_BASE_URI", "LAKECTL_INTERACTIVE")
# The one setting whose keys the user chooses.
_OPEN = "credentials.provider.aws_iam.token_request_headers."

_SECRETS = {"credentials.secret_access_key", "credentials.session_token"}
_ACCESS_KEY_ID = re.compile(r"AKIA[IJ][A-Z0-9]{14}Q")
_SECRET_LENGTH = 40
_READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH


def variable_of(setting: str) -> str:
    """Return the variable that overrides a setting of the file."""
    return PREFIX + setting.replace(".", "_").upper()


def check_file(file: Path | None, variables: Mapping[str, str]) -> Iterator[Finding]:
    """Yield findings on the configuration file."""
    named = file or (Path(variables[CONFIG_VARIABLE]) if CONFIG_VARIABLE in variables else None)
    chosen = named or Path(DEFAULT_FILE).expanduser()
    subject = "configuration file"
    if not chosen.exists():
        if named is not None:
            remedy = f"create it, or correct --config or {CONFIG_VARIABLE}"
            yield error(subject, f"{named} does not exist", remedy)
        elif any(name.startswith(PREFIX) for name in variables):
            yield ok(subject, f"{chosen} does not exist: the variables are the configuration")
        else:
            remedy = "run `graveler config`, or set LAKECTL_SERVER_ENDPOINT_URL and the keys"
            yield error(subject, f"{chosen} does not exist", remedy)
        return
    try:
        values = Configuration.read(chosen, {}).values
    except CommandError as failure:
        remedy = "mend the file: YAML with `credentials:` and `server:`, indented by spaces"
        yield error(subject, str(failure), remedy)
        return
    yield ok(subject, f"{chosen} is read")
    mode = chosen.stat().st_mode
    if mode & _READABLE_BY_OTHERS:
        text = f"{chosen} can be read by others (mode {stat.S_IMODE(mode):04o}), and has secrets"
        yield warning(subject, text, f"chmod 600 {chosen}")
    for name in values:
        if name not in SETTINGS and not name.startswith(_OPEN):
            yield warning(subject, f"nothing reads the setting {name}", _nearest(name, SETTINGS))


def check_variables(
    file_values: Mapping[str, str], variables: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield findings on variables that override the file, and on those that nothing reads."""
    known = {variable_of(setting): setting for setting in SETTINGS}
    for name in sorted(variables):
        if not name.startswith(PREFIX) or name in _OTHER_VARIABLES:
            continue
        if name not in known:
            remedy = _nearest(name, (*known, *_OTHER_VARIABLES))
            yield warning(name, "nothing reads this variable", remedy)
        elif not variables[name]:
            yield warning(name, "is set, but empty: the file's value counts", f"unset {name}")
        elif file_values.get(known[name], variables[name]) != variables[name]:
            shown = "" if known[name] in _SECRETS else f" ({file_values[known[name]]})"
            text = f"overrides {known[name]} of the configuration file{shown}"
            yield warning(name, text, f"unset {name}, if the file's value is meant")
        else:
            yield ok(name, "is set")


def check_keys(configuration: Configuration) -> Iterator[Finding]:
    """Yield findings on the key pair; lakectl calls the same forms suspicious."""
    key_id = configuration.get("credentials.access_key_id")
    secret = configuration.get("credentials.secret_access_key")
    if configuration.get("credentials.provider.type") and not (key_id or secret):
        return  # the keys come from somewhere else
    for name, value in (("access_key_id", key_id), ("secret_access_key", secret)):
        if not value:
            remedy = f"set {KEY_VARIABLES}, or write credentials.{name} into the file"
            yield error("key pair", f"credentials.{name} is missing", remedy)
        elif value != value.strip().strip("'\""):
            text = f"credentials.{name} has spaces or quotes around it"
            yield error("key pair", text, "remove them")
    remedy = "compare it with the key pair as it was created; the web UI and `auth` show its ID"
    if key_id and not _ACCESS_KEY_ID.fullmatch(key_id):
        yield warning("key pair", f"access_key_id value looks suspicious: {key_id}", remedy)
    if secret and not _is_secret(secret):
        yield warning("key pair", "secret_access_key value looks suspicious", remedy)


def check_endpoint(configuration: Configuration) -> Iterator[Finding]:
    """Yield findings on the endpoint's text."""
    written = configuration.get("server.endpoint_url")
    try:
        endpoint = configuration.endpoint
    except CommandError as failure:
        remedy = "write https://HOST, with the host name of the server"
        yield error("endpoint", str(failure), remedy)
        return
    if "://" not in written:
        text = f"{written} has no scheme: {endpoint} is used"
        yield warning("endpoint", text, f"write https://{written}, if the server has TLS")
    path = urlsplit(endpoint).path
    if path != _API:
        text = f"{endpoint} ends with {path}: the API of most servers is at {_API}"
        yield warning("endpoint", text, "leave the path out, unless a proxy needs it")


def _is_secret(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(text) == _SECRET_LENGTH


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return the remedy for a name that nothing reads."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return (
        f"did you mean {found[0]}?"
        if found
        else "remove it, or look for the right name in docs/cli.md"
    )
