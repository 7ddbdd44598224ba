"""The program as a user runs it, against a loopback server with scripted answers."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from graveler_cli.main import app
from tests.support.fakes.scripted_lake import Lake, running

ENDPOINT = "LAKECTL_SERVER_ENDPOINT_URL"
ACCESS_KEY_ID = "LAKECTL_CREDENTIALS_ACCESS_KEY_ID"
SECRET = "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY"


@dataclass
class Asked:
    """A request that reached the server."""

    method: str
    path: str
    authorization: str
    body: object
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class FakeServer:
    """Gives its answers one after the other, the last one again and again."""

    port: int = 0
    answers: list[tuple[int, str, str]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    retry_after_s: int | None = None
    headers: dict[str, str] = field(default_factory=dict)  # more, of every answer

    def will_answer(self, *bodies: object, status: int = 200) -> None:
        """Answer with these, as JSON; "" is an empty body."""
        texts = ["" if body == "" else json.dumps(body) for body in bodies]
        self.answers += [(status, "application/json", text) for text in texts]

    def will_say(self, status: int, text: str, kind: str = "text/html") -> None:
        """Answer with a text that is no JSON."""
        self.answers.append((status, kind, text))

    def next_answer(self) -> tuple[int, str, str]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            authorization = self.headers.get("Authorization", "")
            # Taken first: a test that sees the request may change the answers at once.
            status, kind, text = fake.next_answer()
            fake.asked.append(
                Asked(
                    self.command,
                    self.path,
                    authorization,
                    json.loads(body) if body else None,
                    dict(self.headers.items()),
                )
            )
            self.send_response(status)
            self.send_header("Content-Type", kind)
            if fake.retry_after_s is not None:
                self.send_header("Retry-After", str(fake.retry_after_s))
            for name, value in fake.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - http.server's names

        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        fake.port = http.server_address[1]
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield fake
        http.shutdown()
        thread.join()


class Graveler:
    """The command line, in an environment of its own."""

    def __init__(self, environment: dict[str, str | None]) -> None:
        self.environment = environment

    def run(self, *args: str, stdin: str = "", **environment: str | None) -> Result:
        """Run the program to its end; an exit is the only way it may end."""
        return self._run(args, stdin, environment)

    def _run(
        self, args: Sequence[str], stdin: str, environment: Mapping[str, str | None]
    ) -> Result:
        runner = CliRunner(env={**self.environment, **environment})
        result = runner.invoke(app, args, input=stdin, catch_exceptions=False)
        assert "Traceback" not in result.output or "--debug" in args or "-d" in args
        return result

    def prints(self, *args: str, **environment: str | None) -> str:
        """What the program prints when it succeeds."""
        result = self._run(args, "", environment)
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout

    def fails(self, *args: str, code: int = 1, **environment: str | None) -> str:
        """The one line that the program tells when it fails."""
        result = self._run(args, "", environment)
        assert (result.exit_code, result.stdout) == (code, "")
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr.removeprefix("error: ").rstrip("\n")


@pytest.fixture
def graveler(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Graveler:
    monkeypatch.delenv("LAKECTL_CONFIG_FILE", raising=False)
    monkeypatch.delenv("LAKECTL_CREDENTIALS_SESSION_TOKEN", raising=False)
    return Graveler(
        {
            ENDPOINT: server.endpoint,
            ACCESS_KEY_ID: "AKIAEXAMPLE",
            SECRET: "secret",
            "LAKECTL_BASE_URI": None,
            "LAKECTL_SERVER_RETRIES_MIN_WAIT_INTERVAL": "1ms",
            "LAKECTL_SERVER_RETRIES_MAX_WAIT_INTERVAL": "2ms",
            "TERM": "dumb",
        }
    )


@pytest.fixture
def time_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Puts the process into a time zone, until the test ends."""

    def put_into(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield put_into
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def lake() -> Iterator[Lake]:
    """A lakeFS and its object store, which hold what they are sent."""
    with running() as lake:
        yield lake


@pytest.fixture
def user(
    graveler: Graveler, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Graveler:
    """The program with this lake, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    graveler.environment[ENDPOINT] = lake.endpoint
    graveler.environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    graveler.environment["TZ"] = "UTC"
    return graveler
