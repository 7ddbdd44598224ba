"""A failure is one line that says what to do, and an exit code."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

import graveler_cli.transport
from graveler.version import VERSION
from graveler_cli.client import LakeClient
from tests.architecture.test_portability import ROOT
from tests.unit.cli.conftest import ACCESS_KEY_ID, ENDPOINT, SECRET

STAT = ("fs", "stat", "lakefs://my-repo/main/a")
GET = ("export", "get", "lakefs://foo@master")
STATUS = ("export", "status", "lakefs://foo@master")

# With these the SDK looks into the file alone.
NO_VARIABLES = {ENDPOINT: None, ACCESS_KEY_ID: None, SECRET: None}


@pytest.fixture
def config(tmp_path):
    """Writes a configuration file, and gives its path."""

    def write(text):
        file = tmp_path / "lakectl.yaml"
        file.write_text(text)
        return str(file)

    return write


# Configuration


def test_a_configuration_file_is_read_before_the_variables(graveler, server, config):
    server.will_answer({"state": "none"})
    file = config(
        "credentials:\n  access_key_id: AKIAFILE\n  secret_access_key: other\n"
        f"server:\n  endpoint_url: {server.endpoint}\n"
    )
    graveler.prints("-c", file, *STATUS, **NO_VARIABLES)
    graveler.prints(*STATUS, **NO_VARIABLES, LAKECTL_CONFIG_FILE=file)
    graveler.prints("--config", file, *STATUS)
    assert [asked.authorization for asked in server.asked] == [
        "Basic QUtJQUZJTEU6b3RoZXI=",
        "Basic QUtJQUZJTEU6b3RoZXI=",
        "Basic QUtJQUVYQU1QTEU6c2VjcmV0",
    ]


@pytest.mark.parametrize("command", [STAT, GET])
def test_without_credentials_one_learns_where_to_put_them(graveler, server, config, command):
    told = graveler.fails("-c", config("{}"), *command, **{ACCESS_KEY_ID: None, SECRET: None})
    assert told.startswith(
        "no credentials are configured: set LAKECTL_CREDENTIALS_ACCESS_KEY_ID and "
    )
    assert server.asked == []


def test_without_an_endpoint_one_learns_where_to_put_it(graveler, config):
    told = graveler.fails("-c", config("{}"), *STAT, **{ENDPOINT: None})
    assert told.startswith("no endpoint is configured: set LAKECTL_SERVER_ENDPOINT_URL, ")


def test_a_configuration_file_that_is_named_must_be_there(graveler, tmp_path):
    told = graveler.fails("-c", str(tmp_path / "none"), *STAT)
    assert told == f"configuration file {tmp_path / 'none'} does not exist"


@pytest.mark.parametrize("text", ["", "[", "server: 1", "\x00", "server:\n  nothing: 1\n"])
def test_a_configuration_file_that_makes_no_sense_is_named(graveler, config, text):
    file = config(text)
    told = graveler.fails("-c", file, *STAT, **NO_VARIABLES)
    assert file in told


@pytest.mark.parametrize("base", ["lakefs://foo/", "lakefs://fo"])
def test_a_base_uri_completes_what_is_not_written_out(graveler, server, base):
    server.will_answer({"state": "none"})
    rest = "lakefs://foo/master".removeprefix(base)
    graveler.prints("--base-uri", base, "export", "status", rest)
    graveler.prints("export", "status", rest, LAKECTL_BASE_URI=base)
    graveler.prints("--base-uri", base, "export", "status", "lakefs://foo@master")
    assert {asked.path.split("/")[6] for asked in server.asked} == {"master"}


# The command line


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["nope"], "no such command 'nope'; see graveler --help"),
        (["export", "nope"], "no such command 'nope'; see graveler export --help"),
        (["export", "gett"], "no such command 'gett'. Did you mean 'get'? See graveler"),
        (["--nope"], "no such option '--nope'; see graveler --help"),
        (["fs", "stat"], "missing argument 'PATH_URI'; see graveler fs stat --help"),
        ([*STAT, "more"], "got unexpected extra argument (more); see graveler fs stat --help"),
        (["fs", "stat", "my-repo/main/a"], "'my-repo/main/a' does not name an object: write"),
        (["export", "get", "lakefs://foo"], "'lakefs://foo' does not name a branch: write"),
        (["export", "get", "lakefs://foo@a", "--", "--x=1"], "got unexpected extra argument"),
    ],
)
def test_a_wrong_command_line_gets_the_right_form(graveler, args, told):
    assert graveler.fails(*args).startswith(told)


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"], ["help"]])
def test_the_program_explains_itself(graveler, args):
    shown = graveler.prints(*args)
    for word in ("export", "fs", "--config", "LAKECTL_SERVER_ENDPOINT_URL"):
        assert word in shown


@pytest.mark.parametrize("args", [["export"], ["export", "--help"], ["help", "export"]])
def test_a_group_explains_itself(graveler, args):
    shown = graveler.prints(*args)
    for command in ("get", "set", "run", "repair", "status"):
        assert f" {command} " in shown


SHOWN = f"graveler version: {VERSION}\n"


@pytest.mark.parametrize("flag", ["--version", "-v"])
def test_the_version_is_that_of_the_program_of_the_server_and_of_its_api(graveler, server, flag):
    server.will_answer({"version_config": {"version": "1.84.0", "graveler_version": "0.0.9"}})
    assert graveler.prints(flag) == f"{SHOWN}server version: 0.0.9\nlakeFS API: 1.84.0\n"
    assert [asked.path for asked in server.asked] == ["/api/v1/config"]


def test_lakefs_itself_has_one_version(graveler, server):
    server.will_answer({"version_config": {"version": "1.84.0"}})
    assert graveler.prints("--version") == f"{SHOWN}lakeFS version: 1.84.0\n"


def test_the_version_needs_no_server(graveler, server):
    server.will_answer({"message": "later"}, status=503)
    assert graveler.prints("--version") == SHOWN
    assert len(server.asked) == 1
    assert graveler.prints("--version", LAKECTL_SERVER_ENDPOINT_URL=None) == SHOWN
    assert graveler.prints("--version", LAKECTL_SERVER_ENDPOINT_URL="http://127.0.0.1:9") == SHOWN


def test_the_versions_are_json_too(graveler, server):
    server.will_answer({"version_config": {"version": "1.84.0", "graveler_version": "0.0.9"}})
    found = json.loads(graveler.prints("--version", "--json"))
    assert found == {"graveler": VERSION, "server": "0.0.9", "lakeFS": "1.84.0"}


# The server


def test_tls_where_there_is_none_is_named_with_the_remedy(graveler, server):
    endpoint = graveler.environment["LAKECTL_SERVER_ENDPOINT_URL"].replace("http:", "https:")
    told = graveler.fails("repo", "list", LAKECTL_SERVER_ENDPOINT_URL=endpoint)
    assert "write http:// in the endpoint" in told


@pytest.mark.parametrize("command", [STAT, GET])
def test_a_refused_connection_names_the_endpoint(graveler, command):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    told = graveler.fails(*command, **{ENDPOINT: f"http://127.0.0.1:{port}"})
    assert told.startswith(f"cannot reach http://127.0.0.1:{port}/api/v1: connection refused; ")
    assert "LAKECTL_SERVER_ENDPOINT_URL" in told


@pytest.mark.parametrize("command", [STAT, GET])
def test_a_server_that_never_answers_is_given_up(graveler, monkeypatch, command):
    monkeypatch.setattr(graveler_cli.transport, "ANSWER_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        told = graveler.fails(*command, **{ENDPOINT: endpoint})
    assert told.startswith(f"cannot reach {endpoint}/api/v1: ")


def test_the_suite_shows_the_refusal_of_a_server_that_asks_to_come_back_later(graveler, server):
    server.retry_after_s = 1
    server.will_answer({"message": "the store is throttled"}, status=503)
    [first, *_] = graveler.run("doctor", "--write").stdout.splitlines()
    assert 'answered 503, not 200: {"message": "the store is throttled"}' in first


@pytest.mark.parametrize("endpoint", ["http://x.invalid", "http://[", "ftp://127.0.0.1", ":"])
def test_an_invalid_endpoint_is_named(graveler, endpoint):
    assert endpoint in graveler.fails(*GET, **{ENDPOINT: endpoint})


def test_tls_to_a_server_without_tls_is_reported(graveler, server):
    server.will_say(200, "")
    told = graveler.fails(*GET, **{ENDPOINT: server.endpoint.replace("http", "https")})
    assert told.startswith(f"cannot reach https://127.0.0.1:{server.port}/api/v1")


@pytest.mark.parametrize("command", [STAT, GET])
def test_wrong_credentials_are_reported_with_their_source(graveler, server, command):
    server.will_answer({"message": "error authenticating request"}, status=401)
    told = graveler.fails(*command)
    assert told.startswith("error authenticating request: check LAKECTL_CREDENTIALS_ACCESS_KEY_ID")


def test_a_user_without_the_right_is_not_told_to_check_the_credentials(graveler, server):
    server.will_answer({"message": "insufficient permissions"}, status=401)
    assert graveler.fails(*GET) == "insufficient permissions"


@pytest.mark.parametrize("command", [STAT, GET])
@pytest.mark.parametrize("status", [400, 403, 404, 409, 410, 429, 500, 501, 503])
def test_a_refusal_is_the_server_s_own_message_on_one_line(graveler, server, command, status):
    server.will_answer({"message": "what it is\nand what to do"}, status=status)
    assert graveler.fails(*command) == "what it is and what to do"
    # lakectl repeats these four times.
    assert len(server.asked) == (5 if status in {429, 500, 503} else 1)


def test_a_refusal_shows_its_details(graveler, server):
    server.will_answer({"message": "branch not found", "details": "'dev'"}, status=404)
    assert graveler.fails(*GET) == "branch not found: 'dev'"


def test_a_server_without_exports_is_reported(graveler, server):
    server.will_answer({"message": "invalid API endpoint"}, status=404)
    assert graveler.fails(*GET).startswith(f"{server.endpoint}/api/v1 does not have this operation")


@pytest.mark.parametrize("command", [STAT, GET])
def test_a_server_that_is_not_lakefs_is_reported(graveler, server, command):
    server.will_say(502, "<html>")
    told = graveler.fails(*command)
    assert told == f"{server.endpoint}/api/v1 answered 502 Bad Gateway: check the endpoint"
    server.answers.clear()
    for text in ("<html>", "{}", "[]", ""):
        server.will_say(200, text)
        assert graveler.fails(*command).startswith(f"{server.endpoint}/api/v1 does not answer like")
        server.answers.clear()


@pytest.mark.parametrize("args", [("-d", *GET), ("--debug", *GET)])
def test_debug_shows_the_traceback(graveler, server, args):
    server.will_answer({"message": "no"}, status=409)
    result = graveler.run(*args)
    assert result.exit_code == 1
    assert result.stderr.startswith("Traceback (most recent call last):\n")
    assert result.stderr.endswith("\nerror: no\n")


def test_even_a_bug_is_one_line(graveler, monkeypatch):
    monkeypatch.setattr(LakeClient, "ask", lambda *_: 1 / 0)
    told = graveler.fails(*GET)
    assert told.startswith("ZeroDivisionError: division by zero; please report it")


def test_an_error_of_the_system_shows_its_message(graveler, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LakeClient, "ask", refuse)
    assert graveler.fails(*GET) == "no space left on device"


def test_an_interrupted_command_ends_quietly(graveler, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(LakeClient, "ask", interrupt)
    result = graveler.run(*GET)
    assert (result.exit_code, result.output) == (130, "")


# Failures for programs


def test_with_json_a_refusal_is_one_object_on_stderr(graveler, server):
    server.headers["X-Request-ID"] = "r-1"
    server.will_answer({"message": "branch not found"}, status=404)
    result = graveler.run(*GET, "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(result.stderr) == {
        "error": "branch not found",
        "status": 404,
        "request_id": "r-1",
    }


@pytest.mark.parametrize("args", [("export", "get", "foo", "--json"), ("fs", "stat", "--json")])
def test_with_json_a_wrong_command_line_is_one_object_too(graveler, args):
    told = json.loads(graveler.run(*args).stderr)
    assert (told["status"], told["request_id"]) == (None, None)
    assert told["error"]


def test_debug_names_the_request_for_the_logs_of_the_server(graveler, server):
    server.headers["X-Request-ID"] = "r-1"
    server.will_answer({"message": "no"}, status=409)
    assert graveler.run(*GET, "--debug").stderr.endswith("\nerror: no (request r-1)\n")
    assert graveler.fails(*GET) == "no"


def test_a_message_of_the_server_does_not_steer_the_terminal(graveler, server):
    server.will_answer({"message": "a\x1b[2Jb\x07c"}, status=409)
    assert graveler.fails(*GET) == "a [2Jb c"


def test_a_command_that_is_almost_right_is_proposed(graveler):
    assert "Did you mean 'branch'?" in graveler.fails("brnch")


# The process


PROCESS = (sys.executable, "-m", "graveler_cli")


def started(*args, **more):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [*PROCESS, *args], env=environment, text=True, stderr=subprocess.PIPE, **more
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_ctrl_c_ends_the_process_quietly_with_130():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environment = {
            ENDPOINT: f"http://127.0.0.1:{silent.getsockname()[1]}",
            ACCESS_KEY_ID: "key",
            SECRET: "secret",
        }
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            process = started(*GET)
        connection, _ = silent.accept()
        connection.recv(1)
        # A signal just before a wait does not end it: Python has looked for signals already.
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        connection.close()
    assert (process.returncode, told) == (130, "")


def test_a_reader_that_has_seen_enough_is_no_failure():
    read, write = os.pipe()
    os.close(read)
    process = started("--help", stdout=write)
    os.close(write)
    assert process.communicate(timeout=60)[1] == ""
