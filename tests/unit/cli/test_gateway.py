"""`graveler gateway`: what it checks before it serves, and what it says."""

import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from graveler_gateway.lake.api.requests import Requests
from graveler_gateway.server import sidecar
from graveler_gateway.server.http import processes
from tests.unit.cli.conftest import ACCESS_KEY_ID, ENDPOINT, SECRET, FakeServer, Graveler

NO_KEY_PAIR: dict[str, Any] = {ACCESS_KEY_ID: None, SECRET: None}
USER = {"user": {"id": "ada", "creation_date": 1_600_000_000}}
REMEDY = "is not installed: install the extra 'gateway' (docs/cli.md, Installation)"
HANDED_ON = tuple(
    f"GRAVELER_GATEWAY_{name}" for name in ("API_URL", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY")
)


@dataclass
class FakeProcesses:
    """Takes the place of the processes that serve; serving ends at once."""

    begun: list[dict[str, Any]] = field(default_factory=list)

    def serve(self, target: str, host: str, port: int, **settings: Any) -> int:
        self.begun.append({"target": target, "address": host, "port": port, **settings})
        return 0


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> FakeProcesses:
    fake = FakeProcesses()
    monkeypatch.setattr(processes, "serve", fake.serve)
    monkeypatch.setattr(sidecar, "Requests", partial(Requests, sleep=lambda _: None))
    for name in HANDED_ON:  # the program sets them, for the processes that it starts
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return fake


@pytest.fixture
def port() -> str:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return str(found.getsockname()[1])


def test_clients_learn_how_to_reach_it(
    graveler: Graveler, server: FakeServer, started: FakeProcesses, port: str
) -> None:
    server.will_answer(USER)
    endpoint = f"http://127.0.0.1:{port}"
    assert graveler.prints("gateway", "--port", port).splitlines() == [
        f"S3 gateway of {server.endpoint}/api/v1, as user ada",
        f"  endpoint    {endpoint} (path style)",
        "  key pair    that of this configuration, and no other",
        "  region      any, such as us-east-1",
        "  addresses   s3://REPOSITORY/REF/PATH",
        f"For example: aws s3 ls s3://REPOSITORY/main/ --endpoint-url {endpoint}",
        "Ctrl-C ends it.",
    ]
    assert len(started.begun) == 1
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", "/api/v1/user")
    assert asked.authorization == "Basic QUtJQUVYQU1QTEU6c2VjcmV0"


@pytest.mark.parametrize(("arguments", "workers"), [((), 1), (("--workers", "3"), 3)])
def test_it_serves_on_this_machine_with_the_wanted_processes(
    graveler: Graveler,
    server: FakeServer,
    started: FakeProcesses,
    port: str,
    arguments: tuple[str, ...],
    workers: int,
) -> None:
    server.will_answer(USER)
    graveler.prints("gateway", "--port", port, *arguments)
    (begun,) = started.begun
    assert begun["target"] == "graveler_gateway.server.sidecar:handler"
    assert (begun["address"], begun["port"], begun["workers"]) == ("127.0.0.1", int(port), workers)


def test_its_processes_get_the_deployment_and_nothing_shows_the_secret(
    graveler: Graveler, server: FakeServer, started: FakeProcesses, port: str
) -> None:
    server.will_answer(USER)
    shown = graveler.prints("gateway", "--port", port, **{SECRET: "hidden-text"})
    handed_on = [os.environ[name] for name in HANDED_ON]
    assert handed_on == [f"{server.endpoint}/api/v1", "AKIAEXAMPLE", "hidden-text"]
    assert "hidden-text" not in shown + str(started.begun)


def test_an_address_that_others_reach_comes_with_a_warning(
    graveler: Graveler, server: FakeServer, started: FakeProcesses, port: str
) -> None:
    server.will_answer(USER)
    shown = graveler.prints("gateway", "--host", "0.0.0.0", "--port", port)
    assert "The connection is not encrypted: let only machines that you trust" in shown
    assert "not encrypted" not in graveler.prints("gateway", "--host", "localhost", "--port", port)
    assert [begun["address"] for begun in started.begun] == ["0.0.0.0", "localhost"]


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_an_ipv6_address_is_an_endpoint_in_brackets(
    graveler: Graveler, server: FakeServer, started: FakeProcesses, port: str
) -> None:
    server.will_answer(USER)
    assert f"http://[::1]:{port} " in graveler.prints("gateway", "--host", "::1", "--port", port)
    assert started.begun[0]["address"] == "::1"


# What is refused before anything is served


@pytest.fixture
def serves_nothing(started: FakeProcesses) -> Iterator[None]:
    yield
    assert started.begun == []


@pytest.mark.usefixtures("serves_nothing")
class TestItDoesNotBegin:
    def test_with_a_wrong_key_pair(self, graveler: Graveler, server: FakeServer, port: str) -> None:
        server.will_answer({"message": "error authenticating request"}, status=401)
        assert graveler.fails("gateway", "--port", port) == "error authenticating request"
        assert len(server.asked) == 1

    def test_without_a_key_pair(
        self, graveler: Graveler, server: FakeServer, tmp_path: Path
    ) -> None:
        empty = tmp_path / "lakectl.yaml"
        empty.write_text("{}")
        told = graveler.fails("-c", str(empty), "gateway", **NO_KEY_PAIR)
        assert told.startswith("no credentials are configured: set ")
        assert server.asked == []

    def test_with_an_api_that_cannot_be_reached(self, graveler: Graveler, port: str) -> None:
        nowhere: dict[str, Any] = {ENDPOINT: "http://127.0.0.1:1"}
        told = graveler.fails("gateway", "--port", port, **nowhere)
        assert told.startswith("the API cannot be reached: ")
        assert "127.0.0.1" in told

    def test_with_an_endpoint_that_is_no_api(
        self, graveler: Graveler, server: FakeServer, port: str
    ) -> None:
        server.will_say(200, "<html>welcome</html>")
        told = graveler.fails("gateway", "--port", port)
        assert told.startswith("the endpoint does not answer like the API: ")

    def test_with_an_api_that_fails(
        self, graveler: Graveler, server: FakeServer, port: str
    ) -> None:
        server.will_say(502, "<html>Bad Gateway</html>")
        assert graveler.fails("gateway", "--port", port) == "the API answered 502"
        assert len(server.asked) == 4

    def test_on_a_port_in_use(self, graveler: Graveler, server: FakeServer) -> None:
        used = str(server.port)
        told = graveler.fails("gateway", "--port", used)
        assert told.startswith(f"cannot listen on 127.0.0.1:{used}: address already in use")
        assert server.asked == []

    def test_on_an_address_of_another_machine(
        self, graveler: Graveler, server: FakeServer, port: str
    ) -> None:
        told = graveler.fails("gateway", "--host", "192.0.2.1", "--port", port)
        assert told.startswith(f"cannot listen on 192.0.2.1:{port}: ")
        assert server.asked == []

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("--port", "0"),
            ("--port", "-1"),
            ("--port", "65536"),
            ("--port", "http"),
            ("--port", "80.5"),
            ("--workers", "0"),
            ("--workers", "65"),
            ("--workers", "many"),
        ],
    )
    def test_with_a_number_that_makes_no_sense(
        self, graveler: Graveler, server: FakeServer, option: str, value: str
    ) -> None:
        told = graveler.fails("gateway", option, value)
        assert told.startswith(f"invalid value for '{option}': ")
        assert server.asked == []

    def test_with_a_wrong_setting_of_the_environment(
        self, graveler: Graveler, server: FakeServer, port: str
    ) -> None:
        wrong: dict[str, Any] = {"GRAVELER_GATEWAY_THREADS": "many"}
        told = graveler.fails("gateway", "--port", port, **wrong)
        assert told.startswith("GRAVELER_GATEWAY_THREADS is 'many': set it to a number from 1 to ")
        assert server.asked == []

    def test_without_a_package_that_it_looks_for_itself(
        self, graveler: Graveler, server: FakeServer, port: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "anycrc", None)
        told = graveler.fails("gateway", "--port", port)
        assert told == f"anycrc {REMEDY}"
        assert server.asked == []

    @pytest.mark.parametrize("package", ["google_crc32c", "httptools"])
    def test_without_a_package_that_its_modules_need(
        self,
        graveler: Graveler,
        server: FakeServer,
        port: str,
        monkeypatch: pytest.MonkeyPatch,
        package: str,
    ) -> None:
        # All of it was imported above, so all of it comes back after the test.
        for name in [each for each in sys.modules if each.partition(".")[0] == "graveler_gateway"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)
        told = graveler.fails("gateway", "--port", port)
        assert told == f"{package} {REMEDY}"
        assert server.asked == []
