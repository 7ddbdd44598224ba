"""The policy of the role with which CloudFormation makes the stacks: what their resources need.

CDK's bootstrap gives that role all permissions unless it gets others. These follow from the kinds
of resources in the templates, and are bound to the deployment's name where IAM can. They have not
been tried on AWS.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.role import MANAGED_LENGTH_MAX
from infra.settings import Settings
from infra.settings.rules import CREATE, NONE
from infra.sizes import json_length_max

FILE = "deployer-{}.json"


@dataclass(frozen=True, slots=True)
class Need:
    """Actions of a service on resources; `@` is the deployment's name.

    A resource is what follows the account in an ARN; `arn:…` is a whole one, `*` is any.
    """

    service: str
    actions: str
    resources: str = "*"
    condition: str = ""


_TAGS = "ListTagsForResource TagResource UntagResource"
_APIS = "arn:{partition}:apigateway:{region}::/*"
_API = Need("apigateway", "DELETE GET PATCH POST PUT", _APIS)
# API Gateway writes access logs by a delivery, and has a role of its own for domains.
_API_LOG = Need(
    "logs",
    "CreateLogDelivery DeleteLogDelivery DescribeLogGroups DescribeResourcePolicies GetLogDelivery "
    "ListLogDeliveries PutResourcePolicy UpdateLogDelivery",
)
_API_ROLE = Need(
    "iam",
    "CreateServiceLinkedRole",
    "arn:{partition}:iam::{account}:role/aws-service-role/ops.apigateway.amazonaws.com/*",
)
_FUNCTION = Need(
    "lambda",
    "AddPermission CreateAlias CreateFunction DeleteAlias DeleteFunction DeleteFunctionConcurrency "
    "GetAlias GetFunction GetFunctionCodeSigningConfig GetFunctionConfiguration "
    "GetFunctionRecursionConfig GetPolicy GetProvisionedConcurrencyConfig "
    "GetRuntimeManagementConfig ListTags ListVersionsByFunction PublishVersion "
    "PutFunctionConcurrency PutFunctionRecursionConfig RemovePermission TagResource UntagResource "
    "UpdateAlias UpdateFunctionCode UpdateFunctionConfiguration",
    "function:@-*",
)
_BUCKET = Need(
    "s3",
    "CreateBucket DeleteBucket DeleteBucketPolicy GetBucketAcl GetBucketCORS GetBucketLogging "
    "GetBucketOwnershipControls GetBucketPolicy GetBucketPublicAccessBlock GetBucketTagging "
    "GetBucketVersioning GetEncryptionConfiguration GetLifecycleConfiguration ListBucket "
    "PutBucketCORS PutBucketLogging PutBucketOwnershipControls PutBucketPolicy "
    "PutBucketPublicAccessBlock PutBucketTagging PutBucketVersioning PutEncryptionConfiguration "
    "PutLifecycleConfiguration",
    "{buckets}",
)
_TOPIC = Need(
    "sns",
    "CreateTopic DeleteTopic GetSubscriptionAttributes GetTopicAttributes ListSubscriptionsByTopic "
    "SetSubscriptionAttributes SetTopicAttributes Subscribe Unsubscribe " + _TAGS,
    "@-*",
)
_QUEUE = Need(
    "sqs",
    "CreateQueue DeleteQueue GetQueueAttributes GetQueueUrl ListQueueTags SetQueueAttributes "
    "TagQueue UntagQueue",
    "@-*",
)
_ROLE = Need(
    "iam",
    "AttachRolePolicy CreateRole DeleteRole DeleteRolePolicy DetachRolePolicy GetRole "
    "GetRolePolicy ListAttachedRolePolicies ListRolePolicies PutRolePermissionsBoundary "
    "PutRolePolicy TagRole UntagRole UpdateAssumeRolePolicy UpdateRole UpdateRoleDescription",
    "arn:{partition}:iam::{account}:role/@-*",
)
_PASS_ROLE = Need("iam", "PassRole", "arn:{partition}:iam::{account}:role/@-*", "passed")

NEEDS: Mapping[str, Sequence[Need]] = {
    "ApiGateway::BasePathMapping": (_API,),
    "ApiGateway::Deployment": (_API,),
    "ApiGateway::DomainName": (_API, _API_ROLE),
    "ApiGateway::Method": (_API,),
    "ApiGateway::Resource": (_API,),
    "ApiGateway::RestApi": (_API, Need("apigateway", "UpdateRestApiPolicy", _APIS)),
    "ApiGateway::Stage": (_API, _API_LOG),
    "ApiGatewayV2::Api": (_API,),
    "ApiGatewayV2::ApiMapping": (_API,),
    "ApiGatewayV2::DomainName": (_API, _API_ROLE),
    "ApiGatewayV2::Integration": (_API,),
    "ApiGatewayV2::Route": (_API,),
    "ApiGatewayV2::Stage": (_API, _API_LOG),
    "Budgets::Budget": (
        Need(
            "budgets",
            f"ModifyBudget ViewBudget {_TAGS}",
            "arn:{partition}:budgets::{account}:budget/@",
        ),
    ),
    "CloudWatch::Alarm": (
        Need("cloudwatch", f"DeleteAlarms PutMetricAlarm {_TAGS}", "alarm:@-*"),
        Need("cloudwatch", "DescribeAlarms"),
    ),
    "CloudWatch::Dashboard": (
        Need(
            "cloudwatch",
            f"DeleteDashboards GetDashboard PutDashboard {_TAGS}",
            "arn:{partition}:cloudwatch::{account}:dashboard/@",
        ),
    ),
    "CodeDeploy::Application": (
        Need(
            "codedeploy",
            "CreateApplication DeleteApplication GetApplication ListTagsForResource TagResource "
            "UntagResource UpdateApplication",
            "application:@",
        ),
    ),
    "CodeDeploy::DeploymentGroup": (
        # CloudFormation also starts the deployments that move the alias, and waits for them.
        Need(
            "codedeploy",
            "CreateDeployment CreateDeploymentGroup DeleteDeploymentGroup GetDeployment "
            "GetDeploymentGroup ListTagsForResource RegisterApplicationRevision StopDeployment "
            "TagResource UntagResource UpdateDeploymentGroup",
            "application:@ deploymentgroup:@/*",
        ),
        Need("codedeploy", "GetDeploymentConfig"),
        _PASS_ROLE,
    ),
    "DynamoDB::Table": (
        Need(
            "dynamodb",
            "CreateTable DeleteTable DescribeContinuousBackups DescribeContributorInsights "
            "DescribeKinesisStreamingDestination DescribeTable DescribeTimeToLive "
            "GetResourcePolicy ListTagsOfResource TagResource UntagResource "
            "UpdateContinuousBackups UpdateTable UpdateTimeToLive",
            "table/@-storage-*",
        ),
    ),
    # CloudFormation makes its name, which may be shortened.
    "Events::Archive": (
        Need("events", "CreateArchive DeleteArchive DescribeArchive UpdateArchive", "archive/*"),
    ),
    "Events::EventBus": (
        Need(
            "events",
            f"CreateArchive CreateEventBus DeleteEventBus DescribeEventBus UpdateEventBus {_TAGS}",
            "event-bus/@",
        ),
    ),
    "Events::Rule": (
        Need(
            "events",
            "DeleteRule DescribeRule DisableRule EnableRule ListTargetsByRule PutRule PutTargets "
            "RemoveTargets " + _TAGS,
            "rule/@-* rule/@/*",
        ),
    ),
    "Glue::Job": (
        Need(
            "glue",
            "CreateJob DeleteJob GetJob GetTags TagResource UntagResource UpdateJob",
            "job/@-*",
        ),
        _PASS_ROLE,
    ),
    "Glue::SecurityConfiguration": (
        Need(
            "glue",
            "CreateSecurityConfiguration DeleteSecurityConfiguration GetSecurityConfiguration",
        ),
    ),
    "IAM::ManagedPolicy": (
        Need(
            "iam",
            "CreatePolicy CreatePolicyVersion DeletePolicy DeletePolicyVersion GetPolicy "
            "GetPolicyVersion ListEntitiesForPolicy ListPolicyVersions TagPolicy UntagPolicy",
            "arn:{partition}:iam::{account}:policy/@-*",
        ),
    ),
    "IAM::Role": (_ROLE, _PASS_ROLE),
    "KMS::Key": (
        Need("kms", "CreateKey TagResource", "*", "tagged"),
        Need(
            "kms",
            # The last six are for the tables, the secret and the functions' environment.
            "DescribeKey DisableKey EnableKey EnableKeyRotation GetKeyPolicy GetKeyRotationStatus "
            "ListResourceTags PutKeyPolicy ScheduleKeyDeletion UntagResource UpdateKeyDescription "
            "CreateGrant Decrypt Encrypt GenerateDataKey ReEncryptFrom ReEncryptTo",
            "key/*",
            "ours",
        ),
    ),
    "Lambda::Alias": (_FUNCTION,),
    "Lambda::EventSourceMapping": (
        Need(
            "lambda",
            "CreateEventSourceMapping DeleteEventSourceMapping GetEventSourceMapping ListTags "
            "TagResource UntagResource UpdateEventSourceMapping",
            "event-source-mapping:*",
        ),
        Need("lambda", "CreateEventSourceMapping ListEventSourceMappings"),
    ),
    "Lambda::Function": (
        _FUNCTION,
        _PASS_ROLE,
        # Of functions in a VPC.
        Need("ec2", "DescribeSecurityGroups DescribeSubnets DescribeVpcs"),
    ),
    "Lambda::LayerVersion": (
        # CloudFormation makes its name.
        Need("lambda", "DeleteLayerVersion GetLayerVersion PublishLayerVersion", "layer:*"),
    ),
    "Lambda::Permission": (_FUNCTION,),
    "Lambda::Version": (_FUNCTION,),
    "Logs::LogGroup": (
        Need(
            "logs",
            "AssociateKmsKey CreateLogGroup DeleteLogGroup DeleteRetentionPolicy "
            f"DisassociateKmsKey PutRetentionPolicy {_TAGS}",
            "log-group:@-* log-group:/@-*",
        ),
        Need("logs", "DescribeLogGroups"),
    ),
    "Route53::RecordSet": (
        Need(
            "route53",
            "ChangeResourceRecordSets GetHostedZone ListResourceRecordSets",
            "arn:{partition}:route53:::hostedzone/{zone}",
        ),
        Need("route53", "GetChange", "arn:{partition}:route53:::change/*"),
    ),
    "S3::Bucket": (_BUCKET,),
    "S3::BucketPolicy": (_BUCKET,),
    "SNS::Subscription": (_TOPIC,),
    "SNS::Topic": (_TOPIC,),
    "SNS::TopicPolicy": (_TOPIC,),
    "SQS::Queue": (_QUEUE,),
    "SQS::QueuePolicy": (_QUEUE,),
    "Scheduler::Schedule": (
        Need(
            "scheduler",
            "CreateSchedule DeleteSchedule GetSchedule UpdateSchedule",
            "schedule/default/@-*",
        ),
        _PASS_ROLE,
    ),
    "SecretsManager::Secret": (
        # CloudFormation makes its name, of the logical ID, which differs without a key.
        Need(
            "secretsmanager",
            "CreateSecret DeleteSecret DescribeSecret GetResourcePolicy GetSecretValue "
            "PutSecretValue TagResource UntagResource UpdateSecret",
            "secret:{secret}-*",
        ),
        Need("secretsmanager", "GetRandomPassword"),
    ),
    "WAFv2::WebACLAssociation": (
        Need(
            "wafv2",
            "AssociateWebACL DisassociateWebACL GetWebACL GetWebACLForResource",
            f"regional/webacl/* {_APIS}",
        ),
        Need("apigateway", "SetWebACL", _APIS),
    ),
}

# What CloudFormation reads for templates of CDK: the archives, and the version of the bootstrap.
_OF_CDK = (
    Need("s3", "GetObject", "arn:{partition}:s3:::cdk-*-assets-{account}-*/*"),
    Need("ssm", "GetParameter GetParameters", "parameter/cdk-bootstrap/*"),
)
# Lambda reads archives as whoever makes the function, also from a bucket with a key.
_OF_ASSET_KEY = Need("kms", "Decrypt", "{asset_key}", "through S3")
_PASSED_TO = (
    "codedeploy.amazonaws.com",
    "glue.amazonaws.com",
    "lambda.amazonaws.com",
    "scheduler.amazonaws.com",
)
# With a permissions boundary, no role without it is made or gets more permissions.
_BOUNDED = frozenset(
    {"AttachRolePolicy", "CreateRole", "PutRolePermissionsBoundary", "PutRolePolicy"}
)


def write_deployer(
    folder: Path, settings: Settings, partition: str, region: str, account: str
) -> list[str]:
    """Write the policies into the folder; return a warning for each kind that is not known."""
    kinds = {
        logical_id: resource["Type"].removeprefix("AWS::")
        for path in folder.glob("*.template.json")
        for logical_id, resource in json.loads(path.read_text())["Resources"].items()
    }
    secrets = [each for each, kind in kinds.items() if kind == "SecretsManager::Secret"]
    values = {
        "partition": partition,
        "region": region,
        "account": account,
        "zone": settings.hosted_zone_id,
        "asset_key": settings.asset_key,
        "secret": "".join(secrets),  # a deployment has one
    }
    statements = list(_statements(set(kinds.values()), settings, values))
    for number, document in enumerate(_packed(statements), start=1):
        text = json.dumps({"Version": "2012-10-17", "Statement": document}, indent=2)
        (folder / "policies" / FILE.format(number)).write_text(text + "\n")
    return [
        f"the policy of the deployer lacks what AWS::{kind} needs: add it in infra/deployer.py"
        for kind in sorted(set(kinds.values()) - NEEDS.keys())
    ]


def _statements(
    kinds: set[str], settings: Settings, values: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    named = settings.repository_bucket not in (CREATE, NONE)
    buckets = [f"{settings.name}-storage-*", *([settings.repository_bucket] if named else [])]
    needs = dict.fromkeys(need for kind in sorted(kinds & NEEDS.keys()) for need in NEEDS[kind])
    of_assets = [_OF_ASSET_KEY] if settings.asset_key else []
    for need in (*needs, *_OF_CDK, *of_assets):
        resources = (
            [f"arn:{values['partition']}:s3:::{bucket}" for bucket in buckets]
            if need.resources == "{buckets}"
            else [_arn(need.service, each, values) for each in need.resources.split()]
        )
        for actions, condition in _conditions(need, settings, values["region"]):
            yield {
                "Effect": "Allow",
                "Action": [f"{need.service}:{action}" for action in actions],
                "Resource": [each.replace("@", settings.name) for each in resources],
                **({"Condition": condition} if condition else {}),
            }


def _arn(service: str, resource: str, values: Mapping[str, str]) -> str:
    if resource == "*":
        return resource
    resource = resource.replace("{asset_key}", values["asset_key"])
    if not resource.startswith("arn:"):
        resource = f"arn:{{partition}}:{service}:{{region}}:{{account}}:{resource}"
    return resource.format(**values)


def _conditions(
    need: Need, settings: Settings, region: str
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the actions of a need, apart by their condition."""
    actions = need.actions.split()
    if need is _ROLE and settings.permissions_boundary:
        bound = {"StringEquals": {"iam:PermissionsBoundary": settings.permissions_boundary}}
        yield [each for each in actions if each in _BOUNDED], bound
        yield [each for each in actions if each not in _BOUNDED], {}
        return
    conditions: Mapping[str, dict[str, Any]] = {
        "": {},
        "passed": {"StringEquals": {"iam:PassedToService": list(_PASSED_TO)}},
        "tagged": {"StringEquals": {"aws:RequestTag/graveler:name": settings.name}},
        "through S3": {"StringLike": {"kms:ViaService": f"s3.{region}.amazonaws.com*"}},
        "ours": {"StringEquals": {"aws:ResourceTag/graveler:name": settings.name}},
    }
    yield actions, conditions[need.condition]


def _packed(statements: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the statements in as many documents as IAM's limit of a managed policy asks for."""
    found: list[list[dict[str, Any]]] = [[]]
    for statement in statements:
        document = {"Version": "2012-10-17", "Statement": [*found[-1], statement]}
        if json_length_max(document) > MANAGED_LENGTH_MAX:
            found.append([])
        found[-1].append(statement)
    return found
