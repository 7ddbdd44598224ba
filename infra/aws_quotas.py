"""The quotas of AWS that a synth can exceed, each with a remedy.

CloudFormation would report most of them only in the middle of a deployment. Sizes are upper bounds,
because some texts are known only then. The numbers are as of November 2026, from each service's
"Quotas" page in AWS's documentation.
"""

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.role import INLINE_LENGTH_MAX, MANAGED_LENGTH_MAX
from infra.template_sizes import filled, json_length_max, text_length_max

BUCKET_POLICY_BYTES_MAX = 20_480

_ASSET = re.compile(r"[0-9a-f]{64}\.zip")


@dataclass(frozen=True, slots=True)
class SizeQuota:
    """The maximum of a property of a resource type, without `AWS::`; `size` measures its value."""

    kind: str
    key: str
    maximum: int
    unit: str
    size: Callable[[Any], int]
    remedy: str


def _inline_policies(policies: Any) -> int:  # noqa: ANN401 - JSON
    return sum(json_length_max(each["PolicyDocument"]) for each in policies)


def _environment(environment: Any) -> int:  # noqa: ANN401 - JSON
    return json_length_max(environment.get("Variables", {}))


def _longest_filter(criteria: Any) -> int:  # noqa: ANN401 - JSON
    return max(text_length_max(each["Pattern"]) for each in criteria["Filters"])


def _input(target: Any) -> int:  # noqa: ANN401 - JSON
    return text_length_max(target.get("Input"))


def _widgets(body: Any) -> int:  # noqa: ANN401 - JSON
    return len(json.loads(str(filled(body)))["widgets"])


_FEWER_PLACES = (
    "name fewer or shorter places in `namespaces`, `readable`, `exports` and `gc_outputs`, or one "
    "place above several"
)
_FEWER_IN_ENVIRONMENT = (
    "name fewer or shorter places in `readable` and `exports`, or fewer targets of hooks"
)
_SHORTER_NAME = "shorten the setting `name`"
_FEWER_ORIGINS = "name fewer origins in `cors_origins`"
_FEWER_REPOSITORIES = "name fewer repositories in `gc_repositories`, or none for all"
_OURS = "no setting changes it; please report it"

_CHARACTERS, _BYTES = "characters", "bytes"
_text, _json, _count = text_length_max, json_length_max, len

QUOTAS = (
    SizeQuota("ApiGatewayV2::Api", "Name", 128, _CHARACTERS, _text, _SHORTER_NAME),
    SizeQuota("ApiGatewayV2::Api", "Description", 1_024, _CHARACTERS, _text, _OURS),
    SizeQuota("CloudWatch::Alarm", "AlarmActions", 5, "actions", _count, _OURS),
    SizeQuota("CloudWatch::Alarm", "AlarmDescription", 1_024, _CHARACTERS, _text, _OURS),
    SizeQuota("CloudWatch::Alarm", "AlarmName", 255, _CHARACTERS, _text, _SHORTER_NAME),
    SizeQuota("CloudWatch::Dashboard", "DashboardBody", 500, "widgets", _widgets, _OURS),
    SizeQuota("Events::Archive", "Description", 512, _CHARACTERS, _text, _OURS),
    SizeQuota("Events::EventBus", "Name", 256, _CHARACTERS, _text, _SHORTER_NAME),
    SizeQuota("Events::Rule", "EventPattern", 2_048, _CHARACTERS, _json, _OURS),
    SizeQuota("Events::Rule", "Targets", 5, "targets", _count, _OURS),
    SizeQuota("Glue::Job", "Description", 2_048, _CHARACTERS, _text, _OURS),
    SizeQuota("Glue::Job", "Name", 255, _CHARACTERS, _text, _SHORTER_NAME),
    SizeQuota(
        "IAM::ManagedPolicy",
        "PolicyDocument",
        MANAGED_LENGTH_MAX,
        _CHARACTERS,
        _json,
        _FEWER_PLACES,
    ),
    SizeQuota("IAM::Role", "AssumeRolePolicyDocument", 2_048, _CHARACTERS, _json, _OURS),
    SizeQuota("IAM::Role", "Description", 1_000, _CHARACTERS, _text, _OURS),
    SizeQuota("IAM::Role", "ManagedPolicyArns", 10, "policies", _count, _FEWER_PLACES),
    SizeQuota(
        "IAM::Role", "Policies", INLINE_LENGTH_MAX, _CHARACTERS, _inline_policies, _FEWER_PLACES
    ),
    SizeQuota("IAM::Role", "RoleName", 64, _CHARACTERS, _text, _SHORTER_NAME),
    SizeQuota("KMS::Key", "Description", 8_192, _CHARACTERS, _text, _OURS),
    SizeQuota("KMS::Key", "KeyPolicy", 32_768, _BYTES, _json, _OURS),
    SizeQuota(
        "Lambda::EventSourceMapping",
        "FilterCriteria",
        4_096,
        _CHARACTERS,
        _longest_filter,
        _OURS,
    ),
    SizeQuota("Lambda::Function", "Description", 256, _CHARACTERS, _text, _OURS),
    SizeQuota(
        "Lambda::Function", "Environment", 4_096, _BYTES, _environment, _FEWER_IN_ENVIRONMENT
    ),
    SizeQuota("Lambda::Function", "FunctionName", 64, _CHARACTERS, _text, _SHORTER_NAME),
    SizeQuota("Lambda::Function", "Layers", 5, "layers", _count, _OURS),
    SizeQuota("Lambda::LayerVersion", "Description", 256, _CHARACTERS, _text, _OURS),
    SizeQuota("Logs::LogGroup", "LogGroupName", 512, _CHARACTERS, _text, _SHORTER_NAME),
    SizeQuota("S3::Bucket", "BucketName", 63, _CHARACTERS, _text, "shorten `repository_bucket`"),
    SizeQuota("S3::Bucket", "CorsConfiguration", 65_536, _BYTES, _json, _FEWER_ORIGINS),
    SizeQuota("S3::BucketPolicy", "PolicyDocument", BUCKET_POLICY_BYTES_MAX, _BYTES, _json, _OURS),
    SizeQuota("SNS::Topic", "DisplayName", 100, _CHARACTERS, _text, _SHORTER_NAME),
    SizeQuota("SNS::TopicPolicy", "PolicyDocument", 30_720, _BYTES, _json, _OURS),
    SizeQuota("SQS::QueuePolicy", "PolicyDocument", 8_192, _BYTES, _json, _OURS),
    SizeQuota("Scheduler::Schedule", "Description", 512, _CHARACTERS, _text, _OURS),
    SizeQuota("Scheduler::Schedule", "Target", 262_144, _BYTES, _input, _OURS),
    SizeQuota("SecretsManager::Secret", "Description", 2_048, _CHARACTERS, _text, _OURS),
)

# Of a resource of any type.
_TAGS_MAX = 50
_TEMPLATE_BYTES_MAX = 1_000_000
_TEMPLATE_COUNTS = (
    ("Resources", 500, _FEWER_REPOSITORIES),
    ("Parameters", 200, _OURS),
    ("Outputs", 200, _OURS),
)
_DESCRIPTION_BYTES_MAX = 1_024
_IDENTIFIER_LENGTH_MAX = 255
# A function and its layers, unpacked.
_CODE_BYTES_MAX = 250 * 1024 * 1024


def exceeded_quotas(folder: Path) -> list[str]:
    """Return a line for each quota that the templates in a synth's folder exceed."""
    problems: list[str] = []
    for path in sorted(folder.glob("*.template.json")):
        stack = path.name.removesuffix(".template.json")
        text = path.read_text()
        template = json.loads(text)
        found = [
            *_of_template(template, len(text.encode())),
            *_of_resources(template["Resources"]),
            *_of_code(template["Resources"], folder),
        ]
        problems += [f"{stack}: {problem}" for problem in found]
    return problems


def _problem(what: str, size: int, maximum: int, unit: str, remedy: str) -> str:
    return f"{what} has up to {size:,} {unit}, and AWS allows {maximum:,}: {remedy}"


def _of_template(template: Mapping[str, Any], size_bytes: int) -> Iterator[str]:
    if size_bytes > _TEMPLATE_BYTES_MAX:
        yield _problem(
            "the template", size_bytes, _TEMPLATE_BYTES_MAX, "bytes", _FEWER_REPOSITORIES
        )
    description = len(template.get("Description", "").encode())
    if description > _DESCRIPTION_BYTES_MAX:
        yield _problem("the description", description, _DESCRIPTION_BYTES_MAX, "bytes", _OURS)
    for part, maximum, remedy in _TEMPLATE_COUNTS:
        items = template.get(part, {})
        if len(items) > maximum:
            yield _problem("the template", len(items), maximum, part.lower(), remedy)
        for name in items:
            if len(name) > _IDENTIFIER_LENGTH_MAX:
                yield _problem(name, len(name), _IDENTIFIER_LENGTH_MAX, "characters", _OURS)


def _of_resources(resources: Mapping[str, Any]) -> Iterator[str]:
    for logical_id, resource in resources.items():
        kind, properties = resource["Type"], resource.get("Properties", {})
        for quota in QUOTAS:
            value = properties.get(quota.key) if f"AWS::{quota.kind}" == kind else None
            if value is not None and (size := quota.size(value)) > quota.maximum:
                what = f"{quota.key} of {logical_id} ({kind})"
                yield _problem(what, size, quota.maximum, quota.unit, quota.remedy)
        tags = len(properties.get("Tags") or ())
        if tags > _TAGS_MAX:
            what = f"Tags of {logical_id} ({kind})"
            yield _problem(what, tags, _TAGS_MAX, "tags", "set fewer `tags`")


def _of_code(resources: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Yield functions that are too large with their layers."""
    for logical_id, resource in resources.items():
        if resource["Type"] != "AWS::Lambda::Function":
            continue
        layers = [resources[each["Ref"]] for each in resource["Properties"].get("Layers", ())]
        contents = [resource["Properties"]["Code"]]
        contents += [layer["Properties"]["Content"] for layer in layers]
        size = sum(_unpacked_bytes(folder, content) for content in contents)
        if size > _CODE_BYTES_MAX:
            what = f"the code of {logical_id}, with its layers,"
            yield _problem(what, size, _CODE_BYTES_MAX, "bytes unpacked", "remove dependencies")


def _unpacked_bytes(folder: Path, content: Mapping[str, Any]) -> int:
    (name,) = _ASSET.findall(json.dumps(content["S3Key"]))
    with zipfile.ZipFile(folder / f"asset.{name}") as archive:
        return sum(each.file_size for each in archive.infolist())
