"""Places of repositories in DynamoDB."""

from uuid import uuid4

import msgspec
from msgspec.structs import replace

from graveler.aws.dynamodb.models import PLACES, PlacesItem, partition_of
from graveler.aws.dynamodb.records import RefsRecords
from graveler.errors import StaleVersionError
from graveler.model import Repository
from graveler.model.places import Places
from graveler.times import NS_PER_S

_LIFE_S = 24 * 60 * 60


class PlaceRecords(RefsRecords):
    """`graveler.ports.PlaceStore` over the refs table."""

    __slots__ = ()

    def places(self, repository: Repository, kind: str) -> Places:
        raw = self.tables.get(partition_of(repository), PLACES + kind)
        if raw is None:
            return Places(kind)
        places = msgspec.json.decode(raw["places"]["S"], type=Places)
        return replace(places, version=int(raw["version"]["N"]))

    def replace_places(self, repository: Repository, old: Places, new: Places) -> Places:
        ends_ns = [place.until_ns for each in (old, new) for place in each.taken.values()]
        last_ns = max((*ends_ns, *old.waiting.values(), *new.waiting.values()))
        item = PlacesItem(
            partition_of(repository),
            PLACES + old.kind,
            places=msgspec.json.encode(new).decode(),
            version=old.version + 1,
            write=str(uuid4()),
            expires_at=last_ns // NS_PER_S + _LIFE_S,
        )
        unchanged = (
            PlacesItem.version == old.version if old.version else PlacesItem.sort.does_not_exist()
        )
        if not self._put_once(self.tables.put(item, unchanged)):
            raise StaleVersionError(f"the places of repository {repository.name} changed")
        return replace(new, version=old.version + 1)
