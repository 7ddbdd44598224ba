"""`graveler fs`: listing, reading, deleting, copying, synchronizing."""

import json
from hashlib import md5

import pytest

from tests.support.clients.answers import commit, page

BRANCH = "lakefs://my-repo/main"


def lines_of_json(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    "args",
    [
        ("ls", "my-repo/main/"),
        ("ls", BRANCH),
        ("cat", f"{BRANCH}/"),
        ("cat", f"{BRANCH}/a", "--range", "x"),
        ("cat", f"{BRANCH}/a", "--range", "5-2"),
        ("cat", f"{BRANCH}/none"),
        ("stat", f"{BRANCH}/none"),
        ("presign", "nothing"),
        ("presign", f"{BRANCH}/none"),
        ("rm", BRANCH),
        ("rm", "-r", BRANCH),
        ("rm", "-r", f"{BRANCH}/", "-C", "0"),
        ("upload", f"{BRANCH}/a"),
        ("upload", "-s", "none", f"{BRANCH}/a"),
        ("upload", "-s", ".", f"{BRANCH}/a"),
        ("upload", "-s", "f", "main/a"),
        ("upload", "-s", "f", f"{BRANCH}/a", "-p", "0"),
        ("upload", "-s", "f", f"{BRANCH}/a", "--metadata", "novalue"),
        ("download", f"{BRANCH}/none"),
        ("download", "-r", f"{BRANCH}/none"),
        ("download", f"{BRANCH}/a", "--part-size", "1"),
        ("download", "nothing"),
        ("stage", f"{BRANCH}/a"),
        ("stage", f"{BRANCH}/a", "--location", "s3://x/y", "--size", "n", "--checksum", "c"),
        ("update-metadata", "nothing"),
        ("update-metadata", f"{BRANCH}/a", "--metadata", "k"),
        ("cp", f"{BRANCH}/a"),
        ("cp", "local", f"{BRANCH}/a"),
        ("cp", f"{BRANCH}/a", f"{BRANCH}/a"),
        ("cp", "-r", f"{BRANCH}/d", f"{BRANCH}/d/inside"),
        ("cp", "-r", f"{BRANCH}/none", f"{BRANCH}/e"),
        ("mv", "lakefs://other/main/a", f"{BRANCH}/a"),
        ("mv", "-r", f"{BRANCH}/none/", f"{BRANCH}/e/"),
        ("sync", ".", "elsewhere"),
        ("sync", f"{BRANCH}/a", f"{BRANCH}/b"),
        ("sync", "none", f"{BRANCH}/b"),
        ("sync", f"{BRANCH}/b", "f"),
    ],
)
def test_wrong_input_is_one_line_and_code_1(user, lake, tmp_path, args):
    (tmp_path / "f").write_bytes(b"1")
    lake.has("a", b"1")
    assert user.fails("fs", *args)
    assert set(lake.objects) == {"a"}


def test_bytes_are_no_json(user, lake):
    lake.has("a", b"1")
    ended = user.run("fs", "cat", f"{BRANCH}/a", "--json")
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert json.loads(ended.stderr)["error"] == "cat prints bytes: leave --json out"


def test_a_listing_shows_whole_names_when_it_is_recursive(user, lake):
    lake.has("d/a", b"12")
    lake.has("d/e/b", b"")
    shown = user.prints("fs", "ls", "-r", f"{BRANCH}/d/")
    assert [line.split()[-1] for line in shown.splitlines()] == ["d/a", "d/e/b"]
    assert "    2 B             d/a" in shown


def test_a_narrow_terminal_lists_sizes_and_names(user, lake):
    lake.has("d/a", b"12")
    lake.has("d/e/b", b"")
    terminal = {"LAKECTL_INTERACTIVE": "true", "NO_COLOR": "1"}
    shown = user.prints("fs", "ls", "-r", f"{BRANCH}/d/", COLUMNS="60", **terminal)
    assert shown == "2 B       d/a\n0 B       d/e/b\n"
    shown = user.prints("fs", "ls", "-r", f"{BRANCH}/d/", COLUMNS="80", **terminal)
    assert shown.startswith("2023-11-1")
    assert [line.split()[4:] for line in shown.splitlines()] == [
        ["2", "B", "d/a"],
        ["0", "B", "d/e/b"],
    ]
    shown = user.prints("fs", "ls", "-r", f"{BRANCH}/d/", COLUMNS="100", **terminal)
    assert "    2 B             d/a" in shown


def test_a_listing_as_json_has_the_fields_of_the_api(user, lake):
    lake.has("d/a", b"12")
    (found,) = lines_of_json(user.prints("fs", "ls", "-r", f"{BRANCH}/", "--json"))
    assert (found["path"], found["size_bytes"]) == ("d/a", 2)


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("", "0123456789"),
        ("2-4", "234"),
        ("0-0", "0"),
        ("7-", "789"),
        ("-2", "89"),
        ("8-99", "89"),
    ],
)
@pytest.mark.parametrize("flag", ["--pre-sign", "--pre-sign=false"])
def test_content_is_printed_whole_or_in_part(user, lake, given, printed, flag):
    lake.has("a", b"0123456789")
    lake.fails("GET", "objects?" if "false" in flag else "/store", "cut")
    more = ("--range", given) if given else ()
    assert user.prints("fs", "cat", flag, f"{BRANCH}/a", *more) == printed


def test_a_range_behind_the_end_is_an_error(user, lake):
    lake.has("a", b"0123")
    assert "has 4 bytes" in user.fails("fs", "cat", f"{BRANCH}/a", "--range", "4-")


def test_a_presigned_url_is_printed_unless_the_server_has_none(user, lake):
    lake.has("a", b"1")
    assert user.prints("fs", "presign", f"{BRANCH}/a").startswith(f"{lake.endpoint}/store/")
    lake.pre_sign = False
    assert "no presigned URLs" in user.fails("fs", "presign", f"{BRANCH}/a")


def test_standard_input_is_uploaded(user, lake):
    result = user.run("fs", "upload", "-s", "-", f"{BRANCH}/a", stdin="piped")
    assert result.exit_code == 0
    assert lake.objects["a"].content == b"piped"


def test_long_standard_input_is_uploaded(user, lake, monkeypatch):
    monkeypatch.setattr("graveler_cli.commands.fs.transferring._INPUT_BYTES_MAX", 10)
    result = user.run("fs", "upload", "-s", "-", f"{BRANCH}/a", stdin="piped" * 100)
    assert result.exit_code == 0
    assert lake.objects["a"].content == b"piped" * 100


def test_standard_input_has_the_content_type_of_the_objects_name(user, lake, monkeypatch):
    monkeypatch.setattr("graveler_cli.commands.fs.transferring._INPUT_BYTES_MAX", 10)
    for stdin in ("short", "piped" * 100):
        user.run("fs", "upload", "-s", "-", f"{BRANCH}/d/a.csv", stdin=stdin)
        assert lake.objects["d/a.csv"].content_type == "text/csv"


def test_an_upload_as_json_is_the_object(user, lake, tmp_path):
    (tmp_path / "f").write_bytes(b"1")
    (found,) = lines_of_json(user.prints("fs", "upload", "-s", "f", f"{BRANCH}/a", "--json"))
    assert found["checksum"] == md5(b"1").hexdigest()


def test_all_below_a_path_is_deleted(user, lake):
    for number in range(2500):
        lake.has(f"d/{number}", b"")
    lake.has("e", b"")
    assert user.prints("fs", "rm", "-r", f"{BRANCH}/d/") == ""
    assert [*lake.objects] == ["e"]
    assert lake.amount("POST", "objects/delete") == 3
    assert user.prints("fs", "rm", f"{BRANCH}/e") == ""
    assert lake.objects == {}


def test_a_refused_deletion_is_a_failure(user, lake):
    lake.has("d/a", b"")
    lake.fails("POST", "objects/delete", 403)
    result = user.run("fs", "rm", "-r", f"{BRANCH}/d/")
    assert result.exit_code == 1
    assert "fault 403" in result.stderr


def test_a_copy_is_made_by_the_server(user, lake):
    lake.has("a", b"1")
    assert user.prints("fs", "cp", f"{BRANCH}/a", f"{BRANCH}/d/") == (
        f"copy: {BRANCH}/a to {BRANCH}/d/a\n"
    )
    assert lake.objects["d/a"].content == b"1"
    assert "a" in lake.objects


def test_a_server_that_cannot_share_data_copies_them(user, lake):
    lake.has("a", b"1")
    lake.fails("POST", "objects/copy", 501)
    user.prints("fs", "cp", f"{BRANCH}/a", f"{BRANCH}/b")
    assert lake.objects["b"].content == b"1"


def test_a_folder_is_moved(user, lake):
    lake.has("d/a", b"1")
    lake.has("d/e/b", b"2")
    shown = user.prints("fs", "mv", "-r", f"{BRANCH}/d", f"{BRANCH}/x/", "--json")
    assert sorted(each["path"] for each in lines_of_json(shown)) == ["x/a", "x/e/b"]
    assert sorted(lake.objects) == ["x/a", "x/e/b"]


def test_what_could_not_be_copied_is_not_deleted(user, lake):
    for name in "abc":
        lake.has(f"d/{name}", b"1")
    lake.fails("POST", "dest_path=x/b", 403, times=2)
    result = user.run("fs", "mv", "-r", f"{BRANCH}/d", f"{BRANCH}/x")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0] == "error: move d/b: fault 403"
    assert sorted(lake.objects) == ["d/b", "x/a", "x/c"]


def test_a_path_becomes_like_a_folder(user, lake, tmp_path):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    for name in ("same", "sub/new", "changed", "left.tmp"):
        (tmp_path / "in" / name).write_bytes(name.encode())
    lake.has("d/same", b"same")
    lake.has("d/changed", b"CHANGED")
    lake.has("d/old", b"old")
    lake.has("d/kept.tmp", b"")
    lake.has("d2", b"")
    command = ("fs", "sync", "in", f"{BRANCH}/d", "--delete", "--exclude", "*.tmp")
    dry = user.prints(*command, "--dry-run")
    assert sorted(dry.splitlines()) == [
        "(dry run) delete: old",
        "(dry run) upload: changed",
        "(dry run) upload: sub/new",
    ]
    assert "d/old" in lake.objects
    shown = user.prints(*command)
    assert sorted(shown.splitlines()) == ["delete: old", "upload: changed", "upload: sub/new"]
    assert sorted(lake.objects) == ["d/changed", "d/kept.tmp", "d/same", "d/sub/new", "d2"]
    assert user.prints(*command) == ""


def test_a_folder_becomes_like_a_path(user, lake, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_bytes(b"")
    (tmp_path / "out" / "same").write_bytes(b"same")
    lake.has("d/same", b"same")
    lake.has("d/sub/new", b"new")
    command = ("fs", "sync", f"{BRANCH}/d/", "out", "--delete", "--json")
    shown = lines_of_json(user.prints(*command))
    assert sorted((each["action"], each["path"]) for each in shown) == [
        ("delete", "old"),
        ("download", "sub/new"),
    ]
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["same", "sub"]
    assert user.prints(*command) == ""


def test_included_names_come_back(user, lake, tmp_path):
    lake.has("d/a.csv", b"")
    lake.has("d/b.txt", b"")
    user.prints("fs", "sync", f"{BRANCH}/d", "out", "--exclude", "*", "--include", "*.csv")
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["a.csv"]


def test_data_of_the_repository_cannot_be_staged(graveler, server):
    repository = {
        "id": "my-repo",
        "creation_date": 0,
        "default_branch": "main",
        "storage_namespace": "s3://bucket/ns",
    }
    server.will_answer(repository)
    given = ("--size", "1", "--checksum", "c")
    told = graveler.fails("fs", "stage", f"{BRANCH}/a", "--location", "s3://bucket/ns/x", *given)
    assert "is in the repository's storage namespace" in told


def test_staged_data_become_an_object(graveler, server):
    repository = {
        "id": "my-repo",
        "creation_date": 0,
        "default_branch": "main",
        "storage_namespace": "s3://bucket/ns",
    }
    row = {"path": "a", "path_type": "object", "physical_address": "s3://x/y", "checksum": "c"}
    server.will_answer(repository, {**row, "size_bytes": 1, "mtime": 5}, status=201)
    given = ("--location", "s3://x/y", "--size", "1", "--checksum", "c", "--meta", "k=v,l=w")
    assert graveler.prints("fs", "stage", f"{BRANCH}/a", *given).startswith("Path: a\n")
    assert server.asked[1].body == {
        "physical_address": "s3://x/y",
        "size_bytes": 1,
        "checksum": "c",
        "content_type": "",
        "metadata": {"k": "v", "l": "w"},
    }


def test_user_metadata_are_replaced(graveler, server):
    server.will_answer("", status=204)
    assert graveler.prints("fs", "update-metadata", f"{BRANCH}/a", "--metadata", "k=v,l=") == ""
    assert server.asked[0].body == {"set": {"k": "v", "l": ""}}


def test_help_names_every_command_but_stage(graveler):
    shown = graveler.run("fs", "--help").stdout
    for name in ("cat", "cp", "download", "ls", "mv", "presign", "rm", "stat", "sync", "upload"):
        assert f" {name} " in shown
    assert " stage " not in shown


TABLE = "_lakefs_tables/iceberg/namespaces/shop/tables/picked"
RESTORE = ("fs", "restore", f"{BRANCH}/{TABLE}", "--from", "old")


def test_a_table_is_restored_by_its_path(graveler, server):
    at = "2026-01-01T00:00:00Z"
    task = {"id": "T", "kind": "restore-prefix", "state": "completed", "user": "ann"}
    times = {"creation_time": at, "update_time": at}
    row = {"path": TABLE, "path_type": "object"}
    server.will_answer(
        commit("a"), page(row), page(), {"id": "T"}, {**task, **times, "result": {"changed": "1"}}
    )
    result = graveler.run(*RESTORE)
    assert (result.exit_code, result.stdout) == (0, "restored: 1 objects\n")
    assert server.asked[3].body == {"prefix": TABLE, "ref": "old"}


def test_a_table_whose_path_begins_another_is_not_restored_alone(graveler, server):
    row = {"path": f"{TABLE}2", "path_type": "object"}
    server.will_answer(commit("a"), page(), page(row))
    assert graveler.fails(*RESTORE).endswith("begins with it as well: --recursive restores both")
    assert len(server.asked) == 3
