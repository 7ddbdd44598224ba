"""How many records a change to committed data adds, changes and removes."""

from msgspec import Struct


class Counts(Struct):
    """Records that differ from the base, by kind; added up while a change is made."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def total(self) -> int:
        """The records that differ; 0 means that nothing changed."""
        return self.added + self.changed + self.removed

    def add(self, other: "Counts") -> None:
        """Add the other's numbers."""
        self.added += other.added
        self.changed += other.changed
        self.removed += other.removed
