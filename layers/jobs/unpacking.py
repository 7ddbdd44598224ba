"""Replaces a package in the archive of the jobs: unpacks the archive, and imports the real package.

Glue and Spark put the archive itself on the path of driver and executors. Python cannot import
compiled modules from an archive, and botocore cannot read data there. So each package at the root
of the archive is a copy of this file. The real packages are in a folder of the archive.
"""

import fcntl
import os
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

# The folder of the archive with everything to unpack, and the packages that have such a copy.
FOLDER = "python"
PACKAGES = ("graveler_jobs", "graveler")


def unpack(archive: Path) -> Path:
    """Return the folder of the unpacked archive, which all processes of a machine share.

    Raises:
        PermissionError: another user owns that folder.
    """
    digest = sha256(archive.read_bytes()).hexdigest()
    target = Path(tempfile.gettempdir()) / f"graveler-{os.getuid()}-{digest}"
    target.mkdir(mode=0o700, exist_ok=True)
    if target.lstat().st_uid != os.getuid():
        raise PermissionError(f"{target} belongs to another user: remove it")
    done = target / "done"
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(target)
            done.touch()
    return target / FOLDER


def use(folder: Path) -> None:
    """Put the folder first on the path, and forget older copies of its packages.

    Glue's own programs may have imported Glue's boto3, which is too old for us, before a job began.
    """
    if str(folder) in sys.path:
        return
    sys.path.insert(0, str(folder))
    ours = {path.name.removesuffix(".py") for path in folder.iterdir()} - {*PACKAGES}
    for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
        del sys.modules[name]


if "__path__" in globals():  # this is the copy, a package of the archive
    _archive: str | None = getattr(globals()["__loader__"], "archive", None)
    # Without an archive, it is unpacked already.
    _folder = unpack(Path(_archive)) if _archive else Path(__file__).parents[1] / FOLDER
    use(_folder)
    __path__ = [str(_folder / __name__)]
