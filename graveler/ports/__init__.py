"""What the engine asks of the world. Adapters live in `graveler.aws`; memory fakes in the tests.

Every state change of a ref is one conditional write or one transaction. All reads here are
strongly consistent unless a method says otherwise. Every adapter translates its vendor's errors:
StaleVersionError and AlreadyExistsError for failed conditions (after reading back whether the
failed write was its own, landed by an earlier attempt), ThrottledError for throttling that
outlasts its retries, UnknownOutcomeError when nobody can tell.
"""

from graveler.ports.objects import (
    CommittedFiles,
    ListedObject,
    ObjectDescription,
    ObjectInfo,
    ObjectStore,
    UnfinishedUpload,
    UploadedPart,
)
from graveler.ports.refs import RefStore, TaskStore
from graveler.ports.staging import Staged, StagingStore
from graveler.ports.world import Clock, Names

__all__ = [
    "Clock",
    "CommittedFiles",
    "ListedObject",
    "Names",
    "ObjectDescription",
    "ObjectInfo",
    "ObjectStore",
    "RefStore",
    "Staged",
    "StagingStore",
    "TaskStore",
    "UnfinishedUpload",
    "UploadedPart",
]
