"""Claims of addresses, and sources of shallow copies that no collection deletes meanwhile."""

from collections.abc import Collection

from msgspec.structs import replace

from graveler.branches.data import check_data
from graveler.branches.lookup import object_not_found, shown
from graveler.branches.retries import contention
from graveler.branches.views import entry_stat, read_value
from graveler.entries import value_entry
from graveler.limits import BRANCH_WRITE_TRIES_MAX, CLAIM_LIFE_S
from graveler.model import Entry
from graveler.open_repository import OpenRepository
from graveler.retention.claims import address_to_claim


def claim(repo: OpenRepository, addresses: Collection[str]) -> None:
    """Keep the addresses alive; read the sources again before they are staged elsewhere."""
    if addresses:
        repo.engine.refs.claim_addresses(
            repo.record, sorted(addresses), repo.engine.now_s() + CLAIM_LIFE_S
        )


def claimed_source(repo: OpenRepository, ref: str, path: bytes) -> Entry:
    """Return a new entry for the data of the object, which no collection deletes meanwhile.

    Raises:
        InvalidInputError: the ref or the path is malformed.
        NotFoundError: the ref names no commit, or has no such object.
        GoneError: the object's data do not exist any more, or were replaced.
        ContentionError: others replaced the object in each try.
    """
    claimed = None
    for _ in range(BRANCH_WRITE_TRIES_MAX):
        stored = read_value(repo, ref, path)
        if stored is None:
            raise object_not_found(path)
        entry = value_entry(stored)
        address = address_to_claim(repo.record.storage_namespace, entry, repo.engine.now_s())
        if address in (None, claimed):
            # The content of an expired commit may have been collected. The new entry is younger
            # than data that were replaced, so they must not pass for its own.
            check_data(repo.engine, entry_stat(repo.record.storage_namespace, path, entry))
            return replace(entry, last_modified_ns=repo.engine.clock.now_ns())
        assert address is not None
        claim(repo, [address])
        claimed = address
    raise contention(f"path {shown(path)}")
