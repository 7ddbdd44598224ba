"""Keys and values like an S3 inventory of a data lake, of any size, computed instead of stored.

A dataset is five sections, in the order of their keys:

    lake/events-003/dt=2025-07-19/hour=04/part-00017-<job>.snappy.parquet    55 %, Hive by the hour
    lake/orders-001/region=eu/dt=2025-07-19/part-00017-<job>.snappy.parquet  20 %, Hive by the day
    logs/service-02/2025/07/19/04/host-0017-<job>.log.gz                     20 %, logs by the hour
    raw/landing/000000017-<job>.json                                          4 %, one wide folder
    users/00017/projects/.../checkpoints/step-00000017-<job>.pt               1 %, deep folders

A larger dataset has more tables and services; folders keep their size. Every key and value is a
function of its number and the seed, so each is accessible by itself, and all together are a sorted
stream. Values are real entries (`graveler.entries`) whose random parts do not compress. They are
assembled from bytes in less than half the time of encoding them.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import blake2b, sha256
from random import Random

from graveler.model import Change, Record

# Part of a stored dataset's name: increment it when keys or values change.
VERSION = 2

_DAYS = [date(2025, 1, 1) + timedelta(days=day) for day in range(365)]
_HIVE_DAYS = [str(day).encode() for day in _DAYS]
_LOG_DAYS = [day.strftime("%Y/%m/%d").encode() for day in _DAYS]
_REGIONS = sorted([b"eu", b"us", b"ap", b"sa"])

# lakeFS's tagged hashing of an entry's identity (`graveler.identity`): size, checksum, the rest.
_TYPE = b"application/octet-stream"
_TEXT = b"\x01\x02\x08%b%b"
_IDENTITY = b"\x02\x08%b" + _TEXT % ((32).to_bytes(8, "big"), b"%b") + b"\x04\x02\x08" + bytes(8)
_IDENTITY += _TEXT % (len(_TYPE).to_bytes(8, "big"), _TYPE)
# The stored value: that identity, and the Entry message, whose fields have fixed lengths. Both xids
# of the address end in 0: garbage collection only collects addresses of our own shape.
_VALUE = b"\x40%b\x80\x02\x0a\x2edata/%b0/%b0\x12\x0b%b\x18%b\x22\x20%b\x30\x01\x3a\x18" + _TYPE


def _varint(number: int) -> bytes:
    groups = [number >> shift & 0x7F for shift in range(0, number.bit_length(), 7)]
    return bytes([group | 0x80 for group in groups[:-1]] + groups[-1:])


def _numbers(random: Random) -> tuple[bytes, bytes, bytes]:
    """A size as in identity and message, and a time as in the message."""
    size_bytes = random.randrange(1 << 21, 1 << 28)
    time = b"\x08" + _varint(1_735_689_600 + random.randrange(31_536_000))
    time += b"\x10" + _varint(random.randrange(1 << 21, 1 << 28))
    return size_bytes.to_bytes(8, "big"), _varint(size_bytes), time


# Precomputed numbers of values: encoding them would take longer than all other work.
_NUMBERS = [_numbers(random) for random in [Random(1)] for _ in range(1 << 12)]


def _events(number: int) -> bytes:
    table, hour = divmod(number, 365 * 24)
    return b"lake/events-%03d/dt=%b/hour=%02d/" % (table, _HIVE_DAYS[hour // 24], hour % 24)


def _orders(number: int) -> bytes:
    table, rest = divmod(number, 4 * 365)
    region, day = divmod(rest, 365)
    return b"lake/orders-%03d/region=%b/dt=%b/" % (table, _REGIONS[region], _HIVE_DAYS[day])


def _logs(number: int) -> bytes:
    service, hour = divmod(number, 365 * 24)
    return b"logs/service-%03d/%b/%02d/" % (service, _LOG_DAYS[hour // 24], hour % 24)


def _landing(_number: int) -> bytes:
    return b"raw/landing/"


def _users(number: int) -> bytes:
    deep = b"experiments/runs/2025/europe/gpu/models/large/checkpoints/"
    return b"users/%05d/projects/%02d/" % divmod(number, 20) + deep


@dataclass(frozen=True, slots=True)
class Section:
    """Neighbouring folders of one kind; they share the section's objects evenly."""

    first: int  # the number of its first object
    objects: int
    folders: int
    folder: Callable[[int], bytes]
    file: bytes  # the pattern of a file's name: its place in the folder, and the folder's job

    def start(self, folder: int) -> int:
        """Return a folder's first object; for one folder too many, that of the next section."""
        return self.first + self.objects * folder // self.folders

    def folder_of(self, number: int) -> int:
        """Return the folder that holds the object."""
        return ((number - self.first + 1) * self.folders - 1) // self.objects


# Share of the objects in percent, objects in a folder (None: all in one), folders, files.
_PARQUET = b"part-%%05d-%b.c000.snappy.parquet"
_KINDS: list[tuple[int, int | None, Callable[[int], bytes], bytes]] = [
    (55, 60, _events, _PARQUET),
    (20, 120, _orders, _PARQUET),
    (20, 100, _logs, b"host-%%04d-%b.log.gz"),
    (4, None, _landing, b"%%09d-%b.json"),
    (1, 10, _users, b"step-%%08d-%b.pt"),
]


# Of ten changes at neighbouring objects, those that do not overwrite.
_DELETED, _ADDED = 0, 1


class Dataset:
    """The content of a generated repository; objects are numbered from 0 in the order of keys."""

    def __init__(self, objects: int, seed: int = 1) -> None:
        self.objects = objects
        self.seed = seed
        self.sections: list[Section] = []
        first = share = 0
        for percent, in_folder, folder, file in _KINDS:
            share += percent
            count = objects * share // 100 - first
            if count:
                folders = -(-count // in_folder) if in_folder else 1
                self.sections.append(Section(first, count, folders, folder, file))
            first += count
        self._firsts = [section.first for section in self.sections]

    def section_of(self, number: int) -> Section:
        """Return the section that holds the object."""
        return self.sections[bisect_right(self._firsts, number) - 1]

    def key(self, number: int) -> bytes:
        """Return the key of the object."""
        section = self.section_of(number)
        folder = section.folder_of(number)
        return self._pattern(section, folder) % (number - section.start(folder))

    def _pattern(self, section: Section, folder: int) -> bytes:
        name = section.folder(folder)
        job = blake2b(name, digest_size=16, salt=self.seed.to_bytes(8, "big")).hexdigest()
        return name + section.file % job.encode()

    def keys(self, first: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the keys of the objects from first up to end (exclusive), ascending."""
        end = self.objects if end is None else min(end, self.objects)
        while first < end:
            section = self.section_of(first)
            folder = section.folder_of(first)
            start = section.start(folder)
            last = min(end, section.start(folder + 1))
            pattern = self._pattern(section, folder)
            for place in range(first - start, last - start):
                yield pattern % place
            first = last

    def value(self, number: int, version: int = 0) -> bytes:
        """Return the object's stored value: an entry of a few megabytes, uploaded as version."""
        text = b"%d/%d/%d" % (self.seed, number, version)
        random = blake2b(text, digest_size=38).hexdigest().encode()
        size_bytes, size, time = _NUMBERS[int(random[72:75], 16)]
        checksum = random[40:72]
        identity = sha256(_IDENTITY % (size_bytes, checksum)).digest()
        return _VALUE % (identity, random[:19], random[20:39], time, size, checksum)

    def records(self, first: int = 0, end: int | None = None, version: int = 0) -> Iterator[Record]:
        """Yield the records of the objects from first up to end (exclusive), by key."""
        value = self.value
        for number, key in enumerate(self.keys(first, end), first):
            yield key, value(number, version)

    def changes(self, numbers: Iterable[int], version: int) -> Iterator[Change]:
        """A change at each of the objects, numbers ascending: of ten, eight are overwritten, one
        is deleted, and one gets a new neighbour."""
        for number in numbers:
            is_deleted = number % 10 == _DELETED
            yield self.changed_key(number), None if is_deleted else self.value(number, version)

    def changed_key(self, number: int) -> bytes:
        """Return the key of a change at the object."""
        return self.changed(self.key(number), number)

    def changed(self, key: bytes, number: int) -> bytes:
        """Return the same for an object whose key is known."""
        return key + b".crc" if number % 10 == _ADDED else key

    def random_numbers(self, random: Random, amount: int) -> list[int]:
        """Return count distinct objects, chosen from all, ascending."""
        return sorted(random.sample(range(self.objects), amount))

    def neighbours(self, random: Random, amount: int) -> range:
        """So many objects in a row, from the start of a partition of the first section if they fit
        there."""
        section = self.sections[0]
        folder = section.folder_of(random.randrange(max(1, section.objects - amount)))
        first = section.start(folder)
        return range(first, min(first + amount, self.objects))
