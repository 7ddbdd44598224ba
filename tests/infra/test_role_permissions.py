"""Least privilege: roles name what they reach, allow what the code does, and little else.

What the code does stands in actions.txt: `make actions` records it from the tests that run the
embedded stack and the jobs (tests/support/checks/actions.py). There is no KMS there, no Glue, and nothing
of what Lambda does for a function, so those are listed here, with the reason.
"""

import fnmatch
import re
from pathlib import Path
from typing import Any

import pytest

from infra.nag_suppressions import OF_STATEMENTS

RECORDED = Path(__file__).with_name("actions.txt").read_text().split("\n")

# The roles by which a function or job may do what is recorded of it.
ROLES = {
    "api": ("api",),
    "cleanup": ("cleanup",),
    "events": ("events",),
    "export": ("export",),
    "export-job": ("export-job",),
    "garbage_collection": ("garbage-collection-job",),
    "gateway": ("gateway",),
    "slices": ("slices",),
    "hooks": ("hooks",),
    "iceberg": ("iceberg",),
    "tasks": ("tasks",),
    # Requests from threads of the process that has these five.
    "background": ("cleanup", "events", "export", "hooks", "tasks"),
}

# Actions that IAM binds to no resource.
WITHOUT_RESOURCE = {
    # Of interfaces that Lambda is about to make.
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
    "cloudwatch:DescribeAlarms",  # of a list of alarms
    "cloudwatch:PutMetricData",
    "dynamodb:ListStreams",
    "ecr:GetAuthorizationToken",
    "glue:GetSecurityConfiguration",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
}

# The embedded stack does these itself, where a deployment has CDK and Lambda.
ONLY_EMBEDDED = {"dynamodb:CreateTable", "dynamodb:DescribeTable"}

# Statements that no test can use, since what they are for is on AWS only.
ONLY_ON_AWS = {
    "CallHooks": "The embedded stack has no Lambda; tests/unit/aws/test_hook_targets.py tries it.",
    "PutHookEvents": "Settings name buses of users; tests/unit/aws/test_hook_targets.py tries it.",
    "ReadHookSecrets": "The embedded stack reads them from its environment; the same test tries it.",
    "BucketKeys": "S3 uses the keys of buckets that have any.",
    "DecryptCode": "Glue loads a job's code from CDK's bucket, which may have a key.",
    "GlueLog": "Glue writes the logs of a job.",
    "ListStreams": "Lambda reads the stream.",
    "LoadCode": "Glue loads a job's code.",
    "Log": "Lambda writes the logs of a function.",
    "Measure": "Glue measures its jobs.",
    "NetworkInterfaces": "Lambda connects a function to a VPC.",
    "ReadInventory": "Inventory reports may lie in other buckets than repositories.",
    "ReadSecurity": "Glue reads how it has to encrypt.",
    "ReadStream": "Lambda reads the stream.",
    "Receive": "Lambda takes messages off the queue.",
    "ReportFailures": "Lambda reports what could not be published.",
    "Scratch": "Glue and Spark write temporary files.",
    "ReadSetupToken": "The embedded stack has it in its environment; the deployed one tries it.",
    "Secrets": "The embedded stack encrypts without KMS; tests/unit/aws/test_kms.py tries it.",
    "StartCollections": "The embedded stack starts jobs itself; the same test tries Glue.",
    "StartJob": "The embedded stack has no Glue; tests/unit/aws/test_glue.py tries it.",
    "TablesKey": "DynamoDB uses the key of its tables.",
    "Trace": "Lambda traces functions.",
    "VendCredentials": "The embedded stack has one key pair; tests/unit/aws/test_vended_credentials.py tries it.",
}

# Small exports and large ones; tasks without hooks and those with.
SAME_CODE = {"export": "export-job", "export-job": "export", "hooks": "tasks"}

_AGE = "What is dropped must be four hours old; tests/contract/test_cleanup.py drops it."
_MISSING = "Without it S3 calls an object that is missing forbidden."
_UNFINISHED = (
    "An upload in parts that failed is aborted; tests/contract/test_objects.py aborts one."
)
_STEP = "A branch is committed right after a step of a move."
_SEAL = "A commit dies while it seals, on a branch that an earlier version left full."
# What else a role allows though nobody was seen to do it: statement and action, with the reason.
UNUSED: dict[str, dict[tuple[str, str], str]] = {
    "api": {
        ("DeleteMarks", "s3:DeleteObject"): "Two creations of one repository race for its mark.",
    },
    "cleanup": {
        ("ShowLife", "dynamodb:Query"): "A setting names the collections that are watched; "
        "tests/contract/test_heartbeats.py reads when they ended.",
        ("Refs", "dynamodb:DeleteItem"): _AGE,
        ("EndOffers", "dynamodb:UpdateItem"): _AGE,
        ("Staging", "dynamodb:BatchWriteItem"): _AGE,
    },
    "export": {
        ("WriteExports", "s3:AbortMultipartUpload"): _UNFINISHED,
        ("ForgetExports", "dynamodb:DeleteItem"): "A branch goes while it is exported.",
    },
    "export-job": {
        ("WriteExports", "s3:AbortMultipartUpload"): _UNFINISHED,
    },
    "gateway": {
        ("FindObjects", "s3:ListBucket"): _MISSING,
        ("Staging", "dynamodb:BatchWriteItem"): _SEAL,
        ("MakeRoom", "dynamodb:DeleteItem"): _SEAL,
        ("MakeRoom", "dynamodb:GetItem"): _SEAL,
        ("MakeRoom", "dynamodb:PutItem"): _SEAL,
    },
    "iceberg": {
        ("FindObjects", "s3:ListBucket"): _MISSING,
    },
    "slices": {
        ("FindObjects", "s3:ListBucket"): _MISSING,
    },
    "tasks": {
        ("Commits", "dynamodb:Query"): "Only a merge that takes seconds is left to a task.",
        ("Staging", "dynamodb:BatchGetItem"): _STEP,
        ("Staging", "dynamodb:GetItem"): _STEP,
        ("TakeOffers", "dynamodb:DeleteItem"): "Eight commits in a row are refused; "
        "tests/contract/test_compaction.py takes offers.",
    },
}

UNUSED["hooks"] = UNUSED["tasks"]

# Places of the stage prod, as tests/infra/conftest.py names them, and a repository in each.
NAMESPACES = ("company-lake/lake/repository/", "company-raw/raw/repository/")
DESTINATION = "company-published/exports/main/"
# Inventories are read; reports of collections and copies of dumps are written.
ELSEWHERE = ("company-source/in/", "company-reports/gc/", "company-backup/dumps/")
REFS, STAGING = "<Refs48288B5D.Arn>", "<Staging12D1754E.Arn>"


def recorded() -> list[tuple[str, str, str]]:
    found = [tuple(line.split(" ")) for line in RECORDED if line]
    return [
        (who, action, resource)
        for who, action, resource in found
        if who in ROLES and action not in ONLY_EMBEDDED
    ]


def needs(action: str, resource: str) -> tuple[list[str], str]:
    """Samples of what the line stands for, of which one must be allowed; the kind of partition."""
    partition = ""
    samples = [
        f"arn:aws:s3:::{NAMESPACES[0]}{resource}{'' if resource == '_lakefs/dummy' else 'x'}"
    ]
    if resource == "other":
        samples = [f"arn:aws:s3:::{place}x" for place in (DESTINATION, *NAMESPACES, *ELSEWHERE)]
    elif resource == "bucket":
        buckets = ("company-lake", "company-published", "company-reports")
        samples = [f"arn:aws:s3:::{bucket}" for bucket in buckets]
    elif resource == "staging":
        samples = [STAGING]
    elif resource == "commits-by-generation":
        samples, partition = [f"{REFS}/index/{resource}"], "repository#lake#1"
    elif action.startswith("dynamodb:"):
        samples = [REFS]
        partition = "repository#lake#1" if resource == "repository" else resource
    elif not action.startswith("s3:"):
        samples = ["*"]
    return samples, partition


def allows(statement: dict[str, Any], action: str, resource: str, partition: str) -> bool:
    leading = statement.get("Condition", {}).get("ForAllValues:StringLike", {})
    patterns = leading.get("dynamodb:LeadingKeys", ["*"])
    return (
        action in statement["Action"]
        and (resource == "*" or any(matches(each, resource) for each in statement["Resource"]))
        and (not partition or any(matches(each, partition) for each in patterns))
    )


def matches(pattern: str, text: str) -> bool:
    """As IAM does: `*` and `?`, and nothing else is special."""
    return (
        re.fullmatch(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), text) is not None
    )


def test_the_recorded_actions_are_of_every_function_and_job():
    assert {who for who, _, _ in recorded()} == ROLES.keys()
    assert len(recorded()) > 60


@pytest.mark.parametrize(("who", "action", "resource"), recorded())
def test_a_role_allows_what_its_function_or_job_was_seen_to_do(prod, who, action, resource):
    samples, partition = needs(action, resource)
    statements = [each for role in ROLES[who] for each in prod.statements(role)]
    assert any(allows(each, action, sample, partition) for each in statements for sample in samples)


@pytest.mark.parametrize("role", [role for who, (role, *more) in ROLES.items() if not more])
def test_a_role_allows_nothing_that_was_never_done(prod, role):
    done = [
        (action, *needs(action, resource))
        for who, action, resource in recorded()
        if role in ROLES[who] or who == SAME_CODE.get(role)
    ]
    unused = [
        (statement["Sid"], action)
        for statement in prod.statements(role)
        if statement["Sid"] not in ONLY_ON_AWS
        for action in statement["Action"]
        if not any(
            action == seen and any(allows(statement, action, each, partition) for each in samples)
            for seen, samples, partition in done
        )
    ]
    assert [each for each in unused if each not in UNUSED.get(role, {})] == []
    assert [each for each in UNUSED.get(role, {}) if each not in unused] == []


def roles(deployment):
    for logical_id, role in deployment.resources("AWS::IAM::Role").items():
        yield logical_id, list(deployment.statements_of(role))


def test_a_statement_names_its_resources_where_iam_can(deployment):
    for logical_id, statements in roles(deployment):
        assert statements, logical_id
        for statement in statements:
            if "*" in statement["Resource"]:
                assert set(statement["Action"]) <= WITHOUT_RESOURCE, (logical_id, statement)
            assert not any("*" in action for action in statement["Action"]), statement
            assert not any(
                re.fullmatch(r"arn:aws:[a-z0-9]+:.*:\*", each) for each in statement["Resource"]
            )


def test_what_is_named_with_a_wildcard_has_a_reason(deployment):
    for _, statements in roles(deployment):
        for statement in statements:
            if any("*" in each for each in statement["Resource"]):
                assert statement["Sid"] in OF_STATEMENTS


def test_every_reason_is_of_a_statement(prod):
    sids = {each["Sid"] for _, statements in roles(prod) for each in statements}
    assert sids >= OF_STATEMENTS.keys()
    assert sids >= ONLY_ON_AWS.keys()


def test_nothing_is_granted_beside_the_roles_own_policies(deployment):
    assert not deployment.resources("AWS::IAM::Policy")
    assert not deployment.resources("AWS::IAM::ManagedPolicy")
    for role in deployment.resources("AWS::IAM::Role").values():
        assert not role.get("ManagedPolicyArns")


def test_each_function_and_job_has_a_role_of_its_own(deployment):
    users = [
        deployment.flat(each["Role"])
        for kind in ("AWS::Lambda::Function", "AWS::Glue::Job")
        for each in deployment.resources(kind).values()
        if not each.get("FunctionName", "").endswith("-waits")  # which has the API's
    ]
    assert len(set(users)) == len(users) == 11


def can(deployment, role, action, resource, partition="") -> bool:
    return any(allows(each, action, resource, partition) for each in deployment.statements(role))


def test_the_api_deletes_no_object_of_a_user(prod):
    assert not can(prod, "api", "s3:DeleteObject", "arn:aws:s3:::company-lake/lake/r/data/x/y")
    assert not can(prod, "api", "s3:DeleteObject", "arn:aws:s3:::company-published/exports/x")
    assert can(prod, "api", "s3:DeleteObject", "arn:aws:s3:::company-lake/lake/r/_lakefs/dummy")


def test_garbage_collection_deletes_nothing_but_data_of_namespaces(prod):
    def deletes(key):
        return can(prod, "garbage-collection-job", "s3:DeleteObject", f"arn:aws:s3:::{key}")

    assert deletes("company-lake/lake/r/data/x/y")
    assert deletes("<RepositoriesCC43A267>/r/data/x/y")
    assert deletes("<RepositoriesCC43A267>/data/x/y")  # the bucket itself as a namespace
    assert not deletes("company-lake/lake/r/_lakefs/0a1b2c")
    assert not deletes("company-lake/other/r/data/x/y")
    assert not deletes("company-source/in/data/x")
    assert not deletes("company-published/exports/data/x")


def test_exports_write_to_their_destinations_and_their_own_pieces_only(prod):
    for role in ("export", "export-job"):
        for action in ("s3:PutObject", "s3:DeleteObject"):
            assert can(prod, role, action, "arn:aws:s3:::company-published/exports/main/a")
            assert not can(prod, role, action, "arn:aws:s3:::company-published/other/a")
            assert not can(prod, role, action, "arn:aws:s3:::company-lake/lake/r/data/x/y")
            assert not can(prod, role, action, "arn:aws:s3:::company-lake/lake/r/_lakefs/0a1b2c")


def test_the_api_looks_whether_a_destination_is_empty(prod):
    assert can(prod, "api", "s3:ListBucket", "arn:aws:s3:::company-published")
    assert not can(prod, "api", "s3:PutObject", "arn:aws:s3:::company-published/exports/main/a")


def test_tasks_change_no_object_of_a_user_and_invoke_the_slices_alone(prod):
    for role in ("tasks", "hooks", "slices"):
        for action in ("s3:DeleteObject", "s3:PutObject"):
            assert not can(prod, role, action, "arn:aws:s3:::company-lake/lake/r/data/x/y")
            assert not can(prod, role, action, "arn:aws:s3:::company-published/exports/main/a")
        assert can(prod, role, "s3:PutObject", "arn:aws:s3:::company-lake/lake/r/_lakefs/0a1b2c")
    deleted = "arn:aws:s3:::company-lake/lake/r/_lakefs/{}"
    assert can(prod, "tasks", "s3:DeleteObject", deleted.format("tasks/CAx/1.json"))
    assert not can(prod, "tasks", "s3:DeleteObject", deleted.format("0a1b2c"))
    (invoke,) = (each for each in prod.statements("tasks") if each["Sid"] == "ApplySlices")
    (function,) = invoke["Resource"]
    assert function.startswith("<SlicesFunctionAlias")


def test_slices_move_no_branch(prod):
    for action in ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"):
        assert not can(prod, "slices", f"dynamodb:{action}", REFS, "repository#lake#1")
        assert not can(prod, "slices", f"dynamodb:{action}", STAGING)


def test_the_gateway_changes_no_account_and_deletes_no_object(prod):
    data = "arn:aws:s3:::company-lake/lake/r/data/x/y"
    assert can(prod, "gateway", "s3:PutObject", data)
    assert not can(prod, "gateway", "s3:DeleteObject", data)
    for folder in ("_lakefs/0a1b2c", "_lakefs/dummy", "other/x"):
        assert not can(
            prod, "gateway", "s3:PutObject", f"arn:aws:s3:::company-lake/lake/r/{folder}"
        )
    assert not can(prod, "gateway", "s3:PutObject", "arn:aws:s3:::company-published/exports/main/a")
    for action in ("PutItem", "UpdateItem", "DeleteItem"):
        assert can(prod, "gateway", f"dynamodb:{action}", REFS, "repository#lake#1")
        for partition in ("accounts", "repositories", "ending-repositories", "exports"):
            assert not can(prod, "gateway", f"dynamodb:{action}", REFS, partition)
    assert not can(prod, "gateway", "dynamodb:Query", REFS, "accounts")
    (secrets,) = (each for each in prod.statements("gateway") if each["Sid"] == "Secrets")
    assert secrets["Action"] == ["kms:Decrypt"]


def test_the_catalogue_changes_no_account_commits_nothing_and_deletes_no_object(prod):
    place = "arn:aws:s3:::company-lake/lake/r/"
    for key in ("_iceberg/0a1b2c/metadata/x", "data/x/y"):
        assert can(prod, "iceberg", "s3:GetObject", place + key)
        assert can(prod, "iceberg", "s3:PutObject", place + key)
    for key in ("_lakefs/0a1b2c", "_lakefs/dummy", "other/x"):
        assert not can(prod, "iceberg", "s3:PutObject", place + key)
    actions = {action for each in prod.statements("iceberg") for action in each["Action"]}
    assert not {each for each in actions if each.startswith(("dynamodb:Delete", "s3:Delete"))}
    assert {each.partition(":")[0] for each in actions}.isdisjoint({"events", "lambda"})
    assert {each for each in actions if each.startswith("sqs:")} == {"sqs:SendMessage"}
    for action in ("PutItem", "UpdateItem"):
        assert can(prod, "iceberg", f"dynamodb:{action}", REFS, "repository#lake#1")
        for partition in ("accounts", "repositories", "ending-repositories", "exports"):
            assert not can(prod, "iceberg", f"dynamodb:{action}", REFS, partition)


def test_credentials_of_icebergs_clients_reach_files_of_tables_and_delete_none(dev, prod):
    place = "arn:aws:s3:::company-lake/lake/r/"
    for action in ("s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"):
        assert can(prod, "table-files", action, f"{place}_iceberg/0a1b2c/data/x.parquet")
        for key in ("data/x/y", "_lakefs/0a1b2c", "_lakefs/dummy"):
            assert not can(prod, "table-files", action, place + key)
    actions = {action for each in prod.statements("table-files") for action in each["Action"]}
    assert actions == {
        "kms:Decrypt",
        "kms:GenerateDataKey",
        "s3:AbortMultipartUpload",
        "s3:GetObject",
        "s3:ListMultipartUploadParts",
        "s3:PutObject",
    }
    assert "VendCredentials" not in {each["Sid"] for each in dev.statements("iceberg")}


def test_the_catalogue_alone_may_assume_the_role_of_those_credentials(dev, prod):
    (role,) = (
        each
        for each in prod.resources("AWS::IAM::Role").values()
        if "-table-files-" in prod.flat(each.get("RoleName", ""))
    )
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Action"] == "sts:AssumeRole"
    assert prod.flat(trust["Principal"]["AWS"]).startswith("<IcebergFunctionRole")
    (vend,) = (each for each in prod.statements("iceberg") if each["Sid"] == "VendCredentials")
    assert vend["Action"] == ["sts:AssumeRole"]
    (resource,) = vend["Resource"]
    assert resource.endswith(f":role/{prod.flat(role['RoleName'])}")
    assert "table-files" not in str(dev.service)


def test_what_starts_the_gateways_tasks_loads_their_image_and_writes_their_log(prod):
    allowed = {
        action: each["Resource"]
        for each in prod.statements("gateway-start")
        for action in each["Action"]
    }
    assert {action.partition(":")[0] for action in allowed} == {"ecr", "logs"}
    (repository,) = allowed["ecr:BatchGetImage"]
    assert repository.endswith(":repository/cdk-hnb659fds-container-assets-123456789012-eu-west-1")
    assert allowed["logs:PutLogEvents"] == ["<TaskLog2A1470CD.Arn>"]


def test_one_request_that_reads_several_partitions_is_allowed_by_one_statement(prod):
    """All keys of a BatchGetItem must fit one statement, and the recording has each by itself."""
    together = [("repositories", "repository#lake#1"), ("accounts", "login-failures")]
    read = {(who, resource) for who, action, resource in recorded() if "BatchGet" in action}
    for role in ROLES:
        for partitions in together:
            if {(role, each.partition("#")[0]) for each in partitions} <= read:
                assert any(
                    all(allows(each, "dynamodb:BatchGetItem", REFS, one) for one in partitions)
                    for each in prod.statements(role)
                ), (role, partitions)


def test_what_may_be_read_is_not_written(prod):
    for role in ("gateway", "api", "export", "export-job", "garbage-collection-job", "tasks"):
        assert can(prod, role, "s3:GetObject", "arn:aws:s3:::company-source/in/a")
        assert not can(prod, role, "s3:PutObject", "arn:aws:s3:::company-source/in/a")
        assert not can(prod, role, "s3:GetObject", "arn:aws:s3:::company-source/else/a")


def test_only_the_api_reads_credentials(prod):
    for role in ("cleanup", "export-job", "garbage-collection-job", "events"):
        for action in ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem"):
            assert not can(prod, role, action, REFS, "accounts")
    assert can(prod, "api", "dynamodb:GetItem", REFS, "accounts")
    # These read the installation; of secrets they may decrypt that of the installation only.
    for role in ("export", "iceberg", "tasks", "hooks", "slices"):
        assert not can(prod, role, "dynamodb:Query", REFS, "accounts")
        (secrets,) = (each for each in prod.statements(role) if each["Sid"] == "Secrets")
        assert secrets["Condition"] == {
            "StringEquals": {"kms:EncryptionContext:purpose": "signing-key"}
        }
        assert secrets["Action"] == ["kms:Decrypt"]


def test_others_use_the_key_by_way_of_a_service_only(prod):
    for logical_id, statements in roles(prod):
        for statement in statements:
            if statement["Sid"] == "Secrets" or not any(
                action.startswith("kms:") for action in statement["Action"]
            ):
                continue
            assert "kms:ViaService" in statement["Condition"]["StringEquals"], logical_id


def test_keys_of_buckets_are_used_by_way_of_s3_in_the_keys_own_regions(prod):
    (statement,) = (each for each in prod.statements("api") if each["Sid"] == "BucketKeys")
    services = statement["Condition"]["StringEquals"]["kms:ViaService"]
    assert [prod.flat(each) for each in services] == [
        "s3.eu-west-1.amazonaws.com",
        "s3.us-east-1.amazonaws.com",
    ]


def test_every_role_has_the_boundary_of_the_settings_and_otherwise_none(dev, prod):
    for role in prod.resources("AWS::IAM::Role").values():
        assert role["PermissionsBoundary"] == "arn:aws:iam::123456789012:policy/company-boundary"
    for role in dev.resources("AWS::IAM::Role").values():
        assert "PermissionsBoundary" not in role


def test_resources_have_the_tags_of_the_settings(prod):
    ours = {"graveler:name": "graveler-prod", "graveler:stage": "prod"}
    wanted = {**ours, "team": "lake", "cost centre": "42"}
    for kind in ("DynamoDB::Table", "IAM::Role", "Lambda::Function", "S3::Bucket", "SQS::Queue"):
        for each in prod.resources(f"AWS::{kind}").values():
            assert {tag["Key"]: tag["Value"] for tag in each["Tags"]} == wanted
    for each in prod.resources("AWS::Glue::Job").values():
        assert each["Tags"] == wanted


def test_without_destinations_exports_write_nowhere(dev):
    assert "WriteExports" not in {each["Sid"] for each in dev.statements("export")}


def test_wildcards_are_understood_as_iam_does():
    assert matches("arn:aws:s3:::b/a*/data/*", "arn:aws:s3:::b/a/r/data/x")
    assert not matches("arn:aws:s3:::b/a*/data/*", "arn:aws:s3:::c/a/r/data/x")
    assert not matches("a[b]", "ab")
    assert fnmatch.fnmatch("ab", "a[b]")  # which is why it is not used
