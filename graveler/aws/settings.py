"""The settings that all functions and jobs of a deployment share."""

from dataclasses import dataclass, field

from graveler.aws.environment import FromEnvironment
from graveler.export.record import ExportSettings
from graveler.limits import RANGE_BYTES_MAX, RANGE_RAGGEDNESS_RECORDS

_MB = 1024 * 1024

_EXPORT = ExportSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentSettings(FromEnvironment):
    """One deployment's settings. None of them is a secret: Spark's executors get them as text."""

    region: str = field(metadata={"variables": ("AWS_REGION", "AWS_DEFAULT_REGION")})
    refs_table: str
    staging_table: str

    # Only the embedded stack sets these; None means AWS itself.
    dynamodb_endpoint: str | None = None
    s3_endpoint: str | None = None
    events_endpoint: str | None = None
    sqs_endpoint: str | None = None
    lambda_endpoint: str | None = None
    glue_endpoint: str | None = None
    # Where clients reach the objects, if not at s3_endpoint.
    s3_public_endpoint: str | None = None

    # Stored secrets are encrypted under a secret in Secrets Manager, if it is named. Otherwise by
    # this cipher: `kms` with the key's ID, or `module:function` making a Cipher.
    cipher_secret_arn: str = ""
    cipher: str = "kms"
    kms_key_id: str = ""

    # The bus that gets the events, and the queue that gets the export function's messages.
    event_bus: str = ""
    export_queue_url: str = ""
    # Branches may be exported to URIs with these prefixes, separated by commas; () allows none.
    export_prefixes: tuple[str, ...] = ()
    # Objects may be imported from under URIs with these prefixes, in the same form.
    import_prefixes: tuple[str, ...] = ()
    # Scheduled dumps of refs are copied below this URI; "" disables them.
    dump_place: str = ""
    # The Glue job that runs exports of so many objects or more; "" where none is deployed.
    export_job: str = ""
    export_job_objects_min: int = _EXPORT.batch_objects_min

    # The Glue job that collects garbage ("" where none is deployed), and whether it may delete.
    collection_job: str = ""
    collections_delete: bool = True

    # The queue of tasks; "" where none is deployed. Then requests do all of their work.
    task_queue_url: str = ""
    # The queue of tasks whose hooks are due; "" where none is deployed. Then tasks run their hooks.
    hook_queue_url: str = ""
    # Tasks, those whose hooks run, and exports, that run at the same time; 0 bounds no repository.
    tasks_at_once: int = 0
    hooks_at_once: int = 0
    exports_at_once: int = 0
    # Requests that may wait for tasks at the same time; 0 bounds no user.
    waits_at_once: int = 0
    # A request leaves work to a task if it takes longer than this.
    request_work_s: int = 4
    # The function that applies slices of large changes, "" for none, and a task's maximum at once.
    slice_function: str = ""
    slices_at_once: int = 8

    # Spread the changes of busy branches over more partitions; earlier versions fail on them.
    spread_tokens: bool = False

    # Run no hooks, and read no action files.
    ignore_actions: bool = False
    # Targets that hooks may reach: Lambda functions and buses by name or ARN, and networks that are
    # not public, such as 10.0.0.0/8. All are separated by commas; () allows none.
    hook_functions: tuple[str, ...] = ()
    hook_buses: tuple[str, ...] = ()
    hook_networks: tuple[str, ...] = ()
    # The store of hooks' secrets: `secrets-manager:<prefix of names>`, `parameter-store:<prefix>`,
    # `environment`, or "" for none.
    hook_secrets: str = ""

    range_raggedness_records: int = RANGE_RAGGEDNESS_RECORDS
    range_bytes_max: int = RANGE_BYTES_MAX

    # Caches of immutable content: whole files on disk, decoded blocks and headers in RAM.
    file_cache_folder: str = "/tmp/graveler"  # noqa: S108 - the one place a Lambda may write
    file_cache_bytes_max: int = 256 * _MB
    block_cache_bytes_max: int = 128 * _MB
    # Reads of a file in pieces before it is fetched whole.
    file_cache_reads: int = 4
