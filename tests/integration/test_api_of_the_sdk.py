"""The OpenAPI document against the official `lakefs_sdk`: every operation that both have.

A difference is what could surprise the SDK's user: a path or parameter that we do not know, a field
that we require and the SDK may leave out, one that the SDK requires and we may leave out, one that
the SDK sends and we ignore, and a status whose model the SDK does not expect.
"""

from collections.abc import Iterator
from typing import Any

from tests.support.checks.cases import for_each
from tests.support.checks.contracts import DOCUMENT
from tests.support.clients.sdk import SdkOperation, fields_of, sdk_operations
from tests.support.worlds.prepared_lake import prepared
from tests.support.worlds.valid_requests import send, valid_requests

# Every difference, under its reason.
ACCEPTED = {
    "the SDK has no parameter for a header that HTTP defines, and ours reads it": [
        "get_object has the parameter If-Range",
        "get_usage_report_summary has the parameter Accept",
        "head_object has the parameter If-Range",
    ],
    "an addition to lakeFS": [
        "complete_presign_multipart_upload has the parameter force",
        "complete_presign_multipart_upload has the parameter If-Match",
        "complete_presign_multipart_upload has the parameter If-None-Match",
        "diff_branch has the parameter include_right_stats",
        "find_merge_base has the parameter ahead_behind",
        "list_branches has the parameter with_commits",
        "list_pull_requests has the parameter reviewer",
        "log_commits has the parameter not_in",
        *(
            f"{operation} has the parameter If-Match"
            for operation in (*("hard_reset_branch", "merge_into_branch", "merge_pull_request"),)
        ),
        *(
            f"{operation} has the parameter If-Match"
            for operation in (
                *("delete_policy", "update_policy", "delete_gc_rules", "set_gc_rules"),
                "internal_delete_garbage_collection_rules",
                "internal_set_garbage_collection_rules",
            )
        ),
        *(
            f"{operation} has the parameter {name}"
            for operation in (
                *("copy_object", "delete_object", "stage_object"),
                "update_object_user_metadata",
            )
            for name in ("If-Match", "If-None-Match")
        ),
        *(
            f"{operation} has the parameter x-amz-server-side-encryption{name}"
            for operation in (
                "create_presign_multipart_upload",
                "get_physical_address",
                "upload_object",
            )
            for name in ("", "-aws-kms-key-id", "-bucket-key-enabled", "-context")
        ),
        "setup has the parameter X-Graveler-Setup-Token",
        "stat_object has the parameter as_stored",
        *(
            f"upload_object has the parameter content-{name}"
            for name in ("disposition", "encoding", "language")
        ),
    ],
    "a 409 has an error's message; all fields of the SDK's model are optional": [
        f"{operation} 409 lacks a field: StagingLocation may have {name}"
        for operation in ("complete_presign_multipart_upload", "link_physical_address")
        for name in ("physical_address", "presigned_url", "presigned_url_expiry")
    ],
    "lakeFS refuses a link without an address as well, and ignores the URL": [
        "link_physical_address requires StagingLocation.physical_address",
        "link_physical_address ignores StagingLocation.presigned_url",
        "link_physical_address ignores StagingLocation.presigned_url_expiry",
    ],
    "no addresses are collected": [
        *(
            f"setup ignores Setup.{name}"
            for name in (
                *("companyName", "country", "email", "featureUpdates"),
                *("firstName", "lastName", "securityUpdates"),
            )
        ),
        "setup_comm_prefs ignores CommPrefsInput.country",
        *(
            f"{operation} lacks a field: User may have email"
            for operation in (
                *("get_current_user 200", "create_user 201", "get_user 200"),
                *("list_group_members 200", "list_users 200"),
            )
        ),
    ],
    "the server sets the time, and reads none, as lakeFS": [
        "create_policy ignores Policy.creation_date",
        "update_policy ignores Policy.creation_date",
    ],
    "no settings of a principal are stored, because nothing here reads them": [
        "get_external_principal 200 lacks a field: ExternalPrincipal may have settings",
        "list_user_external_principals 200 lacks a field: ExternalPrincipal may have settings",
    ],
    "as in lakeFS's server, a conflict is an error here": [
        "merge_pull_request 409 lacks a field: MergeResult requires reference",
    ],
    "there are no custom viewers": [
        "get_config 200 lacks a field: CustomViewer may have content_types",
        "get_config 200 lacks a field: CustomViewer may have extensions",
        "get_config 200 lacks a field: CustomViewer requires name",
        "get_config 200 lacks a field: CustomViewer requires url",
    ],
    "there is one storage, without a name": [
        f"{operation} 200 lacks a field: StorageConfig may have {name}"
        for operation in ("get_config", "get_storage_config")
        for name in ("blockstore_description", "blockstore_id")
    ],
    "the server does not look for newer versions of itself": [
        f"{operation} 200 lacks a field: VersionConfig may have {name}"
        for operation in ("get_config", "get_lake_fs_version")
        for name in ("latest_version", "upgrade_recommended", "upgrade_url")
    ],
    "experimental: how a deletion is stored, which no reader sees": [
        "delete_object ignores the parameter no_tombstone",
        "delete_objects ignores the parameter no_tombstone",
    ],
}
REASONS = {difference: reason for reason, found in ACCEPTED.items() for difference in found}

# Fields of answers that the SDK does not know, and drops.
# access_key_id: the key that began the session. graveler_version: beside that of lakeFS. ahead,
# behind, is_exact: the distance of two refs, if it is asked for. reviewers, reviews, is_contained: of a
# pull request. required_approvals: of a protection rule.
OURS = {"details", "access_key_id", "graveler_version", "ahead", "behind", "is_exact"} | {
    *("reviewers", "reviews", "is_contained", "required_approvals")
}

PATHS = DOCUMENT["paths"]
OPERATIONS = [each for each in sdk_operations() if each.method.lower() in PATHS.get(each.path, {})]
ERROR = "#/components/schemas/ErrorBody"


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that a reference names, or one that may be null."""
    while True:
        options = [each for each in schema.get("anyOf", []) if each.get("type") != "null"]
        if "$ref" in schema:
            schema = DOCUMENT["components"][schema["$ref"].split("/")[2]][
                schema["$ref"].rpartition("/")[2]
            ]
        elif len(options) == 1:
            schema = options[0]
        elif schema.get("type") == "array":
            schema = schema["items"]
        else:
            return schema


def schema_of(content: dict[str, Any]) -> dict[str, Any] | None:
    kind = content.get("content", {}).get("application/json")
    return None if kind is None else kind["schema"]


def differences(operation: SdkOperation) -> Iterator[str]:
    ours = PATHS[operation.path][operation.method.lower()]
    yield from differences_of_parameters(operation, ours)
    body = schema_of(ours.get("requestBody", {}))
    if operation.body is not None:
        if body is None:
            yield f"takes no {operation.body.__name__}"
        else:
            yield from differences_of_request(operation.body, body)
    yield from differences_of_answers(operation, ours)


def differences_of_parameters(operation: SdkOperation, ours: dict[str, Any]) -> Iterator[str]:
    known = {each["name"]: each["required"] for each in ours["parameters"] if each["in"] != "path"}
    for name in operation.parameters.keys() - known.keys():
        yield f"ignores the parameter {name}"
    for name in known.keys() - operation.parameters.keys():
        yield f"has the parameter {name}"
    for name in known.keys() & operation.parameters.keys():
        if known[name] and not operation.parameters[name]:
            yield f"requires the parameter {name}"
        if operation.parameters[name] and not known[name]:
            yield f"does not require the parameter {name}"


def differences_of_request(model: type, schema: dict[str, Any]) -> Iterator[str]:
    ours = resolved(schema)
    theirs = fields_of(model)
    for name, field in theirs.items():
        if name not in ours.get("properties", {}):
            yield f"ignores {model.__name__}.{name}"
            continue
        if name in ours.get("required", []) and not field.is_required:
            yield f"requires {model.__name__}.{name}"
        for inner in field.models:
            yield from differences_of_request(inner, ours.get("properties", {})[name])
    for name in set(ours.get("required", [])) - theirs.keys():
        yield f"requires {name}, which {model.__name__} lacks"


def differences_of_answers(operation: SdkOperation, ours: dict[str, Any]) -> Iterator[str]:
    if not operation.answers:  # the SDK reads no answer
        return
    for status, answer in ours["responses"].items():
        model = operation.answers.get(int(status))
        schema = schema_of(resolved(answer))
        is_error = schema == {"$ref": ERROR}
        if int(status) not in operation.answers:
            if not is_error and int(status) < 400:
                yield f"answers {status}"
        elif model is None or schema is None:
            if schema is not None and not is_error and resolved(schema).get("properties"):
                yield f"answers {status} with a body"
            if schema is None and model is not None and operation.method != "HEAD":
                yield f"answers {status} without a body"
        else:
            yield from differences_of_answer(model, schema, status)
    for status in operation.answers:
        if status < 400 and str(status) not in ours["responses"]:
            yield f"never answers {status}"


def differences_of_answer(model: type, schema: dict[str, Any], status: str) -> Iterator[str]:
    ours = resolved(schema)
    for name, field in fields_of(model).items():
        if name not in ours.get("properties", {}):
            kind = "requires" if field.is_required else "may have"
            yield f"{status} lacks a field: {model.__name__} {kind} {name}"
            continue
        if field.is_required and name not in ours.get("required", []):
            yield f"{status} may lack {model.__name__}.{name}"
        for inner in field.models:
            yield from differences_of_answer(inner, ours.get("properties", {})[name], status)


FOUND = {
    f"{each.name} {difference}": each for each in OPERATIONS for difference in differences(each)
}


def test_most_operations_of_the_sdk_are_compared():
    assert len(OPERATIONS) >= 80


@for_each("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_an_operation_is_what_the_sdk_expects(operation):
    found = {f"{operation.name} {each}" for each in differences(operation)}
    assert found - REASONS.keys() == set()


def test_no_reason_outlives_its_difference():
    assert REASONS.keys() - FOUND.keys() == set()


ANSWERED = [each for each in OPERATIONS if any(each.answers.get(status) for status in range(400))]


@for_each("operation", ANSWERED, ids=lambda operation: operation.name)
def test_the_sdk_reads_the_answer_of_a_valid_request(operation):
    ours = PATHS[operation.path][operation.method.lower()]["operationId"]
    reply = send(prepared().api.fork(), valid_requests()[ours])
    model = operation.answers[reply.status]
    rows = reply.json if isinstance(reply.json, list) else [reply.json]
    for row in rows:
        assert set(row) - set(fields_of(model)) - OURS == set()
        assert model.from_dict(row).to_dict()
