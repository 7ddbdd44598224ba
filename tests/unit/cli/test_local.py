"""`graveler local`: folders that mirror a path of a branch."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fakes.plain_lake import PlainLake, Stored, served

SOURCE = "lakefs://lake/main/data/"
INDEX = ".lakefs_ref.yaml"


@pytest.fixture
def lake(monkeypatch: pytest.MonkeyPatch) -> Iterator[PlainLake]:
    for name in ("LAKECTL_LOCAL_SYMLINK_SUPPORT", "LAKECTL_LOCAL_SKIP_NON_REGULAR_FILES"):
        monkeypatch.delenv(name, raising=False)
    with served() as lake:
        yield lake


class Local:
    """The commands, for one folder."""

    def __init__(self, graveler, lake: PlainLake, root: Path) -> None:
        self._graveler = graveler
        self._lake = lake
        self.root = root

    def run(self, command: str, *args: str, **variables: str):
        return self._graveler.run(
            "local", command, *args, LAKECTL_SERVER_ENDPOINT_URL=self._lake.endpoint, **variables
        )

    def does(self, command: str, *args: str, **variables: str) -> str:
        result = self.run(command, *args, str(self.root), **variables)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    def fails(self, command: str, *args: str, **variables: str) -> str:
        result = self.run(command, *args, str(self.root), **variables)
        assert result.exit_code == 1
        return result.stderr

    def clone(self) -> "Local":
        result = self.run("clone", SOURCE, str(self.root))
        assert result.exit_code == 0, result.stderr
        return self

    def status(self, *args: str) -> list[tuple[str, str, str]]:
        lines = self.does("status", "--json", *args).splitlines()
        found = [json.loads(line) for line in lines]
        return [(each["source"], each["type"], each["path"]) for each in found]

    @property
    def files(self) -> dict[str, str]:
        found = (each for each in self.root.rglob("*") if each.is_file() and each.name != INDEX)
        return {each.relative_to(self.root).as_posix(): each.read_text() for each in found}

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    @property
    def index(self) -> str:
        return (self.root / INDEX).read_text()

    def interrupt(self, operation: str, *lines: str, head: str = "") -> None:
        """Have the index of an operation that was killed."""
        source, at_head, _ = self.index.splitlines()
        at_head = f"at_head: {head}" if head else at_head
        text = "\n".join([source, at_head, f"active_operation: {operation}", *lines])
        (self.root / INDEX).write_text(text + "\n")


@pytest.fixture
def local(graveler, lake: PlainLake, tmp_path: Path) -> Local:
    return Local(graveler, lake, tmp_path / "mine")


@pytest.fixture
def other(graveler, lake: PlainLake, tmp_path: Path) -> Local:
    return Local(graveler, lake, tmp_path / "other")


def targeting(head: str) -> tuple[str, str]:
    return f"target_src: {SOURCE}", f"target_head: {head}"


def test_a_clone_has_all_files_and_their_times(lake, local):
    lake.put({f"data/d{number % 3}/{number}": str(number) for number in range(10)})
    lake.put({"elsewhere": "x"})
    local.clone()
    assert local.files == {f"d{number % 3}/{number}": str(number) for number in range(10)}
    assert (local.root / "d0/0").stat().st_mtime == 1_700_000_000
    assert local.index == f'src: {SOURCE}\nat_head: c2\nactive_operation: ""\n'
    assert local.status() == []


def test_a_path_without_a_slash_is_a_folder_but_not_an_object(lake, local):
    lake.change(data__a="1", file="2")
    assert (
        "existing object" in local.run("clone", "lakefs://lake/main/file", str(local.root)).stderr
    )
    assert local.run("init", "lakefs://lake/main/data", str(local.root)).exit_code == 0
    assert f"src: {SOURCE}\n" in local.index


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("clone", "lake/main/data/"), "does not name a path"),
        (("clone", "lakefs://lake/main"), "does not name a path"),
        (("clone", "lakefs://lake/gone/data/"), "commit not found"),
        (("clone", SOURCE, "x", "y"), "unexpected extra argument"),
        (("clone",), "missing argument"),
        (("clone", SOURCE, "x", "--parallelism", "0"), "--parallelism is 0"),
        (("init", "lakefs://lake"), "does not name a path"),
        (("init",), "missing argument"),
        (("init", "lakefs://lake/gone/data/"), "commit not found"),
        (("status", "gone"), "does not exist"),
        (("status", "."), "is not linked"),
        (("commit", "."), "no message"),
        (("commit", ".", "-m", "x", "--meta", "key"), "write KEY=VALUE"),
        (("commit", ".", "-m", "x"), "is not linked"),
        (("pull", "."), "is not linked"),
        (("checkout", "."), "is not linked"),
        (("checkout", "--all", "--ref", "lakefs://lake/main"), "exclude each other"),
        (("list", "gone"), "does not exist"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(lake, local, tmp_path, monkeypatch, args, reason):
    monkeypatch.chdir(tmp_path)
    result = local.run(*args)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert reason in result.stderr
    assert not any(tmp_path.iterdir())


def test_a_folder_with_files_is_linked_but_not_cloned_into(lake, local):
    local.write("a", "1")
    assert "is not empty" in local.run("clone", SOURCE, str(local.root)).stderr
    assert local.run("init", SOURCE, str(local.root)).exit_code == 0
    assert "--force" in local.run("init", SOURCE, str(local.root)).stderr
    assert local.run("init", SOURCE, str(local.root), "--force").exit_code == 0
    assert local.status() == [("local", "added", "a")]


def test_changes_of_both_sides_are_shown_and_the_same_path_is_a_conflict(lake, local):
    lake.change(data__a="1", data__b="2", data__c="3", data__d="4")
    local.clone()
    local.write("a", "changed")
    (local.root / "b").unlink()
    local.write("new/file", "new")
    lake.change(data__a="also", data__c=None, data__e="5")
    mine = [("local", "changed", "a"), ("local", "removed", "b"), ("local", "added", "new/file")]
    assert local.status("--local") == mine
    assert local.status() == [
        ("local", "conflict", "a"),
        ("local", "removed", "b"),
        ("remote", "removed", "c"),
        ("remote", "added", "e"),
        ("local", "added", "new/file"),
    ]
    assert "║ local  ║ modified ║ a        ║" in local.does("status", "-l")


def test_status_reads_no_file_and_changes_nothing(lake, local):
    lake.change(data__a="1")
    local.clone()
    (local.root / "a").write_text("2")  # the size and the time are the same
    os.utime(local.root / "a", (1_700_000_000, 1_700_000_000))
    before = (local.root / INDEX).stat()
    assert local.status() == []
    after = (local.root / INDEX).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_commit_uploads_what_changed_and_nothing_else(lake, local, other):
    lake.change(data__a="1", data__b="2", outside="x")
    local.clone()
    local.write("a", "changed")
    (local.root / "b").unlink()
    local.write("n ü/?", "3")
    lake.asked.clear()
    result = local.run("commit", str(local.root), "-m", "x", "--meta", "k=v,l=w", "--json")
    assert json.loads(result.stdout)["id"] == lake.head
    assert lake.content == {"data/a": b"changed", "data/n ü/?": b"3", "outside": b"x"}
    assert lake.metadata == {"k": "v", "l": "w"}
    assert lake.asked.count("POST /repositories/lake/branches/main/objects") == 2
    assert local.status() == []
    assert other.clone().files == {"a": "changed", "n ü/?": "3"}
    assert other.status() == []
    assert "No changes" in local.does("commit", "-m", "again")


def test_a_commit_gets_what_others_committed(lake, local):
    lake.change(data__a="1", data__b="2")
    local.clone()
    local.write("mine", "m")
    lake.change(data__a="theirs", data__b=None)
    local.does("commit", "-m", "x")
    assert local.files == {"a": "theirs", "mine": "m"}
    assert lake.content == {"data/a": b"theirs", "data/mine": b"m"}
    assert local.status() == []


def test_a_commit_without_local_changes_is_not_taken_for_an_interrupted_one(lake, local):
    lake.change(data__a="1", data__b="2")
    local.clone()
    lake.change(data__a="theirs", data__b=None)
    commits = ("POST", "/repositories/lake/branches/main/commits")
    lake.before = lambda *asked: 400 if asked == commits else None
    assert local.fails("commit", "-m", "x").startswith("error: ")
    assert local.files == {"a": "theirs"}
    assert local.status() == []
    assert "No changes" in local.does("pull")


def test_a_commit_of_which_the_server_stores_nothing_is_not_taken_for_an_interrupted_one(
    lake, local
):
    lake.change(data__a="1")
    local.clone().write("mine", "m")
    lake.before = lambda method, _path: 403 if method == "POST" else None
    assert "could not be uploaded" in local.fails("commit", "-m", "x")
    assert local.status() == [("local", "added", "mine")]
    lake.before = lambda *_: None
    local.does("commit", "-m", "x")
    assert lake.content == {"data/a": b"1", "data/mine": b"m"}


def test_a_collected_object_is_said_to_be_so_and_the_others_arrive(
    lake: PlainLake, local: Local
) -> None:
    lake.change(data__a="1", data__b="2")
    lake.collected.add("data/a")
    told = local.run("clone", SOURCE, str(local.root))
    assert told.exit_code == 1
    assert told.stderr == (
        "error: download data/a: its data are missing: garbage collection or their owner has "
        "deleted them, or they were never stored\n"
        "error: 1 files could not be downloaded: their data are missing or replaced\n"
    )
    assert local.files == {"b": "2"}


def test_a_commit_gets_what_others_store_while_it_runs(lake, local):
    lake.change(data__a="1", data__b="2")
    local.clone()
    local.write("mine", "m")

    def meddle(method: str, path: str) -> None:
        if (method, path) == ("POST", "/repositories/lake/branches/main/commits"):
            lake.before = lambda *_: None
            lake.put({"data/a": "theirs", "data/b": None, "data/c": "new"})

    lake.before = meddle
    local.does("commit", "-m", "x")
    assert local.files == {"a": "theirs", "c": "new", "mine": "m"}
    assert local.status() == []


def test_a_conflict_changes_neither_side(lake, local):
    lake.change(data__a="1")
    local.clone()
    local.write("a", "mine")
    local.write("b", "b")
    lake.change(data__a="theirs")
    assert "Conflicts found" in local.fails("commit", "-m", "x")
    assert lake.content == {"data/a": b"theirs"}
    assert local.files == {"a": "mine", "b": "b"}
    assert "there are 2 uncommitted changes" in local.fails("pull")
    local.does("pull", "--force")
    assert local.files == {"a": "theirs", "b": "b"}  # what did not change stays a local change
    assert local.status() == [("local", "added", "b")]


def test_uncommitted_changes_elsewhere_on_the_branch_need_force(lake, local):
    local.clone()
    local.write("a", "1")
    for path in ("a-before", "data-", "data0", "z"):
        lake.staged[path] = Stored(b"x")
        assert "--force" in local.fails("commit", "-m", "x")
        del lake.staged[path]
    local.does("commit", "-m", "x")
    local.write("b", "1")
    lake.staged["z"] = Stored(b"x")
    local.does("commit", "-m", "x", "--force")
    assert lake.content == {"data/a": b"1", "data/b": b"1", "z": b"x"}


def test_a_pull_brings_and_removes(lake, local):
    lake.change(data__a="1", data__d__b="2", data__e="3")
    local.clone()
    lake.change(data__a="changed", data__d__b=None, data__e=None)
    lake.change(data__e__f="a folder where a file was")
    result = json.loads(local.does("pull", "--json"))
    assert result == {"downloaded": 2, "uploaded": 0, "removed": 2}
    assert local.files == {"a": "changed", "e/f": "a folder where a file was"}
    assert not (local.root / "d").exists()
    lake.change(data__e__f=None)
    lake.change(data__e="a file again")
    local.does("pull")
    assert local.files == {"a": "changed", "e": "a file again"}


def test_a_pull_follows_a_branch_that_was_moved_back(lake, local):
    lake.change(data__a="1")
    lake.change(data__b="2")
    local.clone()
    lake.commits.append(("back", lake.commits[1][1]))
    local.does("pull")
    assert local.files == {"a": "1"}


def test_a_file_that_changes_during_a_pull_is_kept(lake, local):
    lake.change(data__a="1")
    local.clone()
    lake.change(data__a="theirs", data__b="b")

    def meddle(_method: str, path: str) -> None:
        if path.endswith("/objects"):
            local.write("a", "mine, just now")

    lake.before = meddle
    assert "changed meanwhile" in local.fails("pull")
    assert local.files["a"] == "mine, just now"
    assert "active_operation: pull" in local.index
    lake.before = lambda *_: None
    assert "uncommitted changes" in local.fails("pull")
    local.does("pull", "--force")
    assert local.files == {"a": "theirs", "b": "b"}


def test_a_file_that_changes_during_its_upload_is_not_committed(lake, local):
    local.clone()
    local.write("a", "1")

    def meddle(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/objects"):
            local.write("a", "longer")

    lake.before = meddle
    assert "changed while it was uploaded" in local.fails("commit", "-m", "x")
    assert lake.content == {}
    lake.before = lambda *_: None
    local.does("commit", "-m", "x")
    assert lake.content == {"data/a": b"longer"}


def test_a_checkout_takes_changes_back_after_a_question(lake, local):
    lake.change(data__a="1", data__b="2")
    local.clone()
    local.write("a", "changed")
    (local.root / "b").unlink()
    local.write("c", "added")
    assert local.run("checkout", str(local.root)).exit_code == 1
    assert local.files == {"a": "changed", "c": "added"}
    local.does("checkout", "--yes")
    assert local.files == {"a": "1", "b": "2"}
    assert "No changes" in local.does("checkout")


def test_a_checkout_of_another_commit_links_with_it(lake, local):
    lake.change(data__a="1")
    lake.change(data__a="longer", data__b="2")
    local.clone()
    local.does("checkout", "--ref", "lakefs://lake/c1")
    assert local.files == {"a": "1"}
    assert local.index.startswith("src: lakefs://lake/c1/data/\nat_head: c1\n")
    assert "repository doesn't match" in local.fails("checkout", "--ref", "lakefs://b/main")
    assert "commit not found" in local.fails("checkout", "--ref", "lakefs://lake/gone")
    assert 'active_operation: ""' in local.index


def test_all_linked_folders_are_listed_and_checked_out(lake, local, other, tmp_path):
    lake.change(data__a="1")
    local.clone().write("a", "changed")
    other.clone().write("b", "added")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / INDEX).write_text(local.index)
    assert local.run("list", str(tmp_path)).stdout == f"mine\t{SOURCE}\tc1\nother\t{SOURCE}\tc1\n"
    listed = local.run("list", "--json", str(tmp_path)).stdout.splitlines()
    assert json.loads(listed[0]) == {"directory": str(local.root), "src": SOURCE, "at_head": "c1"}
    assert local.run("checkout", str(tmp_path), "--all").exit_code == 1
    checked_out = local.run("checkout", str(tmp_path), "--all", "--yes")
    assert checked_out.exit_code == 0
    assert f"diff 'local://{other.root}' <--> 'lakefs://lake/c1/data/'..." in checked_out.stdout
    assert local.files == other.files == {"a": "1"}


def test_a_clone_that_was_killed_continues(lake, local):
    lake.change(data__a="1", data__b="2", data__c="3")
    local.clone()
    (local.root / "b").unlink()
    local.write("c", "mine")
    local.interrupt("clone")
    for command in ("status", "pull"):
        assert "latest clone operation was interrupted" in local.fails(command)
    assert local.run("commit", str(local.root), "-m", "x").exit_code == 1
    lake.change(data__d="later")
    local.clone()
    assert local.files == {"a": "1", "b": "2", "c": "mine"}
    assert local.status("--local") == [("local", "changed", "c")]


def test_a_clone_that_was_killed_before_it_had_an_index_begins_anew(lake, local):
    lake.change(data__a="1")
    local.write(f"{INDEX}.new", "src: half")
    local.clone()
    assert local.files == {"a": "1"}


def test_a_pull_that_was_killed_continues_and_keeps_what_the_user_changed(lake, local):
    lake.change(data__a="1", data__b="2", data__c="3")
    local.clone()
    lake.change(data__a="one", data__b=None, data__d="four")
    local.does("pull")
    # It got a, but has neither removed b nor got d.
    local.write("b", "2")
    os.utime(local.root / "b", (1_700_000_000, 1_700_000_000))
    (local.root / "d").unlink()
    local.interrupt("pull", *targeting("c2"), head="c1")
    lake.change(data__e="5")
    local.write("c", "mine")
    assert "there are 1 uncommitted changes" in local.fails("pull")
    assert local.files == {"a": "one", "b": "2", "c": "mine"}
    local.does("pull", "--force")
    assert local.files == {"a": "one", "c": "mine", "d": "four", "e": "5"}
    assert local.status() == [("local", "changed", "c")]


def test_a_pull_of_lakectl_that_was_interrupted_needs_force(lake, local):
    lake.change(data__a="1")
    local.clone()
    local.interrupt("pull")
    lake.change(data__b="2")
    assert "pull --force" in local.fails("pull")
    local.does("pull", "--force")
    assert local.files == {"a": "1", "b": "2"}
    assert local.status() == []


def test_a_pull_by_force_gets_what_a_clone_or_a_checkout_had_not(lake, local):
    lake.change(data__a="1", data__b="2")
    local.clone()
    for operation in ("clone", "checkout"):
        (local.root / "b").unlink()
        local.interrupt(operation)
        assert f"latest {operation} operation" in local.fails("pull")
        local.does("pull", "--force")
        assert local.files == {"a": "1", "b": "2"}


def test_a_checkout_that_was_killed_continues_without_a_question(lake, local):
    lake.change(data__a="1")
    lake.change(data__a="longer", data__b="2")
    local.clone()
    (local.root / "b").unlink()  # done already
    local.interrupt("checkout", *targeting("c1"))
    local.does("checkout")
    assert local.files == {"a": "1"}
    assert "at_head: c1\n" in local.index


def test_a_commit_that_was_killed_uploads_only_the_rest(lake, local):
    lake.change(data__a="1")
    local.clone()
    local.write("b", "2")
    local.write("c", "3")

    def refuse(method: str, path: str) -> int | None:
        return (
            400 if (method, path) == ("POST", "/repositories/lake/branches/main/commits") else None
        )

    lake.before = refuse
    assert "refused by the test" in local.fails("commit", "-m", "x")
    assert "active_operation: commit" in local.index
    lake.before = lambda *_: None
    lake.asked.clear()
    local.write("c", "changed")
    local.does("commit", "-m", "x")
    assert lake.asked.count("POST /repositories/lake/branches/main/objects") == 1
    assert lake.content == {"data/a": b"1", "data/b": b"2", "data/c": b"changed"}
    assert local.status() == []


def refuses_objects(method: str, path: str) -> int | None:
    return 400 if (method, path) == ("POST", "/repositories/lake/branches/main/objects") else None


@pytest.mark.parametrize(
    "commands", [[("commit", "-m", "x")], [("pull", "--force"), ("commit", "-m", "x")]]
)
def test_what_a_killed_commit_brought_is_not_the_users(lake, local, commands):
    lake.change(data__a="1", data__gone="2")
    local.clone().write("mine", "3")
    lake.change(data__b="theirs", data__gone=None)
    lake.before = refuses_objects
    local.fails("commit", "-m", "x")
    assert local.files == {"a": "1", "b": "theirs", "mine": "3"}
    lake.before = lambda *_: None
    lake.change(data__b=None, data__gone="2")  # others change their minds
    for command in commands:
        local.does(*command)
    assert local.files == {"a": "1", "gone": "2", "mine": "3"}
    assert lake.content == {"data/a": b"1", "data/gone": b"2", "data/mine": b"3"}


def test_what_a_killed_pull_brought_is_not_the_users(lake, local):
    lake.change(data__a="1")
    local.clone()
    lake.change(data__b="2")
    local.does("pull")
    local.interrupt("pull", *targeting("c2"), head="c1")
    lake.change(data__b=None)
    local.write("mine", "3")
    local.does("commit", "-m", "x", "--yes")
    assert local.files == {"a": "1", "mine": "3"}
    assert lake.content == {"data/a": b"1", "data/mine": b"3"}


def test_what_the_user_changed_after_a_killed_commit_is_a_conflict(lake, local):
    lake.change(data__a="1")
    local.clone().write("mine", "3")
    lake.change(data__a="theirs")
    lake.before = refuses_objects
    local.fails("commit", "-m", "x")
    lake.before = lambda *_: None
    local.write("a", "the user's own")
    assert "Conflicts found" in local.fails("commit", "-m", "x")
    assert local.files["a"] == "the user's own"


def test_a_commit_that_was_killed_at_its_end_is_not_repeated(lake, local):
    lake.change(data__a="1")
    local.clone()
    local.write("b", "2")
    local.does("commit", "-m", "x")
    local.interrupt("commit", head="c1")
    assert "are synced" in local.does("commit", "-m", "x")
    assert lake.head == "c2"
    assert local.status() == []


def test_nothing_is_written_outside_of_the_folder(lake, local, tmp_path):
    names = ["../evil", "a/../../evil", "/evil", "a//b", "./c", "d/.", "nul\0"]
    lake.put({f"data/{name}": "evil" for name in names} | {"data/fine": "f", f"data/{INDEX}": "x"})
    result = local.run("clone", SOURCE, str(local.root))
    assert result.exit_code == 1
    assert "7 objects were left out" in result.stderr
    assert {each.name for each in tmp_path.iterdir()} == {"mine"}
    assert local.files == {"fine": "f"}
    local.write("fine", "changed")
    local.does("commit", "-m", "x")
    assert len(lake.content) == 9  # what cannot be a file is not taken for removed


def test_links_in_the_folder_do_not_lead_out(lake, local, tmp_path):
    local.clone()
    (tmp_path / "outside").mkdir()
    (local.root / "d").symlink_to(tmp_path / "outside")
    lake.change(data__d__a="1", data__b="2")
    skips = {"LAKECTL_LOCAL_SKIP_NON_REGULAR_FILES": "true"}
    assert "is a link: move it away" in local.fails("pull", **skips)
    assert not any((tmp_path / "outside").iterdir())
    (local.root / "d").unlink()
    local.does("pull", **skips)
    assert local.files == {"b": "2", "d/a": "1"}


def test_a_pull_gets_a_folder_where_the_user_made_one_of_the_same_file_or_link(lake, local):
    lake.change(data__file="1", data__link="2")
    local.clone()
    lake.change(data__file=None, data__link=None)
    lake.put({"data/file/a": "3", "data/link/a": "4"})
    for name in ("file", "link"):
        (local.root / name).unlink()
        local.write(f"{name}/a", "mine")
    local.does("pull", "--force")
    assert local.files == {"file/a": "3", "link/a": "4"}
    assert local.status() == []


def test_an_object_below_another_object_is_left_out(lake, local):
    lake.put({"data/f": "1", "data/f-": "2", "data/f/g": "3", "data/f0": "4"})
    result = local.run("clone", SOURCE, str(local.root))
    assert (result.exit_code, "1 objects were left out" in result.stderr) == (1, True)
    assert local.files == {"f": "1", "f-": "2", "f0": "4"}
    assert local.status() == []


def test_links_are_refused_left_out_or_stored(lake, local, other):
    local.clone()
    (local.root / "link").symlink_to("nowhere")
    assert "not a regular file" in local.fails("status")
    assert "No diff" in local.does("status", LAKECTL_LOCAL_SKIP_NON_REGULAR_FILES="true")
    local.does("commit", "-m", "x", LAKECTL_LOCAL_SYMLINK_SUPPORT="true")
    assert lake.content == {"data/link": b""}
    result = other.run("clone", SOURCE, str(other.root), LAKECTL_LOCAL_SYMLINK_SUPPORT="true")
    assert result.exit_code == 0
    assert (other.root / "link").readlink() == Path("nowhere")
    assert "No diff" in other.does("status", LAKECTL_LOCAL_SYMLINK_SUPPORT="true")


def test_permissions_are_stored_and_set(lake, local, other):
    permissions = {"LAKECTL_EXPERIMENTAL_LOCAL_POSIX_PERMISSIONS_ENABLED": "true"}
    local.clone()
    local.write("d/script", "1")
    (local.root / "d/script").chmod(0o750)
    (local.root / "d").chmod(0o700)
    local.does("commit", "-m", "x", **permissions)
    assert set(lake.content) == {"data/d/", "data/d/script"}
    assert other.run("clone", SOURCE, str(other.root), **permissions).exit_code == 0
    assert (other.root / "d/script").stat().st_mode == 0o100750
    assert (other.root / "d").stat().st_mode == 0o40700
    assert "No diff" in other.does("status", **permissions)
    (other.root / "d/script").chmod(0o700)
    assert "modified ║ d/script" in other.does("status", **permissions)


def test_what_is_not_of_the_user_is_ignored(lake, local):
    lake.put({"data/": "", "data/d/": "", "data/.DS_Store": "x"})
    local.clone()
    for name in (".DS_Store", "x/.DS_Store", ".graveler.partial/x", ".f.graveler-part"):
        local.write(name, "x")
    local.write(".s3keep", "")
    assert local.status() == [("local", "added", ".s3keep")]


def test_git_ignores_the_content_but_not_the_index(lake, local, tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    ignored = tmp_path / ".gitignore"
    ignored.write_text("mine too\n")
    for _ in range(2):
        local.run("init", SOURCE, str(local.root), "--force")
    assert ignored.read_text() == (
        "mine too\n\n# ignored by lakectl local\nmine/*\n!mine/.lakefs_ref.yaml\n"
        "# End ignored by lakectl local\n"
    )
    assert "please specify a sub-directory" in local.run("init", SOURCE, str(tmp_path)).stderr
    ignored.unlink()
    local.run("init", SOURCE, str(local.root), "--force", "--gitignore=false")
    assert not ignored.exists()


@pytest.mark.parametrize("text", ["", "src: [", "src: x\nat_head: y\n", "at_head: y\n", "- a\n"])
def test_a_broken_index_is_named(lake, local, text):
    local.root.mkdir()
    (local.root / INDEX).write_text(text)
    assert f"{INDEX} is broken" in local.fails("status")


def test_an_interrupt_says_how_to_go_on(lake, local, monkeypatch):
    lake.change(data__a="1")
    local.clone()
    lake.change(data__b="2")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("graveler_cli.checkout.sync.Sync.to_folder", interrupt)
        message = local.fails("pull")
    assert message == (
        "error: operation was canceled, local data may be incomplete: "
        "run graveler local pull again\n"
    )
    local.does("pull")
    assert local.files == {"a": "1", "b": "2"}


def test_only_one_process_at_a_time_changes_a_folder(lake, local):
    fcntl = pytest.importorskip("fcntl")
    lake.change(data__a="1")
    local.clone()
    other = os.open(local.root, os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        for command in (["pull"], ["checkout"], ["commit", "-m", "x"]):
            assert "another process changes" in local.fails(*command)
        assert local.status() == []
    finally:
        os.close(other)
    local.does("pull")


def test_a_folder_inside_a_linked_one_belongs_to_it(lake, local):
    lake.change(data__d__a="1")
    local.clone().write("b", "2")
    result = local.run("status", "--json", "--local", str(local.root / "d"))
    assert json.loads(result.stdout) == {"source": "local", "type": "added", "path": "b"}
