"""Sample data of a new repository."""

from contextlib import suppress

from msgspec.structs import replace

from graveler.addresses import new_address
from graveler.branches.heads import (
    Move,
    commit_event,
    move_head,
    new_commit,
)
from graveler.branches.lookup import read_branch
from graveler.committed.apply import apply_changes
from graveler.entries import entry_value
from graveler.errors import StaleVersionError
from graveler.model import AddressType, Branch, Change, Entry, ProtectionRule
from graveler.open_repository import OpenRepository
from graveler.operations.writes import unnamed
from graveler.samples.files import SampleFile, sample_files


def add(repo: OpenRepository, committer: str) -> None:
    """Commit the sample files to the repository's default branch, then protect the branch.

    Nothing is staged, so readers see all files at once. A failure leaves a repository that works:
    empty, or with the files and without protection.

    Raises:
        NotFoundError: the repository was deleted meanwhile.
        ContentionError: other writers moved the branch in each try.
    """
    files = sample_files(repo.record.name, repo.record.default_branch)
    changes = [_store(repo, file) for file in files]

    def plan(now: Branch) -> Move:
        head = repo.history().commit(now.commit_id)
        base = repo.metarange(head.metarange_id)
        made = new_commit(
            repo.engine,
            committer=committer,
            message="Add sample data",
            metarange_id=apply_changes(repo.engine.committed, base, changes).metarange_id,
            metadata={},
            parents=(head,),
        )
        event = commit_event(repo, "commit_created", now.name, made)
        return Move(now, made.id, (), made, event)

    branch = read_branch(repo, repo.record.default_branch)
    move_head(repo, branch, plan)
    protected = replace(repo.record, protection_rules=(ProtectionRule(repo.record.default_branch),))
    with suppress(StaleVersionError):  # a user has set rules already: keep them
        repo.engine.refs.update_repository(repo.record, protected)
    repo.engine.repositories.forget(repo.record.name)


def _store(repo: OpenRepository, file: SampleFile) -> Change:
    """Store the file as an object; return the change that puts it at its path."""
    address = new_address(repo.engine.names.new_uid())
    uri = f"{repo.record.storage_namespace}/{address}"
    info = unnamed(lambda: repo.engine.objects.put(uri, file.content, file.content_type))
    entry = Entry(
        address=address,
        address_type=AddressType.RELATIVE,
        size_bytes=len(file.content),
        checksum=info.checksum,
        last_modified_ns=repo.engine.clock.now_ns(),
        content_type=file.content_type,
    )
    return file.path, entry_value(entry)
