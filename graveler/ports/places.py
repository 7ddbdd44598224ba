"""The port to the places of a repository's runners."""

from typing import Protocol

from graveler.model import Repository
from graveler.model.places import Places


class PlaceStore(Protocol):
    """Places of a repository for each kind of work: `graveler.model.places` says why."""

    def places(self, repository: Repository, kind: str) -> Places:
        """Return the places that are taken, and the work that waits for one."""

    def replace_places(self, repository: Repository, old: Places, new: Places) -> Places:
        """Replace old by new; one of them has a place that is taken, or work that waits.

        Returns:
            new as it is stored, with the next version.

        Raises:
            StaleVersionError: another writer changed the places.
        """
