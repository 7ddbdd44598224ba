"""Writes sample policies for the owners of other buckets and keys, so that the roles reach them.

IAM requires both policies: the role's, and that of the bucket or key. The samples follow from the
roles in the synthesized template, so they allow the same and no more.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.aws_quotas import BUCKET_POLICY_BYTES_MAX
from infra.deployer import write_deployer
from infra.settings import InfraSettings
from infra.template_sizes import json_length_max

FOLDER = "policies"

_BUCKET = re.compile(r"arn:[a-z-]+:s3:::([^/]+)(/.*)?")


@dataclass(frozen=True)
class AwsEnvironment:
    """The account and region of a deployment, or placeholders for a person to replace."""

    account: str
    region: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "AwsEnvironment":
        """Return those that CDK's command line passes to the app, if it has credentials."""
        return cls(
            environment.get("CDK_DEFAULT_ACCOUNT") or "ACCOUNT",
            environment.get("CDK_DEFAULT_REGION") or "REGION",
        )

    @property
    def partition(self) -> str:
        """The partition of the region."""
        for prefix, partition in (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov")):
            if self.region.startswith(prefix):
                return partition
        return "aws"

    def text(self, value: Any) -> str:  # noqa: ANN401 - JSON
        """Return a template's text; a reference to another resource becomes an empty text."""
        match value:
            case str():
                return value
            case {"Fn::Join": [delimiter, parts]}:
                return str(delimiter).join(self.text(part) for part in parts)
            case {"Ref": "AWS::AccountId"}:
                return self.account
            case {"Ref": "AWS::Region"}:
                return self.region
            case {"Ref": "AWS::Partition"}:
                return self.partition
        return ""


def write_sample_policies(folder: Path, settings: InfraSettings) -> list[str]:
    """Write the policies for other buckets and keys, and for deployers; return warnings."""
    target = folder / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    home = AwsEnvironment.of(os.environ)
    roles = {
        arn: statements
        for stack in (
            settings.name,
            *([f"{settings.name}-gateway"] if settings.has_gateway else []),
        )
        for arn, statements in _roles(_resources(folder, stack), home)
    }
    prefix = "".join(word.capitalize() for word in settings.name.split("-"))
    places = (
        *settings.namespaces,
        *settings.readable,
        *settings.exports,
        *settings.gc_outputs,
        *settings.dump_place,
    )
    warnings = []
    for bucket in sorted({place.bucket for place in places} - {settings.repository_bucket}):
        policy = _document(_of_bucket(roles, bucket, home), prefix)
        path = target / f"bucket-{bucket}.json"
        path.write_text(json.dumps(policy, indent=2) + "\n")
        if (size := json_length_max(policy)) > BUCKET_POLICY_BYTES_MAX:
            warnings.append(
                f"{path} has {size:,} bytes, and S3 allows {BUCKET_POLICY_BYTES_MAX:,}: name one "
                f"place above several of {bucket}"
            )
    for key in settings.bucket_keys:
        policy = _document(_of_key(roles, key), prefix)
        path = target / f"key-{key.rpartition('/')[2]}.json"
        path.write_text(json.dumps(policy, indent=2) + "\n")
    return warnings + write_deployer(folder, settings, home.partition, home.region, home.account)


def _resources(folder: Path, stack: str) -> Mapping[str, Any]:
    resources: dict[str, Any] = json.loads((folder / f"{stack}.template.json").read_text())
    return resources["Resources"]  # type: ignore[no-any-return] # JSON


def _roles(
    resources: Mapping[str, Any], home: AwsEnvironment
) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield the ARN and the statements of each role with a name."""
    for resource in resources.values():
        properties = resource.get("Properties", {})
        if resource["Type"] != "AWS::IAM::Role" or "RoleName" not in properties:
            continue
        documents = [each["PolicyDocument"] for each in properties.get("Policies", ())]
        documents += [
            resources[each["Ref"]]["Properties"]["PolicyDocument"]
            for each in properties.get("ManagedPolicyArns", ())
        ]
        name = home.text(properties["RoleName"])
        arn = f"arn:{home.partition}:iam::{home.account}:role/{name}"
        yield arn, [statement for each in documents for statement in each["Statement"]]


Grant = tuple[str, str, tuple[str, ...], tuple[str, ...]]  # role, Sid, actions, resources


def _of_bucket(
    roles: Mapping[str, Sequence[Mapping[str, Any]]], bucket: str, home: AwsEnvironment
) -> Iterator[tuple[Grant, None]]:
    for role, statements in roles.items():
        for statement in statements:
            found = tuple(
                arn
                for each in _listed(statement["Resource"])
                if (arn := home.text(each))
                and (match := _BUCKET.fullmatch(arn))
                and match[1] == bucket
            )
            if found:
                yield (role, statement["Sid"], tuple(_listed(statement["Action"])), found), None


def _of_key(
    roles: Mapping[str, Sequence[Mapping[str, Any]]], key: str
) -> Iterator[tuple[Grant, dict[str, Any]]]:
    partition, region = key.split(":")[1], key.split(":")[3]
    suffix = "amazonaws.com.cn" if partition == "aws-cn" else "amazonaws.com"
    via = {"StringEquals": {"kms:ViaService": f"s3.{region}.{suffix}"}}
    for role, statements in roles.items():
        for statement in statements:
            if key in _listed(statement["Resource"]):
                # In a key's policy, `*` is this key.
                yield (role, statement["Sid"], tuple(_listed(statement["Action"])), ("*",)), via


def _document(grants: Iterator[tuple[Grant, dict[str, Any] | None]], prefix: str) -> dict[str, Any]:
    """Return a policy with one statement for all roles that have equal grants."""
    statements: dict[tuple[Any, ...], dict[str, Any]] = {}
    for (role, sid, actions, resources), condition in grants:
        same = statements.setdefault(
            (actions, resources),
            {
                "Sid": f"{prefix}{sid}",
                "Effect": "Allow",
                "Principal": {"AWS": []},
                "Action": list(actions),
                "Resource": list(resources),
                **({"Condition": condition} if condition else {}),
            },
        )
        if role not in same["Principal"]["AWS"]:
            same["Principal"]["AWS"].append(role)
    counts: dict[str, int] = {}
    for statement in statements.values():
        sid = statement["Sid"]
        counts[sid] = counts.get(sid, 0) + 1
        if counts[sid] > 1:
            statement["Sid"] = f"{sid}{counts[sid]}"
    return {"Version": "2012-10-17", "Statement": list(statements.values())}


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - JSON
    return value if isinstance(value, list) else [value]
