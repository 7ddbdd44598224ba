"""The configuration of lakectl: ~/.lakectl.yaml, overridden by variables LAKECTL_*."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from graveler_cli.errors import CommandError

CONFIG_VARIABLE = "LAKECTL_CONFIG_FILE"
KEY_VARIABLES = "LAKECTL_CREDENTIALS_ACCESS_KEY_ID and LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY"

DEFAULT_FILE = "~/.lakectl.yaml"
_PREFIX = "LAKECTL_"
_API = "/api/v1"

_TRUE = {"1", "t", "true", "yes", "on"}
_FALSE = {"0", "f", "false", "no", "off"}


@dataclass(frozen=True)
class RequestRetries:
    """The number of retries of a failed request, and the waits before them."""

    attempts_max: int = 4
    wait_min_s: float = 0.2
    wait_max_s: float = 30.0


@dataclass(frozen=True)
class Configuration:
    """The settings of the file and of the environment variables."""

    file: Path
    values: Mapping[str, str]  # by dotted names as in the file, and by names of variables

    @classmethod
    def read(cls, file: Path | None, variables: Mapping[str, str] = os.environ) -> Self:
        """Return the configuration in the file, or in the default one, which need not exist.

        Raises:
            CommandError: the file named does not exist, or cannot be read.
        """
        variable = variables.get(CONFIG_VARIABLE)
        # As in lakectl, -c "" names no file.
        named = file if file not in {None, Path()} else (Path(variable) if variable else None)
        chosen = named or Path(DEFAULT_FILE).expanduser()
        if named is not None and not named.is_file():
            raise CommandError(f"configuration file {named} does not exist")
        values = _read_file(chosen) if chosen.is_file() else {}
        given = {name: text for name, text in variables.items() if name.startswith(_PREFIX)}
        return cls(chosen, values | given)

    def get(self, name: str, default: str = "") -> str:
        """Return the value of a dotted name; a variable overrides the file."""
        variable = f"{_PREFIX}{name.replace('.', '_').upper()}"
        return self.values.get(variable) or self.values.get(name) or default

    def is_on(self, name: str, *, default: bool = False) -> bool:
        """Return a Boolean setting.

        Raises:
            CommandError: the value is not a Boolean.
        """
        value = self.get(name)
        if value and value.lower() not in _TRUE | _FALSE:
            raise CommandError(f"{name} is {value!r} in the configuration: write true or false")
        return value.lower() in _TRUE if value else default

    def number(self, name: str, default: int) -> int:
        """Return a setting that is a whole number.

        Raises:
            CommandError: the value is not a number.
        """
        value = self.get(name)
        if value and not value.isdecimal():
            raise CommandError(f"{name} is {value!r} in the configuration: write a number")
        return int(value) if value else default

    @property
    def endpoint(self) -> str:
        """The URL of the API, without a slash at its end.

        Raises:
            CommandError: there is no endpoint, or it is not a URL.
        """
        url = self.get("server.endpoint_url").strip()
        if not url:
            raise CommandError(
                "no endpoint is configured: set LAKECTL_SERVER_ENDPOINT_URL, "
                f"or write server.endpoint_url into {self.file}"
            )
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            # The port is parsed when it is read.
            is_url = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_url = False
        if not is_url:
            raise CommandError(f"endpoint {url!r} is not a URL: write https://HOST")
        if parts.username is not None:
            raise CommandError(
                "the endpoint has credentials in it: write them into "
                "credentials.access_key_id and .secret_access_key"
            )
        path = parts.path.rstrip("/") or _API
        return f"{parts.scheme}://{parts.netloc}{path}"

    @property
    def key_pair(self) -> tuple[str, str]:
        """The access key's ID, and the secret.

        Raises:
            CommandError: no key pair is configured.
        """
        pair = self.get("credentials.access_key_id"), self.get("credentials.secret_access_key")
        if not all(pair):
            provider = self.get("credentials.provider.type")
            if provider:
                raise CommandError(
                    f"credentials.provider.type is {provider!r}, which only lakectl supports: "
                    f"set {KEY_VARIABLES}"
                )
            raise CommandError(
                f"no credentials are configured: set {KEY_VARIABLES}, or write "
                f"credentials.access_key_id and .secret_access_key into {self.file}"
            )
        return pair

    @property
    def retries(self) -> RequestRetries:
        """The settings of retries."""
        if not self.is_on("server.retries.enabled", default=True):
            return RequestRetries(attempts_max=0)
        usual = RequestRetries()
        return RequestRetries(
            self.number("server.retries.max_attempts", usual.attempts_max),
            self._duration_s("server.retries.min_wait_interval", usual.wait_min_s),
            self._duration_s("server.retries.max_wait_interval", usual.wait_max_s),
        )

    def _duration_s(self, name: str, default: float) -> float:
        """Return a duration in Go's form, such as 1m30s."""
        text = self.get(name)
        if not text:
            return default
        from graveler.times import duration_s  # noqa: PLC0415 - most configurations have none

        try:
            value_s = duration_s(text)
        except ValueError as error:
            raise CommandError(f"{name} in the configuration: {error}") from error
        if value_s < 0:
            raise CommandError(f"{name} is {text!r} in the configuration: write it like 200ms")
        return value_s


def _read_file(file: Path) -> dict[str, str]:
    """Return the values of a YAML file by dotted names, in lower case."""
    # Imported late, because many configurations are variables alone.
    import yaml  # noqa: PLC0415

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = yaml.load(file.read_bytes(), Loader=loader)  # noqa: S506 - both are safe
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        line = " ".join(str(error).split())
        raise CommandError(f"cannot use the configuration {file}: {line}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise CommandError(f"cannot use the configuration {file}: it is not a map of settings")
    values: dict[str, str] = {}
    _flatten(content, "", values)
    return values


def _flatten(content: Mapping[object, object], prefix: str, values: dict[str, str]) -> None:
    for name, value in content.items():
        dotted = f"{prefix}{name}".lower()
        if isinstance(value, Mapping):
            _flatten(value, f"{dotted}.", values)
        elif value is not None:
            values[dotted] = str(value)
