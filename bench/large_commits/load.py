"""Large loads of changes, and their staging as fast as the table takes them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from multiprocessing import get_context
from random import Random

from bench.dataset import Dataset
from graveler.aws.connect import Clients
from graveler.aws.dynamodb.tables import Raw, Tables
from graveler.aws.settings import DeploymentSettings
from graveler.model import Change, StagingToken

_ITEMS_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Load:
    """Changes to stage: first records of objects in a row (version None), or later changes."""

    dataset: Dataset
    numbers: Sequence[int]
    version: int | None = None

    def changes(self) -> Iterator[Change]:
        """Yield the changes, by path."""
        if self.version is not None:
            return self.dataset.changes(self.numbers, self.version)
        first = self.numbers[0] if self.numbers else 0
        return self.dataset.records(first, first + len(self.numbers))

    def parts(self, count: int) -> list["Load"]:
        """Return the load in parts of about equal size."""
        amount = len(self.numbers)
        bounds = [amount * part // count for part in range(count + 1)]
        return [replace(self, numbers=self.numbers[low:high]) for low, high in pairwise(bounds)]


def additions(amount: int) -> Load:
    """Return first records of so many objects."""
    return Load(Dataset(amount), range(amount))


def random_changes(base_objects: int, amount: int, version: int = 1) -> Load:
    """Return changes to so many objects of a generated repository, chosen at random."""
    dataset = Dataset(base_objects)
    return Load(dataset, dataset.random_numbers(Random(version), amount), version)


def stage(
    settings: DeploymentSettings, token: StagingToken, load: Load, processes: int = 2
) -> None:
    """Stage the load under an open token, directly in the table, from several processes.

    The processes find their credentials in the environment.
    """
    parts = [(settings, token, part) for part in load.parts(processes)]
    with get_context("spawn").Pool(processes) as pool:
        pool.starmap(_stage_part, parts)


def _stage_part(settings: DeploymentSettings, token: StagingToken, load: Load) -> None:
    tables = tables_of(settings)
    changes = load.changes()
    while batch := [_put(token, *change) for change in islice(changes, _ITEMS_AT_ONCE)]:
        tables.write_batch(settings.staging_table, batch)


def _put(token: StagingToken, path: bytes, value: bytes | None) -> Raw:
    item: dict[str, Raw] = {"token": {"S": token}, "path": {"B": path}}
    if value is not None:
        item["value"] = {"B": value}
    return {"PutRequest": {"Item": item}}


def tables_of(settings: DeploymentSettings) -> Tables:
    """Return the deployment's tables, over a new connection."""
    return Tables(settings.refs_table, settings.staging_table, Clients(settings).dynamodb())
