"""What holds for every command of the program: a new one is looked at without being named here."""

import json
import re
import shlex

import pytest
from click import Context

from graveler_cli.grammar import Flag
from graveler_cli.main import app

MANY = -1
REFUSAL = {"message": "repository not found"}

# What these need besides values of the usual form.
EXTRA = {
    "auth users list": "--amount x",
    "branch delete": "--yes",
    "branch reset": "--yes",
    "branch revert": "--yes",
    "completion": "--nothing",
    "config": "--nothing",
    "events tail": "--once --since 2020-01-01T00:00:00Z",
    "export set": "--continuous",
    "fs update-metadata": "--metadata a=b",
    "gateway": "--port x",
    "import": "--no-progress",
    "plugin list": "more",
    "pr create": "--title t",
    "pr update": "--title t",
    "repo delete": "--yes",
    "serve": "--port x",
    "tag delete": "--yes",
}
VALUES = {
    "size": "1",
    "shell": "bash",
    "statement_document": "-",
    "filename": "-",
    "destination": "lakefs://nope-repo/main/b",
}


# What fails is in the findings of doctor, and in the output of the program that gc run starts; a
# bisection that is not there needs no reset.
NO_ERROR = {"bisect reset", "doctor", "gc run"}


def leaves(command, path=()):
    """Yield each command that does something, and the words that name it."""
    if not hasattr(command, "list_commands"):
        yield " ".join(path), command
        return
    for name in command.list_commands(Context(command)):
        yield from leaves(command.get_command(Context(command), name), (*path, name))


COMMANDS = dict(leaves(app))


def value_of(parameter):
    """Return a value of the right form, which names nothing that exists."""
    metavar = parameter.metavar or ""
    uri = "lakefs://nope-repo"
    if parameter.name in VALUES:
        return VALUES[parameter.name]
    if "REPOSITORY" in metavar:
        return uri
    if any(word in metavar for word in ("BRANCH", "REF", "TAG", "BAD", "GOOD")):
        return f"{uri}/main"
    if parameter.name in {"source", "to", "source_uri", "destination_uri"} or "PATH" in metavar:
        return f"{uri}/main/a"
    return "nope"


def wrong_line(name):
    """Return the words of a command line that asks for what does not exist."""
    words = name.split()
    for parameter in COMMANDS[name].params:
        is_option = parameter.opts[0].startswith("-")
        if is_option and parameter.required:
            words += [max(parameter.opts, key=len), value_of(parameter)]
        elif not is_option:
            words.append(value_of(parameter))
    return [*words, *shlex.split(EXTRA.get(name, ""))]


@pytest.fixture
def refusing(graveler, server, tmp_path, monkeypatch):
    """The program, in an empty folder, and a server that refuses all."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    server.will_answer(REFUSAL, status=404)
    return graveler


def test_there_are_as_many_commands_as_lakectl_has():
    assert len(COMMANDS) > 100


@pytest.mark.parametrize("name", COMMANDS)
def test_with_json_a_failure_is_one_object_on_standard_error(refusing, name):
    words = wrong_line(name)
    with_json = refusing.run(*words, "--json", stdin="{}")
    assert refusing.run(*words, stdin="{}").exit_code == with_json.exit_code
    for line in with_json.stdout.splitlines():
        assert json.loads(line) is not None
    if name in NO_ERROR:
        return
    assert with_json.exit_code == 1
    (line,) = with_json.stderr.splitlines()
    assert set(json.loads(line)) == {"error", "status", "request_id"}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_takes_the_options_of_the_program_and_shows_its_help(refusing, name):
    words = name.split()
    options = "--base-uri lakefs://foo/ --no-color --verbose --log-level trace --log-format json"
    shown = refusing.run(*words, *shlex.split(options), "--json=true", "--log-output=-", "-h")
    assert shown.exit_code == 0
    assert words[-1] in shown.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_may_be_followed_by_a_boolean(refusing, name):
    flags = [
        flag
        for parameter in COMMANDS[name].params
        if isinstance(parameter, Flag)
        for flag in parameter.opts
    ]
    spelled = [f"{flag}={value}" for flag in flags for value in ("false", "true", "1")]
    assert refusing.run(*name.split(), *spelled, "--help").exit_code == 0
    for flag in flags:
        assert f"{flag} is 'x'" in refusing.fails(*name.split(), f"{flag}=x")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_shows_only_what_a_user_can_write(refusing, name):
    """No flag is negated twice, not even as a default."""
    words = name.split()
    shown = refusing.prints(*words, "--help", COLUMNS="300", TERM="dumb")
    assert "--no-no-" not in shown
    assert "[default: no-" not in shown
    assert not re.search(r"\[\[|\.\.\.}|{[a-z]", shown.splitlines()[1])  # the line of the usage
    for flag in re.findall(r"--no-[a-z-]+", shown):
        told = refusing.fails(*words, f"--no-{flag.removeprefix('--')}")
        assert told.startswith("no such option '--no-no-")
        assert told.count("--no-no-") == 1


def test_a_negative_flag_that_is_false_takes_itself_back(refusing):
    query = ("log", "lakefs://lake/main", "--graph")
    assert "leave out" in refusing.fails(*query, "--no-merges")
    assert "leave out" in refusing.fails(*query, "--no-merges=false", "--no-merges=true")
    for spelled in (["--no-merges=false"], ["--no-merges", "--no-merges=false"]):
        assert "leave out" not in refusing.fails(*query, *spelled)


@pytest.mark.parametrize("off", ["--no-verify", "--verify=false", "--no-verify=true"])
def test_a_flag_that_is_on_is_turned_off_in_any_spelling(graveler, server, tmp_path, off):
    found = {
        "path": "a",
        "path_type": "object",
        "physical_address": "s3://b/a",
        "checksum": "d41d8cd98f00b204e9800998ecf8427e",
        "mtime": 0,
        "size_bytes": 1,
    }
    for spelled in ([off], ["--verify", off], ["--no-verify=false", off]):
        server.answers.clear()
        server.will_answer(found)
        server.will_say(200, "x", "application/octet-stream")
        target = tmp_path / "x"
        graveler.prints("fs", "download", "lakefs://a/b/c", str(target), "--no-pre-sign", *spelled)
        assert target.read_text() == '"x"' or target.read_text() == "x"
        target.unlink()


def test_a_flag_that_is_false_is_not_set(graveler, server):
    graveler.run("repo", "delete", "lakefs://foo", "--yes=false", stdin="n\n")
    assert server.asked == []
    server.will_answer("", status=204)
    for spelled in (["--yes=true"], ["-y=1"], ["--yes"], ["--no-yes", "-y"], ["--yes=0", "--yes"]):
        assert graveler.run("repo", "delete", "lakefs://foo", *spelled).exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        *("--verbose", "-d", "--json=false", "--no-color=true", "--no-color=0", "--log-level x"),
        *("--log-format json", "--log-output -", "--log-output a --log-output b", "--debug=false"),
    ],
)
def test_the_options_of_lakectl_stand_before_the_command_too(graveler, server, options):
    server.will_answer({"pagination": {"has_more": False}, "results": []})
    assert graveler.prints(*shlex.split(options), "repo", "list") == "\n"


def test_json_may_stand_before_the_command(graveler, server):
    server.will_answer({"user": {"id": "ada"}})
    assert json.loads(graveler.prints("--json", "identity"))["id"] == "ada"
    assert json.loads(graveler.run("--json", "repo", "list", "x").stderr)["status"] is None


COMMITTED = {
    "id": "c" * 64,
    "parents": [],
    "committer": "ada",
    "message": "x",
    "creation_date": 0,
    "meta_range_id": "",
    "metadata": {},
}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m=hello"], "hello"),
        (["-m==x"], "=x"),
        (["-mhello"], "hello"),
        (["-m", "=x"], "=x"),
        (["-m", "-m=x"], "-m=x"),
        (["--message", "--json=true"], "--json=true"),
        (["-m", "--allow-empty-message=no"], "--allow-empty-message=no"),
    ],
)
def test_the_value_of_an_option_is_taken_as_lakectl_takes_it(graveler, server, words, message):
    server.will_answer(COMMITTED, status=201)
    graveler.prints("commit", "lakefs://lake/main", *words)
    assert server.asked[0].body["message"] == message


def test_a_word_that_begins_with_an_equals_sign_is_no_flag(graveler):
    assert "'=true' does not name" in graveler.fails("branch", "show", "=true")


def test_an_equals_sign_may_follow_the_short_name_of_an_option(graveler, server, tmp_path):
    file = tmp_path / "lakectl.yaml"
    file.write_text(f"server:\n  endpoint_url: {server.endpoint}\n")
    server.will_answer({"user": {"id": "ada"}})
    for words in ([f"-c={file}", "identity"], ["identity", f"-dc={file}"]):
        assert "ada" in graveler.prints(*words, LAKECTL_SERVER_ENDPOINT_URL=None)


@pytest.mark.parametrize("options", ["--no-color", "--no-color=true", "--base-uri lakefs://", "-d"])
def test_the_options_of_the_program_stand_between_a_group_and_its_command_too(
    graveler, server, options
):
    server.will_answer({"pagination": {"has_more": False}, "results": []})
    repository = "lake" if "base" in options else "lakefs://lake"
    graveler.prints("branch", *shlex.split(options), "list", repository)
    assert server.asked[0].path.startswith("/api/v1/repositories/lake/branches")


def test_json_may_stand_between_a_group_and_its_command(graveler, server):
    server.will_answer({"pagination": {"has_more": False}, "results": [{"id": "a"}]})
    assert "error" not in graveler.prints("auth", "users", "--json", "list")


def test_text_that_is_not_utf8_is_no_bug_of_the_program(graveler, server):
    result = graveler.run("commit", "lakefs://lake/main", "-m", "caf\udce9")
    assert (result.exit_code, server.asked) == (1, [])
    assert result.stderr == "error: 'caf\\udce9' is not UTF-8: write it in UTF-8\n"


def test_a_misspelt_word_gets_a_suggestion(graveler):
    for words, meant in ((["merg"], "merge"), (["branch", "ls"], "list")):
        assert f"Did you mean '{meant}'? See graveler" in graveler.fails(*words)
    assert "'--amout'. Did you mean '--amount', '--dot'? See" in graveler.fails("log", "--amout")
    assert "Did you mean '--recursive'," in graveler.fails("fs", "ls", "x", "--recusive")


def test_a_group_lists_its_commands_in_full_and_in_the_order_of_their_work(graveler):
    shown = graveler.prints("bisect", "--help")
    names = [shown.index(f"\n  {name} ") for name in ("start", "good", "bad", "run", "log", "view")]
    assert names == sorted(names)
    for name, command in COMMANDS.items():
        group, _, last = name.rpartition(" ")
        if group and not command.hidden:
            listed = " ".join(graveler.prints(*group.split(), "--help").split())
            assert f"{last} {' '.join(command.help.partition(chr(10) * 2)[0].split())}" in listed


@pytest.mark.parametrize(
    "words", ["help fs ls", "fs help ls", "--no-color help fs ls", "fs ls --help"]
)
def test_help_stands_before_a_command_or_behind_it(graveler, words):
    assert "Usage: graveler fs ls [OPTIONS] PATH_URI" in graveler.prints(*words.split())


def test_help_names_the_variables_that_stand_for_options(graveler):
    assert "[env var: LAKECTL_BASE_URI]" in graveler.prints("--help")
    assert "env var: GRAVELER_PORT" in graveler.prints("serve", "--help")
