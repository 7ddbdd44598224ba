"""Java's archives of the stores' classes (class data sharing), with which a store starts faster.

Theory of operation. A store without an archive lists the classes that it loads. When the stack is
ready, a process of low priority has Java make the archive from the list. The archive is in the
cache of `graveler_embedded.jars`, and its name has a digest of Java and the jars. Java itself
ignores an archive that it cannot use.

The supervisor runs it as `python -m graveler_embedded.archives LISTS`.
"""

import fcntl
import os
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from graveler_embedded.jars import LIST, cache_folder, paths
from graveler_embedded.java import JAVA
from graveler_embedded.processes import die_with_parent

_STORES = ("dynamodb", "s3proxy")


def sharing(store: str, lists: Path) -> str:
    """Return the flag with which Java uses the archive; if there is none, it lists its classes."""
    archive = _archive(store)
    if archive.exists():
        return f"-XX:SharedArchiveFile={archive}"
    return f"-XX:DumpLoadedClassList={lists / store}.classes"


def class_path(folder: str) -> str:
    """Return the files of the folder for Java, in the only order that an archive can have.

    Raises:
        StartError: a file was not fetched yet.
    """
    # Its manifest names a folder, so Java archives no class of a file behind it.
    return ":".join(map(str, sorted(paths(folder), key=lambda jar: "DynamoDBLocal" in jar.name)))


def missing() -> list[str]:
    """Return the stores that have no archive, but a cache that one can be written to."""
    return [
        store
        for store in _STORES
        if not _archive(store).exists() and os.access(cache_folder() / store, os.W_OK)
    ]


def create(lists: Path) -> None:
    """Make the missing archives; leave it to another process that is making them.

    Raises:
        CalledProcessError: Java cannot, such as on a full disk.
    """
    folder = os.open(cache_folder(), os.O_RDONLY)
    try:
        with suppress(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for store in missing():
                _create(_archive(store), class_path(store), lists / f"{store}.classes")
    finally:
        os.close(folder)


def _create(archive: Path, classes_of: str, listed: Path) -> None:
    partial = archive.with_suffix(".partial")
    flags = ("-XX:SharedClassListFile=/dev/stdin", f"-XX:SharedArchiveFile={partial}")
    parent_pid = os.getpid()
    subprocess.run(
        (JAVA, "-Xshare:dump", "-XX:+UseSerialGC", *flags, "-cp", classes_of),
        # The store may be writing the last line.
        input=listed.read_bytes().rpartition(b"\n")[0],
        check=True,
        preexec_fn=lambda: die_with_parent(parent_pid),
    )
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    for old in archive.parent.glob("*.jsa"):
        old.unlink()
    partial.replace(archive)


def _archive(store: str) -> Path:
    # Java compares the time of each file.
    times = [str(path.stat().st_mtime_ns) for path in paths(store)]
    release = JAVA.parents[1] / "release"
    digest = sha256(b"".join((release.read_bytes(), LIST.read_bytes(), *map(str.encode, times))))
    return cache_folder() / store / f"{digest.hexdigest()[:16]}.jsa"


if __name__ == "__main__":
    os.nice(19)
    create(Path(sys.argv[1]))
