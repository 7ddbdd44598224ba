"""Objects whose data garbage collection has deleted: one line says so, and asks for nothing."""

import pytest

BRANCH = "lakefs://my-repo/main"
LARGE = b"0123456789" * 30_000
COLLECTED = (
    "its data are missing: garbage collection or their owner has deleted them, "
    "or they were never stored"
)


@pytest.mark.parametrize("pre_sign", ["--pre-sign", "--no-pre-sign"])
@pytest.mark.parametrize("content", [b"1", LARGE])
@pytest.mark.parametrize(
    ("before", "after"), [("download", ["f", "--part-size", "65536"]), ("cat", [])]
)
def test_who_reads_it_learns_in_one_line_that_it_was_collected(
    user, lake, tmp_path, before, after, content, pre_sign
):
    lake.has("a", content)
    lake.collect("a")
    assert user.fails("fs", before, f"{BRANCH}/a", *after, pre_sign) == f"{BRANCH}/a: {COLLECTED}"
    assert len([each for each in lake.asked if "/stat" not in each and "/config" not in each]) <= 5
    assert not [each for each in tmp_path.iterdir() if each.is_file()]


def test_an_empty_object_is_read_without_its_data(user, lake):
    lake.has("a", b"")
    lake.collect("a")
    assert user.run("fs", "cat", f"{BRANCH}/a").exit_code == 0
    assert user.run("fs", "download", f"{BRANCH}/a", "f").exit_code == 0


@pytest.mark.parametrize("command", ["cp", "mv"])
def test_its_copy_fails_in_one_line_and_a_move_keeps_it(user, lake, command):
    lake.has("a", b"1")
    lake.collect("a")
    told = user.fails("fs", command, f"{BRANCH}/a", f"{BRANCH}/b")
    assert told == f"{BRANCH}/a: {COLLECTED}"
    assert [*lake.objects] == ["a"]


@pytest.mark.parametrize(
    ("command", "word", "target"),
    [
        ("download", "download", "folder"),
        ("cp", "copy", f"{BRANCH}/e/"),
        ("mv", "move", f"{BRANCH}/e/"),
    ],
)
def test_the_others_below_a_path_are_transferred(user, lake, command, word, target):
    for number in range(60):
        lake.has(f"d/{number:02}", b"1")
    lake.collect(*[f"d/{number:02}" for number in range(50)])
    result = user.run("fs", command, "-r", "-p", "1", f"{BRANCH}/d/", target)
    lines = result.stderr.splitlines()
    assert result.exit_code == 1
    assert lines[:50] == [f"error: {word} d/{number:02}: {COLLECTED}" for number in range(50)]
    assert lines[50:] == [f"error: {word}: 50 of 60 failed: their data are missing or replaced"]


def test_other_failures_among_them_are_tried_again(user, lake):
    for path in ("d/a", "d/b"):
        lake.has(path, b"1")
    lake.collect("d/a")
    lake.fails("GET", lake.objects["d/b"].address.removeprefix("s3://b/"), 403, 9)
    result = user.run("fs", "download", "-r", f"{BRANCH}/d/", "folder")
    assert result.stderr.endswith("error: download: 2 of 2 failed: run the command again\n")


def test_a_bucket_that_does_not_exist_is_no_collected_object(user, lake, monkeypatch):
    lake.has("a", LARGE)
    lake.fails("GET", "/store/", 404)
    assert "answered 404" in user.fails("fs", "download", f"{BRANCH}/a", "f")


@pytest.mark.parametrize("data", [b"0", b"longer"])
def test_replaced_data_below_a_path_are_told_by_the_servers_reason(user, lake, data):
    for number in range(60):
        lake.has(f"d/{number:02}", b"1")
    for number in range(50):
        lake.replace(f"d/{number:02}", data)
    result = user.run("fs", "download", "-r", "-p", "1", "--pre-sign", f"{BRANCH}/d/", "folder")
    lines = result.stderr.splitlines()
    told = [f"error: download d/{number:02}: the data were replaced" for number in range(50)]
    assert lines == [
        *told,
        "error: download: 50 of 60 failed: their data are missing or replaced",
    ]
