"""Time to dump and restore refs, without the stores: `python -m bench.dumps [COMMITS]`.

Best processor time of a few runs; files are in a local folder. Peak memory includes the imports.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figures import peak_memory_mb, spent
from bench.files import FolderFiles
from graveler.committed.store import Committed
from graveler.dump.check import check
from graveler.dump.files import read, write
from graveler.dump.records import COMMITS
from graveler.identity import make_commit
from graveler.model import Commit, CommitID, MetaRangeID

NAMESPACE = "bench://dumps"
TRIES = 3


def history(count: int) -> Iterator[Commit]:
    """Yield so many commits in a row, as from a nightly job."""
    parents: tuple[CommitID, ...] = ()
    for number in range(count):
        commit = make_commit(
            committer="nightly@example.com",
            message=f"Load of partition {number}",
            metarange_id=MetaRangeID("ab" * 32),
            creation_date=1_700_000_000 + number,
            metadata={"job": "nightly", "run": str(number)},
            parents=parents,
            generation=number + 1,
        )
        parents = (commit.id,)
        yield commit


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    commits = sorted(history(count), key=lambda commit: commit.id)
    made_mb = peak_memory_mb()
    dumped_s: list[float] = []
    checked_s: list[float] = []
    size_bytes = 0
    for _ in range(TRIES):
        with TemporaryDirectory() as folder:
            files = FolderFiles(Path(folder))
            with spent() as times:
                commits_id = write(Committed(files), NAMESPACE, COMMITS, commits)
            dumped_s.append(times.cpu_s)
            stored = [path for path in Path(folder).rglob("*") if path.is_file()]
            size_bytes = sum(path.stat().st_size for path in stored)
            # In another process, with none of the files cached.
            with spent() as times:
                checked = check(read(Committed(files), NAMESPACE, commits_id, COMMITS), (), ())
            checked_s.append(times.cpu_s)
            assert checked.commits == count
    print(f"{count:,} commits, {size_bytes / count:.0f} bytes each in the dump's files")
    for name, times_s in (("dump", dumped_s), ("read and check", checked_s)):
        print(f"{name:24} {count / min(times_s):12,.0f}/s cpu {min(times_s):8.2f} s")
    print(f"{'peak memory above commits':24} {peak_memory_mb() - made_mb:6.0f} MB")


if __name__ == "__main__":
    main()
