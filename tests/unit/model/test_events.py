"""Events are what docs/events.md and docs/events.schema.json promise to those who subscribe."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from graveler.engine import Engine
from graveler.export.record import ExportConfiguration, ExportRequest
from graveler.imports.request import ImportRequest
from graveler.model import CommitID, Event
from graveler.model.events import DETAIL_BYTES_MAX, DETAIL_TYPES, detail_of, detail_type
from graveler.model.pulls import PullRequestUpdate, ReviewVerdict
from graveler.model.tasks import TaskKind
from graveler.operations import (
    branches,
    commits,
    imports,
    merges,
    pulls,
    replays,
    repositories,
    reviews,
    tags,
)
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.operations.merges import MergeRequest
from graveler.operations.tables import namespaces, tables
from graveler.operations.tasks.requests import cancel
from graveler_embedded.event_patterns import matches
from tests.support.checks.cases import for_each
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run_all
from tests.support.worlds.iceberg_tables import request
from tests.support.worlds.lake import REPO, commit, named, new_lake, upload

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs/events.md").read_text()
SCHEMA = json.loads((ROOT / "docs/events.schema.json").read_text())
# Subscribers are to ignore fields that they do not know; here each one must be described.
STRICT = Draft202012Validator(SCHEMA | {"unevaluatedProperties": False})


def event(kind: str = "tested", **detail: object) -> Event:
    return Event("d8qj3tkbtms0fh2ok8ng", kind, "lake", 1_795_179_612_345_678_901, detail)


def detail(event: Event) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(detail_of(event))
    return made


def examples() -> Iterator[tuple[str, dict[str, Any]]]:
    """The documented examples: the words of the heading, and the detail below."""
    text = DOCUMENT.partition("## The events")[2]
    for words, block in re.findall(r"### (.+?)\n.*?```json\n(.*?)```", text, re.DOTALL):
        yield words, json.loads(block)


def report_tasks(world: MemoryWorld) -> None:
    """Run a task that reports progress, one that fails, and one that a user cancels."""
    engine = world.engine()
    upload(engine, b"d", b"4")
    for message in ("completed", "nothing left"):
        commits.start_commit(engine, REPO, "main", commits.CommitRequest(message, "somebody"))
        run_all(world.task_queue, engine)
    task = commits.start_commit(engine, REPO, "main", commits.CommitRequest("unwanted", "somebody"))
    cancel(engine, REPO, task.id)


def report_pull_request(engine: Engine) -> None:
    """Create a pull request; change its title, review it, comment on it, and merge it."""
    upload(engine, b"e", b"5", "source")
    commit(engine, "source")
    asked = pulls.NewPullRequest("somebody", "source", "main", "title")
    pull = pulls.create(engine, REPO, asked)
    pulls.update(engine, REPO, pull.id, PullRequestUpdate("new"), "somebody")
    seen = CommitID(named(engine, "source"))
    reviews.review(engine, REPO, pull.id, ReviewVerdict.APPROVED, seen, "another")
    reviews.comment(engine, REPO, pull.id, "another", "fine", b"e")
    pulls.merge(engine, REPO, pull.id, MergeRequest("somebody"))


@pytest.fixture(scope="module")
def reported() -> list[Event]:
    """What the engine reports when everything is done once that is worth an event."""
    world = new_lake()
    engine = world.engine()
    upload(engine, b"a", b"1")
    commit(engine, message="é", metadata={"key": "value"})
    branches.create(engine, REPO, name="source", source="main")
    upload(engine, b"b", b"2", "source")
    commit(engine, "source")
    picked = named(engine, "source")
    replays.cherry_pick(engine, REPO, "main", replays.CherryPickRequest(picked, "somebody"))
    upload(engine, b"c", b"3", "source")
    commit(engine, "source")
    merges.merge(engine, REPO, "source", "main", merges.MergeRequest("somebody"))
    undone = replays.RevertRequest("main", "somebody", parent_number=1)
    replays.revert(engine, REPO, "main", undone)
    report_pull_request(engine)
    imports.start_import(engine, REPO, "main", ImportRequest((), "somebody"))
    run_all(world.task_queue, engine)
    branches.hard_reset(engine, REPO, "main", ref="main~1")
    namespaces.create(engine, REPO, "main", ("sales",), {})
    tables.create(engine, REPO, "main", ("sales",), "orders", request())
    tables.drop(engine, REPO, "main", ("sales",), "orders")
    requests.configure(engine, REPO, "main", ExportConfiguration("s3://out/latest"))
    advance(engine, ExportRequest(REPO, "main"), runner="runner", time_left_s=lambda: 900)
    report_tasks(world)
    tags.create(engine, REPO, name="v1", ref="main")
    tags.delete(engine, REPO, "v1")
    branches.delete(engine, REPO, "source")
    repositories.delete(engine, REPO)
    return world.refs.events


def kinds_in(room: str) -> set[str]:
    """What reads like a kind of event in the code of a room."""
    texts = (
        node.value
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    is_kind = re.compile(
        "[a-z_]+_(created|deleted|reset|completed|requested|finished|started|progressed|updated|merged|reviewed|commented|committed)"
    )
    return {text for text in texts if is_kind.fullmatch(text)}


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_has_every_kind_of_task() -> None:
    assert set(SCHEMA["$defs"]["task_fields"]["properties"]["task_kind"]["enum"]) == set(TaskKind)


def test_every_event_has_its_example() -> None:
    documented = [(words, example["kind"]) for words, example in examples()]
    assert sorted(documented) == sorted((words, kind) for kind, words in DETAIL_TYPES.items())


@for_each("example", [detail for _, detail in examples()], ids=lambda e: e["kind"])
def test_the_examples_are_as_described(example: dict[str, Any]) -> None:
    STRICT.validate(example)
    for field in example:
        without = {name: value for name, value in example.items() if name != field}
        assert not STRICT.is_valid(without), field


def test_the_documented_rule_finds_new_commits_of_a_branch() -> None:
    found = re.search("--event-pattern '(.*?)'", DOCUMENT, re.DOTALL)
    assert found
    rule = json.loads(found[1])
    commits = {"Commit", "Merge", "Revert", "Cherry-Pick", "Import"}
    for words, example in examples():
        envelope = {"source": "graveler", "detail-type": words, "detail": example}
        assert matches(rule, envelope) == (words.split()[0] in commits)
        elsewhere = envelope | {"detail": example | {"branch": "other"}}
        assert not matches(rule, elsewhere)


def test_what_the_engine_reports_is_as_described(reported: list[Event]) -> None:
    for each in reported:
        STRICT.validate(detail(each))


def test_everything_that_the_engine_reports_was_tried(reported: list[Event]) -> None:
    kinds = kinds_in("graveler/operations")
    assert kinds <= set(DETAIL_TYPES)
    # The kinds of ends are put together from the states of tasks.
    ends = {"task_completed", "task_failed", "task_cancelled"}
    assert {each.kind for each in reported} == kinds | ends


def test_an_event_of_a_newer_version_has_words() -> None:
    assert detail_type("planet_finished") == "Planet Finished"


@for_each("letter", ["x", "é", "😀", "\x01", '"'])
def test_a_large_event_is_shortened_and_says_so(letter: str) -> None:
    message = letter * 100_000
    metadata = {f"key {n:06}": letter * 100 for n in range(3_000)}
    large = event(
        "commit_created", branch="main", message=message, metadata=metadata, parents=["p"]
    )
    made = detail(large)
    assert len(detail_of(large).encode()) <= DETAIL_BYTES_MAX
    assert made["truncated"] is True
    assert (made["kind"], made["branch"], made["parents"]) == ("commit_created", "main", ["p"])
    assert message.startswith(made["message"])
    assert len(json.dumps(made["message"], ensure_ascii=False).encode()) > 32 * 1024 - 10
    kept = made["metadata"]
    assert 0 < len(kept) < 3_000
    assert kept == dict(list(metadata.items())[: len(kept)])


@for_each("count", [1, 40_000])
def test_metadata_of_any_size_fit(count: int) -> None:
    metadata = {f"{n}": "" if count > 1 else "x" * 400_000 for n in range(count)}
    large = event(message="short", metadata=metadata)
    assert len(detail_of(large).encode()) <= DETAIL_BYTES_MAX
    assert detail(large)["message"] == "short"


def test_what_fits_is_whole() -> None:
    empty = len(detail_of(event(message="")))
    largest = event(message="x" * (DETAIL_BYTES_MAX - empty))
    assert len(detail_of(largest)) == DETAIL_BYTES_MAX
    assert "truncated" not in detail(largest)
    larger = event(message="x" * (DETAIL_BYTES_MAX - empty + 1))
    assert detail(larger)["truncated"] is True


def test_characters_that_no_queue_takes_are_replaced() -> None:
    made = json.loads(detail_of(event(message="a\ufffe\uffffb")))
    assert made["message"] == "a\ufffd\ufffdb"
