"""A good request for each operation of the gateway, in one prepared repository."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from graveler.operations import commits
from tests.support.worlds.gateway_stack import REPO, GatewayStack, Reply

OBJECT = f"/{REPO}/main/a"
BUCKET = f"/{REPO}"

TAGGING = b"<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>"
DELETION = b"<Delete><Object><Key>main/a</Key></Object></Delete>"


@dataclass(frozen=True)
class Prepared:
    """A gateway whose repository has the object main/a, committed, and an upload with a part."""

    stack: GatewayStack
    upload_id: str
    part: str  # its entity tag


@dataclass(frozen=True)
class Request:
    """A request; `{upload}` and `{part}` stand for those of the prepared repository."""

    method: str
    path: str
    status: int
    # What a user needs for it, one by one; each refusal leaves the body unread.
    actions: tuple[str, ...]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    # Only the body says what is written, so it is read before the rights are known.
    reads_first: bool = False

    def send(self, prepared: Prepared, change: Callable[[str], str] = str) -> Reply:
        """Send the request; change alters the path, the values and the body first."""

        def filled(text: str) -> str:
            made = text.replace("{upload}", prepared.upload_id).replace("{part}", prepared.part)
            return change(made)

        return prepared.stack.ask(
            self.method,
            filled(self.path),
            filled(self.body.decode()).encode(),
            query={name: filled(value) for name, value in self.query.items()},
            headers={name: filled(value) for name, value in self.headers.items()},
        )


_COMPLETION = (
    b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{part}</ETag></Part>"
    b"</CompleteMultipartUpload>"
)
_READ, _WRITE, _DELETE = "fs:ReadObject", "fs:WriteObject", "fs:DeleteObject"
_LIST, _REPOSITORY = "fs:ListObjects", "fs:ReadRepository"
_UPLOAD = {"uploadId": "{upload}"}
_PART = {"uploadId": "{upload}", "partNumber": "2"}
_SOURCE = {"x-amz-copy-source": f"{REPO}/main/a"}

# By the names of `graveler_gateway.operations.table`.
REQUESTS: Mapping[str, Request] = {
    "ListBuckets": Request("GET", "/", 200, ("fs:ListRepositories",)),
    "GetObjectTagging": Request("GET", OBJECT, 200, (_READ,), {"tagging": ""}),
    "GetObjectAttributes": Request(
        "GET", OBJECT, 200, (_READ,), {"attributes": ""}, {"x-amz-object-attributes": "ETag"}
    ),
    "ListParts": Request("GET", f"{BUCKET}/main/up", 200, (_WRITE,), _UPLOAD),
    "GetObject": Request("GET", OBJECT, 200, (_READ,)),
    "HeadObject": Request("HEAD", OBJECT, 200, (_READ,)),
    "PutObjectTagging": Request("PUT", OBJECT, 200, (_READ, _WRITE), {"tagging": ""}, body=TAGGING),
    "UploadPartCopy": Request("PUT", f"{BUCKET}/main/up", 200, (_READ, _WRITE), _PART, _SOURCE),
    "UploadPart": Request("PUT", f"{BUCKET}/main/up", 200, (_WRITE,), _PART, body=b"part"),
    "CopyObject": Request("PUT", f"{BUCKET}/main/b", 200, (_READ, _WRITE), {}, _SOURCE),
    "PutObject": Request("PUT", f"{BUCKET}/main/b", 200, (_WRITE,), body=b"new"),
    "CreateMultipartUpload": Request("POST", f"{BUCKET}/main/b", 200, (_WRITE,), {"uploads": ""}),
    "CompleteMultipartUpload": Request(
        "POST", f"{BUCKET}/main/up", 200, (_WRITE,), _UPLOAD, body=_COMPLETION
    ),
    "DeleteObjectTagging": Request("DELETE", OBJECT, 204, (_READ, _WRITE), {"tagging": ""}),
    "AbortMultipartUpload": Request("DELETE", f"{BUCKET}/main/up", 204, (_WRITE,), _UPLOAD),
    "DeleteObject": Request("DELETE", OBJECT, 204, (_DELETE,)),
    "GetBucketLocation": Request("GET", BUCKET, 200, (_REPOSITORY,), {"location": ""}),
    "GetBucketVersioning": Request("GET", BUCKET, 200, (_REPOSITORY,), {"versioning": ""}),
    "ListMultipartUploads": Request("GET", BUCKET, 200, (_LIST,), {"uploads": ""}),
    "ListObjects": Request("GET", BUCKET, 200, (_LIST,), {"prefix": "main/"}),
    "HeadBucket": Request("HEAD", BUCKET, 200, (_REPOSITORY,)),
    "DeleteObjects": Request(
        "POST", BUCKET, 200, (_DELETE,), {"delete": ""}, body=DELETION, reads_first=True
    ),
    "CreateBucket": Request("PUT", BUCKET, 409, ("fs:CreateRepository", _REPOSITORY)),
    "DeleteBucket": Request("DELETE", BUCKET, 405, (_REPOSITORY,)),
}


def prepared() -> Prepared:
    """Return a gateway whose repository has an object and an upload."""
    stack = GatewayStack()
    stack.put("main/a", b"content", content_type="text/csv", x_amz_meta_owner="ann")
    request = commits.CommitRequest("first", "bob")
    commits.commit(stack.engine, REPO, "main", request)
    upload_id = begun(stack, "main/up")
    part = stack.ask(
        "PUT", f"{BUCKET}/main/up", b"part", query={"uploadId": upload_id, "partNumber": "1"}
    )
    return Prepared(stack, upload_id, part.headers["etag"])


def begun(stack: GatewayStack, key: str, **headers: str) -> str:
    """Begin an upload to the key; return its ID."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    reply = stack.ask("POST", f"{BUCKET}/{key}", query={"uploads": ""}, headers=named)
    assert reply.status == 200, reply
    return reply.text("UploadId")
