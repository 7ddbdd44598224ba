"""S3's XML documents: answers are written to bytes, request bodies are parsed to values."""

from gateway.protocol.documents.answers import (
    Attributes,
    acl,
    buckets,
    copied,
    error,
    location,
    object_attributes,
    post_response,
    versioning,
)
from gateway.protocol.documents.deletions import (
    DeletedObject,
    Deletion,
    DeletionError,
    deletion_result,
    parse_delete,
)
from gateway.protocol.documents.multipart import (
    PARTS_MAX,
    CompletedPart,
    PartRow,
    UploadRow,
    UploadsPage,
    completed,
    parse_completion,
    parts,
    upload_created,
    uploads,
)
from gateway.protocol.documents.pages import ObjectRow, ObjectsPage, objects_v1, objects_v2
from gateway.protocol.documents.tags import parse_tagging, tagging

__all__ = [
    "PARTS_MAX",
    "Attributes",
    "CompletedPart",
    "DeletedObject",
    "Deletion",
    "DeletionError",
    "ObjectRow",
    "ObjectsPage",
    "PartRow",
    "UploadRow",
    "UploadsPage",
    "acl",
    "buckets",
    "completed",
    "copied",
    "deletion_result",
    "error",
    "location",
    "object_attributes",
    "objects_v1",
    "objects_v2",
    "parse_completion",
    "parse_delete",
    "parse_tagging",
    "parts",
    "post_response",
    "tagging",
    "upload_created",
    "uploads",
    "versioning",
]
