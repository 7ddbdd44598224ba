"""Writes the list jars.txt anew, from a resolver's list of DynamoDB Local's files on stdin.

`make lock` runs it with jgo's list: lines such as `com.amazonaws:aws-java-sdk-core:1.12.721`.
"""

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from urllib.request import urlopen

from graveler_embedded.fetching import CENTRAL
from graveler_embedded.jars import LIST

# DynamoDB Local names these, and the stack runs without them: its own jar has SQLite's libraries,
# telemetry is off, and no class of the others is loaded.
_LEFT_OUT = re.compile(
    r"libsqlite4java|sqlite4java-win32|mockito|hamcrest|objenesis"
    r"|aws-java-sdk-(kms|s3)"
)

# By folder, what nothing else names. Spark 3.5's own Arrow 12 does not run on Java 21.
_OTHERS = {
    "s3proxy": ["org.gaul:s3proxy:jar-with-dependencies:4.1.0"],
    "spark": ["org.apache.arrow:arrow-memory-core:13.0.0"],
    "s3a": [
        "org.apache.hadoop:hadoop-aws:3.3.4",
        "com.amazonaws:aws-java-sdk-bundle:1.12.262",
        "org.apache.spark:spark-hadoop-cloud_2.12:3.5.4",
    ],
    "iceberg": [
        "org.apache.iceberg:iceberg-aws-bundle:1.10.1",
        "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1",
    ],
    "ecj": ["org.eclipse.jdt:ecj:3.40.0"],
}

_HEAD = """\
# The embedded stack's and the tests' files of Maven Central; `make lock` writes this list.
# SHA-256, bytes, folder of the cache, path.
"""


def _wanted(resolved: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the folder and the Maven path of each file."""
    for line in resolved:
        if not _LEFT_OUT.search(line):
            yield "dynamodb", _maven_path(line.strip())
    for folder, coordinates in _OTHERS.items():
        yield from ((folder, _maven_path(each)) for each in coordinates)


def _maven_path(coordinates: str) -> str:
    group, artifact, *classifier, version = re.sub(":(runtime|compile)$", "", coordinates).split(
        ":"
    )
    name = "-".join([artifact, version, *classifier])
    return f"{group.replace('.', '/')}/{artifact}/{version}/{name}.jar"


def _line(folder: str, maven_path: str) -> str:
    with urlopen(f"{CENTRAL}/{maven_path}") as answer:  # noqa: S310 - a constant
        content = answer.read()
    return f"{hashlib.sha256(content).hexdigest()} {len(content)} {folder} {maven_path}\n"


if __name__ == "__main__":
    LIST.write_text(_HEAD + "".join(_line(*each) for each in sorted(set(_wanted(sys.stdin)))))
