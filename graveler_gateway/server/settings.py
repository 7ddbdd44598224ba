"""The settings of the gateway's process, from its environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graveler_gateway.operations.request import OperationSettings

PREFIX = "GRAVELER_GATEWAY_"
# In a container, behind a load balancer.
_EVERY_ADDRESS = "0.0.0.0"  # noqa: S104


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """The settings of one process of the gateway.

    domains: hosts under which repositories are subdomains, `<repository>.<domain>`.
    idle_s: how long a client may send or take nothing.
    """

    domains: tuple[str, ...] = ()
    operations: OperationSettings = field(default_factory=OperationSettings)
    threads: int = 64
    idle_s: float = 60.0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "GatewaySettings":
        """Return the settings of variables that begin with GRAVELER_GATEWAY_.

        Raises:
            ValueError: one has an invalid value; the message names it.
        """
        domains = environment.get(f"{PREFIX}DOMAINS", "").lower().replace(",", " ").split()
        return cls(
            domains=tuple(domains),
            operations=OperationSettings(
                region=environment.get(f"{PREFIX}REGION")
                or environment.get("AWS_REGION")
                or "us-east-1",
                redirects=_flag(environment, f"{PREFIX}REDIRECTS"),
                hashed_bytes_max=_hashed_bytes_max(environment),
            ),
            threads=_number(environment, f"{PREFIX}THREADS", 64, 1, 1024),
            idle_s=_number(environment, f"{PREFIX}IDLE_S", 60, 1, 3600),
        )


def _hashed_bytes_max(environment: Mapping[str, str]) -> int:
    """Return the largest content whose SHA-256 the store checks; on AWS, it checks any."""
    default = 32 if environment.get("GRAVELER_S3_ENDPOINT") else 5 * 1024
    return _number(environment, f"{PREFIX}HASHED_MB_MAX", default, 0, 5 * 1024) * 1024**2


def _flag(environment: Mapping[str, str], name: str) -> bool:
    text = environment.get(name, "").lower()
    if text not in {"", "true", "false"}:
        raise ValueError(f"{name} is {text!r}: set it to true or false")
    return text == "true"


def _number(environment: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = environment.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and least <= int(text[:9]) <= most):
        raise ValueError(f"{name} is {text!r}: set it to a number from {least} to {most}")
    return int(text)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the program listens, and with how many processes."""

    host: str
    port: int
    workers: int
    stop_s: int

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "ServerSettings":
        """Return the settings of variables that begin with GRAVELER_GATEWAY_.

        Raises:
            ValueError: one has an invalid value; the message names it.
        """
        return cls(
            host=environment.get(f"{PREFIX}HOST") or _EVERY_ADDRESS,
            port=_number(environment, f"{PREFIX}PORT", 8080, 1, 65_535),
            workers=_number(environment, f"{PREFIX}WORKERS", 1, 1, 64),
            stop_s=_number(environment, f"{PREFIX}STOP_S", 25, 1, 3600),
        )
