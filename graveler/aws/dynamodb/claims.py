"""Claims in DynamoDB: they keep old addresses alive that get another name."""

from collections.abc import Iterator, Sequence
from uuid import uuid4

import msgspec

from graveler.aws import deadlines
from graveler.aws.dynamodb.models import CLAIM, ClaimItem, partition_of
from graveler.aws.dynamodb.records import RefsRecords
from graveler.errors import UnknownOutcomeError
from graveler.model import Repository

# An address has at most some 90 bytes, an item 400 KB.
_ADDRESSES_IN_ITEM_MAX = 2_000


class ClaimRecords(RefsRecords):
    """`graveler.ports.ClaimStore` over the refs table."""

    __slots__ = ()

    def claim_addresses(
        self, repository: Repository, addresses: Sequence[str], expires_s: int
    ) -> None:
        for first in range(0, len(addresses), _ADDRESSES_IN_ITEM_MAX):
            claimed = addresses[first : first + _ADDRESSES_IN_ITEM_MAX]
            item = ClaimItem(
                partition_of(repository),
                CLAIM + str(uuid4()),
                addresses=msgspec.json.encode(claimed).decode(),
                expires_at=expires_s,
            )
            try:
                with deadlines.unseen():
                    self.tables.dynamodb.call("PutItem", self.tables.put(item))
            except UnknownOutcomeError:
                if not self._exists(item):
                    raise

    def claimed_addresses(self, repository: Repository) -> Iterator[str]:
        request = self.tables.query(partition_of(repository), CLAIM)
        for raws in self.tables.pages(request):
            for raw in raws:
                yield from msgspec.json.decode(raw["addresses"]["S"], type=list[str])
