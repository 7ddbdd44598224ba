"""Reports of collections, for programs and for people."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from graveler.model import Event
from graveler.model.events import detail_of
from graveler.retention.report import (
    AGE_DAYS,
    PREFIXES_MAX,
    CollectionReport,
    Tally,
    age_class,
    event_detail,
    largest,
    size,
    summary,
    text,
)

ROOT = Path(__file__).parents[3]
START_NS = 1_648_728_000 * 10**9  # 2022-03-31T12:00:00Z


def report() -> CollectionReport:
    return CollectionReport(
        run_id="run",
        mark_id="mark",
        repository="lake",
        start_ns=START_NS,
        cutoff_ns=START_NS - 25 * 3600 * 10**9,
    )


def test_the_summary_begins_as_lakefs_writes_it() -> None:
    done = report()
    done.is_success = True
    done.first_slice = "data/p/"
    done.deleted.add(2, 30)
    written = json.loads(summary(done))
    assert list(written.items())[:6] == [
        ("run_id", "run"),
        ("success", True),
        ("first_slice", "data/p/"),
        ("start_time", "2022-03-31T12:00:00Z"),
        ("cutoff_time", "2022-03-30T11:00:00Z"),
        ("num_deleted_objects", 2),
    ]


def test_a_person_reads_what_would_go() -> None:
    marked = report()
    marked.marked.add(1_234, 5 * 1024**3)
    marked.by_age = {5: Tally(1_000, 4 * 1024**3), 2: Tally(234, 1024**3)}
    marked.by_prefix = {"data/p": Tally(1_234, 5 * 1024**3)}
    marked.warnings = ["look out"]
    lines = text(marked).splitlines()
    assert lines[1] == "WARNING: look out"
    assert "  to be deleted       1,234 objects, 5.0 GiB" in lines
    assert "marked only: nothing was deleted" in text(marked)
    by_age = lines.index("  To be deleted, by age")
    assert lines[by_age + 1].split() == ["7", "to", "30", "days", "234", "objects,", "1.0", "GiB"]
    assert lines[by_age + 2].split()[:3] == ["over", "365", "days"]


def test_a_person_reads_what_was_done() -> None:
    swept = report()
    swept.is_swept = swept.is_success = True
    swept.deleted.add(3, 10)
    swept.came_to_life = 1
    assert "deleted             3 objects, 10 bytes" in text(swept)
    assert "came to life        1" in text(swept)
    assert "done" in text(swept)


def test_failures_are_reported() -> None:
    failed = report()
    failed.error = "s3://bucket/lake/_lakefs/x is missing"
    assert "FAILED: s3://bucket/lake/_lakefs/x is missing" in text(failed)
    assert event_detail(failed)["error"] == failed.error
    partly = report()
    partly.is_swept, partly.failed, partly.failure = True, 2, "s3://b/x: AccessDenied"
    assert "not all could be deleted" in text(partly)
    assert "2, such as s3://b/x: AccessDenied" in text(partly)


def test_the_event_is_what_subscribers_were_promised() -> None:
    event = Event("id", "garbage_collection_finished", "lake", START_NS, event_detail(report()))
    schema = json.loads((ROOT / "docs/events.schema.json").read_text())
    strict = Draft202012Validator(schema | {"unevaluatedProperties": False})
    strict.validate(json.loads(detail_of(event)))


def test_classes_of_age_follow_each_other() -> None:
    assert [age_class(age) for age in range(len(AGE_DAYS) + 1)] == [
        "up to 1 day",
        "1 to 7 days",
        "7 to 30 days",
        "30 to 90 days",
        "90 to 365 days",
        "over 365 days",
    ]


def test_sizes_have_the_unit_that_suits_them() -> None:
    shown = {0: "0 bytes", 1023: "1,023 bytes", 1024: "1.0 KiB", 3 * 1024**5: "3.0 PiB"}
    assert {number: size(number) for number in shown} == shown
    assert size(5000 * 1024**5) == "5,000.0 PiB"


def test_only_the_largest_folders_are_named_the_largest_first() -> None:
    tallies = {f"data/{number:03}": Tally(1, number) for number in range(PREFIXES_MAX + 5)}
    named = largest(tallies)
    assert len(named) == PREFIXES_MAX
    assert next(iter(named)) == f"data/{PREFIXES_MAX + 4:03}"
    assert "data/004" not in named
