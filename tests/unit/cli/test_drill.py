"""`graveler drill` refuses what it cannot do before it creates anything."""

import json

import pytest

from graveler_cli import drill

SOURCE = {"id": "lake", "storage_namespace": "s3://bucket/lake"}


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--fresh", "--manifest", "file"], "choose one"),
        (["--namespace", "s3://bucket/x"], "add --manifest FILE"),
    ],
)
def test_options_that_do_not_go_together_are_refused(graveler, server, args, told):
    assert told in graveler.fails("drill", "lakefs://lake", *args)
    assert server.asked == []


@pytest.mark.parametrize(
    "content", ["", "[]", json.dumps({"commits_meta_range_id": "a"}), json.dumps("text")]
)
def test_a_file_without_ids_is_refused(graveler, server, tmp_path, content):
    server.will_answer(SOURCE)
    file = tmp_path / "manifest.json"
    file.write_text(content)
    told = graveler.fails("drill", "lakefs://lake", "--manifest", str(file))
    assert "is not a manifest of refs: it needs commits_meta_range_id" in told
    assert [each.method for each in server.asked] == ["GET"]


def test_a_file_that_is_missing_is_named(graveler, server, tmp_path):
    server.will_answer(SOURCE)
    told = graveler.fails("drill", "lakefs://lake", "--manifest", str(tmp_path / "none"))
    assert "no such file" in told


def test_a_repository_that_does_not_exist_is_named(graveler, server):
    server.will_answer({"message": "repository not found"}, status=404)
    told = graveler.fails("drill", "lakefs://lake")
    assert "repository not found" in told


def test_a_name_of_a_ref_does_not_steer_the_terminal(graveler, server, monkeypatch):
    server.will_answer(SOURCE)
    monkeypatch.setattr(drill, "newest_dump", lambda *_: drill.Dump({}, "", ""))
    changed = drill.Findings(changed=["tags/a\x9b2J"])
    monkeypatch.setattr(drill, "run", lambda *_, **__: changed)
    assert "tags/a\\x9b2J\n" in graveler.prints("drill", "lakefs://lake")
