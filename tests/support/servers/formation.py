"""Templates without what an emulator cannot make: for moto, and for MiniStack (emulator.py)."""

import json
from typing import Any

from moto.cloudformation import parsing

# What moto claims to make, and fails: names that are too long, references to buses and layers, calls
# of aliases, records of a zone that does not exist.
_BROKEN = {
    "AWS::Events::Archive",
    "AWS::Events::EventBus",
    "AWS::Events::Rule",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Route53::RecordSet",
}


def as_moto_knows(template: dict[str, Any]) -> dict[str, Any]:
    """Return the template without what moto cannot make; references to it become plain texts."""
    resources: dict[str, Any] = template["Resources"]
    unknown = {name for name, each in resources.items() if not _is_known(each["Type"])}
    kept = {
        name: _adapted(each, unknown) for name, each in resources.items() if name not in unknown
    }
    found: dict[str, Any] = _without({**template, "Resources": kept}, unknown)
    return found


# What MiniStack cannot make, by resource type, with the reason. tests/deployed/test_emulator.py fails
# when it has learnt one.
LEFT_OUT = {
    "AWS::Events::Archive": "It has no archives of events.",
    "AWS::Glue::SecurityConfiguration": "It has no encryption settings of jobs.",
    "AWS::CodeDeploy::Application": "It shifts no traffic; an alias moves at once.",
    "AWS::CodeDeploy::DeploymentGroup": "The same.",
    "AWS::WAFv2::WebACLAssociation": "It checks requests by no rules.",
    "AWS::CloudWatch::Alarm": "It knows no arithmetic of metrics; other alarms stay.",
}
# Conditions of policies that it cannot decide. It serves HTTP, so a denial of HTTP would deny
# everything; and it does not know the encryption context of a request.
TRANSPORT = "aws:SecureTransport"
CONTEXT = "kms:EncryptionContext:"
# A reference to one is its ARN in AWS, and its name in MiniStack.
SECRET = "AWS::SecretsManager::Secret"


def as_emulated(template: dict[str, Any]) -> dict[str, Any]:
    """Return the template without what MiniStack cannot make; references to it become plain texts."""
    resources: dict[str, Any] = template["Resources"]
    unknown = {name for name, each in resources.items() if is_left_out(each)}
    kept = {
        name: {**each, "DependsOn": [other for other in _needed(each) if other not in unknown]}
        for name, each in resources.items()
        if name not in unknown
    }
    secrets = {name for name, each in kept.items() if each["Type"] == SECRET}
    found: dict[str, Any] = _decidable(
        _with_arns(_without({**template, "Resources": kept}, unknown), secrets)
    )
    return found


def is_left_out(resource: dict[str, Any]) -> bool:
    """Whether MiniStack cannot make this resource."""
    kind, properties = resource["Type"], resource.get("Properties", {})
    return kind in LEFT_OUT and (kind != "AWS::CloudWatch::Alarm" or "Metrics" in properties)


def _with_arns(value: Any, secrets: set[str]) -> Any:
    match value:
        case {"Ref": str(name)} if name in secrets:
            return {"Fn::GetAtt": [name, "Id"]}
        case dict():
            return {key: _with_arns(each, secrets) for key, each in value.items()}
        case list():
            return [_with_arns(each, secrets) for each in value]
    return value


def _decidable(value: Any) -> Any:
    """Leave out the conditions of policies that MiniStack cannot decide, and denials by them."""
    match value:
        case {"Effect": "Allow", "Condition": dict(condition)}:
            kept = {
                operator: {key: each for key, each in keys.items() if not key.startswith(CONTEXT)}
                for operator, keys in condition.items()
            }
            return {**value, "Condition": {name: keys for name, keys in kept.items() if keys}}
        case dict():
            return {key: _decidable(each) for key, each in value.items()}
        case list():
            return [_decidable(each) for each in value if not _refuses_http(each)]
    return value


def _refuses_http(value: Any) -> bool:
    match value:
        case {"Effect": "Deny", "Condition": dict(condition)}:
            return any(TRANSPORT in keys for keys in condition.values())
    return False


def _is_known(kind: str) -> bool:
    return kind not in _BROKEN and parsing.resource_class_from_type(kind) is not None


def _adapted(resource: dict[str, Any], unknown: set[str]) -> dict[str, Any]:
    adapted = json.loads(json.dumps(resource))
    if resource["Type"] == "AWS::KMS::Key":
        del adapted["Properties"]["Tags"]  # moto expects them in another form
    if resource["Type"] == "AWS::Lambda::Function":
        adapted["Properties"].pop("Layers", None)
    if resource.get("DeletionPolicy") == "RetainExceptOnCreate":
        adapted["DeletionPolicy"] = "Retain"  # the same for a stack that was made
    return {**adapted, "DependsOn": [name for name in _needed(adapted) if name not in unknown]}


def _needed(resource: dict[str, Any]) -> list[str]:
    needed: str | list[str] = resource.get("DependsOn", [])
    return [needed] if isinstance(needed, str) else needed


def _without(value: Any, unknown: set[str]) -> Any:
    match value:
        case {"Ref": str(name)} if name in unknown:
            return name
        case {"Fn::GetAtt": [str(name), str(attribute)]} if name in unknown:
            return f"arn:aws:unknown:eu-west-1:123456789012:{name}.{attribute}"
        case dict():
            return {key: _without(each, unknown) for key, each in value.items()}
        case list():
            return [_without(each, unknown) for each in value]
    return value
