"""What `make dist` writes, deployed by its README into an emulator of AWS with IAM enforced."""

import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest
import requests

from tests.deployed.conftest import BACKUP, PLACES, STEPS, result_of, until
from tests.support.clients.api import event
from tests.support.servers.deployed import DeployedStacks


def test_the_acceptance_suite_passes_on_what_the_readme_deploys(stacks):
    outcomes = stacks.accept(*PLACES)
    assert len(outcomes) == STEPS
    assert {name: each for name, each in outcomes.items() if each != "ok"} == {}


@pytest.mark.parametrize(
    ("sid", "method", "path", "body"),
    [
        ("StartTasks", "POST", "/branches/main/commits/async", {"allow_empty": True}),
        ("PutObjects", "POST", "/branches/main/objects?path=a", None),
        ("Staging", "GET", "/branches/main/diff", None),
    ],
)
def test_without_one_permission_its_requests_fail_and_with_it_they_work(
    stacks, repository, sid, method, path, body
):
    def ask() -> int:
        # Each task is another one.
        more = {"json": {**body, "message": uuid4().hex}} if body else {"data": b"x" * 100}
        return stacks.ask(method, repository + path, **more).status_code

    assert ask() in {200, 201, 202}
    with stacks.without("api", sid):
        assert ask() >= 400
    assert ask() in {200, 201, 202}


def test_the_parts_of_an_upload_are_listed(stacks, repository):
    uploads, where = f"{repository}/branches/main/uploads", {"path": "in-parts"}
    begun = stacks.ask("POST", uploads, params=where, json={})
    assert begun.status_code == 201, begun.text
    upload = f"{uploads}/{begun.json()['upload_id']}"
    place = stacks.ask("PUT", f"{upload}/parts/1", params=where).json()["presigned_url"]
    assert requests.put(place, data=b"x" * 10, timeout=60).status_code == 200
    listed = stacks.ask("GET", f"{upload}/parts", params=where)
    assert [row["size_bytes"] for row in listed.json()["results"]] == [10], listed.text


def test_the_catalogue_of_tables_has_the_rights_that_it_needs(stacks, account, repository):
    functions, keys = account.client("lambda"), stacks.key_pair
    pair = f"{keys['access_key_id']}:{keys['secret_access_key']}".encode()
    headers = {"authorization": f"Basic {b64encode(pair).decode()}"}

    def ask(method: str, path: str, body: object = None) -> Any:
        """Call the function: the emulator takes requests to /iceberg for those of S3 Tables."""
        at = f"/iceberg/relative_to/{repository.rpartition('/')[2]}.main/api/v1{path}"
        sent = None if body is None else json.dumps(body).encode()
        payload = json.dumps(event(method, at, headers=headers, body=sent))
        answer = functions.invoke(FunctionName=f"{stacks.name}-iceberg", Payload=payload)
        return json.loads(answer["Payload"].read())

    in_sales = "/namespaces/sales/tables"
    schema = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "int"}]}
    commit = {
        "requirements": [],
        "updates": [{"action": "set-properties", "updates": {"a": "b"}}],
    }
    assert ask("POST", "/namespaces", {"namespace": ["sales"]})["statusCode"] == 200
    with stacks.without("iceberg", "WriteData"):
        assert ask("POST", in_sales, {"name": "t", "schema": schema})["statusCode"] >= 400
    for path, body in ((in_sales, {"name": "t", "schema": schema}), (f"{in_sales}/t", commit)):
        answer = ask("POST", path, body)
        assert answer["statusCode"] == 200, answer
    committed = stacks.ask("POST", f"{repository}/branches/main/commits", json={"message": "m"})
    assert committed.status_code == 201, committed.text
    answer = ask("GET", "/namespaces/system/tables/objects")
    assert answer["statusCode"] == 200, answer
    assert '"total-data-files":"1"' in answer["body"]


def test_a_commit_is_an_event_that_a_rule_of_another_program_gets(stacks, account, repository):
    queues, events = account.client("sqs"), account.client("events")
    queue = queues.create_queue(QueueName="subscriber")["QueueUrl"]
    arn = queues.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]
    bus, name = stacks.outputs["EventBus"], "subscriber"
    pattern = json.dumps({"source": ["graveler"], "detail-type": ["Commit Created"]})
    events.put_rule(Name=name, EventBusName=bus, EventPattern=pattern)
    target = {"Id": "1", "Arn": arn["QueueArn"]}
    events.put_targets(Rule=name, EventBusName=bus, Targets=[target])
    where = f"{repository}/branches/main"
    assert stacks.ask("POST", f"{where}/objects?path=event", data=b"x").status_code == 201
    commit = stacks.ask("POST", f"{where}/commits", json={"message": "an event"}).json()
    found = queues.receive_message(QueueUrl=queue, WaitTimeSeconds=20).get("Messages", [])
    (message,) = (json.loads(each["Body"]) for each in found)
    assert message["detail"]["commit_id"] == commit["id"]


def test_what_the_schedules_call_may_do_what_it_does(stacks, account, repository):
    functions, found = account.client("lambda"), stacks.scheduled()
    (cleanup,) = (each["Arn"] for each in found if ":function:" in each["Arn"])
    assert "FunctionError" not in functions.invoke(FunctionName=cleanup, Payload=b"{}")
    (dumps,) = (each for each in found if ":sqs:" in each["Arn"])
    queue = stacks.outputs["EventsTaskQueueUrl"]
    account.client("sqs").send_message(QueueUrl=queue, MessageBody=dumps["Input"])

    def ended() -> list[str]:
        tasks = stacks.ask("GET", f"{repository}/tasks").json()["results"]
        states = [each["state"] for each in tasks if each["kind"] == "dump"]
        return [each for each in states if each in {"completed", "failed"}]

    assert until(ended) == ["completed"]
    copies = account.client("s3").list_objects_v2(Bucket=BACKUP)["Contents"]
    assert any(each["Key"].startswith("dumps/shared/") for each in copies), copies


def test_the_web_page_is_served_beside_the_api(stacks):
    page = requests.get(f"{stacks.endpoint}/", timeout=60)
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    (script,) = re.findall(r'<script[^>]* src="([^"]+)"', page.text)
    assert requests.get(f"{stacks.endpoint}{script}", timeout=60).status_code == 200


def test_icebergs_catalogue_is_served_beside_the_api(stacks, repository):
    name = repository.rpartition("/")[2]
    schema = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "int"}]}
    namespace = [name, "main", "db"]
    tables = f"/lakefs/namespaces/{'%1F'.join(namespace)}/tables"

    keys = stacks.key_pair["access_key_id"], stacks.key_pair["secret_access_key"]

    def ask(method: str, path: str, body: object = None) -> requests.Response:
        url = f"{stacks.catalogue}{path}"
        return requests.request(method, url, auth=keys, json=body, timeout=60)

    assert "endpoints" in ask("GET", "/config").json()
    assert ask("POST", "/lakefs/namespaces", {"namespace": namespace}).json()["properties"] == {}
    made = ask("POST", tables, {"name": "t", "schema": schema})
    assert made.status_code == 200, made.text
    listed = ask("GET", tables).json()["identifiers"]
    assert listed == [{"namespace": namespace, "name": "t"}]
    update = {"action": "set-properties", "updates": {"a": "b"}}
    assert ask("POST", f"{tables}/t", {"requirements": [], "updates": [update]}).status_code == 200
    assert ask("GET", f"{tables}/t").json()["metadata"]["properties"]["a"] == "b"
    assert ask("DELETE", f"{tables}/t").status_code == 204


# A second deployment in the account, with `economy`: a secret has the place of the key.


@pytest.fixture(scope="module")
def economical(account, stacks, distribution) -> DeployedStacks:
    return DeployedStacks.of(account, distribution(name="economical", economy="true"))


def test_both_deployments_have_their_own_users_and_data(stacks, economical):
    name = "both"
    for each, content in ((stacks, "of the first"), (economical, "of the second")):
        where = f"{each.repository(name)}/branches/main/objects"
        assert each.ask("POST", where, params={"path": "a"}, data=content).status_code == 201
        read = each.ask("GET", f"/repositories/{name}/refs/main/objects", params={"path": "a"})
        assert read.text == content
    stranger = DeployedStacks(stacks.account, stacks.name, economical.key_pair)
    assert stranger.ask("GET", f"/repositories/{name}").status_code == 401


def test_functions_read_the_secret_of_the_cipher_and_show_no_secret(account, economical):
    secrets = account.client("secretsmanager")
    values = [
        secrets.get_secret_value(SecretId=each["ARN"])["SecretString"]
        for each in secrets.list_secrets()["SecretList"]
        if each["Name"].startswith(economical.name)
    ]
    assert len(values) == 2  # the token, and the cipher's
    shown = [
        account.client("lambda").list_functions()["Functions"],
        account.client("cloudformation").describe_stacks()["Stacks"],
    ]
    assert [each for each in values if each in json.dumps(shown, default=str)] == []
    # The task's function decrypts the signing key.
    where = f"{economical.repository('by-task')}/branches/main/commits"
    body = {"message": "made by a task", "allow_empty": True}
    assert result_of(economical, where, body)["message"] == "made by a task"


# Updates


@contextmanager
def used(stacks, repository: str) -> Iterator[list[str]]:
    """Write and read meanwhile; yield what failed, and what was read last."""
    failures: list[str] = []
    ended, done = Event(), Event()

    def use() -> None:
        count = 0
        while not ended.is_set():
            count += 1
            path, content = f"under-load/{count}", str(count).encode()
            where = f"{repository}/branches/main/objects"
            written = stacks.ask("POST", where, params={"path": path}, data=content)
            read = stacks.ask("GET", f"{repository}/refs/main/objects", params={"path": path})
            if (written.status_code, read.content) != (201, content):
                failures.append(f"{path}: {written.text} {read.text}")
            done.set()

    thread = Thread(target=use)
    thread.start()
    try:
        assert done.wait(60)
        yield failures
    finally:
        ended.set()
        thread.join()


def settings_of(stacks) -> dict[str, str]:
    """The environment of the API's function, as callers reach it."""
    functions = stacks.account.client("lambda")
    found = functions.get_function_configuration(
        FunctionName=f"{stacks.name}-api", Qualifier="live"
    )
    environment: dict[str, str] = found["Environment"]["Variables"]
    return environment


def test_an_update_changes_a_setting_and_fails_no_request(
    stacks, account, repository, distribution
):
    before = settings_of(stacks)
    with used(stacks, repository) as failures:
        stacks.deploy(distribution(request_work_s="7"))
    assert failures == []
    changed = {name for name, value in settings_of(stacks).items() if before.get(name) != value}
    assert changed == {"GRAVELER_REQUEST_WORK_S"}


def test_an_update_that_fails_is_rolled_back_and_fails_no_request(
    stacks, account, repository, distribution
):
    before = settings_of(stacks)
    changed = distribution(request_work_s="9")
    service = changed / f"{changed.name}.template.json"
    template = json.loads(service.read_text())
    resources = template["Resources"]
    resources["Broken"] = {
        "Type": "AWS::SQS::Queue",
        "Properties": {"DelaySeconds": 100_000},  # more than there may be
        # What changes has changed before.
        "DependsOn": [
            name for name in resources if resources[name]["Type"] == "AWS::Lambda::Alias"
        ],
    }
    service.write_text(json.dumps(template))
    with used(stacks, repository) as failures, pytest.raises(subprocess.CalledProcessError):
        stacks.deploy(changed)
    formation = account.client("cloudformation")
    (stack,) = formation.describe_stacks(StackName=stacks.name)["Stacks"]
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert (failures, settings_of(stacks)) == ([], before)


def test_a_service_that_is_deleted_and_made_again_has_all_data(stacks, account, repository, folder):
    where = f"{repository}/refs/main/objects"
    assert stacks.ask("POST", f"{repository}/branches/main/objects?path=kept", data=b"kept").ok
    formation = account.client("cloudformation")
    formation.delete_stack(StackName=stacks.name)
    formation.get_waiter("stack_delete_complete").wait(
        StackName=stacks.name, WaiterConfig={"Delay": 1, "MaxAttempts": 120}
    )
    stacks.deploy(folder)
    assert stacks.ask("GET", where, params={"path": "kept"}).content == b"kept"
