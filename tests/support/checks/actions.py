"""Records the permissions that a run of the tests needs: one line for each kind of AWS request.

`make actions` sets GRAVELER_OBSERVER, so that the processes of the embedded stack call `record`.
A line holds the caller, the IAM action and the resource: the partition of an item or the folder
of an object. The frames above the request name the caller. A request from a pool's thread has no
such frames and belongs to the function of its process. Requests of the tests themselves, also
while a job waits for them, are not recorded.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

FILE = "RECORDED_ACTIONS"
_TESTS = "tests"

Params = Mapping[str, Any]
Need = tuple[str, str]

_MODULE = re.compile(
    r"(graveler_functions|graveler_jobs)\."
    r"(api|cleanup|events|export|garbage_collection|hooks|iceberg|slices|tasks)\b"
)
_GATEWAY = "graveler_gateway."
# Folders of a namespace, the longest first.
_FOLDERS = (
    "_lakefs/dummy",
    "_lakefs/exports/",
    "_lakefs/retention/",
    "_lakefs/tasks/",
    "_lakefs/",
    "_iceberg/",
    "data/",
)

_S3 = {
    "HeadObject": "GetObject",
    "GetObject": "GetObject",
    "PutObject": "PutObject",
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "CompleteMultipartUpload": "PutObject",
    "AbortMultipartUpload": "AbortMultipartUpload",
    "DeleteObject": "DeleteObject",
    "CopyObject": "PutObject",
    "UploadPartCopy": "PutObject",
    "ListObjectsV2": "ListBucket",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "ListParts": "ListMultipartUploadParts",
}
_WRITES = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}

_recorded: set[str] = set()


def record(service: str, operation: str, params: Params) -> None:
    """Append the permissions that the request needs to the file, each once."""
    who = _who()
    if who == _TESTS:
        return
    for action, resource in _needs(service, operation, params):
        line = f"{who} {service}:{action} {resource}\n"
        if line not in _recorded:
            _recorded.add(line)
            with Path(os.environ[FILE]).open("a") as file:
                file.write(line)


def _who() -> str:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("tests.") and module != __name__:
            return _TESTS
        if module.startswith(_GATEWAY):
            return "gateway"
        if found := _MODULE.match(module):
            room, name = found.groups()
            return (
                name
                if room == "graveler_functions" or name == "garbage_collection"
                else f"{name}-job"
            )
        frame = frame.f_back
    return _process()


@lru_cache(maxsize=1)
def _process() -> str:
    words = " ".join(sys.orig_argv)
    # Provisioning the embedded stack does the work of the API's first call on AWS.
    processes = {
        "graveler_embedded.api": "api",
        "graveler_embedded.provision": "api",
        "graveler_embedded.background": "background",
        "graveler_embedded.slices": "slices",
    }
    for name, who in processes.items():
        if name in words:
            return who
    return _TESTS


def _needs(service: str, operation: str, params: Params) -> Iterator[Need]:
    if service == "s3":
        yield from _s3_needs(operation, params)
    elif service == "dynamodb":
        yield from _dynamodb_needs(operation, params)
    elif service == "lambda" and operation == "Invoke":
        yield "InvokeFunction", "*"
    else:
        yield operation, "*"


def _s3_needs(operation: str, params: Params) -> Iterator[Need]:
    if operation == "DeleteObjects":
        for each in params["Delete"]["Objects"]:
            yield "DeleteObject", _folder(each["Key"])
        return
    if source := params.get("CopySource"):
        yield "GetObject", _folder(source["Key"])
    yield _S3[operation], _folder(params["Key"]) if "Key" in params else "bucket"


def _folder(key: str) -> str:
    for folder in _FOLDERS:
        if f"/{folder}" in f"/{key}":
            return folder
    return "other"


def _dynamodb_needs(operation: str, params: Params) -> Iterator[Need]:
    if operation == "TransactWriteItems":
        for write in params["TransactItems"]:
            ((kind, request),) = write.items()
            yield _WRITES[kind], _partition(request)
    elif operation in ("BatchGetItem", "BatchWriteItem"):
        for each in _batched(params["RequestItems"]):
            yield operation, _partition(each)
    else:
        yield operation, _partition(params)


def _batched(tables: Mapping[str, Any]) -> Iterable[Params]:
    for wanted in tables.values():
        if isinstance(wanted, Mapping):
            yield from ({"Key": key} for key in wanted["Keys"])
        else:
            yield from (next(iter(write.values())) for write in wanted)


def _partition(request: Params) -> str:
    """The table, and in the refs table the kind of partition."""
    if "IndexName" in request:
        return str(request["IndexName"])
    key = request.get("Key") or request.get("Item")
    if key is None:
        values = request.get("ExpressionAttributeValues", {})
        if ":t" in values:
            return "staging"
        partition = str(values.get(":p", {}).get("S", ""))
    elif "token" in key:
        return "staging"
    else:
        partition = str(key["partition"]["S"])
    return partition.partition("#")[0] or "table"
