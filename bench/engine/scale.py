"""The amounts that are measured."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Amounts, none larger than the repository."""

    lookups: int = 200_000
    # Before the measurement: enough to visit most index blocks of 50 million objects.
    warming_lookups: int = 200_000
    # Distinct objects among them, where everything must be in RAM.
    hot_objects: int = 20_000
    cold_lookups: int = 40
    latency_s: float = 0.020
    written_records: int = 1_000_000
    scanned_records: int = 2_000_000
    changes: tuple[int, ...] = (1, 10, 100, 1_000, 100_000)
    merged_changes: tuple[int, ...] = (100, 10_000)
    large_changes: int = 1_000_000

    def within(self, objects: int, changes_max: int) -> "Scale":
        """Return the scale, limited to a repository's size and a number of changes per commit."""
        return Scale(
            lookups=self.lookups,
            warming_lookups=self.warming_lookups,
            hot_objects=min(self.hot_objects, objects),
            cold_lookups=self.cold_lookups,
            latency_s=self.latency_s,
            written_records=min(self.written_records, objects),
            scanned_records=min(self.scanned_records, objects),
            changes=tuple(n for n in self.changes if n * 5 <= objects and n <= changes_max),
            merged_changes=tuple(amount for amount in self.merged_changes if amount * 5 <= objects),
            large_changes=min(self.large_changes, objects),
        )
