"""How long DynamoDB keeps the records that it deletes by itself, as docs/formats/dynamodb.md says."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from graveler.aws.dynamodb.models import OUTBOX, partition_of
from graveler.model import Repository
from graveler.times import NS_PER_S
from tests.contract.conftest import DynamoDBStores, create, main_of, new_event
from tests.contract.test_hook_runs import new_run
from tests.contract.test_tasks import NOW_NS, new_task
from tests.contract.test_uploads import DONE, new_upload

DAY_S = 24 * 60 * 60


@pytest.fixture
def stores(dynamodb_stores: DynamoDBStores) -> DynamoDBStores:
    return dynamodb_stores


def expiries_s(stores: DynamoDBStores, repository: Repository) -> Mapping[str, int]:
    """Return by kind of record when one expires, in Unix seconds."""
    found: dict[str, int] = {}
    for raws in stores.tables.pages(stores.tables.query(partition_of(repository), "")):
        for raw in raws:
            if "expires_at" in raw:
                found[raw["sort"]["S"].partition("#")[0]] = int(raw["expires_at"]["N"])
    return found


def test_records_are_kept_as_long_as_documented(stores: DynamoDBStores) -> None:
    repository = create(stores)
    task, run, upload = new_task(), new_run(1, "main", "c" * 64), new_upload()
    event = replace(new_event(), time_ns=NOW_NS)
    stores.refs.create_task(repository, task, None, event)
    stores.refs.put_hook_run(repository, run)
    stores.refs.put_upload(repository, upload)
    run_end_s, created_s = run.end_ns // NS_PER_S, upload.created_ns // NS_PER_S
    week_s = NOW_NS // NS_PER_S + 7 * DAY_S
    noted = stores.tables.get(partition_of(repository), OUTBOX + event.id)
    assert noted is not None
    assert int(noted["expires_at"]["N"]) == week_s
    found = dict(expiries_s(stores, repository))
    del found["outbox"]  # perhaps of the repository's creation
    assert found == {
        "task": week_s,
        "joinable": week_s,
        **dict.fromkeys(
            ("hook-run", "hook-run-of-branch", "hook-run-of-commit"), run_end_s + 90 * DAY_S
        ),
        "upload": created_s + 7 * DAY_S,
    }


def test_a_task_lives_on_with_each_change(stores: DynamoDBStores) -> None:
    repository, task = create(stores), new_task()
    stores.refs.create_task(repository, task, None, new_event())
    changed = replace(task, update_time_ns=task.update_time_ns + DAY_S * NS_PER_S)
    stores.refs.replace_task(repository, task, changed, None)
    week_s = changed.update_time_ns // NS_PER_S + 7 * DAY_S
    assert expiries_s(stores, repository)["task"] == week_s


def test_a_completed_upload_is_known_for_a_day(stores: DynamoDBStores) -> None:
    repository, upload = create(stores), new_upload()
    stores.refs.put_upload(repository, upload)
    main = main_of(stores, repository)
    completed = upload.completed_by(DONE, main.staging_token)
    stores.staging.stage_upload(repository, main, b"value", None, completed)
    expected_s = DONE.completed_ns // NS_PER_S + DAY_S
    assert expiries_s(stores, repository)["upload"] == expected_s
