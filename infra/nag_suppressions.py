"""Suppressions of cdk-nag's AwsSolutions rules, each with its reason."""

from collections.abc import Iterator, Mapping
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from infra.settings import InfraSettings
from infra.settings.rules import SECRET

_PACK = "AwsSolutions"

_END = "It is itself a dead-letter queue: an alarm watches it."
_AUTHENTICATES = "The function authenticates: clients of lakeFS send its key pairs and tokens."
_FUNCTION = {
    "L1": "tests/infra/test_runtime.py runs the archives of all functions on this Python, under "
    "Lambda's runtime client. A newer one needs wheels of all dependencies, and the same tests."
}

# By the path of a construct in its stack; a suppression covers the construct and all below it.
_OF_STORAGE: Mapping[str, Mapping[str, str]] = {
    "Artefacts": {"S1": "It is the bucket of access logs itself; it also has reports of jobs."},
    "SetupToken": {
        "SMG4": "The token works once, until there is an administrator, so it needs no rotation."
    },
}
_WITHOUT_SETUP_TOKEN = {path: each for path, each in _OF_STORAGE.items() if path != "SetupToken"}
# With `economy`, also these.
_OF_ECONOMICAL_STORAGE: Mapping[str, Mapping[str, str]] = {
    "Secret": {"SMG4": "Users' secrets are encrypted under it: another could not decrypt them."},
}
_NO_KEY = "With `economy`, the deployment has no key: docs/security.md says what that means."
_OF_ECONOMICAL_SERVICE: Mapping[str, Mapping[str, str]] = {
    "Jobs/GarbageCollection": {"GL1": _NO_KEY, "GL3": _NO_KEY},
    "Jobs/Export": {"GL1": _NO_KEY, "GL3": _NO_KEY},
}
_OF_SERVICE: Mapping[str, Mapping[str, str]] = {
    "ApiFunction": _FUNCTION,
    "EventsFunction": _FUNCTION,
    "ExportFunction": _FUNCTION,
    "TasksFunction": _FUNCTION,
    "HooksFunction": _FUNCTION,
    "WaitsFunction": _FUNCTION,
    "IcebergFunction": _FUNCTION,
    "SlicesFunction": _FUNCTION,
    "CleanupFunction": _FUNCTION,
    "WebFunction": _FUNCTION,
    "Jobs/Failed": {"SQS3": _END},
    "Events/Unpublished": {"SQS3": _END},
    "Events/Undelivered": {"SQS3": _END},
    "Events/FailedExports": {"SQS3": _END},
    "Events/FailedTasks": {"SQS3": _END},
    "Api/Http": {"APIG4": _AUTHENTICATES},
}

_NO_ACCESS_LOG = "The setting access_log ends it; the function's log has a line for each request."

# With CloudFront.
_OF_DISTRIBUTION: Mapping[str, Mapping[str, str]] = {
    "Api/Distribution/Default": {
        "CFR1": "Users may be anywhere.",
        "CFR2": "The API refuses requests without credentials, and API Gateway throttles requests.",
        "CFR3": "The function's log has a line for each request except for the page's assets.",
        "CFR4": "Without a domain, the certificate is CloudFront's own, whose minimum is fixed.",
    },
}
# In place of Api/Http.
_OF_REST_API: Mapping[str, Mapping[str, str]] = {
    "Api/Rest": {
        "APIG2": "The function checks requests, and answers wrong ones as lakeFS does.",
        "APIG3": "A web ACL is a setting; a private API needs none.",
        "APIG4": _AUTHENTICATES,
        "APIG6": "The function's log has a line for each request.",
        "COG4": _AUTHENTICATES,
    },
}

_OF_GATEWAY: Mapping[str, Mapping[str, str]] = {
    "Network": {
        "EC23": "Clients of S3 may be anywhere, and sign each request; a setting limits networks.",
        "VPC7": "The gateway's log has each request with its user; a flow log has bytes only.",
    },
    "Task/Definition": {"ECS2": "No variable is a secret: they name tables, a key and a domain."},
    "Cluster": {
        "ECS4": "The service's own metrics have CPU and memory; Container Insights costs extra."
    },
    "Balancer": {"ELB2": "The gateway's log has a line for each request; this one has none."},
}

_OBJECTS = "Keys of objects are known only at run time; the statement names the place or a folder."
_NO_RESOURCE = "In IAM, this action has no resources."

# Statements that name a resource with `*` in it.
OF_STATEMENTS: Mapping[str, str] = {
    "AskRegistry": _NO_RESOURCE,
    "AskAlarms": "CodeDeploy asks for the alarms of a list.",
    "DeleteGarbage": _OBJECTS,
    "DeleteMarks": _OBJECTS,
    "DeleteResults": _OBJECTS,
    "DescribeObjects": _OBJECTS,
    "KeepDumps": _OBJECTS,
    "PutObjects": _OBJECTS,
    "ReadInventory": _OBJECTS,
    "ReadMetadata": _OBJECTS,
    "ReadObjects": _OBJECTS,
    "Scratch": _OBJECTS,
    "TableFiles": _OBJECTS,
    "WriteData": _OBJECTS,
    "WriteExports": _OBJECTS,
    "WriteMetadata": _OBJECTS,
    "WritePieces": _OBJECTS,
    "WriteReports": _OBJECTS,
    "WriteReportsElsewhere": _OBJECTS,
    "GlueLog": "Runs name the streams of logs; the statement names the job's logs.",
    "ReadHookSecrets": "Users name the secrets of their hooks; the statement names the prefix.",
    "ListStreams": _NO_RESOURCE,
    "NetworkInterfaces": "Lambda creates network interfaces, whose names are unknown before.",
    "Measure": f"{_NO_RESOURCE} The namespace of the metrics is named.",
    "ReadSecurity": _NO_RESOURCE,
    "Trace": _NO_RESOURCE,
}


def add_nag_suppressions(
    storage: Stack, service: Stack, gateway: Stack | None, settings: InfraSettings
) -> None:
    """Register the suppressions with cdk-nag."""
    of_storage = dict(_OF_STORAGE if settings.setup_token == SECRET else _WITHOUT_SETUP_TOKEN)
    of_service = dict(_OF_SERVICE)
    if not settings.bucket_logs and storage.node.try_find_child("Repositories"):
        of_storage["Repositories"] = {"S1": "The setting bucket_logs ends its access logs."}
    if settings.has_rest_api:
        of_service = {path: each for path, each in of_service.items() if path != "Api/Http"}
        of_service |= _OF_REST_API
    if settings.cloudfront:
        of_service |= _OF_DISTRIBUTION
    of_service |= _without_access_log(settings, of_service)
    if not settings.has_page:
        del of_service["WebFunction"]
    if settings.economy:
        of_storage |= _OF_ECONOMICAL_STORAGE
        of_service |= _OF_ECONOMICAL_SERVICE
    of_gateway = [(gateway, _OF_GATEWAY)] if gateway else []
    for stack, exceptions in ((storage, of_storage), (service, of_service), *of_gateway):
        for path, reasons in exceptions.items():
            _acknowledge(_at(stack, path), reasons)
        for construct in stack.node.find_all():
            if isinstance(construct, iam.CfnRole):
                documents = [
                    each["policyDocument"] for each in stack.resolve(construct.policies) or ()
                ]
            elif isinstance(construct, iam.CfnManagedPolicy):
                documents = [stack.resolve(construct.policy_document)]
            else:
                continue
            _acknowledge(construct, dict(_wide_resources(documents)))


def _without_access_log(
    settings: InfraSettings, of_service: Mapping[str, Mapping[str, str]]
) -> Mapping[str, Mapping[str, str]]:
    """Return the suppressions of an API that has no access log; none if it has one."""
    if settings.access_log:
        return {}
    place = "Api/Rest" if settings.has_rest_api else "Api/Stage"
    return {place: {**of_service.get(place, {}), "APIG1": _NO_ACCESS_LOG}}


def _wide_resources(documents: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - resolved JSON
    """Yield cdk-nag's names of the resources with `*`, each with its reason.

    Raises:
        KeyError: there is no reason for a statement.
    """
    for document in documents:
        for statement in document["Statement"]:
            resources = statement["Resource"]
            for resource in resources if isinstance(resources, list) else [resources]:
                name = _flat(resource)
                if "*" in name:
                    yield f"IAM5[Resource::{name}]", OF_STATEMENTS[statement["Sid"]]


def _flat(resource: Any) -> str:  # noqa: ANN401 - resolved JSON
    """Return the resource as cdk-nag writes it."""
    match resource:
        case str():
            return resource
        case {"Fn::Join": [delimiter, parts]}:
            return str(delimiter).join(_flat(part) for part in parts)
        case {"Fn::Sub": text}:
            return str(text).replace("${", "<").replace("}", ">")
        case {"Fn::ImportValue": name}:
            return str(name)
        case {"Fn::GetAtt": [logical_id, attribute]}:
            return f"<{logical_id}.{attribute}>"
        case {"Ref": logical_id}:
            return f"<{logical_id}>"
    raise AssertionError(resource)


def _at(stack: Stack, path: str) -> IConstruct:
    construct: IConstruct = stack
    for part in path.split("/"):
        construct = construct.node.find_child(part)
    return construct


def _acknowledge(construct: IConstruct, reasons: Mapping[str, str]) -> None:
    if reasons:
        Validations.of(construct).acknowledge(
            *(
                Acknowledgment(id=f"{_PACK}::{_PACK}-{rule}", reason=reason)
                for rule, reason in reasons.items()
            )
        )
