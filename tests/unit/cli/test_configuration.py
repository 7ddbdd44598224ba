"""The configuration is lakectl's: the same file and variables mean the same."""

from pathlib import Path

import pytest

from graveler_cli.configuration import Configuration, RequestRetries
from graveler_cli.errors import CommandError


@pytest.fixture
def read(tmp_path):
    """Reads a configuration of a file and variables."""

    def configuration(text="", **variables):
        file = tmp_path / "lakectl.yaml"
        file.write_text(text)
        return Configuration.read(file, variables)

    return configuration


def endpoint(read, url):
    return read(LAKECTL_SERVER_ENDPOINT_URL=url).endpoint


# Files and variables


@pytest.mark.parametrize(
    "text",
    [
        "credentials:\n  access_key_id: AKIA\n  secret_access_key: s\n",
        "credentials: {access_key_id: AKIA, secret_access_key: s}\n",
        "credentials.access_key_id: AKIA\ncredentials.secret_access_key: s\n",
        "Credentials:\n  Access_Key_ID: AKIA\n  SECRET_ACCESS_KEY: s\n",  # viper's keys have no case
        "---\ncredentials:\n  access_key_id: 'AKIA'\n  secret_access_key: \"s\"\nmore: [1, 2]\n",
    ],
)
def test_each_form_of_yaml_gives_the_key_pair(read, text):
    assert read(text).key_pair == ("AKIA", "s")


def test_a_number_is_a_text_where_a_text_is_wanted(read):
    text = "credentials:\n  access_key_id: 123\n  secret_access_key: 0123\n"
    assert read(text).key_pair[0] == "123"


def test_variables_come_before_the_file(read):
    text = "credentials:\n  access_key_id: FILE\n  secret_access_key: s\n"
    found = read(text, LAKECTL_CREDENTIALS_ACCESS_KEY_ID="VARIABLE")
    assert found.key_pair == ("VARIABLE", "s")


def test_an_empty_variable_is_none(read):
    text = "credentials:\n  access_key_id: FILE\n  secret_access_key: s\n"
    assert read(text, LAKECTL_CREDENTIALS_ACCESS_KEY_ID="").key_pair == ("FILE", "s")


def test_an_empty_value_of_the_file_is_none(read):
    with pytest.raises(CommandError, match="no credentials are configured"):
        _ = read("credentials:\n  access_key_id:\n  secret_access_key: s\n").key_pair


def test_settings_that_only_lakectl_knows_are_left_alone(read):
    text = "local:\n  skip_non_regular_files: true\nmetastore:\n  type: hive\n"
    assert read(text).retries == RequestRetries()


def test_the_variable_names_the_file(tmp_path):
    file = tmp_path / "other.yaml"
    file.write_text("server:\n  endpoint_url: http://h\n")
    found = Configuration.read(None, {"LAKECTL_CONFIG_FILE": str(file)})
    assert (found.file, found.endpoint) == (file, "http://h/api/v1")


def test_an_empty_variable_names_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    found = Configuration.read(None, {"LAKECTL_CONFIG_FILE": ""})
    assert found.file == tmp_path / ".lakectl.yaml"


def test_an_empty_option_names_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Configuration.read(Path(), {}).file == tmp_path / ".lakectl.yaml"


def test_a_file_in_the_home_folder_need_not_be_there_but_a_named_one_must(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Configuration.read(None, {}).values == {}
    with pytest.raises(CommandError, match="does not exist"):
        Configuration.read(tmp_path / "none", {})


@pytest.mark.parametrize("text", ["[", "a: b: c", "\x00", "- a\n- b\n", "text"])
def test_a_file_that_is_no_configuration_is_named(read, tmp_path, text):
    with pytest.raises(CommandError, match=r"lakectl\.yaml"):
        read(text)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(CommandError, match="does not exist"):
        Configuration.read(tmp_path, {})


# The endpoint


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://h", "http://h/api/v1"),
        ("http://h/", "http://h/api/v1"),
        ("http://h:8000", "http://h:8000/api/v1"),
        ("http://h/api/v1", "http://h/api/v1"),
        ("http://h/api/v1/", "http://h/api/v1"),
        ("https://h/lakefs/api/v1", "https://h/lakefs/api/v1"),
        ("h", "http://h/api/v1"),
        ("h:8000", "http://h:8000/api/v1"),
        ("127.0.0.1:8000/api/v1", "http://127.0.0.1:8000/api/v1"),
        ("http://[::1]:8000", "http://[::1]:8000/api/v1"),
        (" http://h ", "http://h/api/v1"),
        ("HTTPS://h", "https://h/api/v1"),
    ],
)
def test_an_endpoint_is_completed(read, written, meant):
    assert endpoint(read, written) == meant


@pytest.mark.parametrize(
    "url", ["http://", "http://[", "ftp://h", ":", "http://h:port", "http:///a"]
)
def test_an_endpoint_that_is_no_url_is_refused(read, url):
    with pytest.raises(CommandError, match="is not a URL: write https://HOST"):
        endpoint(read, url)


def test_the_key_pair_belongs_into_the_credentials_not_into_the_endpoint(read):
    with pytest.raises(CommandError, match="credentials") as refused:
        endpoint(read, "https://AKIA:secret@h")
    assert "secret" not in str(refused.value).replace("secret_access_key", "").replace(
        "SECRET_ACCESS_KEY", ""
    )


# Other credentials


def test_a_login_with_an_aws_role_is_said_to_be_lakectls(read):
    with pytest.raises(CommandError, match=r"credentials\.provider\.type is 'aws_iam'"):
        _ = read("credentials:\n  provider:\n    type: aws_iam\n").key_pair


def test_a_key_pair_comes_before_a_login(read):
    text = "credentials: {provider: {type: aws_iam}, access_key_id: A, secret_access_key: s}\n"
    assert read(text).key_pair == ("A", "s")


# Retries


def test_retries_are_lakectls_unless_configured(read):
    assert read().retries == RequestRetries(4, 0.2, 30.0)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        *(("200ms", 0.2), ("1s", 1.0), ("1.5s", 1.5), ("1m30s", 90.0), ("2h", 7200.0)),
        *(("0", 0.0), ("0s", 0.0), (".5s", 0.5), ("100us", 0.0001), ("1000000ns", 0.001)),
    ],
)
def test_durations_are_written_as_in_go(read, written, seconds):
    text = f"server:\n  retries:\n    min_wait_interval: {written}\n"
    assert read(text).retries.wait_min_s == pytest.approx(seconds)


@pytest.mark.parametrize("written", ["1", "s", "1 s", "1.2.3s", "-1s", "1d", "soon"])
def test_what_is_no_duration_is_refused(read, written):
    with pytest.raises(CommandError, match=r"server\.retries\.max_wait_interval .*200ms"):
        _ = read(LAKECTL_SERVER_RETRIES_MAX_WAIT_INTERVAL=written).retries


@pytest.mark.parametrize("written", ["false", "False", "0", "no", "off", "f"])
def test_retries_can_be_switched_off(read, written):
    assert read(f"server:\n  retries:\n    enabled: {written}\n").retries.attempts_max == 0
    assert read(LAKECTL_SERVER_RETRIES_ENABLED=written).retries.attempts_max == 0


@pytest.mark.parametrize("written", ["true", "1", "yes"])
def test_retries_can_be_counted(read, written):
    found = read(
        LAKECTL_SERVER_RETRIES_ENABLED=written, LAKECTL_SERVER_RETRIES_MAX_ATTEMPTS="7"
    ).retries
    assert found.attempts_max == 7


@pytest.mark.parametrize("written", ["many", "-1", "1.5"])
def test_what_is_no_count_is_refused(read, written):
    with pytest.raises(CommandError, match="write a number"):
        _ = read(LAKECTL_SERVER_RETRIES_MAX_ATTEMPTS=written).retries


def test_a_flag_that_is_neither_true_nor_false_is_an_error():
    configuration = Configuration.read(None, {"LAKECTL_SERVER_RETRIES_ENABLED": "flase"})
    with pytest.raises(CommandError, match="write true or false"):
        _ = configuration.retries
