"""The settings of the embedded stack, and the paths in its data folder."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from graveler.http.schemas.credentials import AccessKey
from graveler_embedded.files import home
from graveler_embedded.jars import cache_folder
from graveler_embedded.java import spark_environment
from graveler_embedded.key_pair import key_pair
from graveler_embedded.lambda_runtime import REGION
from graveler_embedded.processes import StartError
from graveler_embedded.queues import queue_url
from graveler_embedded.stores import BUCKET
from graveler_embedded.tcp_ports import HOST, free_port, open_host

# The folder of the packages: a checkout, or site-packages.
ROOT = Path(__file__).parent.parent

EVENT_BUS = "graveler"
EXPORT_QUEUE = "graveler-export"
TASK_QUEUE = "graveler-tasks"
HOOK_QUEUE = "graveler-hooks"
SLICE_FUNCTION = "graveler-slices"
COLLECTION_JOB = "garbage-collection"

# Slices that are applied at the same time: each has a process. The others have threads of one.
SLICES_AT_ONCE = 2
TASKS_AT_ONCE = 5
HOOKS_AT_ONCE = 16
EXPORTS_AT_ONCE = 8
# Requests that wait for a task, in each process; each reads its record once a second.
WAITS_AT_ONCE = 128

# The functions' environment, in the data folder while the stack runs.
ENVIRONMENT = "environment.json"

PORT_DEFAULT = 8000
S3_PORT_DEFAULT = 8001


@dataclass(frozen=True, slots=True, kw_only=True)
class StackConfig:
    """The ports, the data folder and the key pair of one stack."""

    port: int
    s3_port: int
    dynamodb_port: int
    messaging_port: int
    slices_port: int
    data: Path
    keys: AccessKey

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], data: Path) -> Self:
        """Return the configuration that the environment gives. No other stack may use the folder.

        Raises:
            StartError: a variable has an invalid value; the message names it.
        """
        port = _port(environment, "GRAVELER_PORT", PORT_DEFAULT)
        s3_port = _port(environment, "GRAVELER_S3_PORT", S3_PORT_DEFAULT)
        open_host(environment)  # an address that nothing reaches is refused before the start
        if port == s3_port:
            raise StartError(
                f"GRAVELER_PORT and GRAVELER_S3_PORT are both {port}: set them to different ports"
            )
        return cls(
            port=port,
            s3_port=s3_port,
            dynamodb_port=free_port(),
            messaging_port=free_port(),
            slices_port=free_port(),
            data=data,
            keys=key_pair(data / "keys.json", environment),
        )

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def s3_endpoint(self) -> str:
        return f"http://{HOST}:{self.s3_port}"

    @property
    def messaging_endpoint(self) -> str:
        """The URL of the bus, the queues and the jobs."""
        return f"http://{HOST}:{self.messaging_port}"

    @property
    def journal(self) -> Path:
        """The file with every event on the bus."""
        return self.data / "events.jsonl"

    def log(self, name: str) -> Path:
        """Return the path of a process's log file."""
        return self.data / "logs" / f"{name}.log"

    def handler_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the Lambda functions, for their settings classes.

        It drops variables that could select another AWS account or a proxy.
        """
        kept = {
            name: value
            for name, value in environment.items()
            if not name.upper().startswith(("AWS_", "HTTP_", "HTTPS_", "ALL_PROXY"))
        }
        return {
            **kept,
            **_import_environment(),
            **spark_environment(),
            "GRAVELER_JARS": str(cache_folder()),  # absolute, for other working folders
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": self.keys.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.keys.secret_access_key,
            "AWS_EC2_METADATA_DISABLED": "true",
            "GRAVELER_ACCESS_KEY_ID": self.keys.access_key_id,
            "GRAVELER_SECRET_ACCESS_KEY": self.keys.secret_access_key,
            "GRAVELER_REFS_TABLE": "graveler-refs",
            "GRAVELER_STAGING_TABLE": "graveler-staging",
            "GRAVELER_DYNAMODB_ENDPOINT": f"http://{HOST}:{self.dynamodb_port}",
            "GRAVELER_S3_ENDPOINT": self.s3_endpoint,
            # The origin of presigned URLs.
            "GRAVELER_BUCKET_ORIGINS": self.s3_endpoint,
            # Tables' clients that have the stack's key pair read and write their files with it.
            "GRAVELER_SHARES_OWN_CREDENTIALS": "true",
            "GRAVELER_EVENT_BUS": EVENT_BUS,
            "GRAVELER_EVENTS_ENDPOINT": self.messaging_endpoint,
            "GRAVELER_EXPORT_QUEUE_URL": queue_url(self.messaging_endpoint, EXPORT_QUEUE),
            "GRAVELER_TASK_QUEUE_URL": queue_url(self.messaging_endpoint, TASK_QUEUE),
            "GRAVELER_HOOK_QUEUE_URL": queue_url(self.messaging_endpoint, HOOK_QUEUE),
            "GRAVELER_SQS_ENDPOINT": self.messaging_endpoint,
            "GRAVELER_GLUE_ENDPOINT": self.messaging_endpoint,
            # Only jobs need Spark; the stack runs without it.
            "GRAVELER_COLLECTION_JOB": COLLECTION_JOB if find_spec("pyspark") else "",
            "GRAVELER_SLICE_FUNCTION": SLICE_FUNCTION,
            "GRAVELER_SLICES_AT_ONCE": str(SLICES_AT_ONCE),
            "GRAVELER_TASKS_AT_ONCE": str(TASKS_AT_ONCE),
            "GRAVELER_HOOKS_AT_ONCE": str(HOOKS_AT_ONCE),
            "GRAVELER_EXPORTS_AT_ONCE": str(EXPORTS_AT_ONCE),
            "GRAVELER_WAITS_AT_ONCE": str(WAITS_AT_ONCE),
            "GRAVELER_LAMBDA_ENDPOINT": f"http://{HOST}:{self.slices_port}",
            # Every bucket is on this machine: objects may be exported and imported anywhere.
            "GRAVELER_EXPORT_PREFIXES": "s3://",
            "GRAVELER_IMPORT_PREFIXES": "s3://",
            # A first hook usually calls a server on this machine.
            "GRAVELER_HOOK_NETWORKS": kept.get("GRAVELER_HOOK_NETWORKS", "127.0.0.0/8,::1/128"),
            "GRAVELER_HOOK_SECRETS": kept.get("GRAVELER_HOOK_SECRETS", "environment"),
            "GRAVELER_CIPHER": "graveler_embedded.cipher:local_cipher",
            "GRAVELER_CIPHER_KEY_FILE": str(self.data / "cipher.key"),
            "GRAVELER_FILE_CACHE_FOLDER": str(self.data / "cache"),
            "GRAVELER_NAMESPACE_PREFIX": f"s3://{BUCKET}/",
            "POWERTOOLS_TRACE_DISABLED": "true",
            "PYTHONUNBUFFERED": "1",
        }


def data_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the stack's state; a new one is readable by its owner only.

    Raises:
        StartError: the folder cannot be created or written to.
    """
    chosen = environment.get("GRAVELER_DATA")
    folder = Path(chosen or home("GRAVELER_DATA") / ".graveler").absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"GRAVELER_DATA: cannot create {folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StartError(f"GRAVELER_DATA: {folder} is not writable")
    return folder


def _import_environment() -> dict[str, str]:
    """Return the variables with which a Python process imports what this one does.

    No module of the folder that it starts in is imported, whatever its name is.
    """
    if not (ROOT / "pyproject.toml").exists():  # installed: any process finds the packages
        return {"PYTHONSAFEPATH": "1"}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {"PYTHONSAFEPATH": "1", "PYTHONPATH": path}


def _port(environment: Mapping[str, str], name: str, default: int) -> int:
    """Return the port in the variable; 0 means any free port."""
    text = environment.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or int(text) > 65_535:
        raise StartError(f"{name} is {text!r}: set it to a number from 0 (any free port) to 65535")
    return int(text) or free_port()
