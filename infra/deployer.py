"""The policies of the role with which CloudFormation creates the stacks.

By default, CDK's bootstrap gives that role all permissions. These policies follow from the resource
types in the templates, and are limited to the deployment's name where IAM can. They have not been
tried on AWS.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.deployer_actions import ACTIONS_BY_TYPE, ROLE, Actions
from infra.role import MANAGED_LENGTH_MAX
from infra.settings import InfraSettings
from infra.settings.rules import CREATE, NONE
from infra.template_sizes import json_length_max

FILE = "deployer-{}.json"

# CloudFormation reads these for CDK's templates: the archives, and the bootstrap's version.
_OF_CDK = (
    Actions("s3", "GetObject", "arn:{partition}:s3:::cdk-*-assets-{account}-*/*"),
    Actions("ssm", "GetParameter GetParameters", "parameter/cdk-bootstrap/*"),
)
# Lambda reads archives with the creator's permissions, which must include the bucket's key.
_OF_ASSET_KEY = Actions("kms", "Decrypt", "{asset_key}", "through S3")
_PASSED_TO = (
    "codedeploy.amazonaws.com",
    "glue.amazonaws.com",
    "lambda.amazonaws.com",
    "scheduler.amazonaws.com",
)
_PASSED_WITH_GATEWAY = ("ecs-tasks.amazonaws.com",)
# With a permissions boundary, these actions are allowed only on roles that have it.
_BOUNDED = frozenset(
    {"AttachRolePolicy", "CreateRole", "PutRolePermissionsBoundary", "PutRolePolicy"}
)


def write_deployer(
    folder: Path, settings: InfraSettings, partition: str, region: str, account: str
) -> list[str]:
    """Write the policies into the folder; return a warning for each unknown resource type."""
    types = {
        logical_id: resource["Type"].removeprefix("AWS::")
        for path in folder.glob("*.template.json")
        for logical_id, resource in json.loads(path.read_text())["Resources"].items()
    }
    # CloudFormation derives their names from the logical IDs.
    secrets = [each for each, type_ in types.items() if type_ == "SecretsManager::Secret"]
    values = {
        "partition": partition,
        "region": region,
        "account": account,
        "zone": settings.hosted_zone_id,
        "asset_key": settings.asset_key,
    }
    statements = list(_statements(set(types.values()), settings, values, secrets))
    for number, document in enumerate(_packed(statements), start=1):
        text = json.dumps({"Version": "2012-10-17", "Statement": document}, indent=2)
        (folder / "policies" / FILE.format(number)).write_text(text + "\n")
    return [
        f"the deployer's policy lacks what AWS::{type_} needs: add it in infra/deployer_actions.py"
        for type_ in sorted(set(types.values()) - ACTIONS_BY_TYPE.keys())
    ]


def _statements(
    types: set[str], settings: InfraSettings, values: Mapping[str, str], secrets: Iterable[str]
) -> Iterator[dict[str, Any]]:
    named = settings.repository_bucket not in (CREATE, NONE)
    buckets = [f"{settings.name}-storage-*", *([settings.repository_bucket] if named else [])]
    several = {
        "{buckets}": [f"arn:{{partition}}:s3:::{bucket}" for bucket in buckets],
        "{secrets}": [f"secret:{each}-*" for each in secrets],
    }
    known = sorted(types & ACTIONS_BY_TYPE.keys())
    needed = dict.fromkeys(each for type_ in known for each in ACTIONS_BY_TYPE[type_])
    of_assets = [_OF_ASSET_KEY] if settings.asset_key else []
    for actions in (*needed, *_OF_CDK, *of_assets):
        resources = [
            _arn(actions.service, each, values)
            for each in several.get(actions.resources) or actions.resources.split()
        ]
        for names, condition in _conditions(actions, settings, values["region"]):
            yield {
                "Effect": "Allow",
                "Action": [f"{actions.service}:{name}" for name in names],
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
    actions: Actions, settings: InfraSettings, region: str
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the names of the actions, grouped by condition."""
    names = actions.names.split()
    if actions is ROLE and settings.permissions_boundary:
        bound = {"StringEquals": {"iam:PermissionsBoundary": settings.permissions_boundary}}
        yield [each for each in names if each in _BOUNDED], bound
        yield [each for each in names if each not in _BOUNDED], {}
        return
    services = [*_PASSED_TO, *(_PASSED_WITH_GATEWAY if settings.has_gateway else ())]
    conditions: Mapping[str, dict[str, Any]] = {
        "": {},
        "passed": {"StringEquals": {"iam:PassedToService": services}},
        "tagged": {"StringEquals": {"aws:RequestTag/graveler:name": settings.name}},
        "through S3": {"StringLike": {"kms:ViaService": f"s3.{region}.amazonaws.com*"}},
        "ours": {"StringEquals": {"aws:ResourceTag/graveler:name": settings.name}},
    }
    yield names, conditions[actions.condition]


def _packed(statements: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the statements in documents, each small enough for a managed policy."""
    found: list[list[dict[str, Any]]] = [[]]
    for statement in statements:
        document = {"Version": "2012-10-17", "Statement": [*found[-1], statement]}
        if json_length_max(document) > MANAGED_LENGTH_MAX:
            found.append([])
        found[-1].append(statement)
    return found
