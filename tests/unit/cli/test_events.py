"""`graveler events tail`: no commit between two looks is lost."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from graveler_cli.client import ApiRefusedError
from graveler_cli.events import EventFeed
from graveler_cli.schemas import Commit, Pagination, Ref, Repository, ResultPage
from tests.support.clients.answers import IDS, commit, page

SCHEMA = json.loads(Path("docs/events.schema.json").read_text())
REPOSITORY = {
    "id": "foo",
    "creation_date": 1,
    "default_branch": "main",
    "storage_namespace": "s3://b/foo",
}
TAIL = ("events", "tail", "lakefs://foo")


def branch(name, at):
    return {"id": name, "commit_id": IDS[at]}


@dataclass
class Lake:
    """A server with one repository, in memory."""

    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    numbers: count = field(default_factory=count)
    asked: int = 0

    def __post_init__(self):
        self.branches["main"] = self.make([])

    def make(self, parents, date=None, **metadata):
        number = next(self.numbers)
        made = sha256(str(number).encode()).hexdigest()
        generation = 1 + max((self.commits[each].generation for each in parents), default=0)
        self.commits[made] = Commit(
            made,
            parents,
            "ada",
            f"number {number}",
            1_700_000_000 + number if date is None else date,
            "meta",
            metadata,
            generation,
        )
        return made

    def ancestors(self, head):
        found, waiting = {head}, [head]
        while waiting:
            for parent in self.commits[waiting.pop()].parents:
                if parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found

    # What a server does.

    def ask(self, _method, template, names, shape):
        self.asked += 1
        if "merge" in template:
            base = names["commit"] if names["commit"] in self.ancestors(names["head"]) else ""
            return shape(base)
        if "commits" in template:
            return self.commits[self.branches.get(names["ref"], names["ref"])]
        return Repository("foo", 1, "main", "s3://b/foo")

    def page(self, _template, names, _of, query):
        self.asked += 1
        assert query["first_parent"]
        line, at = [], names["ref"]
        while at:
            line.append(self.commits[at])
            at = next(iter(self.commits[at].parents), "")
        start = 1 + [each.id for each in line].index(query["after"]) if query["after"] else 0
        found = line[start : start + 3]
        return ResultPage(Pagination(start + 3 < len(line), found[-1].id if found else ""), found)

    def each(self, template, _names, _of):
        refs = self.branches if template.endswith("branches") else self.tags
        return [Ref(name, at) for name, at in sorted(refs.items())]


def watching(lake: Any) -> EventFeed:
    return EventFeed(lake, "foo")


BRANCHES = st.sampled_from(["main", "dev", "x", "y"])


class Watching(RuleBasedStateMachine):
    """Whatever users do between two looks, the events tell of each commit that is reachable."""

    def __init__(self):
        super().__init__()
        self.lake = Lake()
        self.watch = watching(self.lake)
        self.watch.begin()
        self.told = self.reachable()
        self.refs = (dict(self.lake.branches), dict(self.lake.tags))

    def reachable(self):
        return set().union(*(self.lake.ancestors(head) for head in self.lake.branches.values()))

    @rule(name=BRANCHES, amount=st.integers(1, 9), old=st.booleans())
    def commit(self, name, amount, old):
        for _ in range(amount if name in self.lake.branches else 0):
            head = self.lake.branches[name]
            self.lake.branches[name] = self.lake.make([head], 5 if old else None)

    @rule(source=BRANCHES, destination=BRANCHES)
    def merge(self, source, destination):
        heads = self.lake.branches
        if source in heads and destination in heads and heads[source] != heads[destination]:
            heads[destination] = self.lake.make([heads[destination], heads[source]])

    @rule(name=BRANCHES, at=st.integers(0), is_tag=st.booleans())
    def set_ref(self, name, at, is_tag):
        commits = sorted(self.reachable())
        refs = self.lake.tags if is_tag else self.lake.branches
        refs[name] = commits[at % len(commits)]

    @rule(name=st.sampled_from(["dev", "x", "y"]), is_tag=st.booleans())
    def delete_ref(self, name, is_tag):
        (self.lake.tags if is_tag else self.lake.branches).pop(name, None)

    @rule()
    def look(self):
        events: list[Any] = list(self.watch.changes())
        told = set()
        branches, tags = self.refs
        for event in events:
            if event.kind in ("branch_created", "branch_reset"):
                branches[event.branch] = event.commit_id
            elif event.kind == "branch_deleted":
                assert branches.pop(event.branch)
            elif event.kind == "tag_created":
                tags[event.tag] = event.commit_id
            elif event.kind == "tag_deleted":
                assert tags.pop(event.tag) == event.commit_id
            else:
                told.add(event.commit_id)
        roots = {each.id for each in self.lake.commits.values() if not each.parents}
        assert self.reachable() - roots <= told | self.told
        self.told |= told
        assert self.watch.branches == self.lake.branches
        assert tags == self.lake.tags
        assert branches.keys() == self.lake.branches.keys()

    @precondition(lambda self: self.watch.branches == self.lake.branches)
    @rule()
    def look_again(self):
        self.look()
        assert list(self.watch.changes()) == []

    @invariant()
    def has_a_main_branch(self):
        assert "main" in self.lake.branches


TestWatching = Watching.TestCase
TestWatching.settings = settings(stateful_step_count=25)


def told(events):
    return [(each.kind, each.branch or each.tag, (each.message or "")[-2:]) for each in events]


def begun(lake):
    watch = watching(lake)
    watch.begin()
    return watch


def test_commits_of_a_branch_are_told_once_and_oldest_first():
    lake = Lake()
    watch = begun(lake)
    for _ in range(3):
        lake.branches["main"] = lake.make([lake.branches["main"]])
    assert told(watch.changes()) == [("commit_created", "main", f" {n}") for n in (1, 2, 3)]
    assert told(watch.changes()) == []


def test_a_branch_that_was_merged_and_deleted_between_two_looks_is_not_lost():
    lake = Lake()
    watch = begun(lake)
    side = lake.make([lake.branches["main"]])
    lake.branches["main"] = lake.make([lake.branches["main"], side])
    assert told(watch.changes()) == [
        ("commit_created", "main", " 1"),
        ("merge_completed", "main", " 2"),
    ]


def test_a_new_branch_begins_where_it_leaves_what_is_known():
    lake = Lake()
    first = lake.branches["main"]
    for _ in range(20):
        lake.branches["main"] = lake.make([lake.branches["main"]])
    watch = begun(lake)
    lake.branches["dev"] = lake.make([lake.make([first])])
    events = list(watch.changes())
    assert told(events) == [
        ("branch_created", "dev", ""),
        ("commit_created", "dev", "21"),
        ("commit_created", "dev", "22"),
    ]
    assert events[0].commit_id == first


def test_a_branch_that_was_set_back_is_reset():
    lake = Lake()
    first = lake.branches["main"]
    for _ in range(20):
        lake.branches["main"] = lake.make([lake.branches["main"]])
    last, watch = lake.branches["main"], begun(lake)
    lake.branches["main"] = first
    (event,) = watch.changes()
    assert (event.kind, event.branch, event.commit_id) == ("branch_reset", "main", first)
    assert event.old_commit_id == last


def test_long_histories_are_not_walked_below_what_is_known():
    lake = Lake()
    for _ in range(2000):
        lake.branches["main"] = lake.make([lake.branches["main"]])
    watch = begun(lake)
    lake.branches["main"] = lake.make([lake.branches["main"]])
    lake.branches["dev"] = lake.make([lake.branches["main"]])
    lake.asked = 0
    assert len(list(watch.changes())) == 3
    assert lake.asked < 20


def test_commits_since_a_ref_or_a_time():
    lake = Lake()
    heads = [lake.branches["main"]]
    for _ in range(6):
        heads.append(lake.make([heads[-1]]))
    lake.branches |= {"main": heads[-1], "dev": lake.make([heads[2]])}
    since_ref = watching(lake).begin_at(ref=heads[4])
    assert sorted(told(since_ref)) == [
        ("commit_created", "dev", " 7"),
        ("commit_created", "main", " 5"),
        ("commit_created", "main", " 6"),
    ]
    since_time = watching(lake).begin_at(since_s=1_700_000_006)
    assert sorted(told(since_time)) == [
        ("commit_created", "dev", " 7"),
        ("commit_created", "main", " 6"),
    ]


def test_after_a_failure_the_next_look_tells_all(monkeypatch):
    lake = Lake()
    watch = begun(lake)
    lake.branches["main"] = lake.make([lake.branches["main"]])
    lake.branches["dev"] = lake.make([lake.branches["main"]])

    def fail(*_args):
        raise ApiRefusedError("later", 503, "later", "")

    with monkeypatch.context() as broken:
        broken.setattr(lake, "page", fail)
        with pytest.raises(ApiRefusedError):
            list(watch.changes())
    assert len(list(watch.changes())) == 3


def test_each_event_has_the_form_of_the_published_ones():
    lake = Lake()
    watch = begun(lake)
    first = lake.branches["main"]
    picked = lake.make([lake.make([first])], **{"cherry-pick-origin": first})
    lake.branches |= {"main": lake.make([first, picked]), "dev": picked}
    lake.tags["v1"] = picked
    events = list(watch.changes())
    lake.branches = {"main": first}
    lake.tags = {}
    events += [*watch.changes(), watch.deleted()]
    for event in events:
        jsonschema.validate(json.loads(msgspec.json.encode(event)), SCHEMA)
    assert {each.kind for each in events} == {
        *("branch_created", "branch_deleted", "branch_reset", "tag_created", "tag_deleted"),
        *("commit_created", "merge_completed", "cherry_pick_completed", "repository_deleted"),
    }


# The command


@pytest.fixture
def hurried(monkeypatch, time_zone):
    time_zone("UTC")
    monkeypatch.setattr("graveler_cli.commands.events.time.sleep", lambda _: None)


def test_events_are_lines_until_the_repository_is_deleted(graveler, server, hurried):
    server.will_answer(page(branch("main", "a")), page(), page(branch("main", "b")), page())
    server.will_answer(REPOSITORY, commit("a"), page(commit("b", "a", generation=2)))
    server.answers[-1] = (
        200,
        "application/json",
        json.dumps(page(commit("b", "a", generation=2), commit("a"))),
    )
    server.will_answer({"message": "repository not found"}, status=404)
    lines = graveler.prints(*TAIL, "--interval", "0.1").splitlines()
    assert (
        lines[0] == f"2023-11-14 22:13:20 +0000 UTC\tcommit_created\tmain\t{IDS['b'][:12]}\tadd b"
    )
    assert lines[1].endswith("\trepository_deleted\tfoo")


def test_since_prints_json_and_ends_with_once(graveler, server, hurried):
    server.will_answer(page(branch("main", "b")), page(), REPOSITORY)
    server.will_answer(page(commit("b", "a"), commit("a", date=1)))
    printed = graveler.prints(*TAIL, "--since", "2023-01-01 00:00 +0000", "--once", "--json")
    event = json.loads(printed)
    assert (event["kind"], event["branch"], event["commit_id"]) == (
        "commit_created",
        "main",
        IDS["b"],
    )
    jsonschema.validate(event, SCHEMA)


def test_a_look_that_fails_is_a_warning(graveler, server, hurried, monkeypatch):
    monkeypatch.setenv("LAKECTL_SERVER_RETRIES_MAX_ATTEMPTS", "1")
    server.will_answer(page(branch("main", "a")), page())
    server.will_say(500, "")
    server.will_say(500, "")
    server.will_answer({"message": "repository not found"}, status=404)
    result = graveler.run(*TAIL)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: ")
    assert "repository_deleted" in result.stdout


@pytest.mark.parametrize(
    "line",
    [
        "",
        "foo",
        "lakefs://foo/main",
        "lakefs://foo --interval 0",
        "lakefs://foo --interval soon",
        "lakefs://foo --once",
    ],
)
def test_wrong_input_is_refused(graveler, server, line):
    assert graveler.fails("events", "tail", *line.split())
    assert server.asked == []


def test_a_refusal_at_the_beginning_fails(graveler, server):
    server.will_answer({"message": "repository not found"}, status=404)
    assert graveler.fails(*TAIL) == "repository not found"
    assert graveler.fails(*TAIL, "--since", "v1") == "repository not found"


def test_a_refusal_later_on_fails(graveler, server, hurried):
    server.will_answer(page(branch("main", "a")), page())
    server.will_answer({"message": "insufficient permissions"}, status=403)
    assert graveler.fails(*TAIL) == "insufficient permissions"
