"""The next step of an export, and how steps change its record."""

from msgspec.structs import replace

from graveler.export import lifecycle
from graveler.export.lifecycle import DESTINATIONS_MAX, ENDED_RUNS_MAX, LEASE_S
from graveler.export.next_step import Next, next_step
from graveler.export.record import (
    BranchExport,
    Destination,
    EndedRun,
    ExportConfiguration,
    ExportRun,
    ExportState,
    Progress,
)
from graveler.model import NO_COMMIT, CommitID
from tests.support.checks.cases import for_each

PATH = "s3://out/latest"
ONCE = ExportConfiguration(PATH)
ALWAYS = ExportConfiguration(PATH, is_continuous=True)
HEAD, NEXT, OTHER = CommitID("head"), CommitID("next"), CommitID("other")
RUN = ExportRun("run", HEAD, ONCE, started_ns=1)
WHOLE = Destination(PATH, exported_commit=HEAD)
NOW_NS = 1000 * 10**9

NEW = BranchExport("main", ONCE)
AT_WORK = replace(NEW, state=ExportState.IN_PROGRESS, run=RUN)
SUCCEEDED = replace(AT_WORK, state=ExportState.SUCCEEDED, destinations=(WHOLE,))
FAILED = replace(AT_WORK, state=ExportState.FAILED)


def held(record: BranchExport, until_ns: int) -> BranchExport:
    assert record.run is not None
    return replace(record, run=replace(record.run, runner="r", lease_until_ns=until_ns))


@for_each(
    ("record", "expected"),
    [
        (NEW, Next.NOTHING),
        (replace(NEW, is_pending=True), Next.BEGIN),
        (replace(NEW, configuration=ALWAYS), Next.BEGIN),
        (AT_WORK, Next.TAKE),
        (held(AT_WORK, NOW_NS + 1), Next.WAIT),
        (held(AT_WORK, NOW_NS), Next.TAKE),
        (replace(AT_WORK, configuration=ExportConfiguration("s3://out/other")), Next.DROP),
        (
            held(replace(AT_WORK, configuration=ExportConfiguration("s3://o")), NOW_NS + 1),
            Next.WAIT,
        ),
        (replace(AT_WORK, configuration=ALWAYS), Next.TAKE),
        (SUCCEEDED, Next.NOTHING),
        (replace(SUCCEEDED, is_pending=True), Next.NOTHING),
        (replace(SUCCEEDED, configuration=ALWAYS), Next.NOTHING),
        (replace(SUCCEEDED, configuration=ALWAYS, destinations=()), Next.BEGIN),
        (
            replace(
                SUCCEEDED,
                is_pending=True,
                destinations=(replace(WHOLE, touched_commits=(OTHER,)),),
            ),
            Next.BEGIN,
        ),
        (FAILED, Next.NOTHING),
        (replace(FAILED, is_pending=True, configuration=ALWAYS), Next.NOTHING),
        (replace(FAILED, state=ExportState.REPAIRED, is_pending=True), Next.BEGIN),
    ],
)
def test_the_next_step_follows_from_the_record(record, expected):
    assert next_step(record, HEAD, NOW_NS) is expected


def test_a_new_head_is_exported_if_pending_or_continuous():
    assert next_step(SUCCEEDED, NEXT, NOW_NS) is Next.NOTHING
    assert next_step(replace(SUCCEEDED, is_pending=True), NEXT, NOW_NS) is Next.BEGIN
    assert next_step(replace(SUCCEEDED, configuration=ALWAYS), NEXT, NOW_NS) is Next.BEGIN


def test_a_new_run_has_no_progress_and_no_error():
    asked = replace(SUCCEEDED, is_pending=True, error_message="old", configuration=ALWAYS)
    begun = lifecycle.begun(asked, "lake", "run-2", NEXT, NOW_NS)
    assert begun.run == ExportRun("run-2", NEXT, ALWAYS, NOW_NS)
    assert (begun.state, begun.is_pending) == (ExportState.IN_PROGRESS, False)
    assert begun.error_message == ""


def test_a_run_that_repairs_knows_the_status_file_of_the_one_that_failed():
    reporting = replace(RUN, configuration=replace(ONCE, status_path="s3://out/s"))
    repaired = replace(FAILED, state=ExportState.REPAIRED, run=reporting)
    begun = lifecycle.begun(repaired, "lake", "run-2", NEXT, NOW_NS)
    assert begun.run.repaired_file == "s3://out/s/lake-main-head"


def test_a_run_that_repairs_one_without_a_status_file_reports_the_repair_in_its_own():
    asked = replace(FAILED, configuration=replace(ONCE, status_path="s3://out/s"))
    begun = lifecycle.begun(asked, "lake", "run-2", NEXT, NOW_NS)
    assert begun.run.repaired_file == "s3://out/s/lake-main-next"


def test_a_lease_is_held_for_a_minute_and_released():
    taken = lifecycle.taken(AT_WORK, "me", NOW_NS)
    assert (taken.run.runner, taken.run.lease_until_ns) == ("me", NOW_NS + LEASE_S * 10**9)
    assert lifecycle.released(taken) == AT_WORK


def test_an_announced_run_has_touched_its_destination():
    before = replace(AT_WORK, destinations=(replace(WHOLE, exported_commit=OTHER),))
    announced = lifecycle.announced(before, "s3://out/s/_STATUS", 7)
    (known,) = announced.destinations
    assert (known.exported_commit, known.touched_commits) == (OTHER, (HEAD,))
    assert known.status_file == "s3://out/s/_STATUS"
    assert announced.run.is_announced
    assert announced.run.progress.total == 7


def test_a_commit_is_touched_once_however_often_it_is_announced():
    once = lifecycle.announced(AT_WORK, "", 0)
    assert lifecycle.announced(once, "", 0).destinations[0].touched_commits == (HEAD,)


def test_a_destination_remembers_that_it_may_have_success_files():
    with_patterns = replace(RUN, configuration=replace(ONCE, last_keys_in_prefix_regexps=("a",)))
    marked = lifecycle.announced(replace(AT_WORK, run=with_patterns), "", 0)
    assert marked.destinations[0].has_marks
    again = lifecycle.announced(replace(marked, run=RUN), "", 0)
    assert again.destinations[0].has_marks
    known = replace(AT_WORK, destinations=(WHOLE,))
    assert not lifecycle.announced(known, "", 0).destinations[0].has_marks
    assert lifecycle.succeeded(marked, "", NOW_NS).destinations[0].has_marks


def test_an_unknown_path_may_have_success_files_until_everything_is_exported_there():
    begun = lifecycle.announced(AT_WORK, "", 0)
    assert begun.destinations[0].has_marks
    whole = lifecycle.succeeded(begun, "", NOW_NS)
    assert not whole.destinations[0].has_marks
    known = replace(AT_WORK, destinations=(replace(WHOLE, has_marks=True),))
    changed = lifecycle.succeeded(lifecycle.announced(known, "", 0), "", NOW_NS)
    assert changed.destinations[0].has_marks  # what did not change still has them


ELSEWHERE = Destination("s3://out/other", exported_commit=OTHER, touched_commits=(NEXT,))
MARKED = replace(ONCE, last_keys_in_prefix_regexps=("a",))


@for_each("end", ["succeeded", "failed", "dropped"])
def test_after_a_run_no_path_is_verified_under_patterns_set_meanwhile(end):
    record = replace(AT_WORK, destinations=(WHOLE, ELSEWHERE))
    record = lifecycle.configured(record, "main", MARKED, HEAD)
    assert record.destinations == (WHOLE, ELSEWHERE)
    ended = {
        "succeeded": lambda: lifecycle.succeeded(record, "", NOW_NS),
        "failed": lambda: lifecycle.failed(record, "error", Progress(), NOW_NS),
        "dropped": lambda: lifecycle.dropped(record, NOW_NS),
    }[end]()
    assert [known.exported_commit for known in ended.destinations] == [NO_COMMIT, NO_COMMIT]
    assert ended.destinations[1].touched_commits == (NEXT, OTHER)


@for_each("record", [SUCCEEDED, FAILED])
def test_other_patterns_leave_no_path_verified(record):
    known = replace(record, destinations=(WHOLE, ELSEWHERE))
    changed = lifecycle.configured(known, "main", MARKED, HEAD)
    assert [known.exported_commit for known in changed.destinations] == [NO_COMMIT, NO_COMMIT]


def test_what_is_requested_during_a_run_is_exported_whole_after_it():
    record = replace(AT_WORK, destinations=(WHOLE, ELSEWHERE), is_pending=True)
    for ended in (lifecycle.succeeded(record, "", NOW_NS), lifecycle.dropped(record, NOW_NS)):
        assert ended.destinations[0].exported_commit == NO_COMMIT
        assert ended.destinations[1] == ELSEWHERE


@for_each("record", [AT_WORK, replace(SUCCEEDED, state=ExportState.REPAIRED)])
def test_a_request_is_not_withdrawn_by_the_same_configuration(record):
    pending = replace(record, configuration=ALWAYS, is_pending=True)
    assert lifecycle.configured(pending, "main", ALWAYS, HEAD).is_pending


def test_a_successful_run_leaves_a_destination_with_exactly_its_commit():
    touched = lifecycle.announced(AT_WORK, "", 0)
    ended = lifecycle.succeeded(touched, "s3://out/manifest", NOW_NS)
    assert ended.destinations == (replace(WHOLE, manifest="s3://out/manifest"),)
    assert ended.state is ExportState.SUCCEEDED
    assert ended.run.runner == ""


def test_the_latest_destinations_are_remembered():
    record = AT_WORK
    for number in range(DESTINATIONS_MAX + 5):
        run = replace(RUN, configuration=ExportConfiguration(f"s3://out/{number}"))
        record = lifecycle.announced(replace(record, run=run), "", 0)
    assert [known.path for known in record.destinations] == [
        f"s3://out/{number}" for number in range(DESTINATIONS_MAX + 4, 4, -1)
    ]


def test_an_overlapping_destination_becomes_unknown():
    others = (Destination("s3://out"), Destination("s3://out/latest/a"), Destination("s3://o"))
    announced = lifecycle.announced(replace(AT_WORK, destinations=others), "", 0)
    assert [known.path for known in announced.destinations] == [PATH, "s3://o"]


def test_a_failure_keeps_what_was_touched():
    touched = lifecycle.announced(AT_WORK, "", 0)
    ended = lifecycle.failed(touched, "3 tasks failed\n", Progress(failed=3), NOW_NS)
    assert (ended.state, ended.error_message) == (ExportState.FAILED, "3 tasks failed\n")
    assert ended.destinations == touched.destinations
    assert ended.run.progress.failed == 3


def test_the_last_runs_that_ended_are_kept_the_newest_first():
    record = AT_WORK
    for number in range(ENDED_RUNS_MAX + 2):
        run = replace(RUN, id=str(number), progress=Progress(done=1, total=2))
        record = lifecycle.succeeded(replace(record, run=run), "", NOW_NS + number)
    numbers = range(ENDED_RUNS_MAX + 1, 1, -1)
    assert [each.id for each in record.ended] == list(map(str, numbers))
    newest = EndedRun("11", HEAD, ExportState.SUCCEEDED, 1, NOW_NS + 11, 1, 2, 0)
    assert record.ended[0] == newest
    failed = lifecycle.failed(record, "x" * 10_000, Progress(failed=3), NOW_NS).ended[0]
    assert (failed.state, failed.failed) == (ExportState.FAILED, 3)
    assert 100 < len(failed.error_message) < 1000
    assert lifecycle.dropped(record, NOW_NS).ended[0].state is None


@for_each(
    ("known", "state"),
    [
        ((), None),
        ((WHOLE,), ExportState.SUCCEEDED),
        ((replace(WHOLE, touched_commits=(OTHER,)),), None),
        ((Destination(PATH, touched_commits=(OTHER,)),), None),
    ],
)
def test_a_dropped_run_leaves_the_state_of_the_configured_path(known, state):
    elsewhere = replace(RUN, configuration=ExportConfiguration("s3://out/other"))
    record = held(replace(AT_WORK, run=elsewhere, destinations=known), NOW_NS)
    dropped = lifecycle.dropped(record, NOW_NS)
    assert (dropped.state, dropped.run.runner) == (state, "")


@for_each(
    ("record", "is_pending"),
    [
        (None, True),
        (NEW, True),
        (AT_WORK, True),
        (SUCCEEDED, False),
        (FAILED, True),
        (replace(FAILED, state=ExportState.REPAIRED, is_pending=True), True),
    ],
)
def test_another_configuration_requests_a_run_if_there_is_work(record, is_pending):
    changed = lifecycle.configured(record, "main", ALWAYS, HEAD)
    assert changed.configuration == ALWAYS
    assert changed.is_pending is is_pending
