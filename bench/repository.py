"""Generated repositories in a local folder: built once, and reused by all measurements."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Generic, TypeVar

from bench.dataset import VERSION, Dataset
from bench.figures import peak_memory_mb, spent
from bench.files import CountedFiles, FolderFiles
from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, CacheSizes, Committed
from graveler.limits import RANGE_RAGGEDNESS_RECORDS
from graveler.model import EMPTY_METARANGE, MetaRangeID

T = TypeVar("T")

NAMESPACE = "bench://repository"
FOLDER = Path(".cache/bench")
_DESCRIPTION = "repository.json"
_BATCH_RECORDS = 10_000


@dataclass(frozen=True, slots=True)
class Making:
    """The cost of writing a repository in one pass, without generating its records."""

    cpu_s: float
    wall_s: float
    generation_cpu_s: float
    bytes_written: int
    metarange_bytes: int
    peak_memory_mb: float


@dataclass(frozen=True, slots=True)
class Repository:
    """One commit's content, of so many objects, in files under a folder."""

    folder: Path
    objects: int
    seed: int
    raggedness: int
    metarange_id: MetaRangeID
    making: Making

    @property
    def dataset(self) -> Dataset:
        """Return the dataset of the repository."""
        return Dataset(self.objects, self.seed)

    @property
    def files(self) -> FolderFiles:
        """Return the repository's files."""
        return FolderFiles(self.folder)

    @contextmanager
    def scratch(
        self, latency_s: float = 0, over: CountedFiles | None = None
    ) -> Iterator[CountedFiles]:
        """The repository's files, or those of other scratch, and room for more; counted.

        The room is cleared afterwards.
        """
        beneath = over.files.folders if over else (self.folder,)
        with TemporaryDirectory(dir=self.folder.parent, prefix="scratch-") as folder:
            yield CountedFiles(FolderFiles(Path(folder), *beneath), latency_s)

    def committed(
        self, files: CountedFiles | None = None, caches: CacheSizes | None = None
    ) -> Committed:
        """Return an engine over the files, with empty caches."""
        return Committed(files or self.files, breaking=Breaking(self.raggedness), caches=caches)

    def content(self, committed: Committed) -> MetaRange:
        """Return the repository's content, as read by the engine."""
        return MetaRange(committed, NAMESPACE, self.metarange_id)


class Timed(Generic[T]):
    """Records or changes, generated in batches; measures the generation."""

    def __init__(self, stream: Iterator[T]) -> None:
        self.cpu_s = 0.0
        self._stream = stream

    def __iter__(self) -> Iterator[T]:
        while True:
            start = process_time()
            batch = list(islice(self._stream, _BATCH_RECORDS))
            self.cpu_s += process_time() - start
            if not batch:
                return
            yield from batch


def open_repository(
    folder: Path, objects: int, seed: int = 1, raggedness: int = RANGE_RAGGEDNESS_RECORDS
) -> Repository | None:
    """Return the repository stored in the folder, None if there is none."""
    path = _place(folder, objects, seed, raggedness) / _DESCRIPTION
    if not path.exists():
        return None
    described = json.loads(path.read_text())
    made = Making(**described.pop("making"))
    return Repository(folder=path.parent, making=made, **described)


def make_repository(
    folder: Path, objects: int, seed: int = 1, raggedness: int = RANGE_RAGGEDNESS_RECORDS
) -> Repository:
    """Write the repository into the folder again, in one pass and in key order."""
    place = _place(folder, objects, seed, raggedness)
    shutil.rmtree(place, ignore_errors=True)
    files = CountedFiles(FolderFiles(place))
    committed = Committed(files, breaking=Breaking(raggedness))
    records = Timed(Dataset(objects, seed).records())
    with spent() as times:
        metarange_id = apply_changes(
            committed, MetaRange(committed, NAMESPACE, EMPTY_METARANGE), records
        ).metarange_id
    making = Making(
        cpu_s=times.cpu_s - records.cpu_s,
        wall_s=times.wall_s - records.cpu_s,
        generation_cpu_s=records.cpu_s,
        bytes_written=files.traffic.bytes_written,
        metarange_bytes=len(files.read_all(NAMESPACE, metarange_id)),
        peak_memory_mb=peak_memory_mb(),
    )
    described = {
        "objects": objects,
        "seed": seed,
        "raggedness": raggedness,
        "metarange_id": metarange_id,
        "making": asdict(making),
    }
    (place / _DESCRIPTION).write_text(json.dumps(described, indent=1) + "\n")
    made = open_repository(folder, objects, seed, raggedness)
    assert made is not None
    return made


def _place(folder: Path, objects: int, seed: int, raggedness: int) -> Path:
    return folder / f"dataset-{VERSION}-{objects}-{seed}-{raggedness}"
