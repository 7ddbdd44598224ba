"""What the emulator cannot do: templates are deployed without it, until a test here fails."""

import json

import pytest
from botocore.exceptions import ClientError, WaiterError

from tests.support.servers.formation import LEFT_OUT, SECRET

ALONE = {
    "AWS::Events::Archive": {
        "SourceArn": "arn:aws:events:eu-west-1:123456789012:event-bus/default"
    },
    "AWS::Glue::SecurityConfiguration": {"Name": "some", "EncryptionConfiguration": {}},
    "AWS::CodeDeploy::Application": {"ComputePlatform": "Lambda"},
    "AWS::CodeDeploy::DeploymentGroup": {"ApplicationName": "some", "ServiceRoleArn": "arn"},
    "AWS::WAFv2::WebACLAssociation": {"ResourceArn": "arn", "WebACLArn": "arn"},
    "AWS::CloudWatch::Alarm": {
        "ComparisonOperator": "GreaterThanThreshold",
        "EvaluationPeriods": 1,
        "Threshold": 1,
        "Metrics": [{"Id": "one", "Expression": "1 + 1"}],
    },
}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_a_resource_that_is_left_out_cannot_be_made_yet(account, kind):
    formation, name = account.client("cloudformation"), kind.replace("::", "-")
    template = json.dumps({"Resources": {"One": {"Type": kind, "Properties": ALONE[kind]}}})
    with pytest.raises((ClientError, WaiterError)):  # noqa: PT012 - refused at once, or later
        formation.create_stack(StackName=name, TemplateBody=template)
        formation.get_waiter("stack_create_complete").wait(
            StackName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60}
        )


def test_a_reference_to_a_secret_is_not_its_arn_yet(account):
    formation = account.client("cloudformation")
    template = {
        "Resources": {"One": {"Type": SECRET, "Properties": {"SecretString": "x"}}},
        "Outputs": {"Reference": {"Value": {"Ref": "One"}}},
    }
    formation.create_stack(StackName="secret", TemplateBody=json.dumps(template))
    formation.get_waiter("stack_create_complete").wait(StackName="secret")
    (stack,) = formation.describe_stacks(StackName="secret")["Stacks"]
    assert not stack["Outputs"][0]["OutputValue"].startswith("arn:")
    formation.delete_stack(StackName="secret")


def test_a_policy_does_not_see_the_encryption_context_yet(account):
    iam, kms = account.client("iam"), account.client("kms")
    key = kms.create_key()["KeyMetadata"]["KeyId"]
    statement = {
        "Effect": "Allow",
        "Action": "kms:Encrypt",
        "Resource": "*",
        "Condition": {"StringEquals": {"kms:EncryptionContext:purpose": "test"}},
    }
    iam.create_user(UserName="context")
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_user_policy(UserName="context", PolicyName="context", PolicyDocument=policy)
    pair = iam.create_access_key(UserName="context")["AccessKey"]
    theirs = account.client("kms", pair["AccessKeyId"], pair["SecretAccessKey"])
    with pytest.raises(ClientError, match="AccessDenied"):
        theirs.encrypt(KeyId=key, Plaintext=b"x", EncryptionContext={"purpose": "test"})
