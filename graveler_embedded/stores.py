"""The two Java servers under the stack: DynamoDB Local and S3Proxy, on loopback, data in folders.

Their files are in the cache of `graveler_embedded.jars`.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from graveler.http.schemas.credentials import AccessKey
from graveler_embedded.archives import class_path, sharing
from graveler_embedded.files import write_private
from graveler_embedded.java import JAVA
from graveler_embedded.processes import Child
from graveler_embedded.tcp_ports import HOST, is_listening, open_host

BUCKET = "graveler"

# Two servers and the functions share two cores: no collector threads, and small heaps. Nor the
# optimizing compiler, which costs more time than it saves there.
_JVM = ("-XX:+UseSerialGC", "-Xms64m", "-XX:TieredStopAtLevel=1")
_DYNAMODB_JVM = (*_JVM, "-Xmx512m")
# S3Proxy holds a signed PUT body in the heap while it checks the signature.
_S3PROXY_JVM = (*_JVM, "-Xmx1g")
_SIGNED_PUT_BYTES_MAX = 128 * 1024 * 1024

# The classes of launcher/DynamoDBLauncher.java; `make launcher` compiles them.
LAUNCHER = Path(__file__).parent / "launcher" / "launcher.jar"

# S3Proxy adds this to the name of an object while it writes it.
_HALF_WRITTEN = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")


@dataclass(frozen=True, slots=True)
class StoreServer:
    """A running server and its port."""

    child: Child
    port: int

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.port}"

    def wait_until_ready(self) -> None:
        """Return when the server answers.

        Raises:
            StartError: the server ended, or did not answer in time.
        """
        self.child.wait_until(lambda: is_listening(self.port))


def start_dynamodb(port: int, data: Path | None, log: Path) -> StoreServer:
    """Start DynamoDB Local; data None keeps everything in memory.

    Raises:
        StartError: a file was not fetched yet.
    """
    if data is None:
        where: tuple[str | Path, ...] = ("-inMemory",)
    else:
        data.mkdir(parents=True, exist_ok=True)
        where = ("-dbPath", data)
    # The launcher's path differs between installations, so it is no part of the archive.
    classes = f"{class_path('dynamodb')}:{LAUNCHER}"
    command = (
        *(JAVA, *_DYNAMODB_JVM, sharing("dynamodb", log.parent), "-cp", classes),
        *("DynamoDBLauncher", "-sharedDb", "-disableTelemetry", "-port", str(port), *where),
    )
    return StoreServer(Child("DynamoDB Local", command, log, _environment()), port)


def start_s3proxy(port: int, data: Path, keys: AccessKey, log: Path) -> StoreServer:
    """Start S3Proxy with its objects under data, for the key pair; create the bucket.

    Raises:
        StartError: a file was not fetched yet.
    """
    jar = class_path("s3proxy")
    # The filesystem backend stores a bucket as a folder, so the folder creates the bucket.
    (data / BUCKET).mkdir(parents=True, exist_ok=True)
    drop_half_written(data)
    properties = data.parent / f"{data.name}.properties"
    write_private(properties, _s3proxy_properties(port, data, keys).encode())
    flags = (*_S3PROXY_JVM, sharing("s3proxy", log.parent))
    command = (JAVA, *flags, "-jar", jar, "--properties", properties)
    return StoreServer(Child("S3Proxy", command, log, _environment()), port)


def is_half_written(name: str) -> bool:
    """Whether it is the name of an object that S3Proxy is still writing.

    S3Proxy lists such names, and deletes them when their writer is gone.
    """
    return _HALF_WRITTEN.search(name) is not None


def drop_half_written(data: Path) -> None:
    """Delete files that S3Proxy had just begun when it was killed; it would list them as objects.

    S3Proxy writes an object under its name and a UUID, adds extended attributes, and renames it. So
    a file with such a name, no content and no attributes is not an object. A later state cannot be
    distinguished from an object.
    """
    try:
        os.setxattr(data, "user.graveler", b"")
    except (OSError, AttributeError):  # not on this disk, or not on macOS
        return
    for folder, _, names in os.walk(data):
        for path in (Path(folder, name) for name in names if is_half_written(name)):
            if not os.listxattr(path) and path.stat().st_size == 0:
                path.unlink()


def _environment() -> dict[str, str]:
    # Java names files by the locale's encoding; S3Proxy's logger reads the level.
    return {**os.environ, "LC_ALL": "C.UTF-8", "LOG_LEVEL": "warn"}


def _s3proxy_properties(port: int, data: Path, keys: AccessKey) -> str:
    settings = {
        "s3proxy.endpoint": f"http://{open_host()}:{port}",
        "s3proxy.authorization": "aws-v4",
        "s3proxy.identity": keys.access_key_id,
        "s3proxy.credential": keys.secret_access_key,
        # Clients send headers (checksums, storage classes) that the backend does not know.
        "s3proxy.ignore-unknown-headers": "true",
        "s3proxy.v4-max-non-chunked-request-size": str(_SIGNED_PUT_BYTES_MAX),
        # The web page uploads and downloads by presigned URL; its development server does, too.
        "s3proxy.cors-allow-origins": r"http://(127\.0\.0\.1|localhost):[0-9]+",
        "s3proxy.cors-allow-methods": "GET HEAD PUT",
        "s3proxy.cors-allow-headers": "*",
        "s3proxy.cors-exposed-headers": "Content-Length Content-Range ETag",
        "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": str(data),
        "jclouds.identity": "unused",
        "jclouds.credential": "unused",
    }
    return "".join(f"{name}={_escaped(value)}\n" for name, value in settings.items())


def _escaped(value: str) -> str:
    """Return the value escaped for a Java properties file of any encoding."""
    units = memoryview(value.encode("utf-16-le")).cast("H")
    return "".join(
        chr(unit) if 0x20 < unit < 0x7F and unit != ord("\\") else f"\\u{unit:04x}"
        for unit in units
    )
