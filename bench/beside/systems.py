"""The two systems: each with a DynamoDB Local on disk and an S3Proxy of its own.

Far away, each reaches its stores through proxies that delay its requests.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from bench.beside.distance import Distance
from bench.processes import command_of, cpu_s, family
from graveler.http.schemas.credentials import AccessKey
from graveler_embedded.config import ROOT
from graveler_embedded.processes import Child
from graveler_embedded.stores import start_dynamodb, start_s3proxy
from graveler_embedded.tcp_ports import HOST, free_port, is_healthy, is_listening
from graveler_functions.api import key_pairs

OURS, THEIRS = "Graveler", "lakeFS"
READY = "Graveler is ready."

DYNAMODB_MS, S3_MS = 4.0, 15.0


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor time: of the system itself, and of its stores."""

    system_s: float
    stores_s: float

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.system_s + other.system_s, self.stores_s + other.stores_s)

    def __sub__(self, earlier: "Spent") -> "Spent":
        return Spent(self.system_s - earlier.system_s, self.stores_s - earlier.stores_s)


@dataclass(frozen=True, slots=True)
class System:
    """A running system, and the processes that it and its stores consist of."""

    name: str
    port: int
    keys: AccessKey
    processes: Sequence[Child]

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.port}"

    def spent(self) -> Spent:
        """Return the processor time until now. The stores are the Java processes."""
        pids = [pid for child in self.processes for pid in family(child.pid)]
        stores = [pid for pid in pids if command_of(pid) == "java"]
        return Spent(cpu_s(set(pids) - set(stores)), cpu_s(stores))


@contextmanager
def both(binary: Path, folder: Path, *, far: bool) -> Iterator[tuple[System, System]]:
    """Run Graveler and lakeFS with their data in the folder.

    Raises:
        StartError: a process did not start; the message names its log.
    """
    with ExitStack() as stops:
        yield (
            _graveler(folder / OURS, stops, far=far),
            _lakefs(binary, folder / THEIRS, stops, far=far),
        )


@contextmanager
def graveler(folder: Path) -> Iterator[System]:
    """Run Graveler alone, with its data in the folder; raises as `both`."""
    with ExitStack() as stops:
        yield _graveler(folder / OURS, stops, far=False)


def _started(stops: ExitStack, child: Child) -> Child:
    stops.callback(child.stop, timeout_s=30)
    return child


def _proxies(stops: ExitStack, folder: Path, distances: Sequence[Distance]) -> None:
    command = [sys.executable, "-m", "bench.beside.distance", *map(str, distances)]
    proxies = _started(stops, Child("the proxies", command, folder / "proxies.log", folder=ROOT))
    proxies.wait_until(lambda: all(is_listening(distance.port) for distance in distances))


def _graveler(folder: Path, stops: ExitStack, *, far: bool) -> System:
    """Start the embedded stack, as `make serve` does."""
    port, s3_port, log = free_port(), free_port(), folder / "log"
    keys = key_pairs.generate()
    environment = {
        **{name: value for name, value in os.environ.items() if name[:9] != "GRAVELER_"},
        **{name: os.environ[name] for name in ("GRAVELER_JARS",) if name in os.environ},
        "GRAVELER_DATA": str(folder / "data"),
        "GRAVELER_PORT": str(port),
        "GRAVELER_S3_PORT": str(s3_port),
        "GRAVELER_ACCESS_KEY_ID": keys.access_key_id,
        "GRAVELER_SECRET_ACCESS_KEY": keys.secret_access_key,
    }
    command = [sys.executable, "-m", "graveler_cli", "serve", "--die-with-parent"]
    if far:
        dynamodb_port, dynamodb_proxy, s3_proxy = free_port(), free_port(), free_port()
        environment |= {
            "PROXIED_DYNAMODB_PORT": str(dynamodb_port),
            "PROXIED_DYNAMODB_PROXY": str(dynamodb_proxy),
            "PROXIED_S3_PROXY": str(s3_proxy),
        }
        command = [sys.executable, "-m", "bench.proxied"]
        to_dynamodb = Distance(dynamodb_proxy, dynamodb_port, DYNAMODB_MS)
        _proxies(stops, folder, [to_dynamodb, Distance(s3_proxy, s3_port, S3_MS)])
    stack = _started(stops, Child(OURS, command, log, environment, ROOT))
    stack.wait_until(lambda: READY in log.read_text())
    return System(OURS, port, keys, [stack])


def _lakefs(binary: Path, folder: Path, stops: ExitStack, *, far: bool) -> System:
    """Start lakeFS over stores like those of the embedded stack."""
    keys = key_pairs.generate()
    dynamodb = start_dynamodb(free_port(), folder / "dynamodb", folder / "dynamodb.log")
    _started(stops, dynamodb.child)
    s3 = start_s3proxy(free_port(), folder / "s3", keys, folder / "s3proxy.log")
    _started(stops, s3.child)
    dynamodb.wait_until_ready()
    s3.wait_until_ready()
    dynamodb_port, s3_port = dynamodb.port, s3.port
    if far:
        dynamodb_port, s3_port = free_port(), free_port()
        to_dynamodb = Distance(dynamodb_port, dynamodb.port, DYNAMODB_MS)
        _proxies(stops, folder, [to_dynamodb, Distance(s3_port, s3.port, S3_MS)])
    port, config = free_port(), folder / "lakefs.yaml"
    config.write_text(yaml.safe_dump(_settings(port, dynamodb_port, s3_port, keys)))
    command = [str(binary), "--config", str(config)]
    pair = ["--access-key-id", keys.access_key_id, "--secret-access-key", keys.secret_access_key]
    set_up = [*command, "setup", "--user-name", "admin", *pair]
    Child("lakeFS's setup", set_up, folder / "setup.log").wait_until_done()
    server = _started(stops, Child(THEIRS, [*command, "run"], folder / "log"))
    server.wait_until(lambda: is_healthy(port))
    return System(THEIRS, port, keys, [server, dynamodb.child, s3.child])


def _settings(port: int, dynamodb_port: int, s3_port: int, keys: AccessKey) -> dict[str, object]:
    region = "us-east-1"
    pair = {"access_key_id": keys.access_key_id, "secret_access_key": keys.secret_access_key}
    return {
        "listen_address": f"{HOST}:{port}",
        "database": {
            "type": "dynamodb",
            "dynamodb": {
                "table_name": "lakefs",
                "endpoint": f"http://{HOST}:{dynamodb_port}",
                "aws_region": region,
                **{f"aws_{name}": value for name, value in pair.items()},
            },
        },
        "blockstore": {
            "type": "s3",
            "s3": {
                "region": region,
                "endpoint": f"http://{HOST}:{s3_port}",
                "force_path_style": True,
                "discover_bucket_region": False,
                "credentials": pair,
            },
        },
        "auth": {"encrypt": {"secret_key": "a secret of the measurement"}},
        "stats": {"enabled": False},
        "logging": {"level": "ERROR"},
    }
