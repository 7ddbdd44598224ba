"""`graveler doctor`: what is wrong with a client's set-up, and how to mend it."""

import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from urllib3 import HTTPHeaderDict

import graveler_cli.transport
from graveler_cli.diagnosis import connection
from graveler_cli.diagnosis.settings import check_file, check_variables
from graveler_cli.transport import WholeAnswer

ENDPOINT = "LAKECTL_SERVER_ENDPOINT_URL"
KEY = "LAKECTL_CREDENTIALS_ACCESS_KEY_ID"
SECRET = "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY"
GOOD_KEYS = {KEY: "AKIAIOSFOLKFSSAMPL3Q", SECRET: "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYQ1"}
PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")

USER = {"user": {"id": "amelie"}}
VERSIONS = {"version": "1.2", "version_context": "lakeFS", "graveler_version": "0.3"}
CONFIG = {"version_config": VERSIONS, "storage_config": {"pre_sign_support": False}}
SIGNED_CONFIG = {**CONFIG, "storage_config": {"pre_sign_support": True}}
REPOSITORY = {
    "id": "lake",
    "creation_date": 0,
    "default_branch": "main",
    "storage_namespace": "s3://b/lake",
}
LAST = {"has_more": False, "next_offset": "", "results": 1, "max_per_page": 1000}


@pytest.fixture(autouse=True)
def _home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


def findings(graveler, code, *args, **environment) -> list[dict[str, str]]:
    """Return the findings that are not ok."""
    result = graveler.run("doctor", "--json", *args, **{**GOOD_KEYS, **environment})
    assert result.exit_code == code
    assert result.stderr == ""
    found = map(json.loads, result.stdout.splitlines())
    return [each for each in found if each["level"] != "ok"]


def one(graveler, code, *args, **environment):
    [found] = findings(graveler, code, *args, **environment)
    return found


def will_be_well(server, config=CONFIG):
    server.will_answer(USER, USER, config)


def test_a_good_set_up_is_valid(graveler, server):
    will_be_well(server)
    shown = graveler.prints("doctor", **GOOD_KEYS).splitlines()
    assert shown[-1] == "Valid configuration"
    assert f"ok       endpoint: {server.endpoint}/api/v1 answers" in shown
    assert "ok       key pair: belongs to the user amelie" in shown
    assert "ok       server: Graveler, version 0.3, API of lakeFS 1.2" in shown


def test_lakefs_is_told_from_graveler(graveler, server):
    server.will_answer(USER, USER, {"version_config": {"version": "1.2"}})
    assert "server: lakeFS, version 1.2" in graveler.prints("doctor", **GOOD_KEYS)


def test_a_fault_has_a_remedy_and_exit_code_1(graveler, server):
    server.will_answer({"message": "error authenticating request"}, status=401)
    result = graveler.run("doctor", **GOOD_KEYS)
    assert result.exit_code == 1
    *_, fault, remedy = result.stdout.splitlines()
    assert fault.startswith("error    key pair: the server does not accept it")
    assert "auth users credentials create" in remedy
    assert "Valid configuration" not in result.stdout


# The file and the variables


def test_no_configuration_at_all_is_an_error(graveler):
    nothing = dict.fromkeys([*graveler.environment, KEY, SECRET])
    levels = {
        each["subject"]: each["text"]
        for each in findings(graveler, 1, **nothing)
        if each["level"] == "error"
    }
    assert levels["configuration file"].endswith(".lakectl.yaml does not exist")
    assert levels["endpoint"].startswith("no endpoint is configured")
    assert levels["key pair"].endswith("is missing")


def test_a_named_file_that_is_missing_is_an_error(graveler, tmp_path, server):
    found = one(graveler, 1, "--config", str(tmp_path / "none"))
    assert found["text"] == f"{tmp_path}/none does not exist"
    assert server.asked == []


@pytest.mark.parametrize("text", ["credentials: [", "- a", "a: \tb: c"])
def test_broken_yaml_is_an_error(tmp_path, text):
    file = tmp_path / "c.yaml"
    file.write_text(text)
    [found] = check_file(file, {})
    assert found.level == "error"
    assert found.text.startswith(f"cannot use the configuration {file}: ")


def test_a_file_that_others_can_read_is_a_warning(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("server: {endpoint_url: http://x}")
    file.chmod(0o644)
    _, found = check_file(file, {})
    assert (found.level, found.remedy) == ("warning", f"chmod 600 {file}")
    file.chmod(0o600)
    assert [each.level for each in check_file(file, {})] == ["ok"]


def test_a_setting_that_nothing_reads_is_a_warning(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("server: {endpoint: http://x}")
    file.chmod(0o600)
    _, found = check_file(file, {})
    assert found.text == "nothing reads the setting server.endpoint"
    assert found.remedy == "did you mean server.endpoint_url?"


def test_a_variable_that_overrides_the_file_is_a_warning():
    file = {"server.endpoint_url": "http://a", "credentials.secret_access_key": "hidden"}
    found = list(check_variables(file, {ENDPOINT: "http://b", SECRET: "x", "PATH": "/"}))
    assert [each.level for each in found] == ["warning", "warning"]
    assert "overrides server.endpoint_url of the configuration file (http://a)" in found[1].text
    assert "hidden" not in found[0].text
    assert [each.level for each in check_variables(file, {ENDPOINT: "http://a"})] == ["ok"]


def test_a_misspelt_or_empty_variable_is_a_warning():
    [found] = check_variables({}, {"LAKECTL_SERVER_ENDPOINT": "http://b"})
    assert found.remedy == f"did you mean {ENDPOINT}?"
    [found] = check_variables({}, {ENDPOINT: ""})
    assert found.remedy == f"unset {ENDPOINT}"
    [found] = check_variables({}, {"LAKECTL_QQQ": "1"})
    assert found.remedy.startswith("remove it")


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({KEY: "AKIA"}, "access_key_id value looks suspicious: AKIA"),
        ({SECRET: "short"}, "secret_access_key value looks suspicious"),
        ({SECRET: "!" * 40}, "secret_access_key value looks suspicious"),
    ],
)
def test_what_looks_suspicious_is_a_warning(graveler, server, environment, text):
    will_be_well(server)
    warning, *skipped = findings(graveler, 0, **environment)
    assert (warning["level"], warning["text"]) == ("warning", text)
    assert [each["level"] for each in skipped] == ["skipped"]


@pytest.mark.parametrize("name", [KEY, SECRET])
def test_quotes_around_a_key_are_an_error(graveler, server, name):
    found = findings(graveler, 1, **{name: f"'{GOOD_KEYS[name]}'"})
    assert found[0]["text"].endswith("has spaces or quotes around it")
    assert server.asked == []


# The endpoint


def test_an_endpoint_without_a_scheme_is_a_warning(graveler, server):
    will_be_well(server)
    found = findings(graveler, 0, **{ENDPOINT: f"127.0.0.1:{server.port}"})
    assert f"has no scheme: {server.endpoint}/api/v1 is used" in found[0]["text"]


@pytest.mark.parametrize("endpoint", ["ftp://x", "http://"])
def test_an_endpoint_that_is_no_url_is_an_error(graveler, endpoint):
    assert "is not a URL" in one(graveler, 1, **{ENDPOINT: endpoint})["text"]


def test_a_web_page_is_not_the_api(graveler, server):
    server.will_say(200, "<html>")
    found = one(graveler, 1)
    assert found["text"] == f"{server.endpoint}/api/v1 is a web page and not the API"


def test_a_wrong_path_is_told_with_the_right_one(graveler, server):
    server.will_say(404, "not found", "text/plain")
    server.will_answer({"message": "error authenticating request"}, status=401)
    _, found = findings(graveler, 1, **{ENDPOINT: f"{server.endpoint}/lake"})
    assert found["text"].endswith("/lake is not the API: it answers 404 Not Found")
    assert found["remedy"] == f"write {server.endpoint}"


@pytest.mark.parametrize(
    ("status", "text"), [(500, "the server is in trouble"), (429, "in trouble"), (403, "forbids")]
)
def test_a_refusal_is_explained(graveler, server, status, text):
    server.will_answer({"message": "x"}, status=status)
    assert text in one(graveler, 1)["text"]
    assert len(server.asked) == 1


def test_tls_to_a_server_without_tls_is_told(graveler, server):
    server.will_say(200, "")
    endpoint = server.endpoint.replace("http", "https")
    found = one(graveler, 1, **{ENDPOINT: endpoint})
    assert "does not speak TLS" in found["text"]
    assert found["remedy"] == f"if the server has no TLS, write {server.endpoint}"


def test_a_refused_connection_is_told(graveler):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    found = one(graveler, 1, **{ENDPOINT: f"http://127.0.0.1:{port}"})
    assert found["text"] == f"nothing listens at 127.0.0.1:{port}: connection refused"


def test_a_proxy_that_does_not_work_is_told(graveler):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    proxy = {
        "http_proxy": f"http://ann:secret@127.0.0.1:{port}",
        "no_proxy": None,
        "NO_PROXY": None,
    }
    found = one(graveler, 1, **{ENDPOINT: "http://lake.invalid"}, **proxy)
    assert found["text"].startswith(f"the proxy 127.0.0.1:{port} does not work: ")
    assert "NO_PROXY" in found["remedy"]


def test_an_unknown_name_is_told(graveler):
    found = one(graveler, 1, **{ENDPOINT: "http://graveler.invalid"})
    assert found["text"] == "the name graveler.invalid is not known"


def test_a_server_that_never_answers_is_told(graveler, monkeypatch):
    monkeypatch.setattr(graveler_cli.transport, "ANSWER_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        found = one(graveler, 1, **{ENDPOINT: endpoint})
    assert "accepts connections, but does not answer" in found["text"]


def test_something_else_than_a_web_server_is_told(graveler, monkeypatch):
    monkeypatch.setattr(graveler_cli.transport, "ANSWER_S", 2)
    import threading  # noqa: PLC0415

    with socket.create_server(("127.0.0.1", 0)) as other:

        def greet() -> None:
            with other.accept()[0] as connected:
                connected.recv(1)
                connected.sendall(b"SSH-2.0-x\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        endpoint = f"http://127.0.0.1:{other.getsockname()[1]}"
        found = one(graveler, 1, **{ENDPOINT: endpoint})
        thread.join()
    assert "does not answer as a web server" in found["text"]


@pytest.mark.parametrize(
    ("ahead_s", "level"), [(0, "ok"), (-300, "warning"), (300, "warning"), (3600, "error")]
)
def test_a_wrong_clock_is_told(ahead_s, level):
    theirs = format_datetime(datetime.now(UTC) - timedelta(seconds=ahead_s), usegmt=True)
    [found] = connection._clock(WholeAnswer(200, "", HTTPHeaderDict({"Date": theirs}), b""))
    assert found.level == level
    [found] = connection._clock(WholeAnswer(200, "", HTTPHeaderDict(), b""))
    assert found.level == "skipped"


# The object store


def will_have_an_object(server, address):
    will_be_well(server, SIGNED_CONFIG)
    found = {"path": "a", "path_type": "object", "physical_address": address}
    server.will_answer(
        {"pagination": LAST, "results": [REPOSITORY]}, {"pagination": LAST, "results": [found]}
    )


def test_a_presigned_url_is_tried(graveler, server):
    will_have_an_object(server, f"{server.endpoint}/bucket/key?X-Amz-Signature=1")
    server.will_say(206, "x")
    shown = graveler.prints("doctor", **GOOD_KEYS)
    assert f"object store: presigned URLs of 127.0.0.1:{server.port} work" in shown
    assert server.asked[-1].path == "/bucket/key?X-Amz-Signature=1"
    assert server.asked[-1].authorization == ""
    assert "Signature" not in shown


def test_an_object_whose_data_were_collected_shows_that_presigned_urls_work(graveler, server):
    will_have_an_object(server, f"{server.endpoint}/bucket/key?X-Amz-Signature=1")
    server.will_say(404, "<Error><Code>NoSuchKey</Code></Error>")
    shown = graveler.prints("doctor", **GOOD_KEYS)
    assert f"object store: presigned URLs of 127.0.0.1:{server.port} work" in shown


def test_an_object_store_that_refuses_is_told(graveler, server):
    will_have_an_object(server, f"{server.endpoint}/key")
    server.will_say(403, "<Error><Code>RequestTimeTooSkewed</Code></Error>")
    found = one(graveler, 1)
    assert found["text"].endswith("refuses a presigned URL: 403 RequestTimeTooSkewed")
    assert found["remedy"] == "set this machine's clock"


def test_an_object_store_out_of_reach_is_told(graveler, server):
    will_have_an_object(server, "http://graveler.invalid/key")
    found = one(graveler, 1)
    assert found["text"].startswith("cannot reach graveler.invalid: ")
    assert "--pre-sign=false" in found["remedy"]


def test_without_an_object_the_store_is_not_tried(graveler, server):
    will_be_well(server, SIGNED_CONFIG)
    server.will_answer({"pagination": LAST, "results": []})
    found = one(graveler, 0)
    assert (found["level"], found["subject"]) == ("skipped", "object store")


def test_without_the_right_to_list_the_store_is_not_tried(graveler, server):
    will_be_well(server, SIGNED_CONFIG)
    server.will_answer({"message": "insufficient permissions"}, status=403)
    assert one(graveler, 0)["level"] == "skipped"
