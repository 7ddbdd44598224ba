"""The storage stack: tables as the engine knows them, buckets, the key, and their logical IDs."""

import json
from typing import Any

import pytest

from graveler.aws.dynamodb.models import ExportItem, OutboxItem, TaskItem
from graveler.aws.dynamodb.tables import _refs_description, _staging_description
from tests.support.worlds.shapes import OLD

# Never to be changed: another logical ID means another table, and this one deleted or orphaned.
STATEFUL = {
    "Key961B73FD": "AWS::KMS::Key",
    "Refs48288B5D": "AWS::DynamoDB::Table",
    "Staging12D1754E": "AWS::DynamoDB::Table",
    "ArtefactsC012E42A": "AWS::S3::Bucket",
    "RepositoriesCC43A267": "AWS::S3::Bucket",
    "SetupTokenC572E43B": "AWS::SecretsManager::Secret",
}
KINDS = set(STATEFUL.values())

# The second deletes what a first deployment that failed has made.
RETAINED = ("Retain", "RetainExceptOnCreate")
# The property with the physical name of each kind that is retained; None if the kind has none.
NAME_OF_RETAINED = {
    "AWS::DynamoDB::Table": "TableName",
    "AWS::KMS::Key": None,
    "AWS::Lambda::Version": None,
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::S3::Bucket": "BucketName",
    "AWS::S3::BucketPolicy": None,
}


def stateful(template: dict[str, Any]) -> dict[str, str]:
    return {
        logical_id: resource["Type"]
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] in KINDS
    }


def test_stateful_resources_keep_their_logical_ids_whatever_changes(dev, prod):
    """The two differ in every setting that there is."""
    assert stateful(dev.storage) == STATEFUL
    assert stateful(prod.storage) == STATEFUL


def test_the_service_stack_holds_no_state(deployment):
    assert stateful(deployment.service) == {}


@pytest.mark.parametrize(
    ("logical_id", "described"),
    [
        ("Refs48288B5D", _refs_description("")),
        ("Staging12D1754E", _staging_description("")),
    ],
)
def test_a_table_is_the_one_that_the_embedded_stack_makes(deployment, logical_id, described):
    table = deployment.resources("AWS::DynamoDB::Table")[logical_id]
    assert table["BillingMode"] == described["BillingMode"]
    assert table["KeySchema"] == described["KeySchema"]
    assert by_name(table["AttributeDefinitions"]) == by_name(described["AttributeDefinitions"])
    assert table.get("GlobalSecondaryIndexes") == described.get("GlobalSecondaryIndexes")
    assert "LocalSecondaryIndexes" not in table
    stream = described.get("StreamSpecification", {}).get("StreamViewType")
    assert table.get("StreamSpecification", {}).get("StreamViewType") == stream


def by_name(attributes: list[dict[str, str]]) -> dict[str, str]:
    return {each["AttributeName"]: each["AttributeType"] for each in attributes}


def test_items_go_when_their_time_to_live_is_over(deployment):
    refs = deployment.resources("AWS::DynamoDB::Table")["Refs48288B5D"]
    assert refs["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert hasattr(OutboxItem, "expires_at")
    assert hasattr(TaskItem, "expires_at")
    assert not hasattr(ExportItem, "expires_at")


def test_tables_can_be_restored_and_are_encrypted_with_the_key(deployment):
    for table in deployment.resources("AWS::DynamoDB::Table").values():
        assert table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True
        assert table["SSESpecification"]["SSEType"] == "KMS"
        assert deployment.flat(table["SSESpecification"]["KMSMasterKeyId"]) == "<Key961B73FD.Arn>"


def test_production_loses_nothing_by_a_mistake(prod):
    for logical_id, resource in prod.storage["Resources"].items():
        if logical_id in STATEFUL and not logical_id.startswith("SetupToken"):
            assert resource["DeletionPolicy"] in RETAINED, logical_id
            assert resource["UpdateReplacePolicy"] == "Retain", logical_id
    for table in prod.resources("AWS::DynamoDB::Table").values():
        assert table["DeletionProtectionEnabled"] is True


def test_production_can_be_deleted_and_created_again_as_no_retained_name_is_fixed(prod):
    fixed = {}
    for logical_id, resource in prod.all_resources.items():
        if resource.get("DeletionPolicy") not in RETAINED:
            continue
        name = resource["Properties"].get(NAME_OF_RETAINED[resource["Type"]])
        if name is not None and "AWS::StackId" not in json.dumps(name):
            fixed[logical_id] = resource["DeletionPolicy"]
    # The user chose its name. It goes with a first deployment that failed.
    assert fixed == {"RepositoriesCC43A267": "RetainExceptOnCreate"}


def test_objects_outlive_even_a_deployment_for_trying_out(dev):
    for logical_id in dev.resources("AWS::S3::Bucket"):
        assert dev.all_resources[logical_id]["DeletionPolicy"] in RETAINED
    for table in dev.resources("AWS::DynamoDB::Table").values():
        assert table["DeletionProtectionEnabled"] is False


def test_the_key_is_rotated(deployment):
    assert deployment.one("AWS::KMS::Key")["EnableKeyRotation"] is True


def test_the_key_serves_the_logs_that_are_encrypted_with_it(deployment):
    allowed = [
        deployment.flat(each["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"])
        for each in deployment.one("AWS::KMS::Key")["KeyPolicy"]["Statement"]
        if each.get("Sid") == "LogsOfJobs"
    ]
    assert len(allowed) == 1
    names = [
        deployment.flat(each["LogGroupName"])
        for each in deployment.resources("AWS::Logs::LogGroup").values()
        if "KmsKeyId" in each
    ]
    # Of both jobs, and of the gateway.
    assert len(names) == (5 if deployment.gateway["Resources"] else 4)
    prefix = allowed[0].removeprefix("arn:aws:logs:eu-west-1:123456789012:log-group:")
    assert all(name.startswith(prefix.removesuffix("*")) for name in names)


def test_no_bucket_is_public_or_reached_without_tls(deployment):
    policies = deployment.resources("AWS::S3::BucketPolicy").values()
    guarded = {deployment.flat(each["Bucket"]) for each in policies if denies_plain_http(each)}
    for logical_id, bucket in deployment.resources("AWS::S3::Bucket").items():
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert len(bucket["PublicAccessBlockConfiguration"]) == 4
        ownership = bucket["OwnershipControls"]["Rules"]
        assert ownership == [{"ObjectOwnership": "BucketOwnerEnforced"}]
        assert f"<{logical_id}>" in guarded


def denies_plain_http(policy: dict[str, Any]) -> bool:
    return any(
        each["Effect"] == "Deny"
        and each["Action"] == "s3:*"
        and each["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        for each in policy["PolicyDocument"]["Statement"]
    )


def lifecycle(deployment) -> dict[str, dict[str, Any]]:
    bucket = deployment.resources("AWS::S3::Bucket")["RepositoriesCC43A267"]
    return {each["Id"]: each for each in bucket["LifecycleConfiguration"]["Rules"]}


def test_deleted_objects_can_be_brought_back_in_production_and_go_after_some_days(prod):
    bucket = prod.resources("AWS::S3::Bucket")["RepositoriesCC43A267"]
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    rule = lifecycle(prod)["forget-deleted-objects"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 14}
    assert rule["ExpiredObjectDeleteMarker"] is True
    assert not {"ExpirationInDays", "Prefix", "Transitions"} & rule.keys()


def test_without_days_deleted_objects_are_gone_and_versions_of_earlier_go_as_well(dev):
    bucket = dev.resources("AWS::S3::Bucket")["RepositoriesCC43A267"]
    assert "VersioningConfiguration" not in bucket
    rule = lifecycle(dev)["forget-deleted-objects"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 1}


def test_the_repository_bucket_keeps_no_half_uploads_and_encrypts_with_keys_of_s3(deployment):
    bucket = deployment.resources("AWS::S3::Bucket")["RepositoriesCC43A267"]
    rule = lifecycle(deployment)["abort-unfinished-uploads"]
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    # An ETag is an object's MD5, which clients compare, under S3's own keys only.
    (encryption,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}


def test_the_repository_bucket_has_the_name_that_was_asked_for(dev, prod):
    assert "BucketName" not in dev.resources("AWS::S3::Bucket")["RepositoriesCC43A267"]
    bucket = prod.resources("AWS::S3::Bucket")["RepositoriesCC43A267"]
    assert bucket["BucketName"] == "company-graveler"


def test_pages_of_other_origins_reach_objects_where_they_were_allowed_to(dev, prod):
    (of_dev,), (of_prod,) = cors_rules(dev), cors_rules(prod)
    # Of all APIs of the region: the storage stack is older than the API's address.
    anywhere = "https://*.execute-api.eu-west-1.amazonaws.com"
    assert [dev.flat(each) for each in of_dev["AllowedOrigins"]] == [anywhere]
    assert of_prod["AllowedOrigins"] == ["https://lake.example.com", "https://app.example.com"]


def test_pages_upload_in_parts_and_read_ranges(deployment):
    (rule,) = cors_rules(deployment)
    assert rule["AllowedMethods"] == ["GET", "HEAD", "PUT"]
    assert rule["AllowedHeaders"] == ["*"]
    assert {"Content-Length", "Content-Range", "ETag"} <= {*rule["ExposedHeaders"]}


def cors_rules(deployment):
    bucket = deployment.resources("AWS::S3::Bucket")["RepositoriesCC43A267"]
    return bucket["CorsConfiguration"]["CorsRules"]


def test_a_setting_ends_the_access_logs_of_the_repository_bucket(deployment_of):
    logged = {
        name: "LoggingConfiguration"
        in deployment_of(name).resources("AWS::S3::Bucket")["RepositoriesCC43A267"]
        for name in ("dev", "other")
    }
    assert logged == {"dev": True, "other": False}


@pytest.mark.parametrize("name", ["dev", "prod", "kept"])
def test_secrets_are_made_in_aws_and_never_again(deployment_of, name):
    """CloudFormation makes another one if this changes. Users' secrets need the old one."""
    made = {"ExcludePunctuation": True, "PasswordLength": 40}
    for secret in deployment_of(name).resources("AWS::SecretsManager::Secret").values():
        assert "SecretString" not in secret
        assert secret["GenerateSecretString"] == made


def test_production_keeps_the_secret_of_the_cipher_with_the_tables(deployment_of):
    resources = deployment_of("kept").storage["Resources"]
    assert resources["SecretA720EF05"]["Type"] == "AWS::SecretsManager::Secret"
    assert resources["SecretA720EF05"]["DeletionPolicy"].startswith("Retain")
    assert resources["SecretA720EF05"]["UpdateReplacePolicy"] == "Retain"


def reads(deployment, role: str) -> set[str]:
    return {
        resource
        for each in deployment.statements(role)
        if "s3:GetObject" in each["Action"]
        for resource in each["Resource"]
    }


def test_the_service_holds_on_to_the_bucket_so_that_another_choice_is_refused(dev, prod):
    """CloudFormation changes no exported value that another stack imports."""
    for deployment in (dev, prod):
        exports = {
            each["Export"]["Name"]
            for each in deployment.storage["Outputs"].values()
            if "Export" in each and each["Value"] == {"Ref": "RepositoriesCC43A267"}
        }
        (name,) = exports
        assert f'"Fn::ImportValue": "{name}"' in json.dumps(deployment.service)


def test_a_deployment_moves_to_another_bucket_without_a_time_when_it_cannot_read_the_old_one(
    deployment_of,
):
    """The steps of docs/deploy.md."""
    released = deployment_of("released")
    assert "RepositoriesCC43A267" not in json.dumps([released.storage, released.service])
    assert f"arn:aws:s3:::{OLD}/*" in reads(released, "api")
    moved = deployment_of("moved")
    assert {f"arn:aws:s3:::{OLD}/*", "arn:aws:s3:::<RepositoriesCC43A267>/*"} <= reads(moved, "api")
    for each in (released, moved):
        kept = {**STATEFUL}
        if each is released:
            del kept["RepositoriesCC43A267"]
        assert stateful(each.storage) == kept


def test_a_bucket_that_stays_keeps_the_policy_that_refuses_plain_http(deployment):
    for resource in deployment.storage["Resources"].values():
        if resource["Type"] == "AWS::S3::BucketPolicy":
            assert resource["DeletionPolicy"] in RETAINED
