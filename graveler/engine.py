"""The engine: the ports and shared caches that operations work with."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from graveler.cache import BoundedCache
from graveler.committed.store import Committed
from graveler.diff.two_way import Span
from graveler.export.ports import BatchJobs, ExportQueue, ExportStore
from graveler.export.record import ExportSettings
from graveler.limits import SEALED_TOKENS_MAX, TOKEN_RETENTION_S
from graveler.model import Branch, CommitID, Repository, RepositoryUID
from graveler.model.hooks import HookSettings
from graveler.model.places import UNLIMITED, PlaceLimit
from graveler.model.tasks import TaskSettings
from graveler.ports import (
    Clock,
    CollectionJobs,
    HookTargets,
    JobStore,
    Names,
    ObjectStore,
    RefStore,
    SliceFunction,
    StagingStore,
    TaskQueue,
)
from graveler.refs.history import CommitCache
from graveler.threads import begun
from graveler.times import NS_PER_S, Moment

T = TypeVar("T")

_COMMIT_CACHE_BYTES = 32 * 1024 * 1024
_VERSIONS_BYTES = 32 * 1024 * 1024
_LAST_COMMITS_BYTES = 8 * 1024 * 1024
_TABLES_BYTES = 32 * 1024 * 1024
_RANGE_SIZES_MAX = 50_000
_REPOSITORIES_MAX = 4096
_BRANCHES_MAX = 16_384
_DATA_HEADERS_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Engine:
    """Ports to the stores, and the caches that one process keeps between requests.

    The caches hold immutable values, or guesses that each use checks against the store:

    commits: by repository and ID.
    repositories: by name, the record last read, and when it was read.
    branches: by repository uid and name, the branch last seen.
    versions: by namespace, a committed file's ID and a path, what the file says of the path. A
        metarange says its range, and a range the object's identity; b"" if nothing.
    last_commits: by repository uid, commit ID and prefix, the commits that last changed entries.
    tables: by URI, the table metadata of a file.
    range_sizes: by namespace and range ID, the bytes of the range's objects.
    data_headers: by URI, the object store's headers of data that never change; with or without
        checksums.
    """

    refs: RefStore
    staging: StagingStore
    objects: ObjectStore
    committed: Committed
    clock: Clock
    names: Names
    signing_key: bytes = field(repr=False)
    exports: ExportStore
    export_queue: ExportQueue
    batch_jobs: BatchJobs
    export_settings: ExportSettings
    task_queue: TaskQueue
    jobs: JobStore
    collection_jobs: CollectionJobs
    hook_targets: HookTargets
    # Where tasks go on whose hooks are due; None: this process runs hooks itself.
    hook_queue: TaskQueue | None = None
    # How many tasks, tasks with hooks, and exports of one repository run at the same time.
    task_places: PlaceLimit = UNLIMITED
    hook_places: PlaceLimit = UNLIMITED
    export_places: PlaceLimit = UNLIMITED
    # Applies slices elsewhere; None: in this process.
    slice_function: SliceFunction | None = None
    task_settings: TaskSettings = field(default_factory=TaskSettings)
    # Imports may read objects under these URIs only; with none, no import is allowed.
    import_prefixes: tuple[str, ...] = ()
    # False: collections of garbage only report.
    collections_delete: bool = True
    # Scheduled dumps are copied to below this URI; "" makes none.
    dump_place: str = ""
    # Where hooks may reach; True of ignores_actions: no hook runs, and action files are not read.
    hook_settings: HookSettings = field(default_factory=HookSettings)
    ignores_actions: bool = False
    # A commit merges sealed tokens of its branch until it has fewer than this; at least two.
    sealed_tokens_max: int = SEALED_TOKENS_MAX
    # Threads for reads beside other ones; None: one read after the other.
    threads: Executor | None = None
    commits: CommitCache = field(default_factory=lambda: CommitCache(_COMMIT_CACHE_BYTES))
    repositories: BoundedCache[str, tuple[Repository, Moment]] = field(
        default_factory=lambda: BoundedCache(_REPOSITORIES_MAX)
    )
    branches: BoundedCache[tuple[RepositoryUID, str], Branch] = field(
        default_factory=lambda: BoundedCache(_BRANCHES_MAX)
    )
    tables: BoundedCache[str, Mapping[str, Any]] = field(
        default_factory=lambda: BoundedCache(_TABLES_BYTES)
    )
    range_sizes: BoundedCache[tuple[str, str], int] = field(
        default_factory=lambda: BoundedCache(_RANGE_SIZES_MAX)
    )
    versions: BoundedCache[tuple[str, str, bytes], bytes] = field(
        default_factory=lambda: BoundedCache(_VERSIONS_BYTES)
    )
    last_commits: BoundedCache[tuple[RepositoryUID, CommitID, bytes], Mapping[Span, CommitID]] = (
        field(default_factory=lambda: BoundedCache(_LAST_COMMITS_BYTES))
    )
    data_headers: BoundedCache[tuple[str, bool], Mapping[str, str]] = field(
        default_factory=lambda: BoundedCache(_DATA_HEADERS_BYTES)
    )

    def ahead(self, read: Callable[[], T]) -> Callable[[], T]:
        """Begin a read now; return the function that returns its result, or raises its error.

        The function need not be called: a read changes nothing. The read may come before, after or
        between those of the caller, so it must not rely on their results.
        """
        return begun(self.threads, read)

    def now_s(self) -> int:
        """Return the current time in Unix seconds."""
        return self.clock.now_ns() // NS_PER_S

    def drop_after_ns(self) -> int:
        """Return when tokens that are taken off a branch now can be dropped, in Unix ns."""
        return self.clock.now_ns() + TOKEN_RETENTION_S * NS_PER_S
