"""Repositories: create, read, delete, metadata, branch protection rules."""

from collections.abc import Container, Mapping, Sequence
from itertools import chain

from msgspec.structs import replace

from graveler.addresses import COLLECTED_FOLDERS
from graveler.branches.complete_listings import every_repository
from graveler.branches.lookup import check_writable, read_repository
from graveler.branches.protection import check_pattern
from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import (
    AlreadyExistsError,
    GravelerError,
    InvalidInputError,
    PreconditionFailedError,
)
from graveler.identity import make_commit
from graveler.limits import (
    METADATA_KEY_BYTES_MAX,
    PROTECTION_RULES_MAX,
    REPOSITORY_METADATA_BYTES_MAX,
)
from graveler.messages import Refusal
from graveler.model import (
    EMPTY_METARANGE,
    Branch,
    Commit,
    Page,
    ProtectionRule,
    Repository,
    RepositoryUID,
)
from graveler.model.settings import check_unchanged, checksum_of
from graveler.names import (
    NAME_BYTES_MAX,
    check_branch_name,
    check_repository_name,
    normalized_storage_namespace,
)
from graveler.open_repository import OpenRepository
from graveler.operations.exports.overlaps import check_outside_of_exports
from graveler.retention.candidates import overlap

# This file marks a namespace as taken; lakeFS's tools read it too.
_MARKER = "_lakefs/dummy"
_MARKER_TEXT = b"this is dummy data - created by lakeFS to check accessibility"


def create(
    engine: Engine,
    *,
    name: str,
    storage_namespace: str,
    default_branch: str = "main",
    read_only: bool = False,
    bare: bool = False,
) -> Repository:
    """Create a repository with a first commit and its default branch; a bare one has neither.

    A bare repository waits for `dumps.restore`. Bare and read-only repositories do not claim their
    namespace. It may be another repository's, or inside of another's.

    Raises:
        AlreadyExistsError: a repository with that name exists.
        InvalidInputError: a name or the namespace is malformed; or the namespace is in use, cannot
            be accessed, holds data, or overlaps with another repository's or with an export.
    """
    check_repository_name(name)
    check_branch_name(default_branch)
    namespace = normalized_storage_namespace(storage_namespace)
    if engine.refs.repository(name) is not None:
        raise _taken(name)
    check_outside_of_exports(engine, namespace)
    marker = f"{namespace}/{_MARKER}"
    claims = not (read_only or bare)
    if claims:
        _check_apart(engine, namespace)
        _check_empty(engine, namespace)
        _claim(engine, marker, namespace, name)
    repository = Repository(
        name=name,
        uid=RepositoryUID(engine.names.new_uid()),
        storage_namespace=namespace,
        default_branch=default_branch,
        creation_date=engine.now_s(),
        read_only=read_only,
        restoring="" if bare else None,
    )
    repo = OpenRepository(engine, repository)
    branch, first = (None, None) if bare else _beginning(repo)
    event = repo.event("repository_created", storage_namespace=namespace)
    try:
        engine.refs.create_repository(repository, branch, first, event)
    except AlreadyExistsError as error:
        existing = engine.refs.repository(name)
        if claims and (existing is None or existing.storage_namespace != namespace):
            engine.objects.delete(marker)
        raise _taken(name) from error
    if claims:
        engine.objects.put(marker, _MARKER_TEXT, "text/plain")
    return repository


def _beginning(repo: OpenRepository) -> tuple[Branch, Commit]:
    """Return the default branch of a new repository, and its first commit."""
    first = make_commit(
        committer="",
        message="Repository created",
        metarange_id=EMPTY_METARANGE,
        creation_date=repo.record.creation_date,
        metadata={},
        parents=(),
        generation=1,
    )
    return repo.new_branch(repo.record.default_branch, first.id), first


def _taken(name: str) -> GravelerError:
    return Refusal.REPOSITORY_EXISTS.error(f"{name!r} exists")


def _check_apart(engine: Engine, namespace: str) -> None:
    """Check that the namespace does not overlap with another repository's.

    Two creations at the same moment may miss each other. That loses no data: no object belongs to
    two namespaces (`retention.candidates`).

    Raises:
        InvalidInputError: it overlaps.
    """
    for other in every_repository(engine):
        # A read-only repository claims nothing; a bare one claims the namespace it will restore.
        if not other.read_only and overlap(namespace, other.storage_namespace):
            raise Refusal.NAMESPACE_IN_USE.error(
                f"{namespace!r} overlaps with {other.storage_namespace!r} of "
                f"repository {other.name!r}: choose a prefix outside of it",
                namespace=namespace,
            )


def _check_empty(engine: Engine, namespace: str) -> None:
    """Check that the namespace holds no data, of a deleted repository or of other software.

    The check comes before the claim. So a refusal stores nothing, and the claim of an earlier
    attempt stays.

    Raises:
        InvalidInputError: it holds data, or cannot be accessed.
    """
    try:
        uris = (f"{namespace}/{folder}" for folder in COLLECTED_FOLDERS)
        found = next(chain.from_iterable(map(engine.objects.list_objects, uris)), None)
    except InvalidInputError as error:
        raise Refusal.NAMESPACE_WITHOUT_ACCESS.error(str(error)) from error
    if found is not None:
        raise Refusal.NAMESPACE_IN_USE.error(
            f"it holds data, such as {found.uri!r}: choose another prefix, or create a bare "
            "repository to restore the one that was there",
            namespace=namespace,
        )


def _claim(engine: Engine, marker: str, namespace: str, name: str) -> None:
    """Mark the namespace as taken.

    Until the repository exists, the marker holds the repository's name, so that a request can
    repeat one that crashed here.

    Raises:
        InvalidInputError: another repository has claimed the namespace.
    """
    claim = _MARKER_TEXT + f"\nfor {name}".encode()
    try:
        engine.objects.put(marker, claim, "text/plain", if_absent=True)
    except PreconditionFailedError as error:
        if engine.objects.get(marker) != claim:
            raise Refusal.NAMESPACE_IN_USE.error(
                "choose another prefix", namespace=namespace
            ) from error


def get(engine: Engine, name: str) -> Repository:
    """Return the repository.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: it does not exist.
    """
    return read_repository(engine, name).record


def list_page(engine: Engine, *, prefix: str, after: str, amount: int) -> Page[Repository]:
    """Return a page of repositories by name."""
    return engine.refs.repositories(prefix, after, amount)


def delete(engine: Engine, name: str, *, force: bool = False) -> None:
    """Delete the repository with all its refs; its objects stay in the object store.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: it does not exist.
        ForbiddenError: it is read-only, and force is False.
    """
    repo = read_repository(engine, name)
    check_writable(repo.record, force=force)
    engine.refs.delete_repository(repo.record, repo.event("repository_deleted"))
    engine.repositories.forget(name)


def metadata(engine: Engine, name: str) -> Mapping[str, str]:
    """Return the repository's free-form metadata.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: the repository does not exist.
    """
    return engine.refs.repository_metadata(read_repository(engine, name).record)


def set_metadata(engine: Engine, name: str, put: Mapping[str, str], *, force: bool = False) -> None:
    """Set keys of the metadata; other keys stay.

    Raises:
        InvalidInputError: a key is empty or too long, the metadata would be too large, or the name
            is malformed.
        NotFoundError: the repository does not exist.
        ForbiddenError: it is read-only, and force is False.
    """
    repo = read_repository(engine, name)
    check_writable(repo.record, force=force)
    for key in put:
        if not 1 <= len(key.encode()) <= METADATA_KEY_BYTES_MAX:
            raise InvalidInputError(
                f"invalid metadata key of {len(key.encode())} bytes: "
                f"a key has 1 to {METADATA_KEY_BYTES_MAX} bytes"
            )
    together = {**engine.refs.repository_metadata(repo.record), **put}
    # DynamoDB counts one more byte for each key.
    size_bytes = sum(len(key.encode()) + len(text.encode()) + 1 for key, text in together.items())
    if size_bytes > REPOSITORY_METADATA_BYTES_MAX:
        raise InvalidInputError(
            f"the metadata of repository {name!r} would have {size_bytes} bytes: "
            f"keep them within {REPOSITORY_METADATA_BYTES_MAX} bytes"
        )
    engine.refs.update_repository_metadata(repo.record, put, ())


def delete_metadata(engine: Engine, name: str, keys: Sequence[str], *, force: bool = False) -> None:
    """Delete keys of the metadata; missing keys are no error.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: the repository does not exist.
        ForbiddenError: it is read-only, and force is False.
    """
    repo = read_repository(engine, name)
    check_writable(repo.record, force=force)
    engine.refs.update_repository_metadata(repo.record, {}, keys)


def protection_rules(engine: Engine, name: str) -> tuple[tuple[ProtectionRule, ...], str]:
    """Return the branch protection rules and their checksum, which is "" if there are none.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: the repository does not exist.
    """
    rules = read_repository(engine, name).record.protection_rules
    return rules, checksum_of(rules)


def set_protection_rules(
    engine: Engine,
    name: str,
    rules: Sequence[ProtectionRule],
    if_match: str | None = None,
    keeping: Container[str] = (),
) -> None:
    """Replace the branch protection rules if their checksum is still if_match (None: any).

    keeping: the patterns that keep the required approvals of their stored rule, if there is one.

    Raises:
        PreconditionFailedError: they have another checksum.
        InvalidInputError: a pattern is empty, repeated or too long, a new one is malformed, there
            are too many, or the name is malformed.
        NotFoundError: the repository does not exist.
        ForbiddenError: it is read-only.
        ContentionError: the repository changed in each try.
    """
    patterns = [rule.pattern for rule in rules]
    if "" in patterns or len(set(patterns)) != len(patterns):
        raise InvalidInputError("branch protection patterns must not be empty or repeated")
    if len(patterns) > PROTECTION_RULES_MAX or max(map(len, patterns), default=0) > NAME_BYTES_MAX:
        raise InvalidInputError(
            f"at most {PROTECTION_RULES_MAX} branch protection patterns are allowed, "
            f"of at most {NAME_BYTES_MAX} characters each"
        )

    def attempt() -> None:
        old = read_repository(engine, name).record
        check_writable(old, force=False)
        check_unchanged("the list of branch protection rules", old.protection_rules, if_match)
        # Clients change one rule by sending all, so rules that are stored already are not checked.
        stored = {rule.pattern for rule in old.protection_rules}
        for pattern in {rule.pattern for rule in rules} - stored:
            check_pattern(pattern)
        kept = {each.pattern: each.required_approvals for each in old.protection_rules}
        new = tuple(
            replace(rule, required_approvals=kept.get(rule.pattern, 0))
            if rule.pattern in keeping
            else rule
            for rule in rules
        )
        engine.refs.update_repository(old, replace(old, protection_rules=new))
        engine.repositories.forget(name)

    retry_stale(attempt, f"repository {name!r}")
