"""The engine's ports to the world: adapters live in `graveler.aws`, memory fakes in the tests.

Each state change of a ref is one conditional write or one transaction. Reads are strongly
consistent unless a method says otherwise. Every adapter translates its vendor's errors:

- StaleVersionError or AlreadyExistsError for a failed condition. The adapter first reads back
  whether an earlier attempt of its own has met the condition.
- ThrottledError for throttling that outlasts its retries.
- UnknownOutcomeError if the write may have landed.

The ports of continuous export take its records, and so are in `graveler.export.ports`.
"""

from graveler.ports.accounts import (
    NO_STANDARD_ACCESS,
    AccountStore,
    Credential,
    Group,
    Installation,
    KeyPair,
    ListedKey,
    LoginKey,
    LookUp,
    NewGroup,
    PolicyHolder,
    StandardAccess,
    User,
)
from graveler.ports.committed_files import CommittedFiles
from graveler.ports.hooks import (
    HookBuses,
    HookFunctions,
    HookTargets,
    HttpAnswer,
    HttpClient,
    HttpRequest,
    SecretStore,
)
from graveler.ports.identities import IdentityService
from graveler.ports.jobs import CollectionJobs, JobStore
from graveler.ports.objects import (
    NOTHING_EXPECTED,
    BegunUpload,
    Checksums,
    CopiedPart,
    ExpectedObject,
    ListedObject,
    MultipartUploads,
    ObjectData,
    ObjectDescription,
    ObjectInfo,
    ObjectListing,
    ObjectStore,
    PartInfo,
    PartsPage,
    Presigner,
    SignedS3Request,
    StoredContent,
    UnfinishedUpload,
    UploadedPart,
)
from graveler.ports.principals import ExternalPrincipal
from graveler.ports.pulls import PullRequestStore
from graveler.ports.recorded_uploads import UploadStore
from graveler.ports.refs import (
    BranchStore,
    ClaimStore,
    CommitStore,
    HookRunStore,
    RefStore,
    RepositoryStore,
    RestoreStore,
    TagStore,
    TaskStore,
)
from graveler.ports.staging import (
    CHANGES_TOGETHER_MAX,
    UNCONDITIONAL,
    ChangesPage,
    Staged,
    StagedChange,
    StageOutcome,
    StagingStore,
    Unconditional,
)
from graveler.ports.workers import SliceFunction, TaskQueue
from graveler.ports.world import Clock, Names

__all__ = [
    "CHANGES_TOGETHER_MAX",
    "NOTHING_EXPECTED",
    "NO_STANDARD_ACCESS",
    "UNCONDITIONAL",
    "AccountStore",
    "BegunUpload",
    "BranchStore",
    "ChangesPage",
    "Checksums",
    "ClaimStore",
    "Clock",
    "CollectionJobs",
    "CommitStore",
    "CommittedFiles",
    "CopiedPart",
    "Credential",
    "ExpectedObject",
    "ExternalPrincipal",
    "Group",
    "HookBuses",
    "HookFunctions",
    "HookRunStore",
    "HookTargets",
    "HttpAnswer",
    "HttpClient",
    "HttpRequest",
    "IdentityService",
    "Installation",
    "JobStore",
    "KeyPair",
    "ListedKey",
    "ListedObject",
    "LoginKey",
    "LookUp",
    "MultipartUploads",
    "Names",
    "NewGroup",
    "ObjectData",
    "ObjectDescription",
    "ObjectInfo",
    "ObjectListing",
    "ObjectStore",
    "PartInfo",
    "PartsPage",
    "PolicyHolder",
    "Presigner",
    "PullRequestStore",
    "RefStore",
    "RepositoryStore",
    "RestoreStore",
    "SecretStore",
    "SignedS3Request",
    "SliceFunction",
    "StageOutcome",
    "Staged",
    "StagedChange",
    "StagingStore",
    "StandardAccess",
    "StoredContent",
    "TagStore",
    "TaskQueue",
    "TaskStore",
    "Unconditional",
    "UnfinishedUpload",
    "UploadStore",
    "UploadedPart",
    "User",
]
