"""Compiles the launcher of DynamoDB Local into `LAUNCHER`: `make launcher`.

The archive is committed, because users have no compiler. The same source gives the same bytes.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile, ZipInfo

from graveler_embedded.fetching import fetch
from graveler_embedded.jars import paths
from graveler_embedded.java import JAVA
from graveler_embedded.stores import LAUNCHER


def build(archive: Path) -> None:
    """Compile the source into an archive.

    Raises:
        StartError: the compiler cannot be fetched.
        CalledProcessError: the source is wrong; stderr says where.
    """
    fetch(("dynamodb", "ecj"), print)
    [compiler] = paths("ecj")
    classpath = ":".join(map(str, paths("dynamodb")))
    source = LAUNCHER.with_name("DynamoDBLauncher.java")
    with TemporaryDirectory() as folder:
        options = ("-17", "-proc:none", "-nowarn", "-cp", classpath, "-d", folder)
        subprocess.run((JAVA, "-jar", compiler, *options, source), check=True)
        with ZipFile(archive, "w") as file:
            for path in sorted(Path(folder).iterdir()):
                # ZipInfo's default time, so that the bytes are always the same.
                file.writestr(ZipInfo(path.name), path.read_bytes())


if __name__ == "__main__":
    build(LAUNCHER)
