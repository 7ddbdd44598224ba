"""`graveler config`, `identity` and `usage`."""

import json
import stat

import pytest
import yaml

USER = {"user": {"id": "ada", "creation_date": 1_722_608_013, "email": "ada@example.com"}}
ANSWERS = "AKIANEW\nnew-secret\nhttps://lake.example.com\n"
WRITTEN = {
    "credentials": {"access_key_id": "AKIANEW", "secret_access_key": "new-secret"},
    "server": {"endpoint_url": "https://lake.example.com"},
}
NONE = {
    "LAKECTL_SERVER_ENDPOINT_URL": None,
    "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": None,
    "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": None,
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


# config


def test_config_writes_a_file_for_its_owner_alone(graveler, home):
    result = graveler.run("config", stdin=ANSWERS, **NONE)
    file = home / ".lakectl.yaml"
    assert result.exit_code == 0
    assert result.stdout == f"Config file {file} will be used\n"
    assert yaml.safe_load(file.read_text()) == WRITTEN
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in home.iterdir()] == [".lakectl.yaml"]


@pytest.mark.parametrize("how", ["before", "behind", "variable"])
def test_config_writes_the_file_that_is_named(graveler, tmp_path, how):
    file = tmp_path / "mine.yaml"
    words = {
        "before": ("-c", str(file), "config"),
        "behind": ("config", "--config", str(file)),
        "variable": ("config",),
    }[how]
    given = {**NONE, "LAKECTL_CONFIG_FILE": str(file) if how == "variable" else None}
    assert graveler.run(*words, stdin=ANSWERS, **given).exit_code == 0
    assert yaml.safe_load(file.read_text()) == WRITTEN


def test_config_keeps_other_settings_and_what_is_not_answered(graveler, home):
    file = home / ".lakectl.yaml"
    file.write_text(
        "local:\n  skip_non_regular_files: true\n"
        "credentials: {access_key_id: AKIAOLD, secret_access_key: old-secret}\n"
        "server: {endpoint_url: http://old, retries: {enabled: false}}\n"
    )
    file.chmod(0o644)
    result = graveler.run("config", stdin="\n\nhttp://new\n", **NONE)
    assert result.exit_code == 0
    assert yaml.safe_load(file.read_text()) == {
        "local": {"skip_non_regular_files": True},
        "credentials": {"access_key_id": "AKIAOLD", "secret_access_key": "old-secret"},
        "server": {"endpoint_url": "http://new", "retries": {"enabled": False}},
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "[AKIAOLD]" in result.stderr
    assert "old-secret" not in result.output


def test_config_writes_through_a_link(graveler, home):
    (home / "dotfiles").mkdir()
    (home / ".lakectl.yaml").symlink_to(home / "dotfiles" / "lakectl.yaml")
    assert graveler.run("config", stdin=ANSWERS, **NONE).exit_code == 0
    assert (home / ".lakectl.yaml").is_symlink()
    assert yaml.safe_load((home / "dotfiles" / "lakectl.yaml").read_text()) == WRITTEN


def test_config_asks_again_for_an_endpoint_that_is_none(graveler, home):
    answers = "AKIANEW\nnew-secret\nftp://lake\nhttps://lake.example.com\n"
    result = graveler.run("config", stdin=answers, **NONE)
    assert result.exit_code == 0
    assert "'ftp://lake' is not a URL" in result.stderr
    assert yaml.safe_load((home / ".lakectl.yaml").read_text()) == WRITTEN


def test_config_without_answers_changes_nothing(graveler, home):
    result = graveler.run("config", stdin="AKIANEW\n", **NONE)
    assert result.exit_code == 1
    assert "the configuration stays as it was" in result.stderr
    assert not list(home.iterdir())


def test_config_says_why_it_cannot_write(graveler, tmp_path):
    words = ("config", "-c", str(tmp_path / "none" / "lakectl.yaml"))
    result = graveler.run(*words, stdin=ANSWERS, **NONE)
    assert result.exit_code == 1
    assert "no such file or directory" in result.stderr


def test_config_takes_no_argument(graveler):
    assert "extra" in graveler.fails("config", "extra")


# identity


def test_identity_shows_the_user(graveler, server, time_zone):
    time_zone("America/New_York")
    server.will_answer(USER)
    assert graveler.prints("identity") == (
        "User ID:          ada\n"
        "Email:            ada@example.com\n"
        "Creation Date:    2024-08-02 10:13:33 -0400 EDT\n"
    )
    assert json.loads(graveler.prints("identity", "--json"))["id"] == "ada"
    assert server.asked[0].path == "/api/v1/user"


def test_identity_with_wrong_credentials_fails(graveler, server):
    server.will_answer({"message": "error authenticating request"}, status=401)
    assert "LAKECTL_CREDENTIALS_ACCESS_KEY_ID" in graveler.fails("identity")


def test_identity_takes_no_argument(graveler):
    assert "extra" in graveler.fails("identity", "extra")


# usage

SUMMARY = {"installation_id": "i-1", "reports": [{"year": 2024, "month": 8, "count": 7}]}


def test_usage_shows_a_line_for_each_month(graveler, server):
    server.will_answer(SUMMARY)
    assert graveler.prints("usage", "summary") == (
        "Usage report for installation ID: i-1\n\n2024\t8\t7\n\n"
    )
    assert json.loads(graveler.prints("usage", "summary", "--json")) == SUMMARY


def test_usage_that_is_not_counted_says_so(graveler, server):
    server.will_answer({"message": "usage report is disabled"}, status=404)
    assert graveler.fails("usage", "summary") == "usage report is disabled"


def test_usage_takes_no_argument(graveler):
    assert "extra" in graveler.fails("usage", "summary", "extra")
